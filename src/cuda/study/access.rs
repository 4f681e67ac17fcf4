//! Speed of constant memory by access pattern of a table: `cuda/study/access.cu`.

use std::ffi::CStr;

use super::{Array, Bench, Launch, Row, WARP};
use crate::cuda::arguments::AccessArgument;
use crate::stencil::Error;

/// Entries of the table: all that constant memory holds.
const ENTRIES: usize = 16_384;

/// Adds an entry of a table to each element, the table in constant and in global memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// Access patterns to be measured.
    pub patterns: Vec<Pattern>,
    /// Threads a block.
    pub block_size: usize,
    /// Numbers of elements, each measured by itself.
    pub sums: Vec<usize>,
}

impl Default for Access {
    /// Returns the document's parameters.
    fn default() -> Access {
        Access { patterns: Pattern::ALL.to_vec(), block_size: 1024, sums: vec![12_800_000, 128_000] }
    }
}

/// Choice of a thread's entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// One entry for all threads of a block.
    PerBlock,
    /// One entry for all threads of a warp.
    PerWarp,
    /// Neighbouring entries for neighbouring threads.
    PerThread,
    /// Distant entries for neighbouring threads.
    PseudoRandom,
}

impl Pattern {
    /// All patterns, from the fastest in constant memory on.
    pub const ALL: [Pattern; 4] = [Pattern::PerBlock, Pattern::PerWarp, Pattern::PerThread, Pattern::PseudoRandom];

    /// Returns its name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::PerBlock => "one_access_per_block",
            Pattern::PerWarp => "one_access_per_warp",
            Pattern::PerThread => "one_access_per_thread",
            Pattern::PseudoRandom => "pseudo_random",
        }
    }

    /// Returns its kernels: with the table in constant memory, and in global memory.
    fn kernels(self) -> [(&'static str, &'static CStr); 2] {
        let [constant, global] = match self {
            Pattern::PerBlock => [c"constant_one_access_per_block", c"global_one_access_per_block"],
            Pattern::PerWarp => [c"constant_one_access_per_warp", c"global_one_access_per_warp"],
            Pattern::PerThread => [c"constant_one_access_per_thread", c"global_one_access_per_thread"],
            Pattern::PseudoRandom => [c"constant_pseudo_random", c"global_pseudo_random"],
        };
        [("constant", constant), ("global", global)]
    }

    /// Returns the entry of a thread, by the numbers of its block and of itself in it.
    fn entry(self, block: usize, thread: usize) -> usize {
        match self {
            Pattern::PerBlock => block % ENTRIES,
            Pattern::PerWarp => thread / WARP % ENTRIES,
            Pattern::PerThread => thread % ENTRIES,
            Pattern::PseudoRandom => thread * 1357 % ENTRIES,
        }
    }

    /// Returns the final value of element `index`, which was zero before.
    fn sum(self, index: usize, block_size: usize) -> i32 {
        value(self.entry(index / block_size, index % block_size))
    }
}

/// Returns the value of an entry of the table.
fn value(entry: usize) -> i32 {
    entry as i32
}

impl Access {
    pub(super) fn run(&self, bench: &mut Bench) -> Result<(), Error> {
        let stream = bench.device.stream().clone();
        let values: Vec<i32> = (0..ENTRIES).map(value).collect();
        bench.device.modules.get("study_access")?.set_symbol(c"constantTable", &values)?;
        let table = Array::filled(&stream, ENTRIES, &value)?;
        for &count in &self.sums {
            let inputs = Array::filled(&stream, count, &|_| 0_i32)?;
            let sums = Array::<i32>::new(&stream, count)?;
            let job = AccessArgument {
                inputs: inputs.address(),
                sums: sums.address(),
                table: table.address(),
                count: count as u64,
            };
            for &pattern in &self.patterns {
                for (kernel, name) in pattern.kernels() {
                    let function = bench.device.modules.get("study_access")?.function(name)?;
                    let launch = Launch::over(&function, count, self.block_size, 0, job)?;
                    let row = Row { study: "access", kernel, pattern: pattern.name(), operations_per_byte: None };
                    bench.measure(row, &launch, &sums, |index| pattern.sum(index, self.block_size))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::runtime::module::tests::argument_bytes;

    #[test]
    fn the_kernels_take_this_argument() {
        for (_, name) in Pattern::ALL.into_iter().flat_map(Pattern::kernels) {
            assert_eq!(argument_bytes("study_access", name.to_str().unwrap()), size_of::<AccessArgument>(), "{name:?}");
        }
    }

    /// Every thread of a grid writes the sum that the document's program computes.
    #[test]
    fn sums_are_those_of_a_walk_through_the_grid() {
        for block_size in [32, 96, 1024] {
            let mut index = 0;
            for block in 0..40_000 / block_size {
                for thread in 0..block_size {
                    let expected = [block % 16_384, thread / 32, thread, thread * 1357 % 16_384];
                    assert_eq!(
                        Pattern::ALL.map(|pattern| pattern.sum(index, block_size)),
                        expected.map(|entry| entry as i32)
                    );
                    index += 1;
                }
            }
        }
    }

    #[test]
    fn more_blocks_than_entries_begin_again() {
        assert_eq!(Pattern::PerBlock.sum(32 * 16_383, 32), 16_383);
        assert_eq!(Pattern::PerBlock.sum(32 * 16_384, 32), 0);
    }

    #[test]
    fn kernels_are_named_after_their_patterns() {
        for pattern in Pattern::ALL {
            for (kernel, name) in pattern.kernels() {
                assert_eq!(name.to_str(), Ok(&*format!("{kernel}_{}", pattern.name())));
            }
        }
    }
}

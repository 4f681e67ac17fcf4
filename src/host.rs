//! Arrays of the host: copied, and computed there and back in several passes.

use rayon::prelude::*;

use crate::memory;
use crate::stencil::{Error, Real};
use crate::watch::Watch;
use crate::workers::Workers;

/// What a thread copies before it asks the watch, in bytes.
const PIECE_BYTES: usize = 2 << 20;

/// Copies an array of the host, by all processors where it is large.
pub(crate) fn copy<T: Real>(input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
    assert_eq!(input.len(), output.len());
    let piece = PIECE_BYTES / size_of::<T>();
    let pool = if input.len() > piece { Workers::get() } else { None };
    let Some(pool) = pool else {
        output.copy_from_slice(input);
        return Ok(());
    };
    pool.install(|| {
        input.par_chunks(piece).zip(output.par_chunks_mut(piece)).try_for_each(|(input, output)| {
            watch.check()?;
            output.copy_from_slice(input);
            Ok(())
        })
    })
}

/// So many passes, one at least, each over what the last one gave, from `input` to `output`. Between them, one array more is needed,
/// and the output is the other.
pub(crate) fn ping_pong<T: Real>(
    input: &[T],
    output: &mut [T],
    passes: usize,
    mut pass: impl FnMut(usize, &[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    assert!(passes > 0);
    let mut other = if passes > 1 { memory::zeros(input.len(), "what is between two sweeps")? } else { Vec::new() };
    for number in 0..passes {
        // The last one goes to the output, the one before it to the other array, and so on.
        let (from, to): (&[T], &mut [T]) = match (number, (passes - number) % 2 == 1) {
            (0, true) => (input, output),
            (0, false) => (input, &mut other),
            (_, true) => (&other, output),
            (_, false) => (output, &mut other),
        };
        pass(number, from, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_alternate_and_end_in_the_output() {
        for passes in 1..6 {
            let mut output = [9.0; 2];
            ping_pong(&[1.0, 2.0], &mut output, passes, |number, from, to| {
                assert_eq!(from[0], 1.0 + number as f64);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from + 1.0);
                Ok(())
            })
            .unwrap();
            assert_eq!(output, [1.0 + passes as f64, 2.0 + passes as f64]);
        }
    }

    #[test]
    fn copies_are_whole_whatever_their_size() {
        for count in [0, 1, PIECE_BYTES / 8, PIECE_BYTES / 8 + 1, 1_000_000] {
            let input: Vec<f64> = (0..count).map(|i| i as f64).collect();
            let mut output = vec![f64::NAN; count];
            copy(&input, &mut output, &Watch::new()).unwrap();
            assert!(input == output, "{count} elements");
        }
        let stopped = Watch::new();
        stopped.stop();
        let much = vec![1.0; PIECE_BYTES];
        if Workers::count() > 1 {
            assert_eq!(copy(&much, &mut vec![0.0; PIECE_BYTES], &stopped), Err(Error::Interrupted));
        }
    }
}

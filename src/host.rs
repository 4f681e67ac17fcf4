//! Arrays of the host: copied, computed there and back in several passes, and written to by several threads.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use crate::pool::{Number, Pooled};
use crate::stencil::Error;
use crate::watch::Watch;
use crate::workers::Workers;

/// What a thread copies before it asks the watch, in bytes.
const PIECE_BYTES: usize = 2 << 20;

/// Copies an array of the host, by all processors where it is large.
pub(crate) fn copy<T: Copy + Send + Sync>(input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
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

/// Has the system provide the memory of an array that is about to be written, all of it at once: else each page is
/// provided when it is first touched. Where the system does not know of this, nothing happens.
pub(crate) fn have_pages<T>(array: &mut [T]) {
    let std::ops::Range { start, end } = array.as_mut_ptr_range();
    let (first, last) = (start.addr().next_multiple_of(PAGE_BYTES), end.addr() / PAGE_BYTES * PAGE_BYTES);
    if last.saturating_sub(first) >= WORTH_BYTES {
        // SAFETY: these pages lie inside the array, and what they hold stays as it is.
        unsafe { libc::madvise(start.with_addr(first).cast(), last - first, libc::MADV_POPULATE_WRITE) };
    }
}

/// The bytes of the smallest page, or of several: nothing depends on it but speed.
const PAGE_BYTES: usize = 4 << 10;

/// From so many bytes on, it is worth asking.
const WORTH_BYTES: usize = 256 << 10;

/// So many passes, one at least, each over what the last one gave, from `input` to `output`. Between them, one array
/// more is needed, and the output is the other.
pub(crate) fn ping_pong<T: Number>(
    input: &[T],
    output: &mut [T],
    passes: usize,
    mut pass: impl FnMut(usize, &[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    assert!(passes > 0);
    let mut other = Pooled::new(if passes > 1 { input.len() } else { 0 }, "what is between two sweeps")?;
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

/// An output that several threads fill at the same time, each its own places.
pub(crate) struct SharedOutput<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: it is an exclusive slice, and `places` demands that no two threads get the same elements of it.
unsafe impl<T: Send> Sync for SharedOutput<'_, T> {}

impl<'a, T> SharedOutput<'a, T> {
    pub(crate) fn new(output: &'a mut [T]) -> SharedOutput<'a, T> {
        SharedOutput { start: output.as_mut_ptr(), len: output.len(), slice: PhantomData }
    }

    /// Where it begins.
    pub(crate) fn as_ptr(&self) -> *const T {
        self.start
    }

    /// The elements `range`.
    ///
    /// # Safety
    /// No element may be in two such slices at the same time.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn places(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the slice that was lent for `'a`; that it is the only one with these elements is the caller's
        // promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
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

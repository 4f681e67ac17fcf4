//! Host arrays: copies, repeated passes, and outputs shared by several threads.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::thread;

use bytemuck::Pod;
use rayon::prelude::*;

use crate::platform::memory;
use crate::platform::memory::pool::{Number, Pooled};
use crate::platform::watch::Watch;
use crate::platform::workers::Workers;
use crate::stencil::{Error, Real, Results, Sample, in_vectors, last_place};

/// Number of bytes that a thread copies between checks of the watch.
const PIECE_BYTES: usize = 2 << 20;

/// Copies a host array, on all processors if it is large.
pub(crate) fn copy<T: Pod>(input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
    copy_bytes(bytemuck::cast_slice(input), bytemuck::cast_slice_mut(output), watch)
}

/// Does [`copy`], compiled once.
fn copy_bytes(input: &[u8], output: &mut [u8], watch: &Watch) -> Result<(), Error> {
    assert_eq!(input.len(), output.len());
    let pool = if input.len() > PIECE_BYTES { Workers::get() } else { None };
    let Some(pool) = pool else {
        output.copy_from_slice(input);
        return Ok(());
    };
    pool.install(|| {
        input.par_chunks(PIECE_BYTES).zip(output.par_chunks_mut(PIECE_BYTES)).try_for_each(|(input, output)| {
            watch.check()?;
            output.copy_from_slice(input);
            Ok(())
        })
    })
}

/// Populates the memory of an array that is about to be written, all of it at once: otherwise each page is provided
/// when it is first touched. Does nothing on systems without support.
pub(crate) fn have_pages<T>(array: &mut [T]) {
    let Range { start, end } = array.as_mut_ptr_range();
    // SAFETY: these bytes are the array's.
    unsafe { have_pages_at(start, start.addr()..end.addr()) }
}

/// Populates the memory at these addresses, all of it at once.
///
/// # Safety
/// The addresses must be in allocated memory that `of` may point into.
unsafe fn have_pages_at<T>(of: *mut T, bytes: Range<usize>) {
    let (first, last) = (bytes.start.next_multiple_of(PAGE_BYTES), bytes.end / PAGE_BYTES * PAGE_BYTES);
    if last.saturating_sub(first) >= WORTH_BYTES {
        // SAFETY: these pages are allocated, and their contents do not change, even with concurrent reads and writes.
        unsafe { libc::madvise(of.with_addr(first).cast(), last - first, libc::MADV_POPULATE_WRITE) };
    }
}

/// Number of bytes in a page, or in several: only speed depends on it. Some kernels for aarch64 have pages of this size.
const PAGE_BYTES: usize = 64 << 10;

/// Minimum number of bytes that are worth a request.
const WORTH_BYTES: usize = 256 << 10;

/// Does `passes` passes, at least one, each over the results of the last, from `input` to `output`. Several passes
/// alternate between one temporary array and the output.
pub(crate) fn ping_pong<T: Number>(
    input: &[T],
    output: &mut [T],
    passes: usize,
    mut pass: impl FnMut(usize, &[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    assert!(passes > 0);
    let mut other = Pooled::new(if passes > 1 { input.len() } else { 0 }, "what is between two sweeps")?;
    for number in 0..passes {
        // The last one writes to the output, the one before it to the other array, and so on.
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

/// An output that several threads fill at the same time, each its own range.
pub(crate) struct SharedOutput<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
    /// State of each large page in the output's memory: see [`SharedOutput::have_pages`]. Empty if the output is too
    /// small for it, or if there was no memory for the states.
    pages: Vec<AtomicU8>,
}

/// Number of bytes in a page of large arrays.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Minimum number of large pages that is worth waking threads to populate them.
const WORTH_PAGES: usize = 16;

/// Maximum number of threads that populate pages during other work: more are not faster.
const PROVIDERS: usize = 8;

/// State of a large page that is not populated.
const UNTOUCHED: u8 = 0;
/// State of a page that a thread is populating.
const COMING: u8 = 1;
/// State of a page that can be written to without a wait.
const THERE: u8 = 2;

// SAFETY: it is an exclusive slice, and `places` requires that no two threads get the same elements of it.
unsafe impl<T: Send> Sync for SharedOutput<'_, T> {}

impl<'a, T> SharedOutput<'a, T> {
    pub(crate) fn new(output: &'a mut [T]) -> SharedOutput<'a, T> {
        let bytes = size_of_val(output);
        let (start, len) = (output.as_mut_ptr(), output.len());
        let mut pages = Vec::new();
        if bytes >= 2 * LARGE_PAGE_BYTES {
            let count = large_pages(start.addr()..start.addr() + bytes).len();
            pages = memory::with_room(count, "the pages of an output").unwrap_or_default();
            pages.extend((0..pages.capacity().min(count)).map(|_| AtomicU8::new(UNTOUCHED)));
        }
        SharedOutput { start, len, slice: PhantomData, pages }
    }

    /// Populates the memory of these elements, which are about to be written, unless another thread does so already.
    ///
    /// The system clears a large page before it checks if another thread has done so meanwhile. If several threads
    /// wrote to one page, each would clear all of it, and that takes longer than writing it.
    pub(crate) fn have_pages(&self, places: Range<usize>) {
        if self.pages.is_empty() {
            // SAFETY: these bytes are the output's.
            return unsafe { have_pages_at(self.start, self.bytes(&places)) };
        }
        for number in self.pages_of(&places) {
            self.have_page(number);
        }
    }

    /// Does `work` on this thread. If there are many of these elements, other threads populate their memory meanwhile,
    /// as far as they get until the work is done.
    pub(crate) fn have_pages_during<R>(&self, places: Range<usize>, work: impl FnOnce() -> R) -> R
    where
        T: Send,
    {
        /// Stops the others when the work is done, even by a panic.
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let numbers = self.pages_of(&places);
        let pool = if numbers.len() >= WORTH_PAGES { Workers::get() } else { None };
        let Some(pool) = pool else {
            return work();
        };
        let (next, over) = (AtomicUsize::new(numbers.start), AtomicBool::new(false));
        let provide = || {
            let number = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| numbers.contains(number));
            while let Some(number) = number().filter(|_| !over.load(Ordering::Relaxed)) {
                self.have_page(number);
            }
        };
        pool.in_place_scope(|scope| {
            for _ in 0..Workers::count().min(PROVIDERS) {
                scope.spawn(|_| provide());
            }
            let _over = Over(&over);
            work()
        })
    }

    /// Waits until the memory of these elements is populated.
    pub(crate) fn await_pages(&self, places: Range<usize>) {
        for number in self.pages_of(&places) {
            while self.have_page(number) == COMING {
                // It takes some tenths of a millisecond.
                thread::yield_now();
            }
        }
    }

    /// Populates a large page, unless it is done or another thread is at it.
    fn have_page(&self, number: usize) -> u8 {
        let page = &self.pages[number];
        // Relaxed: no data written by other threads are read, only the states.
        if let Err(state) = page.compare_exchange(UNTOUCHED, COMING, Ordering::Relaxed, Ordering::Relaxed) {
            return state;
        }
        let all = self.bytes(&(0..self.len));
        let from = all.start / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES + number * LARGE_PAGE_BYTES;
        // SAFETY: these bytes are the output's.
        unsafe { have_pages_at(self.start, from.max(all.start)..(from + LARGE_PAGE_BYTES).min(all.end)) };
        page.store(THERE, Ordering::Relaxed);
        THERE
    }

    /// Indices of the large pages with bytes of these elements; none if pages are not tracked.
    fn pages_of(&self, places: &Range<usize>) -> Range<usize> {
        assert!(places.start <= places.end && places.end <= self.len);
        if self.pages.is_empty() || places.is_empty() {
            return 0..0;
        }
        let (first, pages) = (self.start.addr() / LARGE_PAGE_BYTES, large_pages(self.bytes(places)));
        pages.start - first..pages.end - first
    }

    /// Addresses of these elements.
    fn bytes(&self, places: &Range<usize>) -> Range<usize> {
        let at = |place: usize| self.start.addr() + place * size_of::<T>();
        at(places.start)..at(places.end)
    }

    /// Returns the elements `range`.
    ///
    /// # Safety
    /// No element may be in two such slices at the same time.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn places(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the slice that was borrowed for `'a`; the caller promises that no other slice has these
        // elements.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

impl<T: Real, S: Sample<T>> Results<T> for SharedOutput<'_, S> {
    fn count(&self) -> usize {
        self.len
    }

    fn memory(&self) -> (*const u8, usize) {
        (self.start.cast(), size_of::<S>())
    }

    unsafe fn places(&self, places: Range<usize>) -> Option<&mut [T]> {
        // SAFETY: the caller's promise.
        S::as_computed(unsafe { SharedOutput::places(self, places) })
    }

    unsafe fn write(&self, first: usize, [down, across]: [usize; 2], results: &[&[T]]) {
        let rows = results.first().map_or(0, |column| column.len());
        if down == 1 {
            for (c, results) in results.iter().enumerate() {
                let first = first + c * across;
                // SAFETY: the caller's promise.
                let places = unsafe { SharedOutput::places(self, first..first + rows) };
                in_vectors(places, results, |place, &result| *place = S::narrowed(result));
            }
            return;
        }
        // Row by row: neighbours are in the cache for all columns.
        // SAFETY: the caller's promise; here and below.
        let write =
            |c: usize, results: &[T]| unsafe { self.write_by_rows(first + c * across, [down, across], [results]) };
        match *results {
            // SAFETY: as above.
            [a, b] => unsafe { self.write_by_rows(first, [down, across], [a, b]) },
            // SAFETY: as above.
            [a, b, c] => unsafe { self.write_by_rows(first, [down, across], [a, b, c]) },
            // SAFETY: as above.
            [a, b, c, d, e, f] => unsafe { self.write_by_rows(first, [down, across], [a, b, c, d, e, f]) },
            _ => results.iter().enumerate().for_each(|(c, results)| write(c, results)),
        }
    }
}

impl<S> SharedOutput<'_, S> {
    /// Writes some columns of equal length row by row, from the place `first` on.
    ///
    /// # Safety
    /// No other thread may access these places meanwhile.
    #[inline(always)]
    unsafe fn write_by_rows<T: Real, const N: usize>(&self, first: usize, steps: [usize; 2], results: [&[T]; N])
    where
        S: Sample<T>,
    {
        let rows = results[0].len();
        let last = last_place([rows, N], steps).map(|last| last.checked_add(first));
        assert!(results.iter().all(|column| column.len() == rows));
        assert!(last.is_none_or(|last| last.is_some_and(|last| last < self.len)));
        for row in 0..rows {
            for (c, column) in results.iter().enumerate() {
                // SAFETY: none lies beyond the last one, and no other thread accesses them.
                unsafe {
                    let result = S::narrowed(*column.get_unchecked(row));
                    self.start.add(first + row * steps[0] + c * steps[1]).write(result);
                }
            }
        }
    }
}

/// Large pages with some of these bytes, by their indices in the address space.
fn large_pages(bytes: Range<usize>) -> Range<usize> {
    bytes.start / LARGE_PAGE_BYTES..bytes.end.div_ceil(LARGE_PAGE_BYTES)
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

    /// For each large page of an output, true if it is populated.
    fn provided<T>(output: &SharedOutput<T>) -> Vec<bool> {
        output.pages.iter().map(|page| page.load(Ordering::Relaxed) == THERE).collect()
    }

    #[test]
    fn of_an_output_those_pages_are_provided_that_places_are_in() {
        let page = LARGE_PAGE_BYTES / 8;
        let mut memory = vec![7.0; 6 * page];
        let ahead = memory.as_ptr().addr().wrapping_neg() % LARGE_PAGE_BYTES / 8;
        // It begins in the middle of a page, and ends in the middle of the fourth after that.
        let array = &mut memory[ahead + page / 2..ahead + 4 * page + page / 2];
        let len = array.len();
        let output = SharedOutput::new(array);
        assert_eq!(output.pages.len(), 5);
        output.have_pages(0..0);
        output.await_pages(len..len);
        assert_eq!(provided(&output), [false; 5]);
        output.have_pages(page / 2..page / 2 + 1);
        assert_eq!(provided(&output), [false, true, false, false, false]);
        output.await_pages(len - 1..len);
        assert_eq!(provided(&output), [false, true, false, false, true]);
        // The last element of a page and the first one of the next.
        output.have_pages(page / 2 + page - 1..page / 2 + page + 1);
        assert_eq!(provided(&output), [false, true, true, false, true]);
        output.have_pages(0..len);
        assert_eq!(provided(&output), [true; 5]);
        assert!(memory.iter().all(|&number| number == 7.0), "what was there stays");
    }

    #[test]
    fn a_page_that_another_thread_provides_is_waited_for() {
        let mut memory = vec![7.0; LARGE_PAGE_BYTES];
        let output = SharedOutput::new(&mut memory);
        output.pages[0].store(COMING, Ordering::Relaxed);
        output.have_pages(0..1);
        assert_eq!(output.pages[0].load(Ordering::Relaxed), COMING, "it is left to that thread");
        let waited = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                output.await_pages(0..1);
                waited.store(true, Ordering::SeqCst);
            });
            thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waited.load(Ordering::SeqCst));
            output.pages[0].store(THERE, Ordering::Relaxed);
        });
        assert!(waited.into_inner());
    }

    #[test]
    fn pages_are_provided_during_work_and_only_until_its_end() {
        let count = 2 * WORTH_PAGES;
        let mut memory = vec![7.0; count * LARGE_PAGE_BYTES / 8];
        let half = memory.len() / 2;
        let output = SharedOutput::new(&mut memory);
        // The first half ends within a page, or at the border of one.
        let last = output.pages_of(&(0..half)).end;
        let there = || provided(&output).iter().filter(|&&is_there| is_there).count();
        let begun = std::time::Instant::now();
        let outcome = output.have_pages_during(0..half, || {
            while Workers::count() > 1 && there() < last && begun.elapsed().as_secs() < 60 {
                thread::yield_now();
            }
            "done"
        });
        assert_eq!(outcome, "done");
        if Workers::count() > 1 {
            assert_eq!(there(), last);
        }
        assert!(provided(&output)[last..].iter().all(|&is_there| !is_there), "of the other half nothing");
        // No thread is at work when it returns, nor when it unwinds.
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            output.have_pages_during(half..2 * half, || panic!("at work"))
        }));
        assert!(panic.is_err());
        assert!(output.pages.iter().all(|page| page.load(Ordering::Relaxed) != COMING));
    }
}

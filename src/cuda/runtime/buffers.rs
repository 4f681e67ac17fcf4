//! Unused buffers, kept for the next call.

use crate::cuda::driver::memory::{DEFAULT_DEVICE_BYTES, DeviceBuffer};

/// Unused buffers, the one returned last at the end.
#[derive(Debug)]
pub(super) struct Pool<B> {
    pub(super) free: Vec<B>,
    /// Bytes of live arrays, and their peak.
    pub(super) live: usize,
    pub(super) peak: usize,
    /// Maximum of the peak that counts.
    pub(super) limit: usize,
    pub(super) bound: usize,
    pub(super) strict: bool,
}

/// A buffer's interface to the pool.
pub(super) trait Piece {
    fn bytes(&self) -> usize;
}

impl Piece for DeviceBuffer {
    fn bytes(&self) -> usize {
        DeviceBuffer::bytes(self)
    }
}

impl<B> Default for Pool<B> {
    fn default() -> Pool<B> {
        Pool { free: Vec::new(), live: 0, peak: 0, limit: 0, bound: DEFAULT_DEVICE_BYTES, strict: false }
    }
}

impl<B: Piece> Pool<B> {
    /// Counts `more` bytes of arrays allocated and `less` bytes given up.
    pub(super) fn count(&mut self, more: usize, less: usize) {
        self.live = self.live + more - less;
        self.peak = self.peak.max(self.live);
    }

    /// Returns the number of bytes that the pool may hold.
    fn most(&self) -> usize {
        if self.strict { self.bound } else { self.bound.max(self.peak.min(self.limit)) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.free.iter().map(B::bytes).sum()
    }

    pub(super) fn fitting(&self, bytes: usize) -> usize {
        self.free.iter().filter(|buffer| fits(buffer.bytes(), bytes)).count()
    }

    /// Takes the smallest buffer that fits.
    pub(super) fn take(&mut self, bytes: usize) -> Option<B> {
        let fitting = self.free.iter().enumerate().filter(|(_, buffer)| fits(buffer.bytes(), bytes));
        let (found, _) = fitting.min_by_key(|(_, buffer)| buffer.bytes())?;
        Some(self.free.remove(found))
    }

    /// Keeps a buffer, and returns those that are now too much: the least recently used ones, since a script goes on
    /// with arrays of the sizes that it has.
    pub(super) fn keep(&mut self, buffer: B) -> Vec<B> {
        if buffer.bytes() > self.most() {
            return vec![buffer];
        }
        self.free.push(buffer);
        let mut excess = self.bytes().saturating_sub(self.most());
        let dropped = self.free.iter().take_while(|buffer| {
            let goes = excess > 0;
            excess = excess.saturating_sub(buffer.bytes());
            goes
        });
        let dropped = dropped.count();
        self.free.drain(..dropped).collect()
    }
}

/// True if a buffer of `bytes` bytes serves for `wanted` bytes: the excess is small, in itself or in proportion.
fn fits(bytes: usize, wanted: usize) -> bool {
    bytes >= wanted && bytes / 2 <= wanted.max(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Piece for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    const MIB: usize = 1 << 20;

    fn pool() -> Pool<usize> {
        Pool { limit: 1000 * MIB, bound: 100 * MIB, ..Pool::default() }
    }

    #[test]
    fn a_buffer_serves_again_where_most_of_it_is_needed() {
        let mut pool = pool();
        for bytes in [40 * MIB, 10 * MIB, MIB] {
            assert_eq!(pool.keep(bytes), []);
        }
        assert_eq!((pool.take(19 * MIB), pool.take(41 * MIB)), (None, None), "too large, too small");
        assert_eq!((pool.fitting(10), pool.take(10), pool.take(10)), (1, Some(MIB), None));
        assert_eq!((pool.take(20 * MIB), pool.take(9 * MIB), pool.bytes()), (Some(40 * MIB), Some(10 * MIB), 0));
    }

    #[test]
    fn what_was_not_needed_for_the_longest_time_goes_first() {
        let mut pool = pool();
        for bytes in [30, 31, 32] {
            assert_eq!(pool.keep(bytes * MIB), []);
        }
        assert_eq!(pool.keep(5 * MIB), []);
        assert_eq!(pool.keep(10 * MIB), [30 * MIB], "a small one is no reason to go");
        // A buffer in use comes back to the end.
        assert_eq!(pool.take(31 * MIB), Some(31 * MIB));
        assert_eq!(pool.keep(31 * MIB), []);
        assert_eq!(pool.keep(60 * MIB), [32 * MIB, 5 * MIB, 10 * MIB]);
        assert_eq!(pool.keep(101 * MIB), [101 * MIB], "more than all that may be kept");
    }

    #[test]
    fn it_may_hold_as_much_as_arrays_did_at_once() {
        let mut pool = pool();
        pool.count(300 * MIB, 0);
        pool.count(0, 300 * MIB);
        assert_eq!((pool.keep(200 * MIB), pool.keep(100 * MIB)), (vec![], vec![]));
        assert_eq!(pool.keep(50 * MIB), [200 * MIB]);
        pool.count(5000 * MIB, 0);
        assert_eq!(pool.most(), 1000 * MIB);
        pool.strict = true;
        assert_eq!(pool.most(), 100 * MIB);
    }
}

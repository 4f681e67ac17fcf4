//! Arrays in memory of this library, which is reused for later ones.
//!
//! # Rationale
//! Fresh memory of the system's is slow: each page costs a fault, and is cleared first. A chain of operations on large
//! arrays allocates a new one for each step and drops another, so it reuses the same few pieces of memory.
//!
//! # Bounds
//! Cached memory is limited to the size of all live arrays, or to [`KEPT_BYTES`] if that is more. All of it is returned
//! to the system if an array of this library's cannot be allocated otherwise, and by [`release`].

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;

use super::OutOfMemory;
use crate::platform::process::{self, PerProcess};

/// Maximum size of the cache if no array is live, in bytes.
const KEPT_BYTES: usize = 64 << 20;

/// Minimum size in bytes of cached arrays: the allocator serves smaller ones quickly.
const LEAST_BYTES: usize = 64 << 10;

/// Element type of such arrays.
pub(crate) trait Number: Zeroable + Copy + Send + 'static {}

impl<T: Zeroable + Copy + Send + 'static> Number for T {}

/// An array in ordinary memory.
#[derive(Debug)]
pub(crate) struct Pooled<T: Number> {
    numbers: Vec<T>,
    len: usize,
    /// Process that owns it: a forked process leaves it alone.
    process: u32,
}

impl<T: Number> Pooled<T> {
    /// Allocates `len` uninitialised numbers; `what` names their purpose in an error.
    pub(crate) fn new(len: usize, what: &'static str) -> Result<Pooled<T>, OutOfMemory> {
        // Outside the lock: if memory is short, the cache is released.
        let kept = books().take::<T>(len);
        let numbers = match kept {
            Some(numbers) => numbers,
            None => {
                super::on_shortage(release);
                let mut fresh = super::zeros(len, what)?;
                super::prefer_large_pages(&mut fresh);
                fresh
            }
        };
        books().live += bytes(&numbers);
        Ok(Pooled { numbers, len, process: process::id() })
    }
}

impl<T: Number> Deref for Pooled<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[..self.len]
    }
}

impl<T: Number> DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[..self.len]
    }
}

impl<T: Number> Drop for Pooled<T> {
    fn drop(&mut self) {
        let numbers = std::mem::take(&mut self.numbers);
        if self.process != process::id() {
            return;
        }
        // The surplus is dropped outside the lock: unmapping takes a while.
        let mut books = books();
        books.live -= bytes(&numbers);
        let dropped = books.keep(numbers);
        drop(books);
        drop(dropped);
    }
}

/// Returns cached memory to the system; true if there was any.
pub(crate) fn release() -> bool {
    let kept = std::mem::take(&mut books().kept);
    kept.values().any(|kept| kept.bytes() > 0)
}

fn bytes<T>(numbers: &[T]) -> usize {
    size_of_val(numbers)
}

#[derive(Default)]
struct Books {
    /// Number of bytes in live arrays.
    live: usize,
    /// Cached pieces, by class.
    kept: HashMap<TypeId, Box<dyn AnyPieces>>,
    /// Number of pieces that were ever cached.
    came: u64,
}

fn books() -> MutexGuard<'static, Books> {
    static BOOKS: PerProcess<Mutex<Books>> = PerProcess::new();
    BOOKS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cached memory of one class.
trait AnyPieces: Send {
    fn bytes(&self) -> usize;
    /// Number of the oldest piece.
    fn oldest(&self) -> Option<u64>;
    /// Removes it.
    fn pop_oldest(&mut self) -> Option<Box<dyn Any + Send>>;
    fn as_any(&mut self) -> &mut dyn Any;
}

/// Pieces of one class, each with its number, in ascending order.
type Pieces<T> = Vec<(u64, Vec<T>)>;

impl<T: Number> AnyPieces for Pieces<T> {
    fn bytes(&self) -> usize {
        self.iter().map(|(_, numbers)| bytes(numbers)).sum()
    }

    fn oldest(&self) -> Option<u64> {
        self.first().map(|&(came, _)| came)
    }

    fn pop_oldest(&mut self) -> Option<Box<dyn Any + Send>> {
        (!self.is_empty()).then(|| Box::new(self.remove(0).1) as _)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Books {
    fn of<T: Number>(&mut self) -> &mut Pieces<T> {
        let kept = self.kept.entry(TypeId::of::<T>()).or_insert_with(|| Box::<Pieces<T>>::default());
        // The dereference avoids calling the method of the box.
        (**kept).as_any().downcast_mut().expect("it is filed under its class")
    }

    /// Takes the smallest fitting piece, of which no more than half may be unused.
    fn take<T: Number>(&mut self, len: usize) -> Option<Vec<T>> {
        let kept = self.of::<T>();
        let serves = len..=len.saturating_mul(2);
        let fitting = kept.iter().enumerate().filter(|(_, (_, numbers))| serves.contains(&numbers.len()));
        let (found, _) = fitting.min_by_key(|(_, (_, numbers))| numbers.len())?;
        Some(kept.remove(found).1)
    }

    /// Caches a piece, and returns the surplus: pieces unused for the longest time.
    fn keep<T: Number>(&mut self, numbers: Vec<T>) -> Vec<Box<dyn Any + Send>> {
        let most = self.live.max(KEPT_BYTES);
        if bytes(&numbers) < LEAST_BYTES || bytes(&numbers) > most {
            return vec![Box::new(numbers)];
        }
        self.came += 1;
        let came = self.came;
        self.of::<T>().push((came, numbers));
        let mut dropped = Vec::new();
        while self.kept.values().map(|kept| kept.bytes()).sum::<usize>() > most {
            let kept = self.kept.values_mut().filter(|kept| kept.oldest().is_some());
            match kept.min_by_key(|kept| kept.oldest()).and_then(|kept| kept.pop_oldest()) {
                Some(piece) => dropped.push(piece),
                None => break,
            }
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_bytes(books: &Books) -> usize {
        books.kept.values().map(|kept| kept.bytes()).sum()
    }

    #[test]
    fn a_piece_serves_again_where_most_of_it_is_needed() {
        let mut books = Books::default();
        assert!(books.keep(vec![1.0_f64; 100_000]).is_empty());
        assert!(books.take::<f32>(100_000).is_none(), "another class");
        assert!(books.take::<f64>(49_999).is_none(), "too large");
        assert!(books.take::<f64>(100_001).is_none(), "too small");
        assert_eq!(books.take::<f64>(50_000).map(|numbers| numbers.len()), Some(100_000));
        assert!(books.take::<f64>(100_000).is_none(), "it is taken");
        assert_eq!(books.keep(vec![1.0_f64; 100]).len(), 1, "not worth it");
    }

    #[test]
    fn the_cache_is_bounded_by_live_arrays() {
        let mut books = Books::default();
        let mega = |n: usize| vec![0.0_f32; n << 18];
        for _ in 0..100 {
            books.keep(mega(1));
        }
        assert_eq!(kept_bytes(&books), KEPT_BYTES);
        books.live = 100 << 20;
        books.keep(vec![0.0_f64; 100 << 17]);
        assert_eq!(kept_bytes(&books), 100 << 20, "the last one, for all that came before");
        books.live = 0;
        books.keep(mega(1));
        assert!(kept_bytes(&books) <= KEPT_BYTES);
        assert_eq!(books.keep(mega(65)).len(), 1, "more than all that may be kept");
    }

    #[test]
    fn dropped_memory_is_reused() {
        let mut first = Pooled::<f64>::new(300_000, "a test").unwrap();
        first[299_999] = 7.0;
        let address = first.as_ptr();
        drop(first);
        // Other tests may run at the same time; the piece is one of the pool's, or was taken by them.
        let again = Pooled::<f64>::new(300_000, "a test").unwrap();
        assert!(again.as_ptr() == address || again[299_999] == 0.0);
        assert_eq!(again.len(), 300_000);
    }
}

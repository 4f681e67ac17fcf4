//! Places of nonzero elements.

use super::threads;
use crate::cpu::simd::{self, Instructions, Lanes, Loops};
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error, Real};

/// Counts the nonzero elements of a piece.
struct Count<'a, T> {
    piece: &'a [T],
    count: &'a mut usize,
}

impl<T: Real> Loops for Count<'_, T> {
    #[inline(always)]
    fn run(self) {
        *self.count = self.piece.iter().map(|&x| usize::from(x != T::default())).sum();
    }
}

/// Returns the places in ascending order, counted from 0.
pub(super) fn run<T: Lanes>(instructions: Instructions, input: &[T], watch: &Watch) -> Result<Array<u64>, Error> {
    watch.check()?;
    let (pieces, threads) = (input.len().div_ceil(STEP), threads(input.len()));
    let piece = |number: usize| &input[number * STEP..((number + 1) * STEP).min(input.len())];
    // Start of each piece's places; the last entry is their total number.
    let mut begins: Vec<usize> = memory::zeros(pieces + 1, "the pieces of a search")?;
    let counts = SharedOutput::new(&mut begins);
    tasks::run(pieces, threads, 1, watch, |number, _: &mut (), progress| {
        // SAFETY: no other task has this count.
        let count = unsafe { counts.places(number + 1..number + 2) };
        simd::run(instructions, Count { piece: piece(number), count: &mut count[0] });
        Ok(progress.step(0)?)
    })?;
    drop(counts);
    for number in 0..pieces {
        begins[number + 1] += begins[number];
    }
    let mut found = Array::<u64>::in_memory(begins[pieces])?;
    let target = SharedOutput::new(found.held_mut::<Pooled<u64>>()?);
    tasks::run(pieces, threads, 1, watch, |number, _: &mut (), progress| {
        // SAFETY: no other task has these places.
        let places = unsafe { target.places(begins[number]..begins[number + 1]) };
        let of_piece = piece(number).iter().enumerate().filter(|&(_, &x)| x != T::default());
        places.iter_mut().zip(of_piece).for_each(|(place, (i, _))| *place = (number * STEP + i) as u64);
        Ok(progress.step(0)?)
    })?;
    drop(target);
    Ok(found)
}

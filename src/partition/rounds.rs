//! Sweeps in rounds: between two of them halos are filled anew.

use crate::host::{SharedOutput, ping_pong};
use crate::stencil::{Error, Real};

/// Sweeps in rounds of as many as halos allow; the last one does what is left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    sweeps: usize,
    at_once: usize,
}

impl Rounds {
    /// Does at most `at_once` sweeps in a round, at least one.
    pub(crate) fn new(sweeps: usize, at_once: usize) -> Rounds {
        Rounds { sweeps, at_once: at_once.clamp(1, sweeps.max(1)) }
    }

    /// As few rounds as with [`Rounds::new`], all with about as many sweeps, so that halos are no deeper than needed.
    pub(crate) fn alike(sweeps: usize, at_once: usize) -> Rounds {
        Rounds::new(sweeps, sweeps.div_ceil(Rounds::new(sweeps, at_once).count().max(1)))
    }

    /// Returns the number of rounds.
    pub(crate) fn count(self) -> usize {
        self.sweeps.div_ceil(self.at_once)
    }

    /// Returns the number of sweeps in all rounds but the last, which has at most as many.
    pub(crate) fn at_once(self) -> usize {
        self.at_once
    }

    /// Returns the number of sweeps in the round of this number.
    pub(crate) fn sweeps_of(self, round: usize) -> usize {
        self.at_once.min(self.sweeps - round * self.at_once)
    }

    /// Does all rounds over arrays of the host. `round` gets the number of sweeps.
    pub(crate) fn over<T: Real>(
        self,
        input: &[T],
        output: &mut [T],
        mut round: impl FnMut(usize, &[T], &SharedOutput<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        ping_pong(input, output, self.count(), |number, from, to| {
            round(self.sweeps_of(number), from, &SharedOutput::new(to))
        })
    }
}

/// Returns one, two, and so on up to `most`; only some of the large numbers, so that there are few in all.
pub(crate) fn numbers_to(most: usize) -> impl Iterator<Item = usize> + Clone {
    std::iter::successors(Some(1_usize), |&number| number.checked_add((number / 8).max(1)))
        .take_while(move |&n| n <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_do_all_sweeps_and_are_alike() {
        for (sweeps, at_once, count) in [(1, 1, 1), (1, 9, 1), (7, 3, 3), (50, 8, 7), (64, 1, 64), (1000, 400, 3)] {
            for rounds in [Rounds::new(sweeps, at_once), Rounds::alike(sweeps, at_once)] {
                let all: Vec<_> = (0..rounds.count()).map(|round| rounds.sweeps_of(round)).collect();
                assert_eq!((all.len(), all.iter().sum()), (count, sweeps), "{all:?}");
                assert!(all[..count - 1].iter().all(|&sweeps| sweeps == rounds.at_once()) && all[count - 1] > 0);
            }
            assert!(Rounds::alike(sweeps, at_once).at_once() < sweeps.div_ceil(count) + 1);
        }
    }
}

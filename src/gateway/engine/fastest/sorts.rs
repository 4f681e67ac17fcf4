//! Times of calls by sort, and the choice that follows from them.

use super::work::Work;

/// Number of sorts that are remembered. One more makes the oldest forgotten.
const MOST: usize = 64;

/// Number of calls that measure an engine; the shortest counts. The first may load a kernel or start threads.
const CALLS: usize = 3;

/// The other engine is tried if its guess is less than `NEAR` times the time of the better one (guesses are right to a
/// factor of three), and less than `LONGEST_TRIAL` seconds.
const NEAR: f64 = 4.0;
const LONGEST_TRIAL: f64 = 1.0;

/// An engine. As a number it is the index of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    Cpu,
    Cuda,
}

/// The machine of a call: a device, and its share of the device and of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    pub(super) ordinal: usize,
    pub(super) device_bytes: Option<usize>,
    pub(super) threads: usize,
}

/// Calls that go to one engine: of one function, class and filter, with about the same size and number of sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    resources: Resources,
    /// Rounded.
    work: Work,
}

impl Sort {
    pub(super) fn new(work: &Work, resources: Resources) -> Sort {
        Sort { resources, work: work.rounded() }
    }
}

/// The time that an engine took for calls of a sort.
#[derive(Debug, Clone, Copy)]
struct Taken {
    calls: usize,
    /// Least number of seconds for an update: calls of one sort differ in size.
    least: f64,
}

impl Taken {
    const NOTHING: Taken = Taken { calls: 0, least: f64::INFINITY };

    fn known(self) -> Option<f64> {
        (self.calls >= CALLS).then_some(self.least)
    }
}

/// The engine for a call, and the times that decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) which: Candidate,
    /// Times of the CPU and of CUDA, measured or guessed.
    pub(super) seconds: [f64; 2],
    pub(super) measured: [bool; 2],
    /// True if the choice is the engine that seems to take longer.
    pub(super) trial: bool,
}

/// Sorts of calls, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Sorts(Vec<(Sort, [Taken; 2])>);

impl Sorts {
    /// Chooses the engine for a call of this many updates; `guess` has the seconds of both.
    pub(super) fn choose(&mut self, sort: Sort, updates: f64, guess: [f64; 2], may_try: bool) -> Choice {
        let known = self.taken(sort).map(Taken::known);
        let seconds = [0, 1].map(|which| known[which].map_or(guess[which], |least| least * updates));
        let (better, other) = if seconds[0] <= seconds[1] {
            (Candidate::Cpu, Candidate::Cuda)
        } else {
            (Candidate::Cuda, Candidate::Cpu)
        };
        let trial = may_try
            && known[better as usize].is_some()
            && known[other as usize].is_none()
            && seconds[other as usize] < (NEAR * seconds[better as usize]).min(LONGEST_TRIAL);
        let which = if trial { other } else { better };
        Choice { which, seconds, measured: known.map(|known| known.is_some()), trial }
    }

    /// Remembers that an engine took this many seconds for each update of a call.
    pub(super) fn learn(&mut self, sort: Sort, which: Candidate, seconds: f64) {
        let taken = &mut self.taken(sort)[which as usize];
        *taken = Taken { calls: taken.calls + 1, least: taken.least.min(seconds) };
    }

    fn taken(&mut self, sort: Sort) -> &mut [Taken; 2] {
        let at = self.0.iter().position(|(known, _)| *known == sort).unwrap_or_else(|| {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            self.0.push((sort, [Taken::NOTHING; 2]));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::Candidate::{Cpu, Cuda};
    use super::*;
    use crate::gateway::engine::fastest::work::tests::line;

    const RESOURCES: Resources = Resources { ordinal: 0, device_bytes: None, threads: 16 };

    fn sort(work: &Work) -> Sort {
        Sort::new(work, RESOURCES)
    }

    /// Returns the engines of `count` calls of a sort; `takes` gives the seconds of both for each call.
    fn calls(count: usize, guess: [f64; 2], takes: impl Fn(usize) -> [f64; 2]) -> Vec<Candidate> {
        let (mut sorts, sort) = (Sorts::default(), sort(&line(1000, 3, 1)));
        let call = |number| {
            let Choice { which, .. } = sorts.choose(sort, 1000.0, guess, true);
            sorts.learn(sort, which, takes(number)[which as usize] / 1000.0);
            which
        };
        (0..count).map(call).collect()
    }

    #[test]
    fn each_engine_is_tried_and_the_quicker_one_stays() {
        let near = [0.020, 0.028];
        let first = [Cpu, Cpu, Cpu, Cuda, Cuda, Cuda];
        assert_eq!(calls(9, near, |_| [0.020, 0.016]), [&first[..], &[Cuda; 3]].concat());
        assert_eq!(calls(9, near, |_| [0.020, 0.024]), [&first[..], &[Cpu; 3]].concat());
        // The first call of an engine does not count, since it may start something.
        let slow_start = |number| if number == 3 { [0.020, 5.0] } else { [0.020, 0.016] };
        assert_eq!(calls(9, near, slow_start)[6..], [Cuda; 3]);
        // Later calls that others delay change nothing.
        let held_up = |number| if number > 6 { [9.0, 9.0] } else { [0.020, 0.016] };
        assert_eq!(calls(20, near, held_up)[6..], [Cuda; 14]);
    }

    #[test]
    fn engines_that_seem_slow_are_not_tried() {
        assert_eq!(calls(9, [0.020, 0.081], |_| [0.020, 0.001]), [Cpu; 9], "many times as long");
        assert_eq!(calls(9, [1.0, 1.1], |_| [1.0, 0.1]), [Cpu; 9], "more than a second");
        // The engine takes longer than the guess for the other one.
        assert_eq!(calls(5, [0.020, 0.090], |_| [3.0, 0.5]), [Cpu, Cpu, Cpu, Cuda, Cuda]);
    }

    #[test]
    fn a_sort_has_calls_of_about_one_size() {
        let work = line(1500, 3, 5);
        for same in [line(1024, 3, 4), line(2047, 3, 7)] {
            assert_eq!(sort(&same), sort(&work));
        }
        for other in [line(1023, 3, 5), line(2048, 3, 5), line(1500, 5, 5), line(1500, 3, 8), work.repeated(2)] {
            assert_ne!(sort(&other), sort(&work));
        }
        assert_ne!(Sort::new(&work, Resources { threads: 2, ..RESOURCES }), sort(&work));
        // Times scale with the size, and the oldest sort is forgotten.
        let mut sorts = Sorts::default();
        (0..CALLS).for_each(|_| sorts.learn(sort(&work), Cpu, 1e-6));
        assert_eq!(sorts.choose(sort(&work), 2e6, [0.0, 9.0], true).seconds, [2.0, 9.0]);
        (1..=MOST).for_each(|taps| sorts.learn(sort(&line(9, taps, 1)), Cpu, 1.0));
        assert_eq!((sorts.0.len(), sorts.0[0].0), (MOST, sort(&line(9, 1, 1))));
    }
}

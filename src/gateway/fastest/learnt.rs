//! What calls took: who makes the same call again and again gets the engine that took less time for it.
//!
//! A prediction is right to some tens of per cent. Where the two engines are as near as that, the call itself is the
//! better measure. So of each sort of call the times are kept; while they are near, the engine that was not taken is
//! tried as well.

use super::model::{Seconds, Work};

/// Calls of so many sorts are remembered. Beyond that, the oldest is forgotten.
const MOST: usize = 64;

/// Calls that an engine is judged by: the first may have loaded a kernel, or started threads.
const CALLS: u32 = 2;

/// The engine that was not taken is tried where it is predicted to take less than so many times as long,
const NEAR: f64 = 1.6;

/// and less than so many seconds.
const SHORT: f64 = 0.3;

/// The part of a difference that a longer time is taken for lasting by, and how much longer it may be for that.
const LASTING: f64 = 0.125;
const LONGER: f64 = 3.0;

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Cpu,
    Cuda,
}

/// What an engine took for calls of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Taken {
    calls: u32,
    seconds: f64,
}

impl Taken {
    /// So long, if it was measured.
    fn known(self) -> Option<f64> {
        (self.calls >= CALLS).then_some(self.seconds)
    }

    fn learn(&mut self, seconds: f64) {
        self.calls += 1;
        if self.calls == 1 || seconds < self.seconds {
            self.seconds = seconds;
        } else if self.calls > CALLS {
            // One that was held up is no measure; if all of them are, it is.
            self.seconds += LASTING * (seconds.min(LONGER * self.seconds) - self.seconds);
        }
    }
}

/// On what a call is made: a device, and how much of it and of the host it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) ordinal: usize,
    pub(super) device_bytes: Option<usize>,
    pub(super) threads: usize,
}

/// Calls of one sort.
#[derive(Debug, Clone, Copy)]
struct Sort {
    place: Place,
    work: Work,
    predicted: Seconds,
    taken: [Taken; 2],
}

/// The engine for a call, and what it was chosen by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) which: Which,
    /// Measured or predicted.
    pub(super) seconds: Seconds,
    pub(super) measured: [bool; 2],
    /// Whether it is not the one that seems to take less, but one that has to be tried.
    pub(super) tried: bool,
}

/// What was learnt from calls.
#[derive(Debug, Default)]
pub(super) struct Learnt(Vec<Sort>);

impl Learnt {
    /// The engine for a call, of which `predict` tells the times where it is the first of its sort.
    pub(super) fn choose(&mut self, place: Place, work: &Work, predict: impl FnOnce() -> Seconds) -> Choice {
        let at = self.find(place, work).unwrap_or_else(|| {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            self.0.push(Sort { place, work: *work, predicted: predict(), taken: [Taken::default(); 2] });
            self.0.len() - 1
        });
        let Sort { predicted, taken, .. } = self.0[at];
        let known = taken.map(Taken::known);
        let seconds = Seconds { cpu: known[0].unwrap_or(predicted.cpu), cuda: known[1].unwrap_or(predicted.cuda) };
        let better = if seconds.cpu <= seconds.cuda { Which::Cpu } else { Which::Cuda };
        let of = |which: Which| if which == Which::Cpu { seconds.cpu } else { seconds.cuda };
        let other = if better == Which::Cpu { Which::Cuda } else { Which::Cpu };
        let near = of(other) < NEAR * of(better) && of(other) < SHORT;
        let tried = known[better as usize].is_some() && known[other as usize].is_none() && near;
        let which = if tried { other } else { better };
        Choice { which, seconds, measured: known.map(|known| known.is_some()), tried }
    }

    /// That a call, which was chosen for, took so long on an engine.
    pub(super) fn learn(&mut self, place: Place, work: &Work, which: Which, seconds: f64) {
        if let Some(at) = self.find(place, work) {
            self.0[at].taken[which as usize].learn(seconds);
        }
    }

    fn find(&self, place: Place, work: &Work) -> Option<usize> {
        self.0.iter().position(|sort| sort.place == place && sort.work == *work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Job;
    use super::super::model::tests;
    use super::*;

    fn line(n: usize, taps: usize, sweeps: usize) -> Work {
        tests::line(n, taps, sweeps).work()
    }

    const PLACE: Place = Place { ordinal: 0, device_bytes: None, threads: 16 };

    /// The engines that calls of a sort go to, where they take so long.
    fn calls(count: usize, predicted: Seconds, takes: Seconds) -> Vec<Which> {
        let (mut learnt, work) = (Learnt::default(), line(1000, 3, 1));
        let call = |_| {
            let Choice { which, .. } = learnt.choose(PLACE, &work, || predicted);
            learnt.learn(PLACE, &work, which, if which == Which::Cpu { takes.cpu } else { takes.cuda });
            which
        };
        (0..count).map(call).collect()
    }

    #[test]
    fn what_is_near_is_tried_and_the_better_one_stays() {
        use Which::{Cpu, Cuda};
        let near = Seconds { cpu: 1e-3, cuda: 1.4e-3 };
        assert_eq!(calls(6, near, Seconds { cpu: 1e-3, cuda: 0.8e-3 }), [Cpu, Cpu, Cuda, Cuda, Cuda, Cuda]);
        assert_eq!(calls(6, near, Seconds { cpu: 1e-3, cuda: 1.2e-3 }), [Cpu, Cpu, Cuda, Cuda, Cpu, Cpu]);
        // Not what is predicted to take much longer, nor what takes long.
        let far = Seconds { cpu: 1e-3, cuda: 1.7e-3 };
        assert_eq!(calls(4, far, far), [Cpu; 4]);
        let long = Seconds { cpu: 1.0, cuda: 1.1 };
        assert_eq!(calls(4, long, long), [Cpu; 4]);
        // But whatever was predicted, an engine that takes longer than the other would is left.
        assert_eq!(calls(5, far, Seconds { cpu: 3e-3, cuda: 1e-3 }), [Cpu, Cpu, Cuda, Cuda, Cuda]);
    }

    #[test]
    fn one_call_that_was_held_up_changes_nothing() {
        let (mut learnt, work) = (Learnt::default(), line(1000, 3, 1));
        let predicted = Seconds { cpu: 1e-3, cuda: 1.2e-3 };
        learnt.choose(PLACE, &work, || predicted);
        for (which, seconds) in [(Which::Cpu, 9e-3), (Which::Cpu, 1e-3), (Which::Cuda, 0.5), (Which::Cuda, 1.3e-3)] {
            learnt.learn(PLACE, &work, which, seconds);
        }
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cpu);
        learnt.learn(PLACE, &work, Which::Cpu, 20.0);
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cpu, "once");
        for _ in 0..3 {
            learnt.learn(PLACE, &work, Which::Cpu, 20.0);
        }
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cuda, "again and again");
    }

    #[test]
    fn calls_of_another_sort_or_place_are_others() {
        let (mut learnt, predicted) = (Learnt::default(), Seconds { cpu: 1.0, cuda: 2.0 });
        let work = line(1000, 3, 1);
        learnt.choose(PLACE, &work, || predicted);
        (0..2).for_each(|_| learnt.learn(PLACE, &work, Which::Cpu, 9.0));
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cuda);
        for other in [line(1001, 3, 1), line(1000, 5, 1), line(1000, 3, 2), Work { calls: 2, ..work }] {
            assert_eq!(learnt.choose(PLACE, &other, || predicted).which, Which::Cpu);
        }
        let elsewhere = Place { threads: 2, ..PLACE };
        assert_eq!(learnt.choose(elsewhere, &work, || predicted).which, Which::Cpu);
    }

    #[test]
    fn so_many_sorts_are_remembered() {
        let mut learnt = Learnt::default();
        for n in 1..=3 * MOST {
            learnt.choose(PLACE, &line(n, 3, 1), || Seconds { cpu: 1.0, cuda: 1.0 });
        }
        assert_eq!(learnt.0.len(), MOST);
        assert!(learnt.find(PLACE, &line(3 * MOST, 3, 1)).is_some());
        assert!(learnt.find(PLACE, &line(1, 3, 1)).is_none());
    }
}

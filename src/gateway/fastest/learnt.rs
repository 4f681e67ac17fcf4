//! What calls took: who makes the same call again and again gets the engine that took less time for it.
//!
//! A prediction is right to some tens of per cent. Where the two engines are as near as that, the call itself is the
//! better measure. So of each sort of call the times are kept; while they are near, the engine that was not taken is
//! tried as well.

use super::model::{Seconds, Work};

/// Calls of so many sorts are remembered. Beyond that, the oldest is forgotten.
const MOST: usize = 64;

/// Calls that an engine is judged by at least, where they are short and where not: the first may have loaded a kernel,
/// or started threads.
const CALLS: [usize; 2] = [4, 2];

/// Calls up to so many seconds are short.
const SHORT: f64 = 0.01;

/// Calls that an engine is judged by at most: the last ones.
const LAST: usize = 8;

/// The engine that was not taken is tried where it is predicted to take less than so many times as long,
const NEAR: f64 = 1.6;

/// and less than so many seconds.
const NOT_LONG: f64 = 0.3;

/// It is tried again once in so many calls, where it took less than so many times as long.
const AGAIN: usize = 64;
const STILL_NEAR: f64 = 1.25;

/// The engine that was taken last stays where the other one gains less than this.
const GAIN: f64 = 0.96;

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Cpu,
    Cuda,
}

/// What an engine took for calls of a sort: seconds, the last ones in no order.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Taken {
    calls: usize,
    last: [f64; LAST],
}

impl Taken {
    /// So long, if that is known: the shortest of the last calls. A call may be held up by others, by the system or by
    /// what is made once; none is hurried. (The middle one was tried: on an H200's host it went to the engine that takes
    /// 1.8 times as long, after two calls that were held up.) Once the engine has become slower, all of them are longer.
    fn known(self) -> Option<f64> {
        let count = self.calls.min(LAST);
        let shortest = self.last[..count].iter().copied().fold(f64::INFINITY, f64::min);
        let wanted = CALLS[usize::from(shortest > SHORT)];
        (count >= wanted).then_some(shortest)
    }

    fn learn(&mut self, seconds: f64) {
        self.last[self.calls % LAST] = seconds;
        self.calls += 1;
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
    /// The better one, when a call was chosen for last.
    better: Option<Which>,
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
            self.0.push(Sort { place, work: *work, predicted: predict(), taken: [Taken::default(); 2], better: None });
            self.0.len() - 1
        });
        let Sort { predicted, taken, better: before, .. } = self.0[at];
        let known = taken.map(Taken::known);
        let seconds = Seconds { cpu: known[0].unwrap_or(predicted.cpu), cuda: known[1].unwrap_or(predicted.cuda) };
        let of = |which: Which| if which == Which::Cpu { seconds.cpu } else { seconds.cuda };
        let mut better = if seconds.cpu <= seconds.cuda { Which::Cpu } else { Which::Cuda };
        if let Some(before) = before
            && of(better) > GAIN * of(before)
        {
            better = before;
        }
        self.0[at].better = Some(better);
        let other = if better == Which::Cpu { Which::Cuda } else { Which::Cpu };
        let tried = of(other) < NOT_LONG
            && known[better as usize].is_some()
            && match known[other as usize] {
                None => of(other) < NEAR * of(better),
                Some(_) => {
                    let calls: usize = taken.iter().map(|taken| taken.calls).sum();
                    calls % AGAIN == AGAIN - 1 && of(other) < STILL_NEAR * of(better)
                }
            };
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
        let near = Seconds { cpu: 0.020, cuda: 0.028 };
        assert_eq!(calls(6, near, Seconds { cpu: 0.020, cuda: 0.016 }), [Cpu, Cpu, Cuda, Cuda, Cuda, Cuda]);
        assert_eq!(calls(6, near, Seconds { cpu: 0.020, cuda: 0.024 }), [Cpu, Cpu, Cuda, Cuda, Cpu, Cpu]);
        // Of short calls there are more.
        let short = Seconds { cpu: 1e-5, cuda: 1.4e-5 };
        let expected = [[Cpu; 4], [Cuda; 4], [Cpu; 4]].concat();
        assert_eq!(calls(12, short, short), expected);
        // Not what is predicted to take much longer, nor what takes long.
        let far = Seconds { cpu: 0.020, cuda: 0.034 };
        assert_eq!(calls(4, far, far), [Cpu; 4]);
        let long = Seconds { cpu: 1.0, cuda: 1.1 };
        assert_eq!(calls(4, long, long), [Cpu; 4]);
        // But whatever was predicted, an engine that takes longer than the other would is left.
        assert_eq!(calls(5, far, Seconds { cpu: 0.060, cuda: 0.020 }), [Cpu, Cpu, Cuda, Cuda, Cuda]);
    }

    /// Once in a while, where it was near: what it took may have been an accident.
    #[test]
    fn the_other_engine_is_tried_again() {
        let count =
            |times: Seconds| calls(4 * AGAIN, times, times).iter().filter(|&&which| which == Which::Cuda).count();
        assert_eq!(count(Seconds { cpu: 0.020, cuda: 0.024 }), 2 + 4);
        assert_eq!(count(Seconds { cpu: 0.020, cuda: 0.030 }), 2, "not so near");
    }

    #[test]
    fn calls_that_were_held_up_change_nothing_unless_all_are() {
        let (mut learnt, work) = (Learnt::default(), line(1000, 3, 1));
        let predicted = Seconds { cpu: 0.020, cuda: 0.024 };
        learnt.choose(PLACE, &work, || predicted);
        for (which, seconds) in [(Which::Cpu, 0.09), (Which::Cpu, 0.02), (Which::Cuda, 0.5), (Which::Cuda, 0.023)] {
            learnt.learn(PLACE, &work, which, seconds);
        }
        for held_up in 0..=LAST {
            let expected = if held_up < LAST { Which::Cpu } else { Which::Cuda };
            assert_eq!(learnt.choose(PLACE, &work, || predicted).which, expected, "{held_up} held up");
            learnt.learn(PLACE, &work, Which::Cpu, 20.0);
        }
    }

    /// As long as both take about as long, nothing goes back and forth.
    #[test]
    fn who_is_taken_stays_where_there_is_little_to_gain() {
        let (mut learnt, work) = (Learnt::default(), line(1000, 3, 1));
        let predicted = Seconds { cpu: 0.020, cuda: 0.024 };
        learnt.choose(PLACE, &work, || predicted);
        (0..2).for_each(|_| learnt.learn(PLACE, &work, Which::Cpu, 0.020));
        (0..2).for_each(|_| learnt.learn(PLACE, &work, Which::Cuda, 0.0196));
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cpu);
        (0..LAST).for_each(|_| learnt.learn(PLACE, &work, Which::Cpu, 0.022));
        assert_eq!(learnt.choose(PLACE, &work, || predicted).which, Which::Cuda);
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

//! Several steps in a launch: the choice of the walk, and the length of each warp's walk.
//!
//! # Rationale
//! Nothing here depends on the chip. While steps are taken one by one, a thread compiles one walk after the other; each
//! is timed when it is ready, on the arrays at hand, and the fastest is used from then on. The times are kept while the
//! process lives. Results do not depend on it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::walk::{self, Walkable};
use super::{Attempts, Launch, Placed, emit, multiprocessors, put};
use crate::cuda::recent::Recent;
use crate::cuda::runtime::clock;
use crate::platform::watch::Watch;
use crate::stencil::program::{Feed, Gait, Recurrence};
use crate::stencil::{Advance, Array, Arrays, Engine, Error, Noted, Numbers, Room, Source, Span, Target};

/// Candidate walks: levels, elements of a lane, its lines, and the blocks that registers suffice for.
const GAITS: [[usize; 4]; 4] = [[2, 2, 1, 4], [4, 2, 1, 1], [4, 2, 1, 4], [8, 4, 1, 2]];
const GAITS_OF_VOLUMES: [[usize; 4]; 3] = [[1, 1, 4, 4], [1, 2, 2, 3], [1, 2, 4, 2]];

/// Number of single steps before walks are tried, or of their elements together: most recurrences that are run once are
/// over by then, and large steps take long.
const SINGLE_STEPS: usize = 200;
const SINGLE_ELEMENTS: usize = 1 << 27;

/// Number of launches that are timed of each walk, and of a single step.
pub(super) const LAPS: usize = 3;

/// Maximum number of columns of a warp in volumes: its neighbours' lines are in the caches if it is not far ahead.
const MAX_PAGES: usize = 64;

/// Warps of a multiprocessor: the first for all walks, then the others for the fastest.
const WARPS: [usize; 3] = [16, 8, 32];

/// Measured times of a recurrence on a device.
#[derive(Debug, Default)]
struct Trial {
    /// Number of single steps that were taken, up to [`SINGLE_STEPS`].
    steps: usize,
    /// Milliseconds of a single step.
    single: Option<f32>,
    /// Number of walks that were tried; and true if the fastest was tried with other lengths.
    tried: usize,
    is_over: bool,
    /// Walks that are faster than single steps, with the milliseconds of a step.
    quicker: Vec<(Gait, f32)>,
}

impl Trial {
    /// Returns the fastest walk measured so far of at most `most` steps, unless single steps are faster.
    fn quickest(&self, most: usize) -> Option<Gait> {
        let fit = self.quicker.iter().filter(|(gait, _)| gait.levels <= most);
        fit.min_by(|a, b| a.1.total_cmp(&b.1)).map(|&(gait, _)| gait)
    }
}

/// Trials by the device's ordinal, and the recurrence.
type Trials = Recent<(usize, String), Arc<Mutex<Trial>>, MAX_TRIALS>;

/// Maximum number of recurrences whose trials are kept.
const MAX_TRIALS: usize = 64;

/// Interface of a trial to a kernel: loads and times it.
pub(super) trait Timing {
    /// Returns true once the kernel is loaded; until then a thread compiles it.
    ///
    /// # Errors
    /// The driver's.
    fn is_ready(&mut self, text: &str) -> Result<bool, Error>;

    /// Returns the milliseconds of a launch of `blocks` blocks, the least of [`LAPS`].
    ///
    /// # Errors
    /// The driver's.
    fn time(&mut self, written: &mut walk::Written, blocks: usize) -> Result<f32, Error>;
}

/// Walks of a recurrence on a device.
pub(super) struct Walks {
    ordinal: usize,
    what: Recurrence,
    /// The requested walk, instead of the fastest.
    requested: Option<Gait>,
    gaits: &'static [[usize; 4]],
    /// Kernels written so far.
    written: Vec<([usize; 4], Option<walk::Written>)>,
    trial: Arc<Mutex<Trial>>,
}

impl Walks {
    /// Returns the walks of a recurrence, if warps can walk it.
    pub(super) fn new(ordinal: usize, what: Recurrence, requested: Option<Gait>) -> Option<Walks> {
        if requested == Some(Gait::NONE) {
            return None;
        }
        let gaits = if Walkable::new(&what)?.is_of_volumes() { &GAITS_OF_VOLUMES[..] } else { &GAITS[..] };
        Some(Walks { ordinal, what, requested, gaits, written: Vec::new(), trial: Arc::default() })
    }

    /// Returns the kernel of a gait, if there is one. The columns of a warp are no part of its text.
    pub(super) fn kernel(&mut self, gait: Gait) -> Option<&mut walk::Written> {
        let key = [gait.levels, gait.elements, gait.lines, gait.blocks];
        let known = self.written.iter().position(|(known, _)| *known == key);
        let at = known.unwrap_or_else(|| {
            let walkable = Walkable::new(&self.what).filter(|walkable| walkable.can(gait));
            self.written.push((key, walkable.and_then(|walkable| walkable.write(gait))));
            self.written.len() - 1
        });
        self.written[at].1.as_mut()
    }

    /// Sets the columns of a gait such that each multiprocessor has this number of warps.
    fn with_columns(&mut self, gait: Gait, warps: usize) -> Gait {
        let warps = warps * multiprocessors(self.ordinal);
        let Some(written) = self.kernel(gait) else { return gait };
        let parts = (warps / written.strips).max(1);
        let columns = written.columns.div_ceil(parts);
        Gait { columns: if gait.lines > 1 { columns.min(MAX_PAGES) } else { columns }, ..gait }
    }

    /// Returns the number of single steps that come first.
    fn single_steps(&self) -> usize {
        SINGLE_STEPS.min(SINGLE_ELEMENTS / self.what.kernel.len() + 2)
    }

    /// Measures a single step in milliseconds, the least of [`LAPS`], when walks are about to be tried.
    pub(super) fn time_single(&self, least: &dyn Fn() -> Result<f32, Error>) {
        let is_due = |trial: &Trial| trial.single.is_none() && !trial.is_over && trial.steps >= self.single_steps();
        if self.requested.is_some() || !is_due(&lock(&self.trial)) {
            return;
        }
        let took = least().ok();
        let mut trial = lock(&self.trial);
        // If a step cannot be taken, the next one reports the error.
        (trial.single, trial.is_over) = (took, took.is_none());
    }

    /// Continues the trial, with `taken` steps since: with the kernels that are ready, and have no more than `most`
    /// levels.
    pub(super) fn go_on(&mut self, (taken, most): (usize, usize), timing: &mut dyn Timing) {
        if self.requested.is_some() {
            return;
        }
        let trial = self.trial.clone();
        let mut trial = lock(&trial);
        if trial.steps < self.single_steps() {
            trial.steps += taken;
        } else if !trial.is_over && self.try_walks(&mut trial, most, timing).is_err() {
            // If steps cannot be taken one by one either, they report the error.
            trial.is_over = true;
        }
    }

    /// Tries the remaining walks.
    fn try_walks(&mut self, trial: &mut Trial, most: usize, timing: &mut dyn Timing) -> Result<(), Error> {
        while let Some(&[levels, elements, lines, blocks]) = self.gaits.get(trial.tried) {
            let gait = Gait { blocks, ..Gait::of(levels, elements, lines) };
            if let Some(written) = self.kernel(gait) {
                if levels > most || !timing.is_ready(&written.text)? {
                    return Ok(());
                }
                self.try_walk(trial, (gait, WARPS[0]), timing)?;
            }
            trial.tried += 1;
        }
        if let Some(&(quickest, _)) = trial.quicker.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
            for &warps in &WARPS[1..] {
                self.try_walk(trial, (quickest, warps), timing)?;
            }
        }
        trial.is_over = true;
        Ok(())
    }

    fn try_walk(
        &mut self,
        trial: &mut Trial,
        (gait, warps): (Gait, usize),
        timing: &mut dyn Timing,
    ) -> Result<(), Error> {
        let gait = self.with_columns(gait, warps);
        let Some(written) = self.kernel(gait) else { return Ok(()) };
        let blocks = written.set_length(gait.columns);
        let took = timing.time(written, blocks)? / gait.levels as f32;
        if trial.single.is_none_or(|single| took < single) {
            trial.quicker.push((gait, took));
        }
        Ok(())
    }

    /// Returns the requested walk of at most `most` steps, or the fastest measured one; `None` if single steps are
    /// faster.
    pub(super) fn best(&mut self, most: usize) -> Option<Gait> {
        let gait = match self.requested {
            Some(gait) if gait.columns == 0 => self.with_columns(gait, WARPS[0]),
            Some(gait) => gait,
            None => lock(&self.trial).quickest(most)?,
        };
        ((1..=most).contains(&gait.levels) && self.kernel(gait).is_some()).then_some(gait)
    }

    /// Returns true once [`Walks::best`] cannot change any more.
    fn is_settled(&self) -> bool {
        self.requested.is_some() || lock(&self.trial).is_over
    }
}

/// A recurrence that warps can walk.
pub(in crate::cuda) struct Steps<C> {
    engine: C,
    walks: Walks,
    /// Tables of the elements that are recorded of each step.
    tables: Vec<Numbers>,
    /// Number of this run's steps that the trial has counted.
    counted: usize,
}

/// Arrays of a launch.
#[derive(Clone, Copy)]
struct LaunchArrays<'a> {
    inputs: &'a [Placed<'a>],
    outputs: &'a [Placed<'a>],
    records: &'a [(Numbers, usize)],
    tables: &'a [Numbers],
    recorded: usize,
    /// Offset in each input at which a launch begins.
    beyond: &'a [usize],
}

impl<C: Attempts + Engine> Steps<C> {
    /// Returns the steps of a recurrence, if warps can walk it.
    ///
    /// # Errors
    /// The driver's.
    pub(in crate::cuda) fn new(
        engine: C,
        ordinal: usize,
        what: &Recurrence,
        requested: Option<Gait>,
    ) -> Result<Option<Steps<C>>, Error> {
        let Some(mut walks) = Walks::new(ordinal, what.clone(), requested) else { return Ok(None) };
        walks.trial = trial_of(ordinal, what);
        let mut tables = Vec::with_capacity(what.records.len());
        for recorded in &what.records {
            let table = walk::records::table(&recorded.places, what.kernel.domain[0], what.kernel.len());
            // An array of eight bytes each, whatever their type.
            let words: Vec<f64> = table.into_iter().map(f64::from_bits).collect();
            let mut array: Array<f64> = Arrays::<f64>::array(&engine, words.len())?;
            engine.copy(Source::Host(&words), Target::Array(&mut array), &Watch::new())?;
            tables.push(Numbers::from(array));
        }
        Ok(Some(Steps { engine, walks, tables, counted: 0 }))
    }
}

/// Returns the trial of recorded steps, which may be recorded again in every call.
fn trial_of(ordinal: usize, what: &Recurrence) -> Arc<Mutex<Trial>> {
    static TRIALS: Mutex<Trials> = Mutex::new(Recent::new());
    // The places make no difference.
    let records: Vec<_> = what.records.iter().map(|recorded| (recorded.part, recorded.places.len())).collect();
    let key = (ordinal, format!("{:?} {:?} {} {records:?}", what.kernel, what.feeds, what.numbers));
    lock(&TRIALS).get(key, |_| Arc::default()).clone()
}

/// Puts the steps of a launch on the queue, or notes them for later.
fn launch<C: Attempts>(
    engine: &C,
    (written, blocks): (&mut walk::Written, usize),
    arrays: LaunchArrays,
    mut noted: Option<&mut Vec<Noted>>,
    watch: &Watch,
) -> Result<(), Error> {
    let LaunchArrays { inputs, outputs, records, tables, recorded, beyond } = arrays;
    let beyond = beyond.iter().copied().chain(std::iter::repeat(0));
    let plain = inputs.iter().chain(outputs).copied().zip(beyond);
    let of_records = tables.iter().zip(records);
    let of_records = of_records.flat_map(|(table, (all, own))| [(table.into(), 0), (all.into(), recorded * own)]);
    let arrays: Vec<(Placed, usize)> = plain.chain(of_records).collect();
    engine.attempt_once(watch, &mut |device| {
        watch.check()?;
        for ((array, beyond), entry) in arrays.iter().zip(written.argument.chunks_exact_mut(8)) {
            let (address, bytes) = array.address(&device.context)?;
            entry.copy_from_slice(&(address + (beyond * bytes) as u64).to_le_bytes());
        }
        let function = device.modules.generated().get(&written.text, emit::NAME)?;
        let bytes = inputs.iter().chain(outputs).map(|array| 8 * array.len()).sum();
        let shape = (blocks, walk::Written::THREADS);
        match &mut noted {
            Some(noted) => noted.push(Launch::noted(device, &function, shape, (&written.argument, bytes))?),
            // SAFETY: the arrays are of the lengths that the kernel was written for, and the call holds them.
            None => unsafe { put(device, ("steps", bytes), &function, shape, &written.argument) }?,
        }
        Ok(())
    })
}

/// The trial of a run, on its arrays.
struct OnArrays<'a, C> {
    engine: &'a C,
    ordinal: usize,
    arrays: LaunchArrays<'a>,
    watch: &'a Watch,
}

impl<C: Attempts> Timing for OnArrays<'_, C> {
    fn is_ready(&mut self, text: &str) -> Result<bool, Error> {
        let mut is_ready = false;
        self.engine.attempt_once(self.watch, &mut |device| {
            is_ready = device.modules.generated().get_ahead(text, emit::NAME)?.is_some();
            Ok(())
        })?;
        Ok(is_ready)
    }

    fn time(&mut self, written: &mut walk::Written, blocks: usize) -> Result<f32, Error> {
        let written = RefCell::new(written);
        let work = || launch(self.engine, (*written.borrow_mut(), blocks), self.arrays, None, self.watch);
        clock::with(self.ordinal, |clock| clock.least(LAPS, &work))
    }
}

impl<C: Attempts + Engine> Advance for Steps<C> {
    fn run(
        &mut self,
        inputs: &[&Numbers],
        room: Room,
        span: &Span,
        one: &mut dyn FnMut() -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let Room { outputs, records, recorded, noted } = room;
        let Steps { engine, walks, tables, counted } = self;
        let ordinal = walks.ordinal;
        let one = RefCell::new(one);
        let once = || (one.borrow_mut())();
        walks.time_single(&|| clock::with(ordinal, |clock| clock.least(LAPS, &once)));
        let inputs: Vec<Placed> = inputs.iter().copied().map(Placed::from).collect();
        let outputs: Vec<Placed> = outputs.iter().map(Placed::from).collect();
        let Recurrence { feeds, numbers, .. } = &walks.what;
        let beyond = feeds.iter().map(|feed| match feed {
            Feed::Number(number) => span.first * *numbers + number,
            _ => 0,
        });
        let beyond: Vec<usize> = beyond.collect();
        let arrays = LaunchArrays { inputs: &inputs, outputs: &outputs, records, tables, recorded, beyond: &beyond };
        let taken = span.first.saturating_sub(*counted).max(1);
        *counted = span.first;
        walks.go_on((taken, span.most), &mut OnArrays { engine, ordinal, arrays, watch });
        let Some(gait) = walks.best(span.most) else { return Ok(0) };
        let Some(written) = walks.kernel(gait) else { return Ok(0) };
        let blocks = written.set_length(gait.columns);
        launch(engine, (written, blocks), arrays, noted, watch)?;
        Ok(gait.levels)
    }

    fn settled(&mut self, span: &Span) -> Option<usize> {
        if self.walks.is_settled() { Some(self.walks.best(span.most)?.levels) } else { None }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Several steps a launch: which walk, and how far each warp goes.
//!
//! # Rationale
//! Nothing here knows a chip. While steps are taken one by one, a thread compiles a walk after the other; each is timed when
//! it is ready, on the arrays that are at hand, and the quickest is taken from then on. What is known stays while the process
//! lives. What is computed does not depend on it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::walk::{self, Walkable};
use super::{Attempts, Launch, Placed, emit, multiprocessors, put};
use crate::cuda::runtime::clock;
use crate::stencil::program::{Feed, Gait, Numbers, Recurrence};
use crate::stencil::{Advance, Array, Compute, Engine, Error, Noted, Room, Source, Span, Target};
use crate::watch::Watch;

/// The walks that are tried: levels, elements of a lane, its lines, and the blocks that registers suffice for.
const GAITS: [[usize; 4]; 4] = [[2, 2, 1, 4], [4, 2, 1, 1], [4, 2, 1, 4], [8, 4, 1, 2]];
const GAITS_OF_VOLUMES: [[usize; 4]; 3] = [[1, 1, 4, 4], [1, 2, 2, 3], [1, 2, 4, 2]];

/// As many steps are taken one by one before walks are tried, or of so many elements together: most recurrences that are
/// run once are over by then, and large steps take long.
const FEW: usize = 200;
const FEW_ELEMENTS: usize = 1 << 27;

/// Launches of each walk that are timed.
const LAPS: usize = 3;

/// The most columns of a warp in volumes: its neighbours' lines are in the caches as long as it is not far ahead.
const MOST_PAGES: usize = 64;

/// Warps of a multiprocessor: the first for all walks, then the others for the quickest.
const WARPS: [usize; 3] = [16, 8, 32];

/// The times of a recurrence on a device, as far as they are known.
#[derive(Debug, Default)]
struct Trial {
    /// The steps that were taken one by one, up to [`FEW`].
    steps: usize,
    /// Milliseconds of one of them.
    single: Option<f32>,
    /// The walks that were tried, and whether the quickest was, with other lengths.
    tried: usize,
    is_over: bool,
    /// Those that are quicker than single steps, with the milliseconds of a step.
    quicker: Vec<(Gait, f32)>,
}

impl Trial {
    /// The quickest walk of so many steps at most, as far as that is known, unless single steps are quicker.
    fn quickest(&self, most: usize) -> Option<Gait> {
        let fit = self.quicker.iter().filter(|(gait, _)| gait.levels <= most);
        fit.min_by(|a, b| a.1.total_cmp(&b.1)).map(|&(gait, _)| gait)
    }
}

/// By the device's ordinal, and the recurrence.
type Trials = Vec<((usize, String), Arc<Mutex<Trial>>)>;

/// The most recurrences that something is known of.
const MOST_TRIALS: usize = 64;

/// A recurrence that warps can walk.
pub(in crate::cuda) struct Steps<C> {
    engine: C,
    ordinal: usize,
    what: Recurrence,
    gaits: &'static [[usize; 4]],
    /// The tables of what is kept of each step.
    tables: Vec<Numbers>,
    /// The kernels that were written.
    written: Vec<([usize; 4], Option<walk::Written>)>,
    trial: Arc<Mutex<Trial>>,
    /// The steps of this run that the trial counts already.
    counted: usize,
}

/// The arrays of a launch.
#[derive(Clone, Copy)]
struct Arrays<'a> {
    inputs: &'a [Placed<'a>],
    outputs: &'a [Placed<'a>],
    records: &'a [(Numbers, usize)],
    recorded: usize,
    /// The steps that were taken before.
    first: usize,
}

impl<C: Attempts + Engine> Steps<C> {
    /// The steps of a recurrence, where warps can walk it.
    ///
    /// # Errors
    /// What the driver says.
    pub(in crate::cuda) fn new(engine: C, ordinal: usize, what: &Recurrence) -> Result<Option<Steps<C>>, Error> {
        static TRIALS: Mutex<Trials> = Mutex::new(Vec::new());
        let Some(is_of_volumes) = Walkable::new(what).map(|walkable| walkable.is_of_volumes()) else { return Ok(None) };
        let mut tables = Vec::with_capacity(what.records.len());
        for recorded in &what.records {
            let table = walk::records::table(&recorded.places, what.kernel.domain[0], what.kernel.len());
            // An array of eight bytes each, whatever they mean.
            let words: Vec<f64> = table.into_iter().map(f64::from_bits).collect();
            let mut array: Array<f64> = Compute::<f64>::array(&engine, words.len())?;
            engine.copy(Source::Host(&words), Target::Array(&mut array), &Watch::new())?;
            tables.push(Numbers::from(array));
        }
        let gaits = if is_of_volumes { &GAITS_OF_VOLUMES[..] } else { &GAITS[..] };
        // The places make no difference.
        let records: Vec<_> = what.records.iter().map(|recorded| (recorded.part, recorded.places.len())).collect();
        let key = (ordinal, format!("{:?} {:?} {} {records:?}", what.kernel, what.feeds, what.numbers));
        let mut trials = lock(&TRIALS);
        let known = trials.iter().rposition(|(known, _)| *known == key);
        let known = known.map_or_else(|| (key, Arc::default()), |at| trials.remove(at));
        let trial = known.1.clone();
        if trials.len() == MOST_TRIALS {
            trials.remove(0);
        }
        trials.push(known);
        drop(trials);
        Ok(Some(Steps { engine, ordinal, what: what.clone(), gaits, tables, written: Vec::new(), trial, counted: 0 }))
    }

    /// The kernel of a gait, if there is one.
    fn kernel(&mut self, gait: Gait) -> Option<&mut walk::Written> {
        kernel_of(&mut self.written, &self.what, gait)
    }

    /// Returns true once a kernel is loaded; until then a thread compiles it.
    fn is_ready(&mut self, gait: Gait, watch: &Watch) -> Result<bool, Error> {
        let Some(text) = self.kernel(gait).map(|written| written.text.clone()) else { return Ok(false) };
        let mut is_ready = false;
        self.engine.attempt_once(watch, &mut |device| {
            is_ready = device.generated.get_ahead(&text, emit::NAME)?.is_some();
            Ok(())
        })?;
        Ok(is_ready)
    }

    /// Puts the steps of a launch on the queue, or off. Returns false where there is no such kernel.
    fn launch(
        &mut self,
        gait: Gait,
        arrays: Arrays,
        mut noted: Option<&mut Vec<Noted>>,
        watch: &Watch,
    ) -> Result<bool, Error> {
        let Arrays { inputs, outputs, records, recorded, first } = arrays;
        let Steps { engine, what, tables, written, .. } = self;
        let Some(written) = kernel_of(written, what, gait) else { return Ok(false) };
        let Recurrence { feeds, numbers, .. } = &*what;
        let blocks = written.set_length(gait.columns);
        // With the elements beyond which a launch begins.
        let beyond = |at: usize| match feeds.get(at) {
            Some(Feed::Number(number)) => first * *numbers + number,
            _ => 0,
        };
        let plain = inputs.iter().chain(outputs).enumerate().map(|(at, array)| (*array, beyond(at)));
        let of_records = tables.iter().zip(records);
        let of_records = of_records.flat_map(|(table, (all, own))| [(table.into(), 0), (all.into(), recorded * own)]);
        let arrays: Vec<(Placed, usize)> = plain.chain(of_records).collect();
        engine.attempt_once(watch, &mut |device| {
            watch.check()?;
            for ((array, beyond), entry) in arrays.iter().zip(written.argument.chunks_exact_mut(8)) {
                let (address, bytes) = array.address(&device.context)?;
                entry.copy_from_slice(&(address + (beyond * bytes) as u64).to_le_bytes());
            }
            let function = device.generated.get(&written.text, emit::NAME)?;
            let bytes = inputs.iter().chain(outputs).map(|array| 8 * array.len()).sum();
            let shape = (blocks, walk::Written::THREADS);
            match &mut noted {
                Some(noted) => noted.push(Launch::noted(device, &function, shape, (&written.argument, bytes))?),
                // SAFETY: the arrays are of the lengths that the kernel was written for, and the call has them.
                None => unsafe { put(device, ("steps", bytes), &function, shape, &written.argument) }?,
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// A gait whose warps go so far that each multiprocessor has so many of them.
    fn with_columns(&mut self, gait: Gait, warps: usize) -> Gait {
        let warps = warps * multiprocessors(self.ordinal);
        let Some(written) = self.kernel(gait) else { return gait };
        let parts = (warps / written.strips).max(1);
        let columns = written.columns.div_ceil(parts);
        Gait { columns: if gait.lines > 1 { columns.min(MOST_PAGES) } else { columns }, ..gait }
    }

    /// Milliseconds of a step by a walk.
    fn time(&mut self, gait: Gait, arrays: Arrays, watch: &Watch) -> Result<f32, Error> {
        let ordinal = self.ordinal;
        let steps = RefCell::new(self);
        let work = || steps.borrow_mut().launch(gait, arrays, None, watch).map(drop);
        Ok(clock::least(ordinal, LAPS, &work)? / gait.levels as f32)
    }

    /// Goes on with the trial, as far as kernels are ready and a run has as many steps as they take.
    fn try_walks(&mut self, trial: &mut Trial, (arrays, most): (Arrays, usize), watch: &Watch) -> Result<(), Error> {
        while let Some(&[levels, elements, lines, blocks]) = self.gaits.get(trial.tried) {
            let gait = Gait { blocks, ..Gait::of(levels, elements, lines) };
            if self.kernel(gait).is_some() {
                if levels > most || !self.is_ready(gait, watch)? {
                    return Ok(());
                }
                let gait = self.with_columns(gait, WARPS[0]);
                self.try_walk(trial, gait, arrays, watch)?;
            }
            trial.tried += 1;
        }
        if let Some(&(quickest, _)) = trial.quicker.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
            for warps in &WARPS[1..] {
                let gait = self.with_columns(quickest, *warps);
                self.try_walk(trial, gait, arrays, watch)?;
            }
        }
        trial.is_over = true;
        Ok(())
    }

    fn try_walk(&mut self, trial: &mut Trial, gait: Gait, arrays: Arrays, watch: &Watch) -> Result<(), Error> {
        let took = self.time(gait, arrays, watch)?;
        if trial.single.is_none_or(|single| took < single) {
            trial.quicker.push((gait, took));
        }
        Ok(())
    }
}

impl<C: Attempts + Engine> Steps<C> {
    /// Returns true once single steps are to be timed, as walks are.
    pub(super) fn is_due(&self) -> bool {
        let trial = lock(&self.trial);
        trial.single.is_none() && !trial.is_over && trial.steps >= self.few()
    }

    /// So many single steps come first.
    fn few(&self) -> usize {
        FEW.min(FEW_ELEMENTS / self.what.kernel.len() + 2)
    }

    /// Times a single step.
    pub(super) fn time_single(&self, one: &dyn Fn() -> Result<(), Error>) {
        let took = clock::least(self.ordinal, LAPS, one).ok();
        let mut trial = lock(&self.trial);
        // The next step tells what is wrong, if it cannot be taken either.
        (trial.single, trial.is_over) = (took, took.is_none());
    }

    /// Takes one step, by a walk that is quicker than a single one. Returns false where there is none yet.
    pub(super) fn call(&mut self, (inputs, outputs): (&[Placed], &[Placed]), watch: &Watch) -> Result<bool, Error> {
        let arrays = Arrays { inputs, outputs, records: &[], recorded: 0, first: 0 };
        Ok(self.advance(arrays, &Span { first: 0, most: 1, gait: None }, None, watch)? > 0)
    }

    /// Takes some steps: see [`Advance::run`].
    fn advance(
        &mut self,
        arrays: Arrays,
        span: &Span,
        noted: Option<&mut Vec<Noted>>,
        watch: &Watch,
    ) -> Result<usize, Error> {
        let gait = match span.gait {
            Some(gait) if gait.columns == 0 => Some(self.with_columns(gait, WARPS[0])),
            Some(gait) => Some(gait),
            None => {
                let trial = self.trial.clone();
                let mut trial = lock(&trial);
                if trial.steps < self.few() {
                    trial.steps += span.first.saturating_sub(self.counted).max(1);
                    self.counted = span.first;
                    return Ok(0);
                }
                if !trial.is_over && self.try_walks(&mut trial, (arrays, span.most), watch).is_err() {
                    // Steps one by one tell what is wrong, if they cannot be taken either.
                    trial.is_over = true;
                }
                trial.quickest(span.most)
            }
        };
        match gait.filter(|gait| (1..=span.most).contains(&gait.levels)) {
            Some(gait) if self.launch(gait, arrays, noted, watch)? => Ok(gait.levels),
            _ => Ok(0),
        }
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
        if span.gait.is_none() && self.is_due() {
            let one = RefCell::new(one);
            self.time_single(&|| (one.borrow_mut())());
        }
        let inputs: Vec<Placed> = inputs.iter().copied().map(Placed::from).collect();
        let outputs: Vec<Placed> = outputs.iter().map(Placed::from).collect();
        let arrays = Arrays { inputs: &inputs, outputs: &outputs, records, recorded, first: span.first };
        self.advance(arrays, span, noted, watch)
    }

    fn settled(&mut self, span: &Span) -> Option<usize> {
        let gait = span.gait.or_else(|| {
            let trial = lock(&self.trial);
            trial.quickest(span.most).filter(|_| trial.is_over)
        })?;
        ((1..=span.most).contains(&gait.levels) && self.kernel(gait).is_some()).then_some(gait.levels)
    }
}

/// The kernel of a gait among those that were written. The columns of a warp are no part of its text.
fn kernel_of<'w>(
    written: &'w mut Vec<([usize; 4], Option<walk::Written>)>,
    what: &Recurrence,
    gait: Gait,
) -> Option<&'w mut walk::Written> {
    let key = [gait.levels, gait.elements, gait.lines, gait.blocks];
    let known = written.iter().position(|(known, _)| *known == key);
    let at = known.unwrap_or_else(|| {
        let walkable = Walkable::new(what).filter(|walkable| walkable.can(gait));
        written.push((key, walkable.and_then(|walkable| walkable.write(gait))));
        written.len() - 1
    });
    written[at].1.as_mut()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

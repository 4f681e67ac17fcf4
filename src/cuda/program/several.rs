//! Several steps a launch: which walk, and how far each warp goes.
//!
//! # Rationale
//! Nothing here knows a chip. Of each way that a recurrence can be walked a few steps are timed on the device that it runs
//! on, and of one step by the kernels of a single one; the quickest is kept while the process lives. What is computed does
//! not depend on it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::walk::{self, Walkable};
use super::{Attempts, emit, put};
use crate::cuda::driver::Driver;
use crate::cuda::engine::Cuda;
use crate::cuda::measure;
use crate::cuda::routes::array::address;
use crate::stencil::program::{Feed, Gait, Numbers, Recurrence};
use crate::stencil::{Advance, Error, Span};
use crate::watch::Watch;

/// The ways that are timed: levels, elements of a lane, and its lines in volumes.
const GAITS: [[usize; 3]; 6] = [[2, 2, 1], [4, 2, 1], [6, 2, 1], [8, 4, 1], [4, 4, 1], [2, 4, 1]];
const GAITS_OF_VOLUMES: [[usize; 3]; 5] = [[1, 1, 4], [1, 1, 2], [1, 2, 4], [1, 4, 4], [2, 1, 4]];

/// A run of fewer steps than that is over before the ways are timed, and their kernels made.
const WORTH_TIMING: usize = 600;

/// Launches of each way that are timed.
const LAPS: usize = 3;

/// Warps for each multiprocessor: enough of them to keep it busy.
const WARPS: [usize; 3] = [8, 16, 32];

/// The fastest way of a recurrence on a device; `None` where that is one step after the other.
static FASTEST: Mutex<BTreeMap<(usize, String), Option<Gait>>> = Mutex::new(BTreeMap::new());

fn fastest() -> MutexGuard<'static, BTreeMap<(usize, String), Option<Gait>>> {
    FASTEST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A recurrence that warps can walk.
pub(in crate::cuda) struct Steps {
    engine: Cuda,
    what: Recurrence,
    of_volumes: bool,
    /// The kernels that were written.
    written: HashMap<[usize; 3], Option<walk::Written>>,
    /// By what its fastest way is known.
    key: (usize, String),
    /// The fastest way, once it is known.
    fastest: Option<Option<Gait>>,
}

impl Steps {
    pub(in crate::cuda) fn new(engine: Cuda, what: &Recurrence) -> Option<Steps> {
        let of_volumes = Walkable::new(what)?.is_of_volumes();
        let key = (engine.ordinal(), format!("{what:?}"));
        let known = fastest().get(&key).copied();
        Some(Steps { engine, what: what.clone(), of_volumes, written: HashMap::new(), key, fastest: known })
    }

    /// The kernel of a gait, if there is one.
    fn kernel(&mut self, gait: Gait) -> Option<&mut walk::Written> {
        let Steps { what, written, .. } = self;
        let kernel = written.entry([gait.levels, gait.elements, gait.lines]).or_insert_with(|| {
            let walkable = Walkable::new(what)?;
            walkable.can(gait).then(|| walkable.write(gait)).flatten()
        });
        kernel.as_mut()
    }

    /// Puts the steps of a launch on the queue. Returns false where there is no such kernel.
    fn launch(
        &mut self,
        gait: Gait,
        inputs: &[&Numbers],
        outputs: &[Numbers],
        first: usize,
        watch: &Watch,
    ) -> Result<bool, Error> {
        let (engine, feeds, numbers) = (self.engine, self.what.feeds.clone(), self.what.numbers);
        let Some(written) = self.kernel(gait) else { return Ok(false) };
        let blocks = written.set_length(gait.columns);
        let arrays: Vec<&Numbers> = inputs.iter().copied().chain(outputs).collect();
        engine.attempt_once(watch, &mut |device| {
            watch.check()?;
            for (at, (array, entry)) in arrays.iter().zip(written.argument.chunks_exact_mut(8)).enumerate() {
                let (address, bytes) = match array {
                    Numbers::Double(array) => (address(array, &device.context)?, 8),
                    Numbers::Single(array) => (address(array, &device.context)?, 4),
                };
                let beyond = match feeds.get(at) {
                    Some(Feed::Number(number)) => (first * numbers + number) * bytes,
                    _ => 0,
                };
                entry.copy_from_slice(&(address + beyond as u64).to_le_bytes());
            }
            let function = device.modules.generated(&written.text, emit::NAME)?;
            let bytes = arrays.iter().map(|array| 8 * array.len()).sum();
            // SAFETY: the arrays are of the lengths that the kernel was written for, and the call has them.
            unsafe { put(device, ("steps", bytes), &function, (blocks, walk::Written::THREADS), &written.argument) }
        })?;
        Ok(true)
    }

    /// The columns of a warp, where so many warps are to be had of each multiprocessor.
    fn columns(&mut self, gait: Gait, warps: usize, multiprocessors: usize) -> usize {
        let Some(written) = self.kernel(gait) else { return 1 };
        let parts = (warps * multiprocessors / written.strips).max(1);
        written.columns.div_ceil(parts)
    }

    /// Times the ways.
    fn choose(
        &mut self,
        inputs: &[&Numbers],
        outputs: &[Numbers],
        first: usize,
        one: &mut dyn FnMut() -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<Option<Gait>, Error> {
        let multiprocessors = multiprocessors(&self.engine);
        let (engine, one) = (self.engine, RefCell::new(one));
        let mut fastest = (measure::least(&engine, LAPS, &|| (one.borrow_mut())())?, None);
        let steps = RefCell::new(self);
        let time = |gait: Gait, fastest: &mut (f32, Option<Gait>)| -> Result<(), Error> {
            if steps.borrow_mut().kernel(gait).is_none() {
                return Ok(());
            }
            let work = || steps.borrow_mut().launch(gait, inputs, outputs, first, watch).map(drop);
            let took = measure::least(&engine, LAPS, &work)? / gait.levels as f32;
            if took < fastest.0 {
                *fastest = (took, Some(gait));
            }
            Ok(())
        };
        let gaits = if steps.borrow().of_volumes { &GAITS_OF_VOLUMES[..] } else { &GAITS[..] };
        for &[levels, elements, lines] in gaits {
            let mut gait = Gait { levels, elements, lines, columns: 0 };
            gait.columns = steps.borrow_mut().columns(gait, WARPS[1], multiprocessors);
            time(gait, &mut fastest)?;
        }
        if let Some(gait) = fastest.1 {
            for warps in WARPS {
                let columns = steps.borrow_mut().columns(gait, warps, multiprocessors);
                if columns != gait.columns {
                    time(Gait { columns, ..gait }, &mut fastest)?;
                }
            }
        }
        Ok(fastest.1)
    }
}

impl Advance for Steps {
    fn run(
        &mut self,
        inputs: &[&Numbers],
        outputs: &mut [Numbers],
        span: &Span,
        one: &mut dyn FnMut() -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<usize, Error> {
        if let Some(mut gait) = span.gait {
            if gait.levels == 0 || gait.levels > span.most {
                return Ok(0);
            }
            if gait.columns == 0 {
                gait.columns = self.columns(gait, WARPS[1], multiprocessors(&self.engine));
            }
            return Ok(if self.launch(gait, inputs, outputs, span.first, watch)? { gait.levels } else { 0 });
        }
        let way = match self.fastest {
            Some(way) => way,
            None if span.most < WORTH_TIMING => return Ok(0),
            // What cannot be timed is taken step by step, which says what is wrong.
            None => {
                let Ok(chosen) = self.choose(inputs, outputs, span.first, one, watch) else { return Ok(0) };
                fastest().insert(self.key.clone(), chosen);
                *self.fastest.insert(chosen)
            }
        };
        match way {
            Some(gait) if gait.levels <= span.most => {
                self.launch(gait, inputs, outputs, span.first, watch)?;
                Ok(gait.levels)
            }
            _ => Ok(0),
        }
    }
}

/// The multiprocessors of a device, as far as the driver tells.
fn multiprocessors(engine: &Cuda) -> usize {
    let device = Driver::get().ok().and_then(|driver| driver.devices.get(engine.ordinal()));
    device.and_then(|device| device.as_ref().ok()).map_or(1, |device| device.multiprocessors.max(1) as usize)
}

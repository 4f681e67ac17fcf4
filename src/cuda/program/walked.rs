//! Sweeps of a convolution over a whole array: by walks, if these are faster than the archive's single sweeps.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys;

use super::several::{LAPS, Timing, Walks, lock};
use super::{LIMITS, emit, walk};
use crate::cuda::Element;
use crate::cuda::kernels::{Area, ConvolutionKernel, Kernel, Plan};
use crate::cuda::recent::Recent;
use crate::cuda::runtime::clock::Clock;
use crate::cuda::runtime::generated::Generated;
use crate::cuda::runtime::module::{Modules, Shape, launch_bytes};
use crate::cuda::runtime::pace::SharedPace;
use crate::cuda::runtime::queue::Queue;
use crate::partition::Cut;
use crate::stencil::program::{self, Feed, Gait, Node, Program, Recurrence};
use crate::stencil::{Convolution, Error, Filtering, Operation};

/// Minimum number of elements of a volume for which one sweep takes longer than a launch.
const MIN_ELEMENTS: usize = 1 << 15;

/// Minimum number of sweeps for which walks are written in the first call; later calls always write them: so a filter
/// of other entries in each call costs next to nothing.
const MIN_SWEEPS: usize = 8;

/// Maximum number of convolutions that are kept.
const MAX_KNOWN: usize = 16;

type SharedWalks = Arc<Mutex<Walks>>;

/// Key of a convolution on a device, without its number of sweeps; it is exact to the bit: -0 differs from 0.
#[derive(PartialEq)]
struct Key {
    ordinal: usize,
    requested: Option<Gait>,
    single: bool,
    sizes: [[usize; 3]; 2],
    entries: Vec<u64>,
    boundary: String,
}

/// Walks of a convolution that was computed, if they were written and there are any.
type Written = Option<Option<SharedWalks>>;

/// Returns the walks of a convolution, which now does `sweeps` sweeps.
fn known(key: Key, sweeps: usize, what: impl FnOnce() -> Filtering) -> Option<SharedWalks> {
    static KNOWN: Mutex<Recent<Key, Written, MAX_KNOWN>> = Mutex::new(Recent::new());
    let Key { ordinal, requested, single, sizes, .. } = key;
    let write = || {
        let walks = Walks::new(ordinal, recurrence(what(), single, sizes[0].iter().product())?, requested);
        walks.map(|walks| Arc::new(Mutex::new(walks)))
    };
    let mut again = true;
    let mut known = lock(&KNOWN);
    let walks = known.get(key, |_| {
        again = false;
        None
    });
    if walks.is_none() && (again || sweeps >= MIN_SWEEPS) {
        *walks = Some(write());
    }
    walks.clone().flatten()
}

/// A convolution, for any number of sweeps.
pub(in crate::cuda) struct Walked<T> {
    archived: ConvolutionKernel<T>,
    what: Convolution<T>,
    requested: Option<Gait>,
}

impl<T: Element> Walked<T> {
    /// Takes the requested walk, or the fastest.
    pub(in crate::cuda) fn new(what: Convolution<T>, requested: Option<Gait>) -> Walked<T> {
        Walked { archived: ConvolutionKernel::new(&what), what, requested }
    }

    /// Returns the walks over an area.
    fn walks(&self, ordinal: usize, area: &Area<T>) -> Option<SharedWalks> {
        let filter = self.what.filter();
        let is_large = area.sweeps > 1 || (filter.size()[2] > 1 && area.tile.samples() >= MIN_ELEMENTS);
        if !area.is_whole() || !is_large || filter.values().len() > LIMITS.entries || self.requested == Some(Gait::NONE)
        {
            return None;
        }
        let key = Key {
            ordinal,
            requested: self.requested,
            single: T::NAME == f32::NAME,
            sizes: [area.tile.size(), filter.size()],
            entries: filter.values().iter().map(|entry| entry.to_f64().to_bits()).collect(),
            boundary: format!("{:?}", area.sides),
        };
        let what = || {
            let what = self.what.clone().with_size(area.tile.size()).with_boundary(area.sides).with_sweeps(1);
            T::convolution(&what)
        };
        known(key, area.sweeps, what)
    }
}

impl<T: Element> Kernel<T> for Walked<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(Walked::new(self.what.clone(), self.requested))
    }

    fn cut(&self, sweeps: usize, target: usize, limit: usize) -> Cut<T> {
        self.archived.cut(sweeps, target, limit)
    }

    fn deep(&self, sweeps: usize, limit: usize) -> Option<Cut<T>> {
        self.archived.deep(sweeps, limit)
    }

    fn halo_samples(&self, sweeps: usize) -> usize {
        self.archived.halo_samples(sweeps)
    }

    fn work(&self) -> usize {
        self.archived.work()
    }

    fn name(&self) -> &'static str {
        self.archived.name()
    }

    fn prefers_resident(&self, sweeps: usize) -> bool {
        self.archived.prefers_resident(sweeps)
    }

    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error> {
        let archived = self.archived.plan(modules, area)?;
        // Walks replace single sweeps only: a kernel of several sweeps takes precedence.
        if archived.fused(area.sweeps)? > 1 {
            return Ok(archived);
        }
        Ok(match self.walks(modules.queue().context().ordinal(), area) {
            Some(walks) => {
                let (queue, generated) = (modules.queue().clone(), modules.generated().clone());
                Box::new(WalkedPlan { archived, walks, queue, generated })
            }
            None => archived,
        })
    }
}

/// Sweeps over a whole array, by walks where a walk was measured as faster.
struct WalkedPlan<'a, T> {
    archived: Box<dyn Plan<T> + 'a>,
    walks: SharedWalks,
    queue: Arc<Queue>,
    generated: Arc<Generated>,
}

/// The trial of a convolution, from one address to another.
struct OnBuffers<'a> {
    queue: &'a Queue,
    generated: &'a Generated,
    buffers: [sys::CUdeviceptr; 2],
}

impl OnBuffers<'_> {
    fn launch(&self, written: &mut walk::Written, blocks: usize) -> Result<(), Error> {
        for (address, entry) in self.buffers.iter().zip(written.argument.chunks_exact_mut(8)) {
            entry.copy_from_slice(&address.to_le_bytes());
        }
        let function = self.generated.get(&written.text, emit::NAME)?;
        let shape = Shape::new([blocks, 1], walk::Written::THREADS, 0)?;
        let stream = self.queue.stream().handle();
        // SAFETY: the kernel reads and writes an array of the area's size, and the caller of the plan has as many
        // elements at both addresses; all other uses of them are on this stream, too.
        unsafe { launch_bytes(&function, stream, shape, &written.argument) }
    }

    fn least(&self, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        Clock::new(self.queue.context(), self.queue.stream())?.least(LAPS, work)
    }
}

impl Timing for OnBuffers<'_> {
    fn is_ready(&mut self, text: &str) -> Result<bool, Error> {
        Ok(self.generated.get_ahead(text, emit::NAME)?.is_some())
    }

    fn time(&mut self, written: &mut walk::Written, blocks: usize) -> Result<f32, Error> {
        let written = RefCell::new(written);
        self.least(&|| self.launch(*written.borrow_mut(), blocks))
    }
}

impl<T: Element> Plan<T> for WalkedPlan<'_, T> {
    fn pace(&self) -> &SharedPace {
        self.archived.pace()
    }

    fn units(&self) -> usize {
        self.archived.units()
    }

    fn fused(&self, sweeps: usize) -> Result<usize, Error> {
        Ok(lock(&self.walks).best(sweeps).map_or(1, |gait| gait.levels))
    }

    fn sweep(&self, stream: sys::CUstream, sweeps: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let mut walks = lock(&self.walks);
        let best = walks.best(sweeps).filter(|best| best.levels == sweeps);
        let mut on_buffers = OnBuffers { queue: &self.queue, generated: &self.generated, buffers };
        walks.time_single(&|| on_buffers.least(&|| self.archived.sweep(stream, 1, buffers)));
        walks.go_on((sweeps, usize::MAX), &mut on_buffers);
        match best.and_then(|gait| Some((gait, walks.kernel(gait)?))) {
            Some((gait, written)) => {
                let blocks = written.set_length(gait.columns);
                on_buffers.launch(written, blocks)
            }
            None => self.archived.sweep(stream, sweeps, buffers),
        }
    }

    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.archived.part(stream, units, buffers)
    }
}

/// Returns a sweep as a step.
fn recurrence(what: Filtering, single: bool, len: usize) -> Option<Recurrence> {
    let mut program = Program::new();
    let from = program.input(single, len);
    let to = program.append(Node { operation: Operation::Filter(what, from), single, len });
    let (kernel, _) = program::Kernel::whole(&program, (&[to], &[]), LIMITS)?;
    Some(Recurrence { kernel, feeds: vec![Feed::Output(0)], numbers: 0, records: Vec::new() })
}

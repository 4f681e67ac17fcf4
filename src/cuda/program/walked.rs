//! Sweeps of a convolution over a whole array: by walks, where these are quicker than the archive's single sweeps.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys;

use super::several::{Timing, Walks, lock};
use super::{LIMITS, emit, walk};
use crate::cuda::Element;
use crate::cuda::cut::Cut;
use crate::cuda::kernels::{Area, ConvolutionKernel, Kernel, Plan};
use crate::cuda::runtime::clock::Clock;
use crate::cuda::runtime::generated::Generated;
use crate::cuda::runtime::module::{Modules, Shape, launch_bytes};
use crate::cuda::runtime::pace::SharedPace;
use crate::cuda::runtime::queue::Queue;
use crate::stencil::program::{self, Feed, Filtering, Gait, Node, Operation, Program, Recurrence};
use crate::stencil::{Convolution, Error};

/// One sweep over a volume of fewer elements takes no longer than a launch.
const LARGE: usize = 1 << 15;

/// Walks are looked for once there are so many sweeps, or a call comes again: a filter of other entries in each call costs
/// next to nothing.
const MANY: usize = 8;

/// The most convolutions that something is known of.
const MOST: usize = 16;

type SharedWalks = Arc<Mutex<Walks>>;

/// A convolution that was computed on a device of this ordinal, and its walks, if they were looked for and there are any.
struct Known {
    ordinal: usize,
    asked: Option<Gait>,
    what: Box<dyn Any + Send>,
    walks: Option<Option<SharedWalks>>,
}

/// A convolution, for any number of sweeps.
#[derive(Debug, Clone)]
pub(in crate::cuda) struct Walked<T> {
    archived: ConvolutionKernel<T>,
    what: Convolution<T>,
    asked: Option<Gait>,
}

impl<T: Element> Walked<T> {
    /// With the walk that is asked for, or the quickest.
    pub(in crate::cuda) fn new(what: &Convolution<T>, asked: Option<Gait>) -> Walked<T> {
        Walked { archived: ConvolutionKernel::new(what), what: what.clone(), asked }
    }

    /// The walks over an area.
    fn walks(&self, ordinal: usize, area: &Area<T>) -> Option<SharedWalks> {
        static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
        let filter = self.what.filter();
        let is_large = area.sweeps > 1 || (filter.size()[2] > 1 && area.tile.samples() >= LARGE);
        if !area.is_whole() || !is_large || filter.values().len() > LIMITS.entries || self.asked == Some(Gait::NONE) {
            return None;
        }
        let what = self.what.clone().with_size(area.tile.size()).with_boundary(area.sides).with_sweeps(1);
        let mut all = lock(&KNOWN);
        let is_it = |known: &Known| {
            let is_same = |known: &Convolution<T>| is_same(known, &what);
            (known.ordinal, known.asked) == (ordinal, self.asked) && known.what.downcast_ref().is_some_and(is_same)
        };
        let (mut known, again) = match all.iter().position(is_it) {
            Some(at) => (all.remove(at), true),
            None => (Known { ordinal, asked: self.asked, what: Box::new(what.clone()), walks: None }, false),
        };
        if known.walks.is_none() && (again || area.sweeps >= MANY) {
            let walks = recurrence(&what).and_then(|what| Walks::new(ordinal, what, self.asked));
            known.walks = Some(walks.map(|walks| Arc::new(Mutex::new(walks))));
        }
        let walks = known.walks.clone().flatten();
        if all.len() == MOST {
            all.remove(0);
        }
        all.push(known);
        walks
    }
}

impl<T: Element> Kernel<T> for Walked<T> {
    fn another(&self) -> Box<dyn Kernel<T>> {
        Box::new(self.clone())
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
        // A kernel of several sweeps was made where it is quicker than any walk.
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

/// Sweeps over a whole array, as far as a walk is known to be quicker by walks.
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
        // SAFETY: the kernel reads and writes an array of the area's size, and whoever plans has as many elements at both
        // addresses; whatever else uses them is on this stream, too.
        unsafe { launch_bytes(&function, stream, shape, &written.argument) }
    }

    fn least(&self, laps: usize, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        Clock::new(self.queue.context(), self.queue.stream())?.least(laps, work)
    }
}

impl Timing for OnBuffers<'_> {
    fn is_ready(&mut self, text: &str) -> Result<bool, Error> {
        Ok(self.generated.get_ahead(text, emit::NAME)?.is_some())
    }

    fn time(&mut self, laps: usize, written: &mut walk::Written, blocks: usize) -> Result<f32, Error> {
        let written = RefCell::new(written);
        self.least(laps, &|| self.launch(*written.borrow_mut(), blocks))
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
        walks.time_single(&|laps| on_buffers.least(laps, &|| self.archived.sweep(stream, 1, buffers)));
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

/// Returns true for the same convolution to the last bit, however often it sweeps: a -0 in it is no 0.
fn is_same<T: Element>(one: &Convolution<T>, other: &Convolution<T>) -> bool {
    let (filter, others) = (one.filter(), other.filter());
    let bits = |value: &T| value.to_f64().to_bits();
    (one.size(), filter.size()) == (other.size(), others.size())
        && filter.values().iter().map(bits).eq(others.values().iter().map(bits))
        && format!("{:?}", one.boundary()) == format!("{:?}", other.boundary())
}

/// A sweep as a step.
fn recurrence<T: Element>(what: &Convolution<T>) -> Option<Recurrence> {
    let what: &dyn Any = what;
    let filtering = match what.downcast_ref() {
        Some(double) => Filtering::Convolution(Convolution::clone(double)),
        None => Filtering::SingleConvolution(Convolution::clone(what.downcast_ref()?)),
    };
    let (single, len) = match &filtering {
        Filtering::Convolution(what) => (false, what.size().iter().product()),
        Filtering::SingleConvolution(what) => (true, what.size().iter().product()),
        _ => return None,
    };
    let mut program = Program::new();
    let from = program.input(single, len);
    let to = program.append(Node { operation: Operation::Filter(filtering, from), single, len });
    let (kernel, _) = program::Kernel::whole(&program, (&[to], &[]), LIMITS)?;
    Some(Recurrence { kernel, feeds: vec![Feed::Output(0)], numbers: 0, records: Vec::new() })
}

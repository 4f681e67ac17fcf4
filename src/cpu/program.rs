//! Kernels of programs on the CPU: tile after tile, first its filters, then the operations over blocks of it that stay
//! in the first-level cache.
//!
//! # Rationale
//! Filters over a tile are computed by the loops of the convolution, which keep several columns of outputs in
//! registers. Their samples are the columns of the input in place; they are copied first only if the filter reaches
//! beyond the ends of the array. All other parts are loops over slices, which the compiler vectorises. A block of a few
//! hundred elements goes through all of them before the next one is begun, so arrays are read and written once, and
//! intermediate results never leave the caches.

mod block;
mod buffers;
mod filter;
mod loops;

use std::sync::{Mutex, PoisonError};

use super::simd::{Instructions, Lanes};
use super::tasks;
use crate::host::SharedOutput;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Distribution;
use crate::stencil::program::{Axis, Chain, Kernel, Limits, Step, View};
use crate::stencil::{Array, Error, Filter, Numbers, Prepared, Unary};
use block::{Block, Frame};
use buffers::{Buffers, TILE};
use filter::Filtered;

/// Limits of a kernel. Recomputation is not allowed: a block's neighbours lie in other blocks.
pub(super) const LIMITS: Limits = Limits { entries: 256, again: 0, arrays: 64, parts: 256, numbers: 0, alone: true };

/// Maximum number of elements in a task: several tiles, so that the overhead is small.
const TASK_ELEMENTS: usize = 16 * TILE;

/// Minimum number of tasks for each thread, so that none waits long for another's last one.
const TASKS_OF_A_THREAD: usize = 4;

/// Place of a loop's operand.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In a buffer of a block.
    Buffer(usize),
    /// In a buffer filled with one number.
    Number(usize),
    /// In the tile of a filter.
    Filtered(usize),
    /// In an input with the layout of the domain.
    Input(usize),
}

/// An operation on a block.
#[derive(Debug, Clone)]
enum Action {
    Load(usize, View),
    Each(Unary, Place),
    Pair(crate::stencil::Binary, [Place; 2]),
    MultiplyAdd([Place; 3]),
    Convert(Place),
    /// Random numbers, of the draw and the seed.
    Random(Distribution, [Place; 2]),
    /// The sample farthest from the element.
    Sample(usize, [Axis; 3]),
}

#[derive(Debug, Clone)]
struct Loop {
    action: Action,
    single: bool,
    /// Number of the buffer that it writes.
    to: usize,
    /// Output that it writes instead, if no loop reads the buffer.
    output: Option<usize>,
}

/// A kernel ready to run.
struct Ready {
    instructions: Instructions,
    kernel: Kernel,
    /// Numbers used as operands; true for single precision.
    numbers: Vec<(f64, bool)>,
    filters: Vec<Filtered>,
    loops: Vec<Loop>,
    /// Outputs that no loop and no filter writes, with the place of their elements when the loops are done.
    results: Vec<(usize, Place)>,
    /// Number of buffers for a block.
    buffers: usize,
    /// Buffers not in use by a thread.
    spare: Mutex<Vec<Buffers>>,
    /// Approximate number of multiply-adds for an element.
    work: usize,
}

/// Converts a kernel to loops.
pub(super) fn prepare(instructions: Instructions, kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
    let whole = View { start: 0, steps: kernel.steps() };
    let mut places: Vec<Place> = Vec::with_capacity(kernel.parts.len());
    let (mut numbers, mut filters, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    for part in &kernel.parts {
        let of = |part: usize| places[part].clone();
        let action = match &part.step {
            Step::Load(input, view) if *view == whole => {
                places.push(Place::Input(*input));
                continue;
            }
            Step::Number(number) => {
                places.push(Place::Number(numbers.len()));
                numbers.push((*number, part.single));
                continue;
            }
            Step::Load(input, view) => Action::Load(*input, view.clone()),
            Step::Each(op, a) => Action::Each(*op, of(*a)),
            Step::Pair(op, ab) => Action::Pair(*op, ab.map(of)),
            Step::MultiplyAdd(abc) => Action::MultiplyAdd(abc.map(of)),
            Step::Convert(a) => Action::Convert(of(*a)),
            Step::Random(what, ab) => Action::Random(*what, ab.map(of)),
            Step::Filter(a, axes, chain) => match (of(*a), chain) {
                (Place::Input(input), Chain::Entries(entries)) => {
                    places.push(Place::Filtered(filters.len()));
                    filters.push(Filtered::new(&kernel.domain, (input, part.single), axes, entries)?);
                    continue;
                }
                (Place::Input(input), Chain::Sample) => Action::Sample(input, *axes),
                _ => return Err(Error::Internal("A derivative, or a filter over what is not in memory.".into())),
            },
        };
        places.push(Place::Buffer(loops.len()));
        loops.push(Loop { action, single: part.single, to: loops.len(), output: None });
    }
    let results = kernel.outputs.iter().map(|&(_, part)| places[part].clone()).enumerate().collect();
    let of_filters = filters.iter().map(|one| one.entries());
    let work = of_filters.chain(loops.iter().map(|one| one.action.work())).sum();
    let (buffers, spare, kernel) = (loops.len(), Mutex::default(), kernel.clone());
    let mut ready = Ready { instructions, kernel, numbers, filters, loops, results, buffers, spare, work };
    ready.write_outputs();
    ready.share_buffers();
    Ok(Box::new(ready))
}

impl Action {
    fn places(&mut self) -> Vec<&mut Place> {
        match self {
            Action::Each(_, place) | Action::Convert(place) => vec![place],
            Action::Pair(_, places) | Action::Random(_, places) => places.iter_mut().collect(),
            Action::MultiplyAdd(places) => places.iter_mut().collect(),
            Action::Load(..) | Action::Sample(..) => Vec::new(),
        }
    }

    fn work(&self) -> usize {
        match self {
            Action::Sample(..) => 1,
            Action::Random(..) => 32,
            Action::Each(Unary::Power(exponent), _) => exponent.unsigned_abs() as usize + 4,
            _ => 4,
        }
    }

    /// Returns true if it needs a block's lines.
    fn sees_lines(&self) -> bool {
        matches!(self, Action::Load(..) | Action::Sample(..))
    }
}

impl Ready {
    /// Lets a loop or a filter write to an output directly, if no loop reads that result.
    fn write_outputs(&mut self) {
        let Ready { kernel, filters, loops, results, .. } = self;
        results.retain(|&(output, ref place)| {
            let (_, part) = kernel.outputs[output];
            let is_read = loops.iter_mut().any(|one| one.action.places().into_iter().any(|of| of == place));
            if is_read || kernel.outputs.iter().filter(|(_, of)| *of == part).count() > 1 {
                return true;
            }
            match *place {
                Place::Buffer(own) => loops[own].output = Some(output),
                Place::Filtered(own) => filters[own].output = Some(output),
                Place::Input(_) | Place::Number(_) => return true,
            }
            false
        });
    }

    /// Reuses a buffer for the next loop once it has no more readers: fewer stay in the cache. Before this each loop
    /// has one of its own.
    fn share_buffers(&mut self) {
        let mut last: Vec<usize> = (0..self.loops.len()).collect();
        for (at, one) in self.loops.iter_mut().enumerate() {
            for place in one.action.places() {
                if let Place::Buffer(buffer) = place {
                    last[*buffer] = at;
                }
            }
        }
        for (_, place) in &self.results {
            if let Place::Buffer(buffer) = place {
                last[*buffer] = usize::MAX;
            }
        }
        let (mut names, mut free, mut count) = (vec![0; self.loops.len()], Vec::new(), 0);
        for (at, one) in self.loops.iter_mut().enumerate() {
            names[at] = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            one.to = names[at];
            let mut over: Vec<usize> = Vec::new();
            for place in one.action.places() {
                if let Place::Buffer(buffer) = place {
                    if last[*buffer] == at && !over.contains(buffer) {
                        over.push(*buffer);
                    }
                    *buffer = names[*buffer];
                }
            }
            free.extend(over.into_iter().map(|buffer| names[buffer]));
            if last[at] == at {
                free.push(names[at]);
            }
        }
        for (_, place) in &mut self.results {
            if let Place::Buffer(buffer) = place {
                *buffer = names[*buffer];
            }
        }
        self.buffers = count;
    }
}

/// Input arrays of either class as slices, by their numbers in the kernel.
struct Slices<'a> {
    doubles: Vec<&'a [f64]>,
    singles: Vec<&'a [f32]>,
}

impl<'a> Slices<'a> {
    fn new(inputs: &[&'a Numbers]) -> Result<Slices<'a>, Error> {
        let mut arrays = Slices { doubles: Vec::new(), singles: Vec::new() };
        for input in inputs {
            let (mut double, mut single): (&[f64], &[f32]) = (&[], &[]);
            match input {
                Numbers::Double(array) => double = array.held::<Pooled<f64>>()?,
                Numbers::Single(array) => single = array.held::<Pooled<f32>>()?,
            }
            arrays.doubles.push(double);
            arrays.singles.push(single);
        }
        Ok(arrays)
    }
}

/// A class of a kernel's numbers.
trait Class: Lanes {
    fn of_arrays<'a>(arrays: &Slices<'a>, number: usize) -> &'a [Self];

    /// The filter's entries in this class.
    fn filter(one: &Filtered) -> &Filter<Self>;

    /// The output, if it is of this class.
    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, Self>>;
}

impl Class for f64 {
    fn of_arrays<'a>(arrays: &Slices<'a>, number: usize) -> &'a [f64] {
        arrays.doubles[number]
    }

    fn filter(one: &Filtered) -> &Filter<f64> {
        &one.doubles
    }

    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, f64>> {
        if let Output::Double(output) = output { Some(output) } else { None }
    }
}

impl Class for f32 {
    fn of_arrays<'a>(arrays: &Slices<'a>, number: usize) -> &'a [f32] {
        arrays.singles[number]
    }

    fn filter(one: &Filtered) -> &Filter<f32> {
        &one.singles
    }

    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, f32>> {
        if let Output::Single(output) = output { Some(output) } else { None }
    }
}

/// Destination of results.
enum Output<'a> {
    Double(SharedOutput<'a, f64>),
    Single(SharedOutput<'a, f32>),
}

impl Prepared for Ready {
    fn run(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers], watch: &Watch) -> Result<(), Error> {
        let arrays = Slices::new(inputs)?;
        let outputs = outputs
            .iter_mut()
            .map(|output| {
                Ok(match output {
                    Numbers::Double(array) => {
                        Output::Double(SharedOutput::new(Array::alone(array)?.held_mut::<Pooled<f64>>()?))
                    }
                    Numbers::Single(array) => {
                        Output::Single(SharedOutput::new(Array::alone(array)?.held_mut::<Pooled<f32>>()?))
                    }
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let by_lines = self.loops.iter().any(|one| one.action.sees_lines());
        let is_deep = self.filters.iter().any(Filtered::is_deep);
        let frame = Frame::new(&self.kernel.domain, arrays, self.instructions, [by_lines, is_deep]);
        let (tiles, elements) = (frame.tiles(), self.kernel.len());
        let threads = tasks::threads(elements.saturating_mul(self.work));
        let task = (TASK_ELEMENTS * tiles / elements).min(tiles / (TASKS_OF_A_THREAD * threads)).max(1);
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        tasks::run(tiles.div_ceil(task), threads, 1, watch, |number, _: &mut (), progress| {
            let mut buffers = spare().pop().unwrap_or_default();
            buffers.make(&self.numbers, self.filters.len(), self.buffers)?;
            for tile in (number * task..((number + 1) * task).min(tiles)).map(|number| frame.tile(number)) {
                for (at, one) in self.filters.iter().enumerate() {
                    let output = one.output.map(|output| &outputs[output]);
                    // SAFETY: no other task has these elements.
                    unsafe {
                        if one.single {
                            frame.filter::<f32>((at, one), &tile, &mut buffers, output)?
                        } else {
                            frame.filter::<f64>((at, one), &tile, &mut buffers, output)?
                        }
                    }
                }
                for block in frame.blocks(&tile) {
                    for one in &self.loops {
                        let output = one.output.map(|output| &outputs[output]);
                        // SAFETY: as above.
                        unsafe {
                            if one.single {
                                frame.run::<f32>(one, &block, &mut buffers, output)
                            } else {
                                frame.run::<f64>(one, &block, &mut buffers, output)
                            }
                        }
                    }
                    for (output, place) in &self.results {
                        // SAFETY: as above.
                        unsafe { store(&frame, &outputs[*output], place, &block, &buffers) };
                    }
                }
            }
            spare().push(buffers);
            Ok(progress.step(0)?)
        })
    }
}

/// Copies a block's results to an output.
///
/// # Safety
/// No other task may access these elements of the output.
unsafe fn store(frame: &Frame, output: &Output, place: &Place, block: &Block, buffers: &Buffers) {
    let range = block.start..block.start + block.len;
    match output {
        // SAFETY: as the caller says.
        Output::Double(output) => frame.copy(place, block, buffers, unsafe { output.places(range) }),
        // SAFETY: as above.
        Output::Single(output) => frame.copy(place, block, buffers, unsafe { output.places(range) }),
    }
}

//! Kernels of programs on the CPU: operation after operation over blocks that stay in the first-level cache.
//!
//! # Rationale
//! A kernel's parts become loops over slices, which the compiler makes vectors of. A block of a few hundred elements goes
//! through all of them before the next one is begun, so arrays are read and written once, and what lies between two parts
//! never leaves the cache. Samples of filters are slices of the input as it lies, except where a block goes over the end of a
//! line: there they are copied together first.

mod block;
mod loops;

use std::sync::{Mutex, PoisonError};

use super::simd::{Instructions, Lanes};
use super::tasks;
use crate::host::SharedOutput;
use crate::memory::pool::Pooled;
use crate::stencil::program::{Axis, Chain, Kernel, Limits, Numbers, Step, View};
use crate::stencil::{Array, Error, Prepared, Unary};
use crate::watch::Watch;
use block::{BLOCK, Block, Buffers, Frame};

/// What a kernel may hold. Nothing is computed again: a block's neighbours lie in other blocks.
pub(super) const LIMITS: Limits = Limits { entries: 256, again: 0, arrays: 64, parts: 256 };

/// The most elements of a task: some blocks, so that its end costs little.
const TASK: usize = 32 * BLOCK;

/// The tasks of a thread at least, so that none waits long for another's last one.
const TASKS_OF_A_THREAD: usize = 4;

/// Where a loop finds an operand.
#[derive(Debug, Clone)]
enum Place {
    /// In a buffer of its class.
    Buffer(usize),
    /// In an input that goes along with the domain.
    Input(usize),
}

/// What is done in a block, in the class of `single`; `to` is a buffer of it.
#[derive(Debug, Clone)]
enum Action {
    Load(usize, View),
    Fill(f64),
    Each(crate::stencil::Unary, Place),
    Pair(crate::stencil::Binary, [Place; 2]),
    MultiplyAdd([Place; 3]),
    Convert(Place),
    Filter(usize, [Axis; 3], Chain),
}

#[derive(Debug, Clone)]
struct Loop {
    action: Action,
    single: bool,
    to: usize,
    /// The output that it writes instead, where nobody reads the buffer.
    output: Option<usize>,
}

/// A kernel that is ready to run.
struct Ready {
    instructions: Instructions,
    kernel: Kernel,
    loops: Vec<Loop>,
    /// Of each output that no loop writes, where its elements are when the loops are over.
    results: Vec<(usize, Place)>,
    /// The buffers in double and in single.
    buffers: [usize; 2],
    /// Those of threads that have none at the moment.
    spare: Mutex<Vec<Buffers>>,
    /// The multiply-adds of an element, roughly.
    work: usize,
}

/// A kernel as loops.
pub(super) fn prepare(instructions: Instructions, kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
    let whole = View { start: 0, steps: kernel.steps() };
    let mut buffers = [0; 2];
    let mut places: Vec<Place> = Vec::with_capacity(kernel.parts.len());
    let mut loops = Vec::with_capacity(kernel.parts.len());
    for part in &kernel.parts {
        let of = |part: usize| places[part].clone();
        let action = match &part.step {
            Step::Load(input, view) if *view == whole => {
                places.push(Place::Input(*input));
                continue;
            }
            Step::Load(input, view) => Action::Load(*input, view.clone()),
            Step::Number(number) => Action::Fill(*number),
            Step::Each(op, a) => Action::Each(*op, of(*a)),
            Step::Pair(op, ab) => Action::Pair(*op, ab.map(of)),
            Step::MultiplyAdd(abc) => Action::MultiplyAdd(abc.map(of)),
            Step::Convert(a) => Action::Convert(of(*a)),
            Step::Filter(a, axes, chain) => match of(*a) {
                Place::Input(input) => Action::Filter(input, *axes, chain.clone()),
                Place::Buffer(_) => return Err(Error::Internal("A filter over what is not in memory.".into())),
            },
        };
        let count = &mut buffers[usize::from(part.single)];
        loops.push(Loop { action, single: part.single, to: *count, output: None });
        places.push(Place::Buffer(*count));
        *count += 1;
    }
    let results = kernel.outputs.iter().map(|&(_, part)| places[part].clone()).enumerate().collect();
    let work = loops.iter().map(|one| one.action.work()).sum();
    let spare = Mutex::default();
    let mut ready = Ready { instructions, kernel: kernel.clone(), loops, results, buffers, spare, work };
    ready.write_outputs();
    ready.share_buffers();
    Ok(Box::new(ready))
}

impl Action {
    fn places(&mut self) -> Vec<&mut Place> {
        match self {
            Action::Each(_, place) | Action::Convert(place) => vec![place],
            Action::Pair(_, places) => places.iter_mut().collect(),
            Action::MultiplyAdd(places) => places.iter_mut().collect(),
            Action::Load(..) | Action::Fill(_) | Action::Filter(..) => Vec::new(),
        }
    }

    fn work(&self) -> usize {
        match self {
            Action::Filter(_, _, chain) => match chain {
                Chain::Entries(entries) | Chain::Differences(entries) => entries.len(),
                Chain::Sample => 1,
            },
            Action::Each(Unary::Power(exponent), _) => exponent.unsigned_abs() as usize + 4,
            _ => 4,
        }
    }
}

impl Loop {
    /// Whether what it reads from buffers is in single.
    fn reads_singles(&self) -> bool {
        self.single != matches!(self.action, Action::Convert(_))
    }
}

impl Ready {
    /// Has loops write what becomes one output there, where no other loop reads it. Each has a buffer of its own yet.
    fn write_outputs(&mut self) {
        let Ready { kernel, loops, results, .. } = self;
        results.retain(|&(output, ref place)| {
            let Place::Buffer(buffer) = *place else { return true };
            let (_, part) = kernel.outputs[output];
            let single = kernel.parts[part].single;
            let is_read = loops.iter_mut().any(|one| {
                let is_it = |place: &mut Place| matches!(place, Place::Buffer(of) if *of == buffer);
                one.reads_singles() == single && one.action.places().into_iter().any(is_it)
            });
            let is_one = kernel.outputs.iter().filter(|(_, of)| *of == part).count() == 1;
            let own = loops.iter_mut().find(|one| one.single == single && one.to == buffer);
            match own.filter(|_| is_one && !is_read) {
                Some(own) => own.output = Some(output),
                None => return true,
            }
            false
        });
    }

    /// Gives a buffer that nobody reads any more to the next loop that writes: fewer stay in the cache.
    fn share_buffers(&mut self) {
        let class = |single: bool| usize::from(single);
        let mut last: [Vec<usize>; 2] = self.buffers.map(|count| vec![0; count]);
        for (at, one) in self.loops.iter_mut().enumerate() {
            last[class(one.single)][one.to] = at;
            let of_operands = class(one.reads_singles());
            for place in one.action.places() {
                if let Place::Buffer(buffer) = place {
                    last[of_operands][*buffer] = at;
                }
            }
        }
        for (output, place) in &self.results {
            if let Place::Buffer(buffer) = place {
                let (_, part) = self.kernel.outputs[*output];
                last[class(self.kernel.parts[part].single)][*buffer] = usize::MAX;
            }
        }
        let mut names: [Vec<usize>; 2] = self.buffers.map(|count| vec![0; count]);
        let mut free: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        let mut counts = [0; 2];
        for (at, one) in self.loops.iter_mut().enumerate() {
            let own = class(one.single);
            let name = free[own].pop().unwrap_or_else(|| {
                counts[own] += 1;
                counts[own] - 1
            });
            names[own][one.to] = name;
            let written = one.to;
            one.to = name;
            let of_operands = class(one.reads_singles());
            let mut over: Vec<usize> = Vec::new();
            for place in one.action.places() {
                if let Place::Buffer(buffer) = place {
                    if last[of_operands][*buffer] == at && !over.contains(buffer) {
                        over.push(*buffer);
                    }
                    *buffer = names[of_operands][*buffer];
                }
            }
            free[of_operands].extend(over.into_iter().map(|buffer| names[of_operands][buffer]));
            if last[own][written] == at {
                free[own].push(name);
            }
        }
        for (output, place) in &mut self.results {
            if let Place::Buffer(buffer) = place {
                let (_, part) = self.kernel.outputs[*output];
                *buffer = names[class(self.kernel.parts[part].single)][*buffer];
            }
        }
        self.buffers = counts;
    }
}

/// Arrays of either class, by their numbers in the kernel.
struct Arrays<'a> {
    doubles: Vec<&'a [f64]>,
    singles: Vec<&'a [f32]>,
}

impl<'a> Arrays<'a> {
    fn new(inputs: &[&'a Numbers]) -> Result<Arrays<'a>, Error> {
        let mut arrays = Arrays { doubles: Vec::new(), singles: Vec::new() };
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

/// A class, among those of a kernel.
trait Class: Lanes {
    fn of_arrays<'a>(arrays: &Arrays<'a>, number: usize) -> &'a [Self];

    fn buffers(buffers: &mut Buffers) -> &mut Vec<Vec<Self>>;

    /// The output, if it is of this class.
    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, Self>>;
}

impl Class for f64 {
    fn of_arrays<'a>(arrays: &Arrays<'a>, number: usize) -> &'a [f64] {
        arrays.doubles[number]
    }

    fn buffers(buffers: &mut Buffers) -> &mut Vec<Vec<f64>> {
        &mut buffers.doubles
    }

    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, f64>> {
        if let Output::Double(output) = output { Some(output) } else { None }
    }
}

impl Class for f32 {
    fn of_arrays<'a>(arrays: &Arrays<'a>, number: usize) -> &'a [f32] {
        arrays.singles[number]
    }

    fn buffers(buffers: &mut Buffers) -> &mut Vec<Vec<f32>> {
        &mut buffers.singles
    }

    fn of_output<'o, 'a>(output: &'o Output<'a>) -> Option<&'o SharedOutput<'a, f32>> {
        if let Output::Single(output) = output { Some(output) } else { None }
    }
}

/// Where results go.
enum Output<'a> {
    Double(SharedOutput<'a, f64>),
    Single(SharedOutput<'a, f32>),
}

impl Prepared for Ready {
    fn run(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers], watch: &Watch) -> Result<(), Error> {
        let arrays = Arrays::new(inputs)?;
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
        let elements = self.kernel.len();
        let threads = tasks::threads(elements.saturating_mul(self.work));
        let frame = Frame::new(&self.kernel.domain, arrays, self.instructions);
        let task = elements.div_ceil(TASKS_OF_A_THREAD * threads).next_multiple_of(BLOCK).min(TASK);
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        tasks::run(elements.div_ceil(task), threads, 1, watch, |number, _: &mut (), progress| {
            let mut buffers = spare().pop().unwrap_or_default();
            buffers.make(self.buffers);
            for block in frame.blocks(number * task..((number + 1) * task).min(elements)) {
                for one in &self.loops {
                    let output = one.output.map(|output| &outputs[output]);
                    // SAFETY: no other task has these elements.
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
                    unsafe { give(&frame, &outputs[*output], place, &block, &mut buffers) };
                }
            }
            spare().push(buffers);
            Ok(progress.step(0)?)
        })
    }
}

/// Copies a block's results to where they go.
///
/// # Safety
/// Nobody else has these elements of the output.
unsafe fn give(frame: &Frame, output: &Output, place: &Place, block: &Block, buffers: &mut Buffers) {
    let range = block.start..block.start + block.len;
    match output {
        // SAFETY: as the caller says.
        Output::Double(output) => frame.copy(place, block, buffers, unsafe { output.places(range) }),
        // SAFETY: as above.
        Output::Single(output) => frame.copy(place, block, buffers, unsafe { output.places(range) }),
    }
}

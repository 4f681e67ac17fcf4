//! Kernels of programs: PTX that is written when a program is prepared, and loaded by the driver.

mod chain;
mod chunks;
mod code;
mod emit;
mod emitter;
mod functions;
mod once;
mod places;
mod several;
mod shape;
mod truth;
mod walk;
mod walked;

use std::sync::{Arc, Mutex, PoisonError};

use super::driver::Driver;
use super::driver::context::Context;
use super::module::{Function, MOST_ARGUMENTS, Shape, launch_bytes};
use super::recent::Recent;
use super::routes::array::address;
use super::runtime::device::Device;
use super::runtime::queue::Load;
use crate::platform::watch::Watch;
use crate::stencil::program::{Kernel, Limits, MOST_DIMS};
use crate::stencil::{Array, Arrays, Compute, Engine, Error, Noted, Numbers, Prepared};
pub(super) use chain::chain;
use emit::Written;
pub(super) use once::run_once;
pub(super) use several::Steps;
pub(super) use walked::Walked;

/// Limits of a kernel: its argument travels with the launch.
pub(super) const LIMITS: Limits = Limits { entries: 128, again: 12, arrays: 16, parts: 54, numbers: 4, alone: false };

/// Eight bytes each: of an input the address, and how it is seen; of an operation the address of its result, and a number;
/// entries, and their ghost values, of which a filter has at most two for three entries; the extents and steps of the
/// domain, and the elements; its blocks, or of each number the address and two offsets, and of all the chunks and an
/// address.
const _: () = {
    let Limits { entries, arrays, parts, numbers, .. } = LIMITS;
    let told = arrays * (2 + MOST_DIMS) + 2 * parts + entries + entries * 2 / 3 + 2 * MOST_DIMS + 1;
    let of_blocks = if MOST_DIMS > 3 * numbers + 2 { MOST_DIMS } else { 3 * numbers + 2 };
    assert!(8 * (told + of_blocks) <= MOST_ARGUMENTS);
};

/// An engine whose device can be given work: see `Cuda::attempt`.
pub(super) trait Attempts: Send {
    fn attempt_once(&self, watch: &Watch, work: &mut dyn FnMut(&mut Device) -> Result<(), Error>) -> Result<(), Error>;
}

/// An array of either class.
#[derive(Clone, Copy)]
enum Placed<'a> {
    Double(&'a Array<f64>),
    Single(&'a Array<f32>),
}

impl<'a> Placed<'a> {
    fn len(self) -> usize {
        match self {
            Placed::Double(array) => array.len(),
            Placed::Single(array) => array.len(),
        }
    }

    /// Its address, and the bytes of an element.
    fn address(self, context: &Arc<Context>) -> Result<(u64, usize), Error> {
        Ok(match self {
            Placed::Double(array) => (address(array, context)?, 8),
            Placed::Single(array) => (address(array, context)?, 4),
        })
    }
}

impl<'a> From<&'a Numbers> for Placed<'a> {
    fn from(numbers: &'a Numbers) -> Placed<'a> {
        match numbers {
            Numbers::Double(array) => Placed::Double(array),
            Numbers::Single(array) => Placed::Single(array),
        }
    }
}

/// A kernel that is ready for a device.
struct Ready<C> {
    engine: C,
    written: Written,
    /// The kernel in the context that it was loaded in last.
    loaded: Option<(Arc<Context>, Function)>,
    /// The results of chunks, and their counters.
    scratch: Option<Numbers>,
    /// The bytes that it reads and writes.
    bytes: usize,
}

/// A kernel, loaded.
///
/// # Errors
/// Those of the driver.
pub(super) fn prepare<C: Attempts + Engine + 'static>(
    engine: C,
    ordinal: usize,
    kernel: &Kernel,
) -> Result<Box<dyn Prepared>, Error> {
    let written = written(kernel, ordinal);
    let bytes = (kernel.inputs.len() + kernel.outputs.len()).saturating_mul(8 * kernel.len());
    // An error of the driver comes before the first step.
    let mut loaded = None;
    engine.attempt_once(&Watch::new(), &mut |device| {
        let function = device.modules.generated().get(&written.text, emit::NAME)?;
        loaded = Some((device.context.clone(), function));
        Ok(())
    })?;
    let mut scratch = None;
    if written.scratch > 0 {
        let mut array: Array<f64> = Arrays::<f64>::array(&engine, written.scratch / 8)?;
        engine.fill(0.0, &mut array, &Watch::new())?;
        scratch = Some(Numbers::from(array));
    }
    Ok(Box::new(Ready { engine, written, loaded, scratch, bytes }))
}

/// A kernel that can be launched: its arrays are where its argument says.
struct Launch {
    context: Arc<Context>,
    function: Function,
    shape: Shape,
    argument: Vec<u8>,
    /// The bytes that it reads and writes.
    bytes: usize,
}

impl Launch {
    /// A launch that is put off, of a kernel that reads and writes so many bytes.
    fn noted(
        device: &Device,
        function: &Function,
        (blocks, threads): (usize, [usize; 2]),
        (argument, bytes): (&[u8], usize),
    ) -> Result<Noted, Error> {
        let (context, function) = (device.context.clone(), function.clone());
        let shape = Shape::new([blocks, 1], threads, 0)?;
        Ok(Box::new(Launch { context, function, shape, argument: argument.to_vec(), bytes }))
    }
}

impl<C: Attempts> Ready<C> {
    /// Has `work` done with the kernel on the device, whose argument has the addresses of these arrays.
    fn with(
        &mut self,
        (inputs, outputs): (&[&Numbers], &[Numbers]),
        watch: &Watch,
        work: &mut dyn FnMut(&mut Device, &Function, &Written) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Ready { engine, written, loaded, scratch, .. } = self;
        let arrays: Vec<&Numbers> = inputs.iter().copied().chain(outputs).chain(scratch.as_ref()).collect();
        engine.attempt_once(watch, &mut |device| {
            watch.check()?;
            let known = loaded.as_ref().filter(|(context, _)| Arc::ptr_eq(context, &device.context));
            let function = match known {
                Some((_, function)) => function.clone(),
                None => {
                    let function = device.modules.generated().get(&written.text, emit::NAME)?;
                    *loaded = Some((device.context.clone(), function.clone()));
                    function
                }
            };
            for (array, entry) in arrays.iter().zip(written.argument.chunks_exact_mut(8)) {
                let (address, _) = Placed::from(*array).address(&device.context)?;
                entry.copy_from_slice(&address.to_le_bytes());
            }
            work(device, &function, written)
        })
    }
}

impl<C: Attempts> Prepared for Ready<C> {
    fn run(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers], watch: &Watch) -> Result<(), Error> {
        let bytes = self.bytes;
        self.with((inputs, outputs), watch, &mut |device, function, written| {
            // SAFETY: the arrays are of the lengths that the kernel was written for, and the call has them.
            unsafe { put(device, ("a step", bytes), function, (written.blocks, written.threads), &written.argument) }
        })
    }

    fn note(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers]) -> Result<Noted, Error> {
        let bytes = self.bytes;
        let mut noted: Option<Noted> = None;
        self.with((inputs, outputs), &Watch::new(), &mut |device, function, written| {
            let shape = (written.blocks, written.threads);
            noted = Some(Launch::noted(device, function, shape, (&written.argument, bytes))?);
            Ok(())
        })?;
        noted.ok_or_else(|| Error::Internal("A kernel that was not noted.".into()))
    }
}

/// Puts a kernel on the queue, whose argument has all addresses.
///
/// # Safety
/// There are as many elements at the addresses as the kernel reads and writes, until the queue has been waited for.
unsafe fn put(
    device: &mut Device,
    (name, bytes): (&'static str, usize),
    function: &Function,
    (blocks, threads): (usize, [usize; 2]),
    argument: &[u8],
) -> Result<(), Error> {
    let load = Load { name, pace: None, bytes };
    let beginning = device.queue.begin(&load)?;
    let shape = Shape::new([blocks, 1], threads, 0)?;
    // SAFETY: the kernel was written for this argument; as the caller says; whatever else uses the arrays is on this
    // stream, too.
    unsafe { launch_bytes(function, device.queue.stream().handle(), shape, argument) }?;
    device.queue.submitted(&load, beginning)
}

/// The most kernels that stay written: writing one takes longer than some launches.
const MOST_WRITTEN: usize = 64;

/// The multiprocessors of a device, as far as the driver tells.
fn multiprocessors(ordinal: usize) -> usize {
    let device = Driver::get().ok().and_then(|driver| driver.devices.get(ordinal));
    device.and_then(|device| device.as_ref().ok()).map_or(1, |device| device.multiprocessors.max(1) as usize)
}

/// A kernel as it was written for a device.
fn written(kernel: &Kernel, ordinal: usize) -> Written {
    static KNOWN: Mutex<Recent<(usize, String), Written, MOST_WRITTEN>> = Mutex::new(Recent::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let write = |&(multiprocessors, _): &(usize, String)| match kernel.numbers.is_empty() {
        true => emit::write(kernel),
        false => chunks::write(kernel, multiprocessors),
    };
    known.get((multiprocessors(ordinal), kernel.text()), write).clone()
}

#[cfg(test)]
mod tests;

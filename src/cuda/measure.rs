//! Timing on the device, by the device's own clock.

use std::cell::Cell;
use std::sync::Arc;

use cudarc::driver::result;

use super::context::{Context, Event, Stream};
use super::convolution::ConvolutionPlan;
use super::device::{self, Device};
use super::error::failed;
use super::lines::LinesPlan;
use super::memory::{DeviceBuffer, Idle};
use super::staging::{Piece, Plan};
use super::sweeps::SweepsPlan;
use super::{Cuda, Element};
use crate::stencil::{Convolution, Derivative, Error, Stencil};

/// Milliseconds of one thing and of what it is set against, measured in turn.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The kernel alone, data on the device.
    pub kernel: Vec<f32>,
    /// A copy on the device of the input to a buffer of the output's size: the same bytes, and nothing computed.
    pub copy: Vec<f32>,
}

/// The device's clock for what goes through a stream: events before and behind it.
pub(super) struct Clock {
    context: Arc<Context>,
    stream: Arc<Stream>,
    begin: Event,
    end: Event,
}

impl Clock {
    pub(super) fn new(context: &Arc<Context>, stream: &Arc<Stream>) -> Result<Clock, Error> {
        Ok(Clock {
            context: context.clone(),
            stream: stream.clone(),
            begin: Event::new(context)?,
            end: Event::new(context)?,
        })
    }

    /// Milliseconds from the stream's coming to what `work` submits until its end. The work is over then.
    pub(super) fn time(&self, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        self.begin.record(&self.stream)?;
        work()?;
        self.end.record(&self.stream)?;
        self.begin.elapsed(&self.end)
    }

    /// Milliseconds of each of `laps` repetitions of what `work` submits, which are over then.
    ///
    /// One more goes ahead of them, and all are submitted before any is waited for: so the device has the next at hand
    /// when it comes to it, and the clock does not run while it waits for the host.
    pub(super) fn laps(&self, laps: usize, work: &dyn Fn() -> Result<(), Error>) -> Result<Vec<f32>, Error> {
        let events = (0..=laps).map(|_| Event::new(&self.context)).collect::<Result<Vec<_>, Error>>()?;
        for event in &events {
            work()?;
            event.record(&self.stream)?;
        }
        events.windows(2).map(|pair| pair[0].elapsed(&pair[1])).collect()
    }
}

/// Runs a stencil `repeats` times on data that stay on the device, each time beside a copy of the same bytes; the
/// result goes to `output`.
pub fn stencil(
    cuda: &Cuda,
    request: &Stencil,
    input: &[f64],
    output: &mut [f64],
    repeats: usize,
) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::stencil(device, request), input, output, repeats)
}

/// The same with a derivative in single.
pub fn derivative_single(
    cuda: &Cuda,
    request: &Derivative<f32>,
    input: &[f32],
    output: &mut [f32],
    repeats: usize,
) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::derivative(device, request), input, output, repeats)
}

/// The same with a derivative in double.
pub fn derivative_double(
    cuda: &Cuda,
    request: &Derivative<f64>,
    input: &[f64],
    output: &mut [f64],
    repeats: usize,
) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::derivative(device, request), input, output, repeats)
}

/// The same with a convolution in single.
pub fn convolution_single(
    cuda: &Cuda,
    request: &Convolution<f32>,
    input: &[f32],
    output: &mut [f32],
    repeats: usize,
) -> Result<Timing, Error> {
    measure(cuda, |device| ConvolutionPlan::new(device, request), input, output, repeats)
}

/// The same with a convolution in double.
pub fn convolution_double(
    cuda: &Cuda,
    request: &Convolution<f64>,
    input: &[f64],
    output: &mut [f64],
    repeats: usize,
) -> Result<Timing, Error> {
    measure(cuda, |device| ConvolutionPlan::new(device, request), input, output, repeats)
}

/// Sweeps of a stencil over an array that stays on the device: milliseconds of all launches together, `repeats` times;
/// the last result goes to `output`.
pub fn sweeps(
    cuda: &Cuda,
    request: &Stencil,
    input: &[f64],
    output: &mut [f64],
    repeats: usize,
) -> Result<Vec<f32>, Error> {
    assert_eq!(output.len(), input.len());
    device::with(cuda.ordinal, |device| {
        let (lines, sweeps) = (request.lines(), request.sweeps());
        let mut plan = SweepsPlan::stencil(request);
        plan.prepare_for(device, lines, sweeps)?;
        let stream = device.stream.clone();
        let buffers = [0, 1].map(|_| DeviceBuffer::new(&device.context, size_of_val(input)));
        let [first, second] = buffers;
        let buffers = [first?, second?];
        let addresses = [buffers[0].address(), buffers[1].address()];
        // Dropped ahead of the buffers, also after an error.
        let _idle = Idle::new(&stream);
        let clock = Clock::new(&device.context, &stream)?;
        let result = Cell::new(0);
        let run = || {
            result.set(plan.run(stream.handle(), lines, request.boundary(), sweeps, addresses, |_| Ok(()))?);
            Ok(())
        };
        let mut times = Vec::with_capacity(repeats);
        for _ in 0..=repeats {
            // SAFETY: the buffer is as long as the slice, which is ordinary memory and has been read when this returns.
            unsafe { result::memcpy_htod_async(addresses[0], input, stream.handle()) }
                .map_err(failed("cuMemcpyHtoDAsync"))?;
            stream.synchronize()?;
            times.push(clock.time(&run)?);
        }
        stream.synchronize()?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_sync(output, addresses[result.get()]) }.map_err(failed("cuMemcpyDtoH"))?;
        Ok(times.split_off(1))
    })
}

fn measure<T: Element, P: Plan>(
    cuda: &Cuda,
    prepare: impl Fn(&mut Device) -> Result<P, Error>,
    samples: &[T],
    output: &mut [T],
    repeats: usize,
) -> Result<Timing, Error> {
    assert_eq!(output.len(), samples.len());
    device::with(cuda.ordinal, |device| {
        let plan = prepare(device)?;
        let stream = device.stream.clone();
        let bytes = size_of_val(samples);
        let input = DeviceBuffer::new(&device.context, bytes)?;
        let computed = DeviceBuffer::new(&device.context, bytes)?;
        let copied = DeviceBuffer::new(&device.context, bytes)?;
        // Dropped ahead of the buffers, also after an error.
        let _idle = Idle::new(&stream);
        // SAFETY: the buffers are as long as the slices, here and below; these are ordinary memory, and have been read
        // or written when the calls return.
        unsafe { result::memcpy_htod_async(input.address(), samples, stream.handle()) }
            .map_err(failed("cuMemcpyHtoDAsync"))?;
        stream.synchronize()?;

        let whole = Piece::new(0..output.len(), 0, output.len());
        let clock = Clock::new(&device.context, &stream)?;
        let kernel = || plan.launch(stream.handle(), &whole, input.address(), computed.address());
        let copy = || {
            // SAFETY: both buffers have as many bytes.
            unsafe { result::memcpy_dtod_async(copied.address(), input.address(), bytes, stream.handle()) }
                .map_err(failed("cuMemcpyDtoDAsync"))
        };
        for _ in 0..3 {
            clock.time(&kernel)?;
            clock.time(&copy)?;
        }
        let mut timing = Timing { kernel: Vec::with_capacity(repeats), copy: Vec::with_capacity(repeats) };
        for _ in 0..repeats {
            timing.kernel.push(clock.time(&kernel)?);
            timing.copy.push(clock.time(&copy)?);
        }
        stream.synchronize()?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_sync(output, computed.address()) }.map_err(failed("cuMemcpyDtoH"))?;
        Ok(timing)
    })
}

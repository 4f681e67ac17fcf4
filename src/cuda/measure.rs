//! Timing on the device, by the device's own clock.

use cudarc::driver::{CudaEvent, result, sys};

use super::convolution::ConvolutionPlan;
use super::device::{self, Device};
use super::error::failed;
use super::lines::LinesPlan;
use super::memory::DeviceBuffer;
use super::staging::{Piece, Plan};
use super::{Cuda, Element};
use crate::stencil::{Convolution, Derivative, Error, Request};

/// Milliseconds of one thing and of what it is set against, measured in turn.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The kernel alone, data on the device.
    pub kernel: Vec<f32>,
    /// A copy on the device of the input to a buffer of the output's size: the same bytes, and nothing computed.
    pub copy: Vec<f32>,
}

/// Runs a stencil `repeats` times on data that stay on the device, each time beside a copy of the same bytes; the result goes to `output`.
pub fn stencil(cuda: &Cuda, request: &Request, output: &mut [f64], repeats: usize) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::stencil(device, request), request.input(), output, repeats)
}

/// The same with a derivative in single.
pub fn derivative_single(cuda: &Cuda, request: &Derivative<f32>, output: &mut [f32], repeats: usize) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::derivative(device, request), request.input(), output, repeats)
}

/// The same with a derivative in double.
pub fn derivative_double(cuda: &Cuda, request: &Derivative<f64>, output: &mut [f64], repeats: usize) -> Result<Timing, Error> {
    measure(cuda, |device| LinesPlan::derivative(device, request), request.input(), output, repeats)
}

/// The same with a convolution in single.
pub fn convolution_single(cuda: &Cuda, request: &Convolution<f32>, output: &mut [f32], repeats: usize) -> Result<Timing, Error> {
    measure(cuda, |device| ConvolutionPlan::new(device, request), request.input(), output, repeats)
}

/// The same with a convolution in double.
pub fn convolution_double(cuda: &Cuda, request: &Convolution<f64>, output: &mut [f64], repeats: usize) -> Result<Timing, Error> {
    measure(cuda, |device| ConvolutionPlan::new(device, request), request.input(), output, repeats)
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
        // SAFETY: the buffers are as long as the slices, here and below, and the copies are over when their calls return.
        unsafe { result::memcpy_htod_sync(input.address(), samples) }.map_err(failed("cuMemcpyHtoD"))?;
        device.context.synchronize().map_err(failed("cuCtxSynchronize"))?;

        let whole = Piece::new(0..output.len(), 0, output.len());
        let new_event = || device.context.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).map_err(failed("cuEventCreate"));
        let (begin, end) = (new_event()?, new_event()?);
        let time = |work: &dyn Fn() -> Result<(), Error>| -> Result<f32, Error> {
            let record = |event: &CudaEvent| event.record(&stream).map_err(failed("cuEventRecord"));
            record(&begin)?;
            work()?;
            record(&end)?;
            begin.elapsed_ms(&end).map_err(failed("cuEventElapsedTime"))
        };
        let kernel = || plan.launch(stream.cu_stream(), &whole, input.address(), computed.address());
        let copy = || {
            // SAFETY: both buffers have as many bytes.
            unsafe { result::memcpy_dtod_async(copied.address(), input.address(), bytes, stream.cu_stream()) }
                .map_err(failed("cuMemcpyDtoDAsync"))
        };
        for _ in 0..3 {
            time(&kernel)?;
            time(&copy)?;
        }
        let mut timing = Timing { kernel: Vec::with_capacity(repeats), copy: Vec::with_capacity(repeats) };
        for _ in 0..repeats {
            timing.kernel.push(time(&kernel)?);
            timing.copy.push(time(&copy)?);
        }
        stream.synchronize().map_err(failed("cuStreamSynchronize"))?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_sync(output, computed.address()) }.map_err(failed("cuMemcpyDtoH"))?;
        Ok(timing)
    })
}

//! The documents' measurements of constant memory, on the user's own device.
//!
//! # Method
//! A kernel first runs once, and every element of its output is compared with a plain function on the CPU: integers
//! must be equal, and floating-point numbers the same bits. Only then is it timed.
//!
//! A launch of some microseconds cannot be timed by itself, and a loop of such launches measures the host's rate of
//! launches. So 100 launches are captured in a graph, which the device runs by itself, and a sample is a hundredth of
//! one replay. The mean of a loop of 100 launches, the documents' figure, is taken as well: the difference of the two
//! is the cost of the launches.
//!
//! # Limitations
//! The caches are as the launch before has left them. Arrays that fit into them are read from there, as in the
//! documents.

mod access;
mod angles;
mod convolution;
mod readonly;

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytemuck::{NoUninit, Pod};
use cudarc::driver::{result, sys};
use rayon::prelude::*;

pub use access::{Access, Pattern};
pub use angles::Angles;
pub use convolution::{Convolution, RADII};
pub use readonly::ReadOnly;

use super::driver::context::{Graph, Stream};
use super::driver::error::failed;
use super::driver::memory::{DeviceBuffer, Idle};
use super::engine::Cuda;
use super::runtime::clock::Clock;
use super::runtime::device::{self, Device};
use super::runtime::module::{Function, Shape, launch};
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// Number of samples of a kernel's time.
pub const SAMPLES: usize = 20;

/// Possible numbers of elements. With the most, the slowest kernel still takes no more than about a minute.
pub const ELEMENTS: RangeInclusive<usize> = 1..=1 << 28;

/// Possible numbers of threads in a block: whole warps.
pub const BLOCK_SIZES: RangeInclusive<usize> = WARP..=1024;

/// Threads in a warp; a block size is a multiple of it.
pub const WARP: usize = 32;

/// Launches in a warm-up, in a graph and in a batch.
const LAUNCHES: usize = 100;

/// Elements that are copied at once between host and device.
const PIECE: usize = 1 << 22;

/// A study with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Study {
    /// Speed of constant memory by access pattern of a table.
    Access(Access),
    /// Constant memory, the read-only cache and kernel arguments.
    ReadOnly(ReadOnly),
    /// A table that every thread reads from end to end.
    Angles(Angles),
    /// A convolution, its filter in global and in constant memory, its image then in shared memory.
    Convolution(Convolution),
}

impl Study {
    /// Measures all kernels of the study.
    ///
    /// # Errors
    /// The driver's; [`Error::Internal`] if a kernel's results differ from the CPU's.
    pub fn run(&self, cuda: &Cuda) -> Result<Vec<Measurement>, Error> {
        device::with(cuda.ordinal(), |device| {
            let mut bench = Bench::new(device)?;
            match self {
                Study::Access(access) => access.run(&mut bench)?,
                Study::ReadOnly(readonly) => readonly.run(&mut bench)?,
                Study::Angles(angles) => angles.run(&mut bench)?,
                Study::Convolution(convolution) => convolution.run(&mut bench)?,
            }
            Ok(bench.measurements)
        })
    }
}

/// Times of one kernel. All kernels read one number of four bytes for each element, and write one; the rest is the
/// study's subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The study's name.
    pub study: &'static str,
    /// The kernel's name in it.
    pub kernel: &'static str,
    /// Access pattern, in the study that has several; else empty.
    pub pattern: &'static str,
    /// Threads a block.
    pub block_size: usize,
    /// Elements of the output.
    pub elements: usize,
    /// Milliseconds of a launch, by each replay of the graph.
    pub samples: Vec<f64>,
    /// Milliseconds of a launch, as the mean of a batch of launches.
    pub batch_mean: f64,
    /// Floating-point operations for a byte read from global memory, as the document counts them for its convolution.
    pub operations_per_byte: Option<f64>,
    /// Elements that were compared with the CPU's.
    pub checked: usize,
}

impl Measurement {
    /// Returns lower quartile, median and upper quartile of the samples. The quartiles are the medians of the lower and
    /// of the upper half.
    pub fn quartiles(&self) -> [f64; 3] {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let median = |sorted: &[f64]| match sorted.len() {
            0 => f64::NAN,
            count => (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0,
        };
        let count = sorted.len();
        [&sorted[..count / 2], &sorted, &sorted[count.div_ceil(2)..]].map(median)
    }

    /// Returns billions of bytes a second, counting for each element the number that must be read and the one that must
    /// be written.
    pub fn gigabytes_per_second(&self) -> f64 {
        let [_, median, _] = self.quartiles();
        (self.elements * 2 * size_of::<f32>()) as f64 / (median * 1e6)
    }
}

/// Device and stream of the measurements.
struct Bench<'a> {
    device: &'a mut Device,
    clock: Clock,
    measurements: Vec<Measurement>,
}

/// Properties of a measurement before it is made.
struct Row {
    study: &'static str,
    kernel: &'static str,
    pattern: &'static str,
    operations_per_byte: Option<f64>,
}

impl Bench<'_> {
    fn new(device: &mut Device) -> Result<Bench<'_>, Error> {
        let clock = Clock::new(&device.context, device.stream())?;
        Ok(Bench { device, clock, measurements: Vec::new() })
    }

    /// Checks a kernel, whose every launch writes all of `output`, then times it.
    fn measure<A: NoUninit, T: Element>(
        &mut self,
        row: Row,
        launch: &Launch<A>,
        output: &Array<T>,
        expected: impl Fn(usize) -> T + Sync,
    ) -> Result<(), Error> {
        let stream = self.device.stream().clone();
        output.spoil()?;
        launch.on(&stream)?;
        stream.synchronize()?;
        if let Some((index, got, wanted)) = output.first_difference(&expected)? {
            let Row { study, kernel, pattern, .. } = row;
            return Err(Error::Internal(format!(
                "{study}, {kernel} {pattern}: element {index} is {got}, and the CPU has {wanted}."
            )));
        }

        let launches = || (0..LAUNCHES).try_for_each(|_| launch.on(&stream));
        launches()?;
        let batch = self.clock.time(&launches)?;
        let graph = Graph::record(&stream, &launches)?;
        // Dropped before the graph: after an error replays may be in flight.
        let _idle = Idle::new(&stream);
        let laps = self.clock.laps(SAMPLES, &|| graph.launch())?;
        let each = |ms: f32| f64::from(ms) / LAUNCHES as f64;
        self.measurements.push(Measurement {
            study: row.study,
            kernel: row.kernel,
            pattern: row.pattern,
            block_size: launch.shape.threads(),
            elements: output.len,
            samples: laps.into_iter().map(each).collect(),
            batch_mean: each(batch),
            operations_per_byte: row.operations_per_byte,
            checked: output.len,
        });
        Ok(())
    }
}

/// A kernel, ready to be launched. Its one argument, with the arrays it points to, is of the kernel's type.
struct Launch<A> {
    function: Function,
    shape: Shape,
    argument: A,
}

impl<A: NoUninit> Launch<A> {
    /// Prepares a launch of one thread for each of `count` elements, in blocks of this size.
    fn over(
        function: &Function,
        count: usize,
        block: usize,
        shared_bytes: usize,
        argument: A,
    ) -> Result<Launch<A>, Error> {
        let shape = Shape::new([count.div_ceil(block), 1], [block, 1], shared_bytes)?;
        Ok(Launch { function: function.clone(), shape, argument })
    }

    fn on(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the kernel takes this argument. The arrays it points to are as long as it says, and wait for the
        // stream before they are freed.
        unsafe { launch(&self.function, stream.handle(), self.shape, &self.argument) }
    }
}

/// Numbers of four bytes.
trait Element: Pod + Default + Display + Send + Sync {
    fn bits(self) -> u32;
}

impl Element for f32 {
    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Element for i32 {
    fn bits(self) -> u32 {
        self as u32
    }
}

/// An array on the device. Its fields are dropped in this order: nothing is in flight when the buffer is freed.
struct Array<T> {
    idle: Idle,
    buffer: DeviceBuffer,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Array<T> {
    /// Allocates an array for work on `stream`.
    fn new(stream: &Arc<Stream>, len: usize) -> Result<Array<T>, Error> {
        let buffer = DeviceBuffer::new(stream.context(), len * size_of::<T>())?;
        Ok(Array { idle: Idle::new(stream), buffer, len, elements: PhantomData })
    }

    /// Allocates an array, each element the `value` of its index.
    fn filled(stream: &Arc<Stream>, len: usize, value: &(dyn Fn(usize) -> T + Sync)) -> Result<Array<T>, Error> {
        let array = Array::new(stream, len)?;
        let mut piece = Vec::with_capacity(len.min(PIECE));
        let workers = Workers::get().ok_or_else(no_threads)?;
        for first in (0..len).step_by(PIECE) {
            workers.install(|| (first..len.min(first + PIECE)).into_par_iter().map(value).collect_into_vec(&mut piece));
            // SAFETY: the piece ends with the array, or before. It is ordinary memory, which has been read when this
            // returns.
            unsafe { result::memcpy_htod_async(array.at(first), &piece, stream.handle()) }
                .map_err(failed("cuMemcpyHtoDAsync"))?;
        }
        stream.synchronize()?;
        Ok(array)
    }

    /// Returns the address of an element.
    fn at(&self, index: usize) -> sys::CUdeviceptr {
        self.buffer.address() + (index * size_of::<T>()) as sys::CUdeviceptr
    }

    fn address(&self) -> sys::CUdeviceptr {
        self.at(0)
    }

    /// Overwrites all elements with values that no kernel should write: -1, or a NaN.
    fn spoil(&self) -> Result<(), Error> {
        let stream = self.idle.stream();
        // SAFETY: the array has that many bytes.
        unsafe { result::memset_d8_async(self.address(), 0xFF, self.buffer.bytes(), stream.handle()) }
            .map_err(failed("cuMemsetD8Async"))
    }

    /// Compares every element with `expected` of its index, bit for bit. Returns the first that differs: its index,
    /// itself, and the expected value. No kernel may be at work on the array.
    fn first_difference(&self, expected: &(dyn Fn(usize) -> T + Sync)) -> Result<Option<(usize, T, T)>, Error> {
        let mut piece = vec![T::default(); self.len.min(PIECE)];
        let workers = Workers::get().ok_or_else(no_threads)?;
        for first in (0..self.len).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(self.len - first)];
            // SAFETY: that many elements are there, and the copy is over when this returns.
            unsafe { result::memcpy_dtoh_sync(piece, self.at(first)) }.map_err(failed("cuMemcpyDtoH"))?;
            let compare = |(i, &got): (usize, &T)| {
                let wanted = expected(first + i);
                (got.bits() != wanted.bits()).then_some((first + i, got, wanted))
            };
            let difference =
                workers.install(|| piece.par_iter().enumerate().with_min_len(1 << 10).find_map_first(compare));
            if difference.is_some() {
                return Ok(difference);
            }
        }
        Ok(None)
    }
}

fn no_threads() -> Error {
    Error::Internal("The system gives no threads to compare the results with.".into())
}

/// Returns a number between -1 and 1, determined by the index, with all digits of a single: sums of products of such
/// numbers show their order in their last bits.
fn noise(index: usize) -> f32 {
    let mixed = (index as u32).wrapping_mul(0x9E37_79B9) >> 8;
    mixed as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(samples: &[f64]) -> Measurement {
        Measurement {
            study: "",
            kernel: "",
            pattern: "",
            block_size: 32,
            elements: 1_000_000,
            samples: samples.to_vec(),
            batch_mean: 0.0,
            operations_per_byte: None,
            checked: 0,
        }
    }

    #[test]
    fn defaults_are_the_documents() {
        let access = Access::default();
        assert_eq!(
            (access.sums, access.block_size, &access.patterns[..]),
            (vec![12_800_000, 128_000], 1024, &Pattern::ALL[..])
        );
        let readonly = ReadOnly::default();
        assert_eq!((readonly.points, readonly.block_sizes[0]), (16_777_216, 32));
        assert!(readonly.block_sizes.iter().all(|size| BLOCK_SIZES.contains(size) && size % WARP == 0));
        assert_eq!(Angles::default().threads, [3200, 1 << 24]);
        assert_eq!(Convolution::default(), Convolution { size: 4096, radius: 2 });
    }

    #[test]
    fn quartiles_are_medians_of_the_halves() {
        assert_eq!(measurement(&[4.0, 1.0, 3.0, 2.0]).quartiles(), [1.5, 2.5, 3.5]);
        assert_eq!(measurement(&[5.0, 1.0, 3.0, 2.0, 4.0]).quartiles(), [1.5, 3.0, 4.5]);
        let twenty: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(measurement(&twenty).quartiles(), [5.5, 10.5, 15.5]);
    }

    #[test]
    fn a_million_elements_in_a_millisecond_are_eight_gigabytes_a_second() {
        assert_eq!(measurement(&[1.0, 1.0]).gigabytes_per_second(), 8.0);
    }

    #[test]
    fn noise_is_between_minus_one_and_one_and_not_the_same_twice() {
        let values: Vec<f32> = (0..10_000).map(noise).collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        sorted.dedup();
        assert_eq!(sorted.len(), values.len());
    }
}

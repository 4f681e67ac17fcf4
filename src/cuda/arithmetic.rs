//! Arithmetic on arrays of the device.
//!
//! Each call puts its work in the device's queue, and waits for it where it returns something to the host.

use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::{result, sys};

use super::driver::context::Stream;
use super::driver::error::failed;
use super::driver::memory::Idle;
use super::element::Element;
use super::engine::Cuda;
use super::kernels::{ArithmeticKernels, On, scratch_of};
use super::routes::array::address;
use super::runtime::device::Device;
use super::runtime::queue::{Beginning, CallBuffers, Load, Queue};
use crate::memory::{enlarge, with_room};
use crate::stencil::{
    Arithmetic, Array, Binary, Error, Expansion, Operand, Places, Reduction, Section, Source, Target, Unary,
};
use crate::watch::Watch;

/// Up to this many bytes come back by a copy on the stream itself, without staging.
const SMALL_BYTES: usize = 64 << 10;

/// What lists of places are called where there is no memory for one.
const WHAT: &str = "a list of places";

/// The work of one call, and the buffers that it uses.
struct Operation<'d, T> {
    own: CallBuffers,
    kernels: ArithmeticKernels<T>,
    queue: Arc<Queue>,
    beginning: Beginning,
    name: &'static str,
    device: &'d mut Device,
    watch: &'d Watch,
}

impl<'d, T: Element> Operation<'d, T> {
    /// Before anything of it is put on the stream; `name` is what it is, for people.
    fn begin(device: &'d mut Device, name: &'static str, watch: &'d Watch) -> Result<Operation<'d, T>, Error> {
        watch.check()?;
        let kernels = ArithmeticKernels::new(&device.modules)?;
        let queue = device.queue.clone();
        let beginning = queue.begin(&Load { name, pace: None, bytes: 0 })?;
        Ok(Operation { own: CallBuffers::new(&queue), kernels, queue, beginning, name, device, watch })
    }

    fn stream(&self) -> &Stream {
        self.queue.stream()
    }

    /// Room for `len` numbers, for this call.
    fn room_for<N>(&mut self, len: usize) -> Result<sys::CUdeviceptr, Error> {
        let too_large = || Error::OutOfMemory(format!("There is no memory for {len} elements."));
        self.own.room_for(len.checked_mul(size_of::<N>()).ok_or_else(too_large)?)
    }

    /// Has numbers of the host on the device. They are there when this returns.
    fn send<N: Pod + Send + Sync>(&mut self, input: &[N]) -> Result<sys::CUdeviceptr, Error> {
        let to = self.room_for::<N>(input.len())?;
        self.queue.wait()?;
        // SAFETY: there is room for as many, and nothing that uses it is under way after that wait.
        unsafe { self.device.slots.upload(&self.device.context, input, to, self.watch) }?;
        Ok(to)
    }

    /// Has what was computed at an address in the memory of the host. It is there when this returns.
    ///
    /// # Safety
    /// There are as many numbers.
    unsafe fn fetch(&mut self, from: sys::CUdeviceptr, output: &mut [T]) -> Result<(), Error> {
        if size_of_val(output) > SMALL_BYTES {
            self.queue.wait()?;
            // SAFETY: there is as much, and what wrote it is over.
            return unsafe { self.device.slots.download(&self.device.context, from, None, output, self.watch) };
        }
        // Whatever happens, the copy is over ahead of the output.
        let idle = Idle::new(self.queue.stream());
        // SAFETY: there is as much, and it is waited for.
        unsafe { result::memcpy_dtoh_async(output, from, idle.stream().handle()) }
            .map_err(failed("cuMemcpyDtoHAsync"))?;
        self.queue.wait()
    }

    /// Copies so many numbers on the device.
    ///
    /// # Safety
    /// There are as many at both addresses, and they are not the same.
    unsafe fn copy(&self, [from, to]: [sys::CUdeviceptr; 2], len: usize) -> Result<(), Error> {
        // SAFETY: as the caller says; all that uses them is on this stream.
        unsafe { result::memcpy_dtod_async(to, from, len * size_of::<T>(), self.stream().handle()) }
            .map_err(failed("cuMemcpyDtoDAsync"))
    }

    /// All of it is on the stream: so many elements are read, and so many written, which count.
    fn end(self, read: usize, written: usize) -> Result<(), Error> {
        let bytes = read.saturating_add(written).saturating_mul(size_of::<T>());
        self.queue.submitted(&Load { name: self.name, pace: None, bytes }, self.beginning)?;
        self.watch.count(written);
        Ok(())
    }
}

/// The address of an element.
fn at<T>(address: sys::CUdeviceptr, element: usize) -> sys::CUdeviceptr {
    address + (element * size_of::<T>()) as sys::CUdeviceptr
}

impl<T: Element> Arithmetic<T> for Cuda {
    fn unary(&self, op: Unary, from: &Array<T>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        assert_eq!(from.len(), to.len());
        self.attempt(watch, |device| {
            let addresses = [address(from, &device.context)?, address(to, &device.context)?];
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let work = Operation::<T>::begin(device, "an operation on each element", watch)?;
            // SAFETY: both arrays have as many elements; whatever else uses them is on this stream, too.
            unsafe { work.kernels.unary(work.stream().handle(), op, addresses, to.len()) }?;
            work.end(to.len(), to.len())
        })
    }

    fn binary(
        &self,
        op: Binary,
        operands: [Operand<T>; 2],
        expansion: &Expansion,
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(to.len(), expansion.elements());
        for (which, operand) in operands.iter().enumerate() {
            if let Operand::Array(array) = operand {
                assert_eq!(array.len(), expansion.elements_of(which));
            }
        }
        if let [Operand::Scalar(a), Operand::Scalar(b)] = operands {
            return self.fill(op.of(a, b), to, watch);
        }
        // One that has as many elements as the result goes along everywhere.
        let plain = operands.iter().all(|operand| match operand {
            Operand::Array(array) => array.len() == to.len(),
            Operand::Scalar(_) => true,
        });
        self.attempt(watch, |device| {
            let result = address(to, &device.context)?;
            let mut on = [On::Scalar(T::default()); 2];
            for (on, operand) in on.iter_mut().zip(&operands) {
                *on = match operand {
                    Operand::Array(array) => On::Array(address(array, &device.context)?),
                    Operand::Scalar(value) => On::Scalar(*value),
                };
            }
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let work = Operation::<T>::begin(device, "an operation on two arrays", watch)?;
            let stream = work.stream().handle();
            // SAFETY: the arrays have as many elements as the expansion says, and the call has them until the work has
            // been waited for.
            unsafe {
                if plain {
                    work.kernels.binary(stream, op, on, result, to.len())
                } else {
                    work.kernels.expanded(stream, op, on, expansion, result)
                }
            }?;
            work.end(2 * to.len(), to.len())
        })
    }

    fn advance(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let len = older.len();
        assert_eq!(step.len(), len);
        if let Some(Operand::Array(array)) = &source {
            assert_eq!(array.len(), len);
        }
        self.attempt_in_place(watch, |device, begun| {
            let [step, older] = [address(step, &device.context)?, address(older, &device.context)?];
            let source = match &source {
                None => None,
                Some(Operand::Array(array)) => Some(On::Array(address(array, &device.context)?)),
                Some(Operand::Scalar(value)) => Some(On::Scalar(*value)),
            };
            if len == 0 {
                return Ok(watch.check()?);
            }
            let work = Operation::<T>::begin(device, "a step of two time levels", watch)?;
            *begun = true;
            // SAFETY: the arrays have as many elements; whatever else uses them is on this stream, too.
            unsafe { work.kernels.advance(work.stream().handle(), step, weight, source, older, len) }?;
            work.end((2 + usize::from(matches!(source, Some(On::Array(_))))) * len, len)
        })
    }

    fn reduce(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        to: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(op.of_two(), second.is_some());
        let second = second.unwrap_or(first);
        let [inner, length, outer] = size;
        assert_eq!([first.len(), second.len()], [inner * length * outer; 2]);
        assert_eq!(to.len(), inner * outer);
        self.attempt(watch, |device| {
            let from = [address(first, &device.context)?, address(second, &device.context)?];
            if first.is_empty() {
                watch.check()?;
                to.fill(op.start());
                return Ok(());
            }
            let mut work = Operation::<T>::begin(device, "a reduction", watch)?;
            let [more, less] = scratch_of(size);
            let scratch = [work.room_for::<T>(more)?, if less > 0 { work.room_for::<T>(less)? } else { 0 }];
            // SAFETY: the arrays have as many elements, and the call has them and the scratch until the work has been
            // waited for.
            let results = unsafe { work.kernels.reduce(work.stream().handle(), op, from, size, scratch) }?;
            // SAFETY: as many results are there.
            unsafe { work.fetch(results, to) }?;
            work.end(from.len() * first.len(), 0)
        })
    }

    fn fill(&self, value: T, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        self.attempt(watch, |device| {
            let address = address(to, &device.context)?;
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let work = Operation::<T>::begin(device, "filling an array", watch)?;
            // SAFETY: the array has as many elements; whatever else uses it is on this stream, too.
            unsafe { work.kernels.fill(work.stream().handle(), value, address, to.len()) }?;
            work.end(0, to.len())
        })
    }

    fn pick(&self, from: &Array<T>, places: &Places, mut to: Target<T>, watch: &Watch) -> Result<(), Error> {
        assert_eq!(to.len(), places.len());
        assert!(places.are_within(from.len()));
        self.attempt(watch, |device| {
            let input = address(from, &device.context)?;
            let output = match &to {
                Target::Array(array) => Some(address(array, &device.context)?),
                Target::Host(_) => None,
            };
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let count = to.len();
            let mut work = Operation::<T>::begin(device, "reading by index", watch)?;
            let section = match places {
                Places::Section(section) => Some(work.kernels.places(section)),
                Places::List(_) => None,
            };
            // SAFETY: all places are in the first array, and the call has the arrays and the buffers until the work has
            // been waited for.
            unsafe {
                // Where the results are, or are to be fetched from.
                let results = match (&section, output) {
                    (Some(section), None) if section.run().is_some() => at::<T>(input, section.run().unwrap_or(0)),
                    _ => {
                        let results = output.map_or_else(|| work.room_for::<T>(count), Ok)?;
                        let list = match places {
                            Places::List(list) => work.send(list)?,
                            Places::Section(_) => 0,
                        };
                        let stream = work.stream().handle();
                        match &section {
                            None => work.kernels.pick_list(stream, list, [input, results], count),
                            Some(section) => match section.run() {
                                Some(start) => work.copy([at::<T>(input, start), results], count),
                                None => work.kernels.pick(stream, section, [input, results]),
                            },
                        }?;
                        results
                    }
                };
                if let Target::Host(output) = &mut to {
                    work.fetch(results, output)?;
                }
            }
            work.end(count, count)
        })
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        assert_eq!(from.len(), places.len());
        assert!(places.are_within(to.len()));
        let listed;
        let places = match places {
            Places::Section(section) if may_repeat(section) => {
                listed = Places::List(list_of(section)?);
                &listed
            }
            other => other,
        };
        let repeated = match places {
            Places::List(list) => last_of_each(list, to.len())?,
            Places::Section(_) => None,
        };
        self.attempt(watch, |device| {
            let output = address(to, &device.context)?;
            let input = match from {
                Source::Array(array) => Some(address(array, &device.context)?),
                Source::Host(_) => None,
            };
            if from.is_empty() {
                return Ok(watch.check()?);
            }
            let count = from.len();
            let mut work = Operation::<T>::begin(device, "writing by index", watch)?;
            let input = match from {
                Source::Host(samples) => work.send(samples)?,
                Source::Array(_) => input.unwrap_or(0),
            };
            // SAFETY: all places are in the second array, and the call has the arrays and the buffers until the work
            // has been waited for. No place comes twice: see above.
            unsafe {
                match (places, &repeated) {
                    (Places::Section(section), _) => {
                        let section = work.kernels.places(section);
                        match section.run() {
                            Some(start) => work.copy([input, at::<T>(output, start)], count),
                            None => work.kernels.put(work.stream().handle(), &section, [input, output]),
                        }
                    }
                    (Places::List(list), None) => {
                        let list = work.send(list)?;
                        work.kernels.put_list(work.stream().handle(), list, None, [input, output], count)
                    }
                    (Places::List(_), Some(Last { places, elements })) => {
                        let (list, others) = (work.send(places)?, work.send(elements)?);
                        let stream = work.stream().handle();
                        work.kernels.put_list(stream, list, Some(others), [input, output], places.len())
                    }
                }
            }?;
            work.end(count, count)
        })
    }

    fn convert(&self, from: &Array<T::Other>, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        assert_eq!(from.len(), to.len());
        self.attempt(watch, |device| {
            let addresses = [address(from, &device.context)?, address(to, &device.context)?];
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let work = Operation::<T>::begin(device, "a conversion", watch)?;
            // SAFETY: both arrays have as many elements; whatever else uses them is on this stream, too.
            unsafe { work.kernels.convert(work.stream().handle(), addresses, to.len()) }?;
            work.end(to.len(), to.len())
        })
    }
}

/// Whether a place may come twice. What is said to may not, but for patterns that nobody writes.
fn may_repeat(section: &Section) -> bool {
    let mut along: Vec<(usize, usize)> = section
        .steps
        .into_iter()
        .map(isize::unsigned_abs)
        .zip(section.size)
        .filter(|&(_, extent)| extent > 1)
        .collect();
    along.sort_unstable();
    // How far the dimensions of shorter steps reach together: a longer step must go beyond.
    let mut reach = 0_usize;
    along.into_iter().any(|(step, extent)| {
        let repeats = step <= reach;
        reach = reach.saturating_add(step.saturating_mul(extent - 1));
        repeats
    })
}

/// The places of a section one by one.
fn list_of(section: &Section) -> Result<Vec<u64>, Error> {
    let count: usize = section.size.iter().product();
    let mut list = with_room(count, WHAT)?;
    list.extend((0..count).map(|mut i| {
        let along = section.size.into_iter().zip(section.steps).map(|(extent, step)| {
            let index = i % extent;
            i /= extent;
            index as isize * step
        });
        section.start.wrapping_add_signed(along.sum()) as u64
    }));
    Ok(list)
}

/// The places of a list, each once, and which element is the last that goes there.
#[derive(Debug, PartialEq, Eq)]
struct Last {
    places: Vec<u64>,
    elements: Vec<u64>,
}

/// What is left of a list of places in an array of so many elements, if some come twice.
///
/// # Rationale
/// Of threads that write the same element, nobody knows which is the last; so the host looks. Lists are ordinarily
/// ascending, which one look tells.
fn last_of_each(list: &[u64], elements: usize) -> Result<Option<Last>, Error> {
    if list.is_sorted_by(|a, b| a < b) {
        return Ok(None);
    }
    // Which of the list are the last ones, by their numbers. A few are sorted; for many, a bit for each element of the
    // array takes less.
    let mut last = with_room(list.len(), WHAT)?;
    if list.len() < elements / 256 {
        last.extend(0..list.len() as u64);
        let place = |i: u64| list[i as usize];
        last.sort_unstable_by_key(|&i| (place(i), std::cmp::Reverse(i)));
        last.dedup_by_key(|i| place(*i));
    } else {
        let mut seen = Vec::new();
        enlarge(&mut seen, elements.div_ceil(64), WHAT)?;
        for (i, &place) in list.iter().enumerate().rev() {
            let (word, bit): (&mut u64, u64) = (&mut seen[place as usize / 64], 1 << (place % 64));
            if *word & bit == 0 {
                *word |= bit;
                last.push(i as u64);
            }
        }
    }
    if last.len() == list.len() {
        return Ok(None);
    }
    let mut places = with_room(last.len(), WHAT)?;
    places.extend(last.iter().map(|&i| list[i as usize]));
    Ok(Some(Last { places, elements: last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_go_over_a_place_twice_are_known() {
        let section = |size, steps| Section { start: 50, size, steps };
        for (size, steps, repeats) in [
            ([3, 4, 1, 1, 1], [1, 3, 0, 0, 0], false),
            ([4, 3, 1, 1, 1], [-3, 1, 0, 0, 0], false),
            ([4, 3, 1, 1, 1], [2, -1, 0, 0, 0], true),
            ([1, 3, 1, 1, 1], [0, 0, 0, 0, 0], true),
            ([0, 3, 1, 1, 1], [1, 5, 0, 0, 0], false),
        ] {
            assert_eq!(may_repeat(&section(size, steps)), repeats, "{size:?} {steps:?}");
        }
        let list = list_of(&section([2, 2, 1, 1, 1], [-3, 7, 0, 0, 0])).unwrap();
        assert_eq!(list, [50, 47, 57, 54]);
    }

    #[test]
    fn of_places_that_come_twice_the_last_counts() {
        for elements in [10, 10_000] {
            assert_eq!(last_of_each(&[], elements), Ok(None));
            assert_eq!(last_of_each(&[1, 4, 9], elements), Ok(None));
            assert_eq!(last_of_each(&[9, 1, 4], elements), Ok(None));
            let Last { places, elements: from } = last_of_each(&[3, 5, 3, 9, 5, 3], elements).unwrap().unwrap();
            let mut pairs: Vec<_> = places.into_iter().zip(from).collect();
            pairs.sort_unstable();
            assert_eq!(pairs, [(3, 5), (5, 4), (9, 3)]);
        }
    }
}

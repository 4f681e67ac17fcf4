//! Results along lines that are more than one number.

use super::queued::Queued;
use super::{Cuda, address_of};
use crate::cuda::element::Element;
use crate::cuda::kernels::{ArithmeticKernels, Family, ScanKernels, room_of_scan};
use crate::cuda::routes::array::{DeviceArray, address};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error, Extreme, Indices, Scan, Target};

impl Cuda {
    pub(super) fn extremes<T: Element>(
        &self,
        which: Extreme,
        from: &Array<T>,
        size: [usize; 3],
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<Indices, Error> {
        let [inner, length, outer] = size;
        let lines = inner * outer;
        assert_eq!([from.len(), to.len()], [lines * length, lines]);
        self.attempt(watch, |device| {
            let (input, output) = (address(from, &device.context)?, address_of(&to, &device.context)?);
            let places = DeviceArray::with_room_for::<u64>(device, lines)?;
            let found = address(&places, &device.context)?;
            if lines == 0 {
                watch.check()?;
                return Ok(Indices::new(places, length.max(1), false));
            }
            let mut work = Queued::<ScanKernels<T>>::begin(device, "a search along lines", watch)?;
            let results = output.map_or_else(|| work.room_for::<T>(lines), Ok)?;
            // SAFETY: the arrays have as many elements, and the call has them and the rooms until the work has been
            // waited for, or, of the engine's own, until all behind it on the stream is over.
            unsafe {
                if length == 0 {
                    // Places are zeros, too.
                    let plain = ArithmeticKernels::<T>::load(work.modules())?;
                    let stream = work.stream().handle();
                    plain.fill(stream, T::default(), found, lines * (size_of::<u64>() / size_of::<T>()))?;
                    plain.fill(stream, T::from_f64(f64::NAN), results, lines)?;
                } else {
                    let [more, less] = work.kernels.room_of_extremes(size);
                    let rooms = [work.room_for::<u64>(more)?, work.room_for::<u64>(less)?];
                    work.kernels.extremes(work.stream().handle(), which, size, [input, results, found], rooms)?;
                }
                if let Target::Host(output) = &mut to {
                    work.fetch(results, output)?;
                }
            }
            work.end(from.len(), 0)?;
            Ok(Indices::new(places, length.max(1), false))
        })
    }

    pub(super) fn scan<T: Element>(
        &self,
        op: Scan,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let count = size.iter().product::<usize>();
        assert_eq!([from.len(), to.len()], [count; 2]);
        self.attempt(watch, |device| {
            let addresses = [address(from, &device.context)?, address(to, &device.context)?];
            if count == 0 {
                return Ok(watch.check()?);
            }
            let mut work = Queued::<ScanKernels<T>>::begin(device, "a scan along lines", watch)?;
            let room = work.room_for::<T>(room_of_scan(size))?;
            // SAFETY: the arrays have as many elements; whatever else uses them, or the room, is on this stream, too.
            unsafe { work.kernels.scan(work.stream().handle(), op, size, addresses, room) }?;
            work.end(2 * count, count)
        })
    }

    pub(in crate::cuda) fn find_in<T: Element>(&self, from: &Array<T>, watch: &Watch) -> Result<Indices, Error> {
        self.attempt(watch, |device| {
            let (input, elements) = (address(from, &device.context)?, from.len());
            if elements == 0 {
                watch.check()?;
                return Ok(Indices::new(DeviceArray::with_room_for::<u64>(device, 0)?, 0, true));
            }
            let mut work = Queued::<ScanKernels<T>>::begin(device, "a search for places", watch)?;
            let counted = work.kernels.counts(elements);
            let counts = work.room_for::<u64>(counted)?;
            let room = work.room_for::<u64>(room_of_scan([1, counted, 1]))?;
            // SAFETY: the array has as many elements; whatever else uses it, or the rooms, is on this stream, too; and
            // there is room for as many places as were counted.
            unsafe {
                let stream = work.stream().handle();
                work.kernels.count(stream, input, elements, counts, room)?;
                let mut found = [0_u64];
                work.fetch(super::at::<u64>(counts, counted - 1), &mut found)?;
                let found = found[0] as usize;
                let places = work.array::<u64>(found)?;
                let list = address(&places, work.context())?;
                if found > 0 {
                    work.kernels.find(stream, [input, list], elements, counts)?;
                }
                work.end(2 * elements, 0)?;
                Ok(Indices::new(places, elements, true))
            }
        })
    }

    pub(in crate::cuda) fn ordinals_of<T: Element>(
        &self,
        indices: &Indices,
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let count = to.len();
        assert_eq!(indices.len(), count);
        self.attempt(watch, |device| {
            let from = address(indices.held(), &device.context)?;
            let output = address_of(&to, &device.context)?;
            if count == 0 {
                return Ok(watch.check()?);
            }
            let mut work = Queued::<ScanKernels<T>>::begin(device, "numbers of places", watch)?;
            let results = output.map_or_else(|| work.room_for::<T>(count), Ok)?;
            // SAFETY: there are as many elements; whatever else uses them is on this stream, too.
            unsafe {
                work.kernels.ordinals(work.stream().handle(), [from, results], count)?;
                if let Target::Host(output) = &mut to {
                    work.fetch(results, output)?;
                }
            }
            work.end(count, count)
        })
    }

    /// Returns the places of a list on the device.
    pub(in crate::cuda) fn list_of<T: Element>(&self, places: &[u64], watch: &Watch) -> Result<Indices, Error> {
        self.attempt(watch, |device| {
            let mut work = Queued::<ScanKernels<T>>::begin(device, "a list of places", watch)?;
            let list = work.array::<u64>(places.len())?;
            let to = address(&list, work.context())?;
            // SAFETY: there is room for as many, and nobody else knows of it.
            unsafe { work.send_to(places, to) }?;
            work.end(0, 0)?;
            let bound = places.iter().max().map_or(0, |&last| last as usize + 1);
            Ok(Indices::new(list, bound, false))
        })
    }

    pub(super) fn list_on_host<T: Element>(&self, indices: &Indices, watch: &Watch) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        memory::enlarge(&mut numbers, indices.len(), "a list of places")?;
        self.attempt(watch, |device| {
            let from = address(indices.held(), &device.context)?;
            let mut work = Queued::<ScanKernels<T>>::begin(device, "a list of places", watch)?;
            // SAFETY: there are as many.
            unsafe { work.fetch(from, &mut numbers) }?;
            work.end(0, 0)
        })?;
        Ok(numbers)
    }
}

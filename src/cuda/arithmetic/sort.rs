//! Lines in order. The kernels take lines of neighbours: others are brought together first, and put back.

use cudarc::driver::sys;

use super::Cuda;
use super::queued::Queued;
use crate::cuda::element::Element;
use crate::cuda::kernels::{ArithmeticKernels, Family, SortKernels, SortRooms, SortedLines};
use crate::cuda::routes::array::{DeviceArray, address};
use crate::platform::watch::Watch;
use crate::stencil::{Array, Error, Indices, Order, RANK, Section};

impl Cuda {
    pub(super) fn sort<T: Element>(
        &self,
        order: Order,
        from: &Array<T>,
        size: [usize; 3],
        to: &mut Array<T>,
        with_places: bool,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error> {
        let ([inner, length, outer], count) = (size, size.iter().product::<usize>());
        assert_eq!([from.len(), to.len()], [count; 2]);
        let lines = inner * outer;
        if with_places && length > u32::MAX as usize {
            return Err(Error::OutOfMemory(format!("There is no memory to sort {length} elements with their places.")));
        }
        self.attempt(watch, |device| {
            let [input, output] = [address(from, &device.context)?, address(to, &device.context)?];
            let places = with_places.then(|| DeviceArray::with_room_for::<u64>(device, count)).transpose()?;
            let listed = places.as_ref().map_or(Ok(0), |places| address(places, &device.context))?;
            let indices = places.map(|places| Indices::new(places, length.max(1), lines <= 1));
            if count == 0 {
                watch.check()?;
                return Ok(indices);
            }
            let mut work = Queued::<SortKernels<T>>::begin(device, "a sort", watch)?;
            let of = SortedLines { length, lines };
            let bytes = work.kernels.rooms(of, with_places);
            let rooms = rooms(&mut work, bytes)?;
            let stream = work.stream().handle();
            if inner == 1 {
                // SAFETY: the arrays have as many elements; whatever else uses them, or the rooms, is on this stream, too.
                unsafe { work.kernels.sort(stream, order, of, [input, output, listed], rooms) }?;
            } else {
                let plain = ArithmeticKernels::<T>::load(work.modules())?;
                // Places are moved as numbers of as many bytes.
                let of_places = ArithmeticKernels::<f64>::load(work.modules())?;
                let own = work.room_for::<T>(count)?;
                let own_places = if with_places { work.room_for::<u64>(count)? } else { 0 };
                let section = lines_together(size);
                // SAFETY: as above; the section has each place of the arrays once.
                unsafe {
                    plain.pick(stream, &plain.places(&section), [input, own])?;
                    work.kernels.sort(stream, order, of, [own, own, own_places], rooms)?;
                    plain.put(stream, &plain.places(&section), [own, output])?;
                    if with_places {
                        of_places.put(stream, &of_places.places(&section), [own_places, listed])?;
                    }
                }
            }
            work.end(16 * count, count)?;
            Ok(indices)
        })
    }
}

/// The elements of an array, line by line along the middle.
fn lines_together([inner, length, outer]: [usize; 3]) -> Section {
    let mut section = Section { start: 0, size: [1; RANK], steps: [0; RANK] };
    section.size[..3].copy_from_slice(&[length, inner, outer]);
    section.steps[..3].copy_from_slice(&[inner as isize, 1, (inner * length) as isize]);
    section
}

/// As much memory, for this call.
fn rooms<K: Family>(work: &mut Queued<K>, bytes: SortRooms<usize>) -> Result<SortRooms<sys::CUdeviceptr>, Error> {
    let mut room = |bytes: usize| if bytes > 0 { work.room_for::<u8>(bytes) } else { Ok(0) };
    let [first, second] = bytes.origins;
    Ok(SortRooms {
        values: room(bytes.values)?,
        origins: [room(first)?, room(second)?],
        counts: room(bytes.counts)?,
        scan: room(bytes.scan)?,
    })
}

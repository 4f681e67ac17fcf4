//! Arrays of the host through the device and back.
//!
//! # Rationale
//! The host's arrays are ordinary memory, which the link reads and writes slowly; page-locked memory is what it is fast with. So an array goes in
//! pieces: a thread copies a piece into a page-locked buffer, has it sent, computed and returned on a stream of its own, and copies the result
//! out. With several such *lanes* at once the link is busy both ways while processors copy. Lanes are kept between calls.
//!
//! Arrays that stay on the device for a while, those of [`Resident`](super::resident::Resident), go up and come down through the same buffers.
//!
//! What the lanes hold is bounded, whatever the array's size is, and shrinks to one tile where memory is short.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr, result, sys};
use rayon::prelude::*;

use super::device::HostContext;
use super::error::failed;
use super::memory::{DeviceBuffer, PinnedBuffer};
use crate::stencil::{Error, MAX_TAPS};
use crate::watch::Watch;
use crate::workers::Workers;

/// The most lanes that are used.
const MAX_LANES: usize = 16;

/// The bytes of output in a piece of a large array: enough that a piece's fixed costs vanish, few enough that the processor's caches hold it.
pub(super) const PIECE_BYTES: usize = 2 << 20;

/// No lane is worth waking for fewer bytes.
const MIN_PIECE_BYTES: usize = 256 << 10;

/// Up to here the device reads and writes the page-locked memory itself: a copy each way costs more than the slower access.
const MAPPED_BYTES: usize = 32 << 10;

/// Room for as many elements on either side is in every buffer, so that stencils of different widths share one.
const MIN_HALO: usize = MAX_TAPS / 2;

/// What the buffers of a device may take of its memory unless a call says otherwise, in bytes.
pub const DEFAULT_DEVICE_BYTES: usize = 256 << 20;

/// Work that can be done on any run of neighbouring outputs.
pub(super) trait Plan: Sync {
    /// Outputs are cut only at multiples of this many.
    fn tile(&self) -> usize;

    /// How many inputs at most are needed beyond an output on either side.
    fn halo(&self) -> usize;

    /// Puts on the stream what computes the outputs `piece.output` to the address `output`, from the inputs `piece.input` at `input`.
    fn launch(&self, stream: sys::CUstream, piece: &Piece, input: sys::CUdeviceptr, output: sys::CUdeviceptr) -> Result<(), Error>;
}

/// Some neighbouring outputs of an array, and the inputs they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) output: Range<usize>,
    pub(super) input: Range<usize>,
}

impl Piece {
    pub(super) fn new(output: Range<usize>, halo: usize, elements: usize) -> Piece {
        let input = output.start.saturating_sub(halo)..(output.end + halo).min(elements);
        Piece { output, input }
    }
}

/// Work on pieces that are more than neighbouring elements.
pub(super) trait Gather<T>: Sync {
    /// What is computed together.
    type Piece: Send;

    /// How many inputs and outputs go over the link for it.
    fn elements(&self, piece: &Self::Piece) -> [usize; 2];

    /// Writes as many inputs.
    fn fill(&self, piece: &Self::Piece, inputs: &mut [T]);

    /// Puts on the stream what computes the outputs, to the second address, from the inputs at the first.
    fn launch(&self, stream: sys::CUstream, piece: &Self::Piece, addresses: [sys::CUdeviceptr; 2]) -> Result<(), Error>;

    /// Copies the outputs to the parts of the host's array that they belong to.
    fn take(&self, piece: &Self::Piece, outputs: &[T], to: &mut [&mut [T]]);
}

/// How an array is cut: into pieces of so many outputs, on so many lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    lanes: usize,
    piece: usize,
}

impl Cut {
    /// For `elements` of `size` bytes. `threads` can copy at once; `budget` bounds the bytes that all lanes together hold on the device.
    fn new(elements: usize, size: usize, tile: usize, halo: usize, threads: usize, budget: usize) -> Cut {
        let whole_tiles = |elements: usize| elements.div_ceil(tile).max(1) * tile;
        let lanes = lanes_for(elements * size, threads);
        // What is sent twice, the halo, is to stay small beside what is computed.
        let piece = elements.div_ceil(lanes).min((PIECE_BYTES / size).max(8 * halo));
        let cut = Cut { lanes, piece: whole_tiles(piece) };
        cut.within(size, tile, halo, budget)
    }

    /// The same with fewer lanes, then with smaller pieces, so that it holds no more than `budget`; but never less than a tile.
    fn within(mut self, size: usize, tile: usize, halo: usize, budget: usize) -> Cut {
        self.lanes = self.lanes.min(budget / lane_bytes(self.piece, size, halo)).max(1);
        if lane_bytes(self.piece, size, halo) > budget {
            let elements = (budget / size).saturating_sub(2 * halo.max(MIN_HALO)) / 2;
            self.piece = (elements / tile).max(1) * tile;
        }
        self
    }

    /// A smaller cut to try when memory ran out; `None` when it is down to one tile.
    fn smaller(self, tile: usize) -> Option<Cut> {
        match self {
            Cut { lanes: 2.., .. } => Some(Cut { lanes: self.lanes / 2, ..self }),
            Cut { piece, .. } if piece > tile => Some(Cut { piece: (piece / 2).div_ceil(tile) * tile, ..self }),
            _ => None,
        }
    }
}

/// How many lanes are worth waking for so many bytes, where so many threads can copy at once.
pub(super) fn lanes_for(bytes: usize, threads: usize) -> usize {
    threads.min(MAX_LANES).min(bytes / MIN_PIECE_BYTES).max(1)
}

/// What a lane for such pieces holds on the device.
fn lane_bytes(piece: usize, size: usize, halo: usize) -> usize {
    (2 * piece + 2 * halo.max(MIN_HALO)) * size
}

/// A stream and the buffers that pieces go through on it.
struct Lane {
    host_input: PinnedBuffer,
    host_output: PinnedBuffer,
    /// For inputs and for outputs; made when the lane first needs them.
    device: Option<[DeviceBuffer; 2]>,
    stream: Arc<CudaStream>,
}

impl Lane {
    fn new(context: &Arc<CudaContext>, [input_bytes, output_bytes]: [usize; 2]) -> Result<Lane, Error> {
        Ok(Lane {
            host_input: PinnedBuffer::new(context, input_bytes)?,
            host_output: PinnedBuffer::new(context, output_bytes)?,
            device: None,
            stream: context.new_stream().map_err(failed("cuStreamCreate"))?,
        })
    }

    /// Whether what it has is large enough; what it has not can still be made.
    fn fits(&self, [input_bytes, output_bytes]: [usize; 2]) -> bool {
        let on_device = |[input, output]: &[DeviceBuffer; 2]| input.bytes() >= input_bytes && output.bytes() >= output_bytes;
        self.host_input.bytes() >= input_bytes && self.host_output.bytes() >= output_bytes && self.device.as_ref().is_none_or(on_device)
    }

    fn device_bytes(&self) -> usize {
        self.device.iter().flatten().map(DeviceBuffer::bytes).sum()
    }

    /// The addresses of its buffers on the device.
    fn addresses(&self) -> Result<[sys::CUdeviceptr; 2], Error> {
        let [input, output] = self.device.as_ref().ok_or_else(|| Error::Internal("A lane without buffers on the device.".into()))?;
        Ok([input.address(), output.address()])
    }

    /// One piece of so many inputs and outputs: `fill` writes the inputs, `launch` puts on the stream what computes the second address from the first,
    /// `take` gets the outputs.
    fn run<T: DeviceRepr + Copy>(
        &mut self,
        [inputs, outputs]: [usize; 2],
        fill: impl FnOnce(&mut [T]),
        launch: impl FnOnce(sys::CUstream, [sys::CUdeviceptr; 2]) -> Result<(), Error>,
        take: impl FnOnce(&[T]),
    ) -> Result<(), Error> {
        let stream = self.stream.cu_stream();
        fill(self.host_input.as_mut_slice::<T>(inputs));
        if inputs * size_of::<T>() <= MAPPED_BYTES {
            launch(stream, [self.host_input.address(), self.host_output.address()])?;
        } else {
            let [to, from] = self.addresses()?;
            // SAFETY: the buffers are as long as these slices of theirs, and nobody touches them before the stream has been waited for; where an
            // error returns early, `wait` in `Staging::share` comes before anything else.
            unsafe {
                result::memcpy_htod_async(to, self.host_input.as_mut_slice::<T>(inputs), stream).map_err(failed("cuMemcpyHtoDAsync"))?;
                launch(stream, [to, from])?;
                let results = self.host_output.as_mut_slice::<T>(outputs);
                result::memcpy_dtoh_async(results, from, stream).map_err(failed("cuMemcpyDtoHAsync"))?;
            }
        }
        self.wait()?;
        take(self.host_output.as_mut_slice(outputs));
        Ok(())
    }

    /// Some numbers of the host to the device.
    fn send<T: DeviceRepr + Copy>(&mut self, input: &[T], to: sys::CUdeviceptr) -> Result<(), Error> {
        let samples = self.host_input.as_mut_slice(input.len());
        samples.copy_from_slice(input);
        // SAFETY: the caller has room at that address for as many; as for the buffer, see `run`.
        unsafe { result::memcpy_htod_async(to, samples, self.stream.cu_stream()) }.map_err(failed("cuMemcpyHtoDAsync"))?;
        self.wait()
    }

    /// Some numbers of the device to the host.
    fn fetch<T: DeviceRepr + Copy>(&mut self, from: sys::CUdeviceptr, output: &mut [T]) -> Result<(), Error> {
        let results = self.host_output.as_mut_slice::<T>(output.len());
        // SAFETY: the caller has as many at that address; as for the buffer, see `run`.
        unsafe { result::memcpy_dtoh_async(results, from, self.stream.cu_stream()) }.map_err(failed("cuMemcpyDtoHAsync"))?;
        self.wait()?;
        output.copy_from_slice(self.host_output.as_mut_slice(output.len()));
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        unsafe { result::stream::synchronize(self.stream.cu_stream()) }.map_err(failed("cuStreamSynchronize"))
    }
}

/// The lanes of a device.
pub(super) struct Staging {
    lanes: Vec<Lane>,
    /// Buffers for arrays that stay on the device for a call, kept for the next.
    spare: Option<[DeviceBuffer; 2]>,
}

impl Staging {
    pub(super) fn new() -> Staging {
        Staging { lanes: Vec::new(), spare: None }
    }

    /// Computes `output` from `input`, of as many elements, by `plan`. At most `budget` bytes of device memory are held, if a tile fits in it.
    ///
    /// Each output is counted in `watch` when it is there.
    pub(super) fn stream<T: DeviceRepr + Copy + Send + Sync>(
        &mut self,
        context: &Arc<CudaContext>,
        plan: &dyn Plan,
        input: &[T],
        output: &mut [T],
        budget: usize,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(input.len(), output.len());
        let elements = input.len();
        if elements == 0 {
            return Ok(());
        }
        let halo = plan.halo();
        let cut = Cut::new(elements, size_of::<T>(), plan.tile(), halo, Workers::count(), budget);
        let cut = self.prepare(context, cut, size_of::<T>(), plan.tile(), halo, budget)?;
        let pieces = output.chunks_mut(cut.piece).enumerate().map(|(i, output)| {
            let start = i * cut.piece;
            (Piece::new(start..start + output.len(), halo, elements), output)
        });
        self.share(context, cut.lanes, pieces, watch, |lane, (piece, output)| {
            let samples = &input[piece.input.clone()];
            lane.run(
                [samples.len(), output.len()],
                |inputs| inputs.copy_from_slice(samples),
                |stream, [input, output]| plan.launch(stream, &piece, input, output),
                |outputs| output.copy_from_slice(outputs),
            )?;
            watch.count(output.len());
            Ok(())
        })
    }

    /// Sees that there are lanes for pieces of so many bytes of input and of output: as many as wished, or as the budget and memory give, but one.
    pub(super) fn prepare_lanes(
        &mut self,
        context: &Arc<CudaContext>,
        lanes: usize,
        bytes: [usize; 2],
        budget: usize,
    ) -> Result<usize, Error> {
        let lanes = lanes.min(MAX_LANES).min(budget / (bytes[0] + bytes[1])).max(1);
        match self.grow(context, lanes, bytes, budget, false) {
            // Once more, with buffers that are no larger than they must be, and without what is only kept.
            Err(Error::OutOfMemory(_)) => {
                self.release();
                self.grow(context, lanes, bytes, budget, true)
            }
            result => result,
        }
    }

    /// Has the first `lanes` lanes, for which there was [room](Staging::prepare_lanes) made, compute pieces that are gathered from all over an array, each
    /// to some parts of the output. Each output is counted in `watch` when it is there.
    pub(super) fn gather<'a, T: DeviceRepr + Copy + Send + 'a, G: Gather<T>>(
        &mut self,
        context: &Arc<CudaContext>,
        lanes: usize,
        gather: &G,
        pieces: impl Iterator<Item = (G::Piece, Vec<&'a mut [T]>)> + Send,
        watch: &Watch,
    ) -> Result<(), Error> {
        self.share(context, lanes, pieces, watch, |lane, (piece, mut to)| {
            lane.run(
                gather.elements(&piece),
                |inputs| gather.fill(&piece, inputs),
                |stream, addresses| gather.launch(stream, &piece, addresses),
                |outputs| gather.take(&piece, outputs, &mut to),
            )?;
            watch.count(to.iter().map(|to| to.len()).sum());
            Ok(())
        })
    }

    /// Copies `input` to the address `to` on the device, by all lanes at once. It is there when this returns.
    ///
    /// # Safety
    /// There is room for it, and nothing that uses it is under way.
    pub(super) unsafe fn upload<T: DeviceRepr + Copy + Send + Sync>(
        &mut self,
        context: &Arc<CudaContext>,
        input: &[T],
        to: sys::CUdeviceptr,
        watch: &Watch,
    ) -> Result<(), Error> {
        let cut = self.prepare_transfer(context, input.len(), size_of::<T>())?;
        let pieces = input.chunks(cut.piece).enumerate();
        let place = |i: usize| to + (i * cut.piece * size_of::<T>()) as sys::CUdeviceptr;
        self.share(context, cut.lanes, pieces, watch, |lane, (i, input)| lane.send(input, place(i)))
    }

    /// Copies what is at the address `from` on the device to `output`, by all lanes at once.
    ///
    /// # Safety
    /// There is as much, and nothing that writes it is under way.
    pub(super) unsafe fn download<T: DeviceRepr + Copy + Send + Sync>(
        &mut self,
        context: &Arc<CudaContext>,
        from: sys::CUdeviceptr,
        output: &mut [T],
        watch: &Watch,
    ) -> Result<(), Error> {
        let cut = self.prepare_transfer(context, output.len(), size_of::<T>())?;
        let pieces = output.chunks_mut(cut.piece).enumerate();
        let place = |i: usize| from + (i * cut.piece * size_of::<T>()) as sys::CUdeviceptr;
        self.share(context, cut.lanes, pieces, watch, |lane, (i, output)| lane.fetch(place(i), output))
    }

    /// Has the first `lanes` lanes do the work on all pieces, each taking the next when it is done with one. Nothing is under way when this returns, also
    /// with an error, or when the watch has said stop.
    fn share<P: Send>(
        &mut self,
        context: &Arc<CudaContext>,
        lanes: usize,
        pieces: impl Iterator<Item = P> + Send,
        watch: &Watch,
        work: impl Fn(&mut Lane, P) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let pool = if lanes > 1 { Workers::get() } else { None };
        let lanes = &mut self.lanes[..lanes];
        let result = match pool {
            // Nobody is woken for what one lane does, and the context is current on this thread.
            None => pieces.into_iter().try_for_each(|piece| {
                watch.check()?;
                work(&mut lanes[0], piece)
            }),
            Some(pool) => {
                let pieces = Mutex::new(pieces);
                let failed_already = AtomicBool::new(false);
                let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
                pool.install(|| {
                    lanes.par_iter_mut().with_max_len(1).try_for_each(|lane| {
                        let _others = HostContext::save()?;
                        context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
                        while let Some(piece) = next().filter(|_| !failed_already.load(Ordering::Relaxed)) {
                            let result = watch.check().map_err(Error::from).and_then(|()| work(lane, piece));
                            result.inspect_err(|_| failed_already.store(true, Ordering::Relaxed))?;
                        }
                        Ok(())
                    })
                })
            }
        };
        if result.is_err() {
            // Nothing may be under way when the buffers are used again or freed. What goes wrong here went wrong before.
            for lane in &self.lanes {
                let _ = lane.wait();
            }
        }
        result
    }

    /// Gives up the buffers, and says whether there were any.
    pub(super) fn release(&mut self) -> bool {
        let any = !self.lanes.is_empty() || self.spare.is_some();
        self.lanes.clear();
        self.spare = None;
        any
    }

    /// The bytes that the lanes hold on the device.
    pub(super) fn device_bytes(&self) -> usize {
        self.lanes.iter().map(Lane::device_bytes).sum()
    }

    /// Gives up what the lanes hold on the device. They make it again when they need it.
    pub(super) fn release_device(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.device = None);
    }

    /// The buffers that were [kept](Staging::keep), if any.
    pub(super) fn take_spare(&mut self) -> Option<[DeviceBuffer; 2]> {
        self.spare.take()
    }

    /// Keeps a call's own buffers for the next call, unless that is more than `budget` bytes together with what the lanes hold.
    pub(super) fn keep(&mut self, buffers: [DeviceBuffer; 2], budget: usize) {
        if buffers.iter().map(DeviceBuffer::bytes).sum::<usize>() + self.device_bytes() <= budget {
            self.spare = Some(buffers);
        }
    }

    /// Sees that there are lanes for `cut`, or for a smaller one where memory is short.
    fn prepare(
        &mut self,
        context: &Arc<CudaContext>,
        mut cut: Cut,
        size: usize,
        tile: usize,
        halo: usize,
        budget: usize,
    ) -> Result<Cut, Error> {
        let mut short = false;
        loop {
            let bytes = [(cut.piece + 2 * halo.max(MIN_HALO)) * size, cut.piece * size];
            match self.grow(context, cut.lanes, bytes, budget, short) {
                Ok(lanes) => return Ok(Cut { lanes, ..cut }),
                // Nobody needs what is only kept.
                Err(Error::OutOfMemory(_)) if self.spare.take().is_some() => {}
                Err(Error::OutOfMemory(text)) => {
                    let smallest = lane_bytes(cut.piece, size, halo);
                    let advice = || Error::OutOfMemory(format!("No memory for the smallest of buffers, {smallest} bytes. {text}"));
                    cut = cut.smaller(tile).ok_or_else(advice)?;
                    short = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes so many lanes for pieces of so many bytes of input and of output, within the budget, and says how many there are: fewer than wished where
    /// neither budget nor memory gives more, one at the least. With memory short, buffers are no larger than they must be.
    fn grow(&mut self, context: &Arc<CudaContext>, lanes: usize, bytes: [usize; 2], budget: usize, short: bool) -> Result<usize, Error> {
        // Rounded up, so that arrays which grow a little from call to call find a buffer; but not beyond what all lanes together may hold.
        let mut room = bytes.map(rounded);
        if short || lanes * (room[0] + room[1]) > budget {
            room = bytes;
        }
        let room_bytes = room[0] + room[1];
        let all_fit = self.lanes.iter().take(lanes).all(|lane| lane.fits(bytes));
        // One tile is always allowed, whatever the budget.
        if !all_fit || self.device_bytes() > budget.max(room_bytes) {
            self.lanes.clear();
        }
        if self.spare.as_ref().is_some_and(|spare| spare[0].bytes() + spare[1].bytes() + lanes * room_bytes + self.device_bytes() > budget)
        {
            self.spare = None;
        }
        for made in 0..lanes {
            if self.lanes.get(made).is_some_and(|lane| lane.device.is_some()) {
                continue;
            }
            if made > 0 && self.device_bytes() + room_bytes > budget {
                return Ok(made);
            }
            match self.make_lane(context, made, room) {
                Ok(()) => {}
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if made > 0 => return Ok(made),
                Err(error) => return Err(error),
            }
        }
        Ok(lanes)
    }

    /// Makes the lane `number`, which is one of those there are or the next, with its buffers on the device.
    fn make_lane(&mut self, context: &Arc<CudaContext>, number: usize, room: [usize; 2]) -> Result<(), Error> {
        if number == self.lanes.len() {
            self.lanes.push(Lane::new(context, room)?);
        }
        self.lanes[number].device = Some([DeviceBuffer::new(context, room[0])?, DeviceBuffer::new(context, room[1])?]);
        Ok(())
    }

    /// Sees that there are lanes that can copy so many elements of so many bytes, with whatever they may have on the device.
    fn prepare_transfer(&mut self, context: &Arc<CudaContext>, elements: usize, size: usize) -> Result<Cut, Error> {
        let cut = Cut::new(elements, size, 1, 0, Workers::count(), usize::MAX);
        let bytes = cut.piece * size;
        let on_host = |lane: &Lane| lane.host_input.bytes() >= bytes && lane.host_output.bytes() >= bytes;
        if !self.lanes.iter().take(cut.lanes).all(on_host) {
            self.lanes.clear();
        }
        while self.lanes.len() < cut.lanes {
            match Lane::new(context, [rounded(bytes); 2]) {
                Ok(lane) => self.lanes.push(lane),
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if !self.lanes.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Cut { lanes: self.lanes.len().min(cut.lanes), ..cut })
    }
}

/// Copies an array of the host, by all processors where it is large.
pub(super) fn copy<T: Copy + Send + Sync>(input: &[T], output: &mut [T], watch: &Watch) -> Result<(), Error> {
    assert_eq!(input.len(), output.len());
    let piece = (PIECE_BYTES / size_of::<T>()).max(1);
    let pool = if input.len() > piece { Workers::get() } else { None };
    let Some(pool) = pool else {
        output.copy_from_slice(input);
        return Ok(());
    };
    pool.install(|| {
        input.par_chunks(piece).zip(output.par_chunks_mut(piece)).try_for_each(|(input, output)| {
            watch.check()?;
            output.copy_from_slice(input);
            Ok(())
        })
    })
}

/// The size of buffer that is made where this many bytes are needed.
fn rounded(bytes: usize) -> usize {
    if bytes < MIN_PIECE_BYTES { bytes.next_power_of_two().max(MAPPED_BYTES) } else { bytes.next_multiple_of(MIN_PIECE_BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: usize = 640;
    const SIZE: usize = 8;

    fn cut(elements: usize, threads: usize, budget: usize) -> Cut {
        Cut::new(elements, SIZE, TILE, 10, threads, budget)
    }

    #[test]
    fn small_arrays_take_one_lane_and_large_ones_all() {
        assert_eq!(cut(1, 16, DEFAULT_DEVICE_BYTES), Cut { lanes: 1, piece: TILE });
        assert_eq!(cut(10_000, 16, DEFAULT_DEVICE_BYTES).lanes, 1);
        let large = cut(100_000_000, 16, DEFAULT_DEVICE_BYTES);
        assert_eq!(large.lanes, 16);
        assert!(large.piece * SIZE >= PIECE_BYTES && large.piece * SIZE < PIECE_BYTES + TILE * SIZE);
        assert_eq!(cut(100_000_000, 2, DEFAULT_DEVICE_BYTES).lanes, 2);
    }

    #[test]
    fn a_cut_stays_within_its_budget_down_to_one_tile() {
        for budget in (0..200).map(|i| i * 7919).chain([1 << 24, 1 << 26, DEFAULT_DEVICE_BYTES]) {
            for elements in [1, 639, 640, 641, 65_536, 1_000_000, 30_000_000] {
                for threads in [1, 2, 16, 64] {
                    let cut = cut(elements, threads, budget);
                    assert!(cut.lanes >= 1 && cut.piece >= TILE && cut.piece.is_multiple_of(TILE));
                    let held = cut.lanes * lane_bytes(cut.piece, SIZE, 10);
                    assert!(held <= budget || (cut.lanes == 1 && cut.piece == TILE), "{cut:?} holds {held} of {budget}");
                }
            }
        }
    }

    #[test]
    fn a_cut_shrinks_to_one_tile_and_no_further() {
        let mut cut = cut(100_000_000, 16, DEFAULT_DEVICE_BYTES);
        let mut steps = 0;
        while let Some(smaller) = cut.smaller(TILE) {
            assert!(smaller.lanes * smaller.piece < cut.lanes * cut.piece && smaller.piece.is_multiple_of(TILE));
            cut = smaller;
            steps += 1;
        }
        assert_eq!(cut, Cut { lanes: 1, piece: TILE });
        assert!(steps > 8);
    }

    #[test]
    fn a_piece_has_its_halo_where_the_array_has_it() {
        assert_eq!(Piece::new(0..640, 10, 2000).input, 0..650);
        assert_eq!(Piece::new(640..1280, 10, 2000).input, 630..1290);
        assert_eq!(Piece::new(1280..1995, 10, 2000).input, 1270..2000);
        assert_eq!(Piece::new(0..5, 10, 5).input, 0..5);
    }
}

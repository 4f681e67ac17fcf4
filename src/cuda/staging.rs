//! Arrays of the host through the device and back.
//!
//! # Rationale
//! The host's arrays are ordinary memory, which the link reads and writes slowly; page-locked memory is what it is fast with. So an array goes in
//! pieces: a thread copies a piece into a page-locked buffer, has it sent, computed and returned on a stream of its own, and copies the result
//! out. With several such *lanes* at once the link is busy both ways while processors copy. Lanes are kept between calls.
//!
//! What the lanes hold is bounded, whatever the array's size is, and shrinks to one tile where memory is short.

use std::collections::VecDeque;
use std::ops::Range;
use std::slice::ChunksMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, DeviceRepr, result, sys};
use rayon::Scope;

use super::device::HostContext;
use super::error::failed;
use super::memory::{DeviceBuffer, PinnedBuffer};
use crate::stencil::{Error, MAX_TAPS};
use crate::workers::Workers;

/// The most lanes that are used. As many as 16 threads keep busy; fewer threads have two each, so that one is copied for while the device works on the
/// other. (10^8 doubles, 11 taps, on an H200's host: 133 ms with 2 threads and as many lanes, 128 with 4 lanes; 78 and 66 with 4 threads; 29 with 16
/// of each, 32 with 32 lanes.)
const MAX_LANES: usize = 16;

/// The bytes of output in a piece of a large array: enough that a piece's fixed costs vanish, few enough that the processor's caches hold it.
const PIECE_BYTES: usize = 2 << 20;

/// No lane is worth waking for fewer bytes.
const MIN_PIECE_BYTES: usize = 256 << 10;

/// Up to here the device reads and writes the page-locked memory itself: a copy each way costs more than the slower access (10^4 doubles: 24 us instead
/// of 37).
const MAPPED_BYTES: usize = 256 << 10;

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
        let lanes = (2 * threads).min(MAX_LANES).min(elements * size / MIN_PIECE_BYTES).max(1);
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

/// What a lane for such pieces holds on the device.
fn lane_bytes(piece: usize, size: usize, halo: usize) -> usize {
    (2 * piece + 2 * halo.max(MIN_HALO)) * size
}

/// A stream and the buffers that pieces go through on it.
struct Lane {
    host_input: PinnedBuffer,
    host_output: PinnedBuffer,
    device_input: DeviceBuffer,
    device_output: DeviceBuffer,
    stream: Arc<CudaStream>,
}

impl Lane {
    fn new(context: &Arc<CudaContext>, input_bytes: usize, output_bytes: usize) -> Result<Lane, Error> {
        Ok(Lane {
            host_input: PinnedBuffer::new(context, input_bytes)?,
            host_output: PinnedBuffer::new(context, output_bytes)?,
            device_input: DeviceBuffer::new(context, input_bytes)?,
            device_output: DeviceBuffer::new(context, output_bytes)?,
            stream: context.new_stream().map_err(failed("cuStreamCreate"))?,
        })
    }

    fn fits(&self, input_bytes: usize, output_bytes: usize) -> bool {
        self.host_input.bytes() >= input_bytes && self.host_output.bytes() >= output_bytes
    }

    fn device_bytes(&self) -> usize {
        self.device_input.bytes() + self.device_output.bytes()
    }

    /// Sets a piece going: from the host's input to this lane's own memory, where [`Lane::finish`] fetches `outputs` results.
    fn start<T: DeviceRepr + Copy>(&mut self, plan: &dyn Plan, piece: &Piece, input: &[T]) -> Result<(), Error> {
        let (stream, outputs) = (self.stream.cu_stream(), piece.output.len());
        let samples = &input[piece.input.clone()];
        self.host_input.as_mut_slice(samples.len()).copy_from_slice(samples);
        if size_of_val(samples) <= MAPPED_BYTES {
            return plan.launch(stream, piece, self.host_input.address(), self.host_output.address());
        }
        let (to, from) = (self.device_input.address(), self.device_output.address());
        // SAFETY: the buffers are as long as these slices of theirs, and nobody touches them before the stream has been waited for; where an
        // error returns early, `wait` in `Staging::stream` comes before anything else.
        unsafe {
            result::memcpy_htod_async(to, self.host_input.as_mut_slice::<T>(samples.len()), stream).map_err(failed("cuMemcpyHtoDAsync"))?;
            plan.launch(stream, piece, to, from)?;
            let results = self.host_output.as_mut_slice::<T>(outputs);
            result::memcpy_dtoh_async(results, from, stream).map_err(failed("cuMemcpyDtoHAsync"))
        }
    }

    /// Waits for the piece that was set going, and copies its results to the host's output.
    fn finish<T: DeviceRepr + Copy>(&mut self, output: &mut [T]) -> Result<(), Error> {
        self.wait()?;
        output.copy_from_slice(self.host_output.as_mut_slice(output.len()));
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        // SAFETY: the stream is open.
        unsafe { result::stream::synchronize(self.stream.cu_stream()) }.map_err(failed("cuStreamSynchronize"))
    }
}

/// Has `pieces` computed on `lanes` in turn: while the device works on some, this thread copies for another.
fn take_turns<'a, T: DeviceRepr + Copy + 'a>(
    lanes: &mut [Lane],
    pieces: impl Iterator<Item = (Piece, &'a mut [T])>,
    plan: &dyn Plan,
    input: &[T],
) -> Result<(), Error> {
    // What each lane is at work on: the oldest is the next in turn.
    let mut under_way: VecDeque<&mut [T]> = VecDeque::with_capacity(lanes.len());
    let (count, mut next) = (lanes.len(), 0);
    for (piece, output) in pieces {
        let lane = &mut lanes[next % count];
        if under_way.len() == count {
            lane.finish(under_way.pop_front().expect("all lanes are at work"))?;
        }
        lane.start(plan, &piece, input)?;
        under_way.push_back(output);
        next += 1;
    }
    let first = next - under_way.len();
    under_way.into_iter().enumerate().try_for_each(|(i, output)| lanes[(first + i) % count].finish(output))
}

/// Threads that share out lanes and pieces among themselves.
///
/// The thread that was called begins at once, and each that has begun calls two more, as long as there is something left to do: to wake a thread
/// takes about as long as a piece.
struct Team<'a, 'l, P> {
    /// What each thread is to work on.
    lanes: Mutex<ChunksMut<'l, Lane>>,
    pieces: Mutex<P>,
    /// The first error.
    outcome: Mutex<Result<(), Error>>,
    context: &'a Arc<CudaContext>,
}

impl<I, P: ExactSizeIterator<Item = I> + Send> Team<'_, '_, P> {
    fn work<'s>(
        &'s self,
        scope: &Scope<'s>,
        turns: impl Fn(&mut [Lane], &mut dyn Iterator<Item = I>) -> Result<(), Error> + Copy + Send + Sync + 's,
    ) {
        let Some(lanes) = lock(&self.lanes).next() else {
            return;
        };
        for _ in 0..lock(&self.lanes).len().min(lock(&self.pieces).len()).min(2) {
            scope.spawn(move |scope| self.work(scope, turns));
        }
        let mut run = || {
            let _others = HostContext::save()?;
            self.context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))?;
            // After an error nobody takes another piece.
            turns(lanes, &mut std::iter::from_fn(|| lock(&self.outcome).is_ok().then(|| lock(&self.pieces).next()).flatten()))
        };
        if let Err(error) = run() {
            let mut outcome = lock(&self.outcome);
            if outcome.is_ok() {
                *outcome = Err(error);
            }
        }
    }
}

/// A panic elsewhere is raised again when all threads are done; until then the work goes on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lanes of a device.
pub(super) struct Staging {
    lanes: Vec<Lane>,
}

impl Staging {
    pub(super) fn new() -> Staging {
        Staging { lanes: Vec::new() }
    }

    /// Computes `output` from `input`, of as many elements, by `plan`. At most `budget` bytes of device memory are held, if a tile fits in it.
    pub(super) fn stream<T: DeviceRepr + Copy + Send + Sync>(
        &mut self,
        context: &Arc<CudaContext>,
        plan: &dyn Plan,
        input: &[T],
        output: &mut [T],
        budget: usize,
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
        // Where each lane has but one piece, two lanes to a thread: to wake as many again costs more than they save.
        let threads = if elements > cut.lanes * cut.piece { cut.lanes } else { cut.lanes.div_ceil(2) }.min(Workers::count());
        let pool = if threads > 1 { Workers::get() } else { None };
        let lanes = &mut self.lanes[..cut.lanes];
        let result = match pool {
            // Nobody is woken for what one thread does.
            None => take_turns(lanes, pieces, plan, input),
            Some(pool) => {
                let team = Team {
                    lanes: Mutex::new(lanes.chunks_mut(cut.lanes.div_ceil(threads))),
                    pieces: Mutex::new(pieces),
                    outcome: Mutex::new(Ok(())),
                    context,
                };
                pool.in_place_scope(|scope| team.work(scope, |lanes, pieces| take_turns(lanes, pieces, plan, input)));
                team.outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
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
        let any = !self.lanes.is_empty();
        self.lanes.clear();
        any
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
            match self.grow(context, cut, size, halo, budget, short) {
                Ok(lanes) => return Ok(Cut { lanes, ..cut }),
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

    /// Makes lanes for `cut`, within the budget, and says how many there are: fewer than wished where neither budget nor memory gives more, one at the
    /// least. With memory short, buffers are no larger than they must be.
    fn grow(&mut self, context: &Arc<CudaContext>, cut: Cut, size: usize, halo: usize, budget: usize, short: bool) -> Result<usize, Error> {
        let (input_bytes, output_bytes) = ((cut.piece + 2 * halo.max(MIN_HALO)) * size, cut.piece * size);
        // Rounded up, so that arrays which grow a little from call to call find a buffer; but not beyond what all lanes together may hold.
        let (mut input_room, mut output_room) = (rounded(input_bytes), rounded(output_bytes));
        if short || cut.lanes * (input_room + output_room) > budget {
            (input_room, output_room) = (input_bytes, output_bytes);
        }
        let held = |lanes: &[Lane]| lanes.iter().map(Lane::device_bytes).sum::<usize>();
        let all_fit = self.lanes.iter().take(cut.lanes).all(|lane| lane.fits(input_bytes, output_bytes));
        // One tile is always allowed, whatever the budget.
        if !all_fit || held(&self.lanes) > budget.max(input_room + output_room) {
            self.lanes.clear();
        }
        while self.lanes.len() < cut.lanes {
            if !self.lanes.is_empty() && held(&self.lanes) + input_room + output_room > budget {
                break;
            }
            match Lane::new(context, input_room, output_room) {
                Ok(lane) => self.lanes.push(lane),
                // Those that there are do the work.
                Err(Error::OutOfMemory(_)) if !self.lanes.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.lanes.len().min(cut.lanes))
    }
}

/// The size of buffer that is made where this many bytes are needed.
fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(MIN_PIECE_BYTES)
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
        assert_eq!(cut(100_000_000, 2, DEFAULT_DEVICE_BYTES).lanes, 4);
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

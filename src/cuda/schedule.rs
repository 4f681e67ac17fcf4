//! The way of the data: which route, and the one loop that sweeps.
//!
//! # Routes
//! - *Streamed*: an array of the host goes in tiles through the staging slots, each swept as often as its halo allows.
//!   What the device holds is bounded. If that is not all sweeps, there are rounds, each through the host's memory.
//! - *Resident*: the array lies on the device as a whole while it is swept, and so does the room that a sweep writes
//!   to. It came there before, or is copied there.
//! - *Deep*: an image or a volume that would be resident, but for which there is no room, goes in tiles that are as large
//!   as there is room for. Each lies on the device like an array of its own while it is swept as often as its halo
//!   allows.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{result, sys};

use super::Element;
use super::context::{Context, Event, Stream};
use super::cut::{Cut, Size, Tile};
use super::device::{Device, HostContext};
use super::error::failed;
use super::kernels::{Area, Kernel, LevelsKernel, Plan};
use super::memory::{self, Budget, DeviceBuffer};
use super::module::Modules;
use super::pace::{Schedule, UNIT};
use super::queue::{Load, Own, Queue};
use super::slots::{Job, PIECE_BYTES, Slot};
use crate::host::{self, SharedOutput};
use crate::stencil::{Array, Error, Handle, Held, Real, Sides, Source, Target};
use crate::watch::Watch;

/// From so many sweeps on, the device is what is waited for: tiles are larger, and an array that is one tile stays one.
const MANY_SWEEPS: usize = 8;

/// The bytes of a tile then.
pub(super) const SWEPT_BYTES: usize = 4 << 20;

/// Up to so many bytes go to the device on the queue itself, without staging, and nobody waits for them.
const SMALL_BYTES: usize = 64 << 10;

/// The samples of the smallest tile that memory is saved with, if one output does not need more.
const LEAST_SAMPLES: usize = 1024;

/// Sweeps over an array of this size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<T> {
    pub(super) size: Size,
    /// How many samples on either side an output needs, along each dimension.
    pub(super) radius: Size,
    pub(super) sides: Sides<T>,
    pub(super) sweeps: usize,
}

impl<T> Work<T> {
    pub(super) fn elements(&self) -> usize {
        self.size.iter().product()
    }
}

/// What the engine holds of an array.
#[derive(Debug)]
pub(super) enum DeviceArray {
    /// A buffer of the queue's. There is one until the array is dropped.
    Own { buffer: Option<DeviceBuffer>, queue: Arc<Queue> },
    /// Memory of somebody else's, in the primary context of the device with this ordinal: it is never freed, never kept
    /// and never exchanged, and nothing that uses it is under way when a call ends.
    Foreign { address: sys::CUdeviceptr, ordinal: usize },
    /// Memory of another process's, open in this one.
    Imported { address: sys::CUdeviceptr, queue: Arc<Queue> },
}

impl Held for DeviceArray {
    fn place(&self) -> String {
        format!("the memory of device {}", self.ordinal() + 1)
    }

    fn settle(&mut self) -> Option<Result<u64, Error>> {
        Some(match self {
            DeviceArray::Own { buffer: Some(buffer), queue } => {
                let _host = HostContext::save();
                let context = queue.context();
                context
                    .bind()
                    .and_then(|()| queue.wait())
                    .map_err(|error| queue.blame(error))
                    .map(|()| buffer.address())
            }
            DeviceArray::Own { buffer: None, .. } => Err(Error::Internal("An array without its buffer.".into())),
            // Somebody else's work may be under way there.
            DeviceArray::Foreign { .. } | DeviceArray::Imported { .. } => {
                Err(Error::Internal("An array that is not the engine's own.".into()))
            }
        })
    }

    fn export(&mut self) -> Option<Result<Handle, Error>> {
        let address = self.settle()?;
        Some(address.and_then(|address| {
            let _entered = self.enter()?;
            memory::handle_of(address)
        }))
    }

    fn enter(&self) -> Result<Box<dyn Any>, Error> {
        let host = HostContext::save()?;
        if let DeviceArray::Own { queue, .. } = self {
            queue.context().bind()?;
        }
        Ok(Box::new(host))
    }
}

/// Arrays go at any time, on any thread: the context that is current there stays so.
impl Drop for DeviceArray {
    fn drop(&mut self) {
        // In a forked process not even the queue's lock may be touched.
        match self {
            DeviceArray::Own { buffer, queue } => {
                if let Some(buffer) = buffer.take().filter(|_| queue.context().is_ours()) {
                    let _host = HostContext::save();
                    queue.give_up(buffer);
                }
            }
            DeviceArray::Imported { address, queue } if queue.context().is_ours() => {
                let _host = HostContext::save();
                // What goes wrong here went wrong before, and that process answers for the memory.
                let _ = queue.context().bind();
                queue.finish();
                memory::close(*address);
            }
            DeviceArray::Imported { .. } | DeviceArray::Foreign { .. } => {}
        }
    }
}

impl DeviceArray {
    /// The ordinal of its device.
    pub(super) fn ordinal(&self) -> usize {
        match self {
            DeviceArray::Own { queue, .. } | DeviceArray::Imported { queue, .. } => queue.context().ordinal(),
            DeviceArray::Foreign { ordinal, .. } => *ordinal,
        }
    }

    /// Room for so many elements.
    pub(super) fn with_room_for<T: Real>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| too_large(len))?;
        // At least a byte: there is no buffer of none.
        let buffer = device.queue.take_for_array(bytes.max(1))?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// The same in whole blocks of the driver's. It puts smaller buffers into one block, and what another process opens is
    /// the block: of two buffers in one it would get the same address.
    pub(super) fn with_room_alone<T: Real>(device: &mut Device, len: usize) -> Result<Array<T>, Error> {
        let bytes =
            len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.max(1).checked_next_multiple_of(BLOCK_BYTES));
        let buffer = device.queue.take_for_array(bytes.ok_or_else(|| too_large(len))?)?;
        Ok(Array::new(DeviceArray::Own { buffer: Some(buffer), queue: device.queue.clone() }, len))
    }

    /// Another process's array of so many elements, which that has exported.
    pub(super) fn of_another_process<T: Real>(
        device: &mut Device,
        handle: &Handle,
        len: usize,
    ) -> Result<Array<T>, Error> {
        let address = memory::open(handle)?;
        Ok(Array::new(DeviceArray::Imported { address, queue: device.queue.clone() }, len))
    }

    /// Where it lies, for a call on the device of this context.
    ///
    /// # Errors
    /// [`Error::Foreign`] for another device; what broke the device that it lay on.
    fn address(&self, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
        let (address, here) = match self {
            DeviceArray::Own { buffer, queue } => {
                let buffer = buffer.as_ref().ok_or_else(|| Error::Internal("An array without its buffer.".into()))?;
                queue.context().alive()?;
                (buffer.address(), Arc::ptr_eq(queue.context(), context))
            }
            DeviceArray::Imported { address, queue } => {
                queue.context().alive()?;
                (*address, Arc::ptr_eq(queue.context(), context))
            }
            // Whatever becomes of a context of ours, the memory's owner answers for its being there.
            DeviceArray::Foreign { address, ordinal } => (*address, *ordinal == context.ordinal()),
        };
        if here { Ok(address) } else { Err(Error::Foreign(self.place())) }
    }
}

/// The bytes of the blocks in which the driver takes a device's memory.
const BLOCK_BYTES: usize = 2 << 20;

fn too_large(len: usize) -> Error {
    Error::OutOfMemory(format!("There is no memory for {len} elements."))
}

/// Where an array lies, for a call on the device of this context.
pub(super) fn address<T>(array: &Array<T>, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
    array.held::<DeviceArray>()?.address(context)
}

/// Whether memory of somebody else's is read or written.
fn borrows<T>(from: &Source<T>, to: &Target<T>) -> bool {
    matches!(from, Source::Array(array) if is_foreign(array)) || matches!(to, Target::Array(array) if is_foreign(array))
}

/// Whether an array is somebody else's.
fn is_foreign<T>(array: &Array<T>) -> bool {
    matches!(array.held(), Ok(DeviceArray::Foreign { .. }))
}

/// Does `work` on a device. Where that uses memory of somebody else's, it is over when this returns, whatever happens.
fn over_before_return(
    device: &mut Device,
    borrows: bool,
    work: impl FnOnce(&mut Device) -> Result<(), Error>,
) -> Result<(), Error> {
    /// Waits for the queue on the way out.
    struct Settled(Arc<Queue>);
    impl Drop for Settled {
        fn drop(&mut self) {
            self.0.finish();
        }
    }
    if !borrows {
        return work(device);
    }
    let settled = Settled(device.queue.clone());
    work(device)?;
    settled.0.wait()
}

/// All of `work`, by this kernel. Neither end is larger or smaller than the work.
pub(super) fn run<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = borrows(&from, to);
    over_before_return(device, borrows, |device| run_all(device, kernel, work, from, to, budget, watch))
}

/// The same, perhaps with some of it under way still.
fn run_all<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    if work.elements() == 0 || work.sweeps == 0 {
        return copy_all(device, from, to, watch);
    }
    if let (Source::Array(_), _) | (_, Target::Array(_)) = (&from, &*to) {
        // Whatever the budget: the arrays are here, and so must be what lies beside them.
        return resident(device, kernel, work, from, to, None, watch).map(drop);
    }
    let stays = stays(kernel, work);
    if stays && resident(device, kernel, work, from, to, Some(budget), watch)? {
        return Ok(());
    }
    match (from, to) {
        (Source::Host(input), Target::Host(output)) => {
            if stays && deep(device, kernel, work, input, output, budget, watch)? {
                return Ok(());
            }
            streamed(device, kernel, work, input, output, budget, watch)
        }
        _ => unreachable!("they are the host's"),
    }
}

/// Whether an array of the host is resident while it is swept, if there is room.
pub(super) fn stays<T: Element>(kernel: &dyn Kernel<T>, work: &Work<T>) -> bool {
    let rounds = || kernel.cut(work.sweeps, target(work), usize::MAX).sweeps() < work.sweeps;
    work.sweeps > 1 && (kernel.stays(work.sweeps) || rounds())
}

/// Copies an array.
pub(super) fn copy<T: Element>(
    device: &mut Device,
    from: Source<T>,
    to: &mut Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = borrows(&from, to);
    over_before_return(device, borrows, |device| copy_all(device, from, to, watch))
}

/// The same, perhaps with some of it under way still.
fn copy_all<T: Element>(device: &mut Device, from: Source<T>, to: &mut Target<T>, watch: &Watch) -> Result<(), Error> {
    assert_eq!(from.len(), to.len());
    if from.is_empty() {
        return Ok(());
    }
    let context = device.context.clone();
    match (from, to) {
        (Source::Host(input), Target::Host(output)) => host::copy(input, output, watch),
        (Source::Host(input), Target::Array(array)) if size_of_val(input) <= SMALL_BYTES => {
            let to = address(array, &context)?;
            let load = Load { name: "a copy", pace: None, bytes: size_of_val(input) };
            let beginning = device.queue.begin(&load)?;
            // SAFETY: the array has room for as many, and all that uses it is on this stream.
            unsafe { device.queue.send(bytemuck::cast_slice(input), to) }?;
            device.queue.submitted(&load, beginning)
        }
        (Source::Host(input), Target::Array(array)) => {
            let to = address(array, &context)?;
            device.queue.wait()?;
            // SAFETY: the array has room for as many, and nothing that uses it is under way after that wait.
            unsafe { device.slots.upload(&context, input, to, watch) }
        }
        (Source::Array(array), Target::Host(output)) => {
            let from = address(array, &context)?;
            let ready = device.queue.mark()?;
            // SAFETY: the array has as many elements, and whoever writes them does so ahead of that mark.
            unsafe { device.slots.download(&context, from, Some(&ready), output, watch) }?;
            device.queue.wait()
        }
        (Source::Array(input), Target::Array(output)) => {
            let (from, to) = (address(input, &context)?, address(output, &context)?);
            // SAFETY: both arrays have as many bytes, and all that uses them is on this stream.
            unsafe { copy_on_device(&device.queue, to, from, input.len() * size_of::<T>()) }
        }
    }
}

/// A copy of an array that lies on the first device, on the second. It is over when this returns: if the first device
/// failed before that, the second's queue would not tell, and the copy would hold anything.
pub(super) fn copy_across<T: Real>(from: &Device, to: &mut Device, array: &Array<T>) -> Result<Array<T>, Error> {
    let copy = DeviceArray::with_room_for::<T>(to, array.len())?;
    let bytes = array.len() * size_of::<T>();
    if bytes == 0 {
        return Ok(copy);
    }
    let [here, there] = [address(array, &from.context)?, address(&copy, &to.context)?];
    // Where they do not reach each other, the driver goes through the host.
    to.context.reaches(&from.context)?;
    from.context.bind()?;
    let ready = from.queue.mark()?;
    to.context.bind()?;
    let load = Load { name: "a copy from another device", pace: None, bytes: 2 * bytes };
    let beginning = to.queue.begin(&load)?;
    let stream = to.queue.stream();
    stream.begin_after(&ready)?;
    // SAFETY: both arrays have as many bytes; what writes the one is ahead of the mark, and the caller keeps it until this
    // returns; all that uses the copy is on this stream.
    let sent = unsafe { stream.copy_from(&from.context, there, here, bytes) };
    let sent = sent.and_then(|()| to.queue.submitted(&load, beginning));
    let over = to.queue.wait();
    from.context.bind()?;
    // It has happened long since, and says what has happened to its device.
    let read = ready.wait();
    to.context.bind()?;
    sent.and(over).and(read).map(|()| copy)
}

/// Puts a copy of so many bytes on the queue.
///
/// # Safety
/// There are as many at both addresses, and all that uses them is on the queue's stream.
pub(super) unsafe fn copy_on_device(
    queue: &Queue,
    to: sys::CUdeviceptr,
    from: sys::CUdeviceptr,
    bytes: usize,
) -> Result<(), Error> {
    let load = Load { name: "a copy", pace: None, bytes: 2 * bytes };
    let beginning = queue.begin(&load)?;
    // SAFETY: as the caller says.
    unsafe { result::memcpy_dtod_async(to, from, bytes, queue.stream().handle()) }
        .map_err(failed("cuMemcpyDtoDAsync"))?;
    queue.submitted(&load, beginning)
}

/// The samples of a tile of the host's, before there is any shortage.
fn target<T>(work: &Work<T>) -> usize {
    if work.sweeps > MANY_SWEEPS { SWEPT_BYTES / size_of::<T>() } else { PIECE_BYTES / size_of::<T>() }
}

// ---- on the device

/// All sweeps with the array on the device; false if the budget or the device has no room for what does not lie there
/// yet, and nothing was done.
fn resident<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    from: Source<T>,
    to: &mut Target<T>,
    budget: Option<Budget>,
    watch: &Watch,
) -> Result<bool, Error> {
    let context = device.context.clone();
    let elements = work.elements();
    let bytes = elements.checked_mul(size_of::<T>()).ok_or_else(|| too_large(elements))?;
    // A sweep reads one array and writes another. What came from the host may be overwritten by the next one; what the
    // user holds may not.
    let uploaded = matches!(from, Source::Host(_));
    let downloaded = matches!(to, Target::Host(_));
    let wanted = usize::from(uploaded) + usize::from(downloaded) + usize::from(!uploaded && work.sweeps > 1);
    if let Some(budget) = budget
        && !has_room(device, wanted, bytes, budget)?
    {
        return Ok(false);
    }
    let queue = device.queue.clone();
    let mut own = Own::new(&queue);
    for _ in 0..wanted {
        match own.room_for(bytes) {
            Ok(_) => {}
            // It goes in tiles.
            Err(Error::OutOfMemory(_)) if budget.is_some() => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    let (first, other) = own.ends();
    let written = match to {
        Target::Host(_) => first,
        Target::Array(array) => address(array, &context)?,
    };
    let samples = match from {
        Source::Array(array) => address(array, &context)?,
        Source::Host(input) => {
            queue.wait()?;
            // SAFETY: the buffer has as many bytes, and nothing that uses it is under way after that wait.
            unsafe { device.slots.upload(&context, input, other, watch) }?;
            other
        }
    };
    let area = Area {
        tile: Tile::whole(work.size),
        sides: work.sides,
        sweeps: work.sweeps,
        under_way: elements,
        shared: false,
        queued: true,
    };
    let plan = kernel.plan(&device.modules, &area)?;
    let mut told = 0;
    let mut over = |updates: usize| {
        watch.count(updates - told);
        told = updates;
        Ok(watch.check()?)
    };
    watch.check()?;
    let sweeps = Sweeps { plan: &*plan, outputs: elements, work: kernel.work(), sweeps: work.sweeps };
    let mut sweep = || sweeps.run_on(&queue, kernel.name(), samples, [written, other], &mut over);
    let in_other = match to {
        // The output's memory may never have been touched. Meanwhile the device is at work.
        Target::Host(output) => SharedOutput::new(output).have_pages_during(0..elements, || {
            let in_other = sweep()?;
            queue.wait().map(|()| in_other)
        }),
        Target::Array(_) => sweep(),
    }?;
    watch.count(elements * work.sweeps - told);
    match to {
        Target::Host(output) => {
            let result = if in_other { other } else { written };
            // SAFETY: the buffer has as many bytes, and what wrote it is over.
            unsafe { device.slots.download(&context, result, None, output, watch) }?;
        }
        Target::Array(array) if in_other => {
            let last = own.buffers().last_mut().ok_or_else(|| Error::Internal("A sweep without its buffer.".into()))?;
            // SAFETY: both have as many bytes, and whoever owns the array has left it to this call.
            unsafe { take_over(&queue, array, last, bytes) }?;
        }
        Target::Array(_) => {}
    }
    Ok(true)
}

/// An array becomes what so many bytes of a buffer hold: it takes the buffer, and leaves its own.
///
/// # Safety
/// Both have as many bytes, and all that uses them is on the queue's stream.
unsafe fn take_over<T>(
    queue: &Queue,
    array: &mut Array<T>,
    buffer: &mut DeviceBuffer,
    bytes: usize,
) -> Result<(), Error> {
    match array.held_mut::<DeviceArray>()? {
        DeviceArray::Own { buffer: Some(of_array), .. } => {
            queue.exchange(of_array, buffer);
            Ok(())
        }
        DeviceArray::Own { buffer: None, .. } => Err(Error::Internal("An array without its buffer.".into())),
        DeviceArray::Imported { .. } => Err(Error::Internal("Another process's array is read alone.".into())),
        // SAFETY: as the caller says.
        DeviceArray::Foreign { address, .. } => unsafe { copy_on_device(queue, *address, buffer.address(), bytes) },
    }
}

/// Sweeps of two time levels that lie on the device, the newest one first. Both give way to what comes of them; `begun`
/// becomes true when that may be so.
///
/// A sweep counts twice: for its filter, and for what it makes of it and the older level.
pub(super) fn two_levels(
    device: &mut Device,
    kernel: &LevelsKernel,
    levels: &mut [Array<f64>; 2],
    begun: &mut bool,
    watch: &Watch,
) -> Result<(), Error> {
    let borrows = levels.iter().any(is_foreign);
    over_before_return(device, borrows, |device| two_levels_here(device, kernel, levels, begun, watch))
}

/// The same, perhaps with some of it under way still.
fn two_levels_here(
    device: &mut Device,
    kernel: &LevelsKernel,
    levels: &mut [Array<f64>; 2],
    begun: &mut bool,
    watch: &Watch,
) -> Result<(), Error> {
    let context = device.context.clone();
    let (elements, total) = (levels[0].len(), kernel.what().sweeps());
    watch.check()?;
    if elements == 0 || total == 0 {
        return Ok(());
    }
    let bytes = elements * size_of::<f64>();
    let queue = device.queue.clone();
    let mut own = Own::new(&queue);
    let here = [address(&levels[0], &context)?, address(&levels[1], &context)?];
    let other = [own.room_for(bytes)?, own.room_for(bytes)?];
    let plan = kernel.plan(&device.modules, [here, other])?;
    let mut told = 0;
    let mut over = |updates: usize| {
        watch.count(2 * (updates - told));
        told = updates;
        Ok(watch.check()?)
    };
    let sweeps = Sweeps { plan: &plan, outputs: elements, work: kernel.work(), sweeps: total };
    *begun = true;
    let in_here = sweeps.run_on(&queue, kernel.name(), here[0], [other[0], here[0]], &mut over)?;
    watch.count(2 * (elements * total - told));
    if !in_here {
        for (array, buffer) in levels.iter_mut().zip(own.buffers()) {
            // SAFETY: each has as many bytes, and whoever owns the array has left it to this call.
            unsafe { take_over(&queue, array, buffer, bytes) }?;
        }
    }
    Ok(())
}

// ---- tile by tile on the device

/// All sweeps, in rounds of as many as the halos of tiles allow that lie on the device one after the other; false if
/// the kernel knows no such tiles that the budget or the device has room for, and nothing was done.
fn deep<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<bool, Error> {
    let queue = device.queue.clone();
    // Whatever nobody needs is room for a tile.
    queue.release();
    let mut limit = budget.during_a_call(|| device.context.free_memory())? / (DEEP_BUFFERS * size_of::<T>());
    let (cut, _own, buffers) = loop {
        let Some(cut) = kernel.deep(work.sweeps, limit) else {
            return Ok(false);
        };
        let bytes = cut.most_samples() * size_of::<T>();
        let mut own = Own::new(&queue);
        let mut buffers = [0; DEEP_BUFFERS];
        let room = match has_room(device, DEEP_BUFFERS, bytes, budget)? {
            true => buffers.iter_mut().try_for_each(|buffer| own.room_for(bytes).map(|address| *buffer = address)),
            false => Err(Error::OutOfMemory(String::new())),
        };
        match room {
            Ok(()) => break (cut, own, buffers),
            Err(Error::OutOfMemory(_)) => limit = cut.most_samples() / 2,
            Err(error) => return Err(error),
        }
        drop(own);
        queue.release();
    };
    // The buffers may have been somebody's whose work is under way.
    queue.wait()?;
    let rounds = work.sweeps.div_ceil(cut.sweeps());
    host::ping_pong(input, output, rounds, |round, from, to| {
        let sweeps = cut.sweeps().min(work.sweeps - round * cut.sweeps());
        let work = Work { sweeps, ..*work };
        let round = DeepRound { kernel, work, cut: &cut, from, to: &SharedOutput::new(to), watch };
        round.run(device, 0..cut.count(), buffers)
    })?;
    Ok(true)
}

/// The buffers that deep tiles need: two to sweep to and fro, and one for the last tile and then the next one.
pub(super) const DEEP_BUFFERS: usize = 3;

/// A round over deep tiles.
pub(super) struct DeepRound<'a, T> {
    pub(super) kernel: &'a dyn Kernel<T>,
    /// The whole array, and the sweeps of this round.
    pub(super) work: Work<T>,
    pub(super) cut: &'a Cut<T>,
    pub(super) from: &'a [T],
    pub(super) to: &'a SharedOutput<'a, T>,
    pub(super) watch: &'a Watch,
}

/// What is under way over a tile.
pub(super) struct Swept {
    /// Where the tile will be.
    pub(super) result: sys::CUdeviceptr,
    /// When it is there.
    pub(super) ready: Event,
    /// The updates that the watch has heard of.
    pub(super) told: usize,
}

impl<T: Element> DeepRound<'_, T> {
    /// The tiles of these numbers, one after the other. While the device is at work on one, the outputs of the last one come
    /// back, and the next one is sent to where they lay.
    pub(super) fn run(
        &self,
        device: &mut Device,
        numbers: impl Iterator<Item = usize>,
        buffers: [sys::CUdeviceptr; DEEP_BUFFERS],
    ) -> Result<(), Error> {
        let [mut here, mut other, mut ahead] = buffers;
        let mut tiles = numbers.map(|number| self.cut.tile(number)).peekable();
        let mut last: Option<(Tile, Swept)> = None;
        tiles.peek().map_or(Ok(()), |first| self.send(device, first, here))?;
        while let Some(tile) = tiles.next() {
            let swept = self.sweep(device, &tile, [here, other])?;
            last.map_or(Ok(()), |(tile, swept)| self.fetch(device, &tile, swept))?;
            tiles.peek().map_or(Ok(()), |next| self.send(device, next, ahead))?;
            (here, other, ahead) = (ahead, if swept.result == here { other } else { here }, swept.result);
            last = Some((tile, swept));
        }
        last.map_or(Ok(()), |(tile, swept)| self.fetch(device, &tile, swept))?;
        device.queue.wait()
    }

    /// Sends a tile to a buffer that nothing under way uses.
    pub(super) fn send(&self, device: &mut Device, tile: &Tile, to: sys::CUdeviceptr) -> Result<(), Error> {
        let context = device.context.clone();
        let gather = |part: Range<usize>, to: &mut [T]| self.cut.gather_part(tile, part, self.from, to);
        // SAFETY: each buffer has room for every tile; nothing uses it, as the caller says.
        unsafe { device.slots.upload_by(&context, tile.samples(), &gather, to, self.watch) }
    }

    /// Puts the sweeps over a tile, which lies in the first of these buffers, on the queue.
    pub(super) fn sweep(&self, device: &Device, tile: &Tile, buffers: [sys::CUdeviceptr; 2]) -> Result<Swept, Error> {
        let Work { sides, sweeps, .. } = self.work;
        let (samples, outputs, [here, other]) = (tile.samples(), tile.outputs(), buffers);
        // To the kernel this is an array as any other, with its boundary on all sides. Where the tile was cut off, that
        // is wrong, and nobody takes what comes of it.
        let area =
            Area { tile: Tile::whole(tile.size()), sides, sweeps, under_way: samples, shared: false, queued: true };
        let plan = self.kernel.plan(&device.modules, &area)?;
        let mut told = 0;
        let mut over = |updates: usize| {
            // What is done on halos is no progress.
            let updates = (updates as u128 * outputs as u128 / samples as u128) as usize;
            self.watch.count(updates - told);
            told = updates;
            Ok(self.watch.check()?)
        };
        let run = Sweeps { plan: &*plan, outputs: samples, work: self.kernel.work(), sweeps };
        let in_here = run.run_on(&device.queue, self.kernel.name(), here, [other, here], &mut over)?;
        Ok(Swept { result: if in_here { here } else { other }, ready: device.queue.mark()?, told })
    }

    /// Has the outputs of a tile come back, and puts them in their places.
    pub(super) fn fetch(
        &self,
        device: &mut Device,
        tile: &Tile,
        Swept { result, ready, told }: Swept,
    ) -> Result<(), Error> {
        let (context, span) = (device.context.clone(), tile.span());
        let from = result + (span.start * size_of::<T>()) as sys::CUdeviceptr;
        if let Some(places) = self.cut.run_of(tile) {
            // SAFETY: every tile is fetched once.
            let output = unsafe { self.to.places(places) };
            // SAFETY: the tile lies there by then, and nothing that is under way behind that writes there.
            unsafe { device.slots.download(&context, from, Some(&ready), output, self.watch) }?;
            self.watch.count(self.work.sweeps * tile.outputs() - told);
            return Ok(());
        }
        // SAFETY: every tile is fetched once, and each part of it by one thread.
        let scatter = |part: Range<usize>, from: &[T]| unsafe { self.cut.scatter_part(tile, part, from, self.to) };
        // SAFETY: the tile lies there by then, and nothing that is under way behind that writes there.
        unsafe { device.slots.download_by(&context, (from, &ready), span.len(), &scatter, self.watch) }?;
        self.watch.count(self.work.sweeps * tile.outputs() - told);
        Ok(())
    }
}

/// Whether there may be so many buffers of so many bytes beside what is held. The slots give up their own buffers on
/// the device if the budget asks for it.
pub(super) fn has_room(device: &mut Device, wanted: usize, bytes: usize, budget: Budget) -> Result<bool, Error> {
    let (pooled, missing) = device.queue.stock(wanted, bytes);
    let held = device.slots.device_bytes() + pooled;
    let Some(needed) = bytes.checked_mul(missing) else {
        return Ok(false);
    };
    if needed.saturating_add(held) <= budget.kept() {
        return Ok(true);
    }
    // More than is kept anyway: what is free has to be asked for, which takes longer than to get a little.
    device.queue.release();
    let limit = budget.during_a_call(|| device.context.free_memory())?;
    if bytes.saturating_mul(wanted) > limit {
        return Ok(false);
    }
    if budget.is_strict() {
        device.slots.release_device();
    }
    Ok(true)
}

/// What has become of sweeps on a stream.
struct Run {
    /// Whether the result will be in the second of the buffers.
    in_other: bool,
    /// Of the work, what has not been waited for, in units of [`pace`](super::pace).
    left: usize,
}

/// Sweeps over a tile on the device.
struct Sweeps<'a, T> {
    plan: &'a dyn Plan<T>,
    /// How many outputs a sweep computes, and the multiply-adds for each.
    outputs: usize,
    work: usize,
    sweeps: usize,
}

impl<T> Sweeps<'_, T> {
    /// The same on the queue, which learns how much that is.
    fn run_on(
        &self,
        queue: &Queue,
        name: &'static str,
        samples: sys::CUdeviceptr,
        buffers: [sys::CUdeviceptr; 2],
        over: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let pace = self.plan.pace();
        let units = self.plan.units().saturating_mul(self.sweeps).saturating_mul(self.unit());
        let load = |units| Load { name, pace: Some((pace, units)), bytes: 0 };
        let mut beginning = queue.begin(&load(units))?;
        let Run { in_other, left } = self.run(queue.stream(), samples, buffers, over)?;
        if left < units {
            // The rest has been waited for, and the pace has learnt from it.
            beginning = beginning.without_time();
        }
        queue.submitted(&load(left), beginning)?;
        Ok(in_other)
    }

    /// Multiply-adds, in thousands, of a unit that the plan can launch by itself.
    fn unit(&self) -> usize {
        (self.outputs.saturating_mul(self.work) / self.plan.units().max(1)).div_ceil(UNIT).max(1)
    }

    /// Puts the sweeps on the stream: the first from `samples` to the first of two buffers, the next from there to the
    /// other, and so on.
    ///
    /// Where that is more than the device does in time, it is waited for in between, as [`pace`](super::pace) says;
    /// then `over` is told how many outputs have been computed so far, in all sweeps, and may end it.
    fn run(
        &self,
        stream: &Stream,
        samples: sys::CUdeviceptr,
        buffers: [sys::CUdeviceptr; 2],
        over: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        let (plan, pace) = (self.plan, self.plan.pace());
        let units = plan.units();
        let together = plan.together().max(1) * units.max(1);
        let unit = self.unit();
        let mut schedule = Schedule::new(self.sweeps, units, plan.fused(self.sweeps)?);
        // What is read and which buffer is written; units that are submitted; since when the device is timed.
        let (mut from, mut to, mut done, mut begin) = (samples, 0, 0, None);
        let mut waited = 0;
        while !schedule.is_over() {
            let most = (pace.batch() / unit).max(together);
            let batch = schedule.batch(most - most % together);
            let last = schedule.is_over();
            if !last && begin.is_none() {
                // What went ahead, such as the samples' way to the device, is not to be counted.
                stream.synchronize()?;
                begin = Some(Instant::now());
            }
            let before = done;
            if let Some(part) = batch.part {
                let ended = part.end == units;
                done += part.len();
                plan.part(stream.handle(), part, [from, buffers[to]])?;
                if ended {
                    (from, to) = (buffers[to], 1 - to);
                }
            }
            let mut left = batch.sweeps;
            while left > 0 {
                let fused = plan.fused(left)?;
                plan.sweep(stream.handle(), fused, [from, buffers[to]])?;
                (from, to) = (buffers[to], 1 - to);
                left -= fused;
                done += fused * units;
            }
            if let Some(start) = begin.filter(|_| !last) {
                stream.synchronize()?;
                waited = done;
                pace.took((done - before).saturating_mul(unit), start.elapsed());
                over(done / units * self.outputs + done % units * self.outputs / units)?;
                begin = Some(Instant::now());
            }
        }
        Ok(Run { in_other: to == 0, left: (done - waited).saturating_mul(unit) })
    }
}

// ---- through the slots

/// All sweeps, tile by tile, in as many rounds as the halos ask for.
fn streamed<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    input: &[T],
    output: &mut [T],
    budget: Budget,
    watch: &Watch,
) -> Result<(), Error> {
    let (cut, slots) = reserve(device, kernel, work, budget, 1)?;
    let rounds = work.sweeps.div_ceil(cut.sweeps());
    host::ping_pong(input, output, rounds, |round, from, to| {
        let sweeps = cut.sweeps().min(work.sweeps - round * cut.sweeps());
        let stream = StreamedRound { kernel, cut: &cut, sweeps, from, to: &SharedOutput::new(to), watch };
        stream.run(device, slots, 0..cut.count())
    })
}

/// A round over tiles that go through the slots.
pub(super) struct StreamedRound<'a, T> {
    pub(super) kernel: &'a dyn Kernel<T>,
    pub(super) cut: &'a Cut<T>,
    pub(super) sweeps: usize,
    pub(super) from: &'a [T],
    pub(super) to: &'a SharedOutput<'a, T>,
    pub(super) watch: &'a Watch,
}

impl<T: Element> StreamedRound<'_, T> {
    /// The tiles of these numbers, through so many slots of a device.
    pub(super) fn run(
        &self,
        device: &mut Device,
        slots: usize,
        numbers: impl ExactSizeIterator<Item = usize> + Send,
    ) -> Result<(), Error> {
        let StreamedRound { kernel, cut, sweeps, from, to, watch } = *self;
        let modules = device.modules.clone();
        let under_way = (slots * cut.most_samples()).min(from.len());
        let (sides, shared) = (cut.sides(), slots > 1);
        let round = Round { kernel, modules: &modules, cut: *cut, sides, sweeps, under_way, shared, from, to, watch };
        let jobs = numbers.map(|number| TileJob { round: &round, tile: cut.tile(number), told: 0 });
        device.slots.share(slots, jobs, watch)
    }
}

/// How the array is cut, and how many slots of this device there are for its share of it, where as many `devices` take
/// part: smaller tiles and fewer slots where memory is short.
pub(super) fn reserve<T: Element>(
    device: &mut Device,
    kernel: &dyn Kernel<T>,
    work: &Work<T>,
    budget: Budget,
    devices: usize,
) -> Result<(Cut<T>, usize), Error> {
    // The slots have streams of their own, and may need the coefficients' places and the memory.
    device.queue.wait()?;
    let (elements, size, kept) = (work.elements().div_ceil(devices), size_of::<T>(), budget.kept());
    let most = target(work);
    let whole = devices == 1 && work.sweeps > MANY_SWEEPS && elements <= most;
    let mut wanted = if whole { 1 } else { device.slots.worth(elements * size) };
    let mut limit = kept / size;
    let cut = |target: usize, limit: usize| kernel.cut(work.sweeps, target, limit);
    // The halo comes on top, as far as it is small.
    let mut target = elements.div_ceil(wanted).min(most) + kernel.beside(work.sweeps).min(most / 8);
    let mut short = false;
    loop {
        let mut tiles = cut(target, limit);
        let bytes = |tiles: &Cut<T>| 2 * tiles.most_samples() * size;
        if bytes(&tiles) > kept {
            target = (kept / (2 * size)).max(LEAST_SAMPLES);
            tiles = cut(target, limit);
        }
        wanted = wanted.min(kept / bytes(&tiles)).max(1);
        let slots = wanted.min(tiles.count());
        match device.slots.reserve(&device.context, slots, tiles.most_samples() * size, Some(kept), short) {
            Ok(slots) => return Ok((tiles, slots)),
            // Nobody needs what is only kept.
            Err(Error::OutOfMemory(_)) if device.queue.release() => {}
            Err(Error::OutOfMemory(text)) => {
                let smaller = cut(target / 2, limit.min(tiles.most_samples()));
                if wanted > 1 {
                    wanted /= 2;
                } else if smaller.most_samples() < tiles.most_samples() {
                    (target, limit) = (target / 2, limit.min(tiles.most_samples()));
                } else {
                    let smallest = bytes(&tiles);
                    let text = format!("No memory for the smallest of buffers, {smallest} bytes. {text}");
                    return Err(Error::OutOfMemory(text));
                }
                short = true;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What the tiles of a round have in common.
struct Round<'a, T> {
    kernel: &'a dyn Kernel<T>,
    modules: &'a Modules,
    cut: Cut<T>,
    sides: Sides<T>,
    sweeps: usize,
    under_way: usize,
    shared: bool,
    from: &'a [T],
    to: &'a SharedOutput<'a, T>,
    watch: &'a Watch,
}

/// All sweeps of a round over one tile.
struct TileJob<'a, T> {
    round: &'a Round<'a, T>,
    tile: Tile,
    /// The updates that the watch has heard of.
    told: usize,
}

impl<T: Element> Job for TileJob<'_, T> {
    fn start(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let (round, tile) = (self.round, &self.tile);
        let samples = tile.samples();
        round.cut.gather(tile, round.from, slot.samples(samples));
        let Round { sides, sweeps, under_way, shared, .. } = *round;
        let area = Area { tile: tile.clone(), sides, sweeps, under_way, shared, queued: false };
        let plan = round.kernel.plan(round.modules, &area)?;
        let told = &mut self.told;
        let outputs = tile.outputs();
        let mut over = |updates: usize| {
            let updates = updates.min(round.sweeps * outputs);
            round.watch.count(updates - *told);
            *told = updates;
            Ok(round.watch.check()?)
        };
        let work = round.kernel.work();
        let sweeps = Sweeps { plan: &*plan, outputs, work, sweeps: round.sweeps };
        slot.compute::<T>(samples, tile.span().len(), round.sweeps == 1, |stream, [input, output]| {
            let in_input = sweeps.run(stream, input, [output, input], &mut over)?.in_other;
            let result = if in_input { input } else { output };
            Ok(result + (plan.first_output() * size_of::<T>()) as sys::CUdeviceptr)
        })?;
        if let Some(places) = round.cut.run_of(tile) {
            // The output's memory may never have been touched. Meanwhile the device is at work.
            round.to.have_pages(places);
        }
        Ok(())
    }

    fn finish(self, slot: &mut Slot) -> Result<(), Error> {
        let round = self.round;
        let outputs = slot.outputs(self.tile.span().len())?;
        if let Some(places) = round.cut.run_of(&self.tile) {
            round.to.await_pages(places);
        }
        // SAFETY: every tile is one job.
        unsafe { round.cut.scatter(&self.tile, outputs, round.to) };
        round.watch.count(round.sweeps * self.tile.outputs() - self.told);
        Ok(())
    }
}

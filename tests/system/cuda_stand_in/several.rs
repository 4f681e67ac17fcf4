//! Several devices in one process: copies between them, events that one records and another waits for, threads of the
//! host, and errors where nothing orders two of them.
//!
//! The first query of the driver fixes the number of devices, so all cases run in children of the test program.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::time::Duration;

use super::{ILLEGAL_ADDRESS, Job, Outcome, THREADS, expect, fixtures, kind, status, text};
use crate::common::{Mode, StandIn, child};
use cudarc::driver::{result, sys};

const INVALID_VALUE: i32 = 1;
const INVALID_DEVICE: i32 = 101;
const INVALID_CONTEXT: i32 = 201;
const UNSUPPORTED: i32 = 217;
const INVALID_HANDLE: i32 = 400;
const NOT_READY: i32 = 600;
const ALREADY_ENABLED: i32 = 704;
const NOT_ENABLED: i32 = 705;

/// Elements of an array, unless a test says otherwise.
const COUNT: usize = 1024;
/// Enough work that a thread of the host is through with its next calls long before.
const LONG: usize = 4 << 20;

/// Runs a case of this file with this number of devices, which reach each other or do not.
fn with(what: &str, devices: &str, peers: &str) -> Outcome {
    let ended = child(what, &[("CUDA_STAND_IN_DEVICES", devices), ("CUDA_STAND_IN_PEERS", peers)])?;
    if ended.status.success() {
        Ok(())
    } else {
        Err(format!("{what}, {devices} devices, peers {peers}: {:?}: {}", ended.status, ended.output))
    }
}

fn everywhere(what: &str) -> Outcome {
    for devices in ["2", "3", "8"] {
        for peers in ["1", "0"] {
            with(what, devices, peers)?;
        }
    }
    Ok(())
}

type Case = (&'static str, fn(StandIn) -> Outcome);

/// For the table of tests.
pub const TABLE: [Case; 10] = [
    ("devices_reach_each_other_where_they_can", |_| everywhere("reach")),
    ("copies_between_devices", |_| everywhere("exchange")),
    ("copies_between_devices_that_cannot_be", |_| with("refused", "3", "1").and(with("refused", "3", "0"))),
    ("plain_copies_between_devices_need_access", |_| everywhere("plain copies")),
    ("what_is_freed_under_a_copy_between_devices_is_told", |_| everywhere("freed")),
    ("events_of_other_devices", |_| everywhere("events")),
    ("devices_do_not_wait_for_each_other", |_| everywhere("threads")),
    ("what_nothing_orders_is_told", |_| everywhere("told")),
    ("a_missing_wait_between_devices_shows", |_| everywhere("missing waits")),
    ("calls_for_several_devices_fail_when_told", |_| with("faults", "2", "1")),
];

/// Runs the case of a child, by its name; `None` if this file has no such case.
pub fn in_child(what: &str) -> Option<Outcome> {
    let case = match what {
        "reach" => reach,
        "exchange" => exchange,
        "refused" => refused,
        "plain copies" => plain_copies,
        "freed" => freed,
        "events" => events,
        "threads" => threads,
        "told" => told,
        "missing waits" => missing_waits,
        "faults" => faults,
        _ => return None,
    };
    Some(StandIn::find().ok_or("no stand-in".to_string()).and_then(case))
}

fn has_peers() -> bool {
    std::env::var("CUDA_STAND_IN_PEERS").is_ok_and(|value| value == "1")
}

fn count() -> Result<usize, String> {
    Ok(result::device::get_count().map_err(text)? as usize)
}

/// A device with a stream, and with the fixtures loaded.
struct Device {
    ordinal: i32,
    context: sys::CUcontext,
    stream: sys::CUstream,
    module: sys::CUmodule,
    arrays: RefCell<Vec<sys::CUdeviceptr>>,
    events: RefCell<Vec<sys::CUevent>>,
}

impl Device {
    fn open(ordinal: usize) -> Result<Device, String> {
        result::init().map_err(text)?;
        let ordinal = ordinal as i32;
        // SAFETY: the device exists, or the driver refuses it; its context is current for what is made in it.
        unsafe {
            let context = result::primary_ctx::retain(ordinal).map_err(text)?;
            result::ctx::set_current(context).map_err(text)?;
            let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
            let module = result::module::load_data(fixtures().as_ptr().cast()).map_err(text)?;
            Ok(Device { ordinal, context, stream, module, arrays: RefCell::default(), events: RefCell::default() })
        }
    }

    /// Makes it the current one.
    fn enter(&self) -> Result<&Device, String> {
        // SAFETY: retained in `open`.
        unsafe { result::ctx::set_current(self.context) }.map_err(text)?;
        Ok(self)
    }

    fn array(&self, samples: &[f32]) -> Result<sys::CUdeviceptr, String> {
        self.enter()?;
        // SAFETY: the array is as long.
        unsafe {
            let array = result::malloc_sync(4 * samples.len()).map_err(text)?;
            self.arrays.borrow_mut().push(array);
            result::memcpy_htod_sync(array, samples).map_err(text)?;
            result::ctx::synchronize().map_err(text)?;
            Ok(array)
        }
    }

    /// Returns its elements, copied in its stream, after all that the stream waits for.
    fn read(&self, array: sys::CUdeviceptr, count: usize) -> Result<Vec<f32>, String> {
        self.enter()?;
        let mut samples = vec![0_f32; count];
        // SAFETY: the array is as long, and the copy to ordinary memory is over when the call is.
        unsafe { result::memcpy_dtoh_async(&mut samples, array, self.stream) }.map_err(text)?;
        Ok(samples)
    }

    fn fill(&self, array: sys::CUdeviceptr, bytes: usize, value: u8) -> Outcome {
        self.enter()?;
        // SAFETY: the array is as long.
        unsafe { result::memset_d8_async(array, value, bytes, self.stream) }.map_err(text)
    }

    /// Copies from `other`, in this device's stream.
    fn fetch(&self, to: sys::CUdeviceptr, other: &Device, from: sys::CUdeviceptr, bytes: usize) -> Result<i32, String> {
        self.enter()?;
        Ok(copy(self, to, other, from, bytes, self.stream))
    }

    /// Copies to `other`, in this device's stream.
    fn send(&self, from: sys::CUdeviceptr, other: &Device, to: sys::CUdeviceptr, bytes: usize) -> Result<i32, String> {
        self.enter()?;
        Ok(copy(other, to, self, from, bytes, self.stream))
    }

    fn event(&self) -> Result<sys::CUevent, String> {
        self.enter()?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(text)?;
        self.events.borrow_mut().push(event);
        Ok(event)
    }

    fn record(&self, event: sys::CUevent) -> Outcome {
        self.enter()?;
        // SAFETY: both are open.
        expect("cuEventRecord", status(unsafe { sys::cuEventRecord(event, self.stream).result() }), 0)
    }

    /// Makes its stream wait for the event, of any device.
    fn wait_event(&self, event: sys::CUevent) -> Outcome {
        self.enter()?;
        // SAFETY: both are open.
        expect("cuStreamWaitEvent", status(unsafe { sys::cuStreamWaitEvent(self.stream, event, 0).result() }), 0)
    }

    /// Has its stream wait for all that `other` has been given to do until now.
    fn wait_for(&self, other: &Device) -> Outcome {
        let event = other.event()?;
        other.record(event)?;
        self.wait_event(event)
    }

    /// Waits for the stream: the driver's answer.
    fn finish(&self) -> Result<i32, String> {
        self.enter()?;
        // SAFETY: the stream is open.
        Ok(status(unsafe { result::stream::synchronize(self.stream) }))
    }

    /// Launches a kernel that puts `input` into `output`, each block of it turned by one element.
    fn turn(&self, input: sys::CUdeviceptr, output: sys::CUdeviceptr, count: usize) -> Outcome {
        self.enter()?;
        let mut job = Job { input, output, other: input, count: count as u64 };
        let mut arguments = [(&raw mut job).cast::<c_void>()];
        let (grid, block) = (((count / THREADS) as u32, 1, 1), (THREADS as u32, 1, 1));
        // SAFETY: the arrays are as long.
        unsafe {
            let function = result::module::get_function(self.module, c"dynamic".to_owned()).map_err(text)?;
            result::launch_kernel(function, grid, block, 4 * THREADS as u32, self.stream, &mut arguments).map_err(text)
        }
    }

    /// Breaks its context, as an illegal access of a kernel does.
    fn break_down(&self, stand_in: StandIn) -> Outcome {
        stand_in.fail_in("cuStreamSynchronize", 1, ILLEGAL_ADDRESS, Mode::Sticky);
        expect("the fault", self.finish()?, ILLEGAL_ADDRESS)
    }

    /// Keeps the stream busy for a while.
    fn work_long(&self, array: sys::CUdeviceptr) -> Outcome {
        (0..100).try_for_each(|i| self.fill(array, LONG, i))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.enter();
        // SAFETY: all was made by this device, and its stream is waited for; a broken context answers with its error
        // and gives all back when it ends.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            for array in self.arrays.take() {
                let _ = result::free_sync(array);
            }
            for event in self.events.take() {
                let _ = result::event::destroy(event);
            }
            let _ = result::module::unload(self.module);
            let _ = result::stream::destroy(self.stream);
            let _ = result::primary_ctx::release(self.ordinal);
        }
    }
}

/// All devices, waited for before any of them goes.
struct Devices(Vec<Device>);

impl Devices {
    fn open() -> Result<Devices, String> {
        result::init().map_err(text)?;
        Ok(Devices((0..count()?).map(Device::open).collect::<Result<_, _>>()?))
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        for device in &self.0 {
            let _ = device.finish();
        }
    }
}

impl std::ops::Deref for Devices {
    type Target = [Device];
    fn deref(&self) -> &[Device] {
        &self.0
    }
}

fn copy(
    to_device: &Device,
    to: sys::CUdeviceptr,
    from_device: &Device,
    from: sys::CUdeviceptr,
    bytes: usize,
    stream: sys::CUstream,
) -> i32 {
    // SAFETY: the contexts exist; the driver must find all other faults.
    status(unsafe { result::memcpy_peer_async(to_device.context, to, from_device.context, from, bytes, stream) })
}

fn can_access(device: i32, peer: i32) -> (i32, i32) {
    let mut can = -1;
    // SAFETY: the address is that of an int.
    (status(unsafe { sys::cuDeviceCanAccessPeer(&mut can, device, peer).result() }), can)
}

/// Gives `device` access to the memory of `peer`.
fn enable(device: &Device, peer: &Device) -> Result<i32, String> {
    device.enter()?;
    // SAFETY: both contexts are there.
    Ok(status(unsafe { sys::cuCtxEnablePeerAccess(peer.context, 0).result() }))
}

fn disable(device: &Device, peer: &Device) -> Result<i32, String> {
    device.enter()?;
    // SAFETY: both contexts are there.
    Ok(status(unsafe { sys::cuCtxDisablePeerAccess(peer.context).result() }))
}

/// Gives all devices access to all, where they can have it.
fn enable_all(devices: &[Device]) -> Outcome {
    for device in devices {
        for peer in devices.iter().filter(|peer| has_peers() && peer.ordinal != device.ordinal) {
            expect("cuCtxEnablePeerAccess", enable(device, peer)?, 0)?;
        }
    }
    Ok(())
}

/// Checks that exactly this was reported since the last query; clears the report.
fn expect_told(stand_in: StandIn, wanted: &str) -> Outcome {
    let told = stand_in.misuse().unwrap_or_default();
    if told.contains(wanted) { Ok(()) } else { Err(format!("{wanted:?} was not told, but {told:?}")) }
}

fn expect_nothing_told(stand_in: StandIn, what: &str) -> Outcome {
    expect(what, stand_in.misuse(), None)
}

fn query(event: sys::CUevent) -> i32 {
    // SAFETY: the driver must find anything that is not an event.
    status(unsafe { result::event::query(event) })
}

fn reach(stand_in: StandIn) -> Outcome {
    let mut devices = Devices::open()?;
    let (peers, count) = (has_peers(), devices.len() as i32);
    for device in 0..count {
        for peer in 0..count {
            let wanted = (0, i32::from(peers && device != peer));
            expect(&format!("cuDeviceCanAccessPeer {device} {peer}"), can_access(device, peer), wanted)?;
        }
        expect("a device that is not there", can_access(device, count).0, INVALID_DEVICE)?;
        expect("a device that is not there", can_access(-1, device).0, INVALID_DEVICE)?;
    }
    let (first, last) = (&devices[0], &devices[devices.len() - 1]);
    expect("to itself", enable(first, first)?, INVALID_CONTEXT)?;
    // SAFETY: the context is there.
    let with_flags = status(unsafe { sys::cuCtxEnablePeerAccess(last.context, 1).result() });
    expect("with flags", with_flags, INVALID_VALUE)?;
    expect("not yet", disable(first, last)?, NOT_ENABLED)?;
    let answers = if peers { [0, ALREADY_ENABLED] } else { [UNSUPPORTED; 2] };
    expect("once and again", [enable(first, last)?, enable(first, last)?], answers)?;
    // Access was enabled in one direction.
    expect("the other way", enable(last, first)?, answers[0])?;
    let answers = if peers { [0, NOT_ENABLED] } else { [NOT_ENABLED; 2] };
    expect("back, and again", [disable(first, last)?, disable(first, last)?], answers)?;
    expect("the other way stays", disable(last, first)?, answers[0])?;
    // SAFETY: the test is about what is no context.
    let answer = unsafe { sys::cuCtxEnablePeerAccess(first.stream.cast(), 0) };
    expect("no context", status(answer.result()), INVALID_CONTEXT)?;
    expect_told(stand_in, "cuCtxEnablePeerAccess to what is no context")?;
    // SAFETY: as above.
    let answer = unsafe { sys::cuCtxDisablePeerAccess(first.stream.cast()) };
    expect("no context", status(answer.result()), INVALID_CONTEXT)?;
    expect_told(stand_in, "cuCtxDisablePeerAccess to what is no context")?;
    // A context that comes in the place of another is none that access was given to.
    let answer = enable(first, last)?;
    devices.0.pop();
    devices.0.push(Device::open(count as usize - 1)?);
    expect("to the next context", enable(&devices[0], &devices[devices.len() - 1])?, answer)?;
    // A broken context grants no access.
    let last = &devices[devices.len() - 1];
    last.break_down(stand_in)?;
    disable(&devices[0], last)?;
    expect("to a broken one", enable(&devices[0], last)?, ILLEGAL_ADDRESS)
}

/// Each device sends to the next and fetches from the one before, in turns. Checks all results.
fn exchange(stand_in: StandIn) -> Outcome {
    let devices = Devices::open()?;
    let n = devices.len();
    for access in [false, true] {
        if access {
            enable_all(&devices)?;
        }
        let mut arrays = Vec::new();
        for (d, device) in devices.iter().enumerate() {
            let samples: Vec<f32> = (0..COUNT).map(|i| (COUNT * d + i) as f32).collect();
            arrays.push((device.array(&samples)?, device.array(&vec![0.0; 2 * COUNT])?));
        }
        for (d, device) in devices.iter().enumerate() {
            let (next, before) = ((d + 1) % n, (d + n - 1) % n);
            // To the next one's first half; from the one before to the second. A copy of nothing needs no target.
            expect("send", device.send(arrays[d].0, &devices[next], arrays[next].1, 4 * COUNT)?, 0)?;
            let second = arrays[d].1 + 4 * COUNT as u64;
            expect("fetch", device.fetch(second, &devices[before], arrays[before].0, 4 * COUNT)?, 0)?;
            expect("nothing", device.send(arrays[d].0, &devices[next], arrays[next].1, 0)?, 0)?;
        }
        for device in devices.iter() {
            expect("cuStreamSynchronize", device.finish()?, 0)?;
        }
        for (d, device) in devices.iter().enumerate() {
            let before = (d + n - 1) % n;
            let wanted: Vec<f32> = (0..2 * COUNT).map(|i| (COUNT * before + i % COUNT) as f32).collect();
            expect("what came", device.read(arrays[d].1, 2 * COUNT)?, wanted)?;
        }
        // In stream order: the source is read after it was filled, the target written before.
        let (here, there) = (&devices[0], &devices[n - 1]);
        for round in 0..20 {
            here.fill(arrays[0].0, 4 * COUNT, round)?;
            expect("send", here.send(arrays[0].0, there, arrays[n - 1].1, 4 * COUNT)?, 0)?;
            here.fill(arrays[0].0, 4 * COUNT, 0xff)?;
            expect("fetch", here.fetch(arrays[0].1, there, arrays[n - 1].1, 4 * COUNT)?, 0)?;
            let wanted = f32::from_ne_bytes([round; 4]);
            expect("in order", here.read(arrays[0].1, COUNT)?, vec![wanted; COUNT])?;
        }
    }
    // A copy within one context is a plain one.
    let twice = devices[0].array(&vec![5.0; 2 * COUNT])?;
    devices[0].fill(twice, 4 * COUNT, 0)?;
    expect("to itself", devices[0].send(twice, &devices[0], twice + 4 * COUNT as u64, 4 * COUNT)?, 0)?;
    expect("to itself", devices[0].read(twice, 2 * COUNT)?, vec![0.0; 2 * COUNT])?;
    expect_nothing_told(stand_in, "what is ordered")
}

fn refused(stand_in: StandIn) -> Outcome {
    let devices = Devices::open()?;
    let (one, two, three) = (&devices[0], &devices[1], &devices[2]);
    let (here, there) = (one.array(&[1.0; COUNT])?, two.array(&[2.0; COUNT])?);
    let bytes = 4 * COUNT;
    expect("too many of the source", one.send(here + 4, two, there, bytes)?, INVALID_VALUE)?;
    expect("too many of the target", one.send(here, two, there + 4, bytes)?, INVALID_VALUE)?;
    expect("no memory of a device", one.send(16, two, there, 4)?, INVALID_VALUE)?;
    expect_nothing_told(stand_in, "what the driver refuses by itself")?;
    expect("the contexts exchanged", copy(one, there, two, here, bytes, two.stream), INVALID_HANDLE)?;
    expect_told(stand_in, "none of the current context's")?;
    two.enter()?;
    expect("the contexts exchanged", copy(one, there, two, here, bytes, two.stream), INVALID_VALUE)?;
    expect_told(stand_in, "a context that has not the memory")?;
    expect("a third's memory", three.send(here, two, there, bytes)?, INVALID_VALUE)?;
    expect_told(stand_in, "a context that has not the memory")?;
    three.enter()?;
    expect("a third's stream", copy(two, there, one, here, bytes, three.stream), INVALID_HANDLE)?;
    expect_told(stand_in, "in a stream of neither context")?;
    one.enter()?;
    expect("not the current one's stream", copy(two, there, one, here, bytes, two.stream), INVALID_HANDLE)?;
    expect_told(stand_in, "none of the current context's")?;
    for (to, from) in [(one.stream.cast(), one.context), (two.context, one.stream.cast())] {
        // SAFETY: the test is about what is no context.
        let answer = status(unsafe { result::memcpy_peer_async(to, there, from, here, bytes, one.stream) });
        expect("no context", answer, INVALID_CONTEXT)?;
        expect_told(stand_in, "what is no context")?;
    }
    // And nothing of it was done.
    expect("the target", two.read(there, COUNT)?, vec![2.0; COUNT])?;
    // A broken context takes part in no copy, and does no harm to the other.
    two.break_down(stand_in)?;
    expect("to a broken one", one.send(here, two, there, bytes)?, ILLEGAL_ADDRESS)?;
    expect("from a broken one", one.fetch(here, two, there, bytes)?, ILLEGAL_ADDRESS)?;
    expect("the good one", one.finish()?, 0)
}

fn plain_copies(_: StandIn) -> Outcome {
    let plain = |device: &Device, to, from| -> Result<i32, String> {
        device.enter()?;
        // SAFETY: the arrays are long enough; the test is about the context's access to them.
        expect("at once", status(unsafe { result::memcpy_dtod_async(to, from, 4 * COUNT, device.stream) }), 0)?;
        device.finish()
    };
    let last = {
        let devices = Devices::open()?;
        devices.len() - 1
    };
    for fetches in [false, true] {
        // Another context each time: this one breaks.
        let devices = Devices::open()?;
        let (one, other) = (&devices[0], &devices[last]);
        let (here, there) = (one.array(&[1.0; COUNT])?, other.array(&[2.0; COUNT])?);
        let (to, from) = if fetches { (here, there) } else { (there, here) };
        if has_peers() {
            // Access has a direction: one context has it, the other does not.
            expect("access", [enable(one, other)?, enable(other, one)?], [0; 2])?;
            expect("with access", plain(one, to, from)?, 0)?;
            let wanted = if fetches { 2.0 } else { 1.0 };
            expect("what came", one.read(here, COUNT)?, vec![wanted; COUNT])?;
            expect("what came", other.read(there, COUNT)?, vec![wanted; COUNT])?;
            expect("no access any more", disable(one, other)?, 0)?;
        }
        // Late, so that actions of the other device meanwhile would meet it.
        let long = one.array(&vec![0.0; LONG / 4])?;
        one.work_long(long)?;
        one.enter()?;
        // SAFETY: the arrays are long enough; the test is about a context that does not reach both.
        let answer = status(unsafe { result::memcpy_dtod_async(to, from, 4 * COUNT, one.stream) });
        expect("the answer comes later", answer, 0)?;
        other.fill(there, 4, 0)?;
        expect("without access", one.finish()?, ILLEGAL_ADDRESS)?;
        expect("for good", one.finish()?, ILLEGAL_ADDRESS)?;
        expect("of one context only", other.finish()?, 0)?;
        let left = if fetches || !has_peers() { 2.0 } else { 1.0 };
        expect("what it left alone", other.read(there, 2)?, vec![0.0, left])?;
    }
    Ok(())
}

/// Memory of either side, access, and a whole context: each is reported while a copy needs it.
fn freed(stand_in: StandIn) -> Outcome {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Goes {
        Target,
        Source,
        Access,
        Nothing,
    }
    let cases = [
        (Goes::Target, "cuMemFree while a cuMemcpyPeerAsync that uses it has not ended"),
        (Goes::Source, "cuMemFree while a cuMemcpyPeerAsync that uses it has not ended"),
        (Goes::Access, "cuCtxDisablePeerAccess while a cuMemcpyPeerAsync that uses it has not ended"),
        (Goes::Nothing, ""),
    ];
    let devices = Devices::open()?;
    let (one, other) = (&devices[0], &devices[devices.len() - 1]);
    let long = one.array(&vec![0.0; LONG / 4])?;
    for (goes, wanted) in cases.into_iter().filter(|case| has_peers() || case.0 != Goes::Access) {
        // In a stream of the one that has it, and of the other.
        for fetches in [false, true] {
            if has_peers() {
                expect("access", enable(one, other)?, 0)?;
            }
            let (here, there) = (one.array(&[1.0; COUNT])?, other.array(&[2.0; COUNT])?);
            one.work_long(long)?;
            let answer = if fetches {
                one.fetch(here, other, there, 4 * COUNT)
            } else {
                one.send(here, other, there, 4 * COUNT)
            };
            expect("the copy", answer?, 0)?;
            let free = |device: &Device, array: sys::CUdeviceptr| {
                // From any context: the memory says which it is of.
                device.arrays.borrow_mut().retain(|one| *one != array);
                // SAFETY: the test is about its being in use.
                expect("cuMemFree", status(unsafe { result::free_sync(array) }), 0)
            };
            match goes {
                Goes::Target => free(if fetches { one } else { other }, if fetches { here } else { there })?,
                Goes::Source => free(if fetches { other } else { one }, if fetches { there } else { here })?,
                Goes::Access => expect("cuCtxDisablePeerAccess", disable(one, other)?, 0)?,
                Goes::Nothing => expect("cuStreamSynchronize", one.finish()?, 0)?,
            }
            expect_told(stand_in, wanted)?;
            expect("the end", one.finish()?, 0)?;
            if has_peers() && goes != Goes::Access {
                expect("cuCtxDisablePeerAccess", disable(one, other)?, 0)?;
            }
            expect_nothing_told(stand_in, "what is over")?;
        }
    }
    drop(devices);
    // Ends a context whose memory another's stream reads.
    let mut devices = Devices::open()?;
    let other = devices.0.pop().ok_or("no device")?;
    let one = &devices[0];
    let (here, there) = (one.array(&[1.0; COUNT])?, other.array(&[2.0; COUNT])?);
    let long = one.array(&vec![0.0; LONG / 4])?;
    one.work_long(long)?;
    expect("the copy", one.fetch(here, &other, there, 4 * COUNT)?, 0)?;
    other.arrays.borrow_mut().clear();
    drop(other);
    expect_told(stand_in, "the end of its context while a cuMemcpyPeerAsync that uses it has not ended")?;
    expect("the end", one.finish()?, 0)
}

fn events(stand_in: StandIn) -> Outcome {
    let devices = Devices::open()?;
    let (one, other) = (&devices[0], &devices[devices.len() - 1]);
    let (here, there) = (one.array(&[1.0; COUNT])?, other.array(&[2.0; COUNT])?);
    let long = one.array(&vec![0.0; LONG / 4])?;
    let long_there = other.array(&vec![0.0; LONG / 4])?;

    // An event that was never recorded counts as past, and no wait for it blocks.
    let event = one.event()?;
    other.wait_event(event)?;
    expect("never recorded", query(event), 0)?;
    expect("never recorded", other.finish()?, 0)?;

    // An event is recorded in streams of its own context only, and queried from any.
    other.enter()?;
    // SAFETY: the test is about their mismatch.
    let mixed = status(unsafe { sys::cuEventRecord(event, other.stream).result() });
    expect("an event of another context", mixed, INVALID_HANDLE)?;
    one.work_long(long)?;
    one.record(event)?;
    other.enter()?;
    expect("from another context, before", query(event), NOT_READY)?;
    // SAFETY: the event is open.
    expect("from another context", status(unsafe { result::event::synchronize(event) }), 0)?;
    expect("from another context, after", query(event), 0)?;
    // SAFETY: the test is about what is no event.
    expect("no event", query(other.stream.cast()), INVALID_HANDLE)?;
    expect_told(stand_in, "cuEventQuery of what is no event")?;

    // A stream waits for another device's work, whose event is recorded anew or destroyed meanwhile.
    for what in ["kept", "recorded anew", "destroyed"] {
        for round in 0..2_u8 {
            one.enter()?;
            let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(text)?;
            one.work_long(long)?;
            one.fill(here, 4 * COUNT, round)?;
            expect("send", one.send(here, other, there, 4 * COUNT)?, 0)?;
            one.record(event)?;
            other.wait_event(event)?;
            if what == "destroyed" {
                // SAFETY: made above; the test is about the wait for it.
                unsafe { result::event::destroy(event) }.map_err(text)?;
            } else if what == "recorded anew" {
                one.work_long(long)?;
                one.record(event)?;
            }
            let wanted = f32::from_ne_bytes([round; 4]);
            expect(what, other.read(there, COUNT)?, vec![wanted; COUNT])?;
            if what == "recorded anew" {
                expect("the wait was for the first", query(event), NOT_READY)?;
            }
            expect("cuStreamSynchronize", one.finish()?, 0)?;
            if what != "destroyed" {
                expect("after all", query(event), 0)?;
                // SAFETY: made above.
                unsafe { result::event::destroy(event) }.map_err(text)?;
            }
        }
    }

    // The last record counts, also where an earlier one in another stream of the context comes later.
    one.enter()?;
    // SAFETY: the event and the streams are of this context.
    unsafe {
        let second = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
        let event = one.event()?;
        one.work_long(long)?;
        one.record(event)?;
        other.wait_event(event)?;
        one.enter()?;
        result::event::record(event, second).map_err(text)?;
        result::event::synchronize(event).map_err(text)?;
        other.enter()?;
        let waits = status(sys::cuStreamQuery(other.stream).result());
        expect("who waits for the first record", waits, NOT_READY)?;
        expect("the first record", one.finish()?, 0)?;
        expect("who waited", other.finish()?, 0)?;
        one.enter()?;
        expect("the last record", query(event), 0)?;
        result::stream::destroy(second).map_err(text)?;
    }
    expect_nothing_told(stand_in, "events")?;

    // A context breaks while another waits for it: the other goes on.
    one.work_long(long)?;
    let event = one.event()?;
    one.record(event)?;
    other.wait_event(event)?;
    other.fill(long_there, LONG, 0)?;
    one.break_down(stand_in)?;
    expect("the other", other.finish()?, 0)?;
    expect("the event, from the other", query(event), ILLEGAL_ADDRESS)?;
    // SAFETY: the event is open.
    expect("the event, from the other", status(unsafe { result::event::synchronize(event) }), ILLEGAL_ADDRESS)
}

/// A thread for each device. Neither a wait for another device nor a launch blocks the other threads.
fn threads(stand_in: StandIn) -> Outcome {
    // The first thread waits for work that the last has yet to begin.
    result::init().map_err(text)?;
    let last = count()? - 1;
    let (started, is_started) = mpsc::channel::<usize>();
    let (through, open) = (&AtomicBool::new(false), &Barrier::new(2));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || -> Outcome {
            let device = Device::open(0)?;
            open.wait();
            let event = is_started.recv().map_err(|error| error.to_string())? as sys::CUevent;
            device.wait_event(event)?;
            expect("cuStreamSynchronize", device.finish()?, 0)?;
            through.store(true, Ordering::SeqCst);
            open.wait();
            Ok(())
        });
        let working = (|| -> Outcome {
            let device = Device::open(last)?;
            open.wait();
            let (input, output) = (device.array(&vec![1.0; LONG / 2])?, device.array(&vec![0.0; LONG / 2])?);
            let event = device.event()?;
            // This thread only launches: a wait for that finds the event recorded.
            device.turn(input, output, LONG / 2)?;
            device.record(event)?;
            started.send(event as usize).map_err(|error| error.to_string())?;
            std::thread::sleep(Duration::from_millis(20));
            // Calls of all kinds meanwhile, in this context and in that of the thread that waits.
            let calls = || -> Outcome {
                // SAFETY: all that is made is freed.
                unsafe {
                    let memory = result::malloc_sync(4096).map_err(text)?;
                    result::free_sync(memory).map_err(text)?;
                    let pinned = result::malloc_host(4096, 0).map_err(text)?;
                    result::free_host(pinned).map_err(text)?;
                    let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
                    result::stream::synchronize(stream).map_err(text)?;
                    result::stream::destroy(stream).map_err(text)
                }
            };
            device.enter()?;
            calls()?;
            let _other = Device::open(0)?;
            calls()?;
            expect("the calls came too late", (query(event), through.load(Ordering::SeqCst)), (NOT_READY, false))?;
            open.wait();
            expect("the work", device.finish()?, 0)
        })();
        if working.is_err() {
            // The other one is not to wait for ever: the process ends with the error.
            println!("{working:?}");
            std::process::exit(1);
        }
        waiting.join().map_err(|_| "a thread panicked".to_string())?
    })?;

    // A ring of sums, all threads at the same time: each takes its predecessor's sum, and passes on its own.
    const ROUNDS: usize = 60;
    let n = last + 1;
    let devices = Devices::open()?;
    enable_all(&devices)?;
    let all = Barrier::new(n);
    let mut places = Vec::new();
    for (d, device) in devices.iter().enumerate() {
        let zeros = vec![0.0; COUNT];
        places.push((device.array(&vec![d as f32; COUNT])?, device.array(&zeros)?, device.event()?, device.event()?));
    }
    struct Shared<'a>(&'a Devices, &'a [(sys::CUdeviceptr, sys::CUdeviceptr, sys::CUevent, sys::CUevent)]);
    // SAFETY: the handles are numbers to the driver, which any thread may name; the lists of a device are not touched.
    unsafe impl Sync for Shared<'_> {}
    let shared = Shared(&devices, &places);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n)
            .map(|d| {
                let (all, shared) = (&all, &shared);
                scope.spawn(move || -> Outcome {
                    let Shared(devices, places) = shared;
                    let (device, before, next) = (&devices[d], (d + n - 1) % n, (d + 1) % n);
                    let (mine, came, ready, taken) = places[d];
                    device.record(ready)?;
                    for _ in 0..ROUNDS {
                        all.wait();
                        device.wait_event(places[before].2)?;
                        let answer = device.fetch(came, &devices[before], places[before].0, 4 * COUNT)?;
                        expect("fetch", answer, 0)?;
                        device.record(taken)?;
                        all.wait();
                        // A buffer that the next device still has to read is not overwritten.
                        device.wait_event(places[next].3)?;
                        device.turn(came, mine, COUNT)?;
                        device.record(ready)?;
                    }
                    expect("cuStreamSynchronize", device.finish()?, 0)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked".to_string())?)
    })?;
    for (d, device) in devices.iter().enumerate() {
        let wanted = ((d + n * ROUNDS - ROUNDS) % n) as f32;
        expect("after all rounds", device.read(places[d].0, COUNT)?, vec![wanted; COUNT])?;
    }
    expect_nothing_told(stand_in, "what is ordered by events")
}

/// Conflicting copies of two devices, by what orders them: reported in whatever order they ran.
fn told(stand_in: StandIn) -> Outcome {
    const NOTHING_ORDERS: &str = "with nothing that orders them";
    const HALF: usize = 2 * COUNT;
    let devices = Devices::open()?;
    enable_all(&devices)?;
    let (one, two) = (&devices[0], &devices[1]);
    let (here, there) = (one.array(&[1.0; COUNT])?, two.array(&[2.0; COUNT])?);
    let (aside, upper) = (two.array(&[3.0; COUNT])?, HALF as u64);
    let finish =
        || -> Outcome { devices.iter().try_for_each(|device| expect("cuStreamSynchronize", device.finish()?, 0)) };
    let send = |from, to, bytes| expect("send", one.send(from, two, to, bytes)?, 0);
    let take = |to, from, bytes| -> Outcome {
        two.enter()?;
        // SAFETY: the arrays are as long.
        unsafe { result::memcpy_dtod_async(to, from, bytes, two.stream) }.map_err(text)
    };
    let check = |what: &str, wanted: bool| -> Outcome {
        finish()?;
        let told = stand_in.misuse().unwrap_or_default();
        expect(&format!("{what}: {told}"), told.contains(NOTHING_ORDERS), wanted)
    };

    // The next is read too early; and overwritten too early.
    for ordered in [false, true] {
        send(here, there, 4 * COUNT)?;
        if ordered {
            two.wait_for(one)?;
        }
        take(aside, there, 4 * COUNT)?;
        check("read after it was sent", !ordered)?;
        take(aside, there, 4 * COUNT)?;
        if ordered {
            one.wait_for(two)?;
        }
        send(here, there, 4 * COUNT)?;
        check("sent after it was read", !ordered)?;
        // Its source is written too early.
        expect("fetch", two.fetch(there, one, here, 4 * COUNT)?, 0)?;
        if ordered {
            one.wait_for(two)?;
        }
        one.fill(here, 4 * COUNT, 0)?;
        check("written after it was fetched", !ordered)?;
        one.fill(here, 4 * COUNT, 1)?;
        if ordered {
            two.wait_for(one)?;
        }
        expect("fetch", two.fetch(there, one, here, 4 * COUNT)?, 0)?;
        check("fetched after it was written", !ordered)?;
    }
    // The wrong event: recorded before the copy.
    let event = one.event()?;
    one.record(event)?;
    send(here, there, 4 * COUNT)?;
    two.wait_event(event)?;
    take(aside, there, 4 * COUNT)?;
    check("an event from before", true)?;
    // The wait comes after the access that should have waited.
    send(here, there, 4 * COUNT)?;
    take(aside, there, 4 * COUNT)?;
    two.wait_for(one)?;
    check("a wait too late", true)?;
    // Half of it, and the other half.
    for (at, told) in [(upper, false), (upper - 4, true)] {
        send(here, there, HALF)?;
        take(aside, there + at, HALF)?;
        check("halves", told)?;
    }
    // To read is no conflict.
    send(here, there, 4 * COUNT)?;
    finish()?;
    expect("fetch", two.fetch(aside, one, here, 4 * COUNT)?, 0)?;
    send(here, there, 4 * COUNT)?;
    check("two that read", false)?;
    // Work that the host has waited for is over: for a stream, an event, all, and by polling.
    for how in 0..4 {
        send(here, there, 4 * COUNT)?;
        let event = one.event()?;
        one.record(event)?;
        // SAFETY: all is open, and the first context is current.
        unsafe {
            match how {
                0 => expect("cuStreamSynchronize", one.finish()?, 0)?,
                1 => result::event::synchronize(event).map_err(text)?,
                2 => result::ctx::synchronize().map_err(text)?,
                _ => while status(sys::cuStreamQuery(one.stream).result()) == NOT_READY {},
            }
        }
        take(aside, there, 4 * COUNT)?;
        check("after the host has waited", false)?;
    }
    // By way of the host, without access or with: page-locked memory that one device writes and the other reads.
    one.enter()?;
    // SAFETY: a context is current; the memory is freed below.
    let pinned = unsafe { result::malloc_host(4 * COUNT, 0) }.map_err(text)?.cast::<f32>();
    // SAFETY: the arrays have this number of elements; the test is about what the devices do with them meanwhile.
    let stage = unsafe { std::slice::from_raw_parts_mut(pinned, COUNT) };
    for ordered in [false, true] {
        one.enter()?;
        // SAFETY: the arrays are as long, and live until the streams have been waited for.
        unsafe { result::memcpy_dtoh_async(stage, here, one.stream) }.map_err(text)?;
        if ordered {
            two.wait_for(one)?;
        }
        two.enter()?;
        // SAFETY: as above.
        unsafe { result::memcpy_htod_async(there, stage, two.stream) }.map_err(text)?;
        check("by way of the host", !ordered)?;
    }
    one.enter()?;
    // SAFETY: allocated above, and nothing uses it any more.
    unsafe { result::free_host(pinned.cast()) }.map_err(text)?;
    // A kernel: the races build knows its accesses from the second launch on.
    for ordered in [true, false] {
        for _ in 0..2 {
            send(here, there, 4 * COUNT)?;
            if ordered {
                two.wait_for(one)?;
            }
            two.turn(there, aside, COUNT)?;
            finish()?;
        }
        check("a kernel that reads it", !ordered && kind() == "races")?;
        for _ in 0..2 {
            two.turn(aside, there, COUNT / 2)?;
            if ordered {
                one.wait_for(two)?;
            }
            // The half that it does not touch is free.
            send(here + upper, there + upper, HALF)?;
            finish()?;
        }
        check("a kernel beside it", false)?;
        two.turn(aside, there, COUNT)?;
        if ordered {
            one.wait_for(two)?;
        }
        send(here + upper, there + upper, HALF)?;
        check("a kernel that writes it", !ordered && kind() == "races")?;
    }
    // A second stream of the device that sends, whose event or none the first waits for.
    one.enter()?;
    let second = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
    for ordered in [false, true] {
        one.enter()?;
        // SAFETY: the array is as long, and all is open.
        unsafe {
            result::memset_d8_async(here, 0, 4 * COUNT, second).map_err(text)?;
            if ordered {
                let event = one.event()?;
                result::event::record(event, second).map_err(text)?;
                one.wait_event(event)?;
            }
            send(here, there, 4 * COUNT)?;
            result::stream::synchronize(second).map_err(text)?;
        }
        check("two streams of one device", !ordered)?;
    }
    // SAFETY: made above, and waited for.
    unsafe { result::stream::destroy(second) }.map_err(text)?;
    // Two that send to a third; and one that waits for it by way of the second.
    if let Some(three) = devices.get(2) {
        let far = three.array(&[4.0; COUNT])?;
        for ordered in [false, true] {
            expect("send", one.send(here, three, far, 4 * COUNT)?, 0)?;
            if ordered {
                two.wait_for(one)?;
            }
            expect("send", two.send(there, three, far, 4 * COUNT)?, 0)?;
            if ordered {
                three.wait_for(two)?;
                three.fill(far, 4 * COUNT, 0)?;
            }
            check("two to a third", !ordered)?;
        }
    }
    // Work left in a broken context is not done: it conflicts with nothing.
    send(here, there, 4 * COUNT)?;
    one.break_down(stand_in)?;
    take(aside, there, 4 * COUNT)?;
    expect("the good one", two.finish()?, 0)?;
    expect_nothing_told(stand_in, "the end")
}

/// Results are often wrong if a kernel does not wait for another device's copy, or the copy not for the kernel; they
/// are right if both wait.
fn missing_waits(stand_in: StandIn) -> Outcome {
    const ROUNDS: usize = 40;
    let devices = Devices::open()?;
    enable_all(&devices)?;
    let (one, two) = (&devices[0], &devices[devices.len() - 1]);
    // The arrays to send, one a round.
    let sources: Vec<_> = (0..ROUNDS).map(|round| one.array(&[round as f32; COUNT])).collect::<Result<_, _>>()?;
    let results: Vec<_> = (0..ROUNDS).map(|_| two.array(&[-1.0; COUNT])).collect::<Result<_, _>>()?;
    let there = two.array(&[-1.0; COUNT])?;
    for (waits_for_copy, waits_for_kernel) in [(true, true), (false, true), (true, false)] {
        for round in 0..ROUNDS {
            expect("send", one.send(sources[round], two, there, 4 * COUNT)?, 0)?;
            if waits_for_copy {
                two.wait_for(one)?;
            }
            two.turn(there, results[round], COUNT)?;
            if waits_for_kernel {
                one.wait_for(two)?;
            }
        }
        for device in [one, two] {
            expect("cuStreamSynchronize", device.finish()?, 0)?;
        }
        let (mut wrong, mut under_way) = (0, 0);
        for (round, array) in results.iter().enumerate() {
            let samples = two.read(*array, COUNT)?;
            wrong += usize::from(samples != [round as f32; COUNT]);
            under_way += usize::from(samples.iter().any(|sample| sample.is_nan()));
        }
        if !waits_for_copy && under_way == 0 {
            return Err("no kernel has read what a copy was still to write".into());
        }
        let told = stand_in.misuse().is_some();
        let waits = waits_for_copy && waits_for_kernel;
        if (wrong == 0) != waits || told == waits && kind() == "races" || told && kind() != "races" {
            return Err(format!("{waits_for_copy} {waits_for_kernel}: {wrong} rounds are wrong; told: {told}"));
        }
    }
    Ok(())
}

/// Every call of these can be made to fail, and then goes through; access is among the things that run out.
fn faults(stand_in: StandIn) -> Outcome {
    let devices = Devices::open()?;
    let (one, two) = (&devices[0], &devices[1]);
    let (here, there) = (one.array(&[1.0; COUNT])?, two.array(&[2.0; COUNT])?);
    let event = two.event()?;
    two.record(event)?;
    one.enter()?;
    let mut can = 0;
    // SAFETY: all is open, and the arrays are as long.
    let mut calls: [(&str, &mut dyn FnMut() -> sys::CUresult); 8] = unsafe {
        [
            ("cuDeviceCanAccessPeer", &mut || sys::cuDeviceCanAccessPeer(&mut can, 0, 1)),
            ("cuCtxEnablePeerAccess", &mut || sys::cuCtxEnablePeerAccess(two.context, 0)),
            ("cuMemcpyPeerAsync", &mut || {
                sys::cuMemcpyPeerAsync(there, two.context, here, one.context, 4 * COUNT, one.stream)
            }),
            ("cuMemcpyDtoDAsync_v2", &mut || sys::cuMemcpyDtoDAsync_v2(there, here, 4 * COUNT, one.stream)),
            ("cuStreamWaitEvent", &mut || sys::cuStreamWaitEvent(one.stream, event, 0)),
            ("cuEventSynchronize", &mut || sys::cuEventSynchronize(event)),
            ("cuEventQuery", &mut || sys::cuEventQuery(event)),
            ("cuCtxDisablePeerAccess", &mut || {
                let status = sys::cuStreamSynchronize(one.stream);
                if status == sys::CUresult::CUDA_SUCCESS { sys::cuCtxDisablePeerAccess(two.context) } else { status }
            }),
        ]
    };
    for (name, call) in &mut calls {
        stand_in.fail_in(name, 1, 999, Mode::Once);
        expect(name, [status(call().result()), status(call().result())], [999, 0])?;
    }
    expect("what was copied", two.read(there, 1)?, vec![1.0])?;
    one.enter()?;
    stand_in.fail_in("cuCtxEnablePeerAccess", 1, 2, Mode::FromThenOn);
    expect("what runs out stays so", [enable(one, two)?, enable(one, two)?], [2, 2])?;
    stand_in.heal();
    // A context that breaks in the middle of it breaks by itself.
    stand_in.fail_in("cuMemcpyPeerAsync", 1, ILLEGAL_ADDRESS, Mode::Sticky);
    expect("sticky", one.send(here, two, there, 4 * COUNT)?, ILLEGAL_ADDRESS)?;
    expect("sticky", [one.finish()?, two.finish()?], [ILLEGAL_ADDRESS, 0])
}

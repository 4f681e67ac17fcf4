//! Tests of the stand-in for the CUDA driver: it must find each fault of the kernels in
//! `tests/stand_in/cuda/fixtures.cu`, which have one each.
//!
//! All are counted as ignored if the library finds another driver, or none. `STAND_IN_KIND` names the build (plain,
//! sanitized, races): only one of them sees some of the faults.

mod generated;
mod several;
mod walks;

use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use cudarc::driver::{result, sys};
use libtest_mimic::{Failed, Trial};

use crate::common::{Mode, StandIn, child, within};

type Outcome = Result<(), String>;

const THREADS: usize = 64;
const ILLEGAL_ADDRESS: i32 = 700;
const LAUNCH_FAILED: i32 = 719;

/// Replaces the PTX of the fixtures: only what the driver reads of it.
fn fixtures() -> CString {
    let kernels = [
        "turned",
        "without_barrier",
        "two_barriers",
        "ends_before_barrier",
        "one_too_far",
        "reads_one_too_far",
        "too_far_in_shared",
        "reads_what_nobody_wrote",
        "writes_constant",
        "counts",
        "blocks_meet",
        "shuffles",
        "rounds",
        "dynamic",
        "copies",
        "copies_too_late",
        "copies_never_begun",
        "copies_off_their_place",
        "copies_left",
        "meets",
        "meets_too_early",
        "hands",
        "hands_too_early",
        "hands_again_too_early",
        "leaves",
        "leaves_off_its_place",
        "follows",
        "follows_but_one",
        "any",
    ];
    let mut text = String::from("// stand-in fixtures\n.version 8.0\n.target sm_60\n.address_size 64\n");
    text += ".const .align 4 .b8 factor[16];\n.global .align 4 .b8 total[4];\n";
    for kernel in kernels {
        text += &format!(
            ".visible .entry {kernel}(\n\t.param .align 8 .b8 {kernel}_param_0[32]\n)\n.maxntid {THREADS}, 1, 1\n{{\n"
        );
        text += &format!("\t.shared .align 4 .b8 {kernel}_tile[{}];\n\tret;\n}}\n", 4 * THREADS);
    }
    CString::new(text).expect("no NUL")
}

/// Returns the driver's status as a number.
fn status(result: Result<(), result::DriverError>) -> i32 {
    result.err().map_or(0, |error| error.0 as i32)
}

fn text(error: result::DriverError) -> String {
    error.to_string()
}

/// The primary context of a device, current here until it is dropped.
struct Context(i32);

impl Context {
    fn new(ordinal: i32) -> Result<Context, String> {
        result::init().map_err(text)?;
        // SAFETY: the device is there, or the driver says so.
        let context = unsafe { result::primary_ctx::retain(ordinal) }.map_err(text)?;
        // SAFETY: retained just now.
        unsafe { result::ctx::set_current(context) }.map_err(text)?;
        Ok(Context(ordinal))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained in `new`. A broken context answers with its error, and goes.
        let _ = unsafe { result::primary_ctx::release(self.0) };
    }
}

/// The fixtures in a context of their own, with a stream, and two arrays.
struct Bench {
    module: sys::CUmodule,
    stream: sys::CUstream,
    count: usize,
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    _context: Context,
}

#[repr(C)]
struct Job {
    input: sys::CUdeviceptr,
    output: sys::CUdeviceptr,
    other: sys::CUdeviceptr,
    count: u64,
}

impl Bench {
    fn new(count: usize) -> Result<Bench, String> {
        let context = Context::new(0)?;
        // SAFETY: a context is current, and the text ends in NUL.
        unsafe {
            let module = result::module::load_data(fixtures().as_ptr().cast()).map_err(text)?;
            let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
            let input = result::malloc_sync(4 * count).map_err(text)?;
            let output = result::malloc_sync(4 * count).map_err(text)?;
            let samples: Vec<f32> = (0..count).map(|i| 1.0 + i as f32).collect();
            result::memcpy_htod_sync(input, &samples).map_err(text)?;
            result::ctx::synchronize().map_err(text)?;
            Ok(Bench { module, stream, count, input, output, _context: context })
        }
    }

    fn function(&self, name: &str) -> Result<sys::CUfunction, String> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.module, CString::new(name).expect("no NUL")) }.map_err(text)
    }

    fn set_factor(&self, factor: [f32; 4]) -> Outcome {
        // SAFETY: the module is loaded, and the symbol is large enough.
        unsafe {
            let (address, bytes) = result::module::get_global(self.module, c"factor".to_owned()).map_err(text)?;
            if bytes != 16 {
                return Err(format!("{bytes} bytes of a constant"));
            }
            result::memcpy_htod_async(address, &factor, self.stream).map_err(text)?;
            result::stream::synchronize(self.stream).map_err(text)
        }
    }

    /// Returns the argument of all kernels.
    fn job(&self) -> Job {
        Job { input: self.input, output: self.output, other: self.input, count: self.count as u64 }
    }

    fn launch(&self, kernel: &str, blocks: usize, threads: usize, shared: usize) -> Result<i32, String> {
        let mut job = self.job();
        let mut arguments = [(&raw mut job).cast::<c_void>()];
        let (grid, block) = ((blocks as u32, 1, 1), (threads as u32, 1, 1));
        // SAFETY: the stand-in must find the faults of a fixture.
        let launched = unsafe {
            result::launch_kernel(self.function(kernel)?, grid, block, shared as u32, self.stream, &mut arguments)
        };
        Ok(status(launched))
    }

    /// Launches a kernel over all elements, with an attribute set to 1.
    fn launch_with(&self, kernel: &str, id: sys::CUlaunchAttributeID) -> Result<i32, String> {
        let mut job = self.job();
        let mut arguments = [(&raw mut job).cast::<c_void>()];
        let mut value = sys::CUlaunchAttributeValue { pad: [0; 64] };
        value.programmaticStreamSerializationAllowed = 1;
        let mut attribute = sys::CUlaunchAttribute { id, pad: [0; 4], value };
        let config = sys::CUlaunchConfig {
            gridDimX: (self.count / THREADS) as u32,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: THREADS as u32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: self.stream,
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        let function = self.function(kernel)?;
        let none = std::ptr::null_mut();
        // SAFETY: as in `launch`.
        Ok(status(unsafe { sys::cuLaunchKernelEx(&raw const config, function, arguments.as_mut_ptr(), none) }.result()))
    }

    fn wait(&self) -> i32 {
        // SAFETY: the stream is open.
        status(unsafe { result::stream::synchronize(self.stream) })
    }

    /// Launches a kernel over all elements and waits: the driver's answer, and the output.
    fn run(&self, kernel: &str, shared: usize) -> Result<(i32, Vec<f32>), String> {
        let launched = self.launch(kernel, self.count / THREADS, THREADS, shared)?;
        if launched != 0 {
            return Ok((launched, Vec::new()));
        }
        let ended = self.wait();
        let mut output = vec![0_f32; self.count];
        if ended == 0 {
            // SAFETY: the array has this number of elements.
            unsafe { result::memcpy_dtoh_sync(&mut output, self.output) }.map_err(text)?;
        }
        Ok((ended, output))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and waited for; a broken context answers with its error and gives all back when it
        // ends.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            let _ = result::free_sync(self.input);
            let _ = result::free_sync(self.output);
            let _ = result::stream::destroy(self.stream);
            let _ = result::module::unload(self.module);
        }
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Outcome {
    if got == wanted { Ok(()) } else { Err(format!("{what}: {got:?}, not {wanted:?}")) }
}

fn kind() -> String {
    std::env::var("STAND_IN_KIND").unwrap_or_else(|_| "plain".into())
}

fn kernels_run_as_they_are_written(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    bench.set_factor([0.0, 2.0, 0.0, 0.0])?;
    let (ended, output) = bench.run("turned", 0)?;
    let wanted = (0..1024).map(|i| 2.0 * (1 + i / THREADS * THREADS + THREADS - 1 - i % THREADS) as f32).collect();
    expect("turned", (ended, output), (0, wanted))?;
    let (ended, output) = bench.run("shuffles", 0)?;
    let wanted = (0..1024).map(|i| (0..32).map(|lane| (1 + i / 32 * 32 + lane) as f32).sum()).collect();
    expect("shuffles", (ended, output), (0, wanted))?;
    let (ended, output) = bench.run("dynamic", 4 * THREADS)?;
    let wanted = (0..1024).map(|i| (1 + i / THREADS * THREADS + (i + 1) % THREADS) as f32).collect();
    expect("dynamic", (ended, output), (0, wanted))?;
    let (ended, output) = bench.run("counts", 0)?;
    expect("counts", (ended, output[1000]), (0, 15.0))?;
    let mut total = [0_f32];
    // SAFETY: the symbol has room for one.
    unsafe {
        let (address, _) = result::module::get_global(bench.module, c"total".to_owned()).map_err(text)?;
        result::memcpy_dtoh_sync(&mut total, address).map_err(text)?;
    }
    expect("what a kernel wrote to its module's memory", total, [1024.0])
}

fn fma_rounds_once_and_nothing_else_is_fused(_: StandIn) -> Outcome {
    let bench = Bench::new(THREADS)?;
    let x = 1.0 + f32::EPSILON;
    // SAFETY: both arrays are large enough.
    unsafe { result::memcpy_htod_sync(bench.input, &[x; THREADS]) }.map_err(text)?;
    // SAFETY: as above.
    let other = unsafe { result::malloc_sync(4 * THREADS) }.map_err(text)?;
    // SAFETY: as above.
    unsafe { result::memcpy_htod_sync(other, &[x * x; THREADS]) }.map_err(text)?;
    result::ctx::synchronize().map_err(text)?;
    let mut job = Job { input: bench.input, output: bench.output, other, count: 1 };
    let mut arguments = [(&raw mut job).cast::<c_void>()];
    let function = bench.function("rounds")?;
    // SAFETY: the arrays have this number of elements.
    unsafe { result::launch_kernel(function, (1, 1, 1), (THREADS as u32, 1, 1), 0, bench.stream, &mut arguments) }
        .map_err(text)?;
    expect("rounds", bench.wait(), 0)?;
    let mut output = [0_f32; THREADS];
    // SAFETY: the array has this number of elements.
    unsafe { result::memcpy_dtoh_sync(&mut output, bench.output) }.map_err(text)?;
    // SAFETY: allocated above, and nothing uses it any more.
    unsafe { result::free_sync(other) }.map_err(text)?;
    expect("rounds", output, [1.0; THREADS])
}

/// In most orders of the threads a result is wrong where a barrier is missing; where races are looked for, the launch
/// fails.
fn a_missing_barrier_shows(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    let (ended, output) = bench.run("without_barrier", 0)?;
    if kind() == "races" {
        return expect("without_barrier", ended, LAUNCH_FAILED);
    }
    let right = |i: usize| (1 + i / THREADS * THREADS + THREADS - 1 - i % THREADS) as f32;
    let wrong = output.iter().enumerate().filter(|(i, x)| **x != right(*i)).count();
    if ended == 0 && wrong > 100 { Ok(()) } else { Err(format!("{ended}, and {wrong} are wrong")) }
}

fn blocks_that_meet_are_a_race(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    let (ended, _) = bench.run("blocks_meet", 0)?;
    expect("blocks_meet", ended, if kind() == "races" { LAUNCH_FAILED } else { 0 })
}

/// Some asynchronous copies are delayed until a wait. The stand-in finds a wait for a transaction that was never begun,
/// a copy to an impossible target, and a block that ends before its own copy.
fn copies_into_shared_memory_are_late(_: StandIn) -> Outcome {
    let right = |i: usize| {
        let (block, at) = (i / THREADS * THREADS, THREADS - 1 - i % THREADS);
        (1 + block + at + if at < 2 { 2 } else { 0 }) as f32
    };
    let bench = Bench::new(1024)?;
    let (ended, output) = bench.run("copies", 0)?;
    expect("copies", ended, 0)?;
    if let Some(at) = output.iter().enumerate().position(|(i, x)| *x != right(i)) {
        return Err(format!("copies: element {at} is {}", output[at]));
    }
    let (ended, output) = bench.run("copies_too_late", 0)?;
    if kind() == "races" {
        expect("copies_too_late", ended, LAUNCH_FAILED)?;
    } else {
        expect("copies_too_late", ended, 0)?;
        let wrong = output.iter().enumerate().filter(|(i, x)| **x != right(*i)).count();
        if wrong < 100 {
            return Err(format!("copies that nobody waited for: {wrong} are wrong"));
        }
    }
    drop(bench);
    for kernel in ["copies_never_begun", "copies_off_their_place", "copies_left"] {
        expect(kernel, Bench::new(1024)?.run(kernel, 0)?.0, LAUNCH_FAILED)?;
    }
    Ok(())
}

/// A thread that arrives at a barrier and waits later is delayed now and then.
fn who_arrives_may_rest(_: StandIn) -> Outcome {
    let bench = Bench::new(4096)?;
    let right = |i: usize| (1 + i / THREADS * THREADS + THREADS - 1 - i % THREADS) as f32;
    let wrong = |output: &[f32]| output.iter().enumerate().filter(|(i, x)| **x != right(*i)).count();
    let (ended, output) = bench.run("meets", 0)?;
    expect("meets", (ended, wrong(&output)), (0, 0))?;
    let (ended, output) = bench.run("meets_too_early", 0)?;
    match (kind().as_str(), ended) {
        ("races", LAUNCH_FAILED) => Ok(()),
        ("plain" | "sanitized", 0) if wrong(&output) > 100 => Ok(()),
        _ => Err(format!("meets_too_early: {ended}, and {} are wrong", wrong(&output))),
    }
}

/// Warps that wait for each other at barriers in shared memory, never all for all, are no race; a warp that does not
/// wait is one.
fn warps_hand_on_samples(_: StandIn) -> Outcome {
    let (ended, output) = Bench::new(1024)?.run("hands", 0)?;
    let right = |i: usize| (1 + i - if i % THREADS < 32 { 0 } else { 32 }) as f32 + f32::from(i % THREADS >= 32);
    let wrong = output.iter().enumerate().filter(|(i, x)| **x != right(*i)).count();
    expect("hands", (ended, wrong), (0, 0))?;
    let found = if kind() == "races" { LAUNCH_FAILED } else { 0 };
    for kernel in ["hands_too_early", "hands_again_too_early"] {
        expect(kernel, Bench::new(1024)?.run(kernel, 0)?.0, found)?;
    }
    Ok(())
}

fn copies_leave_shared_memory_in_bulk(_: StandIn) -> Outcome {
    let (ended, output) = Bench::new(1024)?.run("leaves", 0)?;
    let wrong = output.iter().enumerate().filter(|(i, x)| **x != (1 + i) as f32).count();
    expect("leaves", (ended, wrong), (0, 0))?;
    expect("leaves_off_its_place", Bench::new(1024)?.run("leaves_off_its_place", 0)?.0, LAUNCH_FAILED)
}

/// A launch that may begin before the one before it has ended waits for that in all threads; others need not.
fn early_launches_wait_for_those_before(_: StandIn) -> Outcome {
    for (kernel, early, status) in [
        ("follows", true, 0),
        ("follows", false, 0),
        ("follows_but_one", false, 0),
        ("follows_but_one", true, LAUNCH_FAILED),
    ] {
        let bench = Bench::new(1024)?;
        let launched = if early {
            bench
                .launch_with(kernel, sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)?
        } else {
            bench.launch(kernel, 1024 / THREADS, THREADS, 0)?
        };
        expect(kernel, (launched, bench.wait()), (0, status))?;
    }
    // Other attributes of a launch are unknown here.
    let other = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    expect("priority", Bench::new(1024)?.launch_with("follows", other)?, 801)
}

fn warps_ask_whether_any(_: StandIn) -> Outcome {
    let (ended, output) = Bench::new(128)?.run("any", 0)?;
    expect("any", ended, 0)?;
    if output.iter().all(|x| *x == 1.0) { Ok(()) } else { Err(format!("{output:?}")) }
}

/// A launch has no more shared memory than every chip, unless its kernel's limit was raised, and never more than the
/// chip has.
fn shared_memory_is_asked_for(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the kernel is there.
    let allow = |bytes| {
        unsafe { result::function::set_function_attribute(bench.function("dynamic")?, attribute, bytes) }
            .map_or_else(|error| Ok(error.0 as i32), |()| Ok::<_, String>(0))
    };
    expect("before", bench.launch("dynamic", 1, THREADS, 60 << 10)?, 1)?;
    expect("too much", allow(228 << 10)?, 1)?;
    expect("enough", allow(64 << 10)?, 0)?;
    expect("after", bench.launch("dynamic", 1, THREADS, 60 << 10)?, 0)?;
    expect("more", bench.launch("dynamic", 1, THREADS, (64 << 10) + 1)?, 1)?;
    expect("the end", bench.wait(), 0)
}

fn barriers_that_not_all_reach_are_found(_: StandIn) -> Outcome {
    for kernel in ["two_barriers", "ends_before_barrier"] {
        let bench = Bench::new(128)?;
        expect(kernel, bench.run(kernel, 0)?.0, LAUNCH_FAILED)?;
        // And the context is of no use any more.
        expect(kernel, bench.launch("turned", 1, THREADS, 0).unwrap_or(LAUNCH_FAILED), LAUNCH_FAILED)?;
    }
    Ok(())
}

/// An array of whole pages, and one of 256 bytes: nothing lies behind either.
fn what_lies_beyond_an_array_cannot_be_touched(_: StandIn) -> Outcome {
    for kernel in ["one_too_far", "reads_one_too_far"] {
        for count in [THREADS, 1024, 4096] {
            let bench = Bench::new(count)?;
            expect(kernel, bench.run(kernel, 0)?.0, ILLEGAL_ADDRESS)?;
        }
    }
    Ok(())
}

fn what_lies_beyond_shared_memory_is_found_by_the_sanitizer(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    let (ended, _) = bench.run("too_far_in_shared", 0)?;
    let sanitized = kind() == "sanitized";
    if (ended != 0) != sanitized && kind() != "races" {
        return Err(format!("{ended}"));
    }
    drop(bench);
    // The shared memory that the launch asks for is bounded, too: the kernel needs one number more.
    let bench = Bench::new(1024)?;
    let (ended, _) = bench.run("dynamic", 4 * (THREADS - 1))?;
    if (ended != 0) == sanitized { Ok(()) } else { Err(format!("{ended} where the launch asks for too little")) }
}

fn what_nobody_wrote_is_no_number(_: StandIn) -> Outcome {
    let bench = Bench::new(128)?;
    // SAFETY: the arrays have this number of elements.
    let mut fresh = [0_f32; 128];
    unsafe { result::memcpy_dtoh_sync(&mut fresh, bench.output) }.map_err(text)?;
    let (ended, output) = bench.run("reads_what_nobody_wrote", 0)?;
    let strange: Vec<usize> = (0..128).filter(|&i| output[i] != 1.0).collect();
    expect("NaN in new memory", fresh.iter().all(|x| x.is_nan()), true)?;
    expect("reads_what_nobody_wrote", (ended, strange, output[5].is_nan()), (0, vec![5, 69], true))
}

fn constant_memory_is_constant(_: StandIn) -> Outcome {
    let bench = Bench::new(128)?;
    bench.set_factor([1.0; 4])?;
    expect("writes_constant", bench.run("writes_constant", 0)?.0, LAUNCH_FAILED)
}

fn memory_that_was_freed_cannot_be_touched(stand_in: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    // SAFETY: nothing uses it; it is freed once more when the bench is dropped, which the context, broken by then,
    // refuses.
    unsafe { result::free_sync(bench.output) }.map_err(text)?;
    expect("turned", bench.run("turned", 0)?.0, ILLEGAL_ADDRESS)?;
    drop(bench);
    let told = stand_in.misuse().unwrap_or_default();
    if told.contains("no allocation, or no longer") { Ok(()) } else { Err(told) }
}

fn limits_of_a_launch_are_checked(_: StandIn) -> Outcome {
    let bench = Bench::new(1024)?;
    for (blocks, threads, shared, wanted) in [
        (1, THREADS, 0, 0),
        (0, THREADS, 0, 1),
        (1, 0, 0, 1),
        (1, THREADS + 1, 0, 1),
        (1, 2048, 0, 1),
        (1 << 31, THREADS, 0, 1),
        (1, 1, 48 << 10, 1),
    ] {
        expect(
            &format!("{blocks} blocks of {threads}, {shared} bytes"),
            bench.launch("turned", blocks, threads, shared)?,
            wanted,
        )?;
    }
    expect("the end", bench.wait(), 0)
}

/// A copy from page-locked memory reads it when the copy's turn comes; one from ordinary memory, at the call.
fn copies_are_late(_: StandIn) -> Outcome {
    let bench = Bench::new(1 << 16)?;
    let bytes = 4 << 16;
    // SAFETY: a context is current.
    let pinned = unsafe { result::malloc_host(bytes, 0) }.map_err(text)?;
    // SAFETY: the arrays have this number of elements.
    let pinned_numbers = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<f32>(), 1 << 16) };
    let mut late = [0; 2];
    for round in 0..20 {
        pinned_numbers.fill(1.0);
        let mut ordinary = vec![1_f32; 1 << 16];
        // SAFETY: the buffers are as long, and live until the stream has been waited for.
        unsafe {
            // Something that the copy has to wait for.
            result::memset_d8_async(bench.output, 0, bytes, bench.stream).map_err(text)?;
            if round % 2 == 0 {
                result::memcpy_htod_async(bench.input, pinned_numbers, bench.stream).map_err(text)?;
                pinned_numbers.fill(2.0);
            } else {
                result::memcpy_htod_async(bench.input, &ordinary, bench.stream).map_err(text)?;
                ordinary.fill(2.0);
            }
            result::stream::synchronize(bench.stream).map_err(text)?;
            result::memcpy_dtoh_sync(&mut ordinary, bench.input).map_err(text)?;
        }
        late[round % 2] += usize::from(ordinary.contains(&2.0));
    }
    // The other way.
    let mut early = 0;
    for _ in 0..10 {
        pinned_numbers.fill(7.0);
        // SAFETY: as above.
        unsafe {
            result::memset_d8_async(bench.output, 0, bytes, bench.stream).map_err(text)?;
            result::memcpy_dtoh_async(pinned_numbers, bench.output, bench.stream).map_err(text)?;
        }
        early += usize::from(pinned_numbers[(1 << 16) - 1] == 7.0);
        expect("the end", bench.wait(), 0)?;
        expect("what was copied", pinned_numbers[(1 << 16) - 1], 0.0)?;
    }
    // SAFETY: allocated above, and nothing uses it any more.
    unsafe { result::free_host(pinned) }.map_err(text)?;
    if late[0] > 0 && late[1] == 0 && early > 0 {
        Ok(())
    } else {
        Err(format!("{late:?} were late, and {early} early"))
    }
}

fn what_is_freed_under_work_is_told(stand_in: StandIn) -> Outcome {
    let mut told = String::new();
    for _ in 0..20 {
        let bench = Bench::new(1 << 16)?;
        // SAFETY: the test is about its being in use.
        unsafe {
            let more = result::malloc_sync(4 << 16).map_err(text)?;
            for _ in 0..4 {
                result::memcpy_dtod_async(more, bench.input, 4 << 16, bench.stream).map_err(text)?;
            }
            result::free_sync(more).map_err(text)?;
        }
        drop(bench);
        told += &stand_in.misuse().unwrap_or_default();
    }
    if told.contains("cuMemFree while a cuMemcpyDtoDAsync_v2 that uses it has not ended") { Ok(()) } else { Err(told) }
}

fn what_is_freed_twice_is_told(stand_in: StandIn) -> Outcome {
    let _context = Context::new(0)?;
    // SAFETY: the test is about the second call.
    let second = unsafe {
        let address = result::malloc_sync(100).map_err(text)?;
        result::free_sync(address).map_err(text)?;
        status(result::free_sync(address))
    };
    let told = stand_in.misuse().unwrap_or_default();
    if second == 1 && told.contains("no longer") { Ok(()) } else { Err(format!("{second}: {told}")) }
}

fn what_is_left_in_a_context_is_told(stand_in: StandIn) -> Outcome {
    let context = Context::new(0)?;
    // SAFETY: a context is current.
    unsafe { result::malloc_sync(100) }.map_err(text)?;
    if !stand_in.alive().contains("1 contexts, 1 allocations") {
        return Err(stand_in.alive());
    }
    drop(context);
    let told = stand_in.misuse().unwrap_or_default();
    if told.contains("1 allocations were alive") && stand_in.alive().is_empty() { Ok(()) } else { Err(told) }
}

fn faults_come_when_they_are_due(stand_in: StandIn) -> Outcome {
    let allocate = || {
        // SAFETY: a context is current; what it returns is freed.
        unsafe {
            match result::malloc_sync(100) {
                Ok(address) => status(result::free_sync(address)),
                Err(error) => error.0 as i32,
            }
        }
    };
    let context = Context::new(0)?;
    stand_in.fail(3, 2, Mode::Once);
    expect("once", [allocate(), allocate(), allocate()], [0, 2, 0])?;
    stand_in.fail_in("cuMemAlloc_v2", 2, 2, Mode::Once);
    expect("of one function", [allocate(), allocate(), allocate()], [0, 2, 0])?;
    stand_in.fail(4, 2, Mode::FromThenOn);
    expect("from then on", [allocate(), allocate(), allocate()], [0, 2, 2])?;
    stand_in.heal();
    expect("healed", allocate(), 0)?;
    stand_in.fail(1, ILLEGAL_ADDRESS, Mode::Sticky);
    expect("sticky", [allocate(), allocate()], [ILLEGAL_ADDRESS; 2])?;
    stand_in.heal();
    expect("a broken context stays so", allocate(), ILLEGAL_ADDRESS)?;
    drop(context);
    let context = Context::new(0)?;
    expect("another is good", allocate(), 0)?;
    stand_in.fail(1, 46, Mode::Lost);
    expect("lost", [allocate(), allocate()], [46; 2])?;
    drop(context);
    expect("a lost device has no context", Context::new(0).is_err(), true)?;
    stand_in.heal();
    let _context = Context::new(0)?;
    expect("found again", allocate(), 0)
}

/// Kernels of one device see the memory of another once they may.
fn peers(_: StandIn) -> Outcome {
    let ended = child("peers", &[("CUDA_STAND_IN_DEVICES", "2")])?;
    if ended.status.success() { Ok(()) } else { Err(format!("{:?}: {}", ended.status, ended.output)) }
}

fn peers_in_child() -> Outcome {
    let mut other = Some(Context::new(1)?);
    // SAFETY: a context is current, and the array is as long.
    let far = unsafe {
        let far = result::malloc_sync(4 * 128).map_err(text)?;
        result::memcpy_htod_sync(far, &[3_f32; 128]).map_err(text)?;
        result::ctx::synchronize().map_err(text)?;
        far
    };
    let of_other = result::ctx::get_current().map_err(text)?.ok_or("no context")?;
    for access in [true, false] {
        let mut bench = Bench::new(128)?;
        bench.set_factor([1.0; 4])?;
        let near = std::mem::replace(&mut bench.input, far);
        if access {
            // SAFETY: both contexts are there.
            status(unsafe { sys::cuCtxEnablePeerAccess(of_other, 0).result() });
        }
        let (ended, output) = bench.run("turned", 0)?;
        bench.input = near;
        if access {
            expect("with access", (ended, output), (0, vec![3.0; 128]))?;
            // SAFETY: allocated above.
            drop(bench);
            // Memory freed on one device is gone for the kernels of all.
            continue;
        }
        expect("without access", ended, ILLEGAL_ADDRESS)?;
    }
    // SAFETY: the context is that of device 1 again, where the array is.
    unsafe {
        result::ctx::set_current(of_other).map_err(text)?;
        result::free_sync(far).map_err(text)?;
    }
    other.take();
    Ok(())
}

fn the_host_cannot_read_a_device(_: StandIn) -> Outcome {
    let ended = child("read", &[])?;
    if ended.status.signal() == Some(libc::SIGSEGV) {
        Ok(())
    } else {
        Err(format!("{:?}: {}", ended.status, ended.output))
    }
}

fn what_is_alive_at_the_end_is_a_failure(_: StandIn) -> Outcome {
    for (what, code) in [("leave", 86), ("leave nothing", 0), ("fork", 0)] {
        let ended = child(what, &[])?;
        if ended.status.code() != Some(code) {
            return Err(format!("{what}: {:?}: {}", ended.status, ended.output));
        }
    }
    Ok(())
}

/// A function that the library does not call is none of the stand-in's: it cannot be called unseen.
fn what_is_not_there_is_named(_: StandIn) -> Outcome {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // SAFETY: it does not get as far as the driver.
    let called = std::panic::catch_unwind(|| unsafe { sys::cuArrayDestroy(std::ptr::null_mut()) });
    std::panic::set_hook(hook);
    let payload = called.err().ok_or("cuArrayDestroy is there")?;
    let told = payload.downcast_ref::<String>().cloned().unwrap_or_default();
    if told.contains("cuArrayDestroy") { Ok(()) } else { Err(told) }
}

/// The order of blocks and threads is another with another seed, and the same with the same.
fn orders_follow_the_seed(_: StandIn) -> Outcome {
    let mut seen = BTreeSet::new();
    for seed in ["1", "2", "3", "1"] {
        let ended = child("order", &[("CUDA_STAND_IN_SEED", seed)])?;
        if !ended.status.success() {
            return Err(ended.output);
        }
        seen.insert(ended.output);
    }
    if kind() == "races" || seen.len() == 3 { Ok(()) } else { Err(format!("{} orders", seen.len())) }
}

fn many_devices_and_none(_: StandIn) -> Outcome {
    for (variables, wanted) in [
        (&[("CUDA_STAND_IN_DEVICES", "3")][..], "3 devices"),
        (&[("CUDA_VISIBLE_DEVICES", "")], "no devices"),
        (&[("CUDA_STAND_IN_CAPABILITY", "5.2")], "INVALID_IMAGE or NO_BINARY_FOR_GPU"),
        (&[("CUDA_STAND_IN_FAIL", "3:2:0")], "OUT_OF_MEMORY"),
    ] {
        let ended = child("devices", variables)?;
        if !wanted.split(" or ").any(|wanted| ended.output.contains(wanted)) {
            return Err(format!("{variables:?}: {}", ended.output));
        }
    }
    Ok(())
}

/// In a copy that has no library of a module yet.
fn a_module_is_compiled_when_it_is_first_loaded(_: StandIn) -> Outcome {
    let said = |error: std::io::Error| error.to_string();
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(said)?;
    let library =
        maps.lines().find_map(|line| Some(&line[line.find('/')?..]).filter(|path| path.ends_with("/libcuda.so.1")));
    let from = Path::new(library.ok_or("no stand-in is mapped")?).parent().expect("it is in a folder");
    let copy = std::env::temp_dir().join(format!("stand-in-{}", std::process::id()));
    std::fs::create_dir_all(copy.join("kernels")).map_err(said)?;
    for file in ["libcuda.so.1", "executor", "kernels/INDEX", "kernels/compile"] {
        std::fs::copy(from.join(file), copy.join(file)).map_err(said)?;
    }
    let compile = copy.join("kernels/compile");
    let as_built = std::fs::read(&compile).map_err(said)?;
    let load = |compiler: &[u8], wanted: &[&str]| {
        std::fs::write(&compile, compiler).map_err(said)?;
        let ended = child("devices", &[("LD_LIBRARY_PATH", &copy.to_string_lossy())])?;
        let is_as_wanted =
            ended.status.success() == wanted.is_empty() && wanted.iter().all(|&all| ended.output.contains(all));
        if is_as_wanted { Ok(()) } else { Err(ended.output) }
    };
    let broken = b"#!/bin/sh\necho a word is missing >&2\nexit 1\n";
    let outcome = load(broken, &["a word is missing", "cannot be compiled", "INVALID_IMAGE"])
        .and_then(|()| load(&as_built, &[]))
        .and_then(|()| load(broken, &[]));
    std::fs::remove_dir_all(&copy).map_err(said)?;
    outcome
}

/// Runs the case of a child, by its name.
pub fn in_child(what: &str) -> Outcome {
    if let Some(outcome) =
        several::in_child(what).or_else(|| generated::in_child(what)).or_else(|| walks::in_child(what))
    {
        return outcome;
    }
    match what {
        "peers" => peers_in_child(),
        "read" => {
            let bench = Bench::new(128)?;
            // SAFETY: none: this must end the process.
            let x = unsafe { (bench.input as *const f32).read_volatile() };
            Err(format!("the host has read {x}"))
        }
        "leave" | "leave nothing" => {
            let context = Context::new(0)?;
            if what == "leave" {
                std::mem::forget(context);
            }
            Ok(())
        }
        "fork" => {
            let _context = Context::new(0)?;
            // SAFETY: the child makes only the calls under test.
            match unsafe { libc::fork() } {
                0 => {
                    let _ = result::ctx::get_current();
                    std::process::exit(1);
                }
                child => {
                    let mut ended = 0;
                    // SAFETY: the address is that of an int.
                    unsafe { libc::waitpid(child, &mut ended, 0) };
                    expect("what a call in a forked process ends with", libc::WEXITSTATUS(ended), 87)
                }
            }
        }
        "order" => {
            let bench = Bench::new(1024)?;
            print!("{:?}", bench.run("without_barrier", 0)?.1);
            Ok(())
        }
        "devices" => {
            if let Err(error) = result::init() {
                println!("no devices: {error}");
                return Ok(());
            }
            println!("{} devices", result::device::get_count().map_err(text)?);
            Bench::new(128).map(drop)
        }
        _ => Err(format!("nobody knows how to {what}")),
    }
}

type Case = (&'static str, fn(StandIn) -> Outcome);

const TABLE: [Case; 30] = [
    ("kernels_run_as_they_are_written", kernels_run_as_they_are_written),
    ("fma_rounds_once_and_nothing_else_is_fused", fma_rounds_once_and_nothing_else_is_fused),
    ("a_missing_barrier_shows", a_missing_barrier_shows),
    ("blocks_that_meet_are_a_race", blocks_that_meet_are_a_race),
    ("copies_into_shared_memory_are_late", copies_into_shared_memory_are_late),
    ("who_arrives_may_rest", who_arrives_may_rest),
    ("warps_hand_on_samples", warps_hand_on_samples),
    ("copies_leave_shared_memory_in_bulk", copies_leave_shared_memory_in_bulk),
    ("early_launches_wait_for_those_before", early_launches_wait_for_those_before),
    ("warps_ask_whether_any", warps_ask_whether_any),
    ("shared_memory_is_asked_for", shared_memory_is_asked_for),
    ("barriers_that_not_all_reach_are_found", barriers_that_not_all_reach_are_found),
    ("what_lies_beyond_an_array_cannot_be_touched", what_lies_beyond_an_array_cannot_be_touched),
    (
        "what_lies_beyond_shared_memory_is_found_by_the_sanitizer",
        what_lies_beyond_shared_memory_is_found_by_the_sanitizer,
    ),
    ("what_nobody_wrote_is_no_number", what_nobody_wrote_is_no_number),
    ("constant_memory_is_constant", constant_memory_is_constant),
    ("memory_that_was_freed_cannot_be_touched", memory_that_was_freed_cannot_be_touched),
    ("limits_of_a_launch_are_checked", limits_of_a_launch_are_checked),
    ("copies_are_late", copies_are_late),
    ("what_is_freed_under_work_is_told", what_is_freed_under_work_is_told),
    ("what_is_freed_twice_is_told", what_is_freed_twice_is_told),
    ("what_is_left_in_a_context_is_told", what_is_left_in_a_context_is_told),
    ("faults_come_when_they_are_due", faults_come_when_they_are_due),
    ("peers", peers),
    ("the_host_cannot_read_a_device", the_host_cannot_read_a_device),
    ("what_is_alive_at_the_end_is_a_failure", what_is_alive_at_the_end_is_a_failure),
    ("what_is_not_there_is_named", what_is_not_there_is_named),
    ("orders_follow_the_seed", orders_follow_the_seed),
    ("many_devices_and_none", many_devices_and_none),
    ("a_module_is_compiled_when_it_is_first_loaded", a_module_is_compiled_when_it_is_first_loaded),
];

pub fn trials() -> Vec<Trial> {
    let stand_in = StandIn::find();
    let reason = if stand_in.is_none() { " (skipped: the stand-in is not what is found as the driver)" } else { "" };
    let trial = |(case, test): Case| {
        let run = move || {
            let stand_in = stand_in.ok_or("no stand-in")?;
            stand_in.heal();
            let outcome = within(Duration::from_secs(60), case, || test(stand_in));
            let left = stand_in.alive();
            outcome.map_err(Failed::from)?;
            if let Some(told) = stand_in.misuse() {
                return Err(Failed::from(told));
            }
            if left.is_empty() { Ok(()) } else { Err(Failed::from(format!("left alive: {left}"))) }
        };
        Trial::test(format!("cuda_stand_in::{case}{reason}"), run).with_ignored_flag(stand_in.is_none())
    };
    let tables = TABLE.into_iter().chain(several::TABLE).chain(generated::TABLE).chain(walks::TABLE);
    tables.map(trial).collect()
}

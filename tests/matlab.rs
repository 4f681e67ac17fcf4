//! Runs the library through the stand-in for MATLAB in `tests/stand_in`: what differs from Octave is the names of the host's functions, the
//! two-byte characters, the string objects, and which thread and whose memory things are. No MATLAB is needed.
//!
//! `STAND_IN_DIR` says where the stand-in's two libraries are and `STENCIL_MEX_LIBRARY` which MEX file to load, where they are not where the
//! build put them.
//!
//! # Rationale
//! MATLAB calls a MEX file on its one interpreter thread, and the books of the stand-in are one for the process. So all tests run one after the
//! other on a thread of that kind, however many threads the test harness has. After each, the books must be clear: no array is left, no
//! argument was written to, no 32-bit relic was called.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use std::slice;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const STENCIL: &str = "StencilConstantMemory_CUDA";
const DEVICE: &str = "ConstantMemoryDevice_CUDA";

// ---- the document's words

const INPUTS: &str = "Number of Inputs are Wrong";
const OUTPUTS: &str = "Number of Outputs are Wrong";
const DATA_TYPE: &str = "One of the Inputs are of the wrong data-type";

#[test]
fn the_example_of_the_document() {
    in_matlab(|host| {
        let expected = [6., 7., 8., 9., 10., 11., 11., 11., 11., 11., 11., 11., 11., 11., 11., 10., 9., 8., 7., 6.];
        let (input, kernel, cpu) = (host.double(&[1, 20], &[1.0; 20]), host.double(&[1, 11], &[1.0; 11]), host.cpu());
        // 0 outputs: a call at the prompt, which fills `ans`.
        for outputs in [0, 1] {
            let output = host.one(STENCIL, outputs, &[&[&input, &kernel], &cpu.each_ref()[..]].concat());
            assert_eq!((output.class_name(), output.dims()), ("double".into(), vec![1, 20]));
            assert_eq!(output.doubles(), expected);
        }
    });
}

#[test]
fn every_shape_runs_along_its_first_dimension_that_is_not_1() {
    in_matlab(|host| {
        let cpu = host.cpu();
        let shapes: &[&[usize]] = &[
            &[1, 1],
            &[1, 2],
            &[7, 1],
            &[1, 50],
            &[5, 6],
            &[30, 4],
            &[1, 1, 9],
            &[1, 4, 5],
            &[3, 1, 4],
            &[6, 2, 3, 2],
            &[0, 0],
            &[1, 0],
            &[0, 1],
            &[0, 5],
            &[3, 0, 2],
            // Large enough that an engine with threads uses them.
            &[1, 300_000],
            &[40_000, 8],
        ];
        for dims in shapes {
            for taps in [1, 5, 21] {
                let (x, k) = (noise(dims.iter().product(), 1), noise(taps, 2));
                let input = host.double(dims, &x);
                for kernel_dims in [[1, taps], [taps, 1]] {
                    let kernel = host.double(&kernel_dims, &k);
                    let output = host.one(STENCIL, 1, &[&[&input, &kernel], &cpu.each_ref()[..]].concat());
                    assert_eq!(output.dims(), *dims);
                    assert_same_bits(&output.doubles(), &reference(dims, &x, &k), &format!("{dims:?}, {taps} taps"));
                }
            }
        }
    });
}

#[test]
fn every_odd_length_of_kernel_and_every_kind_of_number() {
    in_matlab(|host| {
        let cpu = host.cpu();
        let mut x = noise(200, 3);
        // Far from the edges, where what lies outside the array is to be seen.
        x[80..88].copy_from_slice(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX, f64::MIN, 0.0]);
        x[199] = -0.0;
        let input = host.double(&[200, 1], &x);
        for taps in (1..=21).step_by(2) {
            for special in [0.5, f64::INFINITY, f64::NAN, -0.0] {
                for place in [0, taps - 1] {
                    let mut k = noise(taps, 4);
                    k[place] = special;
                    let kernel = host.double(&[1, taps], &k);
                    let output = host.one(STENCIL, 1, &[&[&input, &kernel], &cpu.each_ref()[..]].concat());
                    let what = format!("{taps} taps, number {place} is {special}");
                    assert_same_bits(&output.doubles(), &reference(&[200, 1], &x, &k), &what);
                }
            }
        }
    });
}

#[test]
fn a_wrong_number_of_inputs_or_outputs() {
    in_matlab(|host| {
        let (x, k, single) = (host.ones(&[1, 20]), host.ones(&[1, 3]), host.make(SINGLE, &[1, 20], false));
        let (backend, cpu) = (host.text("Backend"), host.text("cpu"));
        for arguments in [
            &[][..],
            &[&x],
            // No text where an option's name belongs, or no value.
            &[&x, &k, &backend],
            &[&x, &k, &k],
            &[&x, &k, &k, &cpu],
            &[&x, &k, &backend, &cpu, &backend],
            // It comes before the class.
            &[&single],
            &[&single, &k, &backend],
        ] {
            host.refuses(STENCIL, 1, arguments, "numberOfInputs", INPUTS);
        }
        host.refuses(STENCIL, 2, &[&x], "numberOfInputs", INPUTS);
        host.refuses(STENCIL, 2, &[&x, &k], "numberOfOutputs", OUTPUTS);
        host.refuses(STENCIL, 3, &[&single, &k], "numberOfOutputs", OUTPUTS);
    });
}

#[test]
fn inputs_that_are_not_real_full_and_double() {
    in_matlab(|host| {
        let good = host.ones(&[1, 3]);
        let wrong = [
            host.make(SINGLE, &[1, 3], false),
            host.make(LOGICAL, &[1, 3], false),
            host.make(INT8, &[1, 3], false),
            host.make(UINT64, &[1, 3], false),
            host.make(DOUBLE, &[1, 3], true),
            host.make(SINGLE, &[0, 0], false),
            host.make(DOUBLE, &[0, 0], true),
            host.text("abc"),
            host.string(&[Some("abc")]),
            host.string(&[None]),
            host.cell(1, 3),
            host.structure(1, 1, &[c"x"]),
            // A thousand elements, one of them there.
            host.sparse(1, 1000, 1),
            host.sparse(3, 1, 3),
            host.object(c"function_handle", FUNCTION),
            host.object(c"gpuArray", OPAQUE),
        ];
        for wrong in &wrong {
            host.refuses(STENCIL, 1, &[wrong, &good], "dataType", DATA_TYPE);
            host.refuses(STENCIL, 1, &[&good, wrong], "dataType", DATA_TYPE);
            // Before the kernel's length and before the options.
            let (even, name) = (host.ones(&[1, 4]), host.text("Colour"));
            host.refuses(STENCIL, 1, &[wrong, &even, &name, &even], "dataType", DATA_TYPE);
        }
    });
}

#[test]
fn kernels_of_a_wrong_length_or_shape() {
    in_matlab(|host| {
        let x = host.ones(&[1, 20]);
        for (dims, kind) in [
            (&[0, 0][..], "kernelLength"),
            (&[1, 0], "kernelLength"),
            (&[3, 0], "kernelLength"),
            (&[3, 3], "kernelShape"),
            // Not a vector is said before even, or too long.
            (&[2, 4], "kernelShape"),
            (&[5, 5], "kernelShape"),
            (&[1, 1, 3], "kernelShape"),
            (&[1, 2], "kernelLength"),
            (&[20, 1], "kernelLength"),
            (&[1, 23], "kernelLength"),
            (&[22, 1], "kernelLength"),
            (&[1, 1_000_001], "kernelLength"),
        ] {
            host.refuses(STENCIL, 1, &[&x, &host.ones(dims)], kind, "");
            // An empty input is no excuse, and the options come later.
            host.refuses(STENCIL, 1, &[&host.ones(&[0, 0]), &host.ones(dims), &host.text("Colour"), &x], kind, "");
        }
    });
}

#[test]
fn options_that_are_unknown_or_have_a_bad_value() {
    in_matlab(|host| {
        let (x, k) = (host.ones(&[1, 20]), host.ones(&[1, 3]));
        let one = host.ones(&[1, 1]);
        let number = |value| host.double(&[1, 1], &[value]);
        for (name, value) in [
            ("Colour", &one),
            ("", &one),
            ("Backends", &host.text("cpu")),
            ("B ackend", &host.text("cpu")),
            // Of six names in all, two begin so.
            ("B", &host.text("cpu")),
            ("d", &one),
            ("Bäckend", &host.text("cpu")),
            ("Backend𝄞", &host.text("cpu")),
            (&"Backend".repeat(5000), &one),
            ("Backend", &host.text("gpu")),
            ("Backend", &host.text("")),
            ("Backend", &host.text(&"cpu".repeat(5000))),
            ("Backend", &one),
            ("Backend", &host.cell(1, 1)),
            ("Backend", &host.char_matrix(2, 3)),
            ("Backend", &host.object(c"table", OBJECT)),
            ("Device", &host.text("1")),
            ("Device", &number(1.5)),
            ("Device", &number(f64::NAN)),
            ("Device", &host.ones(&[1, 2])),
            ("Device", &host.ones(&[0, 0])),
            ("Device", &host.make(DOUBLE, &[1, 1], true)),
            ("Device", &host.sparse(1, 1, 1)),
        ] {
            host.refuses(STENCIL, 1, &[&x, &k, &host.text(name), value], "option", "");
        }
        // The text is not a format.
        let error = host.refuses(STENCIL, 1, &[&x, &k, &host.text("100%%d"), &one], "option", "");
        assert!(error.text.contains("100%%d"), "{error:?}");
    });
}

#[test]
fn boundary_dimension_and_sweeps() {
    in_matlab(|host| {
        let (x, k, cpu) = (host.double(&[2, 3], &[1., 2., 3., 4., 5., 6.]), host.double(&[1, 3], &[1., 0., 0.]), host.cpu());
        let number = |value| host.double(&[1, 1], &[value]);
        for (pairs, expected) in [
            ([(host.text("Boundary"), number(9.0)), (host.text("Dim"), number(2.0))], [9., 9., 1., 2., 3., 4.]),
            ([(host.text("bound"), host.text("Circular")), (host.text("di"), number(2.0))], [5., 6., 1., 2., 3., 4.]),
            (
                [(host.string(&[Some("Boundary")]), host.string(&[Some("replicate")])), (host.text("i"), number(2.0))],
                [1., 1., 3., 3., 5., 5.],
            ),
            ([(host.text("Boundary"), host.text("symmetric")), (host.text("Iterations"), number(0.0))], [1., 2., 3., 4., 5., 6.]),
            ([(host.text("Progress"), host.make(LOGICAL, &[1, 1], false)), (host.text("Dim"), number(3.0))], [0.; 6]),
        ] {
            let pairs: Vec<_> = pairs.iter().flat_map(|(name, value)| [name, value]).collect();
            let output = host.one(STENCIL, 1, &[&[&x, &k], &pairs[..], &cpu.each_ref()[..]].concat());
            assert_same_bits(&output.doubles(), &expected, &format!("{pairs:?}"));
        }
        for (name, value) in [
            ("Boundary", host.text("rep")),
            ("Boundary", host.make(DOUBLE, &[1, 1], true)),
            ("Dim", number(0.0)),
            ("Iterations", number(-1.0)),
            ("Progress", number(2.0)),
            ("Progress", host.text("true")),
        ] {
            host.refuses(STENCIL, 1, &[&x, &k, &host.text(name), &value], "option", "");
        }
    });
}

/// What a long run takes: a million ones under three taps, so many sweeps, and whether to tell how far it is.
fn long_run(host: &Host, sweeps: f64, progress: f64) -> Result<Vec<f64>, Message> {
    long_run_over(host, &[1000, 1000], sweeps, progress)
}

/// The same over an array of these dimensions.
fn long_run_over(host: &Host, dims: &[usize], sweeps: f64, progress: f64) -> Result<Vec<f64>, Message> {
    let (x, k, cpu) = (host.ones(dims), host.double(&[1, 3], &[0.25, 0.5, 0.25]), host.cpu());
    let names = [host.text("Boundary"), host.text("Iterations"), host.text("Progress")];
    let values = [host.text("replicate"), host.double(&[1, 1], &[sweeps]), host.double(&[1, 1], &[progress])];
    let options: Vec<_> = names.iter().zip(&values).flat_map(|(name, value)| [name, value]).collect();
    host.call(STENCIL, 1, &[&[&x, &k], &options[..], &cpu.each_ref()[..]].concat()).map(|output| output[0].doubles())
}

/// More than any machine does while a test waits.
const ENDLESS: f64 = 1e9;

#[test]
fn a_long_run_tells_how_far_it_is() {
    in_matlab(|host| {
        let mut sweeps = 100.0;
        let (lines, shown) = loop {
            let before = (host.printed().len(), host.shown());
            let callback = &mut || panic!("a line of progress is no occasion for the user's callbacks");
            let output = host.with_callback(usize::MAX, callback, || long_run(host, sweeps, 1.0));
            assert!(output.unwrap().iter().all(|&x| x == 1.0));
            let lines = host.printed().split_off(before.0);
            if lines.matches('%').count() > 2 {
                break (lines, host.shown() - before.1);
            }
            sweeps *= 2.0;
        };
        // Each line takes back the one before, and each is shown.
        let parts: Vec<_> = lines.split('\u{8}').filter(|part| !part.is_empty()).collect();
        assert_eq!(parts.len(), shown, "{parts:?}");
        let (last, others) = parts.split_last().unwrap();
        assert!(others.iter().all(|line| line.starts_with(&format!("{STENCIL}: ")) && line.contains("updates/s, ")), "{others:?}");
        assert!(
            last.starts_with(&format!("{STENCIL}: 100 %, ")) && last.trim_end().ends_with("in all") && last.ends_with('\n'),
            "{last:?}"
        );

        let before = (host.printed(), host.shown());
        long_run(host, sweeps, 0.0).unwrap();
        long_run(host, 1.0, 1.0).unwrap();
        assert_eq!((host.printed(), host.shown()), before, "not asked for, or over at once");
    });
}

#[test]
fn ctrl_c_ends_a_long_run() {
    in_matlab(|host| {
        for (after, progress) in [(0, 0.0), (5, 0.0), (3, 1.0), (60, 1.0), (0, 1.0)] {
            let before = host.printed().len();
            host.interrupt(after);
            let error = long_run(host, ENDLESS, progress).expect_err("it would not end before the test does");
            assert_eq!(error.id, "StencilConstantMemory:interrupted", "{error:?}");
            assert!(host.interrupt_queries() > after);
            // 60 questions are more than a second, by when there is a line. Once interrupted, MATLAB is asked to show nothing more.
            let lines = host.printed().split_off(before);
            assert_eq!(lines.contains("ended after"), after == 60, "{lines:?}");
            assert!(lines.is_empty() || lines.ends_with('\n'), "{lines:?}");
            assert_eq!(long_run(host, 3.0, 1.0).unwrap()[..2], [1.0, 1.0], "the next call works");
        }
        // A short run is not asked about, so nothing is left half done.
        host.interrupt(0);
        assert_eq!(long_run(host, 1.0, 0.0).map(|output| output[0]), Ok(1.0));
        assert_eq!(host.interrupt_queries(), 0);
    });
}

#[test]
fn an_error_of_the_host_s_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        for _ in 0..3 {
            host.raise_when_evaluating();
            let error = long_run(host, ENDLESS, 1.0).expect_err("the host raises");
            assert_eq!(error.id, "MATLAB:standin:terminated", "it passes through, and the run's thread is gone: {error:?}");
            assert_eq!(long_run(host, 2.0, 1.0).unwrap()[..2], [1.0, 1.0], "the next call works");
        }
        host.clear(STENCIL);
        // The output, made before the run, is left to the host then, as it should be.
        assert_eq!(host.misuses(), [""; 0]);
        host.forget_misuses();
    });
}

/// So many sweeps that a long run of them takes about this long.
fn sweeps_for(host: &Host, seconds: f64) -> f64 {
    let start = Instant::now();
    long_run(host, 100.0, 0.0).unwrap();
    (100.0 * seconds / start.elapsed().as_secs_f64()).ceil()
}

#[test]
fn a_callback_calls_the_library_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        // Its threads have work for twenty seconds, and who calls meanwhile does not wait for them.
        let sweeps = sweeps_for(host, 20.0);
        // Work for several threads, on the host's own thread and on another.
        let expected = [3.0, 30.0].map(|sweeps| (sweeps, long_run(host, sweeps, 0.0)));
        for progress in [0.0, 1.0] {
            let before = host.printed().len();
            let called = Cell::new(0);
            let callback = &mut || {
                for (sweeps, expected) in &expected {
                    assert_eq!(long_run(host, *sweeps, 1.0), *expected);
                }
                host.refuses(STENCIL, 1, &[], "numberOfInputs", INPUTS);
                assert_eq!(host.one(DEVICE, 1, &[]).class_name(), "struct");
                called.set(called.get() + 1);
                host.interrupt(0);
            };
            // The 35th question comes after more than half a second, when there is a line.
            let outcome = host.with_callback(35, callback, || long_run(host, sweeps, progress));
            assert_eq!(called.get(), 1);
            assert_eq!(
                outcome.map_err(|error| error.id),
                Err("StencilConstantMemory:interrupted".into()),
                "it goes on until the callback is over"
            );
            assert_eq!(host.printed().split_off(before).contains("ended after"), progress == 1.0);
            assert_eq!(long_run(host, 3.0, 0.0), expected[0].1, "the next call");
        }
    });
}

/// The library's threads in this process.
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("/proc");
    tasks.filter_map(|task| std::fs::read(task.ok()?.path().join("comm")).ok()).filter(|name| name.starts_with(b"stencil")).count()
}

#[test]
fn a_callback_clears_functions_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        // One line: its sweeps are cut into passes, and each asks for the threads anew.
        let line = |sweeps, progress| long_run_over(host, &[1_000_000, 1], sweeps, progress);
        let sweeps = sweeps_for(host, 1.0);
        let several = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        // Another function of the library, or the one that runs; once, or again after a call.
        for (name, again) in [(DEVICE, false), (STENCIL, false), (STENCIL, true)] {
            drop(host.one(DEVICE, 1, &[]));
            let expected = line(sweeps, 0.0).unwrap();
            assert_eq!(threads() > 0, several, "they are kept for the next call");
            let callback = &mut || {
                for _ in 0..1 + usize::from(again) {
                    host.clear(name);
                    assert!(threads() > usize::from(several), "the run goes on");
                    if again {
                        assert_eq!(long_run(host, 2.0, 0.0).unwrap()[..2], [1.0, 1.0]);
                    }
                }
            };
            let output = host.with_callback(1, callback, || line(sweeps, 1.0)).unwrap();
            assert_same_bits(&output, &expected, name);
            assert_eq!(threads(), 0, "{name}, {again}: given back at the end of the call");
            assert_eq!(long_run(host, 2.0, 0.0).unwrap()[..2], [1.0, 1.0]);
        }
        host.clear(STENCIL);
        assert_eq!(threads(), 0, "at once, without a call");
    });
}

#[test]
fn a_callback_forks_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        let sweeps = sweeps_for(host, 1.0);
        let several = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        drop(host.one(DEVICE, 1, &[]));
        let child = Cell::new(-1);
        let callback = &mut || {
            // SAFETY: of the parent's threads, the child has this one, and ends without a word to the harness.
            child.set(unsafe { libc::fork() });
            if child.get() == 0 {
                // In the middle of a call that nobody works on any more.
                host.clear(DEVICE);
            }
        };
        let outcome = host.with_callback(1, callback, || long_run(host, sweeps, 0.0));
        if child.get() == 0 {
            let good = catch_unwind(AssertUnwindSafe(|| {
                let error = outcome.expect_err("the run is the parent's");
                assert!(error.id == "StencilConstantMemory:internal" && error.text.contains("forked"), "{error:?}");
                for _ in 0..2 {
                    assert_eq!(long_run(host, 2.0, 0.0).unwrap()[..2], [1.0, 1.0]);
                    assert_eq!(threads() > 0, several, "kept for the next call, as ever: there is no other call in this process");
                    host.clear(STENCIL);
                    assert_eq!(threads(), 0);
                }
            }));
            // SAFETY: it ends the process, and runs nothing of it.
            unsafe { libc::_exit(if good.is_ok() { 7 } else { 1 }) };
        }
        assert!(outcome.is_ok_and(|output| output.iter().all(|&x| x == 1.0)), "the parent knows nothing of it");
        assert_eq!(exit_status(child.get()), Some(7));
    });
}

/// The exit status of a child; `None` where it did not end in a minute, and was ended, or where it ended in another way.
fn exit_status(child: c_int) -> Option<c_int> {
    assert!(child > 0);
    let (start, mut status) = (Instant::now(), 0);
    // SAFETY: a child of this process, and the address of an int.
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } != child {
        if start.elapsed() > Duration::from_secs(60) {
            // SAFETY: as above; it has not been waited for yet.
            unsafe { (libc::kill(child, libc::SIGKILL), libc::waitpid(child, &mut status, 0)) };
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

#[test]
fn options_as_char_rows_and_as_strings() {
    in_matlab(|host| {
        let (x, k) = (host.ones(&[1, 20]), host.ones(&[1, 11]));
        let expected = reference(&[1, 20], &[1.0; 20], &[1.0; 11]);
        for (name, value) in [
            (host.text("Backend"), host.text("cpu")),
            (host.text("backend"), host.text("CPU")),
            (host.text("Ba"), host.text("Cpu")),
            (host.string(&[Some("Backend")]), host.string(&[Some("cpu")])),
            (host.string(&[Some("BACK")]), host.text("cpu")),
            (host.text("Backend"), host.string(&[Some("CPU")])),
        ] {
            assert_same_bits(&host.one(STENCIL, 1, &[&x, &k, &name, &value]).doubles(), &expected, "cpu");
        }
        // Repeated: the last one counts, as everywhere in MATLAB.
        let (name, wrong, right) = (host.text("Backend"), host.text("cuda"), host.text("cpu"));
        assert_same_bits(&host.one(STENCIL, 1, &[&x, &k, &name, &wrong, &name, &right]).doubles(), &expected, "the last");

        let name = host.text("Backend");
        for wrong in [
            host.string(&[Some("cpu"), Some("cpu")]),
            host.string(&[Some("cpu"), Some("cuda"), None]),
            host.string(&[Some("gpu")]),
            host.string(&[Some("")]),
            host.string(&[Some("ćpu")]),
            host.string(&[]),
            host.string(&[None]),
        ] {
            host.refuses(STENCIL, 1, &[&x, &k, &name, &wrong], "option", "");
        }
        // A string array or a missing string is no name.
        for wrong in [host.string(&[Some("Backend"), Some("Device")]), host.string(&[None]), host.char_matrix(2, 7)] {
            host.refuses(STENCIL, 1, &[&x, &k, &wrong, &right], "numberOfInputs", INPUTS);
        }
    });
}

#[test]
fn a_device_that_is_not_there() {
    in_matlab(|host| {
        let (x, k) = (host.ones(&[1, 20]), host.ones(&[1, 3]));
        let (backend, cuda, auto) = (host.text("Backend"), host.text("cuda"), host.text("auto"));
        for device in [host.double(&[1, 1], &[99.0]), host.make(INT8, &[1, 1], false).with_bytes(&[99])] {
            let name = host.text("Device");
            host.refuses(STENCIL, 1, &[&x, &k, &backend, &cuda, &name, &device], "noDevice", "");
            host.refuses(STENCIL, 1, &[&x, &k, &name, &device, &backend, &cuda], "noDevice", "");
            // It never falls back.
            host.refuses(STENCIL, 1, &[&x, &k, &backend, &auto, &name, &device], "noDevice", "");
            host.refuses(STENCIL, 1, &[&x, &k, &name, &device], "noDevice", "");
        }
    });
}

#[test]
fn the_backend_of_choice_and_the_one_warning() {
    in_matlab(|host| {
        let (x, k, name) = (host.double(&[50, 3], &noise(150, 5)), host.double(&[1, 7], &noise(7, 6)), host.text("Backend"));
        let expected = reference(&[50, 3], &noise(150, 5), &noise(7, 6));
        let cuda = |host: &Host| host.call(STENCIL, 1, &[&x, &k, &name, &host.text("cuda")]).map(|output| output[0].doubles());
        let with_gpu = match cuda(host) {
            Ok(output) => {
                assert_same_bits(&output, &expected, "cuda");
                true
            }
            Err(error) => {
                assert_eq!(error.id, "StencilConstantMemory:noDevice", "{error:?}");
                false
            }
        };
        let auto = host.text("auto");
        for options in [&[][..], &[&name, &auto], &[]] {
            assert_same_bits(&host.one(STENCIL, 1, &[&[&x, &k], options].concat()).doubles(), &expected, "auto");
        }
        let warnings = host.warnings();
        assert_eq!(warnings.len(), if with_gpu { 0 } else { 1 }, "{warnings:?}");
        for warning in warnings {
            assert_eq!(warning.id, "StencilConstantMemory:noDevice");
            assert!(warning.text.contains(' '), "it says why: {warning:?}");
        }

        // SAFETY: the tests run on one thread, and the harness does not read this variable.
        unsafe { libc::setenv(c"STENCIL_BACKEND".as_ptr(), c"cuda".as_ptr(), 1) };
        let default = host.call(STENCIL, 1, &[&x, &k]).map(|output| output[0].doubles());
        let overruled = host.one(STENCIL, 1, &[&x, &k, &name, &host.text("cpu")]).doubles();
        // SAFETY: as above.
        unsafe { libc::unsetenv(c"STENCIL_BACKEND".as_ptr()) };
        assert_eq!(default.map_err(|error| error.id), cuda(host).map_err(|error| error.id));
        assert_same_bits(&overruled, &expected, "the option overrules the variable");
    });
}

#[test]
fn memory_that_runs_out() {
    in_matlab(|host| {
        let (x, k, cpu) = (host.ones(&[1, 20]), host.ones(&[1, 11]), host.cpu());
        let arguments = [&[&x, &k], &cpu.each_ref()[..]].concat();
        for _ in 0..3 {
            host.refuse_array(0);
            let error = host.call(STENCIL, 1, &arguments).expect_err("the host has no memory for the output");
            assert_eq!(error.id, "MATLAB:nomem", "the host's own error passes through: {error:?}");
            assert!(!host.refusal_pending());
            assert_eq!(host.one(STENCIL, 1, &arguments).doubles()[..3], [6.0, 7.0, 8.0]);
        }

        // A struct is made in many steps, and each can fail. What was made before is left to the host then, as it should be.
        for after in 0.. {
            host.refuse_array(after);
            match host.call(DEVICE, 1, &[]) {
                Err(error) => assert_eq!(error.id, "MATLAB:nomem", "{error:?}"),
                Ok(_) => {
                    assert!(after > 1 && host.refusal_pending());
                    break;
                }
            }
            assert!(!host.refusal_pending());
        }
        assert_eq!(host.misuses(), [""; 0]);
        host.forget_misuses();

        // In the middle of reading an option, too, the call ends with an error and the next one works.
        let (name, value) = (host.string(&[Some("Backend")]), host.string(&[Some("cpu")]));
        for after in 0..3 {
            host.refuse_array(after);
            assert!(host.call(STENCIL, 1, &[&x, &k, &name, &value]).is_err());
            assert!(!host.refusal_pending());
            assert_eq!(host.one(STENCIL, 1, &[&x, &k, &name, &value]).doubles()[..3], [6.0, 7.0, 8.0]);
        }
    });
}

#[test]
fn what_the_device_function_says() {
    in_matlab(|host| {
        for outputs in [0, 1] {
            let info = host.one(DEVICE, outputs, &[]);
            assert_eq!((info.class_name(), info.dims()), ("struct".into(), vec![1, 1]));
            let fields = info.fields();
            assert!(fields.len() >= 4, "device, driver, backend and build: {fields:?}");
            for (name, class) in fields {
                assert!(matches!(class.as_str(), "double" | "logical" | "char" | "struct"), "{name}: {class}");
            }
        }
    });
}

#[test]
fn clearing_and_calling_again() {
    in_matlab(|host| {
        let (x, k, cpu) = (host.ones(&[1, 20]), host.ones(&[1, 11]), host.cpu());
        let arguments = [&[&x, &k], &cpu.each_ref()[..]].concat();
        for _ in 0..3 {
            assert_eq!(host.one(STENCIL, 1, &arguments).doubles()[..3], [6.0, 7.0, 8.0]);
            assert!(host.has_exit(STENCIL), "every call registers the exit function");
            host.clear(STENCIL);
            // With nothing to release.
            host.load(STENCIL);
            host.clear(STENCIL);
        }
        // After an error, too.
        host.refuses(STENCIL, 1, &[], "numberOfInputs", INPUTS);
        assert!(host.has_exit(STENCIL));
        host.clear(STENCIL);
    });
}

#[test]
fn one_library_under_several_names() {
    in_matlab(|host| {
        let (x, k, cpu) = (host.ones(&[1, 20]), host.ones(&[1, 11]), host.cpu());
        let stencil = || assert_eq!(host.one(STENCIL, 1, &[&[&x, &k], &cpu.each_ref()[..]].concat()).doubles()[..3], [6.0, 7.0, 8.0]);
        stencil();
        drop(host.one(DEVICE, 1, &[]));
        // MATLAB keeps an exit function for each name: one that was registered under the first name alone is lost with it.
        assert!(host.has_exit(STENCIL) && host.has_exit(DEVICE));
        host.clear(STENCIL);
        drop(host.one(DEVICE, 1, &[]));
        stencil();
        host.clear(DEVICE);
        stencil();
        host.clear(STENCIL);

        let error = host.call("Renamed", 1, &[&x, &k]).expect_err("no function has this name");
        assert!(error.id.ends_with(":internal") && error.text.contains(STENCIL), "{error:?}");
        host.clear("Renamed");
    });
}

/// A check that cannot fail proves nothing: what the tests above rely on is broken here, once each.
#[test]
fn the_stand_in_notices() {
    in_matlab(|host| {
        let x = host.ones(&[1, 3]);
        let expect = |what: &str, misuses: usize, relics: usize| {
            assert_eq!((host.misuses().len(), host.relics()), (misuses, relics), "{what}: {:?}", host.misuses());
            host.forget_misuses();
        };
        // SAFETY: the relic takes nothing and returns null; the array is dead, and the stand-in looks before it touches.
        unsafe {
            let relic: unsafe extern "C-unwind" fn(*const c_void) -> *const u32 = mem::transmute(symbol(host.library, c"mxGetDimensions"));
            assert!(relic(x.raw).is_null());
            expect("a relic", 0, 1);
            let dead = host.ones(&[1, 3]).raw;
            (host.api.mxGetData)(dead);
            (host.api.mxDestroyArray)(dead);
            expect("a dead array", 2, 0);
            let y = host.ones(&[1, 3]);
            *(host.api.mxGetData)(y.raw).cast::<f64>().add(3) = 1.0;
            drop(y);
            expect("a write beside the data", 1, 0);
        }
        // `drawnow` runs callbacks where it is not told otherwise.
        let called = Cell::new(0);
        host.with_callback(usize::MAX, &mut || called.set(called.get() + 1), || {
            for (code, calls) in [(c"drawnow;", 1), (c"drawnow limitrate nocallbacks;", 1), (c"drawnow;", 2)] {
                // SAFETY: the text ends in NUL.
                unsafe { (host.api.mexEvalString)(code.as_ptr()) };
                assert_eq!(called.get(), calls, "{code:?}");
                expect("code that is evaluated outside a call", 1, 0);
            }
        });
        // SAFETY: as above.
        unsafe { (host.api.mexEvalString)(c"drawnow limitrate;".as_ptr()) };
        expect("code that it does not know, outside a call", 2, 0);
        // What is no MEX file for this host does not load.
        let not_a_mex = stand_in_dir().join("libmx.so");
        assert!(host.try_load(&not_a_mex, "NotAMex").unwrap_err().contains("mexFunction"));
        assert_eq!(host.call_raw("NotAMex", 0, &[]).err().map(|error| error.id).as_deref(), Some("MATLAB:UndefinedFunction"));
    });
}

// ---- what is right

/// The contract's arithmetic, word by word.
fn reference(dims: &[usize], x: &[f64], taps: &[f64]) -> Vec<f64> {
    let length = dims.iter().copied().find(|&dim| dim != 1).unwrap_or(1).max(1);
    let radius = taps.len() / 2;
    let sample = |line: &[f64], i: usize| if i < radius { 0.0 } else { line.get(i - radius).copied().unwrap_or(0.0) };
    x.chunks(length)
        .flat_map(|line| {
            (0..line.len()).map(move |i| taps.iter().enumerate().fold(0.0, |acc, (k, &tap)| sample(line, i + k).mul_add(tap, acc)))
        })
        .collect()
}

fn assert_same_bits(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        // The payload of a NaN is nobody's business.
        assert!(
            got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
            "{what}: element {i} is {got:e} and not {expected:e}"
        );
    }
}

/// Numbers in (-1, 1) that look like nothing in particular, the same for the same seed.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

// ---- the interpreter's thread

type Job = Box<dyn FnOnce(&Host) + Send>;

const THREAD: &str = "matlab";

/// What the last panic on that thread said. The harness catches what a test prints on its own thread only.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs `test` as MATLAB would run a script, and then asks the stand-in for what it has noted.
#[track_caller]
fn in_matlab(test: impl FnOnce(&Host) + Send + 'static) {
    static INTERPRETER: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| match thread::current().name() {
            Some(THREAD) => *locked(&PANIC) = info.to_string(),
            _ => others(info),
        }));
        let (sender, jobs) = channel::<Job>();
        let run = move || {
            let host = Host::start();
            jobs.iter().for_each(|job| job(&host));
        };
        thread::Builder::new().name(THREAD.into()).spawn(run).expect("a thread");
        Mutex::new(sender)
    });
    let (done, result) = channel();
    let job = move |host: &Host| {
        host.forget_misuses();
        let before = host.live();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            test(host);
            host.assert_clear(before);
        }));
        host.refusal_pending();
        // Nobody waits but the test, which does nothing else.
        let _ = done.send(outcome.map_err(|_| locked(&PANIC).clone()));
    };
    let sent = locked(&INTERPRETER).send(Box::new(job)).is_ok();
    let outcome = if sent { result.recv().ok() } else { None };
    match outcome {
        Some(Ok(())) => {}
        Some(Err(failure)) => panic!("{failure}"),
        None => panic!("the stand-in did not start: {}", locked(&PANIC)),
    }
}

/// A test that failed leaves nothing half done behind these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- the stand-in, from this side

const LOGICAL: c_int = 3;
const CHAR: c_int = 4;
const DOUBLE: c_int = 6;
const SINGLE: c_int = 7;
const INT8: c_int = 8;
const UINT64: c_int = 15;
const FUNCTION: c_int = 16;
const OPAQUE: c_int = 17;
const OBJECT: c_int = 18;

type MxArray = *mut c_void;

macro_rules! functions {
    ($(fn $name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// What the tests call of MATLAB's functions and of the driver's.
        #[allow(non_snake_case)]
        struct Api {
            $($name: unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,)*
        }
        impl Api {
            /// # Safety
            /// `library` must be the stand-in's libmex.
            unsafe fn load(library: *mut c_void) -> Api {
                let name = |name: &str| CString::new(name).unwrap();
                // SAFETY: the signatures are those of the stand-in's headers.
                unsafe { Api { $($name: mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($type),*) $(-> $result)?>(symbol(library, &name(stringify!($name)))),)* } }
            }
        }
    };
}

functions! {
    fn mexEvalString(*const c_char) -> c_int;
    fn mxCreateNumericArray_730(usize, *const usize, c_int, c_int) -> MxArray;
    fn mxCreateLogicalArray_730(usize, *const usize) -> MxArray;
    fn mxCreateCharArray_730(usize, *const usize) -> MxArray;
    fn mxCreateCellMatrix_730(usize, usize) -> MxArray;
    fn mxCreateStructMatrix_730(usize, usize, c_int, *const *const c_char) -> MxArray;
    fn mxCreateString(*const c_char) -> MxArray;
    fn mxDestroyArray(MxArray);
    fn mxGetClassName(MxArray) -> *const c_char;
    fn mxGetData(MxArray) -> *mut c_void;
    fn mxGetDimensions_730(MxArray) -> *const usize;
    fn mxGetFieldByNumber_730(MxArray, usize, c_int) -> MxArray;
    fn mxGetFieldNameByNumber(MxArray, c_int) -> *const c_char;
    fn mxGetNumberOfDimensions_730(MxArray) -> usize;
    fn mxGetNumberOfElements(MxArray) -> usize;
    fn mxGetNumberOfFields(MxArray) -> c_int;
    fn mxIsDouble(MxArray) -> bool;
    fn standin_callback(Option<unsafe extern "C-unwind" fn(*mut c_void)>, *mut c_void, usize);
    fn standin_call(*const c_char, c_int, *mut MxArray, c_int, *const MxArray) -> c_int;
    fn standin_clear(*const c_char) -> c_int;
    fn standin_error_id() -> *const c_char;
    fn standin_error_text() -> *const c_char;
    fn standin_forget_misuses();
    fn standin_interrupt(usize);
    fn standin_interrupt_queries() -> usize;
    fn standin_printed() -> *const c_char;
    fn standin_raise_when_evaluating();
    fn standin_shown() -> usize;
    fn standin_has_exit(*const c_char) -> c_int;
    fn standin_live_arrays() -> usize;
    fn standin_live_blocks() -> usize;
    fn standin_load(*const c_char, *const c_char) -> *const c_char;
    fn standin_misuse(usize) -> *const c_char;
    fn standin_misuses() -> usize;
    fn standin_object(*const c_char, c_int) -> MxArray;
    fn standin_refusal_pending() -> c_int;
    fn standin_refuse_array(usize);
    fn standin_relics() -> usize;
    fn standin_sparse(usize, usize, usize) -> MxArray;
    fn standin_stray(usize) -> *const c_char;
    fn standin_strays() -> usize;
    fn standin_string(*const *const c_char, usize) -> MxArray;
    fn standin_warning_id(usize) -> *const c_char;
    fn standin_warning_text(usize) -> *const c_char;
    fn standin_warnings() -> usize;
}

/// # Safety
/// `library` must be an open handle.
unsafe fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: as promised.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null(), "the stand-in has no {name:?}");
    address
}

/// # Safety
/// `text` must be null or end in NUL.
unsafe fn owned(text: *const c_char) -> Option<String> {
    // SAFETY: as promised.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

fn stand_in_dir() -> PathBuf {
    env::var_os("STAND_IN_DIR").unwrap_or_else(|| env!("STAND_IN_DIR").into()).into()
}

/// The MEX file: cargo puts it beside the tests, or one folder up.
fn mex_file() -> PathBuf {
    if let Some(path) = env::var_os("STENCIL_MEX_LIBRARY") {
        return path.into();
    }
    let test = env::current_exe().expect("the path of this test");
    let places = test.ancestors().skip(1).take(2).map(|folder| folder.join("libstencil_mex.so"));
    places.clone().find(|path| path.is_file()).unwrap_or_else(|| panic!("libstencil_mex.so is in none of {:?}", places.collect::<Vec<_>>()))
}

/// An error or a warning as MATLAB shows it.
#[derive(Debug, PartialEq)]
struct Message {
    id: String,
    text: String,
}

struct Host {
    api: Api,
    library: *mut c_void,
    loaded: RefCell<HashSet<String>>,
}

// SAFETY of the calls below: arrays are live while their `Array` is, texts end in NUL, counts are those of the slices, and everything happens on
// the thread that `in_matlab` started.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Host {
    fn start() -> Host {
        // What is set on this machine would take the place of the defaults that are tested.
        unsafe { libc::unsetenv(c"STENCIL_BACKEND".as_ptr()) };
        let path = CString::new(stand_in_dir().join("libmex.so").into_os_string().into_encoded_bytes()).unwrap();
        // RTLD_LOCAL, as a host may load them: their names can only be found by those who know which libraries to ask.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{:?}", unsafe { owned(libc::dlerror()) });
        assert!(unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mxGetData".as_ptr()) }.is_null(), "the names are not global");
        Host { api: unsafe { Api::load(library) }, library, loaded: RefCell::default() }
    }

    fn wrap(&self, raw: MxArray) -> Array<'_> {
        assert!(!raw.is_null());
        Array { host: self, raw }
    }

    /// An array of zeros.
    fn make(&self, class: c_int, dims: &[usize], complex: bool) -> Array<'_> {
        self.wrap(match class {
            LOGICAL => unsafe { (self.api.mxCreateLogicalArray_730)(dims.len(), dims.as_ptr()) },
            CHAR => unsafe { (self.api.mxCreateCharArray_730)(dims.len(), dims.as_ptr()) },
            _ => unsafe { (self.api.mxCreateNumericArray_730)(dims.len(), dims.as_ptr(), class, complex.into()) },
        })
    }

    fn double(&self, dims: &[usize], values: &[f64]) -> Array<'_> {
        let array = self.make(DOUBLE, dims, false);
        assert_eq!(values.len(), dims.iter().product());
        if !values.is_empty() {
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), (self.api.mxGetData)(array.raw).cast(), values.len()) };
        }
        array
    }

    fn ones(&self, dims: &[usize]) -> Array<'_> {
        self.double(dims, &vec![1.0; dims.iter().product()])
    }

    fn text(&self, text: &str) -> Array<'_> {
        let text = CString::new(text).unwrap();
        self.wrap(unsafe { (self.api.mxCreateString)(text.as_ptr()) })
    }

    fn char_matrix(&self, m: usize, n: usize) -> Array<'_> {
        self.make(CHAR, &[m, n], false)
    }

    /// A string array; `None` is a missing string.
    fn string(&self, texts: &[Option<&str>]) -> Array<'_> {
        let texts: Vec<_> = texts.iter().map(|text| text.map(|text| CString::new(text).unwrap())).collect();
        let texts: Vec<_> = texts.iter().map(|text| text.as_ref().map_or(ptr::null(), |text| text.as_ptr())).collect();
        self.wrap(unsafe { (self.api.standin_string)(texts.as_ptr(), texts.len()) })
    }

    fn sparse(&self, m: usize, n: usize, stored: usize) -> Array<'_> {
        self.wrap(unsafe { (self.api.standin_sparse)(m, n, stored) })
    }

    fn object(&self, class: &CStr, id: c_int) -> Array<'_> {
        self.wrap(unsafe { (self.api.standin_object)(class.as_ptr(), id) })
    }

    fn cell(&self, m: usize, n: usize) -> Array<'_> {
        self.wrap(unsafe { (self.api.mxCreateCellMatrix_730)(m, n) })
    }

    fn structure(&self, m: usize, n: usize, fields: &[&CStr]) -> Array<'_> {
        let fields: Vec<_> = fields.iter().map(|field| field.as_ptr()).collect();
        self.wrap(unsafe { (self.api.mxCreateStructMatrix_730)(m, n, fields.len() as c_int, fields.as_ptr()) })
    }

    /// `'Backend', 'cpu'`.
    fn cpu(&self) -> [Array<'_>; 2] {
        [self.text("Backend"), self.text("cpu")]
    }

    fn try_load(&self, file: &std::path::Path, name: &str) -> Result<(), String> {
        let file = CString::new(file.as_os_str().as_encoded_bytes()).unwrap();
        let name = CString::new(name).unwrap();
        unsafe { owned((self.api.standin_load)(file.as_ptr(), name.as_ptr())) }.map_or(Ok(()), Err)
    }

    fn load(&self, name: &str) {
        self.try_load(&mex_file(), name).unwrap_or_else(|why| panic!("{name} did not load: {why}"));
        self.loaded.borrow_mut().insert(name.into());
    }

    /// Calls a function, and loads it if it is not loaded, as MATLAB does. The outputs are those that were set.
    fn call(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Result<Vec<Array<'_>>, Message> {
        if !self.loaded.borrow().contains(name) {
            self.load(name);
        }
        self.call_raw(name, outputs, arguments)
    }

    fn call_raw(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Result<Vec<Array<'_>>, Message> {
        let name = CString::new(name).unwrap();
        let inputs: Vec<_> = arguments.iter().map(|array| array.raw).collect();
        let mut places = vec![ptr::null_mut(); outputs.max(1)];
        let failed = unsafe {
            (self.api.standin_call)(name.as_ptr(), outputs as c_int, places.as_mut_ptr(), inputs.len() as c_int, inputs.as_ptr())
        };
        if failed != 0 {
            let text = |text| unsafe { owned(text) }.expect("a text");
            return unsafe { Err(Message { id: text((self.api.standin_error_id)()), text: text((self.api.standin_error_text)()) }) };
        }
        Ok(places.into_iter().filter(|raw| !raw.is_null()).map(|raw| self.wrap(raw)).collect())
    }

    /// Calls a function that returns one array.
    fn one(&self, name: &str, outputs: usize, arguments: &[&Array]) -> Array<'_> {
        let mut all = self.call(name, outputs, arguments).unwrap_or_else(|error| panic!("{name} failed: {error:?}, for {arguments:?}"));
        assert_eq!(all.len(), 1, "one output, and `ans` where none was asked for");
        all.remove(0)
    }

    /// Calls the stencil with what it refuses, then with what it takes.
    fn refuses(&self, name: &str, outputs: usize, arguments: &[&Array], kind: &str, opening: &str) -> Message {
        let Err(error) = self.call(name, outputs, arguments) else { panic!("{kind} was expected for {arguments:?}") };
        assert_eq!(error.id, format!("{}:{kind}", name.trim_end_matches("_CUDA")), "{error:?}, for {arguments:?}");
        assert!(error.text.starts_with(opening), "{error:?}");
        assert!(error.text.len() > opening.len() && error.text.contains(' '), "it says what was got and what is expected: {error:?}");
        let (x, k, cpu) = (self.ones(&[1, 4]), self.ones(&[1, 3]), self.cpu());
        let next = self.one(STENCIL, 1, &[&[&x, &k], &cpu.each_ref()[..]].concat());
        assert_eq!(next.doubles(), [2.0, 3.0, 3.0, 2.0], "the next call works");
        error
    }

    fn clear(&self, name: &str) {
        assert!(self.loaded.borrow_mut().remove(name), "{name} is loaded");
        let name = CString::new(name).unwrap();
        assert_eq!(unsafe { (self.api.standin_clear)(name.as_ptr()) }, 0);
    }

    fn has_exit(&self, name: &str) -> bool {
        let name = CString::new(name).unwrap();
        unsafe { (self.api.standin_has_exit)(name.as_ptr()) != 0 }
    }

    /// All the warnings of the process that are the stencil's.
    fn warnings(&self) -> Vec<Message> {
        let text = |text| unsafe { owned(text) }.expect("a text");
        (0..unsafe { (self.api.standin_warnings)() })
            .map(|i| unsafe { Message { id: text((self.api.standin_warning_id)(i)), text: text((self.api.standin_warning_text)(i)) } })
            .filter(|warning| warning.id.starts_with("StencilConstantMemory:"))
            .collect()
    }

    /// All that was printed in this process.
    fn printed(&self) -> String {
        unsafe { owned((self.api.standin_printed)()) }.expect("a text")
    }

    /// How often MATLAB was asked to show it.
    fn shown(&self) -> usize {
        unsafe { (self.api.standin_shown)() }
    }

    /// Presses Ctrl-C in the next call, before it is asked about for the time `after`, counted from 0.
    fn interrupt(&self, after: usize) {
        unsafe { (self.api.standin_interrupt)(after) };
    }

    /// How often the last call asked.
    fn interrupt_queries(&self) -> usize {
        unsafe { (self.api.standin_interrupt_queries)() }
    }

    /// Does `body` while the user has a callback, which is run once in the middle of a call, when that asks for an interrupt for the time `after`, counted from
    /// 0, and whenever MATLAB is asked to run callbacks.
    fn with_callback<T>(&self, after: usize, callback: &mut dyn FnMut(), body: impl FnOnce() -> T) -> T {
        struct Slot<'a> {
            callback: &'a mut dyn FnMut(),
            panic: Option<Box<dyn Any + Send>>,
        }
        /// A panic of the test's is not to pass through the library.
        unsafe extern "C-unwind" fn run(slot: *mut c_void) {
            // SAFETY: what is set below, for as long as `body` lasts, on this thread.
            let slot = unsafe { &mut *slot.cast::<Slot>() };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(&mut *slot.callback)) {
                slot.panic.get_or_insert(panic);
            }
        }
        let mut slot = Slot { callback, panic: None };
        unsafe { (self.api.standin_callback)(Some(run), ptr::from_mut(&mut slot).cast(), after) };
        let result = catch_unwind(AssertUnwindSafe(body));
        unsafe { (self.api.standin_callback)(None, ptr::null_mut(), usize::MAX) };
        // It came first.
        slot.panic.map_or(result, Err).unwrap_or_else(|panic| panic::resume_unwind(panic))
    }

    fn raise_when_evaluating(&self) {
        unsafe { (self.api.standin_raise_when_evaluating)() };
    }

    /// Arrays and blocks of memory that exist.
    fn live(&self) -> (usize, usize) {
        unsafe { ((self.api.standin_live_arrays)(), (self.api.standin_live_blocks)()) }
    }

    fn relics(&self) -> usize {
        unsafe { (self.api.standin_relics)() }
    }

    fn misuses(&self) -> Vec<String> {
        unsafe { (0..(self.api.standin_misuses)()).filter_map(|i| owned((self.api.standin_misuse)(i))).collect() }
    }

    fn strays(&self) -> Vec<String> {
        unsafe { (0..(self.api.standin_strays)()).filter_map(|i| owned((self.api.standin_stray)(i))).collect() }
    }

    fn forget_misuses(&self) {
        unsafe { (self.api.standin_forget_misuses)() };
    }

    fn refuse_array(&self, after: usize) {
        unsafe { (self.api.standin_refuse_array)(after) };
    }

    /// Whether a refusal was asked for and did not come to pass; it is called off.
    fn refusal_pending(&self) -> bool {
        unsafe { (self.api.standin_refusal_pending)() != 0 }
    }

    fn assert_clear(&self, live: (usize, usize)) {
        assert_eq!(self.misuses(), [""; 0], "misuses of MATLAB's interface");
        assert_eq!(self.relics(), 0, "32-bit relics that were called");
        assert_eq!(self.strays(), [""; 0], "what a call left behind");
        assert_eq!(self.live(), live, "arrays and blocks of memory that were there before the test, and after");
    }
}

/// An array of the workspace.
struct Array<'a> {
    host: &'a Host,
    raw: MxArray,
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Array<'_> {
    fn class_name(&self) -> String {
        unsafe { owned((self.host.api.mxGetClassName)(self.raw)) }.expect("a class")
    }

    fn dims(&self) -> Vec<usize> {
        let api = &self.host.api;
        unsafe { slice::from_raw_parts((api.mxGetDimensions_730)(self.raw), (api.mxGetNumberOfDimensions_730)(self.raw)).to_vec() }
    }

    fn doubles(&self) -> Vec<f64> {
        let api = &self.host.api;
        assert!(unsafe { (api.mxIsDouble)(self.raw) });
        match unsafe { (api.mxGetNumberOfElements)(self.raw) } {
            0 => Vec::new(),
            count => unsafe { slice::from_raw_parts((api.mxGetData)(self.raw).cast::<f64>(), count).to_vec() },
        }
    }

    /// The names of a struct's fields, and the classes of their values.
    fn fields(&self) -> Vec<(String, String)> {
        let api = &self.host.api;
        (0..unsafe { (api.mxGetNumberOfFields)(self.raw) })
            .map(|i| unsafe {
                let value = (api.mxGetFieldByNumber_730)(self.raw, 0, i);
                assert!(!value.is_null(), "every field is set");
                (owned((api.mxGetFieldNameByNumber)(self.raw, i)).unwrap(), owned((api.mxGetClassName)(value)).unwrap())
            })
            .collect()
    }

    fn with_bytes(self, bytes: &[u8]) -> Self {
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), (self.host.api.mxGetData)(self.raw).cast(), bytes.len()) };
        self
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.dims(), self.class_name())
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Drop for Array<'_> {
    fn drop(&mut self) {
        unsafe { (self.host.api.mxDestroyArray)(self.raw) };
    }
}

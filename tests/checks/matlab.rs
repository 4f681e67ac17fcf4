//! Runs the library through the stand-in for MATLAB in `tests/stand_in`. MATLAB differs from Octave in the names of the
//! host's functions, the two-byte characters, the string objects, its threads and the ownership of memory. No MATLAB is
//! needed.

mod steps;

use std::cell::Cell;
use std::ffi::c_void;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::matlab::*;

const CONVOLUTION: &str = "ConvolutionConstantMemory_CUDA";

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
        // Far from the edges, so that ghost values matter there.
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
fn inputs_that_are_no_full_floats() {
    in_matlab(|host| {
        let good = host.ones(&[1, 3]);
        let wrong = [
            host.make(LOGICAL, &[1, 3], false),
            host.make(INT8, &[1, 3], false),
            host.make(UINT64, &[1, 3], false),
            host.text("abc"),
            host.string(&[Some("abc")]),
            host.string(&[None]),
            host.cell(0, 3),
            host.structure(1, 1, &[c"x"]),
            // A thousand elements, one of them there.
            host.sparse(1, 1000, 1),
            host.sparse(3, 1, 3),
            host.object(c"function_handle", FUNCTION),
        ];
        for wrong in &wrong {
            host.refuses(STENCIL, 1, &[wrong, &good], "dataType", DATA_TYPE);
            host.refuses(STENCIL, 1, &[&good, wrong], "dataType", DATA_TYPE);
            // Before the kernel's length and before the options.
            let (even, name) = (host.ones(&[1, 4]), host.text("Colour"));
            host.refuses(STENCIL, 1, &[wrong, &even, &name, &even], "dataType", DATA_TYPE);
        }
        // Complex arrays are welcome, complex filters are not.
        for class in [DOUBLE, SINGLE] {
            for dims in [[1, 3], [0, 0]] {
                host.refuses(STENCIL, 1, &[&good, &host.make(class, &dims, true)], "dataType", DATA_TYPE);
            }
        }
        // A list of one filter, which is empty.
        let list = host.cell(1, 1);
        host.refuses(STENCIL, 1, &[&list, &good], "dataType", DATA_TYPE);
        host.refuses(STENCIL, 1, &[&good, &list], "kernelLength", "kernelArray{1} is 0x0");
        // There is no interface for these here; tests/system/gpu_arrays.rs has one.
        let on_gpu = host.object(c"gpuArray", OPAQUE);
        host.refuses(STENCIL, 1, &[&on_gpu, &good], "gpuArray", "gpuArrays cannot be used here");
        host.refuses(STENCIL, 1, &[&good, &on_gpu], "dataType", DATA_TYPE);
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
            // Not a vector is said before too long.
            (&[2, 4], "kernelShape"),
            (&[5, 5], "kernelShape"),
            (&[1, 1, 3], "kernelShape"),
            (&[2, 8192], "kernelShape"),
            (&[1, 8192], "kernelLength"),
            (&[8193, 1], "kernelLength"),
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
            // Two of the six names begin so.
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
        let (x, k, cpu) =
            (host.double(&[2, 3], &[1., 2., 3., 4., 5., 6.]), host.double(&[1, 3], &[1., 0., 0.]), host.cpu());
        let number = |value| host.double(&[1, 1], &[value]);
        for (pairs, expected) in [
            ([(host.text("Boundary"), number(9.0)), (host.text("Dim"), number(2.0))], [9., 9., 1., 2., 3., 4.]),
            ([(host.text("bound"), host.text("Circular")), (host.text("di"), number(2.0))], [5., 6., 1., 2., 3., 4.]),
            (
                [(host.string(&[Some("Boundary")]), host.string(&[Some("replicate")])), (host.text("i"), number(2.0))],
                [1., 1., 3., 3., 5., 5.],
            ),
            (
                [(host.text("Boundary"), host.text("symmetric")), (host.text("Iterations"), number(0.0))],
                [1., 2., 3., 4., 5., 6.],
            ),
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

#[test]
fn images_of_integers_and_of_truth_values() {
    in_matlab(|host| {
        let (third, cpu) = (host.double(&[1, 3], &[1.0 / 3.0; 3]), host.cpu());
        let convolve = |image: &Array, more: &[&Array]| {
            let output = host.one(CONVOLUTION, 1, &[&[image, &third], more, &cpu.each_ref()[..]].concat());
            (output.class_name(), output.dims(), output.bytes(1))
        };
        let bytes = host.make(INT8, &[1, 4], false).with_bytes(&[10, 20, 30, 0x80]);
        assert_eq!(convolve(&bytes, &[]), ("int8".into(), vec![1, 4], vec![10, 20, (-26_i8) as u8, (-33_i8) as u8]));
        let (full, edge) = (host.text("full"), host.string(&[Some("replicate")]));
        assert_eq!(convolve(&bytes, &[&edge, &full]).1, [1, 6]);
        let truths = host.make(LOGICAL, &[1, 4], false).with_bytes(&[1, 1, 0, 0]);
        assert_eq!(convolve(&truths, &[]), ("logical".into(), vec![1, 4], vec![1, 1, 0, 0]));
        let empty = host.make(LOGICAL, &[0, 4], false);
        assert_eq!(convolve(&empty, &[]), ("logical".into(), vec![0, 4], vec![]));
    });
}

/// Makes a long run: a million ones under three taps, `sweeps` times, with or without progress.
fn long_run(host: &Host, sweeps: f64, progress: f64) -> Result<Vec<f64>, Message> {
    long_run_over(host, &[1000, 1000], sweeps, progress)
}

/// A long run over an array of these dimensions.
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
        assert!(
            others.iter().all(|line| line.starts_with(&format!("{STENCIL}: ")) && line.contains("updates/s, ")),
            "{others:?}"
        );
        assert!(
            last.starts_with(&format!("{STENCIL}: 100 %, "))
                && last.trim_end().ends_with("in all")
                && last.ends_with('\n'),
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
            // 60 questions are more than a second, by when there is a line. Once interrupted, MATLAB is asked to show
            // nothing more.
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
            assert_eq!(
                error.id, "MATLAB:standin:terminated",
                "it passes through, and the run's thread is gone: {error:?}"
            );
            assert_eq!(long_run(host, 2.0, 1.0).unwrap()[..2], [1.0, 1.0], "the next call works");
        }
        host.clear(STENCIL);
        // The output, made before the run, is left to the host then, as it should be.
        assert_eq!(host.misuses(), [""; 0]);
        host.forget_misuses();
    });
}

/// Number of sweeps with which a long run takes about this long.
fn sweeps_for(host: &Host, seconds: f64) -> f64 {
    // Few sweeps take little more than any call.
    let mut sweeps = 100.0;
    loop {
        let start = Instant::now();
        long_run(host, sweeps, 0.0).unwrap();
        let took = start.elapsed().as_secs_f64();
        if took > 0.3 {
            return (sweeps * seconds / took).ceil();
        }
        sweeps *= 4.0;
    }
}

#[test]
fn a_callback_calls_the_library_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        // Its threads have work without an end, and who calls meanwhile does not wait for them.
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
            let outcome = host.with_callback(35, callback, || long_run(host, ENDLESS, progress));
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
    tasks
        .filter_map(|task| std::fs::read(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with(b"stencil"))
        .count()
}

/// Returns true during a long run, which has a thread of its own.
fn a_run_goes_on() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("/proc");
    tasks.filter_map(|task| std::fs::read(task.ok()?.path().join("comm")).ok()).any(|name| name == b"stencil\n")
}

/// True if the library's threads have ended. The system lists a thread for a moment after it was joined.
fn all_threads_ended() -> bool {
    (0..5000).any(|_| {
        threads() == 0 || {
            thread::sleep(Duration::from_millis(1));
            false
        }
    })
}

#[test]
fn a_callback_clears_functions_in_the_middle_of_a_long_run() {
    in_matlab(|host| {
        // One line: its sweeps are cut into passes, and each asks for the threads anew.
        let line = |sweeps, progress| long_run_over(host, &[1_000_000, 1], sweeps, progress);
        let mut sweeps = sweeps_for(host, 1.0);
        let several = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        // Another function of the library, or the one that runs; once, or again after a call.
        let mut cases = vec![(STENCIL, true), (STENCIL, false), (DEVICE, false)];
        while let Some(&(name, again)) = cases.last() {
            drop(host.one(DEVICE, 1, &[]));
            let expected = line(sweeps, 0.0).unwrap();
            assert_eq!(threads() > 0, several, "they are kept for the next call");
            let goes_on = Cell::new(false);
            let callback = &mut || {
                for _ in 0..1 + usize::from(again) {
                    host.clear(name);
                    if again {
                        assert_eq!(long_run(host, 2.0, 0.0).unwrap()[..2], [1.0, 1.0]);
                    }
                }
                goes_on.set(a_run_goes_on());
            };
            let output = host.with_callback(1, callback, || line(sweeps, 1.0)).unwrap();
            assert_same_bits(&output, &expected, name);
            if !goes_on.get() {
                // The last call was not inside the run.
                sweeps *= 2.0;
                assert!(sweeps < ENDLESS, "the run ended when functions were cleared");
                continue;
            }
            cases.pop();
            assert!(all_threads_ended(), "{name}, {again}: given back at the end of the call");
            assert_eq!(long_run(host, 2.0, 0.0).unwrap()[..2], [1.0, 1.0]);
        }
        host.clear(STENCIL);
        assert!(all_threads_ended(), "at once, without a call");
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
                // Inside a call whose work is over.
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
                    assert_eq!(
                        threads() > 0,
                        several,
                        "kept for the next call, as ever: there is no other call in this process"
                    );
                    host.clear(STENCIL);
                    assert!(all_threads_ended());
                }
            }));
            // SAFETY: it ends the process, and runs nothing of it.
            unsafe { libc::_exit(if good.is_ok() { 7 } else { 1 }) };
        }
        assert!(outcome.is_ok_and(|output| output.iter().all(|&x| x == 1.0)), "the parent knows nothing of it");
        assert_eq!(exit_status(child.get()), Some(7));
    });
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
        assert_same_bits(
            &host.one(STENCIL, 1, &[&x, &k, &name, &wrong, &name, &right]).doubles(),
            &expected,
            "the last",
        );

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
        let (x, k, name) =
            (host.double(&[50, 3], &noise(150, 5)), host.double(&[1, 7], &noise(7, 6)), host.text("Backend"));
        let expected = reference(&[50, 3], &noise(150, 5), &noise(7, 6));
        let cuda =
            |host: &Host| host.call(STENCIL, 1, &[&x, &k, &name, &host.text("cuda")]).map(|output| output[0].doubles());
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
        // Another test's filter may be longer than its array.
        let told = host.warnings().into_iter().filter(|warning| !warning.id.ends_with(":swapped"));
        let warnings: Vec<_> = told.collect();
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

        // A struct is made in many steps, and each can fail. The host then frees what was made before, as it should.
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
        let stencil = || {
            assert_eq!(host.one(STENCIL, 1, &[&[&x, &k], &cpu.each_ref()[..]].concat()).doubles()[..3], [6.0, 7.0, 8.0])
        };
        stencil();
        drop(host.one(DEVICE, 1, &[]));
        // MATLAB keeps an exit function for each name: one that was registered under the first name alone is lost with
        // it.
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

/// Makes an object of these values, in memory of the CPU, and returns its number.
fn new_number(host: &Host, values: &Array) -> u64 {
    let [backend, cpu] = host.cpu();
    let object = host.one(ARRAYS, 1, &[&host.text("make"), values, &backend, &cpu]);
    object.number_property(c"id").expect("it has a number")
}

/// Number of arrays that are held.
fn count(host: &Host) -> f64 {
    host.one(ARRAYS, 1, &[&host.text("count")]).doubles()[0]
}

/// Releases the array of an object with this number, as the class does in its destructor.
fn delete(host: &Host, number: u64) {
    drop(host.one(ARRAYS, 1, &[&host.text("delete"), &host.number(number)]));
}

#[test]
fn an_object_in_gives_an_object_out() {
    in_matlab(|host| {
        let (x, k) = (noise(150, 5), noise(7, 6));
        let (values, kernel) = (host.double(&[50, 3], &x), host.double(&[1, 7], &k));
        let number = new_number(host, &values);
        let object = host.device_array(number);
        for outputs in [0, 1] {
            let result = host.one(STENCIL, outputs, &[&object, &kernel]);
            assert_eq!((result.class_name().as_str(), count(host)), ("DeviceArray", 2.0));
            let new = result.number_property(c"id").expect("it has a number");
            assert_ne!(new, number);
            let gathered = host.one(ARRAYS, 1, &[&host.text("gather"), &result]);
            assert_eq!(gathered.dims(), [50, 3]);
            assert_same_bits(&gathered.doubles(), &reference(&[50, 3], &x, &k), "through objects");
            delete(host, new);
        }
        assert_eq!(count(host), 1.0);
        let same = host.one(ARRAYS, 1, &[&host.text("gather"), &object]);
        assert_same_bits(&same.doubles(), &x, "the input is as it was");
        // An option may say the same, and no other place.
        let [backend, cpu] = host.cpu();
        let result = host.one(STENCIL, 1, &[&object, &kernel, &backend, &cpu]);
        delete(host, result.number_property(c"id").expect("it has a number"));
        host.refuses(STENCIL, 1, &[&object, &kernel, &backend, &host.text("cuda")], "option", "");
        host.refuses(STENCIL, 1, &[&object, &host.device_array(number)], "dataType", DATA_TYPE);
        delete(host, number);
        delete(host, number);
        assert_eq!(count(host), 0.0);
        host.refuses(STENCIL, 1, &[&object, &kernel], "deleted", "");
    });
}

#[test]
fn an_object_that_stands_for_nothing() {
    in_matlab(|host| {
        let kernel = host.ones(&[1, 3]);
        // One of another process, and one whose constructor did not end.
        for object in [host.device_array(12_345), host.object(c"DeviceArray", OPAQUE)] {
            host.refuses(STENCIL, 1, &[&object, &kernel], "deleted", "");
            let error = host.call(ARRAYS, 1, &[&host.text("gather"), &object]).expect_err("there is nothing");
            assert_eq!(error.id, "DeviceArray:deleted");
        }
        assert_eq!(host.object(c"DeviceArray", OPAQUE).number_property(c"id"), None);
        assert_eq!(host.device_array(7).number_property(c"number"), None);
        assert_eq!(host.device_array(7).number_property(c"id"), Some(7));
    });
}

#[test]
fn an_object_that_cannot_be_made_leaves_nothing_behind() {
    in_matlab(|host| {
        let kernel = host.ones(&[1, 3]);
        let number = new_number(host, &host.ones(&[1, 4]));
        let object = host.device_array(number);
        for mode in 1..=3 {
            host.constructor(mode);
            let outcome = host.call(STENCIL, 1, &[&object, &kernel]).map(drop);
            host.constructor(0);
            let error = outcome.expect_err("there is no object");
            assert_eq!(error.id, "StencilConstantMemory:internal", "{error:?}");
            assert!(error.text.contains("@DeviceArray"), "{error:?}");
            assert_eq!(count(host), 1.0);
        }
        // The host's own error: of the number that the constructor is given, of its copy, of the object.
        for after in 0.. {
            host.refuse_array(after);
            let outcome = host.call(STENCIL, 1, &[&object, &kernel]);
            let pending = host.refusal_pending();
            match outcome {
                Ok(result) => {
                    assert!(pending && after > 2, "{after}");
                    delete(host, result[0].number_property(c"id").expect("it has a number"));
                    break;
                }
                Err(error) => assert!(!pending && !error.id.is_empty()),
            }
            assert_eq!(count(host), 1.0, "{after}");
        }
        delete(host, number);
        assert_eq!((count(host), host.misuses()), (0.0, vec![]));
        // The host frees what it had made before its own error.
        host.forget_misuses();
    });
}

/// Checks that the checks can fail: each rule that the tests above rely on is broken here once.
#[test]
fn the_stand_in_notices() {
    in_matlab(|host| {
        let x = host.ones(&[1, 3]);
        let expect = |what: &str, misuses: usize, relics: usize| {
            assert_eq!((host.misuses().len(), host.relics()), (misuses, relics), "{what}: {:?}", host.misuses());
            host.forget_misuses();
        };
        // SAFETY: the relic takes nothing and returns null; the array is dead, and the stand-in looks before it
        // touches.
        unsafe {
            let relic: unsafe extern "C-unwind" fn(*const c_void) -> *const u32 =
                mem::transmute(symbol(host.library, c"mxGetDimensions"));
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
        // `drawnow` runs callbacks by default.
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
        // A file that is no MEX file for this host does not load.
        let not_a_mex = stand_in_dir().join("libmx.so");
        assert!(host.try_load(&not_a_mex, "NotAMex").unwrap_err().contains("mexFunction"));
        assert_eq!(
            host.call_raw("NotAMex", 0, &[]).err().map(|error| error.id).as_deref(),
            Some("MATLAB:UndefinedFunction")
        );
    });
}

// ---- correct code

/// The contract's arithmetic, word by word.
fn reference(dims: &[usize], x: &[f64], taps: &[f64]) -> Vec<f64> {
    let length = dims.iter().copied().find(|&dim| dim != 1).unwrap_or(1).max(1);
    let radius = taps.len() / 2;
    let sample = |line: &[f64], i: usize| if i < radius { 0.0 } else { line.get(i - radius).copied().unwrap_or(0.0) };
    x.chunks(length)
        .flat_map(|line| {
            (0..line.len())
                .map(move |i| taps.iter().enumerate().fold(0.0, |acc, (k, &tap)| sample(line, i + k).mul_add(tap, acc)))
        })
        .collect()
}

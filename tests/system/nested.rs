//! Calls inside a call that runs on CUDA, and runs that are interrupted, cleared or forked meanwhile: through the
//! stand-in for MATLAB.
//!
//! A test of `tests/checks/matlab.rs` cannot be ignored when it is run; these are, where the library finds no device. Where it
//! finds the stand-in for the driver, nothing may be alive there once the functions are cleared, and nothing may have
//! been done that must not be: no call of the driver in a forked process, for one.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use stencil_mex::cuda::Cuda;

use crate::common::StandIn;
use crate::common::matlab::*;

const DERIVATIVE: &str = "DerivativeConstantMemory_CUDA";
const CONVOLUTION: &str = "ConvolutionConstantMemory_CUDA";
const STUDY: &str = "ConstantMemoryStudy_CUDA";

/// An interrupted run may go on for this long, also on busy cores: it ends the current step and the work queued before it.
const SOON: Duration = Duration::from_secs(10);

type Case = (&'static str, fn(&Host, Option<StandIn>));

const TABLE: [Case; 5] = [
    ("calls_inside_a_call_are_refused_or_use_the_cpu", calls_inside_a_call_are_refused_or_use_the_cpu),
    ("functions_are_cleared_in_the_middle_of_a_run", functions_are_cleared_in_the_middle_of_a_run),
    ("an_interrupted_run_ends_soon", an_interrupted_run_ends_soon),
    ("a_process_is_forked_between_calls", a_process_is_forked_between_calls),
    ("a_process_is_forked_in_the_middle_of_a_run", a_process_is_forked_in_the_middle_of_a_run),
];

/// A run on CUDA of any duration. Each sweep moves all samples cyclically by one place, so that the result counts the
/// sweeps.
#[derive(Debug, Clone, Copy)]
enum Run {
    /// A stencil, streamed through the slots.
    Stencil,
    /// A convolution, on an image that stays on the device.
    Convolution,
}

impl Run {
    const ALL: [Run; 2] = [Run::Stencil, Run::Convolution];

    fn name(self) -> &'static str {
        match self {
            Run::Stencil => STENCIL,
            Run::Convolution => CONVOLUTION,
        }
    }

    /// Rows and columns, then those of the filter. Small enough that a launch on the stand-in is over soon, large
    /// enough that a line takes several blocks.
    fn dims(self) -> [[usize; 2]; 2] {
        match self {
            Run::Stencil => [[3000, 1], [21, 1]],
            Run::Convolution => [[64, 48], [3, 3]],
        }
    }

    fn samples(self) -> Vec<f64> {
        noise(self.dims()[0].iter().product(), 1)
    }

    /// Does this number of sweeps.
    fn run(self, host: &Host, sweeps: usize) -> Result<Vec<f64>, Message> {
        let [dims, filter_dims] = self.dims();
        let mut filter = vec![0.0; filter_dims.iter().product()];
        // The entry for the row above, in the column of the middle.
        filter[filter_dims[0] * (filter_dims[1] / 2) + filter_dims[0] / 2 - 1] = 1.0;
        let (x, k) = (host.double(&dims, &self.samples()), host.double(&filter_dims, &filter));
        let names = ["Backend", "Boundary", "Iterations"].map(|name| host.text(name));
        let values = [host.text("cuda"), host.text("circular"), host.double(&[1, 1], &[sweeps as f64])];
        let options: Vec<_> = names.iter().zip(&values).flat_map(|(name, value)| [name, value]).collect();
        host.call(self.name(), 1, &[&[&x, &k], &options[..]].concat()).map(|output| output[0].doubles())
    }

    /// Returns the result of this number of sweeps.
    fn expected(self, sweeps: usize) -> Vec<f64> {
        let (rows, mut samples) = (self.dims()[0][0], self.samples());
        samples.chunks_mut(rows).for_each(|column| column.rotate_right(sweeps % rows));
        samples
    }

    fn assert_right(self, outcome: Result<Vec<f64>, Message>, sweeps: usize) {
        let output = outcome.unwrap_or_else(|error| panic!("{self:?}: {error:?}"));
        assert_same_bits(&output, &self.expected(sweeps), &format!("{self:?}, {sweeps} sweeps"));
    }

    /// Number of sweeps that takes about this long.
    fn sweeps_for(self, host: &Host, seconds: f64) -> usize {
        let mut sweeps = 1000;
        loop {
            let start = Instant::now();
            self.assert_right(self.run(host, sweeps), sweeps);
            let took = start.elapsed().as_secs_f64();
            if took > 0.3 {
                return (sweeps as f64 * seconds / took).ceil() as usize;
            }
            sweeps *= 4;
        }
    }
}

/// Small calls of the functions that take a backend: the name, and the arguments ahead of the options.
fn small_calls(host: &Host) -> [(&'static str, Vec<Array<'_>>); 3] {
    [
        (STENCIL, vec![host.double(&[100, 3], &noise(300, 2)), host.double(&[1, 5], &noise(5, 3))]),
        (DERIVATIVE, vec![host.double(&[100, 3], &noise(300, 4)), host.double(&[1, 1], &[0.1])]),
        (CONVOLUTION, vec![host.double(&[30, 40], &noise(1200, 5)), host.double(&[5, 3], &noise(15, 6))]),
    ]
}

/// Does one of them on this backend.
fn call_on(host: &Host, backend: &str, (name, arguments): &(&str, Vec<Array>)) -> Result<Vec<f64>, Message> {
    let options = [host.text("Backend"), host.text(backend)];
    let arguments: Vec<_> = arguments.iter().chain(&options).collect();
    host.call(name, 1, &arguments).map(|output| output[0].doubles())
}

/// A call on the faster engine, with enough sweeps for that to be the device.
fn call_on_the_fastest(host: &Host) -> Result<Vec<f64>, Message> {
    let mut arguments = vec![host.double(&[200_000, 1], &noise(200_000, 7)), host.double(&[1, 5], &noise(5, 3))];
    arguments.extend([host.text("Iterations"), host.double(&[1, 1], &[1000.0])]);
    call_on(host, "fastest", &(STENCIL, arguments))
}

/// The results of the small calls on this backend.
fn small_results(host: &Host, backend: &str) -> Vec<Vec<f64>> {
    small_calls(host)
        .iter()
        .map(|call| call_on(host, backend, call).unwrap_or_else(|error| panic!("{backend}: {error:?}")))
        .collect()
}

fn assert_same_results(host: &Host, backend: &str, expected: &[Vec<f64>]) {
    for (got, expected) in small_results(host, backend).iter().zip(expected) {
        assert_same_bits(got, expected, backend);
    }
}

fn assert_busy(what: &str, name: &str, call: impl FnOnce() -> Result<(), Message>) {
    // One that waited for the run's end would get the device then.
    let error = call().expect_err("the device is in use");
    assert_eq!(error.id, format!("{}:busy", name.trim_end_matches("_CUDA")), "{what}: {error:?}");
}

/// All calls on the device in use, by name or by default, are refused immediately.
fn assert_all_busy(host: &Host) {
    for call in &small_calls(host) {
        for backend in ["cuda", "auto"] {
            assert_busy(backend, call.0, || call_on(host, backend, call).map(drop));
        }
        assert_busy("no backend", call.0, || host.call(call.0, 1, &call.1.iter().collect::<Vec<_>>()).map(drop));
    }
    let (study, option, threads) = (host.text("angles"), host.text("Threads"), host.double(&[1, 1], &[64.0]));
    assert_busy("study", STUDY, || host.call(STUDY, 1, &[&study, &option, &threads]).map(drop));
    assert_busy("device", DEVICE, || host.call(DEVICE, 1, &[]).map(drop));
}

fn calls_inside_a_call_are_refused_or_use_the_cpu(host: &Host, _: Option<StandIn>) {
    let expected = small_results(host, "cuda");
    for run in Run::ALL {
        let sweeps = run.sweeps_for(host, 4.0);
        let called = Cell::new(0);
        let callback = &mut || {
            // Each leaves the device to the run.
            for _ in 0..2 {
                assert_all_busy(host);
                assert_same_results(host, "cpu", &expected);
                // Small calls are the CPU's, large ones the device's.
                assert_same_results(host, "fastest", &expected);
                assert_busy("fastest", STENCIL, || call_on_the_fastest(host).map(drop));
            }
            assert_all_busy(host);
            called.set(called.get() + 1);
        };
        let outcome = host.with_callback(5, callback, || run.run(host, sweeps));
        assert_eq!(called.get(), 1);
        run.assert_right(outcome, sweeps);
        assert_same_results(host, "cuda", &expected);
        assert_same_results(host, "auto", &expected);
    }
    assert_eq!(host.one(DEVICE, 1, &[]).class_name(), "struct");
    assert_eq!(host.warnings(), [], "nothing fell back");
}

/// Nothing is alive at the stand-in.
fn assert_given_back(stand_in: Option<StandIn>, what: &str) {
    if let Some(stand_in) = stand_in {
        assert_eq!(stand_in.alive(), "", "{what}");
    }
}

fn functions_are_cleared_in_the_middle_of_a_run(host: &Host, stand_in: Option<StandIn>) {
    let expected = small_results(host, "cuda");
    for run in Run::ALL {
        let sweeps = run.sweeps_for(host, 1.5);
        // Another function of the library, or the one that runs; and whether there are calls after that.
        for (name, again) in [(DERIVATIVE, false), (run.name(), false), (run.name(), true)] {
            let what = format!("{name} cleared in {run:?}, {again}");
            assert_same_results(host, "cuda", &expected);
            let callback = &mut || {
                host.clear(name);
                if let Some(stand_in) = stand_in {
                    assert!(!stand_in.alive().is_empty(), "{what}: the run goes on");
                }
                if again {
                    assert_all_busy(host);
                    assert_same_results(host, "cpu", &expected);
                }
            };
            let outcome = host.with_callback(3, callback, || run.run(host, sweeps));
            assert_given_back(stand_in, &what);
            run.assert_right(outcome, sweeps);
        }
        assert_same_results(host, "cuda", &expected);
        host.clear(run.name());
        assert_given_back(stand_in, "at once, without a call");
    }
    assert_same_results(host, "cuda", &expected);
}

fn an_interrupted_run_ends_soon(host: &Host, _: Option<StandIn>) {
    let expected = small_results(host, "cuda");
    for run in Run::ALL {
        // Much longer than is waited for, but not for ever.
        let sweeps = run.sweeps_for(host, 60.0);
        for after in [0, 10] {
            host.interrupt(after);
            let start = Instant::now();
            let outcome = run.run(host, sweeps);
            let took = start.elapsed();
            assert_eq!(
                outcome.map_err(|error| error.id),
                Err(format!("{}:interrupted", run.name().trim_end_matches("_CUDA")))
            );
            assert!(took < SOON, "{run:?} went on for {took:?}");
            assert_same_results(host, "cuda", &expected);
            run.assert_right(run.run(host, 1001), 1001);
        }
    }
}

/// Calls the library in a forked process, which has none of its parent's devices: exits with status 7 if all results
/// are right.
fn in_child(host: &Host, expected: &[Vec<f64>], first: impl FnOnce()) -> ! {
    let good = catch_unwind(AssertUnwindSafe(|| {
        first();
        // The functions are cleared as at the end of a host, ahead of a call and after some.
        host.clear_all();
        for _ in 0..2 {
            assert_same_results(host, "cpu", expected);
            assert_eq!(call_on_the_fastest(host).map(|output| output.len()), Ok(200_000));
            for call in &small_calls(host) {
                let id = call_on(host, "cuda", call).map_err(|error| error.id);
                assert_eq!(id, Err(format!("{}:noDevice", call.0.trim_end_matches("_CUDA"))));
            }
            assert_same_results(host, "auto", expected);
            host.clear_all();
        }
    }));
    if good.is_err() {
        eprintln!("in the forked process: {}", last_panic());
    }
    // SAFETY: it ends the process, and runs nothing of it.
    unsafe { libc::_exit(if good.is_ok() { 7 } else { 1 }) }
}

fn a_process_is_forked_between_calls(host: &Host, _: Option<StandIn>) {
    let expected = small_results(host, "cuda");
    // SAFETY: of the parent's threads, the child has this one, and ends without a word to the harness.
    let child = unsafe { libc::fork() };
    if child == 0 {
        in_child(host, &expected, || {});
    }
    assert_eq!(exit_status(child), Some(7));
    assert_same_results(host, "cuda", &expected);
}

fn a_process_is_forked_in_the_middle_of_a_run(host: &Host, _: Option<StandIn>) {
    let expected = small_results(host, "cuda");
    for run in Run::ALL {
        let sweeps = run.sweeps_for(host, 1.0);
        let child: Cell<c_int> = Cell::new(-1);
        let callback = &mut || {
            // SAFETY: as above.
            child.set(unsafe { libc::fork() });
            if child.get() == 0 {
                // Inside a call whose work is over.
                host.clear(DERIVATIVE);
            }
        };
        let outcome = host.with_callback(3, callback, || run.run(host, sweeps));
        if child.get() == 0 {
            in_child(host, &expected, || {
                let error = outcome.expect_err("the run is the parent's");
                assert!(error.id.ends_with(":internal") && error.text.contains("forked"), "{error:?}");
            });
        }
        run.assert_right(outcome, sweeps);
        assert_eq!(exit_status(child.get()), Some(7));
        assert_same_results(host, "cuda", &expected);
    }
}

pub fn trials() -> Vec<Trial> {
    let absent = Cuda::find(None).err();
    let reason = absent.as_ref().map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let stand_in = StandIn::find();
    let trial = |(case, test): Case| {
        let run = move || {
            in_matlab(move |host| {
                let outcome = catch_unwind(AssertUnwindSafe(|| test(host, stand_in)));
                // Also after a failure: the next test begins anew.
                host.clear_all();
                let misuse = stand_in.and_then(|stand_in| stand_in.misuse());
                outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                assert_eq!(misuse, None, "what the stand-in for the driver has noted");
                assert_given_back(stand_in, "after the last call");
            });
            Ok(())
        };
        Trial::test(format!("nested::{case}{reason}"), run).with_ignored_flag(absent.is_some())
    };
    TABLE.map(trial).into()
}

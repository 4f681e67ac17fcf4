//! Tests that have the driver, MPI, the host or the process to themselves: `cargo test --test system [-- FILTER]`.
//!
//! Each part of them runs in its own process, this program started again: a driver that one part opens, a library that
//! it loads and memory that it takes do not concern other parts. The names of a part's tests begin with the part's
//! name. A filter that begins with that (`faults::`, `engines::cpu-`) starts that part only.
//!
//! `STENCIL_TEST_PROCESS=faults` makes this process that part's, for a debugger.

#[path = "../common/mod.rs"]
mod common;
mod cuda_stand_in;
mod devices;
mod engines;
mod faults;
mod gpu_arrays;
mod memory;
mod nested;
mod ranks;
mod study;

use std::env;
use std::process::{Command, ExitCode};

use common::PROCESS;
use libtest_mimic::{Arguments, Trial};
use stencil_mex::cuda;

type Variables = &'static [(&'static str, &'static str)];

struct Part {
    name: &'static str,
    /// Makes its tests, in its own process: finding out which of them are ignored may change the process.
    trials: fn() -> Vec<Trial>,
    /// Runs the case of a child of such a process, by its name.
    in_child: fn(&str) -> Result<(), String>,
    /// There is a process for each of these, with such variables.
    processes: fn() -> &'static [Variables],
}

const PARTS: [Part; 9] = [
    Part { name: "engines", trials: engines::trials, in_child: engines::in_child, processes: one },
    Part { name: "study", trials: study::trials, in_child: none, processes: one },
    Part { name: "cuda_stand_in", trials: cuda_stand_in::trials, in_child: cuda_stand_in::in_child, processes: one },
    Part { name: "faults", trials: faults::trials, in_child: faults::in_child, processes: faults::processes },
    Part { name: "devices", trials: devices::trials, in_child: none, processes: devices::processes },
    Part { name: "memory", trials: memory::trials, in_child: memory::in_child, processes: one },
    Part { name: "ranks", trials: ranks::trials, in_child: ranks::in_child, processes: one },
    Part { name: "nested", trials: nested::trials, in_child: none, processes: one },
    Part { name: "gpu_arrays", trials: gpu_arrays::trials, in_child: gpu_arrays::in_child, processes: one },
];

fn one() -> &'static [Variables] {
    &[&[]]
}

fn none(what: &str) -> Result<(), String> {
    Err(format!("nobody knows how to {what}"))
}

impl Part {
    /// True if the arguments may select tests of this part.
    fn is_wanted(&self, arguments: &Arguments) -> bool {
        let beginning = |part: &Part| format!("{}::", part.name);
        let is_anothers = |filter: &String| {
            PARTS.iter().any(|other| other.name != self.name && filter.starts_with(&beginning(other)))
        };
        let is_skipped = |skip: &String| !arguments.exact && beginning(self).contains(skip);
        !arguments.filter.as_ref().is_some_and(is_anothers) && !arguments.skip.iter().any(is_skipped)
    }

    /// Runs its tests in this process.
    fn run(&self, mut arguments: Arguments) -> ExitCode {
        // A test has the device, or the processors, to itself.
        arguments.test_threads = Some(1);
        let conclusion = libtest_mimic::run(&arguments, (self.trials)());
        cuda::release();
        conclusion.exit_code()
    }

    /// Runs its tests in processes of their own; whether all ended well.
    fn start(&self) -> bool {
        let start = |variables: &Variables| {
            let mut command = Command::new(env::current_exe().expect("the path of this program"));
            command.args(env::args_os().skip(1)).env(PROCESS, self.name).envs(variables.iter().copied());
            let status = command.status().expect("this program starts again");
            if status.code().is_none() {
                eprintln!("{}: {status}", self.name);
            }
            status.success()
        };
        // Runs all of them, even after a failure.
        (self.processes)().iter().filter(|variables| !start(variables)).count() == 0
    }
}

fn main() -> ExitCode {
    // Ends the process if the arguments are wrong, or ask for help.
    let arguments = Arguments::from_args();
    let Ok(task) = env::var(PROCESS) else {
        let wanted = PARTS.iter().filter(|part| part.is_wanted(&arguments));
        return if wanted.filter(|part| !part.start()).count() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    let (name, what) = task.split_once("::").map_or((&*task, None), |(name, what)| (name, Some(what)));
    let part = PARTS.iter().find(|part| part.name == name).unwrap_or_else(|| panic!("{PROCESS} is '{task}'"));
    let Some(what) = what else { return part.run(arguments) };
    match (part.in_child)(what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

//! Ranks that speak to each other by MPI: this program runs itself under `mpirun`, as 1, 2, 3 and 5 processes on this
//! machine, through shared memory and once more through the loopback.
//!
//! Without `mpirun` or `mpicc` the tests are counted as ignored. Each has a time limit, since their main subject is
//! that no rank waits for ever.
//!
//! With a CUDA driver, real or the stand-in, ranks exchange halos of arrays on GPUs, too.

mod apart;
mod calls;
mod failures;
mod gpus;
mod messages;

use std::env;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use stencil_mex::cuda::{self, Driver};
use stencil_mex::ranks::World;

use crate::common::{PROCESS, selection, task};
use calls::DONE;

/// Time limit of a case, on a machine with other load.
const LIMIT: Duration = Duration::from_secs(60);

const RANKS: [usize; 4] = [1, 2, 3, 5];

/// Number of ranks with which the selection runs each case: some have neighbours on both sides, some on one.
const SELECTED: usize = 3;

/// A name, and the work of each rank.
type Case = (&'static str, fn(&'static World));

/// The cases of ranks that are started by a launcher. At the end of each all ranks exit immediately, the first while
/// others are still in their last call.
const CASES: [Case; 17] = [
    ("places_are_told", messages::places_are_told),
    ("gathers_of_any_length", messages::gathers_of_any_length),
    ("messages_of_any_length", messages::messages_of_any_length),
    ("messages_keep_their_order", messages::messages_keep_their_order),
    ("many_small_calls", messages::many_small_calls),
    ("fails_before_others_begin", failures::fails_before_others_begin),
    ("fails_while_others_wait", failures::fails_while_others_wait),
    ("fails_in_the_middle_of_a_gather", failures::fails_in_the_middle_of_a_gather),
    ("fails_far_ahead_of_others", failures::fails_far_ahead_of_others),
    ("all_fail_at_once", failures::all_fail_at_once),
    ("left_overs_are_thrown_away", failures::left_overs_are_thrown_away),
    ("ends_on_all_or_on_none", failures::ends_on_all_or_on_none),
    ("faults_of_the_caller", failures::faults_of_the_caller),
    ("a_forked_process_is_no_rank", failures::a_forked_process_is_no_rank),
    ("exits_between_calls", failures::exits_between_calls),
    ("exits_in_the_middle_of_a_call", failures::exits_in_the_middle_of_a_call),
    ("a_panic_ends_all", failures::a_panic_ends_all),
];

/// The cases that are run through the loopback, too: there a message to a rank that never looks waits with its sender.
const ON_LOOPBACK: [&str; 6] = [
    "messages_of_any_length",
    "fails_before_others_begin",
    "fails_far_ahead_of_others",
    "left_overs_are_thrown_away",
    "exits_between_calls",
    "exits_in_the_middle_of_a_call",
];

/// Runs one rank.
pub fn in_child(case: &str) -> Result<(), String> {
    // SAFETY: it ends the process if all else fails.
    unsafe { libc::alarm(LIMIT.as_secs() as u32 + 10) };
    match (CASES.iter().find(|known| known.0 == case), apart::APART.iter().find(|known| known.0 == case)) {
        (Some((_, run)), _) => run(World::get().expect("ranks")),
        (_, Some((_, _, run))) => run(),
        _ => match gpus::ON_GPUS.iter().find(|known| known.0 == case) {
            Some((.., run)) => {
                run(World::get().expect("ranks"));
                // The stand-in reports objects that are alive at the end of a process.
                cuda::release();
            }
            None => return Err(format!("there is no case {case}")),
        },
    }
    println!("{DONE}");
    Ok(())
}

/// Folder from which the ranks run: this program, and the library built for MPI.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn make() -> Result<Folder, String> {
        let say = |error: std::io::Error| error.to_string();
        let folder = Folder { path: env::temp_dir().join(format!("stencil-ranks-{}", std::process::id())) };
        let bare = folder.path.join("bare");
        fs::create_dir_all(&bare).map_err(say)?;
        let this = env::current_exe().map_err(say)?;
        for to in [folder.program(), bare.join("ranks")] {
            fs::hard_link(&this, &to).or_else(|_| fs::copy(&this, &to).map(drop)).map_err(say)?;
        }
        Ok(folder)
    }

    fn program(&self) -> PathBuf {
        self.path.join("ranks")
    }

    /// Why there can be no ranks here.
    fn absent(&self) -> Result<Option<String>, String> {
        if Command::new("mpirun").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            return Ok(Some("there is no mpirun".into()));
        }
        let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
        let build = Command::new(Path::new(&root).join("matlab/build-mex")).arg("--mpi").arg(&self.path).output();
        let build = build.map_err(|error| format!("matlab/build-mex: {error}"))?;
        match build.status.code() {
            Some(0) => Ok(None),
            Some(3) => Ok(Some("there is no mpicc".into())),
            _ => Err(format!("matlab/build-mex: {}", String::from_utf8_lossy(&build.stdout))),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Runs a case, and wants each rank to say that all was well.
fn run(command: &mut Command, case: &str, ranks: usize) -> Result<(), Failed> {
    // Options of Open MPI's by their variables, which others do not mind: more ranks than processors, none of them
    // bound to one, no network.
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_btl_tcp_if_include", "lo"),
        ("OMPI_MCA_oob_tcp_if_include", "lo"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        ("FI_PROVIDER", "shm,tcp"),
        (PROCESS, &task(case)),
    ] {
        command.env(name, value);
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let mut readers = Vec::new();
    for pipe in [
        child.stdout.take().map(|p| Box::new(p) as Box<dyn Read + Send>),
        child.stderr.take().map(|p| Box::new(p) as _),
    ] {
        let mut pipe = pipe.ok_or("no pipe")?;
        readers.push(std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        }));
    }
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if since.elapsed() > LIMIT {
            // `mpirun` ends its ranks.
            // SAFETY: the process is our child, and has not been waited for.
            unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
            std::thread::sleep(Duration::from_secs(3));
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let told: String = readers.into_iter().map(|reader| reader.join().unwrap_or_default()).collect();
    let done = told.matches(DONE).count();
    match status {
        None => Err(format!("not over after {LIMIT:?}; {done} of {ranks} ranks were done:\n{told}").into()),
        Some(status) if !status.success() || done != ranks => {
            Err(format!("{status}; {done} of {ranks} ranks were done:\n{told}").into())
        }
        Some(_) => {
            print!("{}", told.replace(&format!("{DONE}\n"), ""));
            Ok(())
        }
    }
}

pub fn trials() -> Vec<Trial> {
    let made = Folder::make().and_then(|folder| folder.absent().map(|absent| (Arc::new(folder), absent)));
    let absent = made.as_ref().ok().and_then(|(_, absent)| absent.as_deref());
    let reason = absent.map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let mut trials = Vec::new();
    let mut add =
        |name: String, case: &'static str, ranks: Option<usize>, bare: bool, variables: &'static [(&str, &str)]| {
            // It is there until the last test is over.
            let made = made.clone();
            let test = move || {
                let (folder, _) = made?;
                let program = if bare { folder.path.join("bare/ranks") } else { folder.program() };
                let mut command = match ranks {
                    Some(ranks) => {
                        let mut command = Command::new("mpirun");
                        command.arg("-np").arg(ranks.to_string()).arg(program);
                        command
                    }
                    None => Command::new(program),
                };
                run(command.envs(variables.iter().copied()), case, ranks.unwrap_or(1))
            };
            trials.push(Trial::test(format!("ranks::{name}{reason}"), test).with_ignored_flag(absent.is_some()));
        };
    for (case, _) in CASES {
        for ranks in RANKS.into_iter().filter(|&ranks| selection::takes_one(&(case, ranks), ranks == SELECTED)) {
            add(format!("{case}::{ranks}"), case, Some(ranks), false, &[]);
        }
    }
    for (number, case) in ON_LOOPBACK.into_iter().enumerate() {
        if !selection::takes_one(&case, number == 0) {
            continue;
        }
        add(format!("{case}::loopback"), case, Some(3), false, &[("OMPI_MCA_btl", "self,tcp")]);
    }
    for (case, ranks, _) in apart::APART.into_iter().filter(|(case, ..)| selection::takes_one(case, true)) {
        let variables: &[_] = if case == "without_its_launcher" { &[("MV2_COMM_WORLD_SIZE", "4")] } else { &[] };
        add(case.into(), case, ranks, case == "without_mpi", variables);
    }
    let mut on_gpus = 0;
    for (case, ranks, variables, _) in gpus::ON_GPUS.into_iter().filter(|(case, ..)| selection::takes_one(case, true)) {
        on_gpus += 1;
        add(format!("gpus::{case}::{ranks}"), case, Some(ranks), false, variables);
    }
    if let Err(reason) = Driver::get() {
        let those = trials.split_off(trials.len() - on_gpus);
        trials.extend(those.into_iter().map(|trial| {
            Trial::test(format!("{} (skipped: {reason})", trial.name()), || Ok(())).with_ignored_flag(true)
        }));
    }
    trials
}

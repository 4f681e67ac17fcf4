//! NVIDIA's assembler: checks PTX, and reports the resources that a chip needs for it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Maxima over the kernels of a text: registers per thread, and bytes spilled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub registers: usize,
    pub spilled: usize,
}

/// Returns the program that `PTXAS` names, or the one that `packaging/ptxas` has installed.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PTXAS").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    let folders = std::fs::read_dir(target).ok()?.flatten().map(|entry| entry.path());
    folders
        .filter(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ptxas-")))
        .map(|folder| folder.join("nvidia/cuda_nvcc/bin/ptxas"))
        .find(|program| program.is_file())
}

/// Assembles PTX for a chip of compute capability 6.0; none, and a line that says so, where there is no assembler.
///
/// # Errors
/// The assembler's message.
pub fn assembled(ptx: &str) -> Result<Option<Usage>, String> {
    let Some(program) = program() else {
        eprintln!("skipped: nothing assembles PTX here (`packaging/ptxas --version` installs what does, or set PTXAS)");
        return Ok(None);
    };
    let mut child = Command::new(&program)
        .args(["-arch=sm_60", "--verbose", "--output-file", "/dev/null", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    // An assembler that has seen enough reads no further.
    let _ = child.stdin.take().expect("it is piped").write_all(ptx.as_bytes());
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    if !ended.status.success() {
        return Err(told);
    }
    let most = |unit: &str| {
        let before = told.match_indices(unit).map(|(at, _)| &told[..at]);
        let numbers = before.map(|before| before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next());
        numbers.filter_map(|digits| digits?.parse().ok()).max().unwrap_or(0)
    };
    Ok(Some(Usage { registers: most(" registers"), spilled: most(" bytes spill stores") }))
}

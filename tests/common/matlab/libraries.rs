//! The stand-in's libraries: compiled when a test first asks for them.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

/// The libraries, with their sources and options. The library for arrays on a GPU lies in a folder for each name that
/// it has had.
const LIBRARIES: [(&str, &str, &[&str]); 4] = [
    ("libmx.so", "mx.cpp", &[]),
    ("libmex.so", "mex.cpp", &["-lmx", "-Wl,-rpath,$ORIGIN", "-ldl"]),
    ("gpu/libmwgpumexbinder.so", "gpu.cpp", &["-lmx", "-Wl,-rpath,$ORIGIN/..", "-ldl"]),
    ("gpu-older/libmwgpu.so", "gpu.cpp", &["-DOLDER", "-lmx", "-Wl,-rpath,$ORIGIN/..", "-ldl"]),
];

/// The folder that `STAND_IN_DIR` names; else one of cargo's, where the libraries are compiled if they are missing or
/// older than their sources.
pub fn stand_in_dir() -> PathBuf {
    static COMPILED: LazyLock<PathBuf> = LazyLock::new(|| {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matlab-stand-in");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in");
        compile(&from, &to).unwrap_or_else(|error| panic!("the stand-in for MATLAB was not compiled: {error}"));
        to
    });
    env::var_os("STAND_IN_DIR").map_or_else(|| COMPILED.clone(), PathBuf::from)
}

fn compile(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    // Processes that start at the same time wait for the first of them.
    let lock = File::create(to.join("lock"))?;
    lock.lock()?;
    // Written when all is there.
    let done = to.join("done");
    let this = Path::new(env!("CARGO_MANIFEST_DIR")).join(file!());
    let sources = [from.to_owned(), from.join("matlab/extern/include"), this];
    if fs::metadata(&done).and_then(|done| done.modified()).is_ok_and(|done| done > newest(&sources)) {
        return Ok(());
    }
    let target = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(true).extra_warnings(true).cargo_metadata(false);
    let compiler = build.target(&target).host(&target).opt_level(1).debug(false).out_dir(to).get_compiler();
    for (library, source, options) in LIBRARIES {
        let path = to.join(library);
        fs::create_dir_all(path.parent().expect("a folder"))?;
        let name = path.file_name().expect("a name").to_string_lossy();
        let mut command = compiler.to_command();
        command.args(["-shared", "-fPIC", "-fvisibility=hidden"]).arg(format!("-Wl,-soname,{name}"));
        command.arg("-I").arg(from.join("matlab/extern/include")).arg(from.join(source));
        command.arg("-o").arg(&path).arg("-L").arg(to).args(options);
        let output = command.output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(io::Error::other(format!("{library}:\n{told}")));
        }
        eprint!("{told}");
    }
    File::create(done).map(drop)
}

/// When a file of these folders, or of these files, was last written.
fn newest(places: &[PathBuf]) -> SystemTime {
    let files = places.iter().flat_map(|place| fs::read_dir(place).into_iter().flatten().flatten());
    let files = files.map(|entry| entry.path()).chain(places.iter().cloned()).filter(|path| path.is_file());
    files.filter_map(|path| fs::metadata(path).ok()?.modified().ok()).max().unwrap_or(SystemTime::now())
}

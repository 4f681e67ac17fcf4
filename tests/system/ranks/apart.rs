//! Ranks of processes that begin MPI themselves, or do without it.

use std::env;
use std::ffi::{CString, c_int, c_void};

use stencil_mex::platform::watch::Watch;
use stencil_mex::ranks::{Others, World};
use stencil_mex::stencil::Error;

use super::calls::{assert_told, begin, left, works};

/// A name, the number of ranks, or none for a run without a launcher, and the work of each.
pub type Apart = (&'static str, Option<usize>, fn());

/// Cases that begin MPI themselves, or do without it.
pub const APART: [Apart; 6] = [
    ("started_by_somebody_else", Some(3), started_by_somebody_else),
    ("started_for_one_thread", Some(2), started_for_one_thread),
    ("ended_before", Some(2), ended_before),
    ("without_a_launcher", None, without_a_launcher),
    ("without_its_launcher", None, without_its_launcher),
    ("without_mpi", None, without_mpi),
];

/// A function of MPI's.
fn mpi(name: &str) -> *mut c_void {
    let shim = env::current_exe().expect("this program").with_file_name("libstencil_mpi.so");
    let shim = CString::new(shim.into_os_string().into_encoded_bytes()).expect("a path");
    let name = CString::new(name).expect("a name");
    // SAFETY: both end in NUL, and the library does nothing as it is loaded.
    let found = unsafe { libc::dlsym(libc::dlopen(shim.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL), name.as_ptr()) };
    assert!(!found.is_null(), "MPI has no {name:?}");
    found
}

fn init_thread(wanted: c_int) -> c_int {
    type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, *mut c_int) -> c_int;
    let mut provided = -1;
    // SAFETY: MPI declares it so; it accepts null arguments.
    let code = unsafe {
        let init = std::mem::transmute::<*mut c_void, Init>(mpi("MPI_Init_thread"));
        init(std::ptr::null_mut(), std::ptr::null_mut(), wanted, &mut provided)
    };
    assert_eq!(code, 0);
    provided
}

fn finalize() {
    // SAFETY: so MPI declares it.
    let code = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(mpi("MPI_Finalize"))() };
    assert_eq!(code, 0);
}

fn refused(words: &str) {
    for _ in 0..2 {
        match World::get().map(drop) {
            Err(Error::Rank(text)) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

/// The levels of threads, `MPI_THREAD_MULTIPLE` and `MPI_THREAD_SINGLE`: in Open MPI, and in MPICH and all that are
/// made from it.
const MULTIPLE: c_int = 3;

const SINGLE: c_int = 0;

/// The code that started MPI ends it: one rank early, and the others get that error.
fn started_by_somebody_else() {
    init_thread(MULTIPLE);
    let world = World::get().expect("ranks");
    works(world, 1);
    if world.rank() != 0 {
        let call = begin(world);
        assert_told(call.gather(&[1], &Watch::new()), &left(0));
        drop(call);
    }
    finalize();
    assert!(matches!(world.call().map(drop), Err(Error::Rank(text)) if text == "MPI has ended in this process."));
}

fn started_for_one_thread() {
    if init_thread(SINGLE) != SINGLE {
        // This MPI has no such level.
        finalize();
        return;
    }
    refused("by other code in this process");
    finalize();
}

fn ended_before() {
    init_thread(MULTIPLE);
    finalize();
    refused("MPI has ended in this process");
}

/// A process without a launcher is one rank.
fn without_a_launcher() {
    assert!(!World::is_launched());
    let world = World::get().expect("a rank");
    assert_eq!((world.rank(), world.ranks()), (0, 1));
    works(world, 1);
}

fn without_its_launcher() {
    assert!(World::is_launched());
    refused("The launcher started 4 processes, but this one knows of no other");
}

fn without_mpi() {
    refused("libopenmpi-dev");
}

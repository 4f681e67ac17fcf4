//! MPI through `libstencil_mpi.so`, in the folder of our library: compiled from `shim.c` against the machine's own MPI.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_void};

use super::Bytes;
use crate::platform::sibling_library;
use crate::stencil::Error;

/// Version of the interface, as in `shim.c`.
const VERSION: c_int = 1;

/// Results of `start` in `shim.c` besides MPI's codes.
const ENDED: c_int = -1;
const THREADS: c_int = -2;
const NO_EXIT: c_int = -3;

/// Maximum number of bytes in one MPI message: MPI's counts are of type int, so longer messages are split. Large enough
/// to cost no time, and small enough to be tested.
const PIECE: usize = 16 << 20;

/// `struct facts` of `shim.c`.
#[repr(C)]
pub(super) struct Facts {
    pub rank: c_int,
    pub ranks: c_int,
    pub host_rank: c_int,
    pub host_ranks: c_int,
    pub threads: c_int,
    pub ours: c_int,
    pub largest_tag: c_int,
    pub cuda: c_int,
    library: [c_char; 256],
}

impl Facts {
    /// MPI's name and version, on one line.
    pub(super) fn library(&self) -> String {
        let bytes: Vec<u8> =
            self.library.iter().map(|&byte| byte.to_ne_bytes()[0]).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned()
    }
}

/// `struct shim` of `shim.c`.
#[repr(C)]
struct Shim {
    version: c_int,
    start: unsafe extern "C" fn(extern "C" fn(), *mut Facts) -> c_int,
    send: unsafe extern "C" fn(*const c_void, c_int, c_int, c_int, *mut u64) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut u64) -> c_int,
    test: unsafe extern "C" fn(*mut u64, *mut c_int, *mut c_int) -> c_int,
    cancel: unsafe extern "C" fn(*mut u64) -> c_int,
    probe: unsafe extern "C" fn(c_int, c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int, *mut u64) -> c_int,
    fetch: unsafe extern "C" fn(*mut c_void, c_int, *mut u64, *mut u64) -> c_int,
    describe: unsafe extern "C" fn(c_int, *mut c_char, c_int),
}

/// The MPI library, once it runs. There is one instance, and only its holder may call MPI: so no two threads do at the
/// same time.
pub(super) struct Line {
    shim: &'static Shim,
}

/// A message that has arrived without a matching receive. No later probe finds it: it must be [fetched](Flight::fetch).
#[must_use]
pub(super) struct Found {
    pub rank: usize,
    pub tag: c_int,
    pub bytes: usize,
    /// MPI's handle of it.
    message: u64,
}

impl Line {
    /// Opens the shim. Must be called once only.
    ///
    /// # Errors
    /// [`Error::Rank`], whose message names the remedy.
    pub(super) fn find() -> Result<Line, Error> {
        // Plugins of older versions of Open MPI need its symbols in the global scope.
        let library = sibling_library::open("libstencil_mpi.so", libc::RTLD_NOW | libc::RTLD_GLOBAL).map_err(|error| {
            let remedy = match sibling_library::file("libstencil_mpi.c") {
                // In an installed package.
                Some(source) => {
                    let library = source.with_extension("so");
                    format!(
                        "then install the package again, or run: mpicc -O2 -fPIC -shared -fvisibility=hidden -o '{}' '{}'",
                        library.display(),
                        source.display()
                    )
                }
                None => "and build this library again where mpicc is found, with make build or compile_mex.".into(),
            };
            Error::Rank(format!(
                "MPI cannot be used: {error}. Install MPI (Debian and Ubuntu: libopenmpi-dev, openmpi-bin), {remedy}"
            ))
        })?;
        let other = || Error::Rank("MPI cannot be used: libstencil_mpi.so is of another version; build again.".into());
        let shim = sibling_library::symbol(library, c"stencil_mpi").ok_or_else(other)?.cast::<Shim>();
        // SAFETY: every version of the table begins with an int, its version, and is a constant of a library that stays
        // open.
        if unsafe { *shim.cast::<c_int>() } != VERSION {
            return Err(other());
        }
        // SAFETY: as above, and this version of it is declared so.
        Ok(Line { shim: unsafe { &*shim } })
    }

    /// Starts MPI unless it runs. All ranks do so. `leave` is run before MPI ends, whoever ends it.
    ///
    /// # Errors
    /// [`Error::Rank`], with the reason that it cannot be used.
    pub(super) fn start(&mut self, leave: extern "C" fn()) -> Result<Facts, Error> {
        let mut facts = Facts {
            rank: 0,
            ranks: 0,
            host_rank: 0,
            host_ranks: 0,
            threads: 0,
            ours: 0,
            largest_tag: 0,
            cuda: 0,
            library: [0; 256],
        };
        // SAFETY: the facts are writable, and the function is never unloaded.
        let code = unsafe { (self.shim.start)(leave, &mut facts) };
        match code {
            ENDED => Err(Error::Rank("MPI has ended in this process, and cannot be started again.".into())),
            THREADS => Err(Error::Rank(format!(
                "MPI ({}) was started {} for calls from one thread alone; from MPI_THREAD_SERIALIZED on it can be used.",
                facts.library(),
                if facts.ours == 0 { "by other code in this process," } else { "by this library, but is made" },
            ))),
            NO_EXIT => Err(Error::Rank("MPI was started, but could not be told of the end of this process.".into())),
            code => self.checked(code).map(|()| facts),
        }
    }

    /// Converts an MPI code to a result.
    fn checked(&self, code: c_int) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        let mut text: [c_char; 512] = [0; 512];
        // SAFETY: the buffer has this length, and the text ends in NUL.
        let text = unsafe {
            (self.shim.describe)(code, text.as_mut_ptr(), text.len() as c_int);
            CStr::from_ptr(text.as_ptr())
        };
        Err(Error::Rank(format!("MPI reports: {}", text.to_string_lossy())))
    }

    /// Probes for a message from this rank, or any, with this tag, or any, that has arrived.
    pub(super) fn probe(&mut self, rank: Option<usize>, tag: Option<c_int>) -> Result<Option<Found>, Error> {
        let (mut found, mut source, mut found_tag, mut bytes, mut message) = (0, 0, 0, 0, 0);
        let rank = rank.map_or(-1, |rank| rank as c_int);
        // SAFETY: the addresses of four ints and of a message.
        let code = unsafe {
            let tag = tag.unwrap_or(-1);
            (self.shim.probe)(rank, tag, &mut found, &mut source, &mut found_tag, &mut bytes, &mut message)
        };
        self.checked(code)?;
        Ok((found != 0).then_some(Found { rank: source as usize, tag: found_tag, bytes: bytes as usize, message }))
    }
}

/// A message in transit, and its bytes, which stay in place until MPI is done with them.
///
/// While bytes of any flight lie on a device, MPI may only be called with that device [entered](Flight::enter).
#[must_use]
pub(super) struct Flight {
    bytes: Bytes,
    /// MPI's requests, one for each piece.
    requests: Vec<u64>,
    /// Number of completed requests.
    done: usize,
    received: usize,
}

impl Flight {
    /// Sends bytes.
    pub(super) fn send(line: &mut Line, rank: usize, tag: c_int, bytes: Bytes) -> Result<Flight, Error> {
        let send = line.shim.send;
        Flight::start(line, bytes, |at, bytes, request| {
            // SAFETY: the bytes are there, and they stay, as `Flight` says.
            unsafe { send(at.cast(), bytes, rank as c_int, tag, request) }
        })
    }

    /// Receives a message of exactly the buffer's length, or one of a single, shorter piece.
    pub(super) fn receive(line: &mut Line, rank: usize, tag: c_int, bytes: Bytes) -> Result<Flight, Error> {
        let receive = line.shim.receive;
        Flight::start(line, bytes, |at, bytes, request| {
            // SAFETY: the bytes may be written, and they stay, as `Flight` says.
            unsafe { receive(at.cast(), bytes, rank as c_int, tag, request) }
        })
    }

    /// Receives a message that was found by a probe.
    pub(super) fn fetch(line: &mut Line, found: Found, mut bytes: Vec<u8>) -> Result<Flight, Error> {
        let (fetch, mut message) = (line.shim.fetch, found.message);
        // It is a single piece.
        bytes.truncate(PIECE);
        Flight::start(line, bytes.into(), |at, bytes, request| {
            // SAFETY: as in `receive`; the message was found, and this is done once.
            unsafe { fetch(at.cast(), bytes, &mut message, request) }
        })
    }

    fn start(
        line: &mut Line,
        bytes: Bytes,
        mut start: impl FnMut(*mut u8, c_int, &mut u64) -> c_int,
    ) -> Result<Flight, Error> {
        let _entered = bytes.enter()?;
        let pieces = bytes.len().div_ceil(PIECE).max(1);
        let mut flight = Flight { bytes, requests: Vec::with_capacity(pieces), done: 0, received: 0 };
        let len = flight.bytes.len();
        let address = flight.bytes.address();
        for piece in 0..pieces {
            let from = piece * PIECE;
            let mut request = 0;
            // The address is within the bytes, or at their end.
            let code = start(address.wrapping_add(from), (len - from).min(PIECE) as c_int, &mut request);
            line.checked(code)?;
            flight.requests.push(request);
        }
        Ok(flight)
    }

    /// True once MPI is done with it.
    pub(super) fn is_done(&mut self, line: &mut Line) -> Result<bool, Error> {
        while let Some(request) = self.requests.get_mut(self.done) {
            let (mut done, mut bytes) = (0, 0);
            // SAFETY: the request was not complete when last tested.
            let code = unsafe { (line.shim.test)(request, &mut done, &mut bytes) };
            // MPI may be done with it even after an error.
            self.done += usize::from(done != 0);
            line.checked(code)?;
            if done == 0 {
                return Ok(false);
            }
            self.received += usize::try_from(bytes).unwrap_or(0);
        }
        Ok(true)
    }

    /// Cancels a receive. A message that has begun to arrive continues.
    pub(super) fn cancel(&mut self, line: &mut Line) {
        for request in &mut self.requests[self.done..] {
            // SAFETY: as in `is_done`. If MPI refuses, the receive continues.
            unsafe { (line.shim.cancel)(request) };
        }
    }

    /// Number of expected bytes, and of received ones.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (self.bytes.len(), self.received)
    }

    /// Received bytes, if it is complete.
    pub(super) fn into_bytes(mut self) -> Bytes {
        let mut bytes = if self.is_over() { self.take() } else { Vec::new().into() };
        bytes.truncate(self.received);
        bytes
    }

    fn take(&mut self) -> Bytes {
        std::mem::replace(&mut self.bytes, Vec::new().into())
    }

    /// Makes the context of its bytes current on this thread until the guard is dropped; `None` if none is needed.
    ///
    /// # Errors
    /// The driver's.
    pub(super) fn enter(&self) -> Result<Option<Box<dyn Any>>, Error> {
        if self.is_over() { Ok(None) } else { self.bytes.enter() }
    }

    /// True if MPI was done with it when last tested.
    pub(super) fn is_over(&self) -> bool {
        self.done == self.requests.len()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.is_over() {
            // MPI may still access the bytes, and no longer reports when it stops.
            std::mem::forget(self.take());
        }
    }
}

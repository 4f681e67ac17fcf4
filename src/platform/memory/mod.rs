//! Memory allocation: a failure is an error of the call, and does not end the host.
//!
//! # Rationale
//! Rust aborts the process if an allocation fails that cannot report an error. In a host that process is the user's
//! session. Three kinds of requests can fail, and each is handled:
//! - **Arrays** that grow with the user's are made by [`zeros`], [`with_room`] and [`enlarge`], which return
//!   [`OutOfMemory`].
//! - **Small requests**, those of texts, boxes, the standard library and rayon, cannot report an error. If the system
//!   refuses one, `Allocator` serves it from a reserve, a static array: its addresses are there as long as the library
//!   is, and its pages are allocated when first touched. The call continues to its next [`check`] and ends there.
//! - **Those past the allocator**: a thread needs memory for its handle, its thread-local variables and their
//!   destructors, which the standard library and the C library request from the system themselves, and they abort the
//!   process if it refuses. [`spare`] checks beforehand that there is enough.
//!
//! # Limitations
//! A call that takes more than the whole reserve between two checks still aborts the process. A run that has begun is
//! not checked: it makes no more small requests than its threads need, and its results are right.

pub(crate) mod pool;

use std::alloc::{self, GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use bytemuck::Zeroable;

/// The system refused memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// For an array.
    #[error("Out of memory: the system refused {bytes} bytes for {what}.")]
    Array {
        /// Size in bytes.
        bytes: usize,
        /// Purpose of the array.
        what: &'static str,
    },
    /// For one of the many small requests of a call.
    #[error("Out of memory: the system refused a small request; nothing was returned.")]
    Small,
}

/// Makes an empty vector with room for `len` elements.
///
/// # Errors
/// [`OutOfMemory`], with the number of bytes for `what`.
pub fn with_room<T>(len: usize, what: &'static str) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    reserve(&mut vec, len, what)?;
    Ok(vec)
}

/// Extends `vec` to at least `len` elements; new ones are the default.
///
/// # Errors
/// As [`with_room`].
pub fn enlarge<T: Clone + Default>(vec: &mut Vec<T>, len: usize, what: &'static str) -> Result<(), OutOfMemory> {
    if vec.len() < len {
        let missing = len - vec.len();
        reserve(vec, missing, what)?;
        vec.resize(len, T::default());
    }
    Ok(())
}

/// Allocates `len` zeros, whose pages the system provides when they are first touched: by the threads that work on
/// them.
///
/// # Errors
/// As [`with_room`].
pub fn zeros<T: Zeroable>(len: usize, what: &'static str) -> Result<Vec<T>, OutOfMemory> {
    let failed = || refused::<T>(len, what);
    let layout = Layout::array::<T>(len).map_err(|_| failed())?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the size is not zero.
    let allocate = || unsafe { alloc::alloc_zeroed(layout) }.cast::<T>();
    let mut start = allocate();
    if start.is_null() && release_cached() {
        start = allocate();
    }
    if start.is_null() {
        return Err(failed());
    }
    // SAFETY: from the allocator that a `Vec` uses, in its layout; and zero bits are a value of `T`.
    let zeros = unsafe { Vec::from_raw_parts(start, len, len) };
    check()?;
    Ok(zeros)
}

/// Requests large pages, 2 MiB each, for an array that has not been written to yet.
///
/// # Rationale
/// The memory of a fresh large array is provided only when touched, 4 KiB at a time, each with a page fault. Linux can
/// provide 2 MiB at a time, which saves most of these faults; the result of the request does not matter, so it is
/// ignored. Access to distant columns is faster as well: the processor caches the translations of few pages only.
pub(crate) fn prefer_large_pages<T>(fresh: &mut [T]) {
    if size_of_val(fresh) < LARGE_BYTES {
        return;
    }
    let std::ops::Range { start, end } = fresh.as_mut_ptr_range();
    // SAFETY: it queries a number and has no other effect.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page @ 1..) = usize::try_from(page) else {
        return;
    };
    let (first, last) = (start.addr().next_multiple_of(page), end.addr() / page * page);
    // SAFETY: these pages lie inside the array, and their contents do not change.
    unsafe { libc::madvise(start.with_addr(first).cast(), last - first, libc::MADV_HUGEPAGE) };
}

/// Minimum size in bytes of arrays with large pages.
const LARGE_BYTES: usize = 4 << 20;

fn reserve<T>(vec: &mut Vec<T>, additional: usize, what: &'static str) -> Result<(), OutOfMemory> {
    let mut reserve = || vec.try_reserve_exact(additional);
    reserve()
        .or_else(|refused| if release_cached() { reserve() } else { Err(refused) })
        .map_err(|_| refused::<T>(additional, what))?;
    check()
}

/// Releases cached memory; set by [`on_shortage`].
static RELEASE: OnceLock<fn() -> bool> = OnceLock::new();

/// Registers the function to be called if the system refuses an array: it releases memory that is only cached, and
/// returns true if there was any. The first registered one stays.
fn on_shortage(release: fn() -> bool) {
    RELEASE.get_or_init(|| release);
}

fn release_cached() -> bool {
    RELEASE.get().is_some_and(|release| release())
}

fn refused<T>(len: usize, what: &'static str) -> OutOfMemory {
    OutOfMemory::Array { bytes: len.saturating_mul(size_of::<T>()), what }
}

/// Memory that a thread takes past the allocator, in bytes: a generous bound. Its stack is separate.
pub const THREAD: usize = 64 << 10;

/// Stack of a thread, in bytes.
pub const STACK: usize = 2 << 20;

/// Must be called at the beginning of each call.
///
/// # Errors
/// [`OutOfMemory`] if memory is too short to begin.
pub fn begin() -> Result<(), OutOfMemory> {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    // The first call makes the C library allocate the thread-local variables of the host's thread; later ones find
    // them.
    if !BEGUN.load(Ordering::Relaxed) {
        spare(THREAD)?;
        BEGUN.store(true, Ordering::Relaxed);
    }
    ALLOCATOR.reserve.begin()
}

/// Must be called between the steps of a call.
///
/// # Errors
/// [`OutOfMemory::Small`] if the call has taken memory from the reserve.
pub fn check() -> Result<(), OutOfMemory> {
    ALLOCATOR.reserve.check()
}

/// Checks that the system has `bytes` more bytes for requests past the allocator, which could not report a failure.
///
/// The check maps memory instead of using the heap: in a thread for which the C library cannot make a heap, the system
/// serves each request, at least a page.
///
/// # Errors
/// [`OutOfMemory::Small`] if it has not.
pub fn spare(bytes: usize) -> Result<(), OutOfMemory> {
    // SAFETY: the pages are fresh, unshared and never touched, and are unmapped at once.
    unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let pages = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
        if pages == libc::MAP_FAILED {
            return Err(OutOfMemory::Small);
        }
        libc::munmap(pages, bytes);
    }
    Ok(())
}

#[global_allocator]
static ALLOCATOR: Allocator<System> = Allocator::new(System);

/// Wraps `system`, with a reserve for small requests that it refuses.
struct Allocator<S> {
    system: S,
    reserve: Reserve,
}

impl<S> Allocator<S> {
    const fn new(system: S) -> Allocator<S> {
        Allocator { system, reserve: Reserve::new() }
    }
}

// SAFETY: memory is the system's or an unshared piece of the reserve; its address shows which. Nothing here allocates,
// and nothing panics: sizes and places are within the reserve.
unsafe impl<S: GlobalAlloc> GlobalAlloc for Allocator<S> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise; here and below.
        let memory = unsafe { self.system.alloc(layout) };
        if memory.is_null() { self.reserve.take(layout) } else { memory }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let memory = unsafe { self.system.alloc_zeroed(layout) };
        if memory.is_null() { self.reserve.take_zeroed(layout) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if self.reserve.owns(memory) {
            self.reserve.free(memory, layout);
        } else {
            // SAFETY: as above.
            unsafe { self.system.dealloc(memory, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.reserve.owns(memory) {
            // SAFETY: as above.
            let moved = unsafe { self.system.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that the new size makes a layout, and is not zero.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both have at least the copied length, and the old memory is still the caller's, who does not use
            // it any more.
            unsafe {
                std::ptr::copy_nonoverlapping(memory, moved, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
        }
        moved
    }
}

/// Size and alignment in bytes of the pieces of the reserve: enough for rayon's alignment to cache lines.
const PIECE: usize = 128;

/// Number of pieces: 512 KiB of addresses.
const PIECES: usize = 4096;

/// Maximum size of a small request: larger ones can report an error.
const LARGEST: usize = 64 << 10;

#[repr(C, align(128))]
struct Room(UnsafeCell<[u8; PIECE * PIECES]>);

// SAFETY: a piece belongs to the caller who took it, as recorded under a lock.
unsafe impl Sync for Room {}

const _: () = assert!(align_of::<Room>() == PIECE);

/// Memory for small requests. All zeros at first, so that it takes no space in the library's file.
struct Reserve {
    room: Room,
    /// For each piece, true if it is in use.
    taken: Mutex<[bool; PIECES]>,
    /// Number of pieces in use.
    count: AtomicUsize,
    /// True if any was taken since the call began.
    short: AtomicBool,
}

impl Reserve {
    const fn new() -> Reserve {
        Reserve {
            room: Room(UnsafeCell::new([0; PIECE * PIECES])),
            taken: Mutex::new([false; PIECES]),
            count: AtomicUsize::new(0),
            short: AtomicBool::new(false),
        }
    }

    fn begin(&self) -> Result<(), OutOfMemory> {
        // Read first: a cache line that all threads read should not change owner in every call.
        if self.short.load(Ordering::Relaxed) {
            self.short.store(false, Ordering::Relaxed);
        }
        // Pieces kept by earlier calls must leave enough for this one.
        if self.count.load(Ordering::Relaxed) > PIECES / 2 { Err(OutOfMemory::Small) } else { Ok(()) }
    }

    fn check(&self) -> Result<(), OutOfMemory> {
        if self.short.load(Ordering::Relaxed) { Err(OutOfMemory::Small) } else { Ok(()) }
    }

    fn start(&self) -> *mut u8 {
        self.room.0.get().cast()
    }

    #[inline]
    fn owns(&self, memory: *mut u8) -> bool {
        memory.addr().wrapping_sub(self.start().addr()) < PIECE * PIECES
    }

    /// Takes neighbouring free pieces; null if there are too few.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > PIECE {
            return std::ptr::null_mut();
        }
        let wanted = Reserve::pieces(layout);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = 0;
        for last in 0..PIECES {
            free = if taken[last] { 0 } else { free + 1 };
            if free == wanted {
                let first = last + 1 - wanted;
                taken[first..=last].fill(true);
                self.count.fetch_add(wanted, Ordering::Relaxed);
                self.short.store(true, Ordering::Relaxed);
                // SAFETY: within the room.
                return unsafe { self.start().add(first * PIECE) };
            }
        }
        std::ptr::null_mut()
    }

    #[cold]
    fn take_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = self.take(layout);
        if !memory.is_null() {
            // SAFETY: it has this size, and is unshared.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    #[cold]
    fn free(&self, memory: *mut u8, layout: Layout) {
        let first = (memory.addr() - self.start().addr()) / PIECE;
        let pieces = Reserve::pieces(layout);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)[first..first + pieces].fill(false);
        self.count.fetch_sub(pieces, Ordering::Relaxed);
    }

    fn pieces(layout: Layout) -> usize {
        layout.size().div_ceil(PIECE).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system that refuses requests of more than `beyond` bytes.
    struct Refusing {
        beyond: AtomicUsize,
    }

    // SAFETY: the system's memory or none.
    unsafe impl GlobalAlloc for Refusing {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if layout.size() > self.beyond.load(Ordering::Relaxed) {
                return std::ptr::null_mut();
            }
            // SAFETY: the caller's promise; here and below.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    fn refusing(beyond: usize) -> Box<Allocator<Refusing>> {
        Box::new(Allocator::new(Refusing { beyond: AtomicUsize::new(beyond) }))
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// Many pieces of all sizes and alignments, freed in another order: each keeps its bytes, and all are free in the
    /// end.
    #[test]
    fn small_requests_that_the_system_refuses_come_from_the_reserve() {
        let allocator = refusing(0);
        assert_eq!(allocator.reserve.check(), Ok(()));
        for round in 0..3 {
            let mut held = Vec::new();
            for i in 0..200_usize {
                let layout = layout(1 + i * 37 % 3000, 1 << (i % 8));
                // SAFETY: a size that is not zero, and no more is written than that.
                let memory = unsafe {
                    let memory = if i % 2 == 0 { allocator.alloc(layout) } else { allocator.alloc_zeroed(layout) };
                    assert!(!memory.is_null() && allocator.reserve.owns(memory), "{round}: {layout:?}");
                    assert_eq!(memory.addr() % layout.align(), 0);
                    let fresh = std::slice::from_raw_parts(memory, if i % 2 == 0 { 0 } else { layout.size() });
                    assert!(fresh.iter().all(|&byte| byte == 0), "{round}: {layout:?}");
                    memory.write_bytes(i as u8, layout.size());
                    memory
                };
                held.push((i as u8, memory, layout));
            }
            let mut order: Vec<_> = (0..held.len()).map(|i| i * 77 % 200).collect();
            for at in order.drain(..) {
                let (byte, memory, layout) = held[at];
                // SAFETY: allocated above and not freed yet.
                unsafe {
                    assert!(
                        std::slice::from_raw_parts(memory, layout.size()).iter().all(|&got| got == byte),
                        "{round}: {layout:?}"
                    );
                    allocator.dealloc(memory, layout);
                }
            }
            assert_eq!(
                (allocator.reserve.check(), allocator.reserve.count.load(Ordering::Relaxed)),
                (Err(OutOfMemory::Small), 0)
            );
            assert_eq!((allocator.reserve.begin(), allocator.reserve.check()), (Ok(()), Ok(())));
        }
    }

    #[test]
    fn large_requests_and_those_beyond_the_reserve_are_refused() {
        let allocator = refusing(0);
        // SAFETY: sizes are not zero; the memory is never freed.
        unsafe {
            assert!(allocator.alloc(layout(LARGEST + 1, 8)).is_null());
            assert!(allocator.alloc(layout(8, 2 * PIECE)).is_null());
            assert_eq!(allocator.reserve.check(), Ok(()), "who asked for these was told");
            let pieces = (PIECE * PIECES) / LARGEST;
            assert!((0..pieces).all(|_| !allocator.alloc(layout(LARGEST, 8)).is_null()));
            assert!(allocator.alloc(layout(1, 1)).is_null() && allocator.alloc_zeroed(layout(1, 1)).is_null());
        }
        assert_eq!(allocator.reserve.begin(), Err(OutOfMemory::Small), "nothing is left for another call");
    }

    /// Moves from the system to the reserve, within the reserve, and back to the system keep the bytes.
    #[test]
    fn memory_that_moves_keeps_its_bytes() {
        let allocator = refusing(100);
        let bytes = |memory: *mut u8, len| {
            // SAFETY: the memory has this length, below.
            unsafe { std::slice::from_raw_parts(memory, len) }.to_vec()
        };
        // SAFETY: each memory is freed, or moved, with its own layout.
        unsafe {
            let memory = allocator.alloc(layout(100, 8));
            assert!(!allocator.reserve.owns(memory));
            memory.write_bytes(7, 100);
            let memory = allocator.realloc(memory, layout(100, 8), 1000);
            assert!(allocator.reserve.owns(memory));
            assert_eq!(bytes(memory, 100), [7; 100]);
            memory.write_bytes(8, 1000);
            let memory = allocator.realloc(memory, layout(1000, 8), 5000);
            assert!(allocator.reserve.owns(memory));
            assert_eq!(bytes(memory, 1000), [8; 1000]);
            assert!(allocator.realloc(memory, layout(5000, 8), LARGEST + 1).is_null());
            assert_eq!(bytes(memory, 1000), [8; 1000], "what could not be moved is still there");
            allocator.system.beyond.store(usize::MAX, Ordering::Relaxed);
            let memory = allocator.realloc(memory, layout(5000, 8), 3000);
            assert!(!allocator.reserve.owns(memory));
            assert_eq!(bytes(memory, 1000), [8; 1000]);
            allocator.dealloc(memory, layout(3000, 8));
        }
        assert_eq!(allocator.reserve.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn threads_share_the_reserve() {
        let allocator = refusing(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let allocator = &allocator;
                scope.spawn(move || {
                    for size in (1..2000).cycle().take(4000) {
                        // SAFETY: the size is not zero; freed with the same layout.
                        unsafe {
                            let memory = allocator.alloc(layout(size, 8));
                            memory.write_bytes(thread, size);
                            std::thread::yield_now();
                            assert!(std::slice::from_raw_parts(memory, size).iter().all(|&byte| byte == thread));
                            allocator.dealloc(memory, layout(size, 8));
                        }
                    }
                });
            }
        });
        assert_eq!(allocator.reserve.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn arrays_that_there_is_no_room_for_are_errors_that_say_how_much() {
        let what = "nothing";
        let error = |bytes| Err(OutOfMemory::Array { bytes, what });
        assert_eq!(zeros::<f64>(usize::MAX / 32, what).map(|_| ()), error(usize::MAX / 32 * 8));
        assert_eq!(zeros::<f64>(usize::MAX, what).map(|_| ()), error(usize::MAX));
        assert_eq!(with_room::<f32>(usize::MAX / 16, what).map(|_| ()), error(usize::MAX / 16 * 4));
        let mut vec = vec![1.0];
        assert_eq!(enlarge(&mut vec, usize::MAX / 16 + 1, what), error(usize::MAX / 16 * 8));
        assert_eq!(vec, [1.0]);
        assert_eq!(spare(1 << 60), Err(OutOfMemory::Small));
        let text = OutOfMemory::Array { bytes: 80, what: "N in single" }.to_string();
        assert_eq!(text, "Out of memory: the system refused 80 bytes for N in single.");
    }

    #[test]
    fn arrays_that_there_is_room_for_are_made() {
        assert_eq!(zeros::<f64>(3, ""), Ok(vec![0.0; 3]));
        assert_eq!(zeros::<f64>(0, ""), Ok(vec![]));
        assert!(with_room::<f64>(5, "").is_ok_and(|vec| vec.is_empty() && vec.capacity() >= 5));
        let mut vec = vec![1.0];
        assert_eq!((enlarge(&mut vec, 3, ""), enlarge(&mut vec, 2, "")), (Ok(()), Ok(())));
        assert_eq!(vec, [1.0, 0.0, 0.0]);
        assert_eq!(spare(100_000), Ok(()));
    }
}

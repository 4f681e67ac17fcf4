//! The pages of fresh arrays.

/// Arrays of this many bytes or more get large pages.
const LARGE: usize = 4 << 20;

/// Asks the system for large pages, 2 MiB each, behind an array that nobody has written to yet.
///
/// # Rationale
/// The memory of a fresh large array is not there until it is touched, and then it comes 4 KiB at a time, each time
/// through the kernel. Linux gives 2 MiB at a time where it is asked to, and saves most of these ways; what it says in
/// return changes nothing, so nobody listens.
pub(super) fn prefer_large<T>(fresh: &mut [T]) {
    if size_of_val(fresh) < LARGE {
        return;
    }
    let std::ops::Range { start, end } = fresh.as_mut_ptr_range();
    // SAFETY: it asks for a number and has no other effect.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page @ 1..) = usize::try_from(page) else {
        return;
    };
    let (first, last) = (start.addr().next_multiple_of(page), end.addr() / page * page);
    // SAFETY: these pages lie inside the array, and what they hold stays as it is.
    unsafe { libc::madvise(start.cast::<u8>().add(first - start.addr()).cast(), last - first, libc::MADV_HUGEPAGE) };
}

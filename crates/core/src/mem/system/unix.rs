//! Pages of Linux, macOS and other Unixes: private mappings. What Linux does in its own way is in `linux.rs`.

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use libc::{MAP_ANON, MAP_FAILED, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE};

/// Whether memory can be returned before it is released.
pub const GIVES_BACK: bool = true;

/// What every mapping is aligned to at least.
const PAGE_BYTES_MIN: usize = 4096;
/// Pages that are reserved aren't counted as taken. Other systems don't count pages without access.
#[cfg(target_os = "linux")]
const MAP_UNCOUNTED: libc::c_int = libc::MAP_NORESERVE;
#[cfg(not(target_os = "linux"))]
const MAP_UNCOUNTED: libc::c_int = 0;

/// Reserved pages.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    /// The mapping in which they lie.
    at: *mut c_void,
    mapped_bytes: usize,
}

impl Pages {
    /// Reserves this many bytes, from a multiple of `align`, a power of two, on. Costs address space alone.
    pub fn reserve(bytes: usize, align: usize) -> Option<Self> {
        // Room to move the start up to the next aligned address.
        let room = if align > PAGE_BYTES_MIN { align } else { 0 };
        let mapped_bytes = bytes.checked_add(room)?;
        // SAFETY: a new private mapping at an address of the system's choice touches nothing that exists.
        let at = unsafe {
            let flags = MAP_PRIVATE | MAP_ANON | MAP_UNCOUNTED;
            libc::mmap(null_mut(), mapped_bytes, PROT_NONE, flags, -1, 0)
        };
        if at == MAP_FAILED {
            return None;
        }
        let front = at.addr().wrapping_neg() & (align - 1);
        let start = at.wrapping_byte_add(front);
        let mut pages = Self { start: NonNull::new(start.cast())?, at, mapped_bytes };
        // What isn't needed goes back. Where the system refuses, it stays in the mapping.
        // SAFETY: a part of the new mapping, which no other code knows of yet; one that doesn't begin at a
        // page's border is refused.
        if front > 0 && unsafe { libc::munmap(at, front) } == 0 {
            (pages.at, pages.mapped_bytes) = (start, mapped_bytes - front);
        }
        let (end, rear) = (start.wrapping_byte_add(bytes), room.saturating_sub(front));
        // SAFETY: as above.
        if rear > 0 && unsafe { libc::munmap(end, rear) } == 0 {
            pages.mapped_bytes -= rear;
        }
        Some(pages)
    }

    /// Where they begin.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Where the byte of this number is, as the system's calls take it.
    pub(super) fn address(&self, at: usize) -> *mut c_void {
        self.start.as_ptr().wrapping_add(at).cast()
    }

    /// Makes the bytes `from..to` readable and writable. They are zero, or hold what they held if they were
    /// committed before. `false`: the system has no memory.
    ///
    /// # Safety
    /// The bytes lie in what was reserved.
    pub unsafe fn commit(&self, from: usize, to: usize) -> bool {
        // SAFETY: the bytes lie in our own mapping; who may access committed bytes still may.
        (unsafe { libc::mprotect(self.address(from), to - from, PROT_READ | PROT_WRITE) }) == 0
    }

    /// Returns the pages that lie in these bytes as a whole to the system. They stay committed, and hold what
    /// they held, or zeros, until they are written again.
    ///
    /// # Safety
    /// The bytes are committed. Until they are written again, other threads access them as atomics only, and
    /// accept zeros as well as what was there.
    #[cfg(not(target_os = "linux"))]
    pub unsafe fn discard(&self, from: usize, to: usize) {
        let (from, to) = (from.next_multiple_of(page_bytes()), to - to % page_bytes());
        if from < to {
            // SAFETY: whole pages of our own mapping. To atomic accesses meanwhile, and later, the call is a
            // store of zero to every word, or nothing. A refusal leaves the pages as they are.
            let _ = unsafe { libc::madvise(self.address(from), to - from, libc::MADV_FREE) };
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: what is left of the mapping that `reserve` made, unmapped once.
        let _ = unsafe { libc::munmap(self.at, self.mapped_bytes) };
    }
}

/// Bytes of a page.
pub(super) fn page_bytes() -> usize {
    // SAFETY: reads a number that the system keeps.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(PAGE_BYTES_MIN)
}

/// The machine's memory in bytes, if the system says so.
pub fn machine_bytes() -> Option<usize> {
    // SAFETY: as above.
    let pages = usize::try_from(unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) }).ok()?;
    Some(pages.saturating_mul(page_bytes()))
}

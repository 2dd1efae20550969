//! Pages of Windows: reserved, committed and released by `VirtualAlloc` and `VirtualFree`.

use core::ffi::c_void;
use core::ptr::{NonNull, null};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, MEM_RESET, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc,
    VirtualFree, VirtualUnlock,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// Whether memory can be returned before it is released.
pub const GIVES_BACK: bool = true;

/// What every reservation is aligned to.
const GRANULARITY_BYTES: usize = 64 << 10;
/// Bytes of a page, on every processor that Windows runs on.
const PAGE_BYTES: usize = 4096;

/// Reserved pages.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    /// Where the reservation begins in which they lie.
    at: *mut c_void,
}

impl Pages {
    /// Reserves this many bytes, from a multiple of `align`, a power of two, on. Costs address space alone.
    pub fn reserve(bytes: usize, align: usize) -> Option<Self> {
        // Room to move the start up to the next aligned address. A reservation can't be released in part, so
        // what isn't needed stays reserved.
        let room = if align > GRANULARITY_BYTES { align } else { 0 };
        // SAFETY: a new reservation at an address of the system's choice touches nothing that exists.
        let at = unsafe { VirtualAlloc(null(), bytes.checked_add(room)?, MEM_RESERVE, PAGE_NOACCESS) };
        let front = at.addr().wrapping_neg() & (align - 1);
        let at = NonNull::new(at)?;
        let start = NonNull::new(at.as_ptr().cast::<u8>().wrapping_add(front))?;
        Some(Self { start, at: at.as_ptr() })
    }

    /// Where they begin.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Makes the bytes `from..to` readable and writable. They are zero, or hold what they held if they were
    /// committed before. `false`: the system has no memory.
    ///
    /// # Safety
    /// The bytes lie in what was reserved.
    pub unsafe fn commit(&self, from: usize, to: usize) -> bool {
        let at = self.start.as_ptr().wrapping_add(from).cast_const().cast();
        // SAFETY: the bytes lie in our own reservation; those that are committed keep what they hold.
        from == to || !unsafe { VirtualAlloc(at, to - from, MEM_COMMIT, PAGE_READWRITE) }.is_null()
    }

    /// Returns the pages that lie in these bytes as a whole to the system. They stay committed, and hold what
    /// they held, or zeros, until they are written again.
    ///
    /// # Safety
    /// The bytes are committed. Until they are written again, other threads access them as atomics only, and
    /// accept zeros as well as what was there.
    pub unsafe fn discard(&self, from: usize, to: usize) {
        let (from, to) = (from.next_multiple_of(PAGE_BYTES), to - to % PAGE_BYTES);
        if from < to {
            let at = self.start.as_ptr().wrapping_add(from).cast_const().cast();
            // SAFETY: whole pages of our own reservation, which stay accessible. To atomic accesses
            // meanwhile the first call is a store of zero to every word, or nothing. The second fails,
            // because the pages aren't locked, and takes them from the process's working set.
            unsafe {
                let _ = VirtualAlloc(at, to - from, MEM_RESET, PAGE_NOACCESS);
                let _ = VirtualUnlock(at, to - from);
            }
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the reservation that `reserve` made, released once.
        let _ = unsafe { VirtualFree(self.at, 0, MEM_RELEASE) };
    }
}

/// The machine's memory in bytes, if the system says so.
pub fn machine_bytes() -> Option<usize> {
    let length = size_of::<MEMORYSTATUSEX>() as u32;
    let mut status = MEMORYSTATUSEX { dwLength: length, ..Default::default() };
    // SAFETY: the pointer is to a variable of this function, of the type and the length that the call writes.
    let is_given = unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0;
    is_given.then(|| usize::try_from(status.ullTotalPhys).unwrap_or(usize::MAX))
}

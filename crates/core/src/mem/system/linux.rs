//! What Linux alone does for memory: pages that read as zeros once they are returned, huge pages, NUMA nodes,
//! pages that are ready before they are written, and a limit on address space that is looked for.

use super::node_mask;
use super::pages::{Pages, page_bytes};
use std::io::Read;

/// Whether pages can be made ready before they are written.
pub const PREFAULTS: bool = true;

impl Pages {
    /// Whether discarded bytes read as zeros, whatever they held.
    pub const DISCARDED_IS_ZERO: bool = true;

    /// Returns the pages of these bytes to the system, that of the last byte as a whole. They stay committed,
    /// and are zero.
    ///
    /// # Safety
    /// The bytes are committed. Until this returns, other threads access their pages as atomics only, and
    /// accept zeros as well as what was there.
    pub unsafe fn discard(&self, from: usize, to: usize) {
        // SAFETY: the bytes lie in our own private mapping, whose pages read as zeros afterwards. To atomic
        // accesses meanwhile that is a store of zero to every word, and there are no others.
        let _ = unsafe { libc::madvise(self.address(from), to - from, libc::MADV_DONTNEED) };
    }

    /// Requests huge pages for these bytes.
    ///
    /// # Safety
    /// The bytes lie in what was reserved.
    pub unsafe fn advise_huge(&self, from: usize, to: usize) {
        // SAFETY: advice on our own mapping; it changes no content. A refusal means plain pages.
        let _ = unsafe { libc::madvise(self.address(from), to - from, libc::MADV_HUGEPAGE) };
    }

    /// Requests pages of one NUMA node for the first bytes.
    ///
    /// # Safety
    /// As many bytes were reserved.
    pub unsafe fn bind(&self, bytes: usize, node: usize) {
        let nodes = node_mask(node);
        // SAFETY: a policy for our own mapping; it changes no content. The mask is read for the number of
        // bits that is given. A refusal leaves the system's own choice.
        let _ = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.address(0),
                bytes,
                libc::MPOL_PREFERRED,
                nodes.as_ptr(),
                nodes.len() * usize::BITS as usize,
                0,
            )
        };
    }

    /// Has the system find memory for those of these bytes that are committed, as if each page were written.
    /// They keep what they hold.
    ///
    /// # Safety
    /// The bytes lie in what was reserved.
    pub unsafe fn populate(&self, from: usize, to: usize) {
        // SAFETY: the bytes lie in our own mapping; the call changes no content. A system that doesn't know
        // it (Linux before 5.14) refuses, and pages become ready when they are written.
        let _ = unsafe { libc::madvise(self.address(from), to - from, libc::MADV_POPULATE_WRITE) };
    }
}

/// The limit on the process's address space in bytes, and how many of them are taken. `None`: there is no
/// limit. Needs no memory.
pub fn address_space() -> Option<(usize, usize)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
    let is_given = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    // Its width is that of the system's addresses.
    let bytes = Some(limit.rlim_cur).filter(|&bytes| is_given && bytes != libc::RLIM_INFINITY)?;
    Some((usize::try_from(bytes).unwrap_or(usize::MAX), taken_bytes().unwrap_or(0)))
}

/// The bytes of address space that the process has taken, where the system gives them.
fn taken_bytes() -> Option<usize> {
    // On the stack: this runs when memory is about to be refused. The number of pages comes first.
    let mut text = [0; 64];
    let read = std::fs::File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text)).ok()?;
    let pages = text[..read].split(|&byte| byte == b' ').next()?;
    let pages: usize = core::str::from_utf8(pages).ok()?.parse().ok()?;
    Some(pages.saturating_mul(page_bytes()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_system_says_how_much_address_space_is_taken() {
        let taken = super::taken_bytes().expect("it says so");
        assert!(taken > 1 << 20 && taken as u64 <= 1 << 47, "{taken} bytes");
    }
}

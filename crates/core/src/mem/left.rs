//! The maximum address space that an index may reserve at once.
//!
//! A process can have a limit on its address space (`ulimit -v`, `RLIMIT_AS`). Every mapping then counts,
//! written or not, and reduces what others can map. So an index never requests more than a quarter of what
//! is left at that moment.

#[cfg(all(target_os = "linux", not(miri)))]
use std::io::Read;

/// Returns the maximum number of bytes to reserve at once. `None`: there is no limit. Needs no memory.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn largest_reservation() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    // Its width is that of the system's addresses.
    let bytes = Some(limit.rlim_cur).filter(|&bytes| told && bytes != libc::RLIM_INFINITY)?;
    let limit = usize::try_from(bytes).unwrap_or(usize::MAX);
    // Where the system doesn't report what is taken, this is at least a quarter of the limit.
    Some(limit.saturating_sub(taken().unwrap_or(0)) / 4)
}

/// Returns the bytes of address space that the process has taken.
#[cfg(all(target_os = "linux", not(miri)))]
fn taken() -> Option<usize> {
    // On the stack: this runs when memory is about to be refused. The number of pages comes first.
    let mut text = [0; 64];
    let read = std::fs::File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text)).ok()?;
    let pages = text[..read].split(|&byte| byte == b' ').next()?;
    let pages: usize = core::str::from_utf8(pages).ok()?.parse().ok()?;
    // SAFETY: reads a number that the system keeps.
    let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(pages.saturating_mul(page_bytes))
}

/// Returns the maximum number of bytes to reserve at once. Without a report of the address space that is
/// taken, reservations fail only when there is none left.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn largest_reservation() -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn the_system_says_how_much_address_space_is_taken() {
        let taken = super::taken().expect("it says so");
        assert!(taken > 1 << 20 && taken < 1 << 46, "{taken} bytes");
    }
}

//! How much address space one index may take at a time.
//!
//! A process can have a limit on its address space (`ulimit -v`, `RLIMIT_AS`). Then everything that it maps
//! counts, written or not, and what one index takes is missing elsewhere. So an index never requests more
//! than a quarter of what is left at that moment.

#[cfg(all(target_os = "linux", not(miri)))]
use std::io::Read;

/// The most bytes that may be reserved at once. `None`: there is no limit. Needs no memory.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn largest_reservation() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    // Its width is that of the system's addresses.
    let bytes = Some(limit.rlim_cur).filter(|&bytes| told && bytes != libc::RLIM_INFINITY)?;
    let limit = usize::try_from(bytes).unwrap_or(usize::MAX);
    // Where the system doesn't say what is taken, this is at least a quarter of the limit.
    Some(limit.saturating_sub(taken().unwrap_or(0)) / 4)
}

/// The bytes of address space that the process has taken.
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

/// As above; systems that don't say how much address space is taken just refuse when there is no more.
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

//! How much address space one index may take at a time.
//!
//! A process can have a limit on its address space (`ulimit -v`, `RLIMIT_AS`). Then everything that it maps
//! counts, written or not, and what one index takes is missing elsewhere. So an index never requests more
//! than a quarter of what is left at that moment.

/// The most bytes that may be reserved at once. `None`: there is no limit.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn largest_reservation() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a variable of this function, of the type that the call writes.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
    let limit = Some(limit.rlim_cur).filter(|&bytes| told && bytes != libc::RLIM_INFINITY)?;
    // Where the system doesn't say what is taken, this is at least a quarter of the limit.
    let left = limit.saturating_sub(taken().unwrap_or(0));
    Some(usize::try_from(left / 4).unwrap_or(usize::MAX))
}

/// The bytes of address space that the process has taken.
#[cfg(all(target_os = "linux", not(miri)))]
fn taken() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    // SAFETY: reads a number that the system keeps.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(pages.saturating_mul(page_bytes))
}

/// As above; systems that don't say how much address space is taken just refuse when there is no more.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn largest_reservation() -> Option<usize> {
    None
}

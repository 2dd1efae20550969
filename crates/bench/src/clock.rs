//! The time that operations are measured in, and the median of several measurements.

/// Returns the processor time of this thread, in nanoseconds.
#[cfg(target_os = "linux")]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a variable of this function, of the type that the call writes. Every Linux
    // has this clock, so the call can't fail; if it did, all times would be zero.
    let _ = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the nanoseconds since the first call.
#[cfg(not(target_os = "linux"))]
pub fn now_ns() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Returns the median, of an even number the upper one; `None` if there are none.
pub fn median(mut nanos: Vec<f64>) -> Option<f64> {
    nanos.sort_by(f64::total_cmp);
    nanos.get(nanos.len() / 2).copied()
}

//! Cache lines and prefetch.

/// The length of a cache line in bytes, on every processor that this library is tuned for and in the paper's
/// Table 2.
pub const LINE_BYTES: usize = 64;

/// Prefetches the line at `at` into all cache levels. Never faults, whatever `at` is.
#[inline(always)]
pub fn prefetch_read(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch is a hint; it neither faults nor changes anything the program can see.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, readonly, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}

/// Prefetches the line at `at` into the second-level cache, which can have more misses outstanding than the
/// first-level cache. For many lines that are read some time later. See [`prefetch_read`].
#[inline(always)]
pub fn prefetch_read_later(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(at.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    prefetch_read(at);
}

/// Prefetches every line of the `bytes` bytes from `at` on.
#[inline(always)]
pub fn prefetch_read_all(at: *const u8, bytes: usize) {
    for line in 0..bytes.div_ceil(LINE_BYTES) {
        prefetch_read(at.wrapping_add(line * LINE_BYTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetching_nowhere_is_harmless() {
        prefetch_read(core::ptr::null());
        prefetch_read(core::ptr::without_provenance(usize::MAX));
        prefetch_read_all(core::ptr::null(), 1000);
    }
}

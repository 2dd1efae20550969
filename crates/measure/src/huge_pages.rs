//! Huge pages for all memory of the process, so that contestants that use the allocator's memory have them
//! as well as ours.
//!
//! If the system gives huge pages only on request (`madvise`), an index that requests them has fewer TLB
//! misses than one on `malloc`'s memory. Here the process requests them for all of its memory after the
//! load, and has the system collapse the small pages into huge ones at once.

use std::fs;

/// The size of a huge page.
const PAGE: usize = 2 << 20;
/// The maximum size of an entry in most indexes.
const BYTES_PER_ENTRY: usize = 128;
/// The maximum number of bytes that is prepared.
const READY_MAX: usize = 512 << 20;

/// Has the system put all of this process's private memory on huge pages, as far as it can; returns the
/// share that is, 0.0 to 1.0. Nothing changes if the system doesn't support it.
pub fn for_all() -> f64 {
    ask();
    share()
}

/// Returns the share of this process's memory that is on huge pages.
pub fn share() -> f64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    };
    match (of("AnonHugePages:"), of("Anonymous:")) {
        (Some(huge), Some(all)) if all > 0.0 => huge / all,
        _ => 0.0,
    }
}

/// Has the system obtain memory for `entries` entries from its host, if it has one, and frees it: the
/// process's next allocations are likely to come from there.
///
/// The host of a virtual machine may reclaim its free memory. Then the first touch of a huge page takes
/// several milliseconds instead of a fifth of one. Whose inserts meet such a page is a matter of chance:
/// an index that reuses the allocator's cached memory meets none.
pub fn make_ready(entries: usize) {
    let bytes = entries.saturating_mul(BYTES_PER_ENTRY).min(READY_MAX).next_multiple_of(PAGE);
    touch(bytes);
}

/// Returns start and end of each private, writable mapping without a file, from the text of
/// `/proc/self/maps`.
fn private(maps: &str) -> impl Iterator<Item = (usize, usize)> {
    maps.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let path = words.nth(3);
        let anonymous = path.is_none_or(|path| path == "[heap]");
        let (from, to) = range.split_once('-')?;
        let address = |hex: &str| usize::from_str_radix(hex, 16).ok();
        (rights == "rw-p" && anonymous).then_some((address(from)?, address(to)?))
    })
}

#[cfg(target_os = "linux")]
fn ask() {
    // Since Linux 6.1; the C library's headers may be older.
    const COLLAPSE: libc::c_int = 25;
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (from, to) in private(&maps) {
        let at = core::ptr::without_provenance_mut(from);
        for advice in [libc::MADV_HUGEPAGE, COLLAPSE] {
            // SAFETY: advice about pages that this process has mapped doesn't change their contents. The
            // system refuses a range that is no longer mapped, and advice that it doesn't know.
            let _ = unsafe { libc::madvise(at, to - from, advice) };
        }
    }
}

/// Maps that many bytes on huge pages, writes to each of them, and unmaps them.
#[cfg(target_os = "linux")]
fn touch(bytes: usize) {
    let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping at an address of the system's choice replaces nothing.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), bytes, rights, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return;
    }
    // SAFETY: the mapping belongs to this function. It is written to before it ends, and isn't used
    // afterwards.
    unsafe {
        libc::madvise(start, bytes, libc::MADV_HUGEPAGE);
        core::ptr::write_bytes(start.cast::<u8>(), 1, bytes);
        libc::munmap(start, bytes);
    }
}

#[cfg(not(target_os = "linux"))]
fn ask() {}

#[cfg(not(target_os = "linux"))]
fn touch(_: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_mappings_are_those_of_no_file() {
        let maps = "5581d6a00000-5581d6a21000 rw-p 00000000 00:00 0                          [heap]\n\
            7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n\
            7f1000000000-7f1000001000 r--p 00000000 08:01 1234                       /lib/libc.so.6\n\
            7f1000001000-7f1000002000 rw-p 00001000 08:01 1234                       /lib/libc.so.6\n\
            7f2000000000-7f2000200000 ---p 00000000 00:00 0 \n\
            7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";
        let expected = [(0x5581_d6a0_0000, 0x5581_d6a2_1000), (0x7f00_0000_0000, 0x7f00_0020_0000)];
        assert_eq!(private(maps).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_memory_holds_stays_as_it_was() {
        let numbers: Vec<u64> = (0..1 << 20).collect();
        make_ready(0);
        make_ready(1 << 20);
        let share = for_all();
        assert!((0.0..=1.0).contains(&share), "{share}");
        assert!(numbers.iter().copied().eq(0..1 << 20));
    }
}

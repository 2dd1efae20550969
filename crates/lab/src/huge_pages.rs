//! Huge pages for all that a process has, so that contestants whose memory is the allocator's are on them
//! as well as ours.
//!
//! Where the system gives huge pages only to those that ask (`madvise`), an index that asks has fewer
//! misses of address translation than one on `malloc`'s memory, which doesn't. Here the process asks for
//! everybody, when all is loaded, and has the system make huge pages of the small ones at once.

use std::fs;

/// Has the system put all of this process's private memory on huge pages, as far as it can, and says what
/// share of it is, 0.0 to 1.0. Where it can't be asked nothing changes.
pub fn for_all() -> f64 {
    ask();
    share()
}

/// The share of this process's memory that is on huge pages.
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

/// Start and end of each private mapping that can be written and is no file's, from the text of
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
            // SAFETY: advice about pages that this process has mapped changes nothing that they hold. A
            // range that is no longer mapped is refused, as is advice that the system doesn't know.
            let _ = unsafe { libc::madvise(at, to - from, advice) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn ask() {}

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
        let share = for_all();
        assert!((0.0..=1.0).contains(&share), "{share}");
        assert!(numbers.iter().copied().eq(0..1 << 20));
    }
}

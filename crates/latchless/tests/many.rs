//! Many indexes in one process with little address space. It runs in separate processes, because it measures
//! their memory.
#![cfg(all(target_os = "linux", not(miri)))]

use latchless::{Error, FillFactor, Index};
use rustix::process::{Resource, Rlimit, setrlimit};

/// The environment variable with a child's limit on address space, in megabytes.
const LIMIT: &str = "LATCHLESS_TEST_LIMIT_MIB";
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// Returns the bytes of address space, and of memory in use.
fn taken() -> (usize, usize) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let mut pages = pages.split(' ').map(|pages| pages.parse::<usize>().unwrap());
    let page_bytes = rustix::param::page_size();
    (pages.next().unwrap() * page_bytes, pages.next().unwrap() * page_bytes)
}

fn filled(keys: u64) -> Result<Index<u64, u64>, Error> {
    let index = Index::new()?;
    (0..keys).try_for_each(|key| index.insert(key.wrapping_mul(0x9E37_79B9_7F4A_7C15), key).map(drop))?;
    Ok(index)
}

fn holds(index: &Index<u64, u64>, keys: u64) -> bool {
    (0..keys).all(|key| index.get(key.wrapping_mul(0x9E37_79B9_7F4A_7C15)) == Some(key))
}

#[test]
fn a_hundred_thousand_empty_indexes_leave_the_process_its_address_space() {
    if std::env::var_os(LIMIT).is_some() {
        return;
    }
    let count = 100_000;
    let (space, memory) = taken();
    let mut indexes = Vec::with_capacity(count);
    for nth in 0..count {
        let index = Index::<u64, u64>::new();
        indexes.push(index.unwrap_or_else(|error| panic!("index {nth}: {error}")));
    }
    let (space, memory) = (taken().0 - space, taken().1 - memory);
    assert!(space <= 64 * GIB, "{space} bytes of address space");
    println!("{} bytes of address space each, {} of memory", space / count, memory / count);
    assert!(memory <= count * 9 * KIB, "{} bytes each", memory / count);
    assert!(Vec::<u8>::new().try_reserve_exact(64 * MIB).is_ok(), "others get memory, too");
    // Some of them are used, and all of them can be.
    for (nth, index) in indexes.iter().enumerate().step_by(100) {
        (0..200).for_each(|key| assert_eq!(index.insert(key, nth as u64), Ok(None)));
    }
    let right = |nth: usize, index: &Index<u64, u64>| {
        let has = if nth.is_multiple_of(100) { (200, Some(nth as u64)) } else { (0, None) };
        (index.len(), index.get(7)) == has
    };
    assert!(indexes.iter().enumerate().all(|(nth, index)| right(nth, index)));
    drop(indexes);
    assert!(taken().1 < memory, "memory comes back");
}

/// Runs one of the tests below in a process with this limit on address space.
fn in_a_process_of(mib: usize, test: &str) {
    let program = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(program);
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    // The allocator reserves separate address space for each thread.
    child.env(LIMIT, mib.to_string()).env("MALLOC_ARENA_MAX", "1");
    // A backtrace takes more memory than may be left.
    child.env("RUST_BACKTRACE", "0");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{mib} MiB: {said}{complained}");
}

/// In a child process: sets its limit. Otherwise runs `test` in child processes, under each limit.
fn limited(mib: &[usize], test: &str) -> Option<usize> {
    let Ok(own) = std::env::var(LIMIT) else {
        mib.iter().for_each(|&mib| in_a_process_of(mib, test));
        return None;
    };
    let limit = own.parse::<usize>().unwrap() * MIB;
    setrlimit(Resource::As, Rlimit { current: Some(limit as u64), maximum: None }).unwrap();
    Some(limit)
}

#[test]
fn an_index_takes_at_most_a_quarter_of_the_address_space_that_is_left() {
    let limits = [64, 256, 1000, 4096];
    let Some(limit) = limited(&limits, "an_index_takes_at_most_a_quarter_of_the_address_space_that_is_left")
    else {
        return;
    };
    // The allocator's step when it needs a little more.
    let slack = 256 * KIB;
    let mut indexes = Vec::new();
    for keys in [0, 1, 100, 1000, 10_000, 30_000, 100_000] {
        let before = taken().0;
        indexes.push((keys, filled(keys).unwrap()));
        let took = taken().0 - before;
        assert!(took <= (limit - before) / 4 + slack, "{took} of {}", limit - before);
    }
    // One grows, under the smallest limit until it is refused.
    let (greedy, mut len, mut before) = (filled(0).unwrap(), 0, taken().0);
    let most = if limit == 64 * MIB { u64::MAX } else { 1_000_000 };
    let mut refused = None;
    while len < most && refused.is_none() {
        refused = (len..len + 100).find_map(|key| greedy.insert(key, key).err());
        len = greedy.len() as u64;
        let now = taken().0;
        assert!(now - before <= (limit - before) / 4 + slack, "{} of {}", now - before, limit - before);
        before = now;
    }
    assert!(refused.is_none_or(|refused| matches!(refused, Error::OutOfMemory { .. })));
    assert!(len as usize * 17 > limit.min(80 * MIB) / 5, "{len} keys");
    assert!(greedy.iter().eq((0..len).map(|key| (key, key))));
    greedy.check_invariants().unwrap();
    // Existing entries stay, and there is room for something small.
    assert!(indexes.iter().all(|(keys, index)| holds(index, *keys)));
    assert!(Vec::<u8>::new().try_reserve_exact(32 * KIB).is_ok() && filled(1).is_ok());
}

#[test]
fn twenty_indexes_fit_under_four_gigabytes_and_each_can_be_filled() {
    let name = "twenty_indexes_fit_under_four_gigabytes_and_each_can_be_filled";
    if limited(&[4096], name).is_none() {
        return;
    }
    let empty: Vec<_> = (0..20).map(|_| filled(0).unwrap()).collect();
    let full: Vec<_> = (0..20).map(|_| filled(100_000).unwrap()).collect();
    assert!(full.iter().all(|index| index.len() == 100_000 && holds(index, 1000)));
    empty.iter().for_each(|index| assert_eq!(index.insert(1, 1), Ok(None)));
}

#[test]
fn bulk_loads_get_more_than_one_step_under_a_limit() {
    let Some(limit) = limited(&[128], "bulk_loads_get_more_than_one_step_under_a_limit") else { return };
    // A quarter of the limit, when a quarter is taken by the entries: more than one piece of memory may be.
    let entries: Vec<_> = (0..limit as u64 / 4 / 16).map(|key| (key, key)).collect();
    let index = Index::from_sorted(&entries, FillFactor::FULL).unwrap();
    assert!(index.memory_bytes() > limit / 4);
    assert!(entries.iter().step_by(97).all(|&(key, value)| index.get(key) == Some(value)));
    index.check_invariants().unwrap();
}

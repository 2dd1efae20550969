//! Which operations allocate, by an allocator that counts.

use latchless::bytes::ByteStrings;
use latchless::index::Slot;
use latchless::{Direction, Index};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

struct Counting;

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Their bytes.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged, which keeps `GlobalAlloc`'s promises;
// counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending counts nothing any more.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations that `run` makes.
fn allocations<R>(run: impl FnOnce() -> R) -> usize {
    let before = COUNT.get();
    let result = run();
    let count = COUNT.get() - before;
    drop(result);
    count
}

#[test]
fn ranges_from_one_end_allocate_nothing() {
    let index: Index<u64, u64> = (0..20_000).map(|key| (key, 10 * key)).collect();
    let sum = |sum: u64, (_, value): (u64, u64)| sum + value;
    assert_eq!(allocations(|| index.range(500..).take(48).fold(0, sum)), 0);
    assert_eq!(allocations(|| index.range(500..).limit(48).fold(0, sum)), 0);
    assert_eq!(allocations(|| index.range(500..9000).for_each(drop)), 0);
    assert_eq!(allocations(|| index.range(..9000).rev().for_each(drop)), 0);
    assert_eq!(allocations(|| index.range(500..).nth(9000)), 0);
    assert_eq!(allocations(|| index.range(500..).last()), 0);
    // The first count allocates the cached counts.
    assert_eq!(index.iter().count(), 20_000);
    assert_eq!(allocations(|| index.iter().count()), 0);
    assert_eq!(allocations(|| index.fold(.., 0, |sum, _, value| sum + value)), 0);
    assert_eq!(allocations(|| index.scan_chunks(.., |_, _| ControlFlow::Continue(()))), 0);
    let (mut keys, mut values) = ([0; 100], [0; 100]);
    let page = || index.page(500.., Direction::Forward, &mut keys, &mut values).unwrap();
    assert_eq!(allocations(page), 0);
    let both_ends = || {
        let mut entries = index.range(500..600);
        while entries.next().is_some() && entries.next_back().is_some() {}
    };
    assert_eq!(allocations(both_ends), 1, "what counts is counted");
}

/// One answer in about 60 is in another leaf.
#[test]
fn neighbours_of_byte_strings_allocate_what_they_return_and_nothing_else() {
    let numbers = ByteStrings::<u64, u64>::new().unwrap();
    let versions = ByteStrings::<Vec<u8>, Vec<u8>>::new().unwrap();
    let boxed = Index::<u128, Slot<u64>>::new().unwrap();
    let key = |number: u64| [b"x\0", &number.to_be_bytes()[..]].concat();
    for number in (0..20_000).step_by(2) {
        numbers.insert(&number, number).unwrap();
        versions.insert(&key(number), &[7; 60]).unwrap();
        boxed.insert(number.into(), number).unwrap();
    }
    for number in 0..20_000 {
        assert_eq!(allocations(|| [numbers.floor(&number), numbers.ceiling(&number)]), 0, "{number}");
        assert_eq!(allocations(|| [numbers.lower(&number), numbers.higher(&number)]), 0, "{number}");
        assert_eq!(allocations(|| [numbers.first(), numbers.last()]), 0);
        assert_eq!(allocations(|| [boxed.floor(number.into()), boxed.higher(number.into())]), 0);
        let key = key(number);
        let len = |key: &[u8], value: &[u8]| key.len() + value.len();
        assert_eq!(allocations(|| versions.ceiling_with(&key, len)), 0, "{number}");
        assert_eq!(allocations(|| versions.lower_with(&key, len)), 0, "{number}");
        assert_eq!(allocations(|| versions.first_with(len)), 0);
        assert!(allocations(|| versions.floor(&key)) <= 2, "the key and the value");
    }
}

/// Returns the allocations and the bytes of an index of so many entries, those of the index itself included.
fn weight<I>(index: impl Fn() -> I) -> (usize, usize) {
    // The first one also allocates what all share.
    drop(index());
    let before = BYTES.get();
    let count = allocations(index);
    (count, BYTES.get() - before + size_of::<I>())
}

#[test]
fn a_small_index_is_one_node_its_place_and_a_budget() {
    // Debug builds remember the kinds of nodes.
    let allocated = 3 + usize::from(cfg!(debug_assertions));
    for entries in [1u64, 10, 50] {
        let numbers = weight(|| {
            let index = Index::<u64, u64>::new().unwrap();
            (0..entries).for_each(|key| _ = index.insert(key << 50, key).unwrap());
            index
        });
        assert_eq!(numbers.0, allocated);
        assert!(numbers.1 < 2_500, "{entries} entries: {numbers:?}");
        let strings = weight(|| {
            let index = Index::<String, u64>::new().unwrap();
            (0..entries).for_each(|key| _ = index.insert(&format!("{key:08}"), key).unwrap());
            index
        });
        assert!(strings.1 < 4_500, "{entries} entries: {strings:?}");
    }
}

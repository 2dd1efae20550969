//! The bytes of keys of any length live on the stack or in the key: creating them allocates nothing, except
//! for long keys of several parts.

use latchless_core::BytesKey;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::cmp::Reverse;
use std::hint::black_box;

/// The system's allocator, which counts each thread's allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator; counting neither allocates nor unwinds, because the cell
// is constant at the start and has nothing to drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from the system's allocator with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations that creating the bytes of a key makes.
fn allocations<K: BytesKey, Q: BytesKey<K> + ?Sized>(key: &Q) -> usize {
    let before = ALLOCATIONS.get();
    key.with_bytes(|bytes| {
        black_box(bytes);
    });
    ALLOCATIONS.get() - before
}

#[test]
fn short_keys_and_keys_of_one_part_allocate_nothing() {
    let long = "x".repeat(60_000);
    assert_eq!(
        allocations::<String, _>(&long[..]) + allocations::<Vec<u8>, _>(long.as_bytes()) + allocations(&long),
        0
    );
    assert_eq!(allocations(&[7u8; 4000]) + allocations(&7u128) + allocations(&-1.5f64), 0);
    assert_eq!(
        allocations(&(7u64, i64::MIN))
            + allocations::<(u64, String, Reverse<u64>), _>(&(7, "a text", Reverse(9))),
        0
    );
    type Six = (u8, String, String, String, String, Vec<u8>);
    assert_eq!(allocations::<Option<Six>, _>(&Some((1u8, "a", "b", "c", "d", &[0u8; 8][..]))), 0);
    // With the two bytes that end the text: 128 in all.
    assert_eq!(allocations::<(String, u64), _>(&(&long[..118], 7u64)), 0);
    assert_eq!(allocations::<(u64, String), _>(&(7u64, &long[..120])), 0);
}

#[test]
fn long_keys_of_several_parts_allocate_once() {
    let long = "x".repeat(60_000);
    assert_eq!(allocations::<(String, u64), _>(&(&long[..119], 7u64)), 1);
    assert_eq!(allocations::<(u64, String), _>(&(7u64, &long[..])), 1);
}

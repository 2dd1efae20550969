//! Every operation returns a result or an error when the allocator refuses everything from one moment on,
//! and the system has no address space left. Each operation runs in a separate child, so one that ends the
//! process is named.

#![cfg(all(target_os = "linux", not(miri)))]

use latchless::Index;
use latchless::bytes::{ByteStrings, MultiIndex};
use latchless::index::{Options, Slot};
use latchless_core::sync::forked::{Child, Ended, take_address_space};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

struct Refusing;

static REFUSES: AtomicBool = AtomicBool::new(false);

// SAFETY: every call goes to the system's allocator unchanged or is refused, as `GlobalAlloc` allows.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.load(Ordering::Relaxed) {
            return null_mut();
        }
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// The operations that failed without memory.
#[derive(Default)]
struct Operations {
    ended_badly: Vec<String>,
}

impl Operations {
    /// Runs an operation in separate children.
    fn run<R>(&mut self, name: &str, operation: impl Fn() -> R) {
        for without_space in [false, true] {
            let child = Child::start("", || {
                if without_space {
                    take_address_space();
                }
                REFUSES.store(true, Ordering::Relaxed);
                let answer = operation();
                REFUSES.store(false, Ordering::Relaxed);
                drop(answer);
            });
            if child.ended() != Ended::Well {
                let space = if without_space { " without address space" } else { "" };
                self.ended_badly.push(format!("{name}{space}"));
            }
        }
    }
}

const ENTRIES: u64 = 10_000;

fn options() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 4
}

fn numbers(all: &mut Operations) {
    let index = Index::<u64, u64>::with_options(options()).unwrap();
    (0..ENTRIES).for_each(|at| _ = index.insert(spread(at), at).unwrap());
    let some = spread(77);
    all.run("Index::get", || assert_eq!(index.get(some), Some(77)));
    all.run("Index::insert", || (0..ENTRIES).for_each(|at| _ = index.insert(spread(at) + 1, at)));
    all.run("Index::upsert", || index.upsert(some, |_| 5));
    all.run("Index::remove", || (0..ENTRIES).for_each(|at| assert!(index.remove(spread(at)).is_some())));
    all.run("Index::remove_range", || assert_eq!(index.remove_range(..), Ok(ENTRIES as usize)));
    all.run("Index::retain", || assert!(index.retain(|key, _| key % 7 == 0) > 0));
    all.run("Index::floor", || assert_eq!(index.floor(some), Some((some, 77))));
    all.run("Index::lower", || index.lower(some));
    all.run("Index::first", || index.first());
    all.run("Index::pop_first", || while index.pop_first().is_some() {});
    all.run("Index::pop_last", || while index.pop_last().is_some() {});
    all.run("Index::range", || index.iter().fold(0, |sum, (_, value)| sum + value));
    all.run("Index::rev", || index.iter().rev().fold(0, |sum, (_, value)| sum + value));
    all.run("Index::rank", || index.rank(some));
    all.run("Index::nth", || index.nth(1000));
    all.run("Index::count", || index.count(some..));
    all.run("Index::scan_chunks", || index.scan_chunks(.., |_, _| ControlFlow::Continue(())));
    let keys: Vec<u64> = (0..1000).map(spread).collect();
    all.run("Index::get_many", || index.get_many(&keys, &mut [None; 1000]));
    // Not `insert_many`: it lists the entries that were refused.
    all.run("Index::remove_many", || index.remove_many(&keys, &mut [None; 1000]));
}

fn byte_strings(all: &mut Operations) {
    let index = ByteStrings::<u64, u64>::with_options(options()).unwrap();
    (0..ENTRIES).for_each(|at| _ = index.insert(&spread(at), at).unwrap());
    let some = spread(77);
    all.run("ByteStrings::get", || assert_eq!(index.get(&some), Some(77)));
    all.run("ByteStrings::insert", || (0..ENTRIES).for_each(|at| _ = index.insert(&(spread(at) + 1), at)));
    all.run("ByteStrings::upsert", || index.upsert(&some, |_| 5));
    all.run("ByteStrings::remove", || {
        (0..ENTRIES).for_each(|at| assert!(index.remove(&spread(at)).is_some()))
    });
    all.run("ByteStrings::remove_range", || assert_eq!(index.remove_range::<u64>(..), Ok(ENTRIES as usize)));
    all.run("ByteStrings::floor", || assert_eq!(index.floor(&some), Some((some, 77))));
    all.run("ByteStrings::lower", || index.lower(&some));
    all.run("ByteStrings::first", || index.first());
    all.run("ByteStrings::pop_first", || while index.pop_first().is_some() {});
    all.run("ByteStrings::pop_last", || while index.pop_last().is_some() {});
    all.run("ByteStrings::count", || index.count(some..));
    all.run("ByteStrings::scan", || index.scan(some.., |_, _| ControlFlow::Continue(())));
    all.run("ByteStrings::scan_back", || index.scan_back(..some, |_, _| ControlFlow::Continue(())));
    let keys: Vec<u64> = (0..1000).map(spread).collect();
    all.run("ByteStrings::get_many", || index.get_many(&keys, &mut [None; 1000]));
    all.run("ByteStrings::remove_many", || index.remove_many(&keys, &mut [None; 1000]));
}

fn byte_strings_outside_of_nodes(all: &mut Operations) {
    let index = ByteStrings::<Vec<u8>, u64>::with_options(options()).unwrap();
    let key = |at: u64| [&[b'k'; 300][..], &spread(at).to_be_bytes()].concat();
    let keys: Vec<Vec<u8>> = (0..2000).map(key).collect();
    keys.iter().zip(0..).for_each(|(key, at)| _ = index.insert(key, at).unwrap());
    let others: Vec<Vec<u8>> = (2000..4000).map(key).collect();
    all.run("ByteStrings::insert, long", || others.iter().for_each(|key| _ = index.insert(key, 1)));
    all.run("ByteStrings::get, long", || keys.iter().for_each(|key| assert!(index.get(key).is_some())));
    all.run("ByteStrings::remove, long", || keys.iter().for_each(|key| assert!(index.remove(key).is_some())));
    all.run("ByteStrings::upsert, long", || index.upsert(&keys[7], |_| 5));
    all.run("ByteStrings::get_many, long", || index.get_many(&keys[..100], &mut [None; 100]));
    all.run("ByteStrings::remove_many, long", || index.remove_many(&keys[..100], &mut [None; 100]));
}

fn rows(all: &mut Operations) {
    let index = MultiIndex::<u64>::with_options(options()).unwrap();
    (0..ENTRIES).for_each(|at| _ = index.insert(&(at % 1000), at).unwrap());
    all.run("MultiIndex::insert", || (0..ENTRIES).for_each(|at| _ = index.insert(&5u64, ENTRIES + at)));
    all.run("MultiIndex::contains", || assert!(index.contains(&7u64, 7)));
    all.run("MultiIndex::remove", || (0..ENTRIES).for_each(|at| assert!(index.remove(&(at % 1000), at))));
    all.run("MultiIndex::count_rows", || assert_eq!(index.count_rows(&7u64), 10));
    all.run("MultiIndex::scan_rows", || index.scan_rows(&7u64, |_| ControlFlow::Continue(())));
    all.run("MultiIndex::count", || index.count(10u64..20));
    all.run("MultiIndex::remove_all", || assert_eq!(index.remove_all(&7u64), 10));
    all.run("MultiIndex::remove_range", || assert_eq!(index.remove_range::<u64>(..), Ok(ENTRIES as usize)));
    all.run("MultiIndex::first", || assert_eq!(index.first(), Some((0, 0))));
}

fn boxed_values(all: &mut Operations) {
    let numbers = Index::<u64, Slot<[u64; 4]>>::with_options(options()).unwrap();
    let strings = Index::<u128, Slot<[u64; 4]>>::with_options(options()).unwrap();
    for at in 0..ENTRIES {
        _ = numbers.insert(spread(at), [at; 4]).unwrap();
        _ = strings.insert(spread(at).into(), [at; 4]).unwrap();
    }
    let (some, wide, value) = (spread(77), u128::from(spread(77)), Slot([77; 4]));
    all.run("boxed: get", || assert_eq!(numbers.get(some), Some(value)));
    all.run("boxed: floor", || assert_eq!(numbers.floor(some), Some((some, value))));
    all.run("boxed: range", || numbers.iter().count());
    all.run("boxed: count", || numbers.count(some..));
    all.run("boxed: rank", || numbers.rank(some));
    all.run("boxed, byte strings: get", || assert_eq!(strings.get(wide), Some(value)));
    all.run("boxed, byte strings: floor", || assert_eq!(strings.floor(wide), Some((wide, value))));
    all.run("boxed, byte strings: count", || strings.count(wide..));
    // Not here: slots for new values are listed, and a removed value waits for other threads' pins in a list
    // of crossbeam-epoch; both allocate.
}

#[test]
fn without_memory_operations_answer_or_say_so() {
    let mut all = Operations::default();
    numbers(&mut all);
    byte_strings(&mut all);
    byte_strings_outside_of_nodes(&mut all);
    rows(&mut all);
    boxed_values(&mut all);
    assert!(all.ended_badly.is_empty(), "these ended the process: {:#?}", all.ended_badly);
}

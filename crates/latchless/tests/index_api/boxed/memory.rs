//! The memory of dropped values is returned, and reused.

use super::{Census, Counted, Kind, empty, over_every_kind};
use crate::common::scaled;
use latchless::Index;
use latchless::index::Slot;
use std::sync::{Arc, Mutex};

over_every_kind!(memory_of_retired_values_comes_back, clearing_gives_everything_back);

fn memory_of_retired_values_comes_back<K: Kind>() {
    let census = Census::new();
    let (index, together) = (empty::<K, Arc<Counted>>(), empty::<K, Arc<Counted>>());
    for number in 0..scaled(1000) as u64 {
        together.insert(K::key(number).probe(), census.value(number, number)).unwrap();
    }
    let in_one_round = together.memory_bytes();
    drop(together);
    let before = scaled(1000) as u64;
    for round in 0..10 {
        for version in 0..scaled(1000) as u64 {
            let number = version % 10;
            index.insert(K::key(number).probe(), census.value(number, version)).unwrap();
        }
        census.wait_for_drops(before + (round + 1) * scaled(1000) as u64 - 10, || index.flush());
    }
    // Pins of other threads, other tests' as well, may keep all values of a round, and no more.
    let held = index.memory_bytes();
    assert!(held <= 2 * in_one_round, "{held} bytes, and {in_one_round} for the values of one round");
    drop(index);
    census.all_dropped_once();
}

/// Returns the most that the slots of this many values of 128 bytes may take after a while: twice as much as
/// they need, and what is kept for the next ones.
fn most_bytes(values: usize) -> usize {
    2 * values * 136 + (4 << 20)
}

/// Replaces values until no more than this many bytes are held.
fn replace_until(index: &Index<u64, Slot<[u64; 16]>>, keys: u64, at_most: usize) {
    for step in 0..scaled(2_000_000) as u64 {
        if index.memory_bytes() <= at_most {
            return;
        }
        index.insert(step % keys, [step; 16]).unwrap();
        // Other tests' pins delay drops that are due.
        if step % 10_000 == 0 {
            std::thread::yield_now();
        }
    }
    panic!("{} bytes are held, not {at_most}", index.memory_bytes());
}

/// Returns the bytes of the process's resident memory.
#[cfg(all(target_os = "linux", not(miri)))]
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Locked by tests that keep a pin for long, or that can't tolerate one.
static LONG_PINS: Mutex<()> = Mutex::new(());

#[test]
#[cfg_attr(miri, ignore = "long; the vault has tests of its own")]
fn slots_that_a_long_pin_kept_are_given_back() {
    let _alone = LONG_PINS.lock();
    let index = Index::<u64, Slot<[u64; 16]>>::new().unwrap();
    let pin = index.pin();
    let seen = (index.insert(0, [7; 16]).unwrap(), index.get_ref(0, &pin).unwrap());
    for version in 0..1_000_000 {
        index.insert(version % 10, [version; 16]).unwrap();
    }
    assert_eq!(seen, (None, &[7; 16]));
    assert!(index.memory_bytes() > 128_000_000, "the pin keeps them all");
    #[cfg(target_os = "linux")]
    let resident = resident_bytes();
    drop(pin);
    replace_until(&index, 10, most_bytes(10));
    #[cfg(target_os = "linux")]
    assert!(resident_bytes() + 64_000_000 < resident, "the system has it: {resident} bytes before");
    assert!((0..10).all(|key| index.contains_key(key)));
}

#[test]
#[cfg_attr(miri, ignore = "long; the vault has tests of its own")]
fn what_is_left_of_many_values_gathers_in_little_memory() {
    let keys = 300_000;
    let index: Index<u64, Slot<[u64; 16]>> = (0..keys).map(|key| (key, Slot([key; 16]))).collect();
    let full = index.memory_bytes();
    // One of a hundred stays, spread over all pages.
    assert_eq!(index.retain(|key, _| key % 100 == 0), 297_000);
    let few = Index::<u64, Slot<[u64; 16]>>::new().unwrap();
    for round in 0..20 {
        for key in (0..keys).step_by(100) {
            index.insert(key, [round; 16]).unwrap();
            few.insert(key, [round; 16]).unwrap();
        }
    }
    // The nodes stay.
    let nodes = full - 300_000 * 136;
    let most = most_bytes(3000) + nodes;
    for round in 0..1000 {
        if index.memory_bytes() <= most {
            break;
        }
        (0..keys).step_by(100).for_each(|key| _ = index.insert(key, [round; 16]).unwrap());
    }
    assert!(index.memory_bytes() <= most, "{} bytes of {full}", index.memory_bytes());
    // Small nodes take more than the values.
    assert!(cfg!(latchless_small_nodes) || most < full / 2);
}

#[test]
fn values_that_many_operations_retire_under_each_pin_are_dropped_on_the_way() {
    let _alone = LONG_PINS.lock();
    let census = Census::new();
    let index = empty::<u64, Arc<Counted>>();
    let (rounds, each) = if cfg!(miri) { (30, 20) } else { (1000, 1000) };
    let mut most = 0;
    for round in 0..rounds {
        let _pin = index.pin();
        (0..each).for_each(|key| _ = index.insert(key, census.value(key, round)).unwrap());
        let (made, dropped) = census.counts();
        most = most.max(made - dropped);
        // Other tests' pins delay drops that are due.
        std::thread::yield_now();
    }
    let made = census.counts().0;
    assert!(cfg!(miri) || most < made / 4, "{most} of {made} values waited at once");
    drop(index);
    census.all_dropped_once();
}

fn clearing_gives_everything_back<K: Kind>() {
    let census = Census::new();
    let keys = scaled(10_000) as u64;
    let entries = |version| (0..keys).map(move |number| (K::key(number), census.value(number, version)));
    let mut index: Index<K, Arc<Counted>> = entries(0).collect();
    let of_empty = empty::<K, Arc<Counted>>().memory_bytes();
    assert!(index.live_bytes() > of_empty);
    index.clear();
    assert!(index.is_empty());
    census.wait_for_drops(keys, || index.flush());
    index.extend(entries(1));
    index.reset();
    assert_eq!(census.counts(), (2 * keys, 2 * keys), "now");
    assert_eq!(index.len(), 0);
    // Without the slots' bookkeeping, of which there was one slot for each value, or more.
    assert!(index.memory_bytes() <= of_empty + keys as usize + 8192, "{} bytes", index.memory_bytes());
    index.insert(K::key(1).probe(), census.value(1, 2)).unwrap();
    assert_eq!(index.remove(K::key(1).probe()).unwrap().version, 2);
}

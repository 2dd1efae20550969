//! Removed keys leave nothing: indexes of byte strings are filled and emptied a thousand times.

use latchless::Index;
use latchless::bytes::ByteStrings;
use latchless::index::Options;
use latchless_core::testing::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often an index is filled.
const FILLS: u64 = if cfg!(miri) { 4 } else { 1000 };
/// Keys per fill: enough that leaves split and have parents.
const KEYS: u64 = match () {
    () if cfg!(miri) => 20,
    () if cfg!(latchless_small_nodes) => 60,
    () => 200,
};

type Bytes = ByteStrings<Vec<u8>, u64>;
/// A way to empty an index of these keys.
type Way = fn(&mut Bytes, &[Vec<u8>]);

fn empty() -> Bytes {
    ByteStrings::with_options(options()).expect("a leaf finds room")
}

fn options() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

/// Returns whether an emptied index takes as much memory as a new one. Nodes of four entries can't always
/// merge: their separators may become too long for one of them. And tests have enough keys for a prediction
/// table.
fn is_back(live: usize, at_first: usize) -> bool {
    let stays = if cfg!(latchless_small_nodes) { 128 << 10 } else { 0 };
    (at_first..=at_first + stays).contains(&live)
}

/// Returns short keys, long ones that separators have to store, and some with common prefixes, so that
/// fences are long, too.
fn key_of(number: u64) -> Vec<u8> {
    let own = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    match number % 6 {
        0 => [&own[..], &[b'l'; 900]].concat(),
        1 => [&[b's'; 300][..], &own[..2]].concat(),
        2 => [&[b's'; 130][..], &own].concat(),
        _ => own[..2 + number as usize % 5].to_vec(),
    }
}

/// Returns keys in a random order.
fn shuffled(random: &mut Rng, numbers: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    let mut keys: Vec<_> = numbers.map(key_of).collect();
    for at in (1..keys.len()).rev() {
        keys.swap(at, random.below(at as u64 + 1) as usize);
    }
    keys
}

/// The ways to empty an index.
const WAYS: [Way; 5] = [
    |index, keys| keys.iter().for_each(|key| assert!(index.remove(key).is_some())),
    |index, keys| keys.iter().rev().for_each(|key| assert!(index.remove(key).is_some())),
    |index, _| while index.pop_first().is_some() {},
    |index, _| while index.pop_last().is_some() {},
    |index, _| _ = index.remove_range::<Vec<u8>>(..).expect("everything is a range"),
];

#[test]
fn an_index_that_is_emptied_takes_what_it_took() {
    let mut random = Rng(1);
    for (way, empty_it) in WAYS.iter().enumerate() {
        let mut index = empty();
        let at_first = index.live_bytes();
        let (mut settled, keys) = (0, shuffled(&mut random, 0..KEYS));
        let fills = FILLS / WAYS.len() as u64 + 4;
        for fill in 0..fills {
            for key in &keys {
                assert_eq!(index.insert(key, fill).unwrap(), None);
            }
            assert!(index.live_bytes() > 4 * at_first);
            empty_it(&mut index, &keys);
            assert_eq!(index.len(), 0);
            assert!(is_back(index.live_bytes(), at_first), "way {way}, fill {fill}");
            // The last leaf's content differs after each fill: sometimes the next one needs more blocks.
            if fill <= fills / 2 {
                settled = index.memory_bytes();
            } else {
                assert_eq!(index.memory_bytes(), settled, "way {way}, fill {fill}");
            }
            if fill % 64 == 0 {
                index.check_invariants().unwrap();
            }
        }
    }
}

#[test]
fn values_under_other_orders_of_the_keys_take_no_more_for_ever() {
    let (mut random, index) = (Rng(2), empty());
    let at_first = index.live_bytes();
    let mut settled = 0;
    for fill in 0..FILLS {
        let keys = shuffled(&mut random, 0..KEYS);
        keys.iter().for_each(|key| assert_eq!(index.insert(key, fill).unwrap(), None));
        for key in shuffled(&mut random, 0..KEYS) {
            assert_eq!(index.remove(&key), Some(fill));
        }
        assert!(is_back(index.live_bytes(), at_first), "fill {fill}: {} bytes", index.live_bytes());
        if fill < FILLS / 4 {
            settled = index.memory_bytes();
        }
    }
    assert!(index.memory_bytes() <= settled + settled / 4, "{} of {settled}", index.memory_bytes());
    index.check_invariants().unwrap();
}

#[test]
fn a_cleared_index_takes_what_it_took() {
    let (mut random, mut index) = (Rng(3), empty());
    let at_first = (index.live_bytes(), index.memory_bytes());
    for _ in 0..FILLS / 4 {
        let keys = shuffled(&mut random, 0..KEYS);
        keys.iter().for_each(|key| assert_eq!(index.insert(key, 1).unwrap(), None));
        index.clear();
        assert_eq!((index.live_bytes(), index.memory_bytes()), at_first);
        index.check_invariants().unwrap();
    }
}

#[test]
fn guesses_of_keys_that_were_removed_take_no_more() {
    let keys: u64 = match () {
        () if cfg!(latchless_small_nodes) => 500,
        () if cfg!(miri) => 20,
        // With fewer there is no table.
        () => 50_000,
    };
    let index = empty();
    let mut after = Vec::new();
    for fill in 0..if cfg!(latchless_small_nodes) { 100 } else { 5 } {
        let key = |number: u64| {
            [&[b'k'; 8][..], &number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()].concat()
        };
        (0..keys).for_each(|number| assert_eq!(index.insert(&key(number), fill).unwrap(), None));
        for _ in 0..2 {
            (0..keys).for_each(|number| assert_eq!(index.get(&key(number)), Some(fill)));
        }
        while index.pop_first().is_some() {}
        after.push((index.live_bytes(), index.memory_bytes()));
    }
    assert!(after[2..].iter().all(|bytes| *bytes == after[2]), "{after:?}");
}

#[test]
fn threads_that_fill_and_empty_leave_nothing() {
    const THREADS: u64 = 3;
    let index = empty();
    let at_first = index.live_bytes();
    let full = {
        let index = empty();
        (0..THREADS * KEYS).for_each(|number| assert_eq!(index.insert(&key_of(number), 1).unwrap(), None));
        index.memory_bytes()
    };
    for _ in 0..4 {
        std::thread::scope(|scope| {
            for own in 0..THREADS {
                let index = &index;
                scope.spawn(move || {
                    let mut random = Rng(own);
                    for fill in 0..FILLS / 4 / THREADS + 1 {
                        let numbers = own * KEYS..(own + 1) * KEYS;
                        for key in shuffled(&mut random, numbers.clone()) {
                            assert_eq!(index.insert(&key, fill).unwrap(), None);
                        }
                        for key in shuffled(&mut random, numbers) {
                            assert_eq!(index.remove(&key), Some(fill));
                        }
                    }
                });
            }
        });
        index.check_invariants().unwrap();
        assert_eq!(index.len(), 0);
        // A merge may be abandoned if other threads interfere, so some empty leaves may stay; no long key
        // does.
        let live = index.live_bytes();
        assert!(live <= 4 * at_first || is_back(live, at_first), "{live} bytes");
        assert!(index.memory_bytes() <= 2 * full, "{} of {full}", index.memory_bytes());
    }
}

/// A value that counts its instances.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn boxed_values_are_dropped_and_their_room_is_used_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let mut index = Index::<Vec<u8>, Arc<Counted>>::with_options(options()).expect("a leaf finds room");
    let (mut random, mut settled) = (Rng(4), 0);
    for fill in 0..FILLS / 2 {
        for key in shuffled(&mut random, 0..KEYS) {
            assert!(index.insert(&key, Arc::new(Counted::new(&count))).unwrap().is_none());
        }
        assert!(count.load(Ordering::Relaxed) >= KEYS as usize);
        match fill % 3 {
            0 => {
                for key in shuffled(&mut random, 0..KEYS) {
                    assert!(index.remove(&key).is_some());
                }
            }
            1 => (0..KEYS).for_each(|_| drop(index.pop_first().unwrap())),
            _ => assert_eq!(index.remove_range(..).unwrap(), KEYS as usize),
        }
        assert_eq!(index.len(), 0);
        if fill < FILLS / 8 {
            settled = settled.max(index.memory_bytes());
        }
    }
    assert!(index.memory_bytes() <= settled + settled / 4, "{} of {settled}", index.memory_bytes());
    assert!(
        count.load(Ordering::Relaxed) <= 20 * KEYS as usize,
        "values wait for a pin, but not all of them"
    );
    for _ in 0..FILLS / 10 + 1 {
        for key in shuffled(&mut random, 0..KEYS) {
            assert!(index.insert(&key, Arc::new(Counted::new(&count))).unwrap().is_none());
        }
        index.reset();
        assert_eq!((index.len(), count.load(Ordering::Relaxed)), (0, 0), "reset drops all values");
    }
    let empty = Index::<Vec<u8>, Arc<Counted>>::with_options(options()).unwrap();
    // Without the slots' bookkeeping, which takes less than a byte each.
    let (held, of_empty) = (index.memory_bytes(), empty.memory_bytes());
    assert!(held <= of_empty + KEYS as usize + 8192, "{held} bytes, and {of_empty} of an empty one");
}

//! The memtable against a map that is ordered by the engine's own comparison of keys: keys with zero bytes,
//! keys that are prefixes of others, all kinds of ranges, from both ends; and readers concurrent with
//! writers.

use super::Memtable;
use crate::ValueType;
use crate::key::InternalKey;
use crate::value::{InternalValue, SeqNo, UserValue};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

type Model = BTreeMap<InternalKey, UserValue>;

/// Bytes among which an encoding may go wrong, and few sequence numbers, so that many keys meet again.
fn any_key(random: &mut StdRng) -> InternalKey {
    let bytes = [0, 0, 1, b'a', 0xff];
    let length = random.random_range(1..6);
    let user_key: Vec<u8> = (0..length).map(|_| bytes[random.random_range(0..bytes.len())]).collect();
    let seqno = [0, 1, 2, 255, 256, SeqNo::MAX - 1, SeqNo::MAX][random.random_range(0..7)];
    let types = [ValueType::Value, ValueType::Tombstone, ValueType::WeakTombstone];
    InternalKey::new(user_key, seqno, types[random.random_range(0..types.len())])
}

fn any_bound(random: &mut StdRng) -> Bound<InternalKey> {
    match random.random_range(0..5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(any_key(random)),
        _ => Bound::Included(any_key(random)),
    }
}

fn item((key, value): (&InternalKey, &UserValue)) -> InternalValue {
    InternalValue { key: key.clone(), value: value.clone() }
}

fn is_within(key: &InternalKey, low: &Bound<InternalKey>, high: &Bound<InternalKey>) -> bool {
    (match low {
        Bound::Included(low) => key >= low,
        Bound::Excluded(low) => key > low,
        Bound::Unbounded => true,
    }) && match high {
        Bound::Included(high) => key <= high,
        Bound::Excluded(high) => key < high,
        Bound::Unbounded => true,
    }
}

fn filled(random: &mut StdRng, entries: usize) -> (Memtable, Model) {
    let (memtable, mut model) = (Memtable::new(0), Model::new());
    for number in 0..entries {
        let key = any_key(random);
        let value: UserValue = number.to_string().repeat(random.random_range(0..40)).into();
        memtable.insert(InternalValue { key: key.clone(), value: value.clone() });
        // An equal key may have another type, which the map would keep.
        model.remove(&key);
        model.insert(key, value);
    }
    (memtable, model)
}

/// Takes both to their end, each step from an end that is drawn.
fn are_equal_from_both_ends(
    random: &mut StdRng,
    mut ours: impl DoubleEndedIterator<Item = InternalValue>,
    mut expected: impl DoubleEndedIterator<Item = InternalValue>,
) {
    loop {
        let (ours, theirs) = if random.random() {
            (ours.next(), expected.next())
        } else {
            (ours.next_back(), expected.next_back())
        };
        assert_eq!(ours, theirs);
        if theirs.is_none() {
            break;
        }
    }
}

#[test]
fn entries_and_ranges_are_in_the_engines_order() {
    let mut random = StdRng::seed_from_u64(1);
    for entries in [0, 1, 5, 100, 3_000] {
        let (memtable, model) = filled(&mut random, entries);
        assert_eq!(memtable.len(), model.len());
        assert!(memtable.iter().eq(model.iter().map(item)));
        assert!(memtable.iter().rev().eq(model.iter().rev().map(item)));
        for _ in 0..100 {
            let (low, high) = (any_bound(&mut random), any_bound(&mut random));
            let expected: Vec<_> =
                model.iter().filter(|(key, _)| is_within(key, &low, &high)).map(item).collect();
            let range = || memtable.range((low.clone(), high.clone()));
            assert!(range().eq(expected.iter().cloned()), "{low:?} {high:?}");
            assert!(range().rev().eq(expected.iter().rev().cloned()), "{low:?} {high:?}");
            are_equal_from_both_ends(&mut random, range(), expected.into_iter());
        }
    }
}

#[test]
fn a_snapshot_sees_the_newest_entry_below_it() {
    let mut random = StdRng::seed_from_u64(2);
    let (memtable, model) = filled(&mut random, 2_000);
    for _ in 0..5_000 {
        let key = any_key(&mut random);
        let expected =
            model.iter().find(|(entry, _)| entry.user_key == key.user_key && entry.seqno < key.seqno);
        assert_eq!(memtable.get(&key.user_key, key.seqno), expected.map(item));
    }
}

/// Up to the longest keys of the engine, and those that have most zero bytes.
#[test]
fn keys_of_every_length_are_taken_and_in_order() {
    let (memtable, mut model) = (Memtable::new(0), Model::new());
    let mut random = StdRng::seed_from_u64(3);
    for (length, byte) in
        [(65_535, b'k'), (65_535, 0), (65_525, b'k'), (40_000, 0), (32_000, 0), (3, b'k'), (1, 0xff)]
    {
        for seqno in [7, 9, 8] {
            let key = InternalKey::new(vec![byte; length], seqno, ValueType::Value);
            let value: UserValue = format!("{length} {byte} {seqno}").into();
            memtable.insert(InternalValue { key: key.clone(), value: value.clone() });
            model.insert(key, value);
        }
        assert_eq!(memtable.get(&vec![byte; length], 9).map(|item| item.key.seqno), Some(8));
        assert_eq!(memtable.get(&vec![byte; length], 7), None);
    }
    assert_eq!(memtable.len(), model.len());
    assert!(memtable.iter().eq(model.iter().map(item)));
    assert!(memtable.iter().rev().eq(model.iter().rev().map(item)));
    let middle = InternalKey::new(vec![0; 40_000], 8, ValueType::Value);
    assert!(memtable.range(middle.clone()..).eq(model.range(middle..).map(item)));
    for _ in 0..50 {
        are_equal_from_both_ends(&mut random, memtable.iter(), model.iter().map(item));
    }
}

#[test]
fn readers_find_each_version_that_a_writer_has_told_of() {
    const WRITERS: u64 = 3;
    const VERSIONS: u64 = 5_000;
    let memtable = Memtable::new(0);
    let told: [AtomicU64; WRITERS as usize] = Default::default();
    let key = |writer: u64, version: u64| format!("key\0{}\0{writer}", version % 50);
    std::thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (memtable, told) = (&memtable, &told[writer as usize]);
            threads.spawn(move || {
                for version in 1..=VERSIONS {
                    let value = format!("{writer} {version}");
                    memtable.insert(InternalValue::from_components(
                        key(writer, version),
                        value,
                        version,
                        ValueType::Value,
                    ));
                    told.store(version, Ordering::Release);
                }
            });
        }
        while told.iter().any(|told| told.load(Ordering::Acquire) < VERSIONS) {
            for writer in 0..WRITERS {
                let version = told[writer as usize].load(Ordering::Acquire);
                if version > 0 {
                    let found = memtable.get(key(writer, version).as_bytes(), version + 1).unwrap();
                    assert_eq!(found.key.seqno, version);
                    assert_eq!(&*found.value, format!("{writer} {version}").as_bytes());
                }
            }
            let keys: Vec<_> = memtable.iter().take(500).map(|entry| entry.key).collect();
            assert!(keys.is_sorted_by(|one, next| one < next));
        }
    });
    assert_eq!(memtable.len() as u64, WRITERS * VERSIONS);
    assert_eq!(memtable.get_highest_seqno(), Some(VERSIONS));
}

//! The ordered indexes against those of before, over the same random changes: keys whose order an encoding
//! may get wrong, keys with many rows, all kinds of ranges, and the conversions between unique and
//! multi-maps.

use super::btree_index::BTreeIndex;
use super::btree_index_before::BTreeIndex as BTreeIndexBefore;
use super::bytes_key::RangeCompatBytesKey;
use super::unique_btree_index::UniqueBTreeIndex;
use super::unique_btree_index_before::UniqueBTreeIndex as UniqueBTreeIndexBefore;
use super::{Index, KeySize, RangedIndex};
use crate::indexes::RowPointer;
use core::fmt::Debug;
use core::ops::Bound;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use spacetimedb_sats::memory_usage::MemoryUsage;
use spacetimedb_sats::{AlgebraicValue, F32, F64, i256, sum_value::SumTag, u256};

const CHANGES: usize = 3_000;

fn pick<T: Clone>(of: &[T], random: &mut StdRng) -> T {
    of[random.random_range(0..of.len())].clone()
}

fn any_bound<K>(random: &mut StdRng, key: impl Fn(&mut StdRng) -> K) -> Bound<K> {
    match random.random_range(0..5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(key(random)),
        _ => Bound::Included(key(random)),
    }
}

/// A range that a `BTreeMap` takes.
fn any_range<K: Ord>(random: &mut StdRng, key: impl Fn(&mut StdRng) -> K) -> (Bound<K>, Bound<K>) {
    loop {
        let range = (any_bound(random, &key), any_bound(random, &key));
        let (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) =
            &range
        else {
            return range;
        };
        if low < high || low == high && matches!(range, (Bound::Included(_), Bound::Included(_))) {
            return range;
        }
    }
}

/// The rows of each key are in no order.
fn sorted(rows: impl Iterator<Item = RowPointer>) -> Vec<RowPointer> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

/// Compares what two indexes answer; `is_unique` says that the order of all rows counts.
fn compare<I, J>(
    index: &I,
    before: &J,
    is_unique: bool,
    random: &mut StdRng,
    key: impl Fn(&mut StdRng) -> I::Key,
) where
    I: RangedIndex<Key: Ord + Debug>,
    J: RangedIndex<Key = I::Key>,
{
    let rows =
        |rows: &mut dyn Iterator<Item = RowPointer>| if is_unique { rows.collect() } else { sorted(rows) };
    assert_eq!((index.num_keys(), index.num_rows()), (before.num_keys(), before.num_rows()));
    assert_eq!((index.num_key_bytes(), index.is_empty()), (before.num_key_bytes(), before.is_empty()));
    assert_eq!(rows(&mut index.iter()), rows(&mut before.iter()));
    for _ in 0..4 {
        let (point, range) = (key(random), any_range(random, &key));
        assert_eq!(rows(&mut index.seek_point(&point)), rows(&mut before.seek_point(&point)), "{point:?}");
        assert_eq!(rows(&mut index.seek_range(&range)), rows(&mut before.seek_range(&range)), "{range:?}");
    }
}

macro_rules! checked {
    ($key:ty, $seed:expr, $any:expr) => {{
        let any: fn(&mut StdRng) -> $key = $any;
        check_unique(<(UniqueBTreeIndex<$key>, UniqueBTreeIndexBefore<$key>)>::default(), $seed, any);
        check_multi(<(BTreeIndex<$key>, BTreeIndexBefore<$key>)>::default(), $seed, any);
        // Without a duplicate a multi-map becomes a unique one, and comes back.
        let random = &mut StdRng::seed_from_u64($seed);
        let mut multi = BTreeIndex::<$key>::default();
        let mut before = UniqueBTreeIndexBefore::<$key>::default();
        for at in 0..100 {
            let key = any(random);
            if before.insert(key.clone(), RowPointer(2 * at)).is_ok() {
                Index::insert(&mut multi, key, RowPointer(2 * at)).unwrap();
            }
        }
        let key = any(random);
        let is_there = before.seek_point(&key).next().is_some();
        Index::insert(&mut multi, key.clone(), RowPointer(1000)).unwrap();
        let (unique, witness) = match multi.check_and_into_unique() {
            Ok(map) => (UniqueBTreeIndex::from_non_unique(map), None),
            Err((mut multi, witness)) => {
                assert!(
                    multi.iter_duplicates().eq([(key.clone(), 2)]) && multi.delete(&key, RowPointer(1000))
                );
                let map = multi.check_and_into_unique().expect("no duplicate is left");
                (UniqueBTreeIndex::from_non_unique(map), Some(witness))
            }
        };
        assert_eq!(witness.is_some(), is_there);
        if !is_there {
            before.insert(key, RowPointer(1000)).unwrap();
        }
        compare(&unique, &before, true, random, any);
        assert!(unique == unique.clone() && unique.heap_usage() > 0);
        compare(&unique.into_non_unique(), &before.into_non_unique(), true, random, any);
    }};
}

fn check_unique<I, J>((mut index, mut before): (I, J), seed: u64, key: impl Fn(&mut StdRng) -> I::Key)
where
    I: RangedIndex<Key: Ord + Clone + Debug + KeySize>,
    J: RangedIndex<Key = I::Key>,
{
    let random = &mut StdRng::seed_from_u64(seed);
    for at in 0..CHANGES as u64 {
        let (key_now, row) = (key(random), RowPointer(2 * at));
        // Growing, and then shrinking.
        if random.random_range(0..CHANGES as u64) > at {
            assert_eq!(index.insert(key_now.clone(), row), before.insert(key_now, row));
        } else {
            assert_eq!(index.delete(&key_now, row), before.delete(&key_now, row));
        }
        if at % 16 == 0 {
            compare(&index, &before, true, random, &key);
            let (mut other, mut other_before) = (index.clone_structure(), before.clone_structure());
            for at in 0..random.random_range(0..4) {
                let (key, row) = (key(random), RowPointer(2 * at));
                assert_eq!(other.insert(key.clone(), row), other_before.insert(key, row));
            }
            let ignore = |row: &RowPointer| row.0 % 4 == 0;
            assert_eq!(index.can_merge(&other, ignore), before.can_merge(&other_before, ignore));
        }
    }
    index.clear();
    before.clear();
    compare(&index, &before, true, random, &key);
}

fn check_multi<I, J>((mut index, mut before): (I, J), seed: u64, key: impl Fn(&mut StdRng) -> I::Key)
where
    I: RangedIndex<Key: Ord + Clone + Debug + KeySize>,
    J: RangedIndex<Key = I::Key>,
{
    let random = &mut StdRng::seed_from_u64(seed);
    let mut rows: Vec<(I::Key, RowPointer)> = Vec::new();
    for at in 0..CHANGES as u64 {
        if random.random_range(0..CHANGES as u64) > at {
            let (key, row) = (key(random), RowPointer(2 * at));
            assert_eq!(index.insert(key.clone(), row), before.insert(key.clone(), row));
            rows.push((key, row));
        } else if let Some(last) = rows.len().checked_sub(1) {
            let (key, row) = rows.swap_remove(random.random_range(0..=last));
            assert!(index.delete(&key, row) && before.delete(&key, row));
            assert!(!index.delete(&key, row) && !before.delete(&key, row));
        }
        if at % 16 == 0 {
            compare(&index, &before, false, random, &key);
        }
    }
    index.clear();
    before.clear();
    compare(&index, &before, false, random, &key);
}

#[test]
fn numbers_answer_as_before() {
    checked!(bool, 1, |random| random.random());
    checked!(u8, 2, |random| random.random());
    checked!(SumTag, 3, |random| SumTag(random.random()));
    checked!(i16, 4, |random| random.random_range(-40..40));
    checked!(u32, 5, |random| random.random_range(0..200));
    checked!(u64, 6, |random| pick(&[0, u64::MAX, 1 << 63, random.random_range(0..99)], random));
    checked!(i64, 7, |random| pick(&[i64::MIN, i64::MAX, -1, random.random_range(-9..9)], random));
    checked!(u128, 8, |random| pick(&[0, u128::MAX, 1 << 64, random.random_range(0..99)], random));
    checked!(i128, 9, |random| pick(&[i128::MIN, i128::MAX, -1, random.random_range(-9..9)], random));
}

#[test]
fn wide_numbers_answer_as_before() {
    checked!(u256, 10, |random| {
        let words = [0, 1, 1 << 127, u128::MAX, random.random_range(0..9)];
        u256::from_words(pick(&words, random), pick(&words, random))
    });
    checked!(i256, 11, |random| {
        let words = [0, 1, -1, i128::MIN, i128::MAX, random.random_range(0..9)];
        i256::from_words(pick(&words, random), pick(&words, random))
    });
}

#[test]
fn floats_answer_as_before() {
    let numbers =
        [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, f64::MIN_POSITIVE];
    assert!(numbers.iter().all(|number| F64::from(*number) <= F64::from(f64::NAN)));
    checked!(F64, 12, |random| {
        let any = random.random_range(-9..9) as f64;
        F64::from(pick(
            &[0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5, any],
            random,
        ))
    });
    checked!(F32, 13, |random| {
        let any = random.random_range(-9..9) as f32;
        F32::from(pick(
            &[0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.5, any],
            random,
        ))
    });
}

/// Bytes among which an order may go wrong.
fn any_bytes<const MAX: usize>(random: &mut StdRng) -> Vec<u8> {
    let length = random.random_range(0..=MAX);
    (0..length).map(|_| pick(&[0, 0, 1, b'a', 0x7f], random)).collect()
}

#[test]
fn bytes_answer_as_before() {
    checked!(Box<str>, 14, |random| String::from_utf8(any_bytes::<4>(random)).unwrap().into());
    checked!(RangeCompatBytesKey<7>, 15, |random| RangeCompatBytesKey::from_slice(&any_bytes::<7>(random)));
    checked!(RangeCompatBytesKey<15>, 16, |random| RangeCompatBytesKey::from_slice(&any_bytes::<5>(random)));
    checked!(RangeCompatBytesKey<127>, 17, |random| RangeCompatBytesKey::from_slice(&any_bytes::<127>(
        random
    )));
}

#[test]
fn values_of_other_types_answer_as_before() {
    checked!(AlgebraicValue, 18, |random| AlgebraicValue::U16(random.random_range(0..300)));
}

/// The longest key of latchless has 16,777,215 bytes; a longer one makes a `BTreeMap` of the map.
#[test]
fn a_text_of_any_length_is_a_key() {
    let mut index = UniqueBTreeIndex::<Box<str>>::default();
    for at in 0..10 {
        index.insert(format!("{at}").into(), RowPointer(2 * at)).unwrap();
    }
    let long: Box<str> = "5".repeat(1 << 24).into();
    assert_eq!(index.insert(long.clone(), RowPointer(20)), Ok(()));
    assert_eq!(index.insert(long.clone(), RowPointer(22)), Err(RowPointer(20)));
    let rows = index.seek_range::<str>(&(Bound::Included("5"), Bound::Excluded("7")));
    assert_eq!(rows.map(|row| row.0 / 2).collect::<Vec<_>>(), [5, 10, 6]);
    assert!(index.delete::<str>(&long, RowPointer(20)) && index.num_keys() == 10);
}

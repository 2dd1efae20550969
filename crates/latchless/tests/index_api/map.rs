//! The documented behaviour of `std::collections::BTreeMap`, as far as an index offers it.

use crate::common::{scaled, tens};
use latchless::index::Group;
use latchless::{FillFactor, Index, TryInsertError};
use std::collections::BTreeMap;
use std::num::NonZero;

#[test]
fn insert_returns_the_value_before() {
    let index = Index::<i32, i32>::new().unwrap();
    assert_eq!(index.insert(3, 1), Ok(None));
    assert_eq!(index.insert(3, 2), Ok(Some(1)));
    assert_eq!(index.insert(3, 2), Ok(Some(2)), "even if it is the same");
    assert_eq!((index.len(), index.get(3)), (1, Some(2)));
}

#[test]
fn try_insert_leaves_what_stands_there() {
    let index = Index::<i32, i32>::new().unwrap();
    assert_eq!(index.try_insert(3, 1), Ok(()));
    let present = index.try_insert(3, 2).unwrap_err();
    assert_eq!(present, TryInsertError::Present { present: 1, value: 2 });
    assert_eq!(present.to_string(), "the key is there already");
    assert_eq!(index.get(3), Some(1));
}

#[test]
fn remove_returns_the_value_and_forgets_the_key() {
    let index: Index<i32, i32> = [(1, 10), (2, 20)].into();
    assert_eq!((index.remove(1), index.remove(1), index.remove(7)), (Some(10), None, None));
    assert!(!index.contains_key(1) && index.contains_key(2));
    assert_eq!(index.len(), 1);
}

#[test]
fn replace_adds_no_key() {
    let index: Index<i32, i32> = [(1, 10)].into();
    assert_eq!((index.replace(1, 11), index.replace(2, 20)), (Some(10), None));
    assert_eq!(format!("{index:?}"), "{1: 11}");
}

#[test]
fn compare_exchange_compares_bits() {
    let index: Index<u32, f64> = [(1, 0.0), (2, f64::NAN)].into();
    assert_eq!(index.compare_exchange(1, -0.0, 1.0), Err(Some(0.0)), "−0 is not +0");
    assert_eq!(index.compare_exchange(1, 0.0, 1.0), Ok(0.0));
    assert!(index.compare_exchange(2, f64::NAN, 2.0).unwrap().is_nan(), "a NaN equals itself");
    assert_eq!(index.compare_exchange(3, 0.0, 1.0), Err(None));
    assert_eq!(index.compare_remove(2, 3.0), Err(Some(2.0)));
    assert_eq!((index.compare_remove(2, 2.0), index.compare_remove(2, 2.0)), (Ok(2.0), Err(None)));
}

#[test]
fn first_last_and_pop_go_by_order() {
    let index: Index<i64, u8> = [(0, 0), (-5, 1), (i64::MAX, 2), (i64::MIN, 3)].into();
    assert_eq!((index.first(), index.last()), (Some((i64::MIN, 3)), Some((i64::MAX, 2))));
    assert_eq!(index.pop_first(), Some((i64::MIN, 3)));
    assert_eq!(index.pop_last(), Some((i64::MAX, 2)));
    assert_eq!(index.pop_last(), Some((0, 0)));
    assert_eq!((index.pop_last(), index.pop_last(), index.pop_first()), (Some((-5, 1)), None, None));
    assert_eq!((index.first(), index.last()), (None, None));
}

#[test]
fn pop_empties_an_index_of_many_leaves_from_both_ends() {
    let n = scaled(20_000) as u64;
    let index = tens(n, 1);
    for at in 0..n / 2 {
        assert_eq!(index.pop_first(), Some((at, 10 * at)));
        assert_eq!(index.pop_last(), Some((n - 1 - at, 10 * (n - 1 - at))));
    }
    assert!(index.is_empty());
    index.check_invariants().unwrap();
}

#[test]
fn neighbours_stop_at_the_ends_of_the_keys() {
    let index: Index<u32, ()> = [(0, ()), (7, ()), (u32::MAX, ())].into();
    let keys = |key| {
        let key_of = |entry: Option<(u32, ())>| entry.map(|(key, ())| key);
        [index.lower(key), index.floor(key), index.ceiling(key), index.higher(key)].map(key_of)
    };
    assert_eq!(keys(0), [None, Some(0), Some(0), Some(7)]);
    assert_eq!(keys(7), [Some(0), Some(7), Some(7), Some(u32::MAX)]);
    assert_eq!(keys(8), [Some(7), Some(7), Some(u32::MAX), Some(u32::MAX)]);
    assert_eq!(keys(u32::MAX), [Some(7), Some(u32::MAX), Some(u32::MAX), None]);
}

#[test]
fn collect_and_extend_keep_the_last_of_equal_keys() {
    let entries = [(2, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (1, 'e')];
    let mut index: Index<u8, char> = entries.into_iter().collect();
    assert_eq!(index.iter().collect::<Vec<_>>(), [(1, 'e'), (2, 'c'), (3, 'd')]);
    index.extend([(3, 'x'), (4, 'y'), (3, 'z')]);
    assert_eq!(index.iter().collect::<Vec<_>>(), [(1, 'e'), (2, 'c'), (3, 'z'), (4, 'y')]);
    let mut shared = &index;
    shared.extend([(5, 'q')]);
    assert_eq!(index.len(), 5);
    let ascending_twice: Index<u8, char> = [(1, 'a'), (1, 'b')].into_iter().collect();
    assert_eq!(ascending_twice.get(1), Some('b'));
}

#[test]
fn debug_is_a_maps() {
    let index: Index<u16, f32> = [(2, 0.5), (1, 1.0)].into();
    assert_eq!(format!("{index:?}"), format!("{:?}", BTreeMap::from([(1, 1.0), (2, 0.5)])));
    assert_eq!(format!("{:?}", Index::<u16, f32>::default()), "{}");
    assert_eq!(format!("{:#?}", index), "{\n    1: 1.0,\n    2: 0.5,\n}");
}

#[test]
fn clear_forgets_everything_and_the_index_goes_on() {
    let mut index = tens(scaled(5000) as u64, 1);
    index.clear();
    assert!(index.is_empty() && index.iter().next().is_none() && index.first().is_none());
    index.insert(7, 70).unwrap();
    assert_eq!(index.exclusive().get(7), Some(70));
    index.exclusive().clear();
    assert_eq!((index.len(), index.get(7)), (0, None));
    index.insert(8, 80).unwrap();
    assert_eq!(index.iter().collect::<Vec<_>>(), [(8, 80)]);
    index.check_invariants().unwrap();
}

#[test]
fn clearing_gives_nodes_back_for_reuse() {
    let n = scaled(20_000) as u64;
    let index = tens(n, 1);
    index.clear();
    index.try_extend((0..n).map(|key| (key, key))).unwrap();
    let after_one = index.memory_bytes();
    for _ in 0..5 {
        index.clear();
        index.try_extend((0..n).map(|key| (key, key))).unwrap();
    }
    assert!(index.memory_bytes() <= after_one + after_one / 10, "{} of {after_one}", index.memory_bytes());
    assert!(index.live_bytes() <= index.memory_bytes());
}

#[test]
fn retain_keeps_what_it_is_told() {
    let n = scaled(5000) as u64;
    let index = tens(n, 1);
    assert_eq!(index.retain(|key, value| key % 3 == 0 && value == 10 * key), (n - n.div_ceil(3)) as usize);
    assert!(index.keys().eq((0..n).step_by(3)));
    assert_eq!(index.retain(|_, _| true), 0);
    index.check_invariants().unwrap();
}

#[test]
fn owning_iterators_yield_everything() {
    let n = scaled(3000) as u64;
    let index = tens(n, 1);
    assert!((&index).into_iter().eq((0..n).map(|key| (key, 10 * key))));
    let mut owning = index.into_iter();
    assert_eq!((owning.next(), owning.next_back()), (Some((0, 0)), Some((n - 1, 10 * (n - 1)))));
    assert!(owning.eq((1..n - 1).map(|key| (key, 10 * key))));
}

#[test]
fn from_sorted_takes_strictly_ascending_entries_at_any_fill() {
    let entries: Vec<(u64, u64)> = (0..scaled(10_000) as u64).map(|key| (3 * key, key)).collect();
    for fill in [0.01, 0.5, 1.0] {
        let index = Index::from_sorted(&entries, FillFactor::new(fill).unwrap()).unwrap();
        index.check_invariants().unwrap();
        assert!(index.iter().eq(entries.iter().copied()));
        index.insert(1, 1).unwrap();
        assert_eq!(index.range(..=3).collect::<Vec<_>>(), [(0, 0), (1, 1), (3, 1)]);
    }
    assert!(Index::<u64, u64>::from_sorted(&[], FillFactor::FULL).unwrap().is_empty());
}

#[test]
fn narrow_and_wide_keys_and_values_mix() {
    let wide_values: Index<u32, u64> = [(u32::MAX, u64::MAX), (0, 1)].into();
    assert_eq!(wide_values.range(1..).collect::<Vec<_>>(), [(u32::MAX, u64::MAX)]);
    assert_eq!(wide_values.last(), Some((u32::MAX, u64::MAX)));
    let narrow_values: Index<i64, i8> = [(i64::MIN, -1), (i64::MAX, 1)].into();
    assert_eq!(narrow_values.iter().collect::<Vec<_>>(), [(i64::MIN, -1), (i64::MAX, 1)]);
    let pairs: Index<(i32, char), (f32, bool)> = [((-1, 'b'), (0.5, true)), ((-1, 'a'), (1.5, false))].into();
    assert_eq!(pairs.range((-1, 'a')..(-1, 'b')).collect::<Vec<_>>(), [((-1, 'a'), (1.5, false))]);
    let words: Index<[u8; 5], Option<NonZero<u64>>> =
        [(*b"tired", None), (*b"acorn", NonZero::new(3))].into();
    assert_eq!(words.first(), Some((*b"acorn", NonZero::new(3))));
    let set: Index<bool, ()> = [(true, ()), (false, ()), (true, ())].into();
    assert_eq!(set.keys().collect::<Vec<_>>(), [false, true]);
    let signed: Index<i32, u64> = [(-1, 1), (1, 2), (i32::MIN, 3)].into();
    assert_eq!(signed.values().collect::<Vec<_>>(), [3, 1, 2]);
    assert_eq!(signed.lower(i32::MIN), None);
}

#[test]
fn floats_are_ordered_totally() {
    let keys = [f64::NAN, 0.0, -f64::NAN, -0.0, f64::INFINITY, -1.0, f64::NEG_INFINITY];
    let index: Index<f64, u32> = keys.into_iter().zip(0..).collect();
    assert_eq!(index.values().collect::<Vec<_>>(), [2, 6, 5, 3, 1, 4, 0]);
    assert_eq!(index.get(f64::NAN), Some(0));
    assert_eq!(index.count(-0.0..=0.0), 2);
    assert_eq!(index.count(-0.0..0.0), 1);
}

#[test]
fn every_type_in_a_signature_has_a_name_in_this_crate() {
    let index = Index::from([(1u64, 10u32)]);
    let stats: latchless::Stats = index.stats();
    let checked: Result<(), latchless::Broken> = index.check_invariants();
    assert_eq!((stats.levels, checked), (1, Ok(())));
    let kernel = Some(latchless::Kernel::Scalar);
    let options = latchless::index::Options { kernel, ..latchless::index::Options::default() };
    let index = Index::<u64, latchless::Nanos>::with_options(options).unwrap();
    let mut replies: Vec<latchless::Reply<u64, latchless::Nanos>> = Vec::new();
    index.execute(&[latchless::Request::Insert(1, latchless::Nanos(5))], &mut replies);
    assert_eq!(replies, [latchless::Reply::Inserted(None)]);
}

#[test]
fn the_form_for_one_thread_has_what_is_declared_for_both() {
    let mut index: Index<u64, u64> = (0..1000).map(|key| (key, 2 * key)).collect();
    let (bytes, stats) = (index.memory_bytes(), index.stats());
    let mut alone = index.exclusive();
    assert_eq!((alone.memory_bytes(), alone.stats()), (bytes, stats));
    assert!(alone.keys().eq(0..1000) && alone.values().next_back() == Some(1998));
    let group = Group::Of(NonZero::new(3).unwrap());
    let mut values = [None; 2];
    alone.insert_many_with(group, &[(7, 0), (1000, 1)], &mut values).unwrap();
    assert_eq!(values, [Some(14), None]);
    alone.remove_many_with(group, &[8, 8], &mut values).unwrap();
    assert_eq!(values, [Some(16), None]);
    alone.get_many_with(group, &[7, 8], &mut values).unwrap();
    assert_eq!(values, [Some(0), None]);
    assert_eq!((alone.len(), alone.check_invariants()), (1000, Ok(())));
    let (mut text, mut shared) = (String::new(), String::new());
    alone.dump(&mut text).unwrap();
    index.dump(&mut shared).unwrap();
    assert_eq!(text, shared);
}

//! `MultiIndex` against a `BTreeSet` of pairs.

use core::fmt::Debug;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless::bytes::MultiIndex;
use latchless::{BytesKey, Error, FillFactor};
use latchless_core::testing::Rng;
use std::collections::BTreeSet;

/// Pairs in a [`MultiIndex`] and in the standard library's set, after random changes.
#[test]
fn rows_of_keys_are_as_in_a_set_of_pairs() {
    let (index, mut model) = (MultiIndex::<String>::new().unwrap(), BTreeSet::<(String, u64)>::new());
    let mut random = Rng(11);
    let key_of =
        |number: u64| ["", "a", "a\0", "a\0\u{ff}", "ab", "b", "\u{10ffff}", "zebra"][number as usize % 8];
    let row_of = |number: u64| [0, 1, 2, 255, 256, u64::MAX - 1, u64::MAX][number as usize % 7];
    for _ in 0..if cfg!(miri) { 60 } else { 5000 } {
        let (key, row) = (key_of(random.next()), row_of(random.next()));
        match random.next() % 8 {
            0..4 => assert_eq!(index.insert(key, row), Ok(model.insert((key.into(), row)))),
            4..7 => assert_eq!(index.remove(key, row), model.remove(&(key.into(), row))),
            _ => {
                let before = model.len();
                model.retain(|pair| pair.0 != key);
                assert_eq!(index.remove_all(key), before - model.len());
            }
        }
        let (low, high) = (key_of(random.next()), key_of(random.next()));
        let rows: Vec<_> = model.iter().filter(|pair| pair.0 == key).map(|pair| pair.1).collect();
        assert_eq!(index.rows(key).collect::<Vec<_>>(), rows);
        let mut shown = Vec::new();
        let all = index.scan_rows(key, |row| {
            shown.push(row);
            if shown.len() < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!((&shown[..], all.is_break()), (&rows[..rows.len().min(5)], rows.len() >= 5));
        assert_eq!(index.rows(key).rev().collect::<Vec<_>>(), rows.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!((index.count_rows(key), index.contains(key, row)), (rows.len(), rows.contains(&row)));
        for (low, high) in [
            (Bound::Included(low), Bound::Excluded(high)),
            (Bound::Excluded(low), Bound::Included(high)),
            (Bound::Excluded(low), Bound::Excluded(high)),
            (Bound::Unbounded, Bound::Included(high)),
        ] {
            let is_within =
                |pair: &&(String, u64)| RangeBounds::<str>::contains(&(low, high), pair.0.as_str());
            let expected: Vec<_> = model.iter().filter(is_within).cloned().collect();
            assert_eq!(index.count::<str>((low, high)), expected.len(), "{low:?} to {high:?}");
            let pairs = index.range::<str>((low, high));
            assert_eq!(pairs.collect::<Vec<_>>(), expected, "{low:?} to {high:?}");
            if let Err(error) = index.try_range::<str>((low, high)) {
                assert_eq!((error, expected.len()), (Error::InvertedRange, 0));
                assert_eq!(index.remove_range::<str>((low, high)), Err(Error::InvertedRange));
            }
        }
    }
    let pairs: Vec<_> = model.iter().cloned().collect();
    assert_eq!(index.iter().collect::<Vec<_>>(), pairs);
    let again = MultiIndex::<String>::new().unwrap();
    assert_eq!(again.insert_many(&[&pairs[..], &pairs[..]].concat()).unwrap(), pairs.len());
    assert_eq!(again.iter().rev().count(), pairs.len());
    let loaded = MultiIndex::<String>::from_sorted(pairs.iter().cloned(), FillFactor::FULL).unwrap();
    assert_eq!(loaded.iter().collect::<Vec<_>>(), pairs);
    assert_eq!((loaded.first(), loaded.last()), (pairs.first().cloned(), pairs.last().cloned()));
    let (of_a, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|pair| pair.0.starts_with('a'));
    assert_eq!(loaded.remove_range("a".."b"), Ok(of_a.len()));
    assert_eq!(loaded.iter().collect::<Vec<_>>(), others);
    assert!(loaded.remove_range("b".."a").is_err() && loaded.len() == others.len());
    loaded.check_invariants().unwrap();
}

/// The distinct keys of pairs in order.
fn distinct<'p, K: PartialEq + Clone + 'p>(pairs: impl IntoIterator<Item = &'p (K, u64)>) -> Vec<K> {
    let mut keys: Vec<K> = pairs.into_iter().map(|(key, _)| key.clone()).collect();
    keys.dedup();
    keys
}

/// Takes keys from both ends until they meet.
fn from_both_ends<K>(mut keys: impl DoubleEndedIterator<Item = K>, random: &mut Rng) -> Vec<K> {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    loop {
        let of_front = random.next().is_multiple_of(2);
        match if of_front { keys.next() } else { keys.next_back() } {
            Some(key) if of_front => front.push(key),
            Some(key) => back.push(key),
            None => break,
        }
    }
    assert!(keys.next().is_none() && keys.next_back().is_none());
    front.extend(back.into_iter().rev());
    front
}

/// Compares the answers by order, for keys that are made of numbers, of which some have many rows.
fn agrees_by_order<K: BytesKey + Ord + Clone + Debug>(key: impl Fn(u64) -> K) {
    let (index, mut model) = (MultiIndex::<K>::new().unwrap(), BTreeSet::<(K, u64)>::new());
    let mut random = Rng(23);
    let row_of = |number: u64| [0, u64::MAX, number % 5, number % 3000, number][number as usize / 7 % 5];
    for step in 0..if cfg!(miri) { 100 } else { 4000 } {
        // Some keys have hundreds of rows, most of them none to three.
        let own =
            key(if random.next().is_multiple_of(2) { random.next() % 3 * 20 } else { random.next() % 60 });
        let row = row_of(random.next());
        match random.next() % 16 {
            0 => assert_eq!(index.pop_first(), model.pop_first()),
            1 => assert_eq!(index.pop_last(), model.pop_last()),
            2 => assert_eq!(index.remove(&own, row), model.remove(&(own.clone(), row))),
            _ => assert_eq!(index.insert(&own, row), Ok(model.insert((own.clone(), row)))),
        }
        let (low, high) = ((own.clone(), 0), (own.clone(), u64::MAX));
        assert_eq!(index.floor(&own).as_ref(), model.range(..=&high).next_back());
        assert_eq!(index.ceiling(&own).as_ref(), model.range(&low..).next());
        assert_eq!(index.lower(&own).as_ref(), model.range(..&low).next_back());
        assert_eq!(
            index.higher(&own).as_ref(),
            model.range((Bound::Excluded(&high), Bound::Unbounded)).next()
        );
        let pair = (own.clone(), row);
        assert_eq!(index.floor_pair(&own, row).as_ref(), model.range(..=&pair).next_back());
        assert_eq!(index.ceiling_pair(&own, row).as_ref(), model.range(&pair..).next());
        assert_eq!(index.lower_pair(&own, row).as_ref(), model.range(..&pair).next_back());
        let after = (Bound::Excluded(&pair), Bound::Unbounded);
        assert_eq!(index.higher_pair(&own, row).as_ref(), model.range(after).next());
        assert_eq!((index.first().as_ref(), index.last().as_ref()), (model.first(), model.last()));
        if step % 16 != 0 {
            continue;
        }
        let own = &own;
        let pairs = index.range_pairs((Bound::Excluded((own, row)), Bound::Unbounded));
        assert!(pairs.eq(model.range(after).cloned()));
        assert!(index.range_pairs(..=(own, row)).eq(model.range(..=&pair).cloned()));
        let expected = distinct(&model);
        assert_eq!((index.keys().collect(), index.distinct_keys()), (expected.clone(), expected.len()));
        assert_eq!((index.keys().last(), index.keys().next()), {
            (expected.last().cloned(), expected.first().cloned())
        });
        assert_eq!(from_both_ends(index.keys(), &mut random), expected);
        let other = key(random.next() % 60);
        let (from, to) = (own.min(&other), own.max(&other));
        let within = |pair: &&(K, u64)| pair.0 >= *from && pair.0 < *to;
        let expected = distinct(model.iter().filter(within));
        assert_eq!(from_both_ends(index.range_keys::<K>(from..to), &mut random), expected);
        assert_eq!(index.range_keys::<K>(from..to).rev().count(), expected.len());
        assert!(from == to || index.range_keys::<K>(to..from).next().is_none());
    }
    traits_agree(&index, &model);
}

/// Compares what the standard library's traits have.
fn traits_agree<K: BytesKey + Ord + Clone + Debug>(index: &MultiIndex<K>, model: &BTreeSet<(K, u64)>) {
    assert_eq!(format!("{index:?}"), format!("{model:?}"));
    let collected: MultiIndex<K> = model.iter().rev().chain(model).cloned().collect();
    assert!(collected.iter().eq(model.iter().cloned()) && index.into_iter().eq(collected.iter()));
    let (mut extended, copy) = (MultiIndex::default(), collected.clone());
    extended.extend(model.iter().cloned());
    (&extended).extend(model.iter().cloned());
    assert_eq!((extended.len(), copy.len(), extended.is_empty()), (model.len(), model.len(), false));
    copy.check_invariants().unwrap();
    assert!(extended.into_iter().rev().eq(model.iter().rev().cloned()) && copy.into_iter().eq(collected));
}

#[test]
fn neighbours_and_distinct_keys_are_as_in_a_set_of_pairs() {
    agrees_by_order(|number| "\0".repeat(number as usize % 7) + &"a".repeat(number as usize / 7));
    agrees_by_order(|number| i128::from(number) - 30);
    agrees_by_order(|number| (vec![number as u8; number as usize % 4], number % 2 == 0));
}

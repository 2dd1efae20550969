//! Operations by the order of keys, for an index of any types: against `BTreeMap`, and with writers.

use crate::common::{Rng, scaled};
use core::fmt::Debug;
use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::ControlFlow::{Break, Continue};
use latchless::index::Own;
use latchless::{Error, Index, IndexKey, IndexValue, KeyFor};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Compares all answers of an index with those of a map. `keys`: some that are present and some that aren't.
pub fn agrees<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    positions(index, map, probe, keys);
    neighbours(index, map, probe, keys);
    columns(index, map, probe, keys);
    nearest(index, map, probe, keys);
    let ends = [&keys[..keys.len().min(3)], &keys[keys.len() / 2..][..2]].concat();
    for low in &ends {
        for high in &ends {
            whole_ranges(index, map, probe, (low, high));
        }
    }
}

fn positions<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    let sorted: Vec<_> = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let below = |key: &K| sorted.partition_point(|(other, _)| other < key);
    keys.iter().for_each(|key| assert_eq!(index.rank(probe(key)), below(key)));
    (0..=sorted.len()).for_each(|at| assert_eq!(index.nth(at).as_ref(), sorted.get(at)));
    assert_eq!(index.nth(usize::MAX), None);
    for parts in [0, 1, 2, 3, 7, 64, sorted.len(), sorted.len() + 1, usize::MAX] {
        let real = parts.min(sorted.len());
        let starts = (1..real).map(|part| sorted[part * sorted.len() / real].0.clone());
        assert_eq!(index.split_points(parts), starts.collect::<Vec<_>>());
    }
    let ranges: Vec<_> = keys.iter().zip(keys.iter().rev()).collect();
    let of = |&(low, high): &(&K, &K)| if low < high { below(high) - below(low) } else { 0 };
    let expected: Vec<_> = ranges.iter().map(of).collect();
    let ranges: Vec<_> = ranges.into_iter().map(|(low, high)| probe(low)..probe(high)).collect();
    let mut counts = vec![usize::MAX; ranges.len()];
    index.count_many(&ranges, &mut counts).unwrap();
    assert_eq!(counts, expected);
    assert!(matches!(index.count_many(&ranges, &mut []), Err(Error::UnequalBuffers { .. })));
}

fn neighbours<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    let probes: Vec<_> = keys.iter().map(probe).collect();
    let mut answers = vec![None; keys.len()];
    let mut answers_of = |name: &str| {
        match name {
            "floor" => index.floor_many(&probes, &mut answers),
            "ceiling" => index.ceiling_many(&probes, &mut answers),
            "lower" => index.lower_many(&probes, &mut answers),
            _ => index.higher_many(&probes, &mut answers),
        }
        .unwrap();
        answers.clone()
    };
    let owned = |(key, value): (&K, &V)| (key.clone(), value.clone());
    let expected = |of: &dyn Fn(&K) -> Option<(K, V)>| keys.iter().map(of).collect::<Vec<_>>();
    let floor = |key: &K| map.range(..=key.clone()).next_back().map(owned);
    let ceiling = |key: &K| map.range(key.clone()..).next().map(owned);
    let lower = |key: &K| map.range(..key.clone()).next_back().map(owned);
    let higher = |key: &K| map.range((Excluded(key.clone()), Unbounded)).next().map(owned);
    assert_eq!(answers_of("floor"), expected(&floor));
    assert_eq!(answers_of("ceiling"), expected(&ceiling));
    assert_eq!(answers_of("lower"), expected(&lower));
    assert_eq!(answers_of("higher"), expected(&higher));
    assert!(matches!(index.higher_many(&probes, &mut []), Err(Error::UnequalBuffers { .. })));
}

/// Compares the answers in columns with those of pairs. The places of absent answers stay as they are.
fn columns<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    let Some((some_key, some)) = map.iter().next() else { return };
    let probes: Vec<_> = keys.iter().map(probe).collect();
    let mut values = vec![some.clone(); keys.len()];
    let (mut found_keys, mut found) = (vec![some_key.clone(); keys.len()], vec![false; keys.len()]);
    let hits = index.get_columns(&probes, &mut values, &mut found).unwrap();
    assert!(keys.iter().map(|key| map.contains_key(key)).eq(found.iter().copied()));
    assert!(keys.iter().map(|key| map.get(key).unwrap_or(some)).eq(&values));
    assert_eq!(hits, found.iter().filter(|found| **found).count());
    assert!(matches!(index.get_columns(&probes, &mut [], &mut found), Err(Error::UnequalBuffers { .. })));

    let mut answers = vec![None; keys.len()];
    type Near<K, V> = (&'static str, fn(&Index<K, V>, &[<K as IndexKey>::Probe<'_>], &mut [Option<(K, V)>]));
    let all: [Near<K, V>; 4] = [
        ("floor", |index, keys, answers| index.floor_many(keys, answers).unwrap()),
        ("ceiling", |index, keys, answers| index.ceiling_many(keys, answers).unwrap()),
        ("lower", |index, keys, answers| index.lower_many(keys, answers).unwrap()),
        ("higher", |index, keys, answers| index.higher_many(keys, answers).unwrap()),
    ];
    for (side, near) in all {
        near(index, &probes, &mut answers);
        found_keys.fill(some_key.clone());
        values.fill(some.clone());
        let columns = (&mut found_keys[..], &mut values[..], &mut found[..]);
        let hits = match side {
            "floor" => index.floor_columns(&probes, columns.0, columns.1, columns.2),
            "ceiling" => index.ceiling_columns(&probes, columns.0, columns.1, columns.2),
            "lower" => index.lower_columns(&probes, columns.0, columns.1, columns.2),
            _ => index.higher_columns(&probes, columns.0, columns.1, columns.2),
        };
        assert_eq!(hits, Ok(answers.iter().flatten().count()));
        let entries = found_keys.iter().zip(&values).zip(&found);
        for (answer, ((key, value), &found)) in answers.iter().zip(entries) {
            assert_eq!(answer.is_some(), found, "{side}");
            let expected = answer.as_ref().map_or((some_key, some), |(key, value)| (key, value));
            assert_eq!((key, value), expected, "{side}");
        }
    }

    let (one, other) = (&keys[0], &keys[keys.len() / 3]);
    let (low, high) = (one.min(other), one.max(other));
    let within = map.range::<K, _>((Included(low), Excluded(high)));
    let (in_range, of_range): (Vec<K>, Vec<V>) =
        within.map(|(key, value)| (key.clone(), value.clone())).unzip();
    let (mut their_keys, mut their_values) = (vec![some_key.clone()], vec![some.clone()]);
    let appended = index.range_columns(probe(low)..probe(high), &mut their_keys, &mut their_values);
    assert_eq!(appended, Ok(in_range.len()));
    assert_eq!((&their_keys[1..], &their_values[1..]), (&in_range[..], &of_range[..]));

    let (copy, mut model) = (map.clone().into_iter().collect::<Index<K, V>>(), map.clone());
    let (mut removed, mut gone) = (vec![some.clone(); keys.len()], vec![true; keys.len()]);
    let hits = copy.remove_columns(&probes, &mut removed, &mut gone).unwrap();
    let expected: Vec<_> = keys.iter().map(|key| model.remove(key)).collect();
    assert_eq!((hits, copy.len()), (map.len() - model.len(), model.len()));
    assert!(expected.iter().map(|value| value.as_ref().unwrap_or(some)).eq(&removed));
    assert!(expected.iter().map(Option::is_some).eq(gone));
}

/// Compares the nearest entries, by the distance of places in the order of all keys.
fn nearest<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, keys: &[K])
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    let mut places = keys.to_vec();
    places.sort();
    places.dedup();
    let place = |key: K::Probe<'_>| places.binary_search(&K::own(key)).unwrap();
    let distance = |one: K::Probe<'_>, other: K::Probe<'_>| place(one).abs_diff(place(other));
    let owned = |(key, value): (&K, &V)| (key.clone(), value.clone());
    let expected = |key: &K, own: Own| {
        let before = match own {
            Own::Counts => map.range(..=key.clone()).next_back(),
            Own::IsPassed => map.range(..key.clone()).next_back(),
        };
        let end = if own == Own::Counts { Included(key.clone()) } else { Excluded(key.clone()) };
        let after = map.range((end, Unbounded)).next();
        let to = |(other, _): (&K, &V)| places.binary_search(other).unwrap();
        let at = places.binary_search(key).unwrap();
        match (before, after) {
            (Some(before), Some(after)) if at.abs_diff(to(after)) >= at.abs_diff(to(before)) => Some(before),
            (before, after) => after.or(before),
        }
        .map(owned)
    };
    for own in [Own::Counts, Own::IsPassed] {
        for key in keys {
            assert_eq!(index.nearest_by(probe(key), own, distance), expected(key, own), "{key:?} {own:?}");
        }
        let Some((some_key, some)) = map.iter().next() else { continue };
        let probes: Vec<_> = keys.iter().map(probe).collect();
        let (mut found_keys, mut values) =
            (vec![some_key.clone(); keys.len()], vec![some.clone(); keys.len()]);
        let mut found = vec![false; keys.len()];
        let columns = (&mut found_keys[..], &mut values[..], &mut found[..]);
        let hits = index.nearest_columns_by(&probes, (own, distance), columns).unwrap();
        let wanted: Vec<_> = keys.iter().map(|key| expected(key, own)).collect();
        assert_eq!(hits, wanted.iter().flatten().count());
        let entries = found_keys.into_iter().zip(values).zip(found);
        assert!(entries.map(|(entry, found)| found.then_some(entry)).eq(wanted));
    }
}

fn whole_ranges<K, V, P>(index: &Index<K, V>, map: &BTreeMap<K, V>, probe: &P, (low, high): (&K, &K))
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
{
    let range = || (Excluded(probe(low)), Included(probe(high)));
    let expected: Vec<K> = match low < high {
        true => map.range((Excluded(low), Included(high))).map(|(key, _)| key.clone()).collect(),
        false => Vec::new(),
    };
    let folded = index.fold(range(), Vec::new(), |mut keys, key, _| {
        keys.push(key);
        keys
    });
    assert_eq!(folded, expected);
    let mut keys = Vec::new();
    index.for_each(range(), |key, _| keys.push(key));
    assert_eq!(keys, expected);
    for most in [1, 2, usize::MAX] {
        keys.clear();
        let shown = index.scan(range(), |key, _| {
            keys.push(key);
            if keys.len() < most { Continue(()) } else { Break(()) }
        });
        assert_eq!(keys, expected[..expected.len().min(most)]);
        assert_eq!(shown.is_break(), most <= expected.len());
    }
    // Of the second range one entry.
    let mut seen = vec![Vec::new(); 3];
    index.scan_many(&[range(), range(), range()], |at, key, _| {
        seen[at].push(key);
        if at == 1 { Break(()) } else { Continue(()) }
    });
    assert_eq!(seen, [expected.clone(), expected[..expected.len().min(1)].to_vec(), expected]);
}

#[test]
fn an_empty_index_of_strings_has_no_positions() {
    agrees(
        &Index::<String, u64>::new().unwrap(),
        &BTreeMap::new(),
        &String::as_str,
        &["", "a", "b"].map(String::from),
    );
    agrees(&Index::new().unwrap(), &BTreeMap::<u64, Arc<u64>>::new(), &|key| *key, &[0, 7, u64::MAX]);
}

#[test]
fn values_are_lent_to_folds() {
    let texts: Index<u64, String> = (0..1000).map(|key| (key, "x".repeat(key as usize % 300))).collect();
    let lengths = texts.fold(.., Vec::new(), |mut lengths, key, text| {
        lengths.push((key, text.len()));
        lengths
    });
    assert!(lengths.into_iter().eq((0..1000).map(|key| (key, key as usize % 300))));
    let value = Arc::new("value");
    let boxed: Index<String, Arc<&str>> = (0..100).map(|key| (key.to_string(), Arc::clone(&value))).collect();
    boxed.for_each("5".., |_, lent| assert_eq!((**lent, Arc::strong_count(lent)), ("value", 101)));
    let mut counts = [0; 2];
    boxed.scan_many(&["5".."6", "7".."71"], |at, _, _| {
        counts[at] += 1;
        Continue(())
    });
    assert_eq!(counts, [11, 2]);
}

/// So many that keys have likely places, which searches try first.
#[test]
fn neighbours_of_many_keys_are_right_in_a_large_index() {
    fn compare<K, V>(index: &Index<K, V>, probes: &[K::Probe<'_>])
    where
        K: KeyFor<V> + Clone + PartialEq + Debug,
        V: IndexValue + PartialEq + Debug,
    {
        let (mut floors, mut above) = (vec![None; probes.len()], vec![None; probes.len()]);
        for _ in 0..3 {
            index.floor_many(probes, &mut floors).unwrap();
            index.higher_many(probes, &mut above).unwrap();
            for (&key, (floor, higher)) in probes.iter().zip(floors.iter().zip(&above)) {
                assert_eq!((floor, higher), (&index.floor(key), &index.higher(key)));
            }
        }
    }
    let (mut rng, len) = (Rng(5), scaled(60_000) as u64);
    let numbers: Vec<u64> = (0..2 * scaled(10_000)).map(|_| rng.below(7 * len + 20)).collect();
    let index: Index<u64, u128> = (1..len).map(|number| (7 * number, number.into())).collect();
    compare(&index, &numbers);
    let texts: Vec<String> = numbers.iter().map(|number| format!("key {number:012}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let named = |number: u64| format!("key {:012}", 7 * number);
    compare(&(1..len).map(|number| (named(number), number)).collect(), &texts);
    compare(&(1..len).map(|number| (named(number), Arc::new(number))).collect(), &texts);
}

/// Even numbers stay; odd ones come and go. The documented guarantees hold meanwhile.
fn stays_in_order<K, V, P>(key: impl Fn(u64) -> K + Sync, value: impl Fn(u64) -> V + Sync, probe: P)
where
    K: KeyFor<V> + Ord + Clone + Debug + Sync,
    V: IndexValue + PartialEq + Debug + Sync,
    P: for<'q> Fn(&'q K) -> K::Probe<'q> + Sync,
    Index<K, V>: Sync,
{
    let end = scaled(4_000) as u64;
    let index: Index<K, V> = (0..end).step_by(2).map(|number| (key(number), value(number))).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (index, done, key, value, probe) = (&index, &done, &key, &value, &probe);
        scope.spawn(move || {
            let mut rng = Rng(1);
            while !done.load(Ordering::Relaxed) {
                let from = rng.below(end) | 1;
                let run = (from..end.min(from + 300)).step_by(2);
                index.try_extend(run.clone().map(|number| (key(number), value(number)))).unwrap();
                run.for_each(|number| _ = index.remove(probe(&key(number))));
            }
        });
        let mut rng = Rng(9);
        for _ in 0..scaled(300) {
            let (one, other) = (rng.below(end), rng.below(end));
            let (low, high) = (one.min(other), one.max(other));
            let fair = |count: usize, range: core::ops::Range<u64>| {
                let staying = range.end.div_ceil(2) - range.start.div_ceil(2);
                assert!((staying as usize..=(range.end - range.start) as usize).contains(&count));
            };
            fair(index.rank(probe(&key(high))), 0..high);
            let mut counts = [0; 2];
            let (from, to) = (key(low), key(high));
            index.count_many(&[probe(&from)..probe(&to), probe(&to)..probe(&to)], &mut counts).unwrap();
            fair(counts[0], low..high);
            assert_eq!(counts[1], 0);
            fair(index.fold(probe(&from)..probe(&to), 0, |count, _, _| count + 1), low..high);
            // There are at least half of the entries.
            let (found, _) = index.nth(one as usize / 2).unwrap();
            fair(one as usize / 2, 0..(0..end).find(|&number| key(number) == found).unwrap());
            assert!(index.split_points(4).is_sorted_by(|a, b| a < b));
            // A neighbour is at most one number away.
            let numbers: Vec<u64> = (0..20).map(|_| 1 + rng.below(end - 2)).collect();
            let keys: Vec<K> = numbers.iter().map(|&number| key(number)).collect();
            let probes: Vec<_> = keys.iter().map(probe).collect();
            let mut answers = vec![None; keys.len()];
            index.floor_many(&probes, &mut answers).unwrap();
            for (&number, answer) in numbers.iter().zip(&answers) {
                let (found, own) = answer.as_ref().unwrap();
                let at = if *found == key(number) { number } else { number - 1 };
                assert_eq!((found, own), (&key(at), &value(at)));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!((index.rank(probe(&key(end))), index.count(..)), (index.len(), index.len()));
    index.check_invariants().unwrap();
}

#[test]
fn writers_leave_positions_of_words_fair() {
    stays_in_order::<u64, u64, _>(|number| number, |number| !number, |key| *key);
}

#[test]
fn writers_leave_positions_of_strings_fair() {
    stays_in_order::<String, u64, _>(|number| format!("{number:08}"), |number| !number, String::as_str);
}

#[test]
fn writers_leave_positions_of_arcs_fair() {
    stays_in_order::<u64, Arc<u64>, _>(|number| number, Arc::new, |key| *key);
    stays_in_order::<String, Arc<u64>, _>(|number| format!("{number:08}"), Arc::new, String::as_str);
}

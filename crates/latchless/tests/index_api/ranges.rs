//! Ranges: bounds of every kind, both ends at once, scans that pause, counts.

use crate::common::{Rng, scaled, tens};
use core::ops::ControlFlow;
use latchless::index::{Entries, Range};
use latchless::{Direction, Error, Index};
use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::Arc;

/// Returns every pair of bounds at two keys.
fn nine(low: u64, high: u64) -> Vec<(Bound<u64>, Bound<u64>)> {
    let starts = [Included(low), Excluded(low), Unbounded];
    let ends = [Included(high), Excluded(high), Unbounded];
    starts.into_iter().flat_map(|start| ends.map(|end| (start, end))).collect()
}

fn lies_in((start, end): &(Bound<u64>, Bound<u64>), key: u64) -> bool {
    let after = match *start {
        Included(low) => low <= key,
        Excluded(low) => low < key,
        Unbounded => true,
    };
    let before = match *end {
        Included(high) => key <= high,
        Excluded(high) => key < high,
        Unbounded => true,
    };
    after && before
}

#[test]
fn all_nine_kinds_of_bounds() {
    let mut keys: Vec<u64> = (0..400).map(|key| key * 5).collect();
    keys.extend([u64::MAX - 1, u64::MAX]);
    let index: Index<u64, u64> = keys.iter().map(|&key| (key, !key)).collect();
    let ends = [0, 1, 4, 5, 500, 501, 1995, 1996, u64::MAX - 1, u64::MAX];
    for (at, &low) in ends.iter().enumerate() {
        for span in ends[at..].iter().flat_map(|&high| nine(low, high)) {
            let expected: Vec<_> =
                keys.iter().filter(|&&key| lies_in(&span, key)).map(|&key| (key, !key)).collect();
            assert_eq!(index.range(span).collect::<Vec<_>>(), expected, "{span:?}");
            let mut reverse: Vec<_> = index.range(span).rev().collect();
            reverse.reverse();
            assert_eq!(reverse, expected, "{span:?} from the back");
            assert_eq!(index.count(span), expected.len(), "{span:?}");
        }
    }
}

#[test]
fn nothing_lies_beyond_the_last_key_or_before_the_first() {
    fn nothing<K: latchless::Key>(first: K, last: K) {
        let index: Index<K, u8> = [(first, 1), (last, 2)].into();
        let empty = [
            (Excluded(last), Unbounded),
            (Unbounded, Excluded(first)),
            (Excluded(first), Excluded(first)),
            (Included(last), Excluded(last)),
            (Excluded(first), Excluded(last)),
        ];
        for span in empty {
            assert_eq!(index.range(span).next().map(|(_, value)| value), None, "{span:?}");
            assert_eq!(index.range(span).next_back().map(|(_, value)| value), None, "{span:?}");
            assert_eq!((index.count(span), index.remove_range(span)), (0, Ok(0)), "{span:?}");
        }
        assert_eq!(index.count((Excluded(first), Included(last))), 1);
        assert_eq!(index.count((Included(first), Included(last))), 2);
    }
    nothing(0u32, u32::MAX);
    nothing(u64::MIN, u64::MAX);
    nothing(i32::MIN, i32::MAX);
    nothing(i64::MIN, i64::MAX);
    nothing(f64::from_bits(u64::MAX), f64::from_bits(u64::MAX >> 1));
    nothing((0u32, 0u32), (u32::MAX, u32::MAX));
    nothing(0u8, u8::MAX);
}

#[test]
fn a_range_that_starts_after_its_end_is_empty_to_read_and_refused_to_change() {
    let mut index = tens(10, 1);
    let inverted = (Included(6), Excluded(3));
    let (mut keys, mut values) = ([0; 4], [0; 4]);
    assert_eq!((index.range(inverted).next(), index.range(inverted).next_back()), (None, None));
    assert_eq!(index.range(inverted).size_hint(), (0, Some(0)));
    assert_eq!(Entries::of(&index, inverted).count(), 0);
    assert_eq!(index.count(inverted), 0);
    assert_eq!(index.fold(inverted, 0, |_, _, _| 1), 0);
    index.for_each(inverted, |_, _| unreachable!());
    assert!(index.scan(inverted, |_, _| unreachable!()).is_continue());
    assert!(index.scan_chunks(inverted, |_, _| unreachable!()).is_continue());
    for direction in [Direction::Forward, Direction::Reverse] {
        assert_eq!(index.scanner(inverted, direction).fill_values(&mut values), Ok(0));
        assert_eq!(index.page(inverted, direction, &mut keys, &mut values), Ok(0));
    }
    let (mut shown, ranges) = (Vec::new(), [inverted, (Included(1), Excluded(3)), inverted]);
    index.range_many(&ranges, |range, keys, _| {
        shown.push((range, keys.to_vec()));
        ControlFlow::Continue(())
    });
    assert_eq!(shown, [(1, vec![1, 2])]);
    // `try_range` returns an error, and nothing is changed by mistake.
    assert_eq!(index.try_range(inverted).err(), Some(Error::InvertedRange));
    assert_eq!(index.try_range(3..6).map(Iterator::count), Ok(3));
    assert_eq!(index.remove_range(inverted), Err(Error::InvertedRange));
    let mut alone = index.exclusive();
    assert_eq!((alone.range(inverted).next(), alone.count(inverted)), (None, 0));
    assert_eq!(alone.try_range(inverted).err(), Some(Error::InvertedRange));
    assert_eq!(alone.remove_range(inverted), Err(Error::InvertedRange));
    assert_eq!(index.len(), 10);
}

#[test]
fn both_ends_meet_in_the_middle() {
    for n in [0, 1, 2, 3, 59, 60, 61, 120, 121, scaled(3000) as u64] {
        let index = tens(n, 1);
        let mut rng = Rng(n);
        for _ in 0..scaled(20).min(20) {
            let (mut entries, mut front, mut back) = (index.iter(), 0, n);
            while front < back {
                if rng.below(2) == 0 {
                    assert_eq!(entries.next(), Some((front, 10 * front)));
                    front += 1;
                } else {
                    back -= 1;
                    assert_eq!(entries.next_back(), Some((back, 10 * back)));
                }
            }
            for _ in 0..3 {
                assert_eq!((entries.next(), entries.next_back()), (None, None), "ended for good");
            }
            assert_eq!(entries.size_hint(), (0, Some(0)));
        }
    }
}

#[test]
fn iterators_outlive_updates_under_them() {
    let index = tens(1000, 2);
    let mut entries = index.range(100..900);
    assert_eq!((entries.next(), entries.next_back()), (Some((100, 1000)), Some((898, 8980))));
    index.clear();
    let left = entries.count();
    assert!(left <= 2 * 120, "what was copied out before: at most a leaf an end, {left}");
    let mut entries = index.iter();
    assert_eq!(entries.next(), None);
    index.insert(1, 10).unwrap();
    assert_eq!(entries.next(), None, "an iterator that has ended stays ended");
    // An iterator that is abandoned half-way holds nothing.
    let entries = index.iter();
    drop(entries);
    assert_eq!(index.remove(1), Some(10));
}

/// Keys that stay are multiples of this; the others come and go.
const STAYING: u64 = 8;

/// Fills stretches between the keys that stay, or empties them again: leaves split, lend and merge.
fn come_and_go(index: &Index<u64, u64>, keys: u64, rng: &mut Rng) {
    let (from, len) = (rng.below(keys), 1 + rng.below(300));
    for key in (from..keys.min(from + len)).filter(|key| key % STAYING != 0) {
        if len % 2 == 0 {
            index.insert(key, 10 * key).unwrap();
        } else {
            index.remove(key);
        }
    }
}

#[test]
fn what_stays_is_yielded_once_whatever_changes_between_two_steps() {
    let keys = scaled(6000) as u64;
    let mut rng = Rng(6);
    for round in 0..scaled(90).min(90) {
        let index = tens(keys, STAYING as usize);
        let (low, high) = (rng.below(keys / 2), keys / 2 + rng.below(keys / 2));
        let (mut entries, mut front, mut back) = (index.range(low..high), Vec::new(), Vec::new());
        loop {
            if rng.below(4) == 0 {
                come_and_go(&index, keys, &mut rng);
            }
            // From the front, from the back, from both ends.
            let forward = round % 3 == 0 || round % 3 == 2 && rng.below(2) == 0;
            let Some(entry) = (if forward { entries.next() } else { entries.next_back() }) else { break };
            if forward { front.push(entry) } else { back.push(entry) }
        }
        front.extend(back.into_iter().rev());
        assert!(front.is_sorted_by(|a, b| a.0 < b.0), "round {round}");
        assert!(front.iter().all(|&(key, value)| value == 10 * key && (low..high).contains(&key)));
        let staying = front.iter().map(|entry| entry.0).filter(|key| key % STAYING == 0);
        assert!(staying.eq((low..high).filter(|key| key % STAYING == 0)), "round {round}");
        assert_eq!((entries.next(), entries.next_back()), (None, None));
    }
}

#[test]
fn limits_end_iterators_from_either_end() {
    let index = tens(2000, 1);
    let entry = |key: u64| (key, 10 * key);
    for n in [0, 1, 2, 3, 12, 13, 20, 21, 59, 60, 61, 500, 1500, 5000, usize::MAX] {
        let first: Vec<_> = (500..2000).take(n).map(entry).collect();
        assert_eq!(index.range(500..).limit(n).collect::<Vec<_>>(), first, "{n}");
        assert_eq!(index.range(500..).limit(n).fold(0, |n, _| n + 1), first.len());
        assert_eq!(index.range(500..).limit(n).count(), first.len());
        assert_eq!(index.range(500..).limit(n).last(), first.last().copied());
        let last: Vec<_> = (0..500).rev().take(n).map(entry).collect();
        assert_eq!(index.range(..500).limit(n).rev().collect::<Vec<_>>(), last, "{n}");
        // From both ends, and set after some were yielded.
        let mut entries = index.range(500..);
        assert_eq!((entries.next(), entries.next()), (Some(entry(500)), Some(entry(501))));
        let mut entries = entries.limit(n);
        let (mut front, mut back, mut yielded) = (502, 1999, 0);
        while let Some(found) = if yielded % 3 == 0 { entries.next_back() } else { entries.next() } {
            let expected = if yielded % 3 == 0 { &mut back } else { &mut front };
            assert_eq!(found, entry(*expected));
            if yielded % 3 == 0 {
                back -= 1
            } else {
                front += 1
            }
            yielded += 1;
        }
        assert_eq!(yielded, n.min(1498), "{n}");
    }
    let mut entries = index.iter().limit(9).limit(30);
    assert_eq!((entries.size_hint(), entries.by_ref().count()), ((0, Some(9)), 9));
    assert_eq!(entries.size_hint(), (0, Some(0)));
    let mut entries = index.iter();
    assert_eq!(entries.next(), Some(entry(0)));
    assert_eq!(entries.limit(3).collect::<Vec<_>>(), [entry(1), entry(2), entry(3)]);
    let mut entries = index.iter();
    assert_eq!(entries.next_back(), Some(entry(1999)));
    assert_eq!(entries.limit(2).rev().collect::<Vec<_>>(), [entry(1998), entry(1997)]);
}

#[test]
fn iterators_skip_count_and_fold_as_the_map_does() {
    let index = tens(3000, 1);
    let model: BTreeMap<u64, u64> = index.iter().collect();
    let mut rng = Rng(7);
    for _ in 0..scaled(300) {
        let (low, high) = (rng.below(3200), rng.below(3200));
        let range = low.min(high)..low.max(high);
        let (mut found, mut expected) = (index.range(range.clone()), model.range(range));
        for _ in 0..rng.below(6) {
            let n = rng.below(100) as usize;
            let owned = |entry: Option<(&u64, &u64)>| entry.map(|(&key, &value)| (key, value));
            match rng.below(3) {
                0 => assert_eq!(found.nth(n), owned(expected.nth(n))),
                1 => assert_eq!(found.next(), owned(expected.next())),
                _ => assert_eq!(found.nth_back(n), owned(expected.nth_back(n))),
            }
            let (least, most) = found.size_hint();
            let left = expected.clone().count();
            assert!(least <= left && most.is_none_or(|most| left <= most), "{least} {left} {most:?}");
        }
        let sum = expected.clone().fold(0, |sum, (_, value)| sum + value);
        match rng.below(3) {
            0 => assert_eq!(found.fold(0, |sum, (_, value)| sum + value), sum),
            1 => assert_eq!(found.count(), expected.count()),
            _ => assert_eq!(found.last(), expected.next_back().map(|(&key, &value)| (key, value))),
        }
    }
}

#[test]
fn an_iterator_is_small() {
    assert!(size_of::<Range<'_, u64, u64>>() <= 704, "{}", size_of::<Range<'_, u64, u64>>());
    assert!(size_of::<Range<'_, u32, u32>>() <= 704, "{}", size_of::<Range<'_, u32, u32>>());
}

#[test]
fn entries_can_be_kept_and_sent() {
    fn sent<T: Send + 'static>(value: T) -> T {
        std::thread::spawn(move || value).join().unwrap()
    }
    let index = Arc::new(tens(1000, 1));
    let entries = sent(Entries::of(Arc::clone(&index), 10..20));
    drop(index);
    assert!(sent(entries).rev().eq((10..20).rev().map(|key| (key, 10 * key))));
}

#[test]
fn last_and_debug_of_an_iterator() {
    let index = tens(1000, 1);
    assert_eq!(index.range(5..=8).last(), Some((8, 80)));
    let mut entries = index.range(5..=8);
    entries.next();
    assert_eq!(format!("{entries:?}"), "Entries { rest_lanes: Some((6, 8)), .. }");
}

#[test]
fn scans_pause_anywhere() {
    let index = tens(2000, 1);
    for page in [1, 7, 60, 61, 500, 5000] {
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut scan = index.scanner(300..1300, direction);
            let (mut keys, mut values, mut found) = (vec![0; page], vec![0; page], Vec::new());
            let mut values_alone = false;
            loop {
                let n = if values_alone {
                    scan.fill_values(&mut values).unwrap()
                } else {
                    scan.fill(&mut keys, &mut values).unwrap()
                };
                if n == 0 {
                    break;
                }
                if !values_alone {
                    assert!(keys.iter().zip(&values).take(n).all(|(key, value)| 10 * key == *value));
                }
                found.extend_from_slice(&values[..n]);
                values_alone = !values_alone;
            }
            if direction == Direction::Reverse {
                found.reverse();
            }
            assert!(found.into_iter().eq((300..1300).map(|key| 10 * key)), "{page} {direction:?}");
        }
    }
}

#[test]
fn scans_into_buffers_say_what_is_wrong_with_them() {
    let index = tens(10, 1);
    let mut scan = index.scanner(.., Direction::Forward);
    assert_eq!(scan.fill(&mut [], &mut []), Err(Error::EmptyBuffer));
    assert_eq!(scan.fill(&mut [0], &mut [0, 0]), Err(Error::UnequalBuffers { left: 1, right: 2 }));
    assert_eq!(scan.fill_values(&mut []), Err(Error::EmptyBuffer));
    assert_eq!(scan.fill(&mut [0; 20], &mut [0; 20]), Ok(10), "and goes on");
    assert_eq!(index.page(.., Direction::Forward, &mut [], &mut []), Err(Error::EmptyBuffer));
    let unequal = index.page(.., Direction::Forward, &mut [0], &mut []);
    assert_eq!(unequal, Err(Error::UnequalBuffers { left: 1, right: 0 }));
}

#[test]
fn a_scan_of_chunks_stops_where_its_closure_breaks() {
    let index = tens(1000, 1);
    let (mut calls, mut seen) = (0, Vec::new());
    let last = index.scan_chunks(123.., |keys, values| {
        assert!(keys.iter().zip(values).all(|(key, value)| 10 * key == *value));
        seen.extend_from_slice(keys);
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((calls, last), (3, ControlFlow::Break(())));
    assert!((123..).take(seen.len()).eq(seen.iter().copied()) && seen.len() < 800, "{}", seen.len());
}

#[test]
fn many_ranges_come_in_input_order() {
    let index = tens(5000, 1);
    let model: BTreeMap<u64, u64> = index.iter().collect();
    let mut rng = Rng(5);
    let ranges: Vec<_> = (0..scaled(300))
        .map(|at| {
            let low = rng.below(5200);
            // Some contain nothing, most little, a few much.
            low..low + if at % 10 == 0 { 2000 } else { rng.below(20) }
        })
        .collect();
    let mut found = vec![Vec::new(); ranges.len()];
    let mut order = Vec::new();
    index.range_many(&ranges, |at, keys, values| {
        order.push(at);
        found[at].extend(keys.iter().copied().zip(values.iter().copied()));
        ControlFlow::Continue(())
    });
    assert!(order.is_sorted());
    for (range, found) in ranges.iter().zip(found) {
        let expected: Vec<_> = model.range(range.clone()).map(|(&key, &value)| (key, value)).collect();
        assert_eq!(found, expected, "{range:?}");
    }
    let mut calls = Vec::new();
    let first_leaf_only = |at, _: &[u64], _: &[u64]| {
        calls.push(at);
        ControlFlow::Break(())
    };
    index.range_many(&[0..5000, 7..7, 9..5000], first_leaf_only);
    assert_eq!(calls, [0, 2], "breaking off one range goes on with the next");
}

#[test]
fn removed_ranges_are_gone_and_nothing_else() {
    let n = scaled(10_000) as u64;
    let index = tens(n, 1);
    assert_eq!(index.remove_range(n / 4..n / 2), Ok((n / 2 - n / 4) as usize));
    assert_eq!(index.remove_range(n / 4..n / 2), Ok(0));
    assert!(index.keys().eq((0..n / 4).chain(n / 2..n)));
    assert_eq!(index.remove_range(..), Ok((n - (n / 2 - n / 4)) as usize));
    assert!(index.is_empty());
    index.check_invariants().unwrap();
}

//! Counts of ranges, ranks, positions and equal parts.

use crate::common::{Rng, scaled};
use latchless::index::Options;
use latchless::{FillFactor, Index};
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::atomic::{AtomicBool, Ordering};

/// Compares all operations on positions with a sorted set of keys.
macro_rules! agrees {
    ($index:expr, $keys:expr, $rng:expr) => {{
        let (index, keys, rng): (_, &BTreeSet<u64>, &mut Rng) = ($index, $keys, $rng);
        let sorted: Vec<u64> = keys.iter().copied().collect();
        let below = |key| sorted.partition_point(|&other| other < key);
        let up_to = |key| sorted.partition_point(|&other| other <= key);
        let mut draw = || match rng.below(4) {
            0 => rng.next(),
            1 => [0, 1, u64::MAX - 1, u64::MAX][rng.below(4) as usize],
            _ => {
                let at = rng.below(sorted.len() as u64 + 1) as usize;
                sorted.get(at).map_or(7, |key| key.wrapping_add(rng.below(3)).wrapping_sub(1))
            }
        };
        assert_eq!((index.len(), index.count(..)), (sorted.len(), sorted.len()));
        for _ in 0..6 {
            let (one, other) = (draw(), draw());
            let (low, high) = (one.min(other), one.max(other));
            assert_eq!(index.count(low..high), below(high) - below(low));
            assert_eq!(index.count(low..=high), up_to(high) - below(low));
            let open = (Excluded(low), Included(high));
            assert_eq!(index.count(open), up_to(high) - up_to(low));
            assert_eq!(index.count((Unbounded, Excluded(high))), below(high));
            assert_eq!(index.count(low..), sorted.len() - below(low));
            assert_eq!(index.rank(one), below(one));
            let at = other as usize % (sorted.len() + 1);
            assert_eq!(index.nth(at).map(|entry| entry.0), sorted.get(at).copied());
        }
        assert_eq!(index.nth(0), index.first());
        assert_eq!(index.nth(sorted.len().wrapping_sub(1)), index.last());
        assert_eq!((index.nth(sorted.len()), index.nth(usize::MAX)), (None, None));
    }};
}

/// Returns an index of these keys, inserted in this order.
fn of(keys: impl IntoIterator<Item = u64>) -> (Index<u64, u64>, BTreeSet<u64>) {
    let keys: Vec<u64> = keys.into_iter().collect();
    let index = Index::new().unwrap();
    keys.iter().for_each(|&key| _ = index.insert(key, !key).unwrap());
    (index, keys.into_iter().collect())
}

#[test]
fn an_empty_index_has_no_positions() {
    let (index, keys) = of([]);
    agrees!(&index, &keys, &mut Rng(1));
    assert_eq!((index.split_points(0), index.split_points(9)), (vec![], vec![]));
    assert_eq!((index.rank(0), index.rank(u64::MAX)), (0, 0));
}

#[test]
fn positions_are_exact_after_every_kind_of_change() {
    let mut rng = Rng(2);
    let (mut index, mut keys) = of([]);
    let mut round = |index: &mut Index<u64, u64>, keys: &mut BTreeSet<u64>, round: usize| {
        match round % 8 {
            // Keys all over, and a run of keys.
            0 | 1 => (0..scaled(1500)).map(|_| rng.next()).for_each(|key| {
                assert_eq!(index.insert(key, !key).unwrap().is_none(), keys.insert(key));
            }),
            2 => {
                let from = rng.next() >> 1;
                (from..from + scaled(1500) as u64).for_each(|key| {
                    assert_eq!(index.insert(key, !key).unwrap().is_none(), keys.insert(key));
                });
            }
            // One by one; from either end; whole ranges.
            3 => {
                let gone: Vec<u64> = keys.iter().copied().filter(|_| rng.below(4) == 0).collect();
                gone.into_iter().for_each(|key| assert!(index.remove(key).is_some() && keys.remove(&key)));
            }
            4 => (0..scaled(300)).for_each(|_| {
                assert_eq!(index.pop_first().map(|entry| entry.0), keys.pop_first());
                assert_eq!(index.pop_last().map(|entry| entry.0), keys.pop_last());
            }),
            5 => {
                let low = rng.next();
                let high = low.saturating_add(rng.next() >> 3);
                let gone: Vec<u64> = keys.range(low..=high).copied().collect();
                gone.iter().for_each(|key| _ = keys.remove(key));
                assert_eq!(index.remove_range(low..=high), Ok(gone.len()));
            }
            // By exclusive access, in a batch.
            6 => {
                let entries: Vec<_> = (0..scaled(500)).map(|_| (rng.next(), 1)).collect();
                let mut replaced = vec![None; entries.len()];
                index.exclusive().insert_many(&entries, &mut replaced).unwrap();
                keys.extend(entries.iter().map(|entry| entry.0));
                agrees!(&index.exclusive(), &*keys, &mut rng);
            }
            _ => {
                index.retain(|key, _| key % 3 != 0);
                keys.retain(|key| key % 3 != 0);
            }
        }
        agrees!(&*index, &*keys, &mut rng);
        index.check_invariants().unwrap();
    };
    (0..if cfg!(miri) { 8 } else { 48 }).for_each(|at| round(&mut index, &mut keys, at));
    // Emptied and filled again, in three ways.
    index.clear();
    keys.clear();
    round(&mut index, &mut keys, 0);
    index.exclusive().clear();
    keys.clear();
    round(&mut index, &mut keys, 2);
    index.clear();
    keys = (0..scaled(5000) as u64).map(|key| 3 * key).collect();
    let entries: Vec<_> = keys.iter().map(|&key| (key, key)).collect();
    index.bulk_load(&entries, FillFactor::default()).unwrap();
    (0..8).for_each(|at| round(&mut index, &mut keys, at));
}

#[test]
fn parts_are_of_nearly_equal_size() {
    let mut rng = Rng(3);
    let (index, keys) = of((0..scaled(3000)).map(|_| rng.next()));
    for parts in [0, 1, 2, 3, 7, 64, keys.len() - 1, keys.len(), keys.len() + 1, usize::MAX] {
        let starts = index.split_points(parts);
        assert_eq!(starts.len(), parts.clamp(1, keys.len()) - 1, "{parts} parts");
        assert!(starts.is_sorted_by(|a, b| a < b));
        let bounds = [Unbounded].into_iter().chain(starts.iter().map(|&key| Included(key)));
        let ends = starts.iter().map(|&key| Excluded(key)).chain([Unbounded]);
        let sizes: Vec<usize> = bounds.zip(ends).map(|range| index.count(range)).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(*least > 0 && most - least <= 1, "{parts} parts: {sizes:?}");
    }
}

/// Keys in order all go into the last part, so it is rebuilt.
#[test]
fn an_index_that_grows_at_its_end_stays_counted() {
    let (index, mut keys) = of((0..scaled(1000) as u64).map(|key| 5 * key));
    for _ in 0..scaled(60) {
        let last = keys.last().copied().unwrap_or(0);
        for key in (last + 1..).take(scaled(200)) {
            index.insert(key, key).unwrap();
            keys.insert(key);
        }
        agrees!(&index, &keys, &mut Rng(last));
    }
    index.check_invariants().unwrap();
}

#[test]
fn counts_that_are_kept_take_little_memory_or_none() {
    let n = scaled(60_000) as u64;
    let index: Index<u64, u64> = (0..n).map(|key| (key, key)).collect();
    let before = index.memory_bytes();
    assert_eq!(index.count(..), n as usize);
    let kept = index.memory_bytes() - before;
    // In tests twice as many parts are counted separately as otherwise, and small tables are rounded up.
    assert!(cfg!(latchless_small_nodes) || kept > 0 && kept <= 2048.max(n as usize), "{kept} bytes");
    // Without room all keys are counted leaf by leaf.
    let full = Index::<u64, u64>::with_options(Options {
        limit_bytes: Some(24 << 10),
        huge_pages: false,
        ..Options::default()
    });
    let full = full.unwrap();
    let keys: BTreeSet<u64> = (0..).take_while(|&key| full.insert(key, key).is_ok()).collect();
    let before = full.memory_bytes();
    agrees!(&full, &keys, &mut Rng(4));
    assert_eq!(full.memory_bytes(), before);
    full.check_invariants().unwrap();
}

/// Each thread changes the keys of its own range. No other thread does, so its counts must be exact; the
/// leaves at the ends are shared.
#[test]
fn a_thread_that_changes_a_range_alone_counts_it_exactly() {
    let (threads, width) = (3, 1 << 20);
    let index: Index<u64, u64> = (0..threads * width).step_by(1 << 10).map(|key| (key, !key)).collect();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let index = &index;
            scope.spawn(move || {
                let range = thread * width..(thread + 1) * width;
                let mut keys: BTreeSet<u64> = range.clone().step_by(1 << 10).collect();
                let mut rng = Rng(thread);
                for _ in 0..scaled(400) {
                    let from = range.start + rng.below(width);
                    let run: Vec<u64> = (from..range.end).take(1 + rng.below(200) as usize).collect();
                    if rng.below(2) == 0 {
                        run.iter().for_each(|&key| _ = index.insert(key, !key).unwrap());
                        keys.extend(&run);
                    } else if rng.below(2) == 0 {
                        run.iter().for_each(|key| assert_eq!(index.remove(*key).is_some(), keys.remove(key)));
                    } else {
                        index.remove_range(run[0]..=run[run.len() - 1]).unwrap();
                        run.iter().for_each(|key| _ = keys.remove(key));
                    }
                    assert_eq!(index.count(range.clone()), keys.len());
                    let (middle, _) = keys.iter().enumerate().nth(keys.len() / 2).unwrap();
                    let key = *keys.iter().nth(middle).unwrap();
                    assert_eq!(index.count(range.start..key), middle);
                }
            });
        }
    });
    assert_eq!(index.count(..), index.len());
    index.check_invariants().unwrap();
}

/// Even keys stay; odd ones come and go. The documented guarantees hold meanwhile.
#[test]
fn what_stays_counts_once_and_what_comes_and_goes_at_most_once() {
    let end = scaled(20_000) as u64;
    let index: Index<u64, u64> = (0..end).step_by(2).map(|key| (key, !key)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (index, done) = (&index, &done);
            scope.spawn(move || {
                let mut rng = Rng(thread);
                while !done.load(Ordering::Relaxed) {
                    let from = rng.below(end) | 1;
                    for key in (from..end.min(from + 300)).step_by(2) {
                        if thread == 0 {
                            index.insert(key, !key).unwrap();
                        } else {
                            index.remove(key);
                        }
                    }
                }
            });
        }
        let mut rng = Rng(9);
        for _ in 0..scaled(3000) {
            let (one, other) = (rng.below(end), rng.below(end));
            let (low, high) = (one.min(other), one.max(other));
            let staying =
                |range: core::ops::Range<u64>| (range.end.div_ceil(2) - range.start.div_ceil(2)) as usize;
            let fair = |count: usize, range: core::ops::Range<u64>| {
                assert!((staying(range.clone())..=(range.end - range.start) as usize).contains(&count));
            };
            fair(index.count(low..high), low..high);
            fair(index.rank(high), 0..high);
            // The entry was present, and the keys before it could have been so many.
            let (key, value) = index.nth(one as usize / 2).unwrap();
            assert_eq!(value, !key);
            fair(one as usize / 2, 0..key);
            let starts = index.split_points(4);
            assert!(starts.is_sorted_by(|a, b| a < b) && starts.iter().all(|&key| key < end));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(index.count(..), index.len());
    index.check_invariants().unwrap();
}

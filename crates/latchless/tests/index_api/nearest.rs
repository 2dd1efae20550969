//! The nearest entry, on either side: against a `BTreeMap`, and with a concurrent writer.

use latchless::index::{Options, Own};
use latchless::{Distance, FillFactor, Index, IndexValue, KeyFor, Nanos};
use latchless_core::testing::Rng;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// By the keys' bits, in their order.
type Model<K> = BTreeMap<u64, (K, u32)>;

fn bits<K: Distance>(key: K) -> u64 {
    latchless::Bits::to_u64(key.encode())
}

/// Returns the nearest entry by comparing both neighbours; its key as bits.
fn expected<K: Distance>(model: &Model<K>, key: K, own: Own) -> Option<(u64, u32)> {
    let bits = bits(key);
    let (before, after) = match own {
        Own::Counts => (model.range(..=bits).next_back(), model.range(bits..).next()),
        Own::IsPassed => (
            model.range(..bits).next_back(),
            bits.checked_add(1).and_then(|after| model.range(after..).next()),
        ),
    };
    let nearest = match (before, after) {
        (Some(before), Some(after)) if key.distance(after.1.0) >= key.distance(before.1.0) => Some(before),
        (before, after) => after.or(before),
    };
    nearest.map(|(&bits, &(_, value))| (bits, value))
}

/// Checks all operations against the model.
fn like_a_model<K: Distance>(keys: impl IntoIterator<Item = K>, asked: &[K]) {
    let mut index =
        Index::<K, u32>::with_options(Options { huge_pages: false, ..Options::default() }).unwrap();
    let mut model = Model::new();
    let check = |index: &mut Index<K, u32>, model: &Model<K>| {
        let as_bits = |found: Option<(K, u32)>| found.map(|(key, value)| (bits(key), value));
        for &key in asked {
            for own in [Own::Counts, Own::IsPassed] {
                let expected = expected(model, key, own);
                assert_eq!(as_bits(index.nearest_by(key, own, K::distance)), expected, "{key:?} {own:?}");
            }
            assert_eq!(as_bits(index.nearest(key)), expected(model, key, Own::Counts));
            let least = model.values().map(|&(other, _)| key.distance(other)).min();
            assert_eq!(index.nearest(key).map(|(other, _)| key.distance(other)), least, "{key:?}");
        }
        let mut answers = vec![None; asked.len()];
        index.nearest_many(asked, &mut answers).unwrap();
        let wanted: Vec<_> = asked.iter().map(|&key| expected(model, key, Own::Counts)).collect();
        assert_eq!(answers.into_iter().map(as_bits).collect::<Vec<_>>(), wanted);
        let alone = index.exclusive();
        assert!(asked.iter().zip(&wanted).all(|(&key, &wanted)| as_bits(alone.nearest(key)) == wanted));
        let wanted: Vec<_> = asked.iter().map(|&key| expected(model, key, Own::IsPassed)).collect();
        let (mut keys, mut values, mut found) =
            (asked.to_vec(), vec![0; asked.len()], vec![false; asked.len()]);
        let columns = (&mut keys[..], &mut values[..], &mut found[..]);
        let hits = index.nearest_columns_by(asked, (Own::IsPassed, K::distance), columns).unwrap();
        assert_eq!(hits, wanted.iter().flatten().count());
        let entries = keys.iter().zip(&values).zip(&found);
        let entries = entries.map(|((&key, &value), found)| found.then_some((bits(key), value)));
        assert_eq!(entries.collect::<Vec<_>>(), wanted);
    };
    check(&mut index, &model);
    for (value, key) in (0..).zip(keys) {
        index.insert(key, value).unwrap();
        model.insert(bits(key), (key, value));
        if value.is_power_of_two() {
            check(&mut index, &model);
        }
    }
    check(&mut index, &model);
    // Leaves that are passed.
    let all: Vec<K> = model.values().map(|&(key, _)| key).collect();
    for (at, &key) in all.iter().enumerate() {
        if at > all.len() / 10 && at < all.len() - 2 {
            index.remove(key);
            model.remove(&bits(key));
        }
    }
    check(&mut index, &model);
}

const SOME: u64 = if cfg!(miri) { 40 } else { 600 };

#[test]
fn the_nearest_entry_is_that_of_a_map() {
    let ends = [u64::MIN, 1, 2, 1 << 63, u64::MAX - 1, u64::MAX];
    like_a_model([], &ends);
    like_a_model(ends, &[&ends[..], &[3, 1 << 62, u64::MAX - 2]].concat());
    let mut random = Rng(7);
    let asked: Vec<u64> = (0..200).map(|_| random.below(12 * SOME)).chain(ends).collect();
    like_a_model((0..SOME).map(|key| 10 * key + 5), &asked);
    like_a_model((0..SOME).map(|key| 10 * key + 5), &(0..SOME).map(|key| 10 * key).collect::<Vec<_>>());
    let asked: Vec<i32> = (-300..300).chain([i32::MIN, i32::MAX]).collect();
    like_a_model((-50..50).map(|key| 7 * key).chain([i32::MIN]), &asked);
    like_a_model(
        (0..SOME).map(|key| Nanos(key * key)),
        &asked.iter().map(|&key| Nanos(key as u64)).collect::<Vec<_>>(),
    );
    like_a_model([3u8, 7, 200].map(Reverse), &(0..=255u8).map(Reverse).collect::<Vec<_>>());
}

#[test]
fn the_nearest_float_is_that_of_a_map() {
    let ends =
        [f64::NEG_INFINITY, f64::MIN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.5, f64::MAX, f64::INFINITY];
    let asked: Vec<f64> = ends.into_iter().chain([-f64::NAN, f64::NAN, 0.25, 0.75, -1e300]).collect();
    like_a_model(ends, &asked);
    like_a_model([f64::NAN], &asked);
    like_a_model([-f64::NAN, 2.0], &asked);
    like_a_model([-0.0, 0.0], &asked);
    // The bits of floats don't measure their distance: those of 1 are nearer to those of 3 than to those of
    // 0.
    let index: Index<f64, u8> = [(0.0, 0), (3.0, 3)].into_iter().collect();
    assert_eq!(index.nearest(1.0), Some((0.0, 0)));
}

#[test]
fn buffers_of_other_lengths_are_refused() {
    let index: Index<u32, u32> = [(1, 1)].into_iter().collect();
    assert!(index.nearest_many(&[1, 2], &mut [None]).is_err());
    assert!(index.nearest_columns(&[1, 2], &mut [0; 2], &mut [0; 2], &mut [false; 1]).is_err());
}

/// The distance of keys from the next one.
const GAP: u64 = 1000;
/// Gaps that the writer fills in rotation: the two keys are in one leaf or in two.
const GAPS: u64 = if cfg!(miri) { 2 } else { 70 };
const SWAPS: u64 = if cfg!(miri) { 10 } else { 400 };

/// Swaps two keys on both sides of the middle of a gap, of which one is always present.
fn swapped<V: IndexValue + Sync>(index: &Index<u64, V>, value: &V, middle: u64, look: impl Fn(u64) + Sync)
where
    u64: KeyFor<V>,
    Index<u64, V>: Sync,
{
    let (one, other) = (middle - 1, middle + 1);
    let insert = |key| assert!(index.try_insert(key, value.clone()).is_ok());
    insert(one);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..SWAPS {
                insert(other);
                index.remove(one);
                insert(one);
                index.remove(other);
            }
            is_over.store(true, Relaxed);
        });
        while !is_over.load(Relaxed) {
            look(middle);
        }
    });
    index.remove(one);
}

fn beside_a_writer<V: IndexValue + Sync>(value: &V, look: impl Fn(&Index<u64, V>, u64) + Sync)
where
    u64: KeyFor<V>,
    Index<u64, V>: Sync,
{
    let entries: Vec<_> = (0..2 * GAPS).map(|key| (key * GAP, value.clone())).collect();
    let index = Index::from_sorted(&entries, FillFactor::default()).unwrap();
    for gap in 0..GAPS {
        swapped(&index, value, gap * GAP + GAP / 2, |middle| look(&index, middle));
    }
    // Around each key, so that the two are also on both sides of a fence.
    let entries: Vec<_> = (0..2 * GAPS).map(|key| (4 * key, value.clone())).collect();
    let index = Index::from_sorted(&entries, FillFactor::default()).unwrap();
    for middle in (1..2 * GAPS - 1).map(|key| 4 * key) {
        index.remove(middle);
        swapped(&index, value, middle, |middle| look(&index, middle));
        assert!(index.try_insert(middle, value.clone()).is_ok());
    }
    // These two only: all around them is empty.
    let index = Index::new().unwrap();
    swapped(&index, value, GAP, |middle| look(&index, middle));
}

/// Checks that one of two keys is always the nearest.
fn is_never_missed<V: IndexValue + Sync>(value: &V)
where
    u64: KeyFor<V>,
    Index<u64, V>: Sync,
{
    beside_a_writer(value, |index, middle| {
        for own in [Own::Counts, Own::IsPassed] {
            let (found, _) =
                index.nearest_by(middle, own, u64::abs_diff).expect("one of two is always there");
            assert_eq!(found.abs_diff(middle), 1, "{found} isn't nearest to {middle}");
        }
    });
}

#[test]
fn a_nearer_entry_that_is_on_one_side_or_the_other_is_never_missed() {
    is_never_missed(&0u64);
}

#[test]
fn a_nearer_entry_among_byte_strings_is_never_missed() {
    is_never_missed(&(7u64, 7u64));
    is_never_missed(&Arc::new(7));
}

#[test]
fn each_answer_of_a_batch_is_of_one_moment() {
    beside_a_writer(&0u64, |index, middle| {
        let keys = [middle; 50];
        let mut answers = [None; 50];
        index.nearest_many(&keys, &mut answers).unwrap();
        for found in answers {
            let (found, _) = found.expect("one of two is always there");
            assert_eq!(found.abs_diff(middle), 1, "{found} isn't nearest to {middle}");
        }
    });
}

//! The neighbours of many keys, against those of single keys.

use crate::common::{Rng, scaled};
use latchless::{Error, Index};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

type Entry = Option<(u64, u64)>;

/// The answers of each kind of batch, in the order floor, ceiling, lower, higher.
macro_rules! answers {
    ($index:expr, $keys:expr) => {{
        let mut answers = [(); 4].map(|()| vec![Some((1, 2)); $keys.len()]);
        $index.floor_many($keys, &mut answers[0]).unwrap();
        $index.ceiling_many($keys, &mut answers[1]).unwrap();
        $index.lower_many($keys, &mut answers[2]).unwrap();
        $index.higher_many($keys, &mut answers[3]).unwrap();
        answers
    }};
}

fn expected(model: &BTreeMap<u64, u64>, keys: &[u64]) -> [Vec<Entry>; 4] {
    let pair = |(&key, &value): (&u64, &u64)| (key, value);
    let below = |bound| model.range((Unbounded, bound)).next_back().map(pair);
    let above = |bound| model.range((bound, Unbounded)).next().map(pair);
    [
        keys.iter().map(|&key| below(Included(key))).collect(),
        keys.iter().map(|&key| above(Included(key))).collect(),
        keys.iter().map(|&key| below(Excluded(key))).collect(),
        keys.iter().map(|&key| above(Excluded(key))).collect(),
    ]
}

/// Returns batches of keys around those of the model: none, few, many; unordered, ascending, descending,
/// ascending except for one, all equal, in two distant clusters, with both ends.
fn batches(rng: &mut Rng, span: u64) -> Vec<Vec<u64>> {
    let mut batches = vec![vec![], vec![0], vec![u64::MAX]];
    for len in [31, 32, 33, 600, scaled(3000)] {
        let random: Vec<u64> = (0..len).map(|_| rng.below(span + span / 8 + 1)).collect();
        let mut ascending = random.clone();
        ascending.sort_unstable();
        let descending: Vec<u64> = ascending.iter().rev().copied().collect();
        let mut ends = ascending.clone();
        (ends[0], ends[len - 1]) = (0, u64::MAX);
        let mut but_one = ascending.clone();
        but_one[len / 2] = 3;
        let mut far: Vec<u64> = (0..len as u64 / 2).chain((0..len as u64).map(|at| span + at)).collect();
        far.dedup();
        let equal = vec![random[0]; len];
        batches.extend([random, ascending, descending, ends, but_one, far, equal]);
    }
    batches
}

/// Returns key sets: sparse, dense, with wide gaps, few, none; each aged by removals of whole stretches.
fn models(rng: &mut Rng) -> Vec<(u64, BTreeMap<u64, u64>)> {
    let n = scaled(4000) as u64;
    let value = |key: u64| (key, !key);
    let mut models = vec![
        (0, BTreeMap::new()),
        (90, [50].map(value).into()),
        (n, (0..n).map(value).collect()),
        (n << 20, (0..n).map(|_| value(rng.below(n << 20))).collect()),
        (n << 20, (0..n).map(|at| value(((at / 200) << 28) + at % 200)).collect()),
        (
            u64::MAX - u64::MAX / 8,
            (0..n).map(|_| value(rng.next())).chain([value(0), value(u64::MAX)]).collect(),
        ),
    ];
    let (span, mut stretches) = models[3].clone();
    stretches.retain(|key, _| key / (span / 16) % 3 != 1);
    models.push((span, stretches));
    models
}

#[test]
fn neighbours_of_many_keys_are_those_of_each() {
    let mut rng = Rng(11);
    for (span, model) in models(&mut rng) {
        let mut index = Index::<u64, u64>::new().unwrap();
        index.try_extend(model.iter().map(|(&key, &value)| (key, value))).unwrap();
        // Leaves that had entries and have none any more, or few.
        let gone: Vec<u64> =
            (0..scaled(3000)).map(|_| rng.next()).filter(|key| !model.contains_key(key)).collect();
        gone.iter().for_each(|&key| assert_eq!(index.insert(key, 0), Ok(None)));
        gone.iter().for_each(|&key| assert_eq!(index.remove(key), Some(0)));
        for keys in batches(&mut rng, span) {
            let expected = expected(&model, &keys);
            assert_eq!(answers!(index, &keys), expected, "{} keys, {} entries", keys.len(), model.len());
            assert_eq!(answers!(index.exclusive(), &keys), expected);
        }
    }
}

#[test]
fn ascending_keys_find_the_leaf_before_theirs() {
    // Each key is below all entries of its leaf, or above them: removals empty the leaves' ends.
    let n = scaled(20_000) as u64;
    let mut index: Index<u64, u64> = (0..n).map(|key| (key, !key)).collect();
    let model: BTreeMap<u64, u64> = (0..n).filter(|key| key % 61 == 30).map(|key| (key, !key)).collect();
    index.retain(|key, _| model.contains_key(&key));
    let keys: Vec<u64> = (0..n).collect();
    assert_eq!(answers!(index, &keys), expected(&model, &keys));
    assert_eq!(answers!(index.exclusive(), &keys), expected(&model, &keys));
}

#[test]
fn columns_of_neighbours_are_the_same_and_keep_what_has_none() {
    let index: Index<i32, i8> = (0..100).map(|at| (3 * at, at as i8)).collect();
    let keys: Vec<i32> = (-5..320).chain([i32::MIN, i32::MAX]).collect();
    let mut pairs = vec![None; keys.len()];
    let (mut found_keys, mut values, mut found) =
        (vec![-77; keys.len()], vec![-7; keys.len()], vec![true; keys.len()]);
    for kind in 0..4 {
        let columns = (&mut *found_keys, &mut *values, &mut *found);
        columns.0.fill(-77);
        columns.1.fill(-7);
        let (many, hits) = match kind {
            0 => (
                index.floor_many(&keys, &mut pairs),
                index.floor_columns(&keys, columns.0, columns.1, columns.2),
            ),
            1 => (
                index.ceiling_many(&keys, &mut pairs),
                index.ceiling_columns(&keys, columns.0, columns.1, columns.2),
            ),
            2 => (
                index.lower_many(&keys, &mut pairs),
                index.lower_columns(&keys, columns.0, columns.1, columns.2),
            ),
            _ => (
                index.higher_many(&keys, &mut pairs),
                index.higher_columns(&keys, columns.0, columns.1, columns.2),
            ),
        };
        many.unwrap();
        assert_eq!(hits, Ok(pairs.iter().flatten().count()));
        for (at, pair) in pairs.iter().enumerate() {
            assert_eq!(found[at], pair.is_some());
            assert_eq!((found_keys[at], values[at]), pair.unwrap_or((-77, -7)), "{}", keys[at]);
        }
    }
}

#[test]
fn counts_of_many_ranges_are_those_of_each() {
    let index: Index<u64, u64> = (0..scaled(20_000) as u64).map(|key| (3 * key, key)).collect();
    let mut rng = Rng(12);
    for len in [0, 1, 15, 16, 17, 100] {
        let ranges: Vec<_> = (0..len)
            .map(|_| {
                let low = rng.below(61_000);
                (
                    if rng.below(2) == 0 { Included(low) } else { Excluded(low) },
                    Excluded(low + rng.below(900)),
                )
            })
            .collect();
        let expected: Vec<_> = ranges.iter().map(|&range| index.count(range)).collect();
        let mut counts = vec![7; len];
        index.count_many(&ranges, &mut counts).unwrap();
        assert_eq!(counts, expected);
    }
    let mut counts = [7; 2];
    index.count_many(&[(Included(5), Excluded(0)), (Unbounded, Unbounded)], &mut counts).unwrap();
    assert_eq!(counts, [0, index.len()], "an inverted range is empty");
    let unequal = Error::UnequalBuffers { left: 1, right: 2 };
    assert_eq!(index.count_many(&[(Unbounded::<u64>, Unbounded)], &mut counts), Err(unequal));
}

#[test]
fn neighbours_of_many_keys_refuse_unequal_lengths() {
    let index: Index<u64, u64> = (0..10).map(|key| (key, key)).collect();
    let unequal = |right| Error::UnequalBuffers { left: 2, right };
    assert_eq!(index.floor_many(&[1, 2], &mut [None]), Err(unequal(1)));
    assert_eq!(index.ceiling_many(&[1, 2], &mut [None; 3]), Err(unequal(3)));
    assert_eq!(index.lower_many(&[1, 2], &mut []), Err(unequal(0)));
    assert_eq!(index.higher_many(&[1, 2], &mut [None]), Err(unequal(1)));
    let columns = |keys: usize, values: usize, found: usize| {
        index.floor_columns(&[1, 2], &mut vec![0; keys], &mut vec![0; values], &mut vec![false; found])
    };
    assert_eq!(columns(2, 2, 2), Ok(2));
    assert_eq!([columns(1, 2, 2), columns(2, 3, 2), columns(2, 2, 0)], [1, 3, 0].map(|at| Err(unequal(at))));
}

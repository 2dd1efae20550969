//! Every operation of the index and of its exclusive form, at random, against `BTreeMap`.

use crate::common::{Rng, scaled};
use core::ops::ControlFlow;
use latchless::{Bits, Direction, Index, Key, TryInsertError, Value};
use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// Keys by their encoding, because floats have no order of their own in Rust.
type Model<V> = BTreeMap<u64, V>;

/// Returns some keys close together, some far apart, and both ends.
fn pool<K: Key>(rng: &mut Rng) -> Vec<K> {
    let of = |lane: u64| K::decode(K::Bits::truncate(lane));
    let middle = rng.next() >> 1;
    let close = (0..300).map(|at| middle.wrapping_add(at));
    let spread: Vec<u64> = (0..200).map(|_| rng.next()).collect();
    let ends = (0..4).flat_map(|at| [at, u64::MAX - at]);
    close.chain(spread).chain(ends).map(of).collect()
}

fn lane<K: Key>(key: K) -> u64 {
    key.encode().to_u64()
}

/// Returns an entry in the model's form.
fn lanes<K: Key, V>((key, value): (K, V)) -> (u64, V) {
    (lane(key), value)
}

/// Returns columns of entries in the model's form.
fn side_by_side<K: Key, V: Value>(keys: &[K], values: &[V]) -> Vec<(u64, V)> {
    keys.iter().copied().zip(values.iter().copied()).map(lanes).collect()
}

/// Returns an entry of the model.
fn copied<V: Copy>((&key, &value): (&u64, &V)) -> (u64, V) {
    (key, value)
}

/// Returns a range between two keys of the pool, and the same for the model.
fn span<K: Key>(rng: &mut Rng, pool: &[K]) -> (Bound<K>, Bound<K>) {
    let mut ends = [0; 2].map(|_| pool[rng.below(pool.len() as u64) as usize]);
    ends.sort_by_key(|&key| key.encode());
    let mut bound = |key| match rng.below(5) {
        0 | 1 => Included(key),
        2 | 3 => Excluded(key),
        _ => Unbounded,
    };
    (bound(ends[0]), bound(ends[1]))
}

/// Returns the model's entries in a range.
fn within<K: Key, V: Value>(model: &Model<V>, span: (Bound<K>, Bound<K>)) -> Vec<(u64, V)> {
    let (low, high) = (span.0.map(lane), span.1.map(lane));
    if let (Excluded(low), Excluded(high)) = (low, high)
        && low == high
    {
        return Vec::new();
    }
    model.range((low, high)).map(copied).collect()
}

// One macro per kind of operation, because the index and its exclusive form have the same methods, but no
// common trait that names them.

/// One key: insert, remove, look up.
macro_rules! point {
    ($index:ident, $at:ident) => {{
        let (key, at, value) = $at.draw();
        let At { model, rng, .. } = $at;
        match rng.below(11) {
            0..4 => assert_eq!($index.insert(key, value), Ok(model.insert(at, value))),
            4 => assert_eq!($index.remove(key), model.remove(&at)),
            5 => assert_eq!($index.get(key), model.get(&at).copied()),
            6 => assert_eq!($index.contains_key(key), model.contains_key(&at)),
            7 => {
                let taken = |&present: &V| Err(TryInsertError::Present { present, value });
                let expected = model.get(&at).map_or(Ok(()), taken);
                assert_eq!($index.try_insert(key, value), expected);
                model.entry(at).or_insert(value);
            }
            8 => assert_eq!(
                $index.replace(key, value),
                model.get_mut(&at).map(|old| std::mem::replace(old, value))
            ),
            9 => {
                let expected =
                    if rng.below(2) == 0 { model.get(&at).copied().unwrap_or(value) } else { value };
                let outcome = match model.get_mut(&at) {
                    Some(old) if *old == expected => Ok(std::mem::replace(old, value)),
                    other => Err(other.copied()),
                };
                assert_eq!($index.compare_exchange(key, expected, value), outcome);
            }
            _ => {
                let present = model.get(&at).copied();
                let outcome = if present == Some(value) { Ok(value) } else { Err(present) };
                assert_eq!($index.compare_remove(key, value), outcome);
                if outcome.is_ok() {
                    model.remove(&at);
                }
            }
        }
    }};
}

/// One key, by a closure.
macro_rules! closure {
    ($index:ident, $at:ident) => {{
        let (key, at, value) = $at.draw();
        let At { model, rng, .. } = $at;
        match rng.below(5) {
            0 => {
                let before = model.get_mut(&at).map(|old| std::mem::replace(old, value));
                assert_eq!($index.update(key, |_| value), before);
            }
            1 => assert_eq!($index.upsert(key, |_| value), Ok(model.insert(at, value))),
            2 => {
                let after = (rng.below(2) == 0).then_some(value);
                let before = match after {
                    Some(value) => model.insert(at, value),
                    None => model.remove(&at),
                };
                assert_eq!($index.compute(key, |_| after), Ok(before));
            }
            3 => {
                let wanted = rng.below(2) == 0;
                let expected = if wanted { model.remove(&at) } else { None };
                assert_eq!($index.remove_if(key, |_| wanted), expected);
            }
            _ => assert_eq!($index.get_or_insert_with(key, || value), Ok(*model.entry(at).or_insert(value))),
        }
    }};
}

/// The ends and the neighbours of a key.
macro_rules! neighbour {
    ($index:ident, $at:ident) => {{
        let (key, at, _) = $at.draw();
        let At { model, rng, .. } = $at;
        match rng.below(6) {
            0 => assert_eq!($index.first().map(lanes), model.iter().next().map(copied)),
            1 => assert_eq!($index.last().map(lanes), model.iter().next_back().map(copied)),
            2 => assert_eq!($index.pop_first().map(lanes), model.pop_first()),
            3 => assert_eq!($index.pop_last().map(lanes), model.pop_last()),
            4 => {
                let below = |bound| model.range((Unbounded, bound)).next_back().map(copied);
                let above = |bound| model.range((bound, Unbounded)).next().map(copied);
                assert_eq!($index.floor(key).map(lanes), below(Included(at)));
                assert_eq!($index.lower(key).map(lanes), below(Excluded(at)));
                assert_eq!($index.ceiling(key).map(lanes), above(Included(at)));
                assert_eq!($index.higher(key).map(lanes), above(Excluded(at)));
            }
            _ => {
                let mut cursor = $index.cursor();
                let ahead: Vec<_> = model.range(at..).take(3).map(copied).collect();
                let steps = [cursor.seek(key), cursor.next(), cursor.next()];
                assert!(steps.into_iter().flatten().map(lanes).eq(ahead));
                let behind = model.range(..at).next_back().map(copied);
                cursor.seek(key);
                assert_eq!(cursor.prev().map(lanes), behind);
            }
        }
    }};
}

/// Ranges.
macro_rules! range {
    ($index:ident, $at:ident) => {{
        let (key, at, value) = $at.draw();
        let At { model, rng, pool, .. } = $at;
        match rng.below(6) {
            5 => {
                assert_eq!($index.rank(key), model.range(..at).count());
                let position = rng.below(model.len() as u64 + 2) as usize;
                assert_eq!($index.nth(position).map(lanes), model.iter().nth(position).map(copied));
                let parts = 1 + rng.below(8) as usize;
                let starts = $index.split_points(parts);
                let cut = |part| part * model.len() / parts.min(model.len());
                let expected = (1..parts.min(model.len())).map(cut).map(|at| model.keys().nth(at));
                assert!(starts.iter().map(|&key| lane(key)).eq(expected.flatten().copied()));
            }
            0 => {
                let span = span(rng, pool);
                let mut expected = within(model, span);
                assert_eq!($index.count(span), expected.len());
                assert_eq!($index.range(span).map(lanes).collect::<Vec<_>>(), expected);
                expected.reverse();
                assert_eq!($index.range(span).rev().map(lanes).collect::<Vec<_>>(), expected);
            }
            1 => {
                let span = span(rng, pool);
                let expected = within(model, span);
                let mut seen = Vec::new();
                $index.for_each(span, |key, value| seen.push((lane(key), value)));
                assert_eq!(seen, expected);
                let count = $index.fold(span, 0, |count, _, _| count + 1);
                assert_eq!(count, expected.len());
                seen.clear();
                let all = |keys: &[K], values: &[V]| {
                    seen.extend(side_by_side(keys, values));
                    ControlFlow::Continue(())
                };
                assert!($index.scan_chunks(span, all).is_continue());
                assert_eq!(seen, expected);
                seen.clear();
                let some = 1 + rng.below(200) as usize;
                let shown = $index.scan(span, |key, value| {
                    seen.push((lane(key), value));
                    if seen.len() < some { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
                assert_eq!(shown.is_break(), expected.len() >= some);
                assert_eq!(seen, expected[..expected.len().min(some)]);
            }
            2 => {
                let (span, room) = (span(rng, pool), 1 + rng.below(200) as usize);
                let direction = if rng.below(2) == 0 { Direction::Forward } else { Direction::Reverse };
                let mut expected = within(model, span);
                if direction == Direction::Reverse {
                    expected.reverse();
                }
                let (mut keys, mut values) = (vec![key; room], vec![value; room]);
                let mut scan = $index.scanner(span, direction);
                let found = $index.page(span, direction, &mut keys, &mut values).unwrap();
                expected.truncate(room);
                assert_eq!(side_by_side(&keys[..found], &values[..found]), expected);
                assert_eq!(scan.fill(&mut keys, &mut values).unwrap(), found);
                assert_eq!(side_by_side(&keys[..found], &values[..found]), expected);
            }
            3 if rng.below(10) == 0 => {
                let span = span(rng, pool);
                let expected = within(model, span);
                assert_eq!($index.remove_range(span), Ok(expected.len()));
                model.retain(|key, _| expected.binary_search_by_key(key, |entry| entry.0).is_err());
            }
            _ => {
                let mut iter = $index.iter();
                let mut expected = model.iter().map(copied);
                for _ in 0..20 {
                    assert_eq!(iter.next().map(lanes), expected.next());
                    assert_eq!(iter.next_back().map(lanes), expected.next_back());
                }
            }
        }
    }};
}

/// Batches, and everything at once.
macro_rules! batch {
    ($index:ident, $at:ident) => {{
        let (kind, len) = ($at.rng.below(5), $at.rng.below(100));
        match kind {
            0 => {
                let keys: Vec<K> = (0..len).map(|_| $at.draw().0).collect();
                let expected: Vec<_> = keys.iter().map(|&key| $at.model.get(&lane(key)).copied()).collect();
                assert_eq!($index.get_all(&keys), expected);
            }
            1 => {
                let drawn: Vec<_> = (0..len).map(|_| $at.draw()).collect();
                let entries: Vec<(K, V)> = drawn.iter().map(|&(key, _, value)| (key, value)).collect();
                let expected: Vec<_> =
                    drawn.iter().map(|&(_, at, value)| $at.model.insert(at, value)).collect();
                let mut replaced = vec![None; entries.len()];
                $index.insert_many(&entries, &mut replaced).unwrap();
                assert_eq!(replaced, expected);
            }
            2 => {
                let keys: Vec<K> = (0..len / 2).map(|_| $at.draw().0).collect();
                let expected: Vec<_> = keys.iter().map(|&key| $at.model.remove(&lane(key))).collect();
                let mut removed = vec![None; keys.len()];
                $index.remove_many(&keys, &mut removed).unwrap();
                assert_eq!(removed, expected);
            }
            3 => {
                let modulus = 2 + len % 20;
                let before = $at.model.len();
                $at.model.retain(|&key, _| key % modulus != 0);
                let removed = $index.retain(|key, _| lane(key) % modulus != 0);
                assert_eq!(removed, before - $at.model.len());
            }
            4 if len < 2 => {
                $index.clear();
                $at.model.clear();
            }
            _ => {}
        }
    }};
}

/// Batches as columns, and the neighbours of many keys.
macro_rules! column {
    ($index:ident, $at:ident) => {{
        let (kind, len) = ($at.rng.below(4), $at.rng.below(100) as usize);
        let (blank, _, blank_value) = $at.draw();
        let drawn: Vec<_> = (0..len).map(|_| $at.draw()).collect();
        let mut keys: Vec<K> = drawn.iter().map(|&(key, ..)| key).collect();
        let (mut values, mut found) = (vec![blank_value; len], vec![false; len]);
        let expected: Vec<Option<V>> = match kind {
            0 => {
                let given: Vec<V> = drawn.iter().map(|&(.., value)| value).collect();
                let before = $at.model.len();
                $at.model.extend(drawn.iter().map(|&(_, at, value)| (at, value)));
                assert_eq!($index.insert_columns(&keys, &given), Ok($at.model.len() - before));
                return;
            }
            1 => {
                let expected: Vec<_> = keys.iter().map(|&key| $at.model.get(&lane(key)).copied()).collect();
                let hits = $index.get_columns(&keys, &mut values, &mut found);
                assert_eq!(hits, Ok(expected.iter().flatten().count()));
                expected
            }
            2 => {
                keys.truncate(len / 2);
                let halves = (&mut values[..len / 2], &mut found[..len / 2]);
                let expected: Vec<_> = keys.iter().map(|&key| $at.model.remove(&lane(key))).collect();
                let removed = $index.remove_columns(&keys, halves.0, halves.1);
                assert_eq!(removed, Ok(expected.iter().flatten().count()));
                expected
            }
            _ => {
                let span = span($at.rng, $at.pool);
                let (mut their_keys, mut their_values) = (vec![blank], vec![blank_value]);
                let expected = within($at.model, span);
                let scanned = $index.range_columns(span, &mut their_keys, &mut their_values);
                assert_eq!(scanned, Ok(expected.len()));
                assert_eq!(side_by_side(&their_keys[1..], &their_values[1..]), expected);
                return neighbours!($index, $at, keys);
            }
        };
        for (at, expected) in expected.into_iter().enumerate() {
            assert_eq!((found[at], values[at]), (expected.is_some(), expected.unwrap_or(blank_value)));
        }
    }};
}

/// The neighbours of many keys, unordered and ascending, and the numbers of keys between them.
macro_rules! neighbours {
    ($index:ident, $at:ident, $keys:ident) => {{
        if $at.rng.below(2) == 0 {
            $keys.sort_by_key(|&key| key.encode());
        }
        let model = &$at.model;
        let below = |bound| model.range((Unbounded, bound)).next_back().map(copied);
        let above = |bound| model.range((bound, Unbounded)).next().map(copied);
        let lanes_of = |of: &dyn Fn(u64) -> Option<(u64, V)>| -> Vec<Option<(u64, V)>> {
            $keys.iter().map(|&key| of(lane(key))).collect()
        };
        let mut answers = vec![None; $keys.len()];
        let as_lanes = |answers: &[Option<(K, V)>]| -> Vec<Option<(u64, V)>> {
            answers.iter().map(|answer| answer.map(lanes)).collect()
        };
        $index.floor_many(&$keys, &mut answers).unwrap();
        assert_eq!(as_lanes(&answers), lanes_of(&|at| below(Included(at))));
        $index.lower_many(&$keys, &mut answers).unwrap();
        assert_eq!(as_lanes(&answers), lanes_of(&|at| below(Excluded(at))));
        $index.ceiling_many(&$keys, &mut answers).unwrap();
        assert_eq!(as_lanes(&answers), lanes_of(&|at| above(Included(at))));
        $index.higher_many(&$keys, &mut answers).unwrap();
        assert_eq!(as_lanes(&answers), lanes_of(&|at| above(Excluded(at))));
        let spans: Vec<_> = (0..$keys.len()).map(|_| span($at.rng, $at.pool)).collect();
        let mut counts = vec![7; spans.len()];
        $index.count_many(&spans, &mut counts).unwrap();
        assert!(spans.iter().map(|&span| within(model, span).len()).eq(counts));
    }};
}

/// Applies one operation to both.
macro_rules! step {
    ($index:ident, $at:ident) => {{
        match $at.rng.below(11) {
            0..4 => point!($index, $at),
            4..6 => closure!($index, $at),
            6 => neighbour!($index, $at),
            7..9 => range!($index, $at),
            9 => batch!($index, $at),
            _ => column!($index, $at),
        }
        assert_eq!($index.len(), $at.model.len());
    }};
}

/// The arguments of an operation, besides the index.
struct At<'a, K, V> {
    model: &'a mut Model<V>,
    rng: &'a mut Rng,
    pool: &'a [K],
    new_value: fn(u64) -> V,
}

impl<K: Key, V> At<'_, K, V> {
    /// Returns a key of the pool, its encoding, and a value.
    fn draw(&mut self) -> (K, u64, V) {
        let key = self.pool[self.rng.below(self.pool.len() as u64) as usize];
        (key, lane(key), (self.new_value)(self.rng.next()))
    }
}

fn shared<K: Key, V: Value + PartialEq>(index: &mut Index<K, V>, at: &mut At<'_, K, V>) {
    let index = &*index;
    step!(index, at);
}

fn exclusive<K: Key, V: Value + PartialEq>(index: &mut Index<K, V>, at: &mut At<'_, K, V>) {
    let mut alone = index.exclusive();
    step!(alone, at);
}

/// A step of a history, on the index or on its exclusive form.
type Step<K, V> = fn(&mut Index<K, V>, &mut At<'_, K, V>);

/// Runs random histories.
fn histories<K: Key, V: Value + PartialEq>(seed: u64, new_value: fn(u64) -> V, steps: &[Step<K, V>]) {
    for seed in (0..if cfg!(miri) { 1 } else { 4 }).map(|run| 10 * seed + run) {
        let mut rng = Rng(seed);
        let pool = pool::<K>(&mut rng);
        let mut index = Index::<K, V>::new().unwrap();
        let mut model = Model::new();
        for round in 0..scaled(6000) {
            let mut at = At { model: &mut model, rng: &mut rng, pool: &pool, new_value };
            // Alternately, if there are several.
            steps[round / 64 % steps.len()](&mut index, &mut at);
            if round % 500 == 0 {
                index.check_invariants().unwrap();
            }
        }
        index.check_invariants().unwrap();
        assert!(index.iter().map(lanes).eq(model));
    }
}

// Other types that fit words take the same paths: `types.rs` has some. Few different values, so that
// comparisons of values often succeed.
#[test]
fn u32_to_u32_shared_and_alone() {
    histories::<u32, u32>(1, |seed| seed as u32 % 3, &[shared, exclusive]);
}

#[test]
fn u64_to_u64_shared_and_alone() {
    histories::<u64, u64>(2, |seed| seed % 3, &[shared, exclusive]);
}

#[test]
fn f64_to_unit() {
    histories::<f64, ()>(7, |_| (), &[shared]);
}

#[test]
fn pairs_to_pairs() {
    histories::<(u32, u32), (u16, bool)>(8, |seed| (seed as u16 % 3, seed.is_multiple_of(2)), &[shared]);
}

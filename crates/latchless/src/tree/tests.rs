//! The tree against the standard library's map, and with several threads.

use super::*;
use crate::node::Leaf;
use core::num::NonZeroUsize;
use latchless_core::base::error::Error;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

fn small<B: Bits>() -> BlinkTree<B> {
    BlinkTree::new(BlinkOptions { huge_pages: false, ..BlinkOptions::default() }).unwrap()
}

/// Returns the standard library's answer to [`BlinkTree::edit`].
fn edit_model<B: Bits>(model: &mut BTreeMap<B, B>, key: B, edit: Edit<B>) -> Edited<B> {
    let before = model.get(&key).copied();
    let to = match edit {
        Edit::Put(value) => Some(Some(value)),
        Edit::Add(value) if before.is_none() => Some(Some(value)),
        Edit::Replace(value) if before.is_some() => Some(Some(value)),
        Edit::Swap { expected, value } if before == Some(expected) => Some(Some(value)),
        Edit::Remove if before.is_some() => Some(None),
        Edit::RemoveIf(expected) if before == Some(expected) => Some(None),
        _ => None,
    };
    match to {
        Some(Some(value)) => drop(model.insert(key, value)),
        Some(None) => drop(model.remove(&key)),
        None => {}
    }
    Edited { before, applied: to.is_some() }
}

fn random_edit<B: Bits>(state: &mut Rng, grow: bool, before: Option<B>) -> Edit<B> {
    let value = B::truncate(state.next() >> 32);
    match state.next() % if grow { 9 } else { 14 } {
        0 => Edit::Look,
        1 => Edit::Replace(value),
        2 => Edit::Swap { expected: before.unwrap_or(value), value },
        3 => Edit::RemoveIf(before.unwrap_or(value)),
        4..=5 => Edit::Add(value),
        6..=8 => Edit::Put(value),
        _ => Edit::Remove,
    }
}

fn same_everywhere<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    model: &BTreeMap<B, B>,
    state: &mut Rng,
    key_of: impl Fn(u64) -> B,
) {
    tree.check_invariants().unwrap();
    let draw = |state: &mut Rng| key_of(state.next());
    for round in 0..if cfg!(miri) { 2 } else { 12 } {
        let (a, b) = (draw(state), draw(state));
        let (low, high) = if round == 0 { (B::MIN, B::MAX) } else { (a.min(b), a.max(b)) };
        assert_eq!(tree.count::<M>(low, high), model.range(low..=high).count());
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut seen = Vec::new();
            tree.scan::<M>(low, high, direction, 1000, |keys, values| {
                let mut part: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
                if direction == Direction::Reverse {
                    part.reverse();
                }
                seen.extend(part);
                true
            });
            let mut expected: Vec<_> = model.range(low..=high).map(|(&key, &value)| (key, value)).collect();
            let nearest = match direction {
                Direction::Forward => model.range(a..).next(),
                Direction::Reverse => model.range(..=a).next_back(),
            };
            assert_eq!(tree.nearest::<M>(a, direction), nearest.map(|(&key, &value)| (key, value)));
            if direction == Direction::Reverse {
                expected.reverse();
            }
            assert_eq!(seen, expected, "{direction:?} {low:?}..={high:?}");
            let most = if round % 2 == 0 { usize::MAX } else { state.next() as usize % 200 };
            let (mut chunks, mut chunk) = (Chunks::new(low, high, direction, most), Chunk::default());
            seen.clear();
            while chunks.next::<M>(tree, &mut chunk) {
                // A chunk is taken from the end at which the range begins.
                seen.extend(core::iter::from_fn(|| match direction {
                    Direction::Forward => chunk.take_first(),
                    Direction::Reverse => chunk.take_last(),
                }));
            }
            expected.truncate(most);
            assert_eq!(seen, expected, "at most {most}, {direction:?} {low:?}..={high:?}, in chunks");
        }
    }
}

/// Returns one of `keys` keys, evenly distributed.
fn evenly<B: Bits>(keys: u64) -> impl Fn(u64) -> B + Copy {
    move |random| B::truncate(random % keys * (B::MAX.to_u64() / keys))
}

/// Returns a key of one of so many users: the user's number, and a counter. One in eight has further bits in
/// between.
fn of_users(users: u64, items: u64) -> impl Fn(u64) -> u64 + Copy {
    move |random| {
        let user = (random % users + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 << 32;
        let between = if random >> 61 == 0 { (random >> 58 & 7) << 20 } else { 0 };
        user | between | ((random >> 32) % items)
    }
}

fn like_the_model<B: Bits, M: Mode>(seed: u64, key_of: impl Fn(u64) -> B + Copy, steps: usize) {
    let (tree, mut model, mut state) = (small::<B>(), BTreeMap::new(), Rng(seed));
    for step in 0..steps {
        let key = key_of(state.next());
        let edit =
            random_edit(&mut state, (step / (steps / 5).max(1)).is_multiple_of(2), model.get(&key).copied());
        assert_eq!(tree.get::<M>(key), model.get(&key).copied());
        assert_eq!(tree.edit::<M>(key, edit), Ok(edit_model(&mut model, key, edit)), "step {step}");
        if step % (steps / 6).max(1) == 0 {
            same_everywhere::<B, M>(&tree, &model, &mut state, key_of);
        }
    }
    same_everywhere::<B, M>(&tree, &model, &mut state, key_of);
    let low = B::truncate(B::MAX.to_u64() / 3);
    let removed = model.split_off(&low);
    assert_eq!(tree.remove_range::<M>(low, B::MAX), removed.len());
    same_everywhere::<B, M>(&tree, &model, &mut state, key_of);
    assert_eq!(tree.remove_range::<M>(B::MIN, B::MAX), model.len());
    assert_eq!(tree.live_bytes(), 1024);
    same_everywhere::<B, M>(&tree, &BTreeMap::new(), &mut state, key_of);
}

const STEPS: usize = if cfg!(miri) { 70 } else { 30_000 };

#[test]
fn answers_like_the_standard_map() {
    let keys = [(1, 100), (2, 5_000), (3, 1 << 31)];
    for (seed, keys) in keys.into_iter().skip(if cfg!(miri) { 2 } else { 0 }) {
        like_the_model::<u64, Shared>(seed, evenly(keys), STEPS);
        like_the_model::<u32, Shared>(seed, evenly(keys), STEPS);
        like_the_model::<u64, Exclusive>(seed, evenly(keys), STEPS);
        like_the_model::<u32, Exclusive>(seed, evenly(keys), STEPS);
    }
}

#[test]
fn answers_like_the_standard_map_with_keys_in_runs() {
    for (seed, users, items) in [(11, 1000, 8), (12, 100, 64), (13, 9, 1024)] {
        like_the_model::<u64, Shared>(seed, of_users(users, items), STEPS);
        like_the_model::<u64, Exclusive>(seed, of_users(users, items), STEPS / 3);
    }
}

#[test]
fn keys_in_any_order_fill_and_empty_the_tree() {
    let len = if cfg!(miri) { 70 } else { 40_000u64 };
    let orders: [fn(u64, u64) -> u64; 5] = [
        |at, _| at,
        |at, len| len - 1 - at,
        |at, len| if at % 2 == 0 { at / 2 } else { len - 1 - at / 2 },
        |at, _| (at as u32).reverse_bits().into(),
        |at, _| ((at % 100) << 40) | (at / 100),
    ];
    for (name, order) in orders.into_iter().enumerate().skip(if cfg!(miri) { 3 } else { 0 }) {
        let tree = small::<u64>();
        for at in 0..len {
            let key = order(at, len);
            assert_eq!(tree.edit::<Shared>(key, Edit::Add(at)), Ok(Edited { before: None, applied: true }));
        }
        tree.check_invariants().unwrap();
        assert_eq!(tree.len(), len as usize);
        if name < 2 && !cfg!(miri) {
            assert!(tree.stats().leaf_fill > 0.95, "order {name}: {:?}", tree.stats());
        }
        for at in 0..len {
            assert_eq!(tree.get::<Shared>(order(at, len)), Some(at));
        }
        for at in 0..len {
            assert_eq!(tree.edit::<Shared>(order(at, len), Edit::Remove).unwrap().before, Some(at));
        }
        tree.check_invariants().unwrap();
        assert_eq!(tree.live_bytes(), 1024, "order {name}");
    }
}

/// Returns how full leaves are after these keys were inserted, one by one.
fn fill_after<B: Bits>(keys: impl Iterator<Item = u64>) -> f64 {
    let tree = small::<B>();
    for key in keys.map(B::truncate) {
        tree.edit::<Shared>(key, Edit::Put(key)).unwrap();
    }
    tree.check_invariants().unwrap();
    tree.stats().leaf_fill
}

/// Yields keys that grow at many places at once: at each step a random place gets its next key. `key`
/// returns the key of a place, given its start and a number of steps.
fn growing(places: usize, each: usize, key: impl Fn(u64, u64) -> u64) -> impl Iterator<Item = u64> {
    let mut state = Rng(11);
    let mut grown = vec![(0, 0); places];
    grown.iter_mut().for_each(|place| place.0 = state.next());
    (0..places * each).map(move |_| {
        let place = &mut grown[state.next() as usize % places];
        place.1 += 1;
        key(place.0, place.1)
    })
}

#[test]
#[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
fn keys_that_grow_at_many_places_fill_leaves() {
    let low = |place: u64| place & !0xFFFF_FFFF;
    let fills = [
        ("up", fill_after::<u64>(growing(100, 900, |place, at| low(place) + at))),
        ("up by 1000", fill_after::<u64>(growing(100, 900, |place, at| low(place) + 1000 * at))),
        (
            "up by any step",
            fill_after::<u64>(growing(100, 900, |place, at| low(place) + 4096 * at + (place ^ at) % 4000)),
        ),
        ("down", fill_after::<u64>(growing(100, 900, |place, at| low(place) + (1 << 31) - at))),
        (
            "down by 1000",
            fill_after::<u64>(growing(100, 900, |place, at| low(place) + (1 << 31) - 1000 * at)),
        ),
        ("side by side", fill_after::<u64>(growing(100, 900, |place, at| ((place % 1_000_000) << 13) + at))),
        ("32 bits", fill_after::<u32>(growing(50, 1500, |place, at| ((place % 60_000) << 16) + at))),
    ];
    for (name, fill) in fills {
        assert!(fill >= 0.9, "{name}: leaves are {fill:.3} full");
    }
}

#[test]
#[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
fn late_keys_leave_the_last_leaves_full() {
    let mut state = Rng(3);
    let fill = fill_after::<u64>((0..50_000u64).map(|at| {
        let late = if state.next().is_multiple_of(3) { state.next() % 40 } else { 0 };
        1_000_000 + 64 * at - 64 * late - late
    }));
    assert!(fill >= 0.85, "late ones leave leaves {fill:.3} full");
}

/// Late keys, as many as the keys in order, that belong to leaves which these filled long before.
#[test]
#[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
fn keys_that_come_very_late_find_room() {
    let mut state = Rng(3);
    let is_late = |at: u64| at % 100 < 3;
    let fill = fill_after::<u64>((0..400_000u64).map(|at| {
        let by = if is_late(at) { 100 * (1 + state.next() % 200) } else { 0 };
        (1 << 40) + 1000 * at - 1000 * by.min(at)
    }));
    assert!(fill >= 0.85, "very late ones leave leaves {fill:.3} full");
    let in_order = fill_after::<u64>(0..100_000);
    assert!(in_order >= 0.99, "without any they are {in_order:.3} full");
}

/// Some of them look like growth, but are split in the middle.
#[test]
#[cfg_attr(any(miri, latchless_small_nodes), ignore = "is about usual nodes, and many of them")]
fn keys_in_random_order_fill_leaves_as_ever() {
    let mut state = Rng(5);
    let uniform: Vec<u64> = (0..80_000).map(|_| state.next()).collect();
    let mut users: Vec<u64> =
        (0..80_000u64).map(|at| ((at / 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) << 32) | (at % 40)).collect();
    let mut dense: Vec<u64> = (0..80_000).collect();
    for keys in [&mut users, &mut dense] {
        (1..keys.len()).rev().for_each(|at| keys.swap(at, state.next() as usize % (at + 1)));
    }
    for (name, keys) in [("uniform", uniform), ("users", users), ("dense", dense)] {
        let fill = fill_after::<u64>(keys.into_iter());
        assert!((0.695..0.75).contains(&fill), "{name}: leaves are {fill:.3} full");
    }
}

#[test]
fn bulk_loads_are_whole_at_any_length_and_fill() {
    for len in [0, 1, 2, 59, 60, 61, 120, 121, 4_200, 4_201, 50_000] {
        for fill in [0.01, 0.5, 0.93, 1.0] {
            if cfg!(miri) && (len > 61 || fill < 1.0) {
                continue;
            }
            let mut tree = small::<u64>();
            let entry = |at: usize| (at as u64 * 7 + 3, at as u64);
            let threads = NonZeroUsize::new(1 + len % 3).unwrap();
            tree.bulk_load(len, entry, FillFactor::new(fill).unwrap(), threads).unwrap();
            tree.check_invariants().unwrap();
            assert_eq!(tree.len(), len);
            for at in 0..len {
                assert_eq!(tree.get::<Shared>(entry(at).0), Some(at as u64));
                assert_eq!(tree.get::<Shared>(entry(at).0 + 1), None);
            }
            for at in 0..len {
                tree.edit::<Shared>(entry(at).0 + 2, Edit::Put(1)).unwrap();
            }
            tree.check_invariants().unwrap();
            tree.clear();
            assert_eq!((tree.len(), tree.live_bytes()), (0, 1024));
        }
    }
}

#[test]
fn batches_answer_like_single_requests() {
    let (tree, mut model, mut state) = (small::<u64>(), BTreeMap::new(), Rng(7));
    for round in 0..if cfg!(miri) { 2 } else { 200 } {
        let len = state.next() as usize % 300;
        let requests: Vec<_> = (0..len)
            .map(|_| {
                let key = state.next() % 4000;
                (key, random_edit(&mut state, round % 3 > 0, model.get(&key).copied()))
            })
            .collect();
        let group = NonZeroUsize::new(round % 70).map_or(Group::Auto, Group::Of);
        let mut at = 0;
        tree.edit_each::<Shared>(
            len,
            group,
            |at| requests[at],
            |done, edited| {
                assert_eq!(done, at);
                let (key, edit) = requests[at];
                assert_eq!(edited, Ok(edit_model(&mut model, key, edit)));
                at += 1;
            },
        );
        assert_eq!(at, len);
        let keys: Vec<u64> = (0..len).map(|_| state.next() % 4000).collect();
        let mut answers = Vec::new();
        tree.get_each::<Shared>(len, group, |at| keys[at], |at, answer| answers.push((at, answer)));
        assert!(
            answers
                .iter()
                .enumerate()
                .all(|(i, &(at, answer))| i == at && answer == model.get(&keys[at]).copied())
        );
        tree.check_invariants().unwrap();
    }
}

fn batches_of_edits_and_looks<M: Mode>(seed: u64) {
    let (mut state, tree, mut model) = (Rng(seed), small::<u64>(), BTreeMap::new());
    let together = Group::Of(NonZeroUsize::new(64).unwrap());
    for round in 0..if cfg!(miri) { 8 } else { 300 } {
        let keys = if round % 2 == 0 { 90 } else { 2000 };
        let batch: Vec<(u64, Edit<u64>)> = (0..64)
            .map(|_| {
                let edit = match state.next() % 5 {
                    0 | 1 => Edit::Look,
                    2 => Edit::Remove,
                    _ => Edit::Put(state.next()),
                };
                (state.next() % keys, edit)
            })
            .collect();
        let mut done = Vec::new();
        tree.edit_each::<M>(64, together, |at| batch[at], |_, edited| done.push(edited.unwrap()));
        for (&(key, edit), done) in batch.iter().zip(done) {
            assert_eq!(done, edit_model(&mut model, key, edit), "{edit:?} of {key} in round {round}");
        }
    }
    tree.check_invariants().unwrap();
}

#[test]
fn a_look_in_a_batch_sees_the_edits_before_it() {
    batches_of_edits_and_looks::<Shared>(3);
    batches_of_edits_and_looks::<Exclusive>(4);
}

#[test]
fn memory_that_runs_out_leaves_the_tree_whole() {
    let options = BlinkOptions { limit_bytes: Some(20 * 1024), huge_pages: false, ..BlinkOptions::default() };
    let tree = BlinkTree::<u64>::new(options).unwrap();
    let (mut state, mut held) = (Rng(5), Vec::new());
    let refused = loop {
        let key = state.next();
        match tree.edit::<Shared>(key, Edit::Put(!key)) {
            Ok(_) => held.push(key),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, Error::MemoryLimit { limit_bytes: 20480, .. }), "{refused}");
    tree.check_invariants().unwrap();
    let leaves = if cfg!(latchless_small_nodes) { 3 } else { 5 };
    assert!(
        held.len() > leaves * Leaf::<u64>::CAPACITY
            && held.iter().all(|&key| tree.get::<Shared>(key) == Some(!key))
    );
    // Operations that need no memory still succeed.
    assert!(tree.edit::<Shared>(held[0], Edit::Put(1)).is_ok());
    assert!(tree.edit::<Shared>(held[1], Edit::Remove).is_ok());
}

#[test]
fn threads_keep_what_they_put_in() {
    let tree = small::<u64>();
    let (threads, keys) = (if cfg!(miri) { 2 } else { 4 }, if cfg!(miri) { 35 } else { 20_000u64 });
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let tree = &tree;
            scope.spawn(move || {
                for cycle in 0..3 {
                    for i in 0..keys {
                        let key = i * threads + thread;
                        assert_eq!(tree.edit::<Shared>(key, Edit::Put(cycle)).unwrap().before, None);
                        assert_eq!(tree.get::<Shared>(key), Some(cycle));
                    }
                    for i in 0..keys {
                        let key = i * threads + thread;
                        assert_eq!(tree.edit::<Shared>(key, Edit::Remove).unwrap().before, Some(cycle));
                        assert_eq!(tree.get::<Shared>(key), None);
                    }
                }
            });
        }
    });
    assert_eq!(tree.len(), 0);
    tree.check_invariants().unwrap();
}

#[test]
fn a_sweep_that_is_kept_over_a_clear_goes_on_in_what_is_there_now() {
    let len = if cfg!(miri) { 70 } else { 30_000 };
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut tree = small::<u64>();
        (0..len).for_each(|key| _ = tree.edit::<Shared>(key, Edit::Put(1)).unwrap());
        let (mut sweep, mut copy) = (Sweep::new(0, u64::MAX, direction, 10_000), LeafCopy::default());
        assert!(sweep.next_leaf::<Shared>(&tree, &mut copy));
        let (at, behind) = (copy.keys()[0], copy.keys()[copy.keys().len() - 1]);
        tree.clear();
        (0..len).rev().for_each(|key| _ = tree.edit::<Shared>(key * 3, Edit::Put(2)).unwrap());
        let mut seen = 0;
        while sweep.next_leaf::<Shared>(&tree, &mut copy) {
            assert!(copy.values().iter().all(|&value| value == 2), "{copy:?}");
            seen += copy.keys().len();
        }
        let left = match direction {
            Direction::Forward => tree.count::<Shared>(behind + 1, u64::MAX),
            Direction::Reverse => tree.count::<Shared>(0, at - 1),
        };
        assert_eq!(seen, left, "{direction:?}");
    }
}

#[test]
fn a_sweep_that_is_kept_over_a_clear_finds_the_smallest_key() {
    fn of<B: Bits>() {
        let (full, one) = (FillFactor::FULL, NonZeroUsize::MIN);
        let (per_leaf, key) = (Leaf::<B>::CAPACITY, |at: usize| B::truncate(at as u64));
        let mut tree = small::<B>();
        tree.bulk_load(2 * per_leaf, |at| (key(at + 1), key(1)), full, one).unwrap();
        // The first leaf keeps only this key, and isn't the tree's first node.
        tree.edit::<Shared>(B::MIN, Edit::Put(key(1))).unwrap();
        let mut sweep = Sweep::new(B::MIN, B::MAX, Direction::Reverse, 10_000);
        let mut copy = LeafCopy::default();
        while sweep.remaining() != Some((B::MIN, B::MIN)) {
            assert!(sweep.next_leaf::<Shared>(&tree, &mut copy));
        }
        tree.clear();
        tree.edit::<Shared>(B::MIN, Edit::Put(key(2))).unwrap();
        assert!(sweep.next_leaf::<Shared>(&tree, &mut copy));
        assert_eq!((copy.keys(), copy.values()), ([B::MIN].as_slice(), [key(2)].as_slice()));
        assert_eq!(sweep.remaining(), None);
    }
    of::<u32>();
    of::<u64>();
}

//! Nodes against the standard library's map, without a tree.

use super::*;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::search::{Dispatch, Kernel, Scalar};
use latchless_core::sync::Word;
use latchless_core::testing::{Rng, sample};
use std::collections::BTreeMap;

fn blank() -> Box<NodeLines> {
    Box::new(core::array::from_fn(|_| core::array::from_fn(|_| Word::new(0))))
}

/// A distribution of keys between a leaf's fences.
#[derive(Clone, Copy)]
struct Spread {
    low: u64,
    high: u64,
    /// Keys are drawn from `runs` runs at a distance of `apart`; the first one is `first..first + range`.
    first: u64,
    range: u64,
    runs: u64,
    apart: u64,
    /// The distance in bits between the bits of a key, so that keys cluster on several scales; 0: one bit of
    /// each key is set.
    spaced: u32,
}

impl Spread {
    /// Returns a random key.
    fn draw(&self, state: &mut Rng) -> u64 {
        let run = state.next() % self.runs * self.apart;
        let inside = state.next() % self.range.max(1);
        if self.spaced == 0 {
            return self.first + (1 << inside);
        }
        let bits = 0..u64::BITS / self.spaced;
        self.first + run + bits.fold(0, |key, at| key | (inside >> at & 1) << (at * self.spaced))
    }
}

const fn evenly(low: u64, high: u64, first: u64, range: u64) -> Spread {
    Spread { low, high, first, range, runs: 1, apart: 0, spaced: 1 }
}

const fn in_runs(first: u64, range: u64, runs: u64, apart: u64) -> Spread {
    Spread { low: 0, high: u64::MAX, first, range, runs, apart, spaced: 1 }
}

const SPREADS: [Spread; 14] = [
    evenly(0, u64::MAX, 0, u64::MAX),
    evenly(0, u64::MAX, 1 << 60, 200),
    evenly(1 << 40, 1 << 50, 1 << 40, 150),
    evenly(500, 800, 500, 301),
    evenly(u64::MAX - 300, u64::MAX, u64::MAX - 300, 301),
    evenly(7, 1 << 20, 7, 1 << 16),
    // A low fence in the middle of the keys of one hint.
    evenly((7 << 50) | 0x1234_5678_9ABC, 9 << 50, (7 << 50) | 0x1234_5678_9ABC, 1 << 49),
    // A few users' numbers in the upper half.
    in_runs(5 << 32, 64, 2, 77 << 48),
    in_runs((1 << 63) | 1234 << 32, 16, 8, 5 << 44),
    in_runs(1 << 61 | 60, 12, 20, 3 << 40),
    // More bits than two fields have: runs of runs, and other bits between the fields.
    in_runs(3 << 32, 1 << 33, 3, 1 << 60),
    in_runs(9 << 20, 1 << 20, 6, (1 << 50) | 1 << 31),
    // Not in the last leaf of all, where keys grow.
    Spread { low: 0, high: 1 << 62, first: 1 << 60, range: 1 << 7, runs: 1, apart: 0, spaced: 9 },
    Spread { low: 0, high: 1 << 62, first: 1 << 60, range: 58, runs: 2, apart: 1, spaced: 0 },
];

/// Returns whether to check a step: Miri checks every tenth.
fn looks_closely(step: u64) -> bool {
    !cfg!(miri) || step.is_multiple_of(10)
}

/// Checks a leaf's sums from `key` on, before it, of a few entries, and of all.
fn sums_agree<S: Search, B: Bits>(leaf: LeafReader<'_, B>, model: &BTreeMap<B, B>, key: B, state: &mut Rng) {
    let some = state.next() as usize % (Leaf::<B>::CAPACITY + 2);
    for (low, high, most) in [
        (B::MIN, B::MAX, usize::MAX),
        (leaf.low(), leaf.high(), some),
        (key, B::MAX, usize::MAX),
        (key, B::MAX, some),
        (B::MIN, key, some),
        (key, key, 1),
    ] {
        let values = model.range(low..=high).take(most).map(|(_, value)| value.to_u64());
        let expected = values.fold((0, 0u64), |(n, sum), value| (n + 1, sum.wrapping_add(value)));
        assert_eq!(leaf.sum::<S>(low, high, most, None), expected, "{low:?}..={high:?}, at most {most}");
    }
}

/// Sometimes tries to insert an entry at one end of a leaf: that succeeds only if it belongs there.
fn pushed_at_end<B: Bits>(
    leaf: LeafEditor<'_, B>,
    entry: (B, B),
    model: &BTreeMap<B, B>,
    state: &mut Rng,
) -> bool {
    let (is_last, tries) = (state.next().is_multiple_of(2), !state.next().is_multiple_of(3));
    let pushed = tries && leaf.push_at_end(is_last, entry);
    let behind = if is_last { model.range(entry.0..).next() } else { model.range(..entry.0).next() };
    assert!(!pushed || behind.is_none(), "{entry:?} was put at an end that is beyond it");
    pushed
}

struct Leaves<B>(core::marker::PhantomData<B>);

impl<B: Bits> Operation for Leaves<B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let cut = |bits: u64| B::truncate(if B::BYTES == 4 { bits >> 32 | bits & 0xFFFF } else { bits });
        // Miri takes keys that are evenly distributed, and some in runs with other bits between the fields;
        // they fill leaves of 64-bit keys.
        let first = if cfg!(miri) { 5 } else { 0 };
        let steps = if cfg!(miri) { 8 * B::BYTES as u64 + 1 } else { 4000 };
        let mut picked = 0;
        for (seed, spread) in SPREADS.iter().enumerate().skip(first).step_by(sample(10)) {
            let (low, high) = (cut(spread.low), cut(spread.high));
            let (node, mut state) = (blank(), Rng(88_172_645_463_325_252 + seed as u64));
            let (leaf, _held) = (LeafEditor(Leaf::<B>::new(&node)), latch(&node).try_latch().unwrap());
            leaf.set((low.min(high), low.max(high)), NodeRef::NIL, &Entries::default(), 0..0);
            let mut model = BTreeMap::new();
            for step in 0..steps {
                let key = cut(spread.draw(&mut state)).clamp(leaf.low(), leaf.high());
                let value = B::truncate(state.next());
                let grow = (step / 97) % 3 != 2;
                assert_eq!(leaf.get::<S>(key), model.get(&key).copied(), "step {step}");
                match leaf.find::<S>(key) {
                    Some(place) if grow => {
                        leaf.set_value(place, value);
                        model.insert(key, value);
                    }
                    Some(place) => {
                        leaf.remove::<S>(place);
                        model.remove(&key);
                    }
                    None if pushed_at_end(leaf, (key, value), &model, &mut state)
                        || leaf.insert::<S>(leaf.seek::<S>(key), (key, value)) =>
                    {
                        assert!(model.insert(key, value).is_none())
                    }
                    None => assert_eq!(model.len(), Leaf::<B>::CAPACITY),
                }
                if step % 64 == 63 {
                    // The layout of a leaf's remaining entries.
                    let mut entries = Entries::default();
                    LeafReader(*leaf).copy_out::<S>(&mut entries);
                    leaf.keep(&entries);
                }
                picked += usize::from(leaf.shape().is_picked());
                if looks_closely(step) {
                    assert_eq!(leaf.fault(), None, "spread {seed}, step {step}");
                    sums_agree::<S, B>(LeafReader(*leaf), &model, key, &mut state);
                }
                assert_eq!(leaf.len(), model.len());
            }
            let mut entries = Entries::default();
            LeafReader(*leaf).copy_out::<S>(&mut entries);
            assert!(entries.keys().iter().eq(model.keys()) && entries.values().iter().eq(model.values()));
        }
        let few = B::BYTES < 8 || cfg!(any(miri, latchless_small_nodes)) || sample(5) > 1;
        assert!(few || picked > 1000, "{picked} steps in leaves with hints of picked bits");
    }
}

/// Keys in order, for each distribution: few inserts need more than the end of their leaf.
#[test]
fn keys_in_order_come_in_at_the_end_of_their_leaf() {
    let (capacity, mut pushed, mut all) = (Leaf::<u64>::CAPACITY, 0, 0);
    for (seed, spread) in SPREADS.iter().enumerate().step_by(sample(9)) {
        let mut state = Rng(0x5851_F42D_4C95_7F2D + seed as u64);
        let mut keys: Vec<u64> =
            (0..capacity).map(|_| spread.draw(&mut state).clamp(spread.low, spread.high)).collect();
        keys.sort_unstable();
        keys.dedup();
        for is_last in [true, false] {
            let node = blank();
            let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
            leaf.set((spread.low, spread.high), NodeRef::NIL, &Entries::default(), 0..0);
            all += keys.len();
            for at in 0..keys.len() {
                let key = keys[if is_last { at } else { keys.len() - 1 - at }];
                if leaf.push_at_end(is_last, (key, at as u64)) {
                    pushed += 1;
                } else {
                    assert!(
                        leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, at as u64)),
                        "there is room"
                    );
                }
                assert!(!looks_closely(at as u64) || leaf.fault().is_none(), "spread {seed}, key {at}");
                assert_eq!(leaf.get::<Scalar>(key), Some(at as u64));
            }
            // Blocks at that end that were emptied keep their hints.
            let in_order = |at: usize| keys[if is_last { at } else { keys.len() - 1 - at }];
            (keys.len() / 2..keys.len()).for_each(|at| {
                leaf.remove::<Scalar>(leaf.find::<Scalar>(in_order(at)).expect("it was put in"));
            });
            for at in keys.len() / 2 + seed..keys.len() {
                let entry = (in_order(at), 0);
                let _ = leaf.push_at_end(is_last, entry)
                    || leaf.insert::<Scalar>(leaf.seek::<Scalar>(entry.0), entry);
                assert!(!looks_closely(at as u64) || leaf.fault().is_none(), "spread {seed}, key {at} again");
            }
        }
    }
    // After a few of them a leaf's layout is rebuilt, with its room at that end.
    assert!(pushed >= all / if cfg!(latchless_small_nodes) { 8 } else { 2 }, "{pushed} of {all} were pushed");
}

/// How separators cluster.
#[derive(Clone, Copy)]
enum Crowding {
    None,
    OnePlace,
    /// Those of a few users, and a few with other bits between the fields of hints.
    Runs,
}

impl Crowding {
    /// In runs one key of `one_in` has other bits between the fields.
    fn draw<B: Bits>(self, state: &mut Rng, one_in: u64) -> B {
        let bits = state.next();
        B::truncate(match self {
            Self::None => bits >> (64 - 8 * B::BYTES),
            Self::OnePlace => B::MAX.to_u64() / 2 + bits % 500,
            Self::Runs => {
                let user = ((1 + bits % 5) * 0x1234_5678) << 32;
                let between =
                    if (bits >> 8).is_multiple_of(one_in) { bits >> 14 } else { (bits >> 20) % 4096 };
                user + between
            }
        })
    }
}

/// Checks that searches from any block find this child or none. Returns whether the one from the key's block
/// finds it.
fn check_near<S: Search, B: Bits>(inner: Inner<'_, B>, key: B, child: NodeRef) -> usize {
    for from in 0..Inner::<B>::BLOCKS {
        if let Some((found, _)) = inner.child_near::<S>(from, key) {
            assert_eq!(found, child, "key {key:?} from block {from}");
        }
    }
    usize::from(inner.child_near::<S>(inner.block_for::<S>(key), key).is_some())
}

struct Inners<B>(core::marker::PhantomData<B>);

impl<B: Bits> Operation for Inners<B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        for crowding in [Crowding::None, Crowding::OnePlace, Crowding::Runs] {
            let (node, mut state) = (blank(), Rng(99_194_853_094_755_497));
            let (inner, _held) = (Inner::<B>::new(&node), latch(&node).try_latch().unwrap());
            let mut children = Children::default();
            children.push(B::MIN, NodeRef::from_word(0));
            let (mut refused, mut fields, mut looked, mut near) = (0, false, 0, 0);
            inner.set((B::MIN, B::MAX), NodeRef::NIL, children.separators(), children.nodes());
            for name in 1..if cfg!(miri) { 12 } else { Inner::<B>::CAPACITY as u32 } {
                let separator = crowding.draw::<B>(&mut state, if name < 40 { 1000 } else { 2 });
                if children.separators().contains(&separator) {
                    continue;
                }
                children.insert(separator, NodeRef::from_word(name));
                let put = inner.insert_in_place::<S>(separator, NodeRef::from_word(name));
                refused += usize::from(!put);
                if !put {
                    inner.fill(children.separators(), children.nodes());
                }
                // A child is lent keys by the one before it.
                let lent = 1 + state.next() as usize % (children.separators().len() - 1);
                let (left, old) = (children.separators()[lent - 1].to_u64(), children.separators()[lent]);
                let span = old.to_u64() - left;
                // A separator between two runs may differ from both in the bits between the fields.
                let stays = matches!(crowding, Crowding::Runs) && span > 1 << 20 && name % 16 != 0;
                let lower = if stays { old } else { B::truncate(left + 1 + (span - 1) / 4 * 3) };
                assert!(inner.lower_separator::<S>(old, lower));
                assert_eq!(inner.lower_separator::<S>(old, lower), lower == old, "nobody begins there now");
                let child = children.nodes()[lent];
                children.remove(lent);
                children.insert(lower, child);
                if name % 9 == 0 {
                    inner.fill(children.separators(), children.nodes());
                }
                fields |= !hints::Shape::<B>::of(&node).has_one_field();
                if !cfg!(miri) || name % 4 == 3 {
                    assert_eq!(inner.fault::<S>(), None, "child {name}");
                }
                assert_eq!(inner.children(), children.separators().len());
                for _ in 0..if cfg!(miri) { 2 } else { 20 } {
                    let key = crowding.draw::<B>(&mut state, 2);
                    let child = children.separators().partition_point(|&separator| separator <= key) - 1;
                    assert_eq!(inner.child::<S>(key), children.nodes()[child], "key {key:?}");
                    assert_eq!(inner.child_and_share::<S>(key).0, children.nodes()[child], "key {key:?}");
                    near += check_near::<S, B>(inner, key, children.nodes()[child]);
                    looked += 1;
                }
            }
            assert!(
                cfg!(miri) || near * 10 >= looked * 9,
                "{near} of {looked} children were near the block asked for"
            );
            let few = B::BYTES < 8 || cfg!(any(miri, latchless_small_nodes));
            assert!(
                fields || few || !matches!(crowding, Crowding::Runs),
                "hints of two fields where it helps"
            );
            assert!(
                cfg!(latchless_small_nodes) || matches!(crowding, Crowding::Runs) || refused < 3,
                "{refused} children made the node be filled anew"
            );
        }
    }
}

#[test]
fn every_kernel_keeps_nodes_right() {
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let dispatch = Dispatch::of(kernel).unwrap();
        dispatch.run(Leaves::<u64>(core::marker::PhantomData));
        dispatch.run(Leaves::<u32>(core::marker::PhantomData));
        dispatch.run(Inners::<u64>(core::marker::PhantomData));
        dispatch.run(Inners::<u32>(core::marker::PhantomData));
    }
}

#[test]
fn hints_tell_a_span_apart_and_never_reach_no_block() {
    for span in [0, 1, 0xFFFE, 0xFFFF, 0x1_0000, 1 << 40, u64::MAX] {
        let farthest = hints::Shape::<u64>::for_span(span).distance(span, 0);
        assert!(farthest <= hints::HINT_MAX);
        assert!(span <= hints::HINT_MAX || farthest >= 0xFFF, "{span} is told apart too coarsely");
    }
}

#[test]
fn nodes_are_dead_to_every_key_after_their_end() {
    let node = blank();
    let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
    let mut entries = Entries::default();
    entries.push(4, 1);
    leaf.set((3, 9), NodeRef::from_word(5), &entries, 0..1);
    assert_eq!((leaf.low(), leaf.high(), leaf.link()), (3, 9, NodeRef::from_word(5)));
    leaf.mark_dead();
    assert!(leaf.low() > leaf.high());
    assert_eq!(leaf.link(), NodeRef::from_word(5));
}

/// Inserts these keys into a leaf between these fences, one after the other, and returns for each how many
/// lines of entries changed or are empty between others.
fn lines_touched(fences: (u64, u64), link: NodeRef, keys: impl Iterator<Item = u64>) -> Vec<usize> {
    let node = blank();
    let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
    leaf.set(fences, link, &Entries::default(), 0..0);
    let lines = || -> Vec<Vec<u64>> {
        node[1..].iter().map(|line| line.iter().map(Word::load_relaxed).collect()).collect()
    };
    let changed = |key| {
        let before = lines();
        assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key)), "there is room");
        assert_eq!(leaf.fault(), None, "key {key}");
        let changed = before.iter().zip(lines()).filter(|(before, after)| **before != *after).count();
        let used: Vec<usize> = (0..Leaf::<u64>::BLOCKS).filter(|&at| leaf.shape().count(at) > 0).collect();
        changed + used[used.len() - 1] + 1 - used[0] - used.len()
    };
    keys.map(changed).collect()
}

#[test]
#[cfg_attr(miri, ignore = "is about which lines are written, and takes an interpreter a minute")]
fn keys_in_order_find_room_without_moving_others() {
    let (capacity, next) = (Leaf::<u64>::CAPACITY as u64, NodeRef::from_word(5));
    for (start, step) in [(600_000, 1), (600_000, 1000), (1 << 40, 1), (1 << 40, 1000)] {
        let up = move |at: u64| start + step * at;
        let down = move |at: u64| start - step * at;
        let near = start - 100 * step;
        for (name, changed) in [
            ("up", lines_touched((start - 7, u64::MAX), NodeRef::NIL, (0..capacity).map(up))),
            ("down", lines_touched((0, 2 * start), next, (0..capacity).map(down))),
            ("down to a near fence", lines_touched((near, 2 * start), next, (0..capacity).map(down))),
        ] {
            // The first ones don't show yet where the next ones go.
            let many = changed.iter().skip(36).filter(|&&lines| lines > 2).count();
            assert!(many <= 1, "{name} from {start} by {step}: {changed:?} lines");
        }
    }
}

#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about leaves with many blocks")]
fn hints_of_picked_bits_become_tied_where_more_keys_come_than_they_tell_apart() {
    let node = blank();
    let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
    let mut entries = Entries::default();
    let far: Vec<u64> = (0..12).map(|at| 1 << (20 + 3 * at)).collect();
    far.iter().for_each(|&key| entries.push(key, key));
    leaf.set((0, 1 << 62), NodeRef::NIL, &entries, 0..far.len());
    assert!(leaf.shape().is_picked() && !leaf.shape().is_tied());
    let close: Vec<u64> = (1..16).map(|more| far[6] + more).collect();
    for &key in &close {
        assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key)), "there is room");
        assert_eq!(leaf.fault(), None, "key {key}");
    }
    assert!(leaf.shape().is_picked() && leaf.shape().is_tied());
    for key in far.into_iter().chain(close) {
        assert_eq!(leaf.get::<Scalar>(key), Some(key));
    }
}

/// Returns whether hints have one field in a full leaf that ends at `high`, in which `ties` blocks begin
/// with a key of the same hint as the key before.
fn has_one_field(high: u64, ties: u64) -> bool {
    let node = blank();
    let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
    let (per_block, mut entries) = (Leaf::<u64>::PER_BLOCK as u64, Entries::default());
    for at in 0..Leaf::<u64>::CAPACITY as u64 {
        let is_tied = at.is_multiple_of(per_block) && (1..=ties).contains(&(at / per_block));
        entries.push(if is_tied { (at << 40) + 1 } else { (at + 1) << 40 }, at);
    }
    leaf.set((0, high), NodeRef::NIL, &entries, 0..entries.keys().len());
    assert_eq!(leaf.fault(), None);
    assert!(entries.keys().iter().zip(0..).all(|(&key, at)| leaf.get::<Scalar>(key) == Some(at)));
    leaf.shape().has_one_field()
}

#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about leaves with many blocks")]
fn leaves_bear_few_ties() {
    let most = |high| (0..10).take_while(|&ties| has_one_field(high, ties)).count() - 1;
    assert_eq!((most(1 << 60), most(u64::MAX)), (1, 3), "more in the last leaf");
}

/// Each pair of inserts creates one tie.
#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about leaves with many blocks")]
fn ties_that_come_are_borne_until_they_are_too_many() {
    for high in [1 << 60, u64::MAX] {
        let node = blank();
        let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
        let (blocks, mut entries) = (Leaf::<u64>::BLOCKS as u64, Entries::default());
        (1..=3 * blocks).for_each(|at| entries.push(at << 40, at));
        leaf.set((0, high), NodeRef::NIL, &entries, 0..entries.keys().len());
        let mut bore_some = false;
        for block in (0..blocks - 1).step_by(2) {
            for key in [1, 2].map(|more| ((3 * block + 3) << 40) + more) {
                assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key)), "there is room");
                assert_eq!((leaf.fault(), leaf.get::<Scalar>(key)), (None, Some(key)));
            }
            let (shape, ties) = (leaf.shape(), leaf.ties());
            assert!(
                !shape.has_one_field() || shape.is_best_of_one() || ties <= leaf.few_ties(),
                "{ties} ties in block {block}"
            );
            bore_some |= shape.has_one_field() && ties > 0;
        }
        assert!(bore_some, "hints were made anew for one tie");
    }
}

/// They are counted where an insert makes room.
#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about leaves with many blocks")]
fn keys_in_order_tie_no_hints_of_one_field() {
    let node = blank();
    let (leaf, _held) = (LeafEditor(Leaf::<u64>::new(&node)), latch(&node).try_latch().unwrap());
    leaf.set((0, u64::MAX), NodeRef::NIL, &Entries::default(), 0..0);
    for at in 0..8 {
        let key = if at == 4 { (4 << 40) + 1 } else { (at + 1) << 40 };
        assert!(
            leaf.push_at_end(true, (key, key)) || leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key))
        );
    }
    assert!(leaf.shape().has_one_field() && leaf.shape().is_tied());
    let key = (8 << 40) + 1;
    assert!(!leaf.push_at_end(true, (key, key)), "it has the hint of the last one, whose block is full");
    assert!(leaf.push_at_end(true, (9 << 40, 0)));
    assert_eq!(leaf.fault(), None);
}

//! The search for the nearest entry under latches: to remove it, or after too many failed validations.
//!
//! # Thread safety
//! The leaves from the search's start to its answer are all latched at once, so the answer is valid as long
//! as the latches are held. They are taken from left to right, along links: under a leaf's latch its link
//! leads to its neighbour, which can neither be merged away nor get another low fence without that latch. So
//! a search to the left begins at the leaf where its answer may be; if there is none, it releases all
//! latches and begins one leaf further left.
//!
//! Every latched leaf is one level of recursion: only empty ones are passed, and they are few, because an
//! emptied leaf is merged at once.

use super::blink::BlinkTree;
use super::edit::follow_up;
use super::sides::{Beside, Starts};
use super::store::Latched;
use crate::blink::{Held, Mode};
use crate::node::operation::{Operation, Search};
use crate::node::{Leaf, LeafEditor, LeafReader};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::previous;
use latchless_core::search::Scalar;

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Look,
    Remove,
}

/// An entry of a latched leaf.
struct InLeaf<'h, 'a, B, M: Mode> {
    leaf: Leaf<'a, B>,
    held: &'h mut M::Held<'a>,
    entry: (B, B),
}

/// An entry that was found.
struct Found<B> {
    entry: (B, B),
    /// The number of entries that its leaf has now.
    left: usize,
}

impl<B: Bits> BlinkTree<B> {
    /// Removes the entry at `from`, or the next one in that direction, in one atomic step.
    pub fn pop<M: Mode>(&self, from: B, direction: Direction) -> Option<(B, B)> {
        self.store().run(Pop { tree: self, from, direction, mode: PhantomData::<M> })
    }
}

/// Finds the nearest entry under latches. See [`BlinkTree::nearest`].
#[cold]
#[inline(never)]
pub(super) fn nearest_latched<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    from: B,
    direction: Direction,
) -> Option<(B, B)> {
    let search = LatchedSearch { tree, from, purpose: Use::Look, mode: PhantomData::<M> };
    search.run::<Scalar>(direction).map(|found| found.entry)
}

struct LatchedSearch<'a, B, M> {
    tree: &'a BlinkTree<B>,
    from: B,
    purpose: Use,
    mode: PhantomData<M>,
}

impl<'a, B: Bits, M: Mode> LatchedSearch<'a, B, M> {
    fn run<S: Search>(&self, direction: Direction) -> Option<Found<B>> {
        let (finder, mut start) = (self.tree.finder(), self.from);
        loop {
            let (at, held) = finder.latch_leaf::<M>(finder.descend::<S>(start), start);
            let (first, low) = ((at, held), at.leaf::<B>().low());
            let found = match direction {
                Direction::Forward => return self.first_from::<S>(first),
                Direction::Reverse => self.last_up_to::<S>(first, None),
            };
            if found.is_some() {
                return found;
            }
            start = previous(low)?;
        }
    }

    /// The first entry at or after `from` in this leaf or in one to its right.
    fn first_from<S: Search>(&self, latched: Latched<'a, M>) -> Option<Found<B>> {
        let (at, mut held) = latched;
        let leaf = at.leaf::<B>();
        if let Some(entry) = LeafReader(leaf).first_from::<S>(self.from.max(leaf.low())) {
            return Some(self.use_it::<S>(InLeaf { leaf, held: &mut held, entry }));
        }
        let right = leaf.link();
        if right.is_nil() {
            return None;
        }
        // Until that has returned, no insert may come in that would have been the answer.
        self.first_from::<S>(self.tree.store().latch::<M>(right))
    }

    /// Finds the last entry up to `from` in this leaf or in one to its right, up to the leaf of `from`; if
    /// they have none, the entry found so far. It is used while all of them are latched: nothing may be
    /// inserted to its right before it is removed.
    fn last_up_to<S: Search>(
        &self,
        latched: Latched<'a, M>,
        so_far: Option<InLeaf<'_, 'a, B, M>>,
    ) -> Option<Found<B>> {
        let (at, mut held) = latched;
        let leaf = at.leaf::<B>();
        let is_last = leaf.high() >= self.from;
        let so_far = match LeafReader(leaf).last_up_to::<S>(self.from.min(leaf.high())) {
            Some(entry) => Some(InLeaf { leaf, held: &mut held, entry }),
            None => so_far,
        };
        if is_last {
            return Some(self.use_it::<S>(so_far?));
        }
        let right = leaf.link();
        self.last_up_to::<S>(self.tree.store().latch::<M>(right), so_far)
    }

    /// Uses an entry of a latched leaf.
    fn use_it<S: Search>(&self, found: InLeaf<'_, '_, B, M>) -> Found<B> {
        let InLeaf { leaf, held, entry } = found;
        if self.purpose == Use::Remove {
            let place = leaf.find::<S>(entry.0).expect("the leaf is latched since the entry was found");
            held.changing();
            LeafEditor(leaf).remove::<S>(place);
            self.tree.ranks().outdate(leaf, held);
        }
        Found { entry, left: leaf.len() }
    }
}

/// Finds the entries beside a key, with all leaves between them latched at once. See
/// [`BlinkTree::beside`].
#[cold]
#[inline(never)]
pub(super) fn beside_latched<B: Bits, M: Mode>(tree: &BlinkTree<B>, key: B, starts: Starts<B>) -> Beside<B> {
    let (finder, mut start) = (tree.finder(), key);
    loop {
        let (at, held) = finder.latch_leaf::<M>(finder.descend::<Scalar>(start), start);
        let low = at.leaf::<B>().low();
        let found = beside_from_latched::<_, M>(tree, (at, held), starts, None);
        match previous(low) {
            Some(left) if found.before.is_none() && starts.before.is_some() => start = left,
            _ => return found,
        }
    }
}

/// Finds the entries beside a key in this leaf and those to its right. `before` is the last one to its left.
fn beside_from_latched<'a, B: Bits, M: Mode>(
    tree: &'a BlinkTree<B>,
    latched: Latched<'a, M>,
    starts: Starts<B>,
    before: Option<(B, B)>,
) -> Beside<B> {
    let (at, _held) = latched;
    let leaf = at.leaf::<B>();
    let own = starts.in_leaf::<Scalar>(leaf);
    let found = Beside { before: own.before.or(before), after: own.after };
    let ends_before = |start: Option<B>| start.is_some_and(|start| leaf.high() < start);
    let goes_on = ends_before(starts.before) || starts.after.is_some() && found.after.is_none();
    let right = leaf.link();
    if !goes_on || right.is_nil() {
        return found;
    }
    // Until that has returned, no insert may come in that would have been nearer.
    beside_from_latched::<_, M>(tree, tree.store().latch::<M>(right), starts, found.before)
}

struct Pop<'a, B, M> {
    tree: &'a BlinkTree<B>,
    from: B,
    direction: Direction,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Pop<'_, B, M> {
    type Output = Option<(B, B)>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let Self { tree, from, direction, mode } = self;
        let Found { entry, left } =
            LatchedSearch { tree, from, purpose: Use::Remove, mode }.run::<S>(direction)?;
        // A merge latches leaves from left to right as well, so it has to wait until all are released.
        follow_up::<_, M>(tree, entry.0, left);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blink::Levels;
    use crate::tree::{BlinkOptions, Edit, Exclusive, Own, Shared};
    use std::collections::BTreeMap;

    const LEAVES: u64 = if cfg!(miri) { 9 } else { 30 };

    /// Builds a tree of full leaves, some of which are emptied without merges.
    fn with_empty_leaves(tree: &BlinkTree<u64>, emptied: core::ops::Range<u64>) -> BTreeMap<u64, u64> {
        let capacity = Leaf::<u64>::CAPACITY as u64;
        let mut model: BTreeMap<u64, u64> = (0..LEAVES * capacity).map(|key| (2 * key, key)).collect();
        model.iter().for_each(|(&key, &value)| {
            tree.edit::<Shared>(key, Edit::Put(value)).unwrap();
        });
        for key in emptied.start * capacity..emptied.end * capacity {
            let at = tree.finder().descend::<Scalar>(2 * key);
            let (leaf, (_, mut held)) = (at.leaf::<u64>(), tree.store().latch::<Shared>(at.node));
            held.changing();
            LeafEditor(leaf).remove::<Scalar>(
                leaf.find::<Scalar>(2 * key).expect("keys in order are where they were put"),
            );
            tree.ranks().outdate(leaf, &mut held);
            drop(held);
            tree.store().counts().count_entries::<Shared>(-1);
            model.remove(&(2 * key));
        }
        model
    }

    fn searches_and_pops<M: Mode>(emptied: core::ops::Range<u64>) {
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let tree = BlinkTree::<u64>::new(options).unwrap();
        let mut model = with_empty_leaves(&tree, emptied);
        let last = LEAVES * Leaf::<u64>::CAPACITY as u64 * 2;
        for from in (0..last + 4).step_by(23).chain([u64::MAX]) {
            let entry = |(&key, &value): (&u64, &u64)| (key, value);
            let forward = model.range(from..).next().map(entry);
            let reverse = model.range(..=from).next_back().map(entry);
            for (direction, expected) in [(Direction::Forward, forward), (Direction::Reverse, reverse)] {
                assert_eq!(tree.nearest::<M>(from, direction), expected, "{from} {direction:?}");
                let latched = nearest_latched::<_, M>(&tree, from, direction);
                assert_eq!(latched, expected, "{from} {direction:?}, under latches");
            }
            let above = from.checked_add(1).and_then(|from| model.range(from..).next()).map(entry);
            let below = model.range(..from).next_back().map(entry);
            for (own, before, after) in [(Own::Counts, reverse, forward), (Own::IsPassed, below, above)] {
                let expected = Beside { before, after };
                assert_eq!(tree.beside::<M>(from, own), expected, "{from} {own:?}");
                let latched = beside_latched::<_, M>(&tree, from, Starts::of(from, own));
                assert_eq!(latched, expected, "{from} {own:?}, under latches");
            }
        }
        for turn in 0..model.len() {
            let (popped, expected) = if turn % 2 == 0 {
                (tree.pop::<M>(0, Direction::Forward), model.pop_first())
            } else {
                (tree.pop::<M>(u64::MAX, Direction::Reverse), model.pop_last())
            };
            assert_eq!(popped, expected);
            assert_eq!(tree.len(), model.len());
        }
        assert_eq!(tree.pop::<M>(0, Direction::Forward), None);
        assert_eq!(tree.pop::<M>(u64::MAX, Direction::Reverse), None);
        tree.check_invariants().unwrap();
    }

    /// More of them than a search passes without latches; in the middle and at either end.
    #[test]
    fn rows_of_empty_leaves_are_passed_both_ways() {
        for emptied in [1..LEAVES - 1, 0..LEAVES - 1, 1..LEAVES] {
            searches_and_pops::<Shared>(emptied.clone());
            searches_and_pops::<Exclusive>(emptied);
        }
    }
}

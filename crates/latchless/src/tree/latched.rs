//! The search for the nearest entry under latches: to remove it, or after too many failed validations.
//!
//! # Thread safety
//! The leaves from the search's start to its answer are all latched at once, so the answer is valid as long
//! as the latches are held. They are taken from left to right, along links: under a leaf's latch its link
//! leads to its neighbour, which can neither be merged away nor get another low fence without that latch. So
//! a search to the left begins at the leaf where its answer may be; if there is none, it releases all
//! latches and begins one leaf further left.
//! all and begins one leaf further left.
//!
//! Every latched leaf is one level of recursion: only empty ones are passed, and they are few, because an
//! emptied leaf is merged at once.

use super::BlinkTree;
use super::beside::{Beside, Starts};
use super::mode::{Held, Mode};
use crate::node::operation::{Operation, Run, Search};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::previous;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// A latched leaf.
type Latched<'a, M> = (NodeRef, <M as Mode>::Held<'a>);

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Look,
    Remove,
}

/// An entry of a latched leaf.
type InLeaf<'h, 'a, B, M> = (NodeRef, &'h mut <M as Mode>::Held<'a>, (B, B));

/// An entry that was found, and the number of entries that its leaf has now.
type Found<B> = ((B, B), usize);

impl<B: Bits> BlinkTree<B> {
    /// Finds the nearest entry under latches. See [`BlinkTree::nearest`].
    #[cold]
    #[inline(never)]
    pub(super) fn nearest_latched<S: Search, M: Mode>(
        &self,
        from: B,
        direction: Direction,
    ) -> Option<(B, B)> {
        self.search_latched::<S, M>(from, direction, Use::Look).map(|(entry, _)| entry)
    }

    /// Removes the entry at `from`, or the next one in that direction, in one atomic step.
    pub fn pop<M: Mode>(&self, from: B, direction: Direction) -> Option<(B, B)> {
        self.dispatch.run(Pop { tree: self, from, direction, mode: PhantomData::<M> })
    }

    fn search_latched<S: Search, M: Mode>(
        &self,
        from: B,
        direction: Direction,
        purpose: Use,
    ) -> Option<Found<B>> {
        let mut start = from;
        loop {
            let (at, held) = self.latch_leaf::<M>(self.descend::<S>(start), start);
            let (first, low) = ((at.node, held), at.leaf::<B>().low());
            let found = match direction {
                Direction::Forward => return self.first_from_latched::<S, M>(first, from, purpose),
                Direction::Reverse => self.last_up_to_latched::<S, M>(first, from, purpose, None),
            };
            if found.is_some() {
                return found;
            }
            start = previous(low)?;
        }
    }

    /// The first entry at or after `from` in this leaf or in one to its right.
    fn first_from_latched<'a, S: Search, M: Mode>(
        &'a self,
        (node, mut held): Latched<'a, M>,
        from: B,
        purpose: Use,
    ) -> Option<Found<B>> {
        let leaf = self.leaf(node);
        if let Some(entry) = leaf.first_from::<S>(from.max(leaf.low())) {
            return Some(self.use_latched::<S, M>((node, &mut held, entry), purpose));
        }
        let right = leaf.link();
        if right.is_nil() {
            return None;
        }
        // Until that has returned, no insert may come in that would have been the answer.
        self.first_from_latched::<S, M>((right, self.latch::<M>(right)), from, purpose)
    }

    /// Finds the last entry up to `from` in this leaf or in one to its right, up to the leaf of `from`; if
    /// they have none, the entry found so far. It is used while all of them are latched: nothing may be
    /// inserted to its right before it is removed.
    fn last_up_to_latched<'a, S: Search, M: Mode>(
        &'a self,
        (node, mut held): Latched<'a, M>,
        from: B,
        purpose: Use,
        so_far: Option<InLeaf<'_, 'a, B, M>>,
    ) -> Option<Found<B>> {
        let leaf = self.leaf(node);
        let is_last = leaf.high() >= from;
        let so_far = match leaf.last_up_to::<S>(from.min(leaf.high())) {
            Some(entry) => Some((node, &mut held, entry)),
            None => so_far,
        };
        if is_last {
            return Some(self.use_latched::<S, M>(so_far?, purpose));
        }
        let right = leaf.link();
        self.last_up_to_latched::<S, M>((right, self.latch::<M>(right)), from, purpose, so_far)
    }
}

/// The entries beside a key, with all leaves between them latched at once.
impl<B: Bits> BlinkTree<B> {
    /// Finds the entries beside a key under latches. See [`BlinkTree::beside`].
    #[cold]
    #[inline(never)]
    pub(super) fn beside_latched<M: Mode>(&self, key: B, starts: Starts<B>) -> Beside<B> {
        let mut start = key;
        loop {
            let (at, held) = self.latch_leaf::<M>(self.descend::<Scalar>(start), start);
            let low = at.leaf::<B>().low();
            let found = self.beside_from_latched::<M>((at.node, held), starts, None);
            match previous(low) {
                Some(left) if found.before.is_none() && starts.before.is_some() => start = left,
                _ => return found,
            }
        }
    }

    /// Finds the entries beside a key in this leaf and those to its right. `before` is the last one to its
    /// left.
    fn beside_from_latched<'a, M: Mode>(
        &'a self,
        (node, _held): Latched<'a, M>,
        starts: Starts<B>,
        before: Option<(B, B)>,
    ) -> Beside<B> {
        let leaf = self.leaf(node);
        let own = starts.in_leaf::<Scalar>(leaf);
        let found = Beside { before: own.before.or(before), after: own.after };
        let ends_before = |start: Option<B>| start.is_some_and(|start| leaf.high() < start);
        let goes_on = ends_before(starts.before) || starts.after.is_some() && found.after.is_none();
        let right = leaf.link();
        if !goes_on || right.is_nil() {
            return found;
        }
        // Until that has returned, no insert may come in that would have been nearer.
        self.beside_from_latched::<M>((right, self.latch::<M>(right)), starts, found.before)
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Uses an entry of a latched leaf.
    fn use_latched<S: Search, M: Mode>(
        &self,
        (node, held, entry): InLeaf<'_, '_, B, M>,
        purpose: Use,
    ) -> Found<B> {
        let leaf = self.leaf(node);
        if purpose == Use::Remove {
            let place = leaf.find::<S>(entry.0).expect("the leaf is latched since the entry was found");
            held.changing();
            leaf.remove::<S>(place);
            self.outdate::<M>(leaf, held);
        }
        (entry, leaf.len())
    }
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
        let (entry, left) = self.tree.search_latched::<S, M>(self.from, self.direction, Use::Remove)?;
        // A merge latches leaves from left to right as well, so it has to wait until all are released.
        self.tree.follow_up::<M>(entry.0, left);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Leaf;
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
            let at = tree.descend::<Scalar>(2 * key);
            let (leaf, mut held) = (at.leaf::<u64>(), tree.latch::<Shared>(at.node));
            held.changing();
            leaf.remove::<Scalar>(
                leaf.find::<Scalar>(2 * key).expect("keys in order are where they were put"),
            );
            tree.outdate::<Shared>(leaf, &mut held);
            drop(held);
            tree.count_entries::<Shared>(-1);
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
                let latched = tree.nearest_latched::<Scalar, M>(from, direction);
                assert_eq!(latched, expected, "{from} {direction:?}, under latches");
            }
            let above = from.checked_add(1).and_then(|from| model.range(from..).next()).map(entry);
            let below = model.range(..from).next_back().map(entry);
            for (own, before, after) in [(Own::Counts, reverse, forward), (Own::IsPassed, below, above)] {
                let expected = Beside { before, after };
                assert_eq!(tree.beside::<M>(from, own), expected, "{from} {own:?}");
                let latched = tree.beside_latched::<M>(from, Starts::of(from, own));
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

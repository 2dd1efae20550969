//! The entry at a key, or the next one before or after it, as of one moment.
//!
//! Most answers are in the leaf that the key belongs to. If that leaf has none, the search passes it and
//! continues in the next one. The answer is of one moment all the same: after the last leaf has been read,
//! every leaf that was passed must still have the version that was read.
//!
//! # Why that is sufficient
//! A leaf that was passed was at rest, in one version, from the first read of it until the last. For all of
//! them the first read of the last leaf lies in between, and the last leaf was at rest then, too. At that
//! moment the leaves covered all keys from the search's start to its answer: fences of leaves at rest don't
//! overlap, and each leaf covers the key after the one before.
//!
//! A search that finds a passed leaf changed restarts, at most [`TRIES`] times, and then takes latches
//! (`latched.rs`).

use super::blink::BlinkTree;
use super::latched::nearest_latched;
use crate::blink::{Levels, Mode};
use crate::node::LeafReader;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{next, previous};
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// How often a search that passes leaves is tried without latches.
pub(super) const TRIES: usize = 4;

/// The maximum number of leaves that a search without latches passes. Two are rare: emptied leaves are
/// merged at once.
const PASSED_MAX: usize = 4;

impl<B: Bits> BlinkTree<B> {
    /// Returns the entry at `from`, or the next one in that direction, as of one moment.
    #[inline]
    pub fn nearest<M: Mode>(&self, from: B, direction: Direction) -> Option<(B, B)> {
        self.store().run(Nearest { tree: self, from, direction, mode: PhantomData::<M> })
    }

    /// Returns the largest key that belongs to the same leaf as `key`.
    pub fn leaf_end<M: Mode>(&self, key: B) -> B {
        self.store().run(LeafEnd { tree: self, key, mode: PhantomData::<M> })
    }
}

struct LeafEnd<'a, B, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for LeafEnd<'_, B, M> {
    type Output = B;

    #[inline(always)]
    fn run<S: Search>(self) -> B {
        self.tree.finder().read_leaf::<S, M, _>(self.key, |leaf| leaf.high())
    }
}

pub(super) struct Nearest<'a, B, M> {
    pub(super) tree: &'a BlinkTree<B>,
    pub(super) from: B,
    pub(super) direction: Direction,
    pub(super) mode: PhantomData<M>,
}

/// The content of a leaf that was read at rest.
pub(super) struct Seen<B> {
    pub(super) found: Option<(B, B)>,
    /// Its fence in the search's direction.
    end: B,
    pub(super) node: NodeRef,
    /// `None`: it was read under its latch.
    pub(super) version: Option<Version>,
}

/// The leaves that a search has passed.
#[derive(Default)]
pub(super) struct Passed {
    leaves: [Option<(NodeRef, Version)>; PASSED_MAX],
    len: usize,
}

/// A leaf that was passed has changed, or can't be followed.
pub(super) struct Restart;

impl Passed {
    /// Records a leaf. `None`: it was read under its latch, so a later change couldn't be detected.
    pub(super) fn push(&mut self, leaf: NodeRef, version: Option<Version>) -> Result<(), Restart> {
        let place = self.leaves.get_mut(self.len).ok_or(Restart)?;
        *place = Some((leaf, version.ok_or(Restart)?));
        self.len += 1;
        Ok(())
    }

    /// Returns whether all of them are unchanged.
    pub(super) fn still<B: Bits>(&self, tree: &BlinkTree<B>) -> bool {
        let unchanged =
            |&(node, version): &(NodeRef, Version)| tree.store().at(node).latch().validate(version);
        self.leaves.iter().flatten().all(unchanged)
    }
}

impl<B: Bits, M: Mode> Nearest<'_, B, M> {
    /// Reads the leaf that `from` belongs to.
    #[inline(always)]
    pub(super) fn look<S: Search>(&self, from: B) -> Seen<B> {
        let start = self.tree.finder().descend::<S>(from);
        let ((found, end), node, version) =
            self.tree.finder().read_leaf_from::<M, _>(start, from, |leaf| match self.direction {
                Direction::Forward => (LeafReader(leaf).first_from::<S>(from), leaf.high()),
                Direction::Reverse => (LeafReader(leaf).last_up_to::<S>(from), leaf.low()),
            });
        Seen { found, end, node, version }
    }

    /// Returns the beginning of the leaf after this one, in the search's direction.
    pub(super) fn after(&self, leaf: &Seen<B>) -> Option<B> {
        match self.direction {
            Direction::Forward => next(leaf.end),
            Direction::Reverse => previous(leaf.end),
        }
    }

    /// Continues from the leaf that `from` belongs to, which has no answer.
    #[inline(never)]
    fn search(&self, first: Seen<B>) -> Option<(B, B)> {
        let mut first = Some(first);
        for _ in 0..TRIES {
            if let Ok(found) = self.pass::<Scalar>(first.take()) {
                return found;
            }
            self.tree.store().counts().count_restart();
        }
        nearest_latched::<_, M>(self.tree, self.from, self.direction)
    }

    /// Passes leaves until one has an entry. `first` is the first leaf, if it has been read.
    #[inline(always)]
    fn pass<S: Search>(&self, mut first: Option<Seen<B>>) -> Result<Option<(B, B)>, Restart> {
        let mut passed = Passed::default();
        let mut from = self.from;
        loop {
            let seen = first.take().unwrap_or_else(|| self.look::<S>(from));
            from = match (seen.found, self.after(&seen)) {
                (None, Some(next)) => next,
                (found, _) => return if passed.still(self.tree) { Ok(found) } else { Err(Restart) },
            };
            if M::SHARED {
                passed.push(seen.node, seen.version)?;
            }
        }
    }
}

impl<B: Bits, M: Mode> Operation for Nearest<'_, B, M> {
    type Output = Option<(B, B)>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let seen = self.look::<S>(self.from);
        if seen.found.is_some() { seen.found } else { self.search(seen) }
    }
}

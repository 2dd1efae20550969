//! The nearest entry to a key.
//!
//! The key's own leaf usually has it. Then it is found as a get finds its value, by the same guesses and
//! the same instruction set, and nothing is allocated.
//!
//! A leaf may have no answer: then the next leaf in that direction has, or the one after it. An answer is
//! right at one moment if all leaves that were passed are unchanged when it is found: at the first look at
//! the last leaf all of them were at rest, and between them they covered everything from the search's start
//! to its answer. Otherwise the search restarts.

use super::change::Shared;
use super::finder::{Start, StartBy};
use super::get::{Near, find_near};
use super::key_room::{Few, KeyRoom};
use super::leaf_copy::first_from;
use super::node::{Node, Probe, Target, Toward, Words};
use super::shape::Shape;
use super::take::Take;
use super::tree::ByteTree;
use crate::blink::{Levels, Side};
use crate::node::operation::{Operation, Run, Search};
use core::ops::Bound;
use latchless_core::base::index::Direction;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

/// The wanted entry: the one at a border, or the next one in a direction.
#[derive(Debug, Clone, Copy)]
pub struct Border<'k> {
    /// Where it is looked for; without a bound, from the first or the last key on.
    pub from: Bound<&'k [u8]>,
    pub direction: Direction,
}

impl<'k> Border<'k> {
    /// The key that leads to the first leaf that may have the entry, and in which of two leaves that meet
    /// there. None: no key is beyond the border.
    fn target(self) -> Option<Target<'k>> {
        match (self.direction, self.from) {
            (Direction::Forward, Bound::Unbounded) => Some(Target::key(&[])),
            (Direction::Reverse, Bound::Unbounded) => Some(Target { key: &[], toward: Toward::Last }),
            (Direction::Reverse, Bound::Excluded(key)) => {
                (!key.is_empty()).then_some(Target { key, toward: Toward::Before })
            }
            (_, Bound::Included(key) | Bound::Excluded(key)) => Some(Target::key(key)),
        }
    }

    /// The index of the wanted entry among a node's entries, if it is one of them. The key comes after
    /// `rank` entries and equals the next one if it `is_there`.
    #[inline(always)]
    fn place(self, rank: usize, is_there: bool, len: usize) -> Option<usize> {
        let is_forward = self.direction == Direction::Forward;
        // The key's own entry is on the side that isn't wanted, or on the one that is.
        let passes_own = is_there && is_forward == matches!(self.from, Bound::Excluded(_));
        let rank = rank + usize::from(passes_own);
        let place = if is_forward { rank } else { rank.wrapping_sub(1) };
        (place < len).then_some(place)
    }
}

/// A leaf's answer in a search's direction.
pub(super) struct Seen<V> {
    pub(super) value: Option<V>,
    /// Whether there are leaves beyond its fence.
    pub(super) goes_on: bool,
    /// Its right neighbour.
    pub(super) link: NodeRef,
}

impl ByteTree {
    /// The nearest entry to a border, as of one moment. Makes `key` its key; `take` takes its value.
    #[inline]
    pub fn nearest<T: Take>(&self, border: Border<'_>, key: &mut KeyRoom, take: &mut T) -> Option<T::Value> {
        let found = self.store.dispatch().run(Nearest { tree: self, border, key, take });
        if found.is_some() { found } else { nearest_elsewhere(self, border, key, take) }
    }
}

/// Finds the nearest entry if the first leaf gave no answer.
#[cold]
#[inline(never)]
pub(super) fn nearest_elsewhere<T: Take>(
    tree: &ByteTree,
    border: Border<'_>,
    key: &mut KeyRoom,
    take: &mut T,
) -> Option<T::Value> {
    let target = border.target()?;
    let mut backoff = Backoff::default();
    loop {
        if let Ok(found) = pass(tree, border, target, key, take) {
            return found;
        }
        tree.store.counts().count_restart();
        backoff.wait_at(tree.store.nodes().origin());
    }
}

/// Passes leaves until one has an entry.
///
/// # Errors
/// When a leaf that was passed has changed.
fn pass<T: Take>(
    tree: &ByteTree,
    border: Border<'_>,
    first: Target<'_>,
    key: &mut KeyRoom,
    take: &mut T,
) -> Result<Option<T::Value>, ()> {
    let ByteTree { store, finder, .. } = tree;
    let (mut passed, mut is_first) = (Few::default(), true);
    let [mut fence, mut next] = [(); 2].map(|()| KeyRoom::default());
    let mut toward = first.toward;
    let mut start = finder.start_near(store, first.key, toward);
    loop {
        let target = Target { key: if is_first { first.key } else { fence.bytes() }, toward };
        let (seen, node, version) =
            store.read_leaf(start.leaf, target, |(_, leaf)| look(leaf, border, key, &mut next, take));
        if is_first {
            learn_first(tree, border, start, first, node);
        }
        if seen.value.is_some() || !seen.goes_on {
            let still = |&(node, version): &(NodeRef, Version)| store.at(node).1.latch().validate(version);
            return if passed.iter().all(still) { Ok(seen.value) } else { Err(()) };
        }
        passed.push((node, version.ok_or(())?));
        is_first = false;
        core::mem::swap(&mut fence, &mut next);
        (start, toward) = match border.direction {
            Direction::Forward => (Start::new(seen.link, StartBy::Descent), Toward::Key),
            Direction::Reverse => (finder.start_near(store, fence.bytes(), Toward::Before), Toward::Before),
        };
    }
}

/// Learns in which leaf a search began, whose guess was wrong, or which had none.
fn learn_first(tree: &ByteTree, border: Border<'_>, start: Start, target: Target<'_>, leaf: NodeRef) {
    let ByteTree { store, finder, .. } = tree;
    store.counts().count_misled(u64::from(start.by == StartBy::Position && start.leaf != leaf));
    if border.from == Bound::Unbounded {
        finder.ends().learn(leaf, border.direction == Direction::Reverse);
    } else if target.toward == Toward::Key {
        finder.settle(store, start, target.key, leaf);
    }
}

/// The nearest entry that a leaf has, whose key `key` becomes; and its fence in the search's direction.
pub(super) fn look<W: Words, T: Take>(
    leaf: Node<'_, W>,
    border: Border<'_>,
    key: &mut KeyRoom,
    fence: &mut KeyRoom,
    take: &mut T,
) -> Seen<T::Value> {
    let (shape, link) = (leaf.shape(), leaf.link());
    let is_forward = border.direction == Direction::Forward;
    // Between which entries the border is; then which of the two.
    let rank = match border.from {
        Bound::Unbounded if is_forward => 0,
        Bound::Unbounded => shape.len(),
        Bound::Included(key) => first_from(leaf, key, !is_forward),
        Bound::Excluded(key) => first_from(leaf, key, is_forward),
    };
    let at = if is_forward { Some(rank) } else { rank.checked_sub(1) };
    if let Some(at) = at.filter(|&at| at < shape.len()) {
        key.read(leaf, shape, at);
        return Seen { value: Some(take.take(leaf, shape, at)), goes_on: false, link };
    }
    let goes_on = if is_forward { fence.read_high(leaf) } else { fence.read_low(leaf) };
    Seen { value: None, goes_on, link }
}

/// One search that looks at the likely place of the entry. `None`: no answer there.
pub(super) struct Nearest<'a, 'k, T> {
    pub tree: &'a ByteTree,
    pub border: Border<'k>,
    pub key: &'a mut KeyRoom,
    pub take: &'a mut T,
}

impl<T: Take> Nearest<'_, '_, T> {
    /// Takes an entry of a leaf, if the leaf is still as it was.
    #[inline(always)]
    fn take(&mut self, leaf: Shared<'_>, version: Version, shape: Shape, at: usize) -> Option<T::Value> {
        self.key.read(leaf, shape, at);
        let value = self.take.take(leaf, shape, at);
        leaf.latch().validate(version).then_some(value)
    }

    /// The first or the last entry, if this leaf has it.
    #[inline(always)]
    fn end_of(&mut self, node: NodeRef) -> Option<T::Value> {
        let (_, leaf) = self.tree.store.at(node);
        let version = leaf.latch().stable_version()?;
        let (shape, is_forward) = (leaf.shape(), self.border.direction == Direction::Forward);
        let is_end = if is_forward { leaf.is_first() } else { shape.has(Shape::NO_HIGH) };
        if shape.has(Shape::DEAD) || !is_end || shape.len() == 0 {
            return None;
        }
        self.take(leaf, version, shape, if is_forward { 0 } else { shape.len() - 1 })
    }

    /// The nearest entry to this key, if the leaf is the key's own and has it.
    #[inline(always)]
    fn in_leaf<S: Search>(&mut self, node: NodeRef, own: &[u8]) -> Option<T::Value> {
        let (_, leaf) = self.tree.store.at(node);
        let version = leaf.latch().stable_version()?;
        let shape = leaf.shape();
        if !leaf.has_prefix(shape, own) {
            return None;
        }
        let (rank, is_there) = leaf.rank::<S>(shape, own);
        // A key between two entries, or equal to one, is between the fences.
        let is_between = is_there || rank > 0 && rank < shape.len();
        if !is_between && leaf.side_apart(own) != Side::Here {
            return None;
        }
        let at = self.border.place(rank, is_there, shape.len())?;
        self.take(leaf, version, shape, at)
    }

    /// The nearest entry to this key, if the records around the likely place decide it.
    #[inline(always)]
    fn in_records(&mut self, node: NodeRef, near: Near, own: &[u8]) -> Option<T::Value> {
        let (_, leaf) = self.tree.store.at(node);
        let Near { version, shape, rank, own: head } = near;
        let (rank, is_there) = leaf.rank_from(shape, rank, Probe { key: own, head });
        if !is_there && (rank == 0 || rank == shape.len()) {
            return None;
        }
        let at = self.border.place(rank, is_there, shape.len())?;
        let value = self.take(leaf, version, shape, at)?;
        self.tree.finder.count_nearness(&self.tree.store, true);
        Some(value)
    }

    /// The nearest entry to this key, if it is where a search for it begins: as `run`, in a group of keys.
    #[inline(always)]
    pub fn from<S: Search>(mut self, start: Start, own: &[u8]) -> Option<T::Value> {
        let ByteTree { store, finder, .. } = self.tree;
        if let Some(share) = start.share
            && let Some(near) = find_near::<S>(store, start.leaf, own, share)
            && let Some(value) = self.in_records(start.leaf, near, own)
        {
            return Some(value);
        }
        let value = self.in_leaf::<S>(start.leaf, own)?;
        if start.by == StartBy::Position {
            finder.count_elsewhere(store, start);
        } else {
            finder.settle(store, start, own, start.leaf);
        }
        Some(value)
    }
}

impl<T: Take> Operation for Nearest<'_, '_, T> {
    type Output = Option<T::Value>;

    #[inline(always)]
    fn run<S: Search>(mut self) -> Option<T::Value> {
        let tree = self.tree;
        let (Bound::Included(own) | Bound::Excluded(own)) = self.border.from else {
            let leaf = tree.finder.ends().leaf(self.border.direction == Direction::Reverse)?;
            return self.end_of(leaf);
        };
        let ByteTree { store, finder, .. } = tree;
        if let Some(start) = finder.start_by_position(store, own) {
            if let Some(share) = start.share
                && let Some(near) = find_near::<S>(store, start.leaf, own, share)
                && let Some(value) = self.in_records(start.leaf, near, own)
            {
                return Some(value);
            }
            let value = self.in_leaf::<S>(start.leaf, own)?;
            finder.count_elsewhere(store, start);
            return Some(value);
        }
        let start = Start::new(store.descend_to_leaf::<S>(own, Toward::Key), StartBy::Descent);
        let value = self.in_leaf::<S>(start.leaf, own)?;
        finder.settle(store, start, own, start.leaf);
        Some(value)
    }
}

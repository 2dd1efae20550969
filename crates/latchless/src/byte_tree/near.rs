//! The nearest entry to a key, and removing the first or the last one.
//!
//! A leaf may have no answer: then the next leaf in that direction has, or the one after it. An answer is
//! right at one moment if all leaves that were passed are still as they were when it was found: at the
//! first look at the last leaf all of them were at rest, and between them they covered everything from the
//! search's start to its answer. Otherwise the search begins anew.
//!
//! A removal latches the leaves from its start to its answer, from left to right.

use super::leaf_copy::first_from;
use super::merge::taken;
use super::node::{Node, Toward, Words};
use super::positions::Aim;
use super::shape::Shape;
use super::tree::{ByteTree, Held};
use super::values::Take;
use core::ops::Bound;
use latchless_core::base::index::Direction;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::Backoff;

/// What a leaf has, in a search's direction.
pub(super) struct Seen<V> {
    value: Option<V>,
    /// Whether there are leaves beyond its fence.
    goes_on: bool,
}

impl ByteTree {
    /// The first entry from a border on, in this direction, as of one moment. Makes `key` its key; `take`
    /// takes its value.
    pub fn nearest<T: Take>(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        (key, take): (&mut Vec<u8>, &mut T),
    ) -> Option<T::Value> {
        let mut backoff = Backoff::default();
        let mut fence = Vec::new();
        loop {
            let toward = start(from, direction, &mut fence)?;
            if let Ok(found) = self.pass((from, direction), toward, &mut fence, (key, take)) {
                return found;
            }
            self.restarts.add(1);
            backoff.wait_at(self.nodes.origin());
        }
    }

    /// Passes leaves until one has an entry. `fence`: where the first leaf is.
    ///
    /// # Errors
    /// When a leaf that was passed has changed.
    fn pass<T: Take>(
        &self,
        (from, direction): (Bound<&[u8]>, Direction),
        mut toward: Toward,
        fence: &mut Vec<u8>,
        (key, take): (&mut Vec<u8>, &mut T),
    ) -> Result<Option<T::Value>, ()> {
        let mut passed: Vec<(NodeRef, Version)> = Vec::new();
        let mut next = Vec::new();
        loop {
            let start = self.start_near(fence, toward);
            let (seen, node, version) = self.read_leaf(start.leaf, (fence, toward), |(_, leaf)| {
                look(leaf, (from, direction), (key, &mut next), take)
            });
            if toward == Toward::Key {
                self.settle(start, fence, node, (Aim::Find, false));
            }
            if seen.value.is_some() || !seen.goes_on {
                let still = |&(node, version): &(NodeRef, Version)| self.at(node).1.latch().validate(version);
                return if passed.iter().all(still) { Ok(seen.value) } else { Err(()) };
            }
            passed.push((node, version.ok_or(())?));
            core::mem::swap(fence, &mut next);
            toward = if direction == Direction::Forward { Toward::Key } else { Toward::Before };
        }
    }

    /// Removes the first or the last entry, in one atomic step, and makes `key` its key; `take` takes its
    /// value.
    pub fn pop<T: Take>(&self, end: Direction, key: &mut Vec<u8>, take: &mut T) -> Option<T::Value> {
        let mut fence = Vec::new();
        let mut toward = if end == Direction::Forward { Toward::Key } else { Toward::Last };
        loop {
            let mut latched = self.latch_to_the_end(&fence, toward, end)?;
            let has_entries = |(at, _): &Held<'_>| at.1.shape().len() > 0;
            let found = match end {
                Direction::Forward => latched.iter().position(has_entries),
                Direction::Reverse => latched.iter().rposition(has_entries),
            };
            if let Some(found) = found {
                let (at, mut held) = latched.swap_remove(found);
                let (leaf, shape) = (at.1, at.1.shape());
                let at = if end == Direction::Forward { 0 } else { shape.len() - 1 };
                let value = take.take_latched(leaf, shape, at);
                whole_key(leaf, at, key);
                held.changing();
                let before = taken(leaf);
                let long = leaf.remove::<Scalar>(at);
                let is_small = Self::invites_a_merge(before, leaf);
                drop((held, latched));
                self.entries.add(-1);
                take.take_the_rest(&self.long);
                if self.listing.is_in_use() {
                    let hash = self.hash(key);
                    self.listing.note_change(hash..=hash);
                }
                self.follow_up(key, long, is_small);
                return Some(value);
            }
            // All of these are empty: further to the left, if there is anything.
            let first = latched.first()?.0.1;
            fence.clear();
            first.low_to(&mut fence);
            if end == Direction::Forward || fence.is_empty() {
                return None;
            }
            toward = Toward::Before;
        }
    }

    /// Latches the leaf at a fence and those after it: up to the first that has entries, or all.
    fn latch_to_the_end(&self, fence: &[u8], toward: Toward, end: Direction) -> Option<Vec<Held<'_>>> {
        loop {
            let mut latched = Vec::with_capacity(8);
            let mut node = self.descend::<Scalar>(0, fence, toward)?;
            loop {
                let leaf = self.latch(self.at(node));
                let view = leaf.0.1;
                let shape = view.shape();
                if latched.is_empty() && view.side_toward(fence, toward) != super::node::Side::Here {
                    break;
                }
                latched.push(leaf);
                let is_enough = end == Direction::Forward && shape.len() > 0;
                if is_enough || shape.has(Shape::NO_HIGH) {
                    return Some(latched);
                }
                node = view.link();
            }
        }
    }
}

/// Where a search begins; sets `fence` to the key that leads there. None: there is nothing.
fn start(from: Bound<&[u8]>, direction: Direction, fence: &mut Vec<u8>) -> Option<Toward> {
    fence.clear();
    if let Bound::Included(key) | Bound::Excluded(key) = from {
        fence.extend_from_slice(key);
    }
    match (direction, from) {
        (Direction::Forward, _) | (Direction::Reverse, Bound::Included(_)) => Some(Toward::Key),
        (Direction::Reverse, Bound::Unbounded) => Some(Toward::Last),
        (Direction::Reverse, Bound::Excluded(key)) => (!key.is_empty()).then_some(Toward::Before),
    }
}

/// Makes `key` that of an entry.
pub(super) fn whole_key<W: Words>(leaf: Node<'_, W>, at: usize, key: &mut Vec<u8>) {
    let shape = leaf.shape();
    key.clear();
    leaf.low_to(key);
    key.truncate(shape.prefix());
    leaf.key_to(shape, at, key);
}

/// The nearest entry that a leaf has, whose key `key` becomes; and its fence in the search's direction.
pub(super) fn look<W: Words, T: Take>(
    leaf: Node<'_, W>,
    (from, direction): (Bound<&[u8]>, Direction),
    (key, fence): (&mut Vec<u8>, &mut Vec<u8>),
    take: &mut T,
) -> Seen<T::Value> {
    let shape = leaf.shape();
    let at = match (direction, from) {
        (Direction::Forward, Bound::Unbounded) => Some(0),
        (Direction::Forward, Bound::Included(key)) => Some(first_from(leaf, key, false)),
        (Direction::Forward, Bound::Excluded(key)) => Some(first_from(leaf, key, true)),
        (Direction::Reverse, Bound::Unbounded) => shape.len().checked_sub(1),
        (Direction::Reverse, Bound::Included(key)) => first_from(leaf, key, true).checked_sub(1),
        (Direction::Reverse, Bound::Excluded(key)) => first_from(leaf, key, false).checked_sub(1),
    };
    if let Some(at) = at.filter(|&at| at < shape.len()) {
        whole_key(leaf, at, key);
        return Seen { value: Some(take.take(leaf, shape, at)), goes_on: false };
    }
    fence.clear();
    let goes_on = match direction {
        Direction::Forward => leaf.high_to(fence),
        Direction::Reverse => {
            leaf.low_to(fence);
            !fence.is_empty()
        }
    };
    Seen { value: None, goes_on }
}

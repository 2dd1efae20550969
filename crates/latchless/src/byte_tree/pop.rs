//! Removing the first or the last entry.
//!
//! A removal latches the leaves from its start to its answer, from left to right, so that nothing comes in
//! there that would have been the answer.

use super::key_room::KeyRoom;
use super::merge::taken;
use super::node::{Side, Toward};
use super::shape::Shape;
use super::tree::{ByteTree, Held};
use super::values::Take;
use latchless_core::base::index::Direction;
use latchless_core::search::Scalar;

impl ByteTree {
    /// Removes the first or the last entry, in one atomic step, and makes `key` its key; `take` takes its
    /// value.
    pub fn pop<T: Take>(&self, end: Direction, key: &mut KeyRoom, take: &mut T) -> Option<T::Value> {
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
                key.read(leaf, shape, at);
                held.changing();
                let before = taken(leaf);
                let long = leaf.remove::<Scalar>(at);
                let is_small = Self::invites_a_merge(before, leaf);
                drop((held, latched));
                self.entries.add(-1);
                take.take_the_rest(&self.long);
                if self.listing.is_in_use() {
                    let hash = self.hash(key.bytes());
                    self.listing.note_change(hash..=hash);
                }
                self.follow_up(key.bytes(), long, is_small);
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
                if latched.is_empty() && view.side_toward(fence, toward) != Side::Here {
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

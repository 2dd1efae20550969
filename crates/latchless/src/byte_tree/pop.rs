//! Removing the first or the last entry.
//!
//! A removal latches the leaves from its start to its answer, from left to right, so that no key can be
//! inserted there that would have been the answer.

use super::edit::follow_up;
use super::key_room::{Few, KeyRoom};
use super::merge::{invites_a_merge, taken};
use super::node::Toward;
use super::shape::Shape;
use super::store::{Held, Store};
use super::take::Take;
use super::tree::ByteTree;
use crate::blink;
use crate::blink::{Levels, Side};
use latchless_core::base::index::Direction;
use latchless_core::search::Scalar;

impl ByteTree {
    /// Removes the first or the last entry, in one atomic step, and makes `key` its key; `take` takes its
    /// value.
    pub fn pop<T: Take>(&self, end: Direction, key: &mut KeyRoom, take: &mut T) -> Option<T::Value> {
        let mut fence = KeyRoom::default();
        let mut toward = if end == Direction::Forward { Toward::Key } else { Toward::Last };
        loop {
            let mut latched = Few::default();
            latch_to_the_end(&self.store, fence.bytes(), toward, end, &mut latched)?;
            // Forwards, leaves are latched up to the first that has any.
            if let Some((at, mut held)) = latched.take_last(|(at, _): &Held<'_>| at.1.shape().len() > 0) {
                let (leaf, shape) = (at.1, at.1.shape());
                let at = if end == Direction::Forward { 0 } else { shape.len() - 1 };
                let value = take.take_latched(leaf, shape, at);
                key.read(leaf, shape, at);
                held.changing();
                let before = taken(leaf);
                let long = leaf.remove::<Scalar>(at);
                let is_small = invites_a_merge(before, leaf);
                drop((held, latched));
                self.store.counts().count_entries::<blink::Shared>(-1);
                take.take_the_rest(self.store.long());
                if self.listing.is_in_use() {
                    let hash = self.store.hash(key.bytes());
                    self.listing.note_change(hash..=hash);
                }
                follow_up(self, key.bytes(), long, is_small);
                return Some(value);
            }
            // All of these are empty: further to the left, if there is anything.
            let (first, _) = latched.iter().next()?;
            let goes_on = fence.read_low(first.1);
            if end == Direction::Forward || !goes_on {
                return None;
            }
            toward = Toward::Before;
        }
    }
}

/// Latches the leaf at a fence and those after it: up to the first that has entries, or all.
fn latch_to_the_end<'a>(
    store: &'a Store,
    fence: &[u8],
    toward: Toward,
    end: Direction,
    latched: &mut Few<Held<'a>>,
) -> Option<()> {
    let mut leaf = loop {
        let leaf = store.latch(store.at(store.descend::<Scalar>(0, fence, toward)?));
        if leaf.0.1.side_toward(fence, toward) == Side::Here {
            break leaf;
        }
    };
    loop {
        let view = leaf.0.1;
        let shape = view.shape();
        latched.push(leaf);
        let is_enough = end == Direction::Forward && shape.len() > 0;
        if is_enough || shape.has(Shape::NO_HIGH) {
            return Some(());
        }
        leaf = store.latch(store.at(view.link()));
    }
}

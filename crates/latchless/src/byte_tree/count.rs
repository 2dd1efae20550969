//! Counting: how many keys a range has, and which entries are at given positions.
//!
//! A leaf that is passed is counted by its header: of its entries, only the first head is read. The next leaf
//! begins at the fence where the one before it ended, so a key that is there throughout counts exactly once,
//! however leaves change meanwhile.

use super::change::Shared;
use super::finder::{Start, StartBy};
use super::key_room::KeyRoom;
use super::leaf_copy::{Bounds, first_from};
use super::node::{Target, Toward};
use super::shape::Shape;
use super::take::Take;
use super::tree::ByteTree;
use core::ops::{Bound, Range};
use latchless_core::mem::node_ref::NodeRef;

impl ByteTree {
    /// How many keys a range has. O(log n), and O(1) for each of its leaves.
    pub fn count(&self, bounds: Bounds<'_>) -> usize {
        let (mut leaves, mut count) = (Leaves::of(self, bounds), 0);
        while let Some(own) = leaves.next(|_, _, within| within.len()) {
            count += own;
        }
        count
    }

    /// The entry before which there are `position` others. Makes `key` its key; `take` takes its value. O(1)
    /// for each leaf up to it.
    pub fn nth<T: Take>(&self, position: usize, key: &mut KeyRoom, take: &mut T) -> Option<T::Value> {
        let (mut leaves, mut left) = (Leaves::of(self, Bounds::ALL), position);
        loop {
            let (count, found) = leaves.next(|leaf, shape, within| {
                let found = (left < within.len()).then(|| {
                    key.read(leaf, shape, within.start + left);
                    take.take(leaf, shape, within.start + left)
                });
                (within.len(), found)
            })?;
            if found.is_some() {
                return found;
            }
            left -= count;
        }
    }

    /// Shows the first keys of the parts, but for the first one, if the keys are partitioned into `parts`
    /// parts of about equal size. They ascend. O(1) for each leaf.
    pub fn split_points(&self, parts: usize, mut see: impl FnMut(&[u8])) {
        let len = self.count(Bounds::ALL);
        let parts = parts.min(len);
        let start = |part: usize| (part as u128 * len as u128 / parts as u128) as usize;
        let (mut leaves, mut before, mut part) = (Leaves::of(self, Bounds::ALL), 0, 1);
        let (mut keys, mut key) = (Vec::new(), KeyRoom::default());
        while part < parts {
            let count = leaves.next(|leaf, shape, within| {
                keys.clear();
                let places = (part..parts).map(|part| start(part) - before);
                for place in places.take_while(|&place| place < within.len()) {
                    key.read(leaf, shape, within.start + place);
                    keys.push(key.bytes().to_vec());
                }
                within.len()
            });
            // Keys may have been removed since they were counted.
            let Some(count) = count else { return };
            keys.iter().for_each(|key| see(key));
            (part, before) = (part + keys.len(), before + count);
        }
    }
}

/// The leaves of a range, one by one.
struct Leaves<'a, 'k> {
    tree: &'a ByteTree,
    bounds: Bounds<'k>,
    /// Where the next leaf begins, and the node that it is likely to be; before the first one, nothing.
    next: Option<NodeRef>,
    fence: KeyRoom,
    /// Buffer for the fence after that.
    behind: KeyRoom,
    is_over: bool,
}

impl<'a, 'k> Leaves<'a, 'k> {
    fn of(tree: &'a ByteTree, bounds: Bounds<'k>) -> Self {
        let [fence, behind] = [(); 2].map(|()| KeyRoom::default());
        Self { tree, bounds, next: None, fence, behind, is_over: false }
    }

    /// Reads the next leaf. The result of `read`, which gets the leaf and its entries in the range, counts
    /// only if the leaf didn't change meanwhile: it may run several times, and must cope with any words.
    #[inline]
    fn next<R>(&mut self, mut read: impl FnMut(Shared<'_>, Shape, Range<usize>) -> R) -> Option<R> {
        if self.is_over {
            return None;
        }
        let (bounds, behind) = (self.bounds, &mut self.behind);
        let ByteTree { store, finder, .. } = self.tree;
        let first = match bounds.low {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        };
        let (key, start) = match self.next {
            Some(node) => (self.fence.bytes(), Start::new(node, StartBy::Descent)),
            None => (first, finder.start_near(store, first, Toward::Key)),
        };
        let is_after = self.next.is_none() && matches!(bounds.low, Bound::Excluded(_));
        let ((answer, goes_on, link), node, _) =
            store.read_leaf(start.leaf, Target::key(key), |(_, leaf)| {
                let shape = leaf.shape();
                let has_high = behind.read_high(leaf);
                // What a range goes on in usually begins where it goes on.
                let from =
                    if !is_after && leaf.begins_from(key) { 0 } else { first_from(leaf, key, is_after) };
                let (to, goes_on) = match bounds.high {
                    Bound::Unbounded => (shape.len(), has_high),
                    Bound::Included(end) | Bound::Excluded(end) => {
                        let is_included = matches!(bounds.high, Bound::Included(_));
                        let is_behind = has_high && behind.bytes() <= end;
                        let to = if is_behind { shape.len() } else { first_from(leaf, end, is_included) };
                        (to, is_behind && (is_included || behind.bytes() != end))
                    }
                };
                (read(leaf, shape, from..to.max(from)), goes_on, leaf.link())
            });
        if self.next.is_none() {
            finder.settle(store, start, key, node);
        }
        if goes_on {
            store.prefetch().header(link);
        }
        core::mem::swap(&mut self.fence, &mut self.behind);
        (self.next, self.is_over) = (Some(link), !goes_on);
        Some(answer)
    }
}

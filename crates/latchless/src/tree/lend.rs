//! Sibling redistribution: lending entries to the right neighbour instead of splitting.
//!
//! A full leaf next to one that is little more than half full needs no third one: half of the difference is
//! moved over. That costs as much as a split and frees as much room, but takes no memory: leaves are a
//! twentieth fuller.

use super::blink::BlinkTree;
use super::store::{Latched, Store};
use crate::blink::{Held, Mode};
use crate::node::operation::{Operation, Search};
use crate::node::{self, FullLeaf, Leaf, LeafEditor};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// Prefetches what decides whether the right neighbour of a leaf can be lent entries.
#[inline(always)]
pub(super) fn ask_for_neighbour<B: Bits>(store: &Store<B>, leaf: Leaf<'_, B>) {
    let right = leaf.link();
    if !right.is_nil() {
        prefetch_read(store.arena().address(right));
    }
}

/// Moves entries of a latched, full leaf to its right neighbour, if that has the same parent and room to
/// spare. Returns the one to which `key` belongs then.
///
/// # Errors
/// The latch, if nothing was moved.
pub(super) fn lend<'a, B: Bits, M: Mode>(
    tree: &'a BlinkTree<B>,
    full: Latched<'a, M>,
    key: B,
) -> Result<NodeRef, M::Held<'a>> {
    let (store, finder) = (tree.store(), tree.finder());
    let (at, mut left_held) = full;
    let left = at.node;
    let right = store.leaf(left).link();
    // A first check, without its latch.
    if right.is_nil() || store.leaf(right).len() > Leaf::<B>::LENT_MAX {
        return Err(left_held);
    }
    let address = store.arena().address(right);
    (1..node::LINES).for_each(|line| prefetch_read(node::line_address(address, line)));
    let (_, mut right_held) = store.latch::<M>(right);
    let (low, (old, high)) = (store.leaf(left).low(), store.fences(0, right));
    if store.leaf(right).len() > Leaf::<B>::LENT_MAX {
        return Err(left_held);
    }
    let Some((parent, mut parent_held)) = finder.latch_covering::<M>(1, low) else {
        return Err(left_held);
    };
    if parent.fences::<B>(1).1 < high {
        return Err(left_held);
    }
    left_held.changing();
    right_held.changing();
    parent_held.changing();
    let leaves = [store.leaf(left), store.leaf(right)];
    tree.ranks().outdate_both(leaves, [&mut left_held, &mut right_held]);
    let separator = store.run(Lend { from: leaves[0], to: leaves[1] });
    let named = parent.inner::<B>().lower_separator::<Scalar>(old, separator);
    debug_assert!(named, "a parent names its child at the low fence");
    finder.name_leaf(left, low, before(separator));
    finder.name_leaf(right, separator, high);
    Ok(if key < separator { left } else { right })
}

/// The part that moves entries is compiled for each kernel; the rest isn't.
struct Lend<'a, B> {
    from: Leaf<'a, B>,
    to: Leaf<'a, B>,
}

impl<B: Bits> Operation for Lend<'_, B> {
    type Output = B;

    #[inline(always)]
    fn run<S: Search>(self) -> B {
        FullLeaf(self.from).lend_to::<S>(LeafEditor(self.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{BlinkOptions, Edit, Shared};

    fn lends<B: Bits>() {
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let tree = BlinkTree::<B>::new(options).unwrap();
        let capacity = Leaf::<B>::CAPACITY as u64;
        let put = |key: u64| {
            let key = B::truncate(key);
            assert!(tree.edit::<Shared>(key, Edit::Put(key)).unwrap().applied);
        };
        // Descending keys leave full leaves to the right of a new one; the last of those is thinned out.
        (1..=2 * capacity).rev().for_each(|i| put(1000 * i));
        let stats = tree.stats();
        for i in (1..capacity).filter(|i| i % 2 == 0) {
            tree.edit::<Shared>(B::truncate(1000 * (capacity + i)), Edit::Remove).unwrap();
        }
        assert_eq!(tree.stats().leaves, stats.leaves, "nothing was merged");
        // The leaf to its left is full: each of these has to be inserted there.
        let full = 1000 * capacity;
        (1..=capacity / 8).for_each(|i| put(full - 500 + i));
        assert_eq!((tree.stats().leaves, tree.stats().splits), (stats.leaves, stats.splits));
        tree.check_invariants().unwrap();
        for i in 1..=2 * capacity {
            let key = B::truncate(1000 * i);
            let removed = i > capacity && i < 2 * capacity && (i - capacity).is_multiple_of(2);
            assert_eq!(tree.get::<Shared>(key), (!removed).then_some(key), "key {key:?}");
        }
        // Once both are full there is no neighbour to lend to.
        (0..2 * capacity).for_each(|i| put(full + 1 + i));
        assert!(tree.stats().leaves > stats.leaves);
        tree.check_invariants().unwrap();
    }

    #[test]
    fn a_full_leaf_lends_to_a_half_empty_neighbour() {
        lends::<u64>();
        lends::<u32>();
    }
}

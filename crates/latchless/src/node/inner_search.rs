//! Searching an inner node: the hints name a block, and its separators the child.
//!
//! Where many separators cluster, as those of one user's items do, hints have two fields (see `fields.rs`).
//! Such hints are in order for the separators, but may name any block for a key that agrees with none of
//! them in the bits between the fields. So a search also compares the key with the first separators of the
//! named block and of the next one.
//!
//! A search with a predicted block ([`Inner::child_near`]) uses no hints.

use super::hints::{NO_BLOCK, Shape, block, block_hint, first_tied, is_tied, named_block, prefetch_tied};
use super::inner::Inner;
use super::lane;
use super::lines::Lines;
use core::hint::select_unpredictable;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{prefetch_read, prefetch_read_later};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

impl<'a, B: Bits> Inner<'a, B> {
    /// Returns the child that `key` belongs to. Without validation it may be another one, of the same level.
    #[inline(always)]
    pub fn child<S: Lines>(self, key: B) -> NodeRef {
        self.child_in::<S>(self.named_block::<S>(key), key)
    }

    /// Returns the block that the hints name for `key`: the one with its child, if hints have one field.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        let shape = Shape::<B>::of(self.node);
        let hint = self.hint(shape, key);
        let at = named_block::<S>(self.node, hint);
        if is_tied(self.node, at, hint) { self.untie::<S>(shape, at, hint, key) } else { at }
    }

    /// Returns the block that has the child for `key`, of those up to block `at` that have the same hint:
    /// the last one that begins with the key or before it.
    #[inline(always)]
    fn untie<S: Lines>(self, shape: Shape<B>, mut at: usize, hint: u16, key: B) -> usize {
        prefetch_tied::<S>(self.node, at, hint);
        let first = first_tied::<S>(self.node, hint);
        while at > first && (shape.count(at) == 0 || self.first_of(at) > key) {
            at -= 1;
        }
        at
    }

    /// Returns the first separator of a block.
    #[inline(always)]
    fn first_of(self, at: usize) -> B {
        lane(block(self.node, at), 0)
    }

    /// Returns the block that has the child for `key`. `named` is the one that the hints name.
    #[inline(always)]
    fn settle(self, named: usize, key: B) -> usize {
        if Shape::<B>::of(self.node).has_one_field() {
            return named;
        }
        let begins = named == 0 || self.first_of(named) <= key;
        let is_last = named + 1 >= Self::BLOCKS || block_hint(self.node, named + 1) == NO_BLOCK;
        if begins && (is_last || key < self.first_of(named + 1)) { named } else { self.compare_all(key) }
    }

    /// Returns the block that has the child for `key`, without using hints.
    #[cold]
    #[inline(never)]
    fn compare_all(self, key: B) -> usize {
        let shape = Shape::<B>::of(self.node);
        let begins = |&at: &usize| shape.count(at) > 0 && self.first_of(at) <= key;
        (1..Self::BLOCKS).rev().find(begins).unwrap_or(0)
    }

    /// Returns the block that has the child for `key`.
    #[inline(always)]
    pub fn block_for<S: Lines>(self, key: B) -> usize {
        self.settle(self.named_block::<S>(key), key)
    }

    /// Returns the block that the hints name for `key`, on a tie the rightmost one. Prefetches what
    /// [`Inner::child_in`] reads of it, and the blocks that are tied with it.
    #[inline(always)]
    pub fn ask_for_named<S: Lines>(self, key: B) -> usize {
        let shape = Shape::<B>::of(self.node);
        let hint = self.hint(shape, key);
        let at = named_block::<S>(self.node, hint);
        let address = |at: usize| core::ptr::from_ref(block(self.node, at)).cast();
        prefetch_read_later(address(at));
        if !shape.has_one_field() {
            prefetch_read_later(address(at + 1));
        }
        if is_tied(self.node, at, hint) {
            prefetch_tied::<Scalar>(self.node, at, hint);
        }
        at
    }

    /// Returns the lines that a search reads which begins in block `at` or the one after it.
    #[inline(always)]
    pub fn likely_lines(at: usize) -> [usize; 3] {
        [0, at + 1, at + 2]
    }

    /// Returns the child that `key` belongs to, for which the hints named block `at`.
    #[inline(always)]
    pub fn child_in<S: Lines>(self, at: usize, key: B) -> NodeRef {
        let at = self.settle(at, key);
        let up_to = S::separators_up_to(block(self.node, at), key);
        if up_to == 0 { self.child_left(at, key) } else { self.node_at(at, up_to - 1) }
    }

    /// Returns the child that `key` belongs to, and the key's place between the child's fences, in
    /// sixteenths.
    #[inline(always)]
    pub fn child_and_share<S: Lines>(self, key: B) -> (NodeRef, usize) {
        let at = self.block_for::<S>(key);
        let line = block(self.node, at);
        let up_to = S::separators_up_to(line, key);
        if up_to == 0 {
            return (self.child_left(at, key), 0);
        }
        // The child ends where the next one begins: in this block or at the front of the next. After the
        // last child of all there is something else; then the share is wrong, which is harmless.
        let ends_block = up_to >= Shape::<B>::of(self.node).count(at);
        let next_line = select_unpredictable(ends_block, block(self.node, at + 1), line);
        let next = lane::<B>(next_line, select_unpredictable(ends_block, 0, up_to)).to_u64();
        let low = lane::<B>(line, up_to - 1).to_u64();
        (self.node_at(at, up_to - 1), sixteenth_between(low, next, key.to_u64()))
    }

    /// Finds the child and the key's place by the first separators of a few blocks from block `from` on,
    /// without using hints. Returns `None` if the child isn't in one of these blocks. See
    /// [`Inner::child_and_share`].
    ///
    /// Only the branch on whether the child is there can be mispredicted.
    #[inline(always)]
    #[allow(clippy::unnecessary_min_or_max, reason = "it changes nothing in small nodes alone")]
    pub fn child_near<S: Lines>(self, from: usize, key: B) -> Option<(NodeRef, usize)> {
        let from = from.min(Self::BLOCKS - Self::NEAR);
        for near in 0..Self::NEAR {
            prefetch_read(core::ptr::from_ref(block(self.node, from + near)).cast());
        }
        let (mut at, mut step) = (from, Self::NEAR / 2);
        while step > 0 {
            at += step * usize::from(self.first_of(at + step) <= key);
            step /= 2;
        }
        let line = block(self.node, at);
        let (up_to, behind) = (S::separators_up_to(line, key), self.first_of(at + 1));
        if (up_to == 0) | (key >= behind) {
            return None;
        }
        let last = up_to - 1;
        let low = lane::<B>(line, last).to_u64();
        let next = select_unpredictable(up_to < Self::WIDTH, lane::<B>(line, up_to).min(behind), behind);
        Some((self.node_at(at, last), sixteenth_between(low, next.to_u64(), key.to_u64())))
    }

    /// Finds the child to the left of block `at`.
    #[cold]
    #[inline(never)]
    fn child_left(self, mut at: usize, key: B) -> NodeRef {
        let shape = Shape::<B>::of(self.node);
        while at > 0 {
            at -= 1;
            let up_to = Scalar::separators_up_to(block(self.node, at), key);
            if up_to > 0 && shape.count(at) > 0 {
                return self.node_at(at, up_to - 1);
            }
        }
        self.node_at(0, 0)
    }
}

/// Returns the sixteenth of the way from `low` to `next` in which `key` lies; arbitrary if it doesn't lie
/// between them.
#[inline(always)]
fn sixteenth_between(low: u64, next: u64, key: u64) -> usize {
    let (inside, width) = (key.wrapping_sub(low), next.wrapping_sub(low));
    // Short numbers: otherwise a branch would choose between a long division and a short one.
    let shift = (width | 1).leading_zeros();
    let (inside, width) = ((inside << shift >> 48) as u32, (width << shift >> 48) as u32);
    ((inside << 4) / (width | 1)) as usize & 15
}

//! Hinted nodes: sixteen cache lines of which a search reads two.
//!
//! A wide node makes a tree low, but reading all of its lines makes a lookup wait for memory
//! bandwidth. Here the first line tells which one of the others to read: for each block it has a
//! *hint*, the leading bits of the block's first key.
//!
//! | line | leaf | inner node |
//! |---|---|---|
//! | 0 | latch, shape, low fence, high fence, link, 14 hints | latch, shape, base, –, link, 14 hints |
//! | 1–14 | blocks of keys and their values | blocks of separators and their children |
//! | 15 | one block more | low fence, high fence |
//!
//! The *shape* is a word of sixteen nibbles: how many places of each block are taken, and, in the
//! highest one, how far hints are shifted. A key's hint is `(key - base) >> shift`, at most `0xFFFE`;
//! a leaf's base is its low fence. Blocks that are not in use have the hint `0xFFFF`, which no key
//! reaches. Different keys may have the same hint (a *tie*): a search that doesn't find its place in
//! the block that the hints name looks further left.
//!
//! # Thread safety
//! Words are atomics. Writers hold the node's latch; readers look without one. What a reader of a
//! leaf finds is worth something only if the leaf's version hasn't changed meanwhile. Inner nodes are
//! read without looking at their version (*blindly*): they can mislead a search to a wrong leaf, which
//! the leaf's fences show, and to nothing else, because
//!
//! # Invariants
//! 1. every child that an inner node names, whether in use, stale or padding, is a node of the level
//!    below;
//! 2. all keys of a leaf lie between its fences, both inclusive; a dead node's low fence is above its
//!    high fence;
//! 3. keys ascend from block to block and within a block;
//! 4. the hint of block `j` is at least that of all keys before the block, and at most that of all
//!    keys in it and behind;
//! 5. the places of an inner block that aren't in use repeat its last child, behind the largest lane; a
//!    search never ends in an empty block.

mod inner;
mod leaf;

use crate::base::key::Bits;
use crate::latch::OptimisticLatch;
use crate::mem::arena::NodeRef;
use crate::search::Lines;
use crate::sync::Line;

pub use inner::{Children, Inner};
pub use leaf::{Entries, Leaf, Place};

/// Cache lines in a node.
pub const LINES: usize = 16;
/// A node's lines.
pub type NodeLines = [Line; LINES];
/// More places than any node has.
pub const PLACES_MAX: usize = 128;

/// Words of the first line.
const LATCH: usize = 0;
const SHAPE: usize = 1;
const BASE: usize = 2;
const HIGH: usize = 3;
const LINK: usize = 4;

/// The hint of blocks that no key may be looked for in.
const NO_BLOCK: u16 = 0xFFFF;
/// The largest hint of a key.
const HINT_MAX: u64 = 0xFFFE;

/// The latch of a node of either kind.
#[inline(always)]
pub fn latch(node: &NodeLines) -> &OptimisticLatch {
    OptimisticLatch::of(&node[0][LATCH])
}

/// The next node to the right on the same level, if there is one.
#[inline(always)]
fn link(node: &NodeLines) -> NodeRef {
    NodeRef::from_word(node[0][LINK].follow() as u32)
}

fn set_link(node: &NodeLines, to: NodeRef) {
    let word = &node[0][LINK];
    word.publish(word.peek() & !0xFFFF_FFFF | u64::from(to.to_word()));
}

/// A node's shape: places taken by block, and the hints' shift. See the module's head.
#[derive(Debug, Clone, Copy)]
struct Shape(u64);

impl Shape {
    #[inline(always)]
    fn of(node: &NodeLines) -> Self {
        Self(node[0][SHAPE].peek())
    }

    /// Nothing in any block yet, and hints that tell keys up to `span` behind the base apart: the
    /// smallest shift by whole nibbles with which none of them is above the largest hint.
    fn for_span(span: u64) -> Self {
        let bits = u64::BITS - span.leading_zeros();
        let nibbles = bits.saturating_sub(16).div_ceil(4);
        Self(u64::from(nibbles + u32::from(span >> (4 * nibbles) > HINT_MAX)) << 60)
    }

    #[inline(always)]
    fn count(self, block: usize) -> usize {
        (self.0 >> (4 * block)) as usize & 15
    }

    /// Places taken in all blocks.
    #[inline(always)]
    fn total(self) -> usize {
        let nibbles = self.0 & !(15 << 60);
        let pairs = (nibbles & 0x0F0F_0F0F_0F0F_0F0F) + (nibbles >> 4 & 0x0F0F_0F0F_0F0F_0F0F);
        (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
    }

    fn set_count(&mut self, block: usize, count: usize) {
        self.0 = self.0 & !(15 << (4 * block)) | (count as u64) << (4 * block);
    }

    /// How far behind the base a key stands, in hints, unbounded.
    #[inline(always)]
    fn distance(self, key: u64, base: u64) -> u64 {
        key.saturating_sub(base) >> ((self.0 >> 58) & 60)
    }

    #[inline(always)]
    fn hint(self, key: u64, base: u64) -> u16 {
        self.distance(key, base).min(HINT_MAX) as u16
    }
}

/// The block that the hints name for `key`, and the key's hint. On a tie the rightmost one.
#[inline(always)]
fn named_block<S: Lines, B: Bits>(node: &NodeLines, shape: Shape, key: B) -> (usize, u16) {
    let hint = shape.hint(key.to_u64(), node[0][BASE].peek());
    // Fourteen hints, so at most fourteen: the mask only tells the compiler.
    (S::hints_up_to(&node[0], hint) & 15, hint)
}

/// The line of a block.
#[inline(always)]
fn block(node: &NodeLines, at: usize) -> &Line {
    &node[(at + 1) % LINES]
}

/// The hint of block `at`, which isn't the first.
fn block_hint(node: &NodeLines, at: usize) -> u16 {
    let lane = at + 1;
    (node[0][LINK + lane / 4].peek() >> (lane % 4 * 16)) as u16
}

fn set_block_hint(node: &NodeLines, at: usize, hint: u16) {
    let lane = at + 1;
    let (word, shift) = (&node[0][LINK + lane / 4], lane % 4 * 16);
    word.poke(word.peek() & !(0xFFFF << shift) | u64::from(hint) << shift);
}

/// Lane `at` of a line of such lanes.
#[inline(always)]
fn lane<B: Bits>(line: &Line, at: usize) -> B {
    let per_word = 8 / B::BYTES;
    // A line has eight words: the mask only tells the compiler.
    B::truncate(line[at / per_word & 7].peek() >> (at % per_word * B::BYTES * 8))
}

/// Sets lane `at` of a line of such lanes.
#[inline(always)]
fn set_lane<B: Bits>(line: &Line, at: usize, to: B) {
    let per_word = 8 / B::BYTES;
    let word = &line[at / per_word & 7];
    if B::BYTES == 8 {
        return word.poke(to.to_u64());
    }
    let shift = at % per_word * B::BYTES * 8;
    let others = word.peek() & !(B::MAX.to_u64() << shift);
    word.poke(others | to.to_u64() << shift);
}

#[cfg(test)]
mod tests;

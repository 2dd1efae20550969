//! Hinted nodes: sixteen cache lines of which a search reads two.
//!
//! A wide node makes a tree shallow, but reading all of its lines makes a lookup wait for memory bandwidth.
//! Here the first line determines which other one to read: for each block it has a *hint*, the leading bits
//! of the block's first key.
//!
//! | line | leaf | inner node |
//! |---|---|---|
//! | 0 | latch, shape, low fence, high fence, link, 14 hints | latch, shape, base, –, link, 14 hints |
//! | 1–14 | blocks of keys and their values | blocks of separators and their children |
//! | 15 | one block more | high fence, low fence |
//!
//! The *shape* is a word with the number of places in use in each block, and the form of hints. In an inner
//! node a key's hint is `(key - base) >> shift`, at most `0xFFFE`. In a leaf it counts from the low fence.
//! Hints of both may have a second field: bits of the key further down, which distinguish the keys of a run
//! (see `fields.rs`). In a leaf whose keys cluster on more scales, hints are made only of the bits in which
//! neighbours differ (see `picks.rs`). Unused blocks have the hint `0xFFFF`, which no key has. Different
//! keys may have the same hint (a *tie*): a search that doesn't find its key in the block that the hints
//! name looks further left. A leaf's shape says whether there may be ties.
//!
//! # Thread safety
//! Words are atomics. Writers hold the node's latch; readers take none. The result of reading a leaf is
//! valid only if the leaf's version hasn't changed meanwhile. Inner nodes are read without validation: they
//! can mislead a search to a wrong leaf, which the leaf's fences show, and to nothing else, because of the
//! first invariant.
//!
//! # Invariants
//! 1. Every child that an inner node names, whether in use, stale or padding, is a node of the level
//!    below.
//! 2. All keys of a leaf lie between its fences, both inclusive; a dead node's low fence is above its
//!    high fence.
//! 3. Keys ascend from block to block and within a block.
//! 4. The hint of a block is at least that of all keys before the block, and at most that of all keys in it
//!    and after it. In a leaf whose shape doesn't allow ties, it is above that of all keys before the block.
//! 5. The unused places of an inner block repeat its last child, with the largest lane as the separator. An
//!    empty block repeats the last child before it, separator and all, so a search may end in it; a search
//!    by hints never does.

mod chunk;
mod copies;
mod fields;
mod hints;
mod inner;
mod inner_search;
mod leaf;
mod leaf_editor;
mod leaf_ends;
mod leaf_nearest;
mod leaf_reader;
mod leaf_seek;
mod leaf_split;
mod leaf_update;
pub mod lines;
pub mod operation;
mod picks;
pub mod watch;

use latchless_core::base::key::Bits;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Line;

pub use chunk::{CHUNK, Chunk};
pub use copies::{Children, Entries};
pub use inner::Inner;
pub use leaf::{Leaf, Place};
pub use leaf_editor::LeafEditor;
pub use leaf_reader::LeafReader;
pub use leaf_seek::Seen;
pub use leaf_split::{Cut, FullLeaf, Right};

/// Cache lines in a node.
pub const LINES: usize = 16;
/// A node's lines.
pub type NodeLines = [Line; LINES];
/// The capacity of copies: the places of any node, one more, and a block after them.
pub const PLACES_MAX: usize = 144;

/// Blocks per node and places per block under `--cfg latchless_small_nodes`: so few that small trees have
/// many levels, and that a few steps split, merge and lend.
const FEW: Option<usize> = if cfg!(latchless_small_nodes) { Some(2) } else { None };

/// Returns `usual`, or few under `--cfg latchless_small_nodes`.
const fn or_few(usual: usize) -> usize {
    match FEW {
        Some(few) => few,
        None => usual,
    }
}

/// Words of the first line. The third is a leaf's low fence, or an inner node's base.
const LATCH: usize = 0;
const SHAPE: usize = 1;
const LOW: usize = 2;
const BASE: usize = 2;
const HIGH: usize = 3;
const LINK: usize = 4;

/// Returns the address of line `at` (modulo the lines of a node) of the node at this address, for a
/// prefetch.
#[inline(always)]
pub fn line_address(node: *const u8, at: usize) -> *const u8 {
    node.wrapping_add(at % LINES * LINE_BYTES)
}

#[inline(always)]
fn line(node: &NodeLines, at: usize) -> &Line {
    &node[at % LINES]
}

#[inline(always)]
fn header(node: &NodeLines) -> &Line {
    line(node, 0)
}

/// Returns the latch of a node of either kind.
#[inline(always)]
pub fn latch(node: &NodeLines) -> &OptimisticLatch {
    OptimisticLatch::of(&header(node)[LATCH])
}

/// Asserts that a node may be changed: its latch is held.
#[inline(always)]
fn assert_held(node: &NodeLines) {
    debug_assert!(latch(node).is_held(), "a node is changed whose latch nobody holds");
}

/// Asserts that a node may be written as a whole: its latch is held, or it isn't reachable because nothing
/// was ever written to it.
#[inline(always)]
fn assert_held_or_new(node: &NodeLines) {
    let word = |at: usize| header(node)[at].load_relaxed();
    debug_assert!(
        latch(node).is_held() || (word(SHAPE) == 0 && word(HIGH) == 0),
        "a node that is in use is written whole, and nobody holds its latch"
    );
}

/// Returns the next node to the right on the same level, if there is one.
#[inline(always)]
fn link(node: &NodeLines) -> NodeRef {
    NodeRef::from_word(header(node)[LINK].follow() as u32)
}

fn set_link(node: &NodeLines, to: NodeRef) {
    let word = &header(node)[LINK];
    word.publish(word.load_relaxed() & !0xFFFF_FFFF | u64::from(to.to_word()));
}

/// Returns lane `at` of a line of such lanes.
#[inline(always)]
fn lane<B: Bits>(line: &Line, at: usize) -> B {
    let per_word = 8 / B::BYTES;
    // A line has eight words: the mask is only for the compiler.
    B::truncate(line[(at / per_word) & 7].load_relaxed() >> (at % per_word * B::BYTES * 8))
}

/// Sets lane `at` of a line of such lanes.
#[inline(always)]
fn set_lane<B: Bits>(line: &Line, at: usize, to: B) {
    let per_word = 8 / B::BYTES;
    let word = &line[(at / per_word) & 7];
    if B::BYTES == 8 {
        return word.store_relaxed(to.to_u64());
    }
    let shift = at % per_word * B::BYTES * 8;
    let others = word.load_relaxed() & !(B::MAX.to_u64() << shift);
    word.store_relaxed(others | to.to_u64() << shift);
}

#[cfg(test)]
mod tests;

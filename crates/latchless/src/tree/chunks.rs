//! Range scans in chunks of a few entries, for iterators, whose users may stop at any entry.
//!
//! A [`Sweep`] copies whole leaves. Chunks copy a few lines of a leaf, and continue in the same leaf while
//! its version is unchanged. If it has changed, the position is looked up by its key.
//!
//! # Guarantees
//! Each chunk is of one moment and covers the keys from the end of the previous chunk up to its own last
//! key, or up to the leaf's fence if it includes the leaf's last block. So no key that stays is skipped,
//! none is returned twice, and keys ascend (or descend), whatever splits, merges or moves happen between two
//! chunks.

use super::blink::BlinkTree;
use super::store::At;
use super::sweep::{AHEAD_OF_CHUNKS, Depth, LINES_IN_FLIGHT, LINES_NEXT, Sweep, lines_of};
use crate::blink::Mode;
use crate::node::operation::{Operation, Search};
use crate::node::{Chunk, Leaf, LeafReader};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{before, behind};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;

/// The position of a scan in chunks. Holds no latch and borrows nothing.
#[derive(Debug, Clone)]
pub struct Chunks<B> {
    sweep: Sweep<B, AHEAD_OF_CHUNKS>,
    /// The leaf that is being read; nil before its first chunk.
    leaf: NodeRef,
    /// Its version.
    version: Option<Version>,
    /// Its first block that hasn't been read; in reverse, the one after the last that hasn't.
    block: usize,
    /// Whether the first chunk was requested.
    begun: bool,
}

/// The source of a chunk.
struct Read<B> {
    fences: (B, B),
    /// The next block; in reverse, the end of the remaining ones.
    block: usize,
}

impl<B: Bits> Chunks<B> {
    /// Creates a scan of the keys `low..=high`, which is empty if `low` is above `high`. `wanted` is the
    /// maximum number of entries, of which no more are shown.
    #[inline(always)]
    pub fn new(low: B, high: B, direction: Direction, wanted: usize) -> Self {
        let mut sweep = Sweep::with_room(low, high, direction, wanted);
        sweep.done |= wanted == 0;
        Self { sweep, leaf: NodeRef::NIL, version: None, block: 0, begun: false }
    }

    /// Returns the rest of the range after the chunks that were shown, both ends inclusive; `None` if
    /// nothing remains.
    #[inline(always)]
    pub fn remaining(&self) -> Option<(B, B)> {
        self.sweep.remaining()
    }

    /// Returns the rest of the range, or of the last chunk's range if nothing remains.
    #[inline(always)]
    pub fn whole(&self) -> (B, B) {
        (self.sweep.low, self.sweep.high)
    }

    /// Returns whether the first chunk was requested.
    #[inline(always)]
    pub fn begun(&self) -> bool {
        self.begun
    }

    /// Returns the maximum number of further entries.
    #[inline(always)]
    pub fn wanted(&self) -> usize {
        self.sweep.wanted()
    }

    /// Sets the maximum number of further entries.
    pub fn want(&mut self, entries: usize) {
        self.sweep.want(entries);
        self.sweep.done |= entries == 0;
    }

    /// Returns the direction of the scan.
    #[inline(always)]
    pub fn direction(&self) -> Direction {
        self.sweep.direction
    }

    /// Copies the next entries of the range, at least one, in ascending order for either direction. Returns
    /// `false` if the range has ended.
    #[inline]
    pub fn next<M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Chunk<B>) -> bool {
        if self.direction() == Direction::Forward {
            self.next_towards::<M, true>(tree, into)
        } else {
            self.next_towards::<M, false>(tree, into)
        }
    }

    #[inline(always)]
    fn next_towards<M: Mode, const FORWARD: bool>(
        &mut self,
        tree: &BlinkTree<B>,
        into: &mut Chunk<B>,
    ) -> bool {
        while !self.sweep.done {
            // Two pieces of code, so that the one for most chunks is short.
            let is_new = self.leaf.is_nil();
            let (chunks, mode) = (&mut *self, PhantomData::<M>);
            let found = if is_new {
                tree.store().run(FirstChunk::<_, _, FORWARD> { chunks, tree, into, mode })
            } else {
                tree.store().run(NextChunk::<_, _, FORWARD> { chunks, tree, into, mode })
            };
            if found {
                return true;
            }
        }
        into.clear();
        false
    }

    /// Estimates the length of the range.
    #[inline(always)]
    fn begin<const FORWARD: bool>(&mut self, tree: &BlinkTree<B>) {
        if !self.begun {
            self.begun = true;
            // The length of an open range isn't known.
            if self.sweep.high < B::MAX || !FORWARD {
                self.sweep.expect(tree.finder().about(self.sweep.low, self.sweep.high));
            }
        }
    }

    /// Reduces a chunk to the entries of the range, and returns whether any remain.
    #[inline(always)]
    fn show<const FORWARD: bool>(&mut self, read: Read<B>, into: &mut Chunk<B>) -> bool {
        self.pass::<FORWARD>(read, into);
        if into.front_len() == 0 {
            return false;
        }
        let wanted = self.sweep.wanted();
        if wanted <= into.front_len() {
            into.keep(wanted, self.sweep.direction);
            self.sweep.done = true;
        }
        self.sweep.shown(into.front_len());
        if !FORWARD {
            into.turn();
        }
        true
    }

    /// Reads the next chunk of the current leaf, unless the leaf has changed.
    #[inline(always)]
    fn go_on<S: Search, M: Mode, const FORWARD: bool>(
        &mut self,
        tree: &BlinkTree<B>,
        into: &mut Chunk<B>,
    ) -> Option<Read<B>> {
        // After a `clear` the node may be gone.
        let at = tree.store().find(self.leaf)?;
        self.ask::<FORWARD>(tree, at);
        let (read, key) = (Read::copy::<S, FORWARD>(at.leaf(), self.block, self.count(), into), self.key());
        let same = !M::SHARED || self.version.is_some_and(|version| at.latch().validate(version));
        if same & (read.fences.0 <= key) & (key <= read.fences.1) {
            return Some(read);
        }
        self.leaf = NodeRef::NIL;
        self.sweep.forget();
        None
    }

    /// Reads the first chunk of the next leaf.
    #[inline(always)]
    fn enter<S: Search, M: Mode, const FORWARD: bool>(
        &mut self,
        tree: &BlinkTree<B>,
        into: &mut Chunk<B>,
    ) -> Read<B> {
        let start = self.sweep.find::<S>(tree, Depth::Entries);
        let (key, count) = (self.key(), self.count());
        self.sweep.follow_link(start.leaf());
        // Forward, the lines from the key on were prefetched at the start of the range.
        self.block = if FORWARD { 0 } else { first_block::<S, B, FORWARD>(start.leaf(), key) };
        self.ask::<FORWARD>(tree, start);
        let (read, leaf, version) = self.sweep.read::<M, _>(
            tree,
            start,
            #[inline(always)]
            |leaf| {
                let mut read =
                    Read::copy::<S, FORWARD>(leaf, first_block::<S, B, FORWARD>(leaf, key), count, into);
                // Continues to a chunk that reaches the range, so that each visit of a leaf yields entries.
                while !read.ends_leaf::<FORWARD>() && !reaches::<B, FORWARD>(into, key) {
                    read = Read::copy::<S, FORWARD>(leaf, read.block, count, into);
                }
                read
            },
        );
        (self.leaf, self.version) = (leaf, version);
        read
    }

    /// Returns the key at which the range continues.
    #[inline(always)]
    fn key(&self) -> B {
        self.sweep.key()
    }

    /// Returns the maximum number of blocks to read: as many as the remaining entries may fill. A key isn't
    /// always in the block that its hint names, and a block is hardly ever empty.
    #[inline(always)]
    fn count(&self) -> usize {
        self.sweep.expected() / Leaf::<B>::PER_BLOCK + 2
    }

    /// Prefetches the lines that are read after this chunk.
    #[inline(always)]
    fn ask<const FORWARD: bool>(&mut self, tree: &BlinkTree<B>, at: At<'_>) {
        let window = if self.sweep.is_long() { LINES_IN_FLIGHT } else { LINES_NEXT };
        if FORWARD {
            let line = self.block + 1;
            self.sweep.ask(tree, line, line + window);
            return;
        }
        if self.sweep.expected() >= Leaf::<B>::CAPACITY {
            self.sweep.ask(tree, 0, LINES_IN_FLIGHT);
        }
        let lines = window.min(lines_of::<B>(self.sweep.expected())).min(self.block);
        (self.block - lines..self.block).for_each(|block| prefetch_read(at.line_address(block + 1)));
    }

    /// Moves past a chunk, and reduces it to the entries of the range.
    #[inline(always)]
    fn pass<const FORWARD: bool>(&mut self, read: Read<B>, chunk: &mut Chunk<B>) {
        let (low, high) = (self.sweep.low, self.sweep.high);
        if let Some((first, last)) = chunk.front_ends() {
            if FORWARD {
                (self.sweep.low, self.sweep.done) = (behind(last).max(low), last >= high);
            } else {
                (self.sweep.high, self.sweep.done) = (before(first).min(high), first <= low);
            }
            if first < low {
                chunk.trim_front(low);
            }
            if last > high {
                chunk.trim_back(high);
            }
        }
        self.block = read.block;
        if read.ends_leaf::<FORWARD>() {
            let done = self.sweep.done;
            self.leaf = NodeRef::NIL;
            self.sweep.advance(read.fences);
            self.sweep.done |= done;
        }
    }
}

/// Returns whether a chunk has entries at or after a key.
#[inline(always)]
fn reaches<B: Bits, const FORWARD: bool>(chunk: &Chunk<B>, key: B) -> bool {
    if FORWARD {
        chunk.front_ends().is_some_and(|(_, last)| last >= key)
    } else {
        chunk.front_ends().is_some_and(|(first, _)| first <= key)
    }
}

impl<B: Bits> Read<B> {
    /// Returns whether no block of the leaf remains.
    #[inline(always)]
    fn ends_leaf<const FORWARD: bool>(&self) -> bool {
        self.block == if FORWARD { Leaf::<B>::BLOCKS } else { 0 }
    }

    /// Copies a chunk of at most `count` blocks that begins at a block; in reverse, one that ends there.
    #[inline(always)]
    fn copy<S: Search, const FORWARD: bool>(
        leaf: Leaf<'_, B>,
        at: usize,
        count: usize,
        into: &mut Chunk<B>,
    ) -> Self {
        let block = if FORWARD {
            LeafReader(leaf).copy_chunk::<S>(at, count, into)
        } else {
            let count = count.min(LeafReader::<B>::CHUNK_BLOCKS).min(at);
            LeafReader(leaf).copy_chunk::<S>(at - count, count, into);
            at - count
        };
        Self { fences: leaf.fences(), block }
    }
}

/// Returns the block at which a range begins in a leaf; in reverse, the one after its last.
#[inline(always)]
fn first_block<S: Search, B: Bits, const FORWARD: bool>(leaf: Leaf<'_, B>, key: B) -> usize {
    if FORWARD {
        if leaf.low() < key { leaf.first_block::<S>(key) } else { 0 }
    } else if key < leaf.high() {
        leaf.last_block::<S>(key) + 1
    } else {
        Leaf::<B>::BLOCKS
    }
}

/// The first chunk of a leaf.
struct FirstChunk<'a, B, M, const FORWARD: bool> {
    chunks: &'a mut Chunks<B>,
    tree: &'a BlinkTree<B>,
    into: &'a mut Chunk<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, const FORWARD: bool> Operation for FirstChunk<'_, B, M, FORWARD> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        let Self { chunks, tree, into, .. } = self;
        chunks.begin::<FORWARD>(tree);
        let read = chunks.enter::<S, M, FORWARD>(tree, into);
        chunks.show::<FORWARD>(read, into)
    }
}

/// A further chunk of the same leaf.
struct NextChunk<'a, B, M, const FORWARD: bool> {
    chunks: &'a mut Chunks<B>,
    tree: &'a BlinkTree<B>,
    into: &'a mut Chunk<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, const FORWARD: bool> Operation for NextChunk<'_, B, M, FORWARD> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        let Self { chunks, tree, into, .. } = self;
        chunks.go_on::<S, M, FORWARD>(tree, into).is_some_and(|read| chunks.show::<FORWARD>(read, into))
    }
}

//! Going through a range a few entries at a time: what an iterator needs, whose user may stop at any entry.
//!
//! A [`Sweep`] copies whole leaves. Chunks copy a few lines of a leaf, and go on in the same leaf for as long
//! as its version is the same. When it isn't, they look up the key at which the range goes on.
//!
//! # What is sure
//! Each chunk is of one moment and covers the keys from where the chunk before ended up to its own last key,
//! or up to the leaf's fence if its last block is in it. So no key that stays is passed over, none comes
//! twice, and keys ascend (or descend), whatever splits, merges or moves happen between two chunks.

use super::sweep::{AHEAD_OF_CHUNKS, Depth, LINES_IN_FLIGHT, LINES_NEXT, lines_of};
use super::*;
use crate::node::Chunk;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;
use latchless_core::base::span::{before, behind};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read;

/// A place in a range that is gone through chunk by chunk. Holds no latch and borrows nothing.
#[derive(Debug, Clone)]
pub struct Chunks<B> {
    sweep: Sweep<B, AHEAD_OF_CHUNKS>,
    /// The leaf that is being read; nil before its first chunk.
    leaf: NodeRef,
    /// Its version.
    version: Option<Version>,
    /// Its first block that isn't read yet; in reverse, the one behind the last that isn't.
    block: usize,
    /// Whether a chunk was asked for.
    begun: bool,
}

/// What a chunk came from.
struct Read<B> {
    fences: (B, B),
    /// The next block; in reverse, the end of those that are left.
    block: usize,
}

impl<B: Bits> Chunks<B> {
    /// Chunks of the keys `low..=high`; none if `low` is above `high`. `wanted`: the most entries that will
    /// be wanted, of which no more are shown.
    #[inline(always)]
    pub fn new(low: B, high: B, direction: Direction, wanted: usize) -> Self {
        let mut sweep = Sweep::with_room(low, high, direction, wanted);
        sweep.done |= wanted == 0;
        Self { sweep, leaf: NodeRef::NIL, version: None, block: 0, begun: false }
    }

    /// What is left of the range behind the chunks that were shown, both ends inclusive; `None` when
    /// nothing is.
    #[inline(always)]
    pub fn remaining(&self) -> Option<(B, B)> {
        self.sweep.remaining()
    }

    /// What is left of the range, or what the last chunk left of it, in which nothing may be left.
    #[inline(always)]
    pub fn whole(&self) -> (B, B) {
        (self.sweep.low, self.sweep.high)
    }

    /// Whether a chunk was asked for.
    #[inline(always)]
    pub fn begun(&self) -> bool {
        self.begun
    }

    /// How many more entries can be wanted.
    #[inline(always)]
    pub fn wanted(&self) -> usize {
        self.sweep.wanted()
    }

    /// Sets how many more entries can be wanted.
    pub fn want(&mut self, entries: usize) {
        self.sweep.want(entries);
        self.sweep.done |= entries == 0;
    }

    /// Where the entries of the chunks go.
    #[inline(always)]
    pub fn direction(&self) -> Direction {
        self.sweep.direction
    }

    /// Copies the next entries of the range, at least one. They ascend, whatever the direction is. `false`:
    /// the range has ended.
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
                tree.dispatch.run(FirstChunk::<_, _, FORWARD> { chunks, tree, into, mode })
            } else {
                tree.dispatch.run(NextChunk::<_, _, FORWARD> { chunks, tree, into, mode })
            };
            if found {
                return true;
            }
        }
        into.clear();
        false
    }

    /// Finds out about how long the range is.
    #[inline(always)]
    fn begin<const FORWARD: bool>(&mut self, tree: &BlinkTree<B>) {
        if !self.begun {
            self.begun = true;
            // Where the range has no end, its length isn't known.
            if self.sweep.high < B::MAX || !FORWARD {
                self.sweep.expect(tree.about(self.sweep.low, self.sweep.high));
            }
        }
    }

    /// Leaves of a chunk what the range wants, and says whether that is anything.
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

    /// Reads the next chunk of the leaf that is being read, unless it has changed.
    #[inline(always)]
    fn go_on<S: Search, M: Mode, const FORWARD: bool>(
        &mut self,
        tree: &BlinkTree<B>,
        into: &mut Chunk<B>,
    ) -> Option<Read<B>> {
        // After a `clear` the node may be gone.
        let at = At { node: self.leaf, lines: tree.arena.find(self.leaf)? };
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
        // Forward, the lines from the key on were asked for already where the range begins.
        self.block = if FORWARD { 0 } else { first_block::<S, B, FORWARD>(start.leaf(), key) };
        self.ask::<FORWARD>(tree, start);
        let (read, leaf, version) = self.sweep.read::<M, _>(
            tree,
            start,
            #[inline(always)]
            |leaf| {
                let mut read =
                    Read::copy::<S, FORWARD>(leaf, first_block::<S, B, FORWARD>(leaf, key), count, into);
                // Goes on to a chunk that reaches the range, so that each look at a leaf comes to something.
                while !read.ends_leaf::<FORWARD>() && !reaches::<B, FORWARD>(into, key) {
                    read = Read::copy::<S, FORWARD>(leaf, read.block, count, into);
                }
                read
            },
        );
        (self.leaf, self.version) = (leaf, version);
        read
    }

    /// The key at which the range goes on.
    #[inline(always)]
    fn key(&self) -> B {
        self.sweep.key()
    }

    /// How many blocks to read at the most: as many as can be wanted. A key isn't always in the block that
    /// its hint names, and a block is hardly ever empty.
    #[inline(always)]
    fn count(&self) -> usize {
        self.sweep.expected() / Leaf::<B>::PER_BLOCK + 2
    }

    /// Asks for the lines that are read after this chunk.
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

    /// Goes on behind a chunk, of which it leaves what lies in the range.
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

/// Whether a chunk has entries at a key or behind it.
#[inline(always)]
fn reaches<B: Bits, const FORWARD: bool>(chunk: &Chunk<B>, key: B) -> bool {
    if FORWARD {
        chunk.front_ends().is_some_and(|(_, last)| last >= key)
    } else {
        chunk.front_ends().is_some_and(|(first, _)| first <= key)
    }
}

impl<B: Bits> Read<B> {
    /// Whether no block of the leaf is left.
    #[inline(always)]
    fn ends_leaf<const FORWARD: bool>(&self) -> bool {
        self.block == if FORWARD { Leaf::<B>::BLOCKS } else { 0 }
    }

    /// Copies a chunk of at most so many blocks that begins at a block; in reverse, one that ends there.
    #[inline(always)]
    fn copy<S: Search, const FORWARD: bool>(
        leaf: Leaf<'_, B>,
        at: usize,
        count: usize,
        into: &mut Chunk<B>,
    ) -> Self {
        let block = if FORWARD {
            leaf.copy_chunk::<S>(at, count, into)
        } else {
            let count = count.min(Leaf::<B>::CHUNK_BLOCKS).min(at);
            leaf.copy_chunk::<S>(at - count, count, into);
            at - count
        };
        Self { fences: leaf.fences(), block }
    }
}

/// The block at which a range begins in a leaf; in reverse, the one behind its last.
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

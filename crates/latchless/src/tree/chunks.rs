//! Going through a range a few entries at a time: what an iterator needs, whose user may stop at any entry.
//!
//! A [`Sweep`] copies whole leaves. Chunks copy a few lines of a leaf, and go on in the same leaf for as long
//! as its version is the same. When it isn't, they look up the key at which the range goes on.
//!
//! # What is sure
//! Each chunk is of one moment and covers the keys from where the chunk before ended up to its own last key,
//! or up to the leaf's fence if its last block is in it. So no key that stays is passed over, none comes
//! twice, and keys ascend (or descend), whatever splits, merges or moves happen between two chunks.

use super::sweep::{Depth, LINES_IN_FLIGHT};
use super::*;
use crate::node::Chunk;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;
use latchless_core::base::span::{before, behind};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read;

/// Lines that are on their way before the first chunk is read; as many more as were read, later.
const LINES_AT_FIRST: usize = 8;

/// A place in a range that is gone through chunk by chunk. Holds no latch and borrows nothing.
#[derive(Debug, Clone)]
pub struct Chunks<B> {
    sweep: Sweep<B>,
    /// The leaf that is being read; nil before its first chunk.
    leaf: NodeRef,
    /// Its version.
    version: Option<Version>,
    /// Its first block that isn't read yet; in reverse, the one behind the last that isn't.
    block: usize,
    /// How many lines to have on their way.
    window: usize,
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
        let mut sweep = Sweep::new(low, high, direction, wanted);
        sweep.done |= wanted == 0;
        Self { sweep, leaf: NodeRef::NIL, version: None, block: 0, window: LINES_AT_FIRST, begun: false }
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
    #[inline(never)]
    pub fn next<M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Chunk<B>) -> bool {
        tree.dispatch.run(NextChunk { chunks: self, tree, into, mode: PhantomData::<M> })
    }

    #[inline(always)]
    fn next_with<S: Search, M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Chunk<B>) -> bool {
        self.begun = true;
        into.clear();
        while !self.sweep.done && into.is_empty() {
            let read = match self.go_on::<S, M>(tree, into) {
                Some(read) => read,
                None => self.enter::<S, M>(tree, into),
            };
            self.pass(&read, into);
        }
        let wanted = self.sweep.wanted();
        into.keep(wanted, self.sweep.direction);
        self.want(wanted - into.len());
        !into.is_empty()
    }

    /// Reads the next chunk of the leaf that is being read, unless there is none or it has changed.
    #[inline(always)]
    fn go_on<S: Search, M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Chunk<B>) -> Option<Read<B>> {
        if self.leaf.is_nil() {
            return None;
        }
        // After a `clear` the node may be gone.
        let at = At { node: self.leaf, lines: tree.arena.find(self.leaf)? };
        self.window = (self.window + Leaf::<B>::CHUNK_BLOCKS).min(LINES_IN_FLIGHT);
        self.ask(tree, at);
        let (read, key) = (Read::copy::<S>(at.leaf(), self.direction(), self.block, into), self.sweep.key());
        let same = !M::SHARED || self.version.is_some_and(|version| at.latch().validate(version));
        if same & (read.fences.0 <= key) & (key <= read.fences.1) {
            return Some(read);
        }
        self.leaf = NodeRef::NIL;
        self.sweep.forget();
        into.clear();
        None
    }

    /// Reads the first chunk of the next leaf.
    #[inline(always)]
    fn enter<S: Search, M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Chunk<B>) -> Read<B> {
        let start = self.sweep.find::<S>(tree, Depth::Entries);
        let (low, high, direction) = (self.sweep.low, self.sweep.high, self.direction());
        self.sweep.follow_link(start.leaf());
        self.block = first_block::<S, B>(start.leaf(), (low, high), direction);
        self.ask(tree, start);
        let (read, leaf, version) = self.sweep.read::<S, M, _>(tree, start, |leaf| {
            Read::copy::<S>(leaf, direction, first_block::<S, B>(leaf, (low, high), direction), into)
        });
        (self.leaf, self.version) = (leaf, version);
        read
    }

    /// Asks for the lines after the one that is read next.
    #[inline(always)]
    fn ask(&mut self, tree: &BlinkTree<B>, at: At<'_>) {
        if self.direction() == Direction::Forward {
            let line = self.block + 1;
            return self.sweep.ask(tree, line, line + self.window);
        }
        if self.sweep.wanted() >= Leaf::<B>::CAPACITY {
            self.sweep.ask(tree, 0, LINES_IN_FLIGHT);
        }
        let lines = self.window.min(self.sweep.wanted() / Leaf::<B>::PER_BLOCK + 2).min(self.block);
        (self.block - lines..self.block).for_each(|block| prefetch_read(at.line_address(block + 1)));
    }

    /// Goes on behind a chunk, of which it leaves what lies in the range.
    #[inline(always)]
    fn pass(&mut self, read: &Read<B>, chunk: &mut Chunk<B>) {
        let (low, high) = (self.sweep.low, self.sweep.high);
        let forward = self.direction() == Direction::Forward;
        if let (Some(&first), Some(&last)) = (chunk.keys().first(), chunk.keys().last()) {
            if forward {
                (self.sweep.low, self.sweep.done) = (behind(last).max(low), last >= high);
            } else {
                (self.sweep.high, self.sweep.done) = (before(first).min(high), first <= low);
            }
            if first < low || last > high {
                chunk.trim(low, high);
            }
        }
        self.block = read.block;
        if read.block == if forward { Leaf::<B>::BLOCKS } else { 0 } {
            let done = self.sweep.done;
            self.leaf = NodeRef::NIL;
            self.sweep.advance(read.fences);
            self.sweep.done |= done;
        }
    }
}

impl<B: Bits> Read<B> {
    /// Copies a chunk that begins at a block; in reverse, one that ends there.
    #[inline(always)]
    fn copy<S: Search>(leaf: Leaf<'_, B>, direction: Direction, at: usize, into: &mut Chunk<B>) -> Self {
        let first = match direction {
            Direction::Forward => at,
            Direction::Reverse => at.saturating_sub(Leaf::<B>::CHUNK_BLOCKS),
        };
        let count = if direction == Direction::Forward { Leaf::<B>::CHUNK_BLOCKS } else { at - first };
        let end = leaf.copy_chunk::<S>(first, count, into);
        let block = if direction == Direction::Forward { end } else { first };
        Self { fences: (leaf.low(), leaf.high()), block }
    }
}

/// The block at which a range begins in a leaf; in reverse, the one behind its last.
#[inline(always)]
fn first_block<S: Search, B: Bits>(leaf: Leaf<'_, B>, (low, high): (B, B), direction: Direction) -> usize {
    match direction {
        Direction::Forward if leaf.low() < low => leaf.first_block::<S>(low),
        Direction::Forward => 0,
        Direction::Reverse if high < leaf.high() => leaf.last_block::<S>(high) + 1,
        Direction::Reverse => Leaf::<B>::BLOCKS,
    }
}

struct NextChunk<'a, B, M> {
    chunks: &'a mut Chunks<B>,
    tree: &'a BlinkTree<B>,
    into: &'a mut Chunk<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for NextChunk<'_, B, M> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        self.chunks.next_with::<S, M>(self.tree, self.into)
    }
}

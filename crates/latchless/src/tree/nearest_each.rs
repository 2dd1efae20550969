//! The nearest entries to many keys: grouped descents, as for lookups, and fewer of them where keys ascend.
//!
//! Keys in any order go down in groups (`group.rs`), and each is answered in the block that its leaf's hints
//! name. A chunk of ascending keys needs no descent for each of them: keys that belong to one leaf are
//! neighbours, a *run*. So only every so many keys, a *leader*, goes down, about two for each leaf. The leaves'
//! fences tell where runs end. A leaf between those of two leaders is looked up by itself, which is rare.
//!
//! # Thread safety
//! An answer counts if its leaf has the version that was read before its fences, and if the leaf has an answer.
//! All other keys are asked for one by one (`nearest.rs`). So each answer is of one moment.

use super::group::Descents;
use super::*;
use crate::node::operation::{Operation, Run, Search};
use core::ops::Range;
use latchless_core::base::index::Direction;
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read_later;

/// Keys that are looked at together to find out whether they ascend.
const CHUNK_KEYS: usize = 1024;
/// The fewest keys for which that is worth it.
const CHUNK_KEYS_MIN: usize = 32;
/// Ascending keys that are answered together, at most.
const WINDOW: usize = 512;
/// Every 2^n-th key is a leader; the largest n.
const STRIDE_BITS_MAX: u32 = 5;

impl<B: Bits> BlinkTree<B> {
    /// The entries at `len` keys, or the next ones in that direction, in the keys' order. Each of them is of
    /// one moment.
    #[inline]
    pub fn nearest_each<M: Mode>(
        &self,
        len: usize,
        group: Group,
        direction: Direction,
        key_at: impl Fn(usize) -> B,
        answer: impl FnMut(usize, Option<(B, B)>),
    ) {
        self.dispatch.run(NearestEach {
            tree: self,
            len,
            group,
            direction,
            key_at,
            answer,
            mode: PhantomData::<M>,
        });
    }

    /// The entry of a key whose leaf has changed, or has none in that direction.
    #[cold]
    #[inline(never)]
    fn nearest_again<M: Mode>(&self, key: B, direction: Direction) -> Option<(B, B)> {
        self.nearest::<M>(key, direction)
    }
}

struct NearestEach<'a, B, F, G, M> {
    tree: &'a BlinkTree<B>,
    len: usize,
    group: Group,
    direction: Direction,
    key_at: F,
    answer: G,
    mode: PhantomData<M>,
}

/// A leaf, and the keys of a window that belong to it.
#[derive(Clone, Copy)]
struct LeafRun<'a> {
    at: At<'a>,
    version: Option<Version>,
    /// Whether the first key lies between the leaf's fences. None lies above them, but a first one.
    inside: bool,
    /// Where in the window the next run begins.
    end: usize,
}

/// Ascending keys that are answered together.
struct Window<'a, B> {
    keys: [B; WINDOW],
    blocks: [u8; WINDOW],
    len: usize,
    leaders: Descents<'a, B>,
    runs: [LeafRun<'a>; Group::MAX],
    runs_len: usize,
}

/// The nearest entry in a leaf; the hints named block `at`.
#[inline(always)]
fn nearest_in<S: Search, B: Bits>(
    leaf: Leaf<'_, B>,
    at: usize,
    key: B,
    direction: Direction,
) -> Option<(B, B)> {
    match direction {
        Direction::Forward => leaf.first_from_in::<S>(at, key),
        Direction::Reverse => leaf.last_up_to_in::<S>(at, key),
    }
}

impl<'a, B: Bits> Window<'a, B> {
    #[inline(always)]
    fn new(tree: &'a BlinkTree<B>) -> Self {
        let at = tree.at(tree.root().0);
        Self {
            keys: [B::MIN; WINDOW],
            blocks: [0; WINDOW],
            len: 0,
            leaders: Descents::new(tree),
            runs: [LeafRun { at, version: None, inside: false, end: 0 }; Group::MAX],
            runs_len: 0,
        }
    }

    /// Leads every 2^`stride_bits`-th key to its leaf.
    #[inline(always)]
    fn lead<S: Search>(&mut self, tree: &'a BlinkTree<B>, stride_bits: u32) {
        self.leaders.len = self.len.div_ceil(1 << stride_bits);
        for at in 0..self.leaders.len {
            self.leaders.keys[at] = self.keys[at << stride_bits];
        }
        self.leaders.descend::<S>(tree);
    }

    /// The leaf of a key: that of the leader before it or after it, as a rule.
    #[inline(always)]
    fn leaf_of<S: Search>(&self, tree: &'a BlinkTree<B>, at: usize, stride_bits: u32) -> At<'a> {
        let (key, leader) = (self.keys[at], at >> stride_bits);
        let near = &self.leaders.nodes[leader..self.leaders.len.min(leader + 2)];
        let found = near.iter().find(|node| node.leaf::<B>().covers(key));
        found.copied().unwrap_or_else(|| tree.descend::<S>(key))
    }

    /// Finds out which keys belong to which leaf, and asks for the blocks that the hints name. Keys for whose
    /// leaves there is no room aren't part of the window any more.
    #[inline(always)]
    fn name_blocks<S: Search>(&mut self, tree: &'a BlinkTree<B>, stride_bits: u32) {
        let mut at = 0;
        self.runs_len = 0;
        while at < self.len && self.runs_len < Group::MAX {
            let found = self.leaf_of::<S>(tree, at, stride_bits);
            let version = found.latch().stable_version();
            let leaf = found.leaf::<B>();
            let (inside, high) = (leaf.covers(self.keys[at]), leaf.high());
            loop {
                let block = leaf.named_and_prefetched::<S>(self.keys[at]);
                prefetch_read_later(leaf.block_address(block));
                self.blocks[at] = block as u8;
                at += 1;
                if at == self.len || self.keys[at] > high {
                    break;
                }
            }
            self.runs[self.runs_len] = LeafRun { at: found, version, inside, end: at };
            self.runs_len += 1;
        }
        self.len = at;
    }

    /// Which keys are leaders next time: about two for each leaf.
    #[inline(always)]
    fn stride_bits(&self) -> u32 {
        (self.len / self.runs_len / 2).max(1).ilog2().min(STRIDE_BITS_MAX)
    }
}

impl<B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Option<(B, B)>)> NearestEach<'_, B, F, G, M> {
    fn ascends(&self, chunk: Range<usize>) -> bool {
        chunk.len() >= CHUNK_KEYS_MIN && chunk.map(&self.key_at).is_sorted()
    }

    /// Answers keys in any order.
    #[inline(always)]
    fn grouped<S: Search>(&mut self, chunk: Range<usize>) {
        let mut descents = Descents::new(self.tree);
        let (tree, levels) = (self.tree, self.tree.root().1);
        tree.tuner.run(chunk.len(), self.group.wanted(), levels, |from, to, group| {
            for start in (from..to).step_by(group) {
                let first = chunk.start + start;
                descents.len = group.min(to - start);
                for at in 0..descents.len {
                    descents.keys[at] = (self.key_at)(first + at);
                }
                descents.descend::<S>(tree);
                descents.name_blocks::<S>(|_| false);
                for at in 0..descents.len {
                    let leaf = descents.nodes[at].leaf::<B>();
                    let run = LeafRun {
                        at: descents.nodes[at],
                        version: descents.versions[at],
                        inside: leaf.covers(descents.keys[at]),
                        end: 0,
                    };
                    self.answer::<S>(first + at, run, descents.blocks[at], descents.keys[at]);
                }
            }
        });
    }

    /// Answers ascending keys. `stride_bits`: of the leaders, from one chunk to the next.
    #[inline(always)]
    fn ascending<S: Search>(&mut self, mut chunk: Range<usize>, stride_bits: &mut u32) {
        let (tree, mut window) = (self.tree, Window::new(self.tree));
        while !chunk.is_empty() {
            window.len = chunk.len().min(WINDOW).min(Group::MAX << *stride_bits);
            for at in 0..window.len {
                window.keys[at] = (self.key_at)(chunk.start + at);
            }
            window.lead::<S>(tree, *stride_bits);
            window.name_blocks::<S>(tree, *stride_bits);
            let mut begin = 0;
            for &run in &window.runs[..window.runs_len] {
                for at in begin..run.end {
                    self.answer::<S>(chunk.start + at, run, window.blocks[at], window.keys[at]);
                }
                begin = run.end;
            }
            chunk.start += window.len;
            *stride_bits = window.stride_bits();
        }
    }

    /// Answers a key of which the leaf is known, and the block that its hints name.
    #[inline(always)]
    fn answer<S: Search>(&mut self, at: usize, run: LeafRun<'_>, block: u8, key: B) {
        let found = nearest_in::<S, B>(run.at.leaf(), usize::from(block), key, self.direction);
        let at_rest = !M::SHARED || run.version.is_some_and(|version| run.at.latch().validate(version));
        let good = run.inside && found.is_some() && at_rest;
        (self.answer)(at, if good { found } else { self.tree.nearest_again::<M>(key, self.direction) });
    }
}

impl<B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Option<(B, B)>)> Operation
    for NearestEach<'_, B, F, G, M>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let mut stride_bits = 0;
        for start in (0..self.len).step_by(CHUNK_KEYS) {
            let chunk = start..self.len.min(start + CHUNK_KEYS);
            if self.ascends(chunk.clone()) {
                self.ascending::<S>(chunk, &mut stride_bits);
            } else {
                self.grouped::<S>(chunk);
            }
        }
    }
}

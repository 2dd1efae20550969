//! The nearest entries to many keys: grouped descents, as for lookups, and fewer of them where keys ascend.
//!
//! Unordered keys descend in groups (`group.rs`), and each is answered in the block that its leaf's hints
//! name. Ascending keys don't each need a descent: those that belong to one leaf are adjacent, a *run*. So
//! only every n-th key, a *leader*, descends, about two per leaf. The leaves' fences give the ends of runs.
//! A leaf between those of two leaders is looked up separately, which is rare.
//!
//! # Thread safety
//! An answer is valid if its leaf still has the version that was read before its fences, and if the leaf has
//! an answer. All other keys are searched one by one (`nearest.rs`). So each answer is of one moment.

use super::blink::BlinkTree;
use super::group::{Descents, groups};
use super::store::At;
use super::tuners::{Group, Requests};
use crate::blink::{Levels, Mode};
use crate::node::LeafReader;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use core::ops::Range;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read_later;

/// Unordered keys that are answered before the next ones are tested for order.
const CHUNK_KEYS: usize = 1024;
/// The minimum number of keys for which the test is worthwhile.
const ASCENDING_MIN: usize = 32;
/// Keys that decide whether to test all of them.
const FIRST_LOOK: usize = 8;
/// The maximum number of ascending keys that are answered together.
const WINDOW: usize = 256;
/// Every 2^n-th key is a leader; the largest n.
const STRIDE_BITS_MAX: u32 = 5;

impl<B: Bits> BlinkTree<B> {
    /// Returns the entries at `len` keys, or the next ones in that direction, in the keys' order. Each of
    /// them is of one moment.
    #[inline]
    pub fn nearest_each<M: Mode>(
        &self,
        len: usize,
        group: Group,
        direction: Direction,
        key_at: impl Fn(usize) -> B,
        answer: impl FnMut(usize, Option<(B, B)>),
    ) {
        self.store().run(NearestEach {
            tree: self,
            len,
            group,
            direction,
            key_at,
            answer,
            mode: PhantomData::<M>,
        });
    }
}

/// Finds the entry of a key whose leaf has changed, or has none in that direction.
#[cold]
#[inline(never)]
fn nearest_again<B: Bits, M: Mode>(tree: &BlinkTree<B>, key: B, direction: Direction) -> Option<(B, B)> {
    tree.nearest::<M>(key, direction)
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

/// A leaf, and the ascending keys of a window that belong to it.
#[derive(Clone, Copy)]
struct LeafRun<'a> {
    at: At<'a>,
    /// `None`: the leaf was being changed, or doesn't cover the keys.
    version: Option<Version>,
    /// The end of the run in the window.
    end: usize,
}

/// Ascending keys that are answered together.
struct Window<'a, B> {
    keys: [B; WINDOW],
    blocks: [u8; WINDOW],
    len: usize,
    /// Every 2^n-th key is a leader.
    stride_bits: u32,
    runs: [LeafRun<'a>; Group::MAX],
    runs_len: usize,
}

/// The leaf of a key, with the version that was read before its fences, and the block that its hints named.
#[derive(Clone, Copy)]
struct Named<'a> {
    node: At<'a>,
    version: Option<Version>,
    block: u8,
}

/// Keys whose nearest entries aren't in the blocks that the hints named.
struct Others {
    at: [u8; WINDOW],
    len: usize,
}

impl Others {
    fn none() -> Self {
        Self { at: [0; WINDOW], len: 0 }
    }

    #[inline(always)]
    fn push(&mut self, at: usize) {
        self.at[self.len % WINDOW] = at as u8;
        self.len += 1;
    }

    /// Takes all of them; then there are none.
    #[inline(always)]
    fn take(&mut self) -> &[u8] {
        let len = core::mem::take(&mut self.len);
        &self.at[..len]
    }
}

impl<'a, B: Bits> Window<'a, B> {
    #[inline(always)]
    fn new(tree: &'a BlinkTree<B>) -> Self {
        let run = LeafRun { at: tree.store().at(tree.store().root().get().0), version: None, end: 0 };
        Self {
            keys: [B::MIN; WINDOW],
            blocks: [0; WINDOW],
            len: 0,
            stride_bits: 0,
            runs: [run; Group::MAX],
            runs_len: 0,
        }
    }

    /// Finds the leaders' leaves.
    #[inline(always)]
    fn lead<S: Search>(&self, tree: &'a BlinkTree<B>, leaders: &mut Descents<'a, B>) {
        let keys = self.keys[..self.len].iter().step_by(1 << self.stride_bits);
        leaders.len = 0;
        for (leader, &key) in leaders.keys.iter_mut().zip(keys) {
            *leader = key;
            leaders.len += 1;
        }
        leaders.descend::<S>(tree);
    }

    /// Returns the leaf of a key: usually that of the leader before it or after it.
    #[inline(always)]
    fn leaf_of<S: Search>(&self, tree: &'a BlinkTree<B>, leaders: &Descents<'a, B>, at: usize) -> At<'a> {
        let (key, leader) = (self.keys[at], at >> self.stride_bits);
        let near = &leaders.nodes[leader..leaders.len.min(leader + 2)];
        let found = near.iter().find(|node| node.leaf::<B>().covers(key));
        found.copied().unwrap_or_else(|| tree.finder().descend::<S>(key))
    }

    /// Finds the runs of keys per leaf, and prefetches the blocks that the hints name. Keys for whose leaves
    /// there is no room leave the window.
    #[inline(always)]
    fn name_blocks<S: Search>(&mut self, tree: &'a BlinkTree<B>, leaders: &Descents<'a, B>) {
        let mut begin = 0;
        self.runs_len = 0;
        while begin < self.len && self.runs_len < Group::MAX {
            let at = self.leaf_of::<S>(tree, leaders, begin);
            let (version, leaf) = (at.latch().stable_version(), at.leaf::<B>());
            let version = version.filter(|_| leaf.covers(self.keys[begin]));
            let (keys, high) = (&self.keys[begin..self.len], leaf.high());
            let mut run = 0;
            for (&key, named) in keys.iter().zip(&mut self.blocks[begin..self.len]) {
                if key > high && run > 0 {
                    break;
                }
                *named = leaf.ask_for_named::<S>(key) as u8;
                run += 1;
            }
            begin += run;
            self.runs[self.runs_len] = LeafRun { at, version, end: begin };
            self.runs_len += 1;
        }
        self.len = begin;
    }

    /// Adapts the distance of leaders: about two per leaf.
    #[inline(always)]
    fn adapt(&mut self) {
        self.stride_bits = (self.len / self.runs_len / 2).max(1).ilog2().min(STRIDE_BITS_MAX);
    }
}

/// Returns whether a leaf still has that version.
#[inline(always)]
pub(super) fn still<M: Mode>(at: At<'_>, version: Option<Version>) -> bool {
    version.is_some_and(|version| !M::SHARED || at.latch().validate(version))
}

impl<'a, B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Option<(B, B)>)> NearestEach<'a, B, F, G, M> {
    /// Returns whether keys from `start` on seem to ascend.
    #[inline(always)]
    fn seems_to_ascend(&self, start: usize) -> bool {
        self.len - start >= ASCENDING_MIN && (start..start + FIRST_LOOK).map(&self.key_at).is_sorted()
    }

    /// Fills a window with the keys from `start` on. Returns whether they ascend.
    #[inline(always)]
    fn fill(&self, window: &mut Window<'_, B>, start: usize) -> bool {
        window.len = (self.len - start).min(WINDOW).min(Group::MAX << window.stride_bits);
        let keys = &mut window.keys[..window.len];
        for (at, key) in (start..).zip(&mut *keys) {
            *key = (self.key_at)(at);
        }
        keys.is_sorted()
    }

    /// Answers the keys of a window.
    #[inline(always)]
    fn ascending<S: Search>(
        &mut self,
        start: usize,
        window: &mut Window<'a, B>,
        leaders: &mut Descents<'a, B>,
        others: &mut Others,
    ) {
        window.lead::<S>(self.tree, leaders);
        window.name_blocks::<S>(self.tree, leaders);
        let mut begin = 0;
        for run in &window.runs[..window.runs_len] {
            let keys = window.keys[begin..run.end].iter().zip(&window.blocks[begin..run.end]);
            for (at, (&key, &block)) in (begin..).zip(keys) {
                let named = Named { node: run.at, version: run.version, block };
                if !self.answer_by_block::<S>(start + at, key, named) {
                    others.push(at);
                }
            }
            begin = run.end;
        }
        let mut run = 0;
        for &at in others.take() {
            let at = usize::from(at);
            while at >= window.runs[run].end {
                run += 1;
            }
            let LeafRun { at: node, version, .. } = window.runs[run];
            let named = Named { node, version, block: window.blocks[at] };
            self.answer_in_leaf::<S>(start + at, window.keys[at], named);
        }
    }

    /// Answers keys in any order.
    #[inline(always)]
    fn grouped<S: Search>(
        &mut self,
        keys: Range<usize>,
        descents: &mut Descents<'a, B>,
        others: &mut Others,
    ) {
        for (start, len) in groups(self.tree, Requests::Looks, keys.len(), self.group) {
            let start = keys.start + start;
            descents.len = len;
            for at in 0..len {
                descents.keys[at] = (self.key_at)(start + at);
            }
            descents.descend::<S>(self.tree);
            descents.name_blocks::<S, false>(self.tree, |_| false);
            for at in 0..len {
                let (key, node) = (descents.keys[at], descents.nodes[at]);
                let version = descents.versions[at].filter(|_| node.leaf::<B>().covers(key));
                let named = Named { node, version, block: descents.blocks[at] };
                if !self.answer_by_block::<S>(start + at, key, named) {
                    descents.versions[at] = version;
                    others.push(at);
                }
            }
            for &at in others.take() {
                let at = usize::from(at);
                let (node, version, block) = (descents.nodes[at], descents.versions[at], descents.blocks[at]);
                self.answer_in_leaf::<S>(start + at, descents.keys[at], Named { node, version, block });
            }
        }
    }

    /// Answers a key if the block that the hints named has an entry that is certainly its nearest. If the
    /// leaf has changed meanwhile, the key is searched separately, because that entry's place is unknown.
    /// Otherwise prefetches the adjacent block, and returns `false`.
    #[inline(always)]
    fn answer_by_block<S: Search>(&mut self, at: usize, key: B, named: Named<'_>) -> bool {
        let (leaf, block) = (named.node.leaf::<B>(), usize::from(named.block));
        let (found, beside) = match self.direction {
            Direction::Forward => (LeafReader(leaf).first_from_in::<S>(block, key), block + 1),
            Direction::Reverse => (LeafReader(leaf).last_up_to_in::<S>(block, key), block.saturating_sub(1)),
        };
        if let Some(entry) = found {
            self.answer_if_still(at, key, named, entry);
            return true;
        }
        prefetch_read_later(leaf.block_address(beside));
        false
    }

    /// Answers a key whose nearest entry isn't in the block that the hints named: from the adjacent block,
    /// from any block of its leaf, or by a separate search.
    #[inline(always)]
    fn answer_in_leaf<S: Search>(&mut self, at: usize, key: B, named: Named<'_>) {
        let (leaf, block) = (named.node.leaf::<B>(), usize::from(named.block));
        let beside = match self.direction {
            Direction::Forward => LeafReader(leaf).first_behind::<S>(block, key),
            Direction::Reverse => LeafReader(leaf).last_before::<S>(block, key),
        };
        let found = match (beside, self.direction) {
            (Some(_), _) => beside,
            (None, Direction::Forward) => LeafReader(leaf).first_from::<S>(key),
            (None, Direction::Reverse) => LeafReader(leaf).last_up_to::<S>(key),
        };
        match found {
            Some(entry) => self.answer_if_still(at, key, named, entry),
            None => (self.answer)(at, nearest_again::<_, M>(self.tree, key, self.direction)),
        }
    }

    /// Answers a key with an entry of its leaf, or by a separate search if the leaf has changed.
    #[inline(always)]
    fn answer_if_still(&mut self, at: usize, key: B, named: Named<'_>, entry: (B, B)) {
        // Two calls: with one the entry would go through memory, written as two words and read as one
        // vector, which has to wait for both.
        if still::<M>(named.node, named.version) {
            (self.answer)(at, Some(entry));
        } else {
            (self.answer)(at, nearest_again::<_, M>(self.tree, key, self.direction));
        }
    }
}

impl<B: Bits, M: Mode, F: Fn(usize) -> B, G: FnMut(usize, Option<(B, B)>)> Operation
    for NearestEach<'_, B, F, G, M>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let (mut descents, mut others) = (Descents::new(self.tree), Others::none());
        let (mut start, mut window) = (0, None);
        while start < self.len {
            if self.seems_to_ascend(start) {
                let window = window.get_or_insert_with(|| Window::new(self.tree));
                if self.fill(window, start) {
                    self.ascending::<S>(start, window, &mut descents, &mut others);
                    start += window.len;
                    window.adapt();
                    continue;
                }
            }
            let end = self.len.min(start + CHUNK_KEYS);
            self.grouped::<S>(start..end, &mut descents, &mut others);
            start = end;
        }
    }
}

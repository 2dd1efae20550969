//! Going through the leaves of a range, with the leaves ahead already on their way.
//!
//! The leaves ahead are known from the inner node above them (the paper's internal jump-pointer array,
//! pB+-Tree §3.4), so nothing extra is stored. What that node said may be out of date: each leaf is
//! taken only if its fences continue where the leaf before ended; otherwise the way is looked up anew.

use super::*;
use crate::node::Entries;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;
use latchless_core::base::span::{before, behind};
use latchless_core::mem::line::prefetch_read;

/// Leaves that are asked for ahead of the one that is read.
const LEAVES_AHEAD: usize = 3;
/// Leaves of which only the first line is asked for, ahead of the one that is counted.
const HEADERS_AHEAD: usize = 24;
/// Entries that a leaf has on average, for guessing how many leaves a short scan needs.
const ENTRIES_MEAN: usize = 40;
/// Room for what is left of one inner node and all of the next.
const AHEAD_MAX: usize = 160;

/// A place in a range that is gone through leaf by leaf. Holds no latch and borrows nothing, so it can
/// be kept while the tree changes.
#[derive(Debug, Clone)]
pub struct Sweep<B> {
    low: B,
    high: B,
    direction: Direction,
    done: bool,
    /// Entries that the caller still wants: how far ahead is worth asking.
    expected: usize,
    /// The leaves ahead, as the inner nodes above named them.
    ahead: [NodeRef; AHEAD_MAX],
    at: usize,
    len: usize,
    /// Up to where leaves were asked for.
    asked: usize,
    /// A key of the inner node behind the leaves ahead, if the range reaches it.
    onward: Option<B>,
    /// How far into the first leaf ahead the range begins, in sixteenths.
    share: usize,
}

/// What of a leaf is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// All lines.
    Entries,
    /// The first line.
    Header,
}

impl<B: Bits> Sweep<B> {
    /// A sweep over the keys `low..=high`; nothing if `low` is above `high`. `expected`: about how
    /// many entries will be wanted.
    pub fn new(low: B, high: B, direction: Direction, expected: usize) -> Self {
        Self {
            low,
            high,
            direction,
            done: low > high,
            expected,
            ahead: [NodeRef::NIL; AHEAD_MAX],
            at: 0,
            len: 0,
            asked: 0,
            onward: None,
            share: 0,
        }
    }

    /// What is left of the range, both ends inclusive; `None` when nothing is.
    pub fn remaining(&self) -> Option<(B, B)> {
        (!self.done).then_some((self.low, self.high))
    }

    /// Says about how many entries will still be wanted.
    #[inline(always)]
    pub(super) fn expect(&mut self, entries: usize) {
        self.expected = entries;
    }

    /// Copies the entries that the next leaf with any has in the range. `false`: the range has ended.
    /// The entries are of one moment, and ascend whatever the direction is.
    pub fn next_leaf<M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut LeafCopy<B>) -> bool {
        tree.dispatch.run(NextLeaf { sweep: self, tree, into, mode: PhantomData::<M> })
    }

    #[inline(always)]
    pub(super) fn next_leaf_with<S: Search, M: Mode>(
        &mut self,
        tree: &BlinkTree<B>,
        into: &mut Entries<B>,
    ) -> bool {
        into.clear();
        while !self.done && into.keys().is_empty() {
            let (low, high) = (self.low, self.high);
            let forward = self.direction == Direction::Forward;
            let fences = self.next::<S, M, _>(tree, Depth::Entries, |leaf| {
                let fences = (leaf.low(), leaf.high());
                // In the first leaf the lines before the range aren't even read.
                let inside = forward && fences.0 < low;
                let first = if inside { leaf.first_block::<S>(low) } else { 0 };
                leaf.copy_out_from::<S>(first, into);
                fences
            });
            if fences.0 < low || fences.1 > high {
                into.trim(low, high);
            }
            self.expected = self.expected.saturating_sub(into.keys().len());
        }
        !into.keys().is_empty()
    }

    /// Reads the next leaf of the range and goes on behind it. `look` may run several times, and on a
    /// leaf that is being changed; only what it finds at last counts.
    #[inline(always)]
    pub(super) fn next<S: Search, M: Mode, R>(
        &mut self,
        tree: &BlinkTree<B>,
        depth: Depth,
        mut look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> R {
        let key = if self.direction == Direction::Forward { self.low } else { self.high };
        if self.at == self.len {
            self.look_ahead::<S>(tree, key);
        }
        self.ask::<S>(tree, depth);
        let node = self.ahead[self.at];
        self.at += 1;
        // A node of before a `clear` is gone or zeroed, and an inner node has no high fence where a leaf has
        // it: zeroed and inner nodes look like a leaf of the smallest key alone. All are looked up anew.
        let named = tree.arena.find(node).map(|lines| At { node, lines });
        let start = match named.filter(|at| at.leaf::<B>().high() != B::MIN) {
            Some(at) => at,
            None => tree.at(tree.descend_to::<S>(0, key).expect("every tree has leaves")),
        };
        let ((found, low, high), leaf, _) =
            tree.read_leaf_from::<S, M, _>(start, key, |leaf| (look(leaf), leaf.low(), leaf.high()));
        if leaf != node {
            // The leaves ahead are out of date.
            (self.at, self.len) = (0, 0);
        }
        self.advance(low, high);
        found
    }

    /// Goes on behind a leaf of these fences.
    #[inline(always)]
    fn advance(&mut self, low: B, high: B) {
        if self.direction == Direction::Forward {
            self.done = high >= self.high;
            self.low = behind(high);
        } else {
            self.done = low <= self.low;
            self.high = before(low);
        }
    }

    /// Asks for leaves ahead, and finds out about more of them when few are left.
    #[inline(always)]
    fn ask<S: Search>(&mut self, tree: &BlinkTree<B>, depth: Depth) {
        let most = match depth {
            Depth::Entries => LEAVES_AHEAD,
            Depth::Header => HEADERS_AHEAD,
        };
        let ahead = 1 + most.min(self.expected / ENTRIES_MEAN);
        if self.at + ahead > self.len && self.onward.is_some() {
            self.look_further::<S>(tree);
        }
        let wanted = (self.at + ahead).min(self.len);
        // Entries of the leaves that were asked for before are on their way.
        let mut expected = self.expected.saturating_sub(self.asked.saturating_sub(self.at) * ENTRIES_MEAN);
        for at in self.asked.max(self.at)..wanted {
            let address = tree.arena.address(self.ahead[at]);
            prefetch_read(address);
            if depth == Depth::Entries {
                // The lines before the guess aren't needed; neighbours make up for a bad one.
                let first = core::mem::take(&mut self.share).saturating_sub(1).max(1);
                let lines =
                    (node::LINES - first).min(expected.min(ENTRIES_MEAN) * node::LINES / ENTRIES_MEAN + 3);
                (first..first + lines).for_each(|line| prefetch_read(node::line_address(address, line)));
                expected = expected.saturating_sub(lines * ENTRIES_MEAN / node::LINES);
            }
        }
        self.asked = self.asked.max(wanted);
    }

    /// Forgets the leaves ahead and looks them up from `key` on.
    #[inline(never)]
    fn look_ahead<S: Search>(&mut self, tree: &BlinkTree<B>, key: B) {
        (self.at, self.len, self.asked, self.onward) = (0, 0, 0, Some(key));
        self.look_further::<S>(tree);
        if self.len == 0 {
            (self.ahead[0], self.len, self.onward) = (tree.descend::<S>(key).node, 1, None);
        }
    }

    /// Appends leaves that the inner node of `onward` names, from that key on.
    #[inline(never)]
    fn look_further<S: Search>(&mut self, tree: &BlinkTree<B>) {
        let Some(key) = self.onward.take() else { return };
        let Some(inner) = tree.descend_near::<S>(key).map(At::inner::<B>) else { return };
        self.ahead.copy_within(self.at..self.len, 0);
        (self.len, self.asked) = (self.len - self.at, self.asked.saturating_sub(self.at));
        self.at = 0;
        // As many as a short range needs; more are looked up if they turn out to be needed.
        let most = (self.expected / ENTRIES_MEAN).saturating_add(2);
        let to = self.len..AHEAD_MAX.min(self.len.saturating_add(most));
        let limit = match self.direction {
            Direction::Forward => {
                let starts_inside = self.len == 0;
                self.share = if starts_inside { inner.child_and_share::<S>(key).1 } else { 0 };
                self.high
            }
            Direction::Reverse => self.low,
        };
        let (found, onward) = inner.children_from::<S>(key, self.direction, limit, &mut self.ahead[to]);
        self.len += found;
        self.onward = onward;
    }
}

struct NextLeaf<'a, B, M> {
    sweep: &'a mut Sweep<B>,
    tree: &'a BlinkTree<B>,
    into: &'a mut LeafCopy<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for NextLeaf<'_, B, M> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        self.sweep.next_leaf_with::<S, M>(self.tree, self.into)
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Shows `visit` the entries of `low..=high`, leaf by leaf, until it says `false`. The entries of
    /// one call are of one moment and ascend; the calls go in the direction. `expected`: about how
    /// many entries will be wanted.
    #[inline]
    pub fn scan<M: Mode>(
        &self,
        low: B,
        high: B,
        direction: Direction,
        expected: usize,
        visit: impl FnMut(&[B], &[B]) -> bool,
    ) {
        let sweep = Sweep::new(low, high, direction, expected);
        self.dispatch.run(Scan { tree: self, sweep, visit, mode: PhantomData::<M> });
    }
}

struct Scan<'a, B, F, M> {
    tree: &'a BlinkTree<B>,
    sweep: Sweep<B>,
    visit: F,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, F: FnMut(&[B], &[B]) -> bool> Operation for Scan<'_, B, F, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let mut entries = Entries::default();
        while self.sweep.next_leaf_with::<S, M>(self.tree, &mut entries) {
            if !(self.visit)(entries.keys(), entries.values()) {
                return;
            }
        }
    }
}

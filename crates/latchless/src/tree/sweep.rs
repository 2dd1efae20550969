//! Visiting the leaves of a range, with prefetch of the leaves ahead.
//!
//! A leaf's link gives the next leaf, which is enough for a short range. The leaves of a longer range are
//! taken from the inner node above them (the paper's internal jump-pointer array, pB+-Tree §3.4), so nothing
//! extra is stored. That node's content may be out of date: each leaf is accepted only if its fences
//! continue where the leaf before ended; otherwise the position is looked up again.
//!
//! # Prefetch distance
//! [`LINES_IN_FLIGHT`] is the paper's B: the number of lines that memory delivers, one after the other,
//! during the latency of one. With that many lines in flight a reader waits for none. For leaves of w lines
//! it is the paper's prefetch distance k = ⌈B/w⌉ (Eq. 2); here it is counted in lines, so that it also fits
//! a reader of single lines of leaves. Nothing is prefetched that the caller can't need: no leaf beyond the
//! range, and no more lines than the remaining entries fill.

mod asking;
mod lines;

use super::blink::BlinkTree;
use super::store::At;
use crate::blink::{Levels, Mode};
use crate::node::operation::{Operation, Search};
use crate::node::{Entries, Inner, LINES, Leaf, LeafReader};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{before, behind};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use lines::prefetch_lines;

pub(super) use lines::lines_of;

/// B of the paper's Eq. (2), T1/Tnext: see the module documentation.
pub(super) const LINES_IN_FLIGHT: usize = 48;
/// Lines to prefetch at first if the length of the range isn't known.
const LINES_AT_FIRST: usize = 24;
/// Lines in flight, once the first of these are read, until the range turns out to be long.
pub(super) const LINES_NEXT: usize = 16;
/// Leaves that a reader of chunks has read before it looks up the next ones in the inner node: short ranges
/// have ended by then.
const LEAVES_BY_LINK: u8 = 3;
/// Leaves from which on a sweep of whole leaves looks up the next ones at once.
const LONG: usize = 4;
/// Leaves ahead that a sweep of whole leaves stores: those of most of an inner node.
const AHEAD: usize = 64;
/// Leaves ahead that a reader of chunks stores, whose state should be small.
pub(super) const AHEAD_OF_CHUNKS: usize = 12;
/// Leaves ahead that a count stores: it reads one line of each.
pub(super) const AHEAD_OF_COUNTS: usize = 64;

/// The position of a scan that visits leaf by leaf. Holds no latch and borrows nothing, so it can be kept
/// while the tree changes.
#[derive(Debug, Clone)]
pub struct Sweep<B, const ROOM: usize = AHEAD> {
    pub(super) low: B,
    pub(super) high: B,
    pub(super) direction: Direction,
    pub(super) done: bool,
    /// The maximum number of further entries.
    wanted: usize,
    /// The expected number of further entries, at most as large.
    expected: usize,
    /// The leaf to read next, and then leaves after it, from the link or from the inner nodes above.
    ahead: [NodeRef; ROOM],
    at: usize,
    len: usize,
    /// Prefetched lines, from the first line of the leaf to read next on.
    asked: usize,
    /// Leaves that were read, as far as that matters.
    read: u8,
    /// Whether the leaves ahead come from links.
    linked: bool,
    /// A key of the inner node after the leaves ahead, if they come from inner nodes and the range reaches
    /// it.
    onward: Option<B>,
}

/// The part of a leaf that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// All lines.
    Entries,
    /// The first line.
    Header,
}

impl<B: Bits> Sweep<B> {
    /// Creates a sweep over the keys `low..=high`, which is empty if `low` is above `high`. `wanted` is the
    /// maximum number of entries.
    #[inline(always)]
    pub fn new(low: B, high: B, direction: Direction, wanted: usize) -> Self {
        Self::with_room(low, high, direction, wanted)
    }
}

impl<B: Bits, const ROOM: usize> Sweep<B, ROOM> {
    /// Creates a sweep with room for `ROOM` leaves ahead. See [`Sweep::new`].
    #[inline(always)]
    pub(super) fn with_room(low: B, high: B, direction: Direction, wanted: usize) -> Self {
        Self {
            low,
            high,
            direction,
            done: low > high,
            wanted,
            expected: wanted,
            ahead: [NodeRef::NIL; ROOM],
            at: 0,
            len: 0,
            asked: 0,
            read: 0,
            linked: true,
            onward: None,
        }
    }

    /// Returns the rest of the range, both ends inclusive; `None` if nothing remains.
    #[inline(always)]
    pub fn remaining(&self) -> Option<(B, B)> {
        (!self.done).then_some((self.low, self.high))
    }

    /// Sets the maximum number of further entries.
    #[inline(always)]
    pub(super) fn want(&mut self, entries: usize) {
        (self.wanted, self.expected) = (entries, entries);
    }

    /// Returns the maximum number of further entries.
    #[inline(always)]
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns the expected number of further entries.
    #[inline(always)]
    pub(super) fn expected(&self) -> usize {
        self.expected
    }

    /// Sets the expected number of further entries. A longer range is detected.
    #[inline(always)]
    pub(super) fn expect(&mut self, entries: usize) {
        self.expected = self.wanted.min(entries.max(1));
    }

    /// Records that entries were shown.
    #[inline(always)]
    pub(super) fn shown(&mut self, entries: usize) {
        self.wanted = self.wanted.saturating_sub(entries);
        // It is longer than expected: then nothing is known but that.
        let expected = self.expected.saturating_sub(entries);
        self.expected = if expected == 0 { self.wanted } else { expected };
    }

    /// Copies the entries of the next leaf that has any in the range. Returns `false` if the range has
    /// ended. The entries are of one moment, and ascend for either direction.
    pub fn next_leaf<M: Mode>(&mut self, tree: &BlinkTree<B>, into: &mut Entries<B>) -> bool {
        tree.store().run(NextLeaf { sweep: self, tree, into, mode: PhantomData::<M> })
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
            let (start, ahead) = self.reach::<S>(tree);
            let (fences, _, _) = self.read::<M, _>(
                tree,
                start,
                #[inline(always)]
                |leaf| {
                    // In the first leaf the lines before the range aren't even read.
                    let inside = forward && leaf.low() < low;
                    let first = if inside { leaf.first_block::<S>(low) } else { 0 };
                    LeafReader(leaf).copy_out_and_ask::<S>(first, into, ahead);
                    leaf.fences()
                },
            );
            self.advance(fences);
            if fences.0 < low || fences.1 > high {
                into.trim(low, high);
            }
            self.shown(into.keys().len());
        }
        !into.keys().is_empty()
    }

    /// Reads the first line of the next leaf of the range and moves past it. `look` returns a result and the
    /// leaf's fences; it may run several times, also on a leaf that is being changed; only its last result
    /// counts.
    #[inline(always)]
    pub(super) fn next<S: Search, M: Mode, R>(
        &mut self,
        tree: &BlinkTree<B>,
        look: impl FnMut(Leaf<'_, B>) -> (R, (B, B)),
    ) -> (R, (B, B)) {
        let start = self.find::<S>(tree, Depth::Header);
        self.follow_link(start.leaf());
        self.ask_for_headers(tree);
        // Passed on as it is: a closure around it wouldn't always be inlined.
        let (found, _, _) = self.read::<M, _>(tree, start, look);
        self.advance(found.1);
        found
    }

    /// Returns the likely position of the leaf to read next, all of which will be read. The leaves after it
    /// are known and prefetched, except for the lines of one, which are best prefetched one by one while
    /// those of the first are read: their address is returned, unless all were prefetched.
    #[inline(always)]
    pub(super) fn reach<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>) -> (At<'a>, Option<*const u8>) {
        let start = self.find::<S>(tree, Depth::Entries);
        self.follow_link(start.leaf());
        // The lines of the first leaf that are before the range aren't needed.
        let inside = self.direction == Direction::Forward && self.read == 0;
        let from = if inside && self.linked { start.leaf().named_block::<S>(self.low) + 1 } else { 0 };
        (start, self.ask_but_one(tree, from))
    }

    /// Prefetches the first lines of the first leaves.
    #[inline(always)]
    pub(super) fn ask_for_first<S: Search>(&mut self, tree: &BlinkTree<B>) {
        self.find::<S>(tree, Depth::Header);
        self.ask_for_headers(tree);
    }

    /// Visits the next leaf under its latch, so that `take` runs once. See [`Sweep::next`].
    #[inline(always)]
    pub(super) fn next_latched<S: Search, M: Mode>(
        &mut self,
        tree: &BlinkTree<B>,
        take: impl FnOnce(Leaf<'_, B>, &mut M::Held<'_>),
    ) {
        let start = self.find::<S>(tree, Depth::Header);
        self.follow_link(start.leaf());
        self.ask_for_headers(tree);
        let (at, mut held) = tree.finder().latch_leaf::<M>(start, self.key());
        if at.node != self.ahead[self.at] {
            self.start_at(at.node);
        }
        let leaf = at.leaf();
        let fences = leaf.fences();
        take(leaf, &mut held);
        drop(held);
        self.advance(fences);
    }

    /// Reads the leaf to read next, as of one moment. Returns the leaf and its version.
    #[inline(always)]
    pub(super) fn read<'a, M: Mode, R>(
        &mut self,
        tree: &'a BlinkTree<B>,
        start: At<'a>,
        look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        let read = tree.finder().read_leaf_from::<M, _>(start, self.key(), look);
        if read.1 != self.ahead[self.at] {
            // The leaves ahead are out of date.
            self.start_at(read.1);
        }
        read
    }

    /// Returns the key at which the range continues.
    #[inline(always)]
    pub(super) fn key(&self) -> B {
        if self.direction == Direction::Forward { self.low } else { self.high }
    }

    /// Drops the leaves ahead.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        (self.at, self.len) = (0, 0);
    }

    /// Returns the likely position of the leaf to read next.
    #[inline(always)]
    pub(super) fn find<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>, depth: Depth) -> At<'a> {
        let key = self.key();
        let first = self.at == self.len && (self.direction == Direction::Forward || self.read == 0);
        if first && !self.is_long() {
            if depth == Depth::Entries && self.direction == Direction::Forward {
                return self.enter::<S>(tree, key);
            }
            let at = tree.finder().descend::<S>(key);
            self.start_at(at.node);
            return at;
        }
        if depth == Depth::Entries && self.direction == Direction::Forward {
            if first && self.read == 0 {
                self.ask_by_guess(tree, key);
            } else if self.linked && self.read + 1 == LEAVES_BY_LINK {
                // If the range continues, the leaves ahead are looked up there.
                tree.finder().ask_for_way(key);
            }
        }
        self.look_ahead(tree, depth);
        let node = self.ahead[self.at];
        // After a `clear` a node from before is gone or zeroed, and an inner node has no high fence where a
        // leaf has it: zeroed and inner nodes look like a leaf that covers only the smallest key. All are
        // looked up again.
        let named = tree.store().find(node);
        match named.filter(|at| at.leaf::<B>().high() != B::MIN) {
            Some(at) => at,
            None => tree.store().at(tree.store().descend_to_leaf(key)),
        }
    }

    /// Returns the likely leaf of `key`. Prefetches the lines that a short range reads from there on, also
    /// in the leaf after it, before any of them gives the exact beginning of the range.
    #[inline(always)]
    fn enter<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>, key: B) -> At<'a> {
        let lines = lines_of::<B>(self.expected).min(LINES_AT_FIRST);
        let guess = tree.finder().guesses().guess_two(key.to_u64());
        let (leaf, share, next) = match guess {
            Some(guess) => guess,
            None => {
                let (leaf, share) = tree.finder().descend_through_nodes::<S>(key);
                (leaf, share, leaf)
            }
        };
        let at = tree.store().at(leaf);
        self.start_at(leaf);
        prefetch_read(at.line_address(0));
        let first = Leaf::<B>::first_likely_line(share);
        let own = lines.max(3).min(LINES - first);
        prefetch_lines(at.line_address(first), own);
        if lines > own && next != leaf {
            let more = (lines - own + 1).min(LINES);
            prefetch_lines(tree.store().arena().address(next), more);
            (self.ahead[1], self.asked) = (next, LINES + more);
        }
        at
    }

    /// Sets the leaf to read next, which needs no prefetch.
    #[inline(always)]
    fn start_at(&mut self, node: NodeRef) {
        (self.ahead[0], self.at, self.len, self.asked) = (node, 0, 1, LINES);
        (self.linked, self.onward) = (true, None);
    }

    /// Returns whether many leaves are probably needed: because the caller visits whole leaves and has no
    /// other expectation, or because many were read.
    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.read >= LEAVES_BY_LINK || ROOM != AHEAD_OF_CHUNKS && self.expected >= LONG * Leaf::<B>::CAPACITY
    }

    /// Looks up leaves ahead when few are left.
    #[inline(always)]
    fn look_ahead(&mut self, tree: &BlinkTree<B>, depth: Depth) {
        let distance = match depth {
            Depth::Entries => LINES_IN_FLIGHT.div_ceil(LINES),
            Depth::Header => LINES_IN_FLIGHT,
        };
        let known = self.len - self.at;
        let wanted = self.expected / Leaf::<B>::CAPACITY >= known
            && if self.linked { self.is_long() } else { self.onward.is_some() };
        if known == 0 || known <= distance && wanted {
            tree.store().run(LookFurther { sweep: self, tree });
        }
    }

    /// Uses the link of the leaf to read next as the one after it, if no other is known.
    #[inline(always)]
    pub(super) fn follow_link(&mut self, leaf: Leaf<'_, B>) {
        let link = leaf.link();
        let last = self.at + 1 == self.len && self.linked && self.direction == Direction::Forward;
        if last && leaf.high() < self.high && !link.is_nil() {
            // Lines of the leaf after it were prefetched already, if the prediction was right.
            if self.at > 0 || self.ahead[1] != link {
                self.asked = self.asked.min(LINES);
            }
            (self.ahead[0], self.ahead[1]) = (self.ahead[self.at], link);
            (self.at, self.len) = (0, 2);
        }
    }

    /// Moves past the leaf that was read.
    #[inline(always)]
    pub(super) fn advance(&mut self, fences: (B, B)) {
        let (low, high) = fences;
        (self.at, self.asked) = (self.at + 1, self.asked.saturating_sub(LINES));
        self.read = LEAVES_BY_LINK.min(self.read + 1);
        if self.direction == Direction::Forward {
            self.done = high >= self.high;
            self.low = behind(high);
        } else {
            self.done = low <= self.low;
            self.high = before(low);
        }
    }

    /// Looks up leaves after those that inner nodes named.
    #[inline(always)]
    fn look_further<S: Search>(&mut self, tree: &BlinkTree<B>) {
        let (key, known) = match self.onward.take() {
            Some(key) => (key, self.len - self.at),
            None => (self.key(), 0),
        };
        self.ahead.copy_within(self.at..self.at + known, 0);
        (self.at, self.len, self.linked) = (0, known, false);
        if let Some(at) = tree.finder().descend_near::<S>(key) {
            let inner = at.inner::<B>();
            // As many as a short range needs; more are looked up if they turn out to be needed.
            let most = (self.expected / Leaf::<B>::CAPACITY).saturating_add(2);
            let to = known..ROOM.min(known.saturating_add(most));
            let limit = if self.direction == Direction::Forward { self.high } else { self.low };
            let (found, onward) = inner.children_from::<S>(key, self.direction, limit, &mut self.ahead[to]);
            (self.len, self.onward) = (known + found, onward);
            if known == 0 && found > 0 {
                self.ask_from_share::<S>(tree, inner, key);
            }
            if let Some(onward) = onward.filter(|&key| inner.low() <= key && key <= inner.high()) {
                // The start of the next lookup.
                for line in Inner::<B>::likely_lines(inner.named_block::<S>(onward)) {
                    prefetch_read(at.line_address(line));
                }
            }
        }
        if self.len == 0 {
            self.start_at(tree.finder().descend::<S>(self.key()).node);
        }
    }
}

struct LookFurther<'a, B, const ROOM: usize> {
    sweep: &'a mut Sweep<B, ROOM>,
    tree: &'a BlinkTree<B>,
}

impl<B: Bits, const ROOM: usize> Operation for LookFurther<'_, B, ROOM> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        self.sweep.look_further::<S>(self.tree);
    }
}

struct NextLeaf<'a, B: Bits, M, const ROOM: usize> {
    sweep: &'a mut Sweep<B, ROOM>,
    tree: &'a BlinkTree<B>,
    into: &'a mut Entries<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, const ROOM: usize> Operation for NextLeaf<'_, B, M, ROOM> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        self.sweep.next_leaf_with::<S, M>(self.tree, self.into)
    }
}

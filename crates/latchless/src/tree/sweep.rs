//! Going through the leaves of a range, with the leaves ahead already on their way.
//!
//! A leaf's link says which leaf comes next, so a short range needs no more than that. The leaves of a longer
//! range are known from the inner node above them (the paper's internal jump-pointer array, pB+-Tree
//! §3.4), so nothing extra is stored. What that node said may be out of date: each leaf is taken only if its
//! fences continue where the leaf before ended; otherwise the way is looked up anew.
//!
//! # How far ahead
//! [`LINES_IN_FLIGHT`] is the paper's B: how many lines memory delivers, one after the other, in the time in
//! which it delivers one. With that many lines on their way a reader waits for none. Of leaves of w lines
//! that is its prefetch distance k = ⌈B/w⌉ (Eq. 2); here it is counted in lines, so that it also fits a
//! reader of single lines of leaves. Nothing is prefetched that the caller can't want: no leaf beyond the
//! range, and no more lines than those that the wanted entries fill.

mod asking;

use super::*;
use crate::node::operation::{Operation, Run, Search};
use crate::node::{Entries, LINES};
use asking::prefetch_lines;
use latchless_core::base::index::Direction;
use latchless_core::base::span::{before, behind};
use latchless_core::latch::Version;
use latchless_core::mem::line::prefetch_read;
use latchless_core::search::Scalar;

pub(super) use asking::lines_of;

/// B of the paper's Eq. (2), T1/Tnext: see the module documentation.
pub(super) const LINES_IN_FLIGHT: usize = 48;
/// Lines that are asked for at first where it isn't known how long the range is.
const LINES_AT_FIRST: usize = 24;
/// Lines that are on their way, once the first of these are read, until the range turns out to be long.
pub(super) const LINES_NEXT: usize = 16;
/// Leaves that a reader of chunks has read before it looks up those ahead in the inner node: short ranges are
/// over by then.
const LEAVES_BY_LINK: u8 = 3;
/// Leaves that a sweep of whole leaves may want, for it to look those ahead up at once.
const LONG: usize = 4;
/// Leaves that a sweep of whole leaves knows of at a time: those of most of an inner node.
const AHEAD: usize = 64;
/// Leaves that a reader of chunks knows of at a time, whose state is to be small.
pub(super) const AHEAD_OF_CHUNKS: usize = 12;
/// Leaves that a count knows of at a time: it reads one line of each.
pub(super) const AHEAD_OF_COUNTS: usize = 64;

/// A place in a range that is gone through leaf by leaf. Holds no latch and borrows nothing, so it can
/// be kept while the tree changes.
#[derive(Debug, Clone)]
pub struct Sweep<B, const ROOM: usize = AHEAD> {
    pub(super) low: B,
    pub(super) high: B,
    pub(super) direction: Direction,
    pub(super) done: bool,
    /// The most entries that the caller can still want.
    wanted: usize,
    /// How many entries are expected to be wanted, at most as many.
    expected: usize,
    /// The leaf to read next, and then leaves after it, as the link or the inner nodes above named them.
    ahead: [NodeRef; ROOM],
    at: usize,
    len: usize,
    /// Lines that were asked for, from the first line of the leaf to read next on.
    asked: usize,
    /// Leaves that were read, as far as that matters.
    read: u8,
    /// Whether links named the leaves ahead.
    linked: bool,
    /// A key of the inner node behind the leaves ahead, if inner nodes named them and the range reaches it.
    onward: Option<B>,
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
    /// A sweep over the keys `low..=high`; nothing if `low` is above `high`. `wanted`: the most entries that
    /// will be wanted.
    #[inline(always)]
    pub fn new(low: B, high: B, direction: Direction, wanted: usize) -> Self {
        Self::with_room(low, high, direction, wanted)
    }
}

impl<B: Bits, const ROOM: usize> Sweep<B, ROOM> {
    /// As [`Sweep::new`], with room for so many leaves ahead.
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

    /// What is left of the range, both ends inclusive; `None` when nothing is.
    #[inline(always)]
    pub fn remaining(&self) -> Option<(B, B)> {
        (!self.done).then_some((self.low, self.high))
    }

    /// Says how many entries can still be wanted.
    #[inline(always)]
    pub(super) fn want(&mut self, entries: usize) {
        (self.wanted, self.expected) = (entries, entries);
    }

    /// How many entries can still be wanted.
    #[inline(always)]
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// How many entries are expected to be wanted.
    #[inline(always)]
    pub(super) fn expected(&self) -> usize {
        self.expected
    }

    /// Says that about so many entries will be wanted. If more are after all, that is noticed.
    #[inline(always)]
    pub(super) fn expect(&mut self, entries: usize) {
        self.expected = self.wanted.min(entries.max(1));
    }

    /// So many entries were shown.
    #[inline(always)]
    pub(super) fn shown(&mut self, entries: usize) {
        self.wanted = self.wanted.saturating_sub(entries);
        // It goes on longer than expected: then nothing is known but that.
        let expected = self.expected.saturating_sub(entries);
        self.expected = if expected == 0 { self.wanted } else { expected };
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
            let (start, ahead) = self.reach::<S>(tree);
            let (fences, _, _) = self.read::<M, _>(
                tree,
                start,
                #[inline(always)]
                |leaf| {
                    // In the first leaf the lines before the range aren't even read.
                    let inside = forward && leaf.low() < low;
                    let first = if inside { leaf.first_block::<S>(low) } else { 0 };
                    leaf.copy_out_and_ask::<S>(first, into, ahead);
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

    /// Reads the first line of the next leaf of the range and goes on behind it. `look` says what it finds
    /// and the leaf's fences; it may run several times, and on a leaf that is being changed; only what it
    /// says at last counts.
    #[inline(always)]
    pub(super) fn next<S: Search, M: Mode, R>(
        &mut self,
        tree: &BlinkTree<B>,
        look: impl FnMut(Leaf<'_, B>) -> (R, (B, B)),
    ) -> (R, (B, B)) {
        let start = self.find::<S>(tree, Depth::Header);
        self.follow_link(start.leaf());
        self.ask_for_headers(tree);
        // Handed on as it is: a closure around it wouldn't always be inlined.
        let (found, _, _) = self.read::<M, _>(tree, start, look);
        self.advance(found.1);
        found
    }

    /// Where the leaf to read next is likely to be, all of which will be read, and the leaves after it are
    /// known and asked for; but for the lines of one, which are best asked for one by one while those of the
    /// first are read: where they begin, unless all were asked for.
    #[inline(always)]
    pub(super) fn reach<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>) -> (At<'a>, Option<*const u8>) {
        let start = self.find::<S>(tree, Depth::Entries);
        self.follow_link(start.leaf());
        // The lines of the first leaf that are before the range aren't wanted.
        let inside = self.direction == Direction::Forward && self.read == 0;
        let from = if inside && self.linked { start.leaf().named_block::<S>(self.low) + 1 } else { 0 };
        (start, self.ask_but_one(tree, from))
    }

    /// Asks for the first lines of the first leaves.
    #[inline(always)]
    pub(super) fn ask_for_first<S: Search>(&mut self, tree: &BlinkTree<B>) {
        self.find::<S>(tree, Depth::Header);
        self.ask_for_headers(tree);
    }

    /// As [`Sweep::next`], of a leaf that is latched: so `take` runs once.
    #[inline(always)]
    pub(super) fn next_latched<S: Search, M: Mode>(
        &mut self,
        tree: &BlinkTree<B>,
        take: impl FnOnce(Leaf<'_, B>, &mut M::Held<'_>),
    ) {
        let start = self.find::<S>(tree, Depth::Header);
        self.follow_link(start.leaf());
        self.ask_for_headers(tree);
        let (at, mut held) = tree.latch_leaf::<M>(start, self.key());
        if at.node != self.ahead[self.at] {
            self.start_at(at.node);
        }
        let leaf = at.leaf();
        let fences = leaf.fences();
        take(leaf, &mut held);
        drop(held);
        self.advance(fences);
    }

    /// Reads the leaf to read next, as of one moment. Says which leaf it was and in which version.
    #[inline(always)]
    pub(super) fn read<'a, M: Mode, R>(
        &mut self,
        tree: &'a BlinkTree<B>,
        start: At<'a>,
        look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        let read = tree.read_leaf_from::<M, _>(start, self.key(), look);
        if read.1 != self.ahead[self.at] {
            // The leaves ahead are out of date.
            self.start_at(read.1);
        }
        read
    }

    /// The key at which the range goes on.
    #[inline(always)]
    pub(super) fn key(&self) -> B {
        if self.direction == Direction::Forward { self.low } else { self.high }
    }

    /// Forgets which leaves are ahead.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        (self.at, self.len) = (0, 0);
    }

    /// Where the leaf to read next is likely to be.
    #[inline(always)]
    pub(super) fn find<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>, depth: Depth) -> At<'a> {
        let key = self.key();
        let first = self.at == self.len && (self.direction == Direction::Forward || self.read == 0);
        if first && !self.is_long() {
            if depth == Depth::Entries && self.direction == Direction::Forward {
                return self.enter::<S>(tree, key);
            }
            let at = tree.descend::<S>(key);
            self.start_at(at.node);
            return at;
        }
        if depth == Depth::Entries && self.direction == Direction::Forward {
            if first && self.read == 0 {
                self.ask_by_guess(tree, key);
            } else if self.linked && self.read + 1 == LEAVES_BY_LINK {
                // If the range goes on, the leaves ahead are looked up there.
                tree.ask_for_way(key);
            }
        }
        self.look_ahead(tree, depth);
        let node = self.ahead[self.at];
        // A node of before a `clear` is gone or zeroed, and an inner node has no high fence where a leaf has
        // it: zeroed and inner nodes look like a leaf of the smallest key alone. All are looked up anew.
        let named = tree.arena.find(node).map(|lines| At { node, lines });
        match named.filter(|at| at.leaf::<B>().high() != B::MIN) {
            Some(at) => at,
            None => tree.at(tree.descend_to::<Scalar>(0, key).expect("every tree has leaves")),
        }
    }

    /// Where the leaf of `key` is likely to be. Asks for the lines that a short range reads from there on, in
    /// the leaf after it as well, before any of them tells where the range really begins.
    #[inline(always)]
    fn enter<'a, S: Search>(&mut self, tree: &'a BlinkTree<B>, key: B) -> At<'a> {
        let lines = lines_of::<B>(self.expected).min(LINES_AT_FIRST);
        let guess = tree.guesses.guess_two(key.to_u64());
        let (leaf, share, next) = match guess {
            Some(guess) => guess,
            None => {
                let (leaf, share) = tree.descend_through_nodes::<S>(key);
                (leaf, share, leaf)
            }
        };
        let at = tree.at(leaf);
        self.start_at(leaf);
        prefetch_read(at.line_address(0));
        let first = Leaf::<B>::first_likely_line(share);
        let own = lines.max(3).min(LINES - first);
        prefetch_lines(at.line_address(first), own);
        if lines > own && next != leaf {
            let more = (lines - own + 1).min(LINES);
            prefetch_lines(tree.arena.address(next), more);
            (self.ahead[1], self.asked) = (next, LINES + more);
        }
        at
    }

    /// Takes this for the leaf to read next, of which nothing more needs to be asked for.
    #[inline(always)]
    fn start_at(&mut self, node: NodeRef) {
        (self.ahead[0], self.at, self.len, self.asked) = (node, 0, 1, LINES);
        (self.linked, self.onward) = (true, None);
    }

    /// Whether it is likely that many leaves are wanted: because the caller goes through whole leaves and
    /// hasn't said otherwise, or because so many were read.
    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.read >= LEAVES_BY_LINK || ROOM != AHEAD_OF_CHUNKS && self.expected >= LONG * Leaf::<B>::CAPACITY
    }

    /// Finds out about leaves ahead when few are left.
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
            tree.dispatch.run(LookFurther { sweep: self, tree });
        }
    }

    /// Takes the link of the leaf to read next for the one after it, if no other is known.
    #[inline(always)]
    pub(super) fn follow_link(&mut self, leaf: Leaf<'_, B>) {
        let link = leaf.link();
        let last = self.at + 1 == self.len && self.linked && self.direction == Direction::Forward;
        if last && leaf.high() < self.high && !link.is_nil() {
            // Lines of the leaf after it were asked for already, if it was guessed right.
            if self.at > 0 || self.ahead[1] != link {
                self.asked = self.asked.min(LINES);
            }
            (self.ahead[0], self.ahead[1]) = (self.ahead[self.at], link);
            (self.at, self.len) = (0, 2);
        }
    }

    /// Goes on behind the leaf that was read.
    #[inline(always)]
    pub(super) fn advance(&mut self, (low, high): (B, B)) {
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

    /// Looks up leaves from where those end that inner nodes named.
    #[inline(always)]
    fn look_further<S: Search>(&mut self, tree: &BlinkTree<B>) {
        let (key, known) = match self.onward.take() {
            Some(key) => (key, self.len - self.at),
            None => (self.key(), 0),
        };
        self.ahead.copy_within(self.at..self.at + known, 0);
        (self.at, self.len, self.linked) = (0, known, false);
        if let Some(at) = tree.descend_near::<S>(key) {
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
                // Where the next look begins.
                for line in Inner::<B>::likely_lines(inner.named_block::<S>(onward)) {
                    prefetch_read(at.line_address(line));
                }
            }
        }
        if self.len == 0 {
            self.start_at(tree.descend::<S>(self.key()).node);
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
    into: &'a mut LeafCopy<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, const ROOM: usize> Operation for NextLeaf<'_, B, M, ROOM> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        self.sweep.next_leaf_with::<S, M>(self.tree, self.into)
    }
}

//! Every way to the leaf of a key: by a prediction, as the first or the last leaf, from an entry of the
//! directory, or from the root. Readers descend unvalidated, writers latch the leaf.
//!
//! What an operation learns at the leaf goes back into the predictions and the directory: that it was misled
//! ([`Finder::correct`]), that a leaf has other fences ([`Finder::name_leaf`]), or that a leaf was split
//! ([`Finder::keep_directory`]). What it reads or changes in the leaf doesn't matter here.

use super::directory::survey::{Survey, Surveyor};
use super::directory::{Directory, Entry, Routing};
use super::guesses::Guesses;
use super::store::{At, Latched, Store};
use crate::blink::{Levels, Mode, latch_covering};
use crate::node::operation::Search;
use crate::node::{Inner, Leaf};
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::Backoff;
use std::sync::Mutex;

/// How often a reader tries to read a leaf at rest before it takes the leaf's latch.
pub const READ_TRIES: u32 = 16;

/// How often a misled reader looks elsewhere without backing off.
const MISLED_TRIES: u32 = 2;

/// What is known about where keys are, besides the nodes. Wrong entries cost time only.
#[derive(Debug)]
pub(super) struct Ways {
    directory: Directory,
    guesses: Guesses,
    /// The survey that is under way. Locked while entries of the directory are written.
    survey: Mutex<Option<Box<Survey>>>,
}

impl Ways {
    /// Of a tree that hasn't been surveyed.
    pub(super) fn unknown(huge_pages: bool, prefault: bool) -> Self {
        let (directory, survey) = (Directory::default(), Mutex::new(None));
        Self { directory, guesses: Guesses::none(huge_pages, prefault), survey }
    }

    /// Of another tree that hasn't been surveyed, with the same options.
    pub(super) fn alike(&self) -> Self {
        let (directory, survey) = (Directory::default(), Mutex::new(None));
        Self { directory, guesses: self.guesses.alike(), survey }
    }

    /// Removes everything that is known.
    pub(super) fn clear(&mut self) {
        self.directory.clear();
        self.guesses.clear();
        self.survey = Mutex::new(None);
    }
}

/// A tree's nodes, and the ways to its leaves: one object, so that a [`Finder`] is one pointer.
#[derive(Debug)]
pub(super) struct Findable<B> {
    pub(super) store: Store<B>,
    pub(super) ways: Ways,
}

/// Finds leaves in a tree.
#[derive(Clone, Copy)]
pub(super) struct Finder<'a, B> {
    of: &'a Findable<B>,
}

impl<'a, B: Bits> Finder<'a, B> {
    #[inline(always)]
    pub(super) fn new(of: &'a Findable<B>) -> Self {
        Self { of }
    }

    #[inline(always)]
    pub(super) fn guesses(self) -> &'a Guesses {
        &self.of.ways.guesses
    }

    #[inline(always)]
    pub(super) fn directory(self) -> &'a Directory {
        &self.of.ways.directory
    }

    /// Returns the starts of descents.
    #[inline(always)]
    pub(super) fn routing(self) -> Routing<'a, B> {
        Routing { store: &self.of.store, directory: &self.of.ways.directory }
    }

    fn surveyor(self) -> Surveyor<'a, B> {
        Surveyor { store: &self.of.store, directory: &self.of.ways.directory, guesses: &self.of.ways.guesses }
    }

    /// Finds the leaf of `key`, or one that it belonged to: only the leaf's fences decide. The key's place
    /// in the leaf is estimated from its place between the leaf's separators, as if keys were evenly
    /// distributed. So the line that has it is probably prefetched by the time the leaf's first line gives
    /// the exact place.
    #[inline(always)]
    pub(super) fn descend<S: Search>(self, key: B) -> At<'a> {
        let guess = self.of.ways.guesses.guess(key.to_u64());
        let (leaf, share) = match guess {
            Some(guess) => guess,
            None => self.descend_through_nodes::<S>(key),
        };
        let at = self.of.store.at(leaf);
        Self::ask_for_leaf(at, share);
        at
    }

    /// Prefetches the first line of a leaf and the lines that probably have a key of this sixteenth of it.
    #[inline(always)]
    pub(super) fn ask_for_leaf(leaf: At<'_>, share: usize) {
        prefetch_read(leaf.line_address(0));
        let likely = leaf.line_address(Leaf::<B>::first_likely_line(share));
        for line in 0..3 {
            prefetch_read(likely.wrapping_add(line * LINE_BYTES));
        }
    }

    /// Finds the leaf of `key` through inner nodes, without a predicted leaf. Also returns the sixteenth of
    /// the leaf in which the key probably is. See [`Finder::descend`].
    #[inline(always)]
    pub(super) fn descend_through_nodes<S: Search>(self, key: B) -> (NodeRef, usize) {
        if let Some(end) = self.of.ways.guesses.at_an_end(key.to_u64()) {
            return end;
        }
        let start = self.routing().start(key);
        let mut at = self.of.store.at(start.node());
        // A slot is as wide as a few blocks.
        if start.level() == 1
            && let Some(found) = at.inner::<B>().child_near::<S>(start.block(), key)
        {
            return found;
        }
        for _ in 1..start.level() {
            at = self.of.store.at(at.inner::<B>().child::<S>(key));
        }
        if start.level() > 0 { at.inner::<B>().child_and_share::<S>(key) } else { (at.node, 0) }
    }

    /// Prefetches the first of the blocks that a slot covers, and the hints.
    #[inline(always)]
    fn ask_for_block(at: At<'_>, start: Entry) {
        for line in Inner::<B>::likely_lines(start.block()) {
            prefetch_read(at.line_address(line));
        }
    }

    /// Prefetches the start of a descent of `key` to the level above the leaves.
    #[inline(always)]
    pub(super) fn ask_for_way(self, key: B) {
        let start = self.routing().start(key);
        Self::ask_for_block(self.of.store.at(start.node()), start);
    }

    /// Prefetches what a split or a loan accesses above the leaf of `key`: its parent's first line, the
    /// lines near the leaf's separator, and the fences.
    #[inline(always)]
    pub(super) fn ask_for_parent(self, key: B) {
        let start = self.routing().start(key);
        let at = self.of.store.at(start.node());
        Self::ask_for_block(at, start);
        prefetch_read(at.line_address(Inner::<B>::FENCES));
    }

    /// Finds the node of `key` on the level above the leaves, if there is one. See [`Finder::descend`].
    #[inline(always)]
    pub(super) fn descend_near<S: Search>(self, key: B) -> Option<At<'a>> {
        let start = self.routing().start(key);
        let top = self.of.store.at(start.node());
        Self::ask_for_block(top, start);
        let mut at = top;
        for _ in 1..start.level() {
            at = self.of.store.at(at.inner::<B>().child::<S>(key));
        }
        (start.level() > 0).then_some(at)
    }

    /// Latches the leaf that `key` belongs to. `start` is the result of a descent.
    #[inline(always)]
    pub(super) fn latch_leaf<M: Mode>(self, start: At<'a>, key: B) -> (At<'a>, M::Held<'a>) {
        let (held, leaf) = (M::latch(start.lines.as_flattened(), self.of.store.origin()), start.leaf::<B>());
        if leaf.low() <= key && key <= leaf.high() {
            return (start, held);
        }
        drop(held);
        self.of.store.counts().count_misled(1);
        self.correct(key, start.node);
        self.latch_covering::<M>(0, key).expect("every tree has leaves")
    }

    /// Latches the node of a level that `key` belongs to, if the tree has that level.
    #[inline(never)]
    pub(super) fn latch_covering<M: Mode>(self, level: usize, key: B) -> Option<Latched<'a, M>> {
        // The directory doesn't cover nodes that were split at the end of keys in order.
        let is_near = level == 1 && self.of.ways.guesses.at_an_end(key.to_u64()).is_none();
        let near = if is_near { self.descend_near::<Scalar>(key) } else { None };
        let start = near.map_or_else(|| self.of.store.descend_to(level, &key), |at| Some(at.node))?;
        latch_covering::<_, M>(&self.of.store, start, level, &key)
    }

    /// Returns what `look` finds in the leaf that `key` belongs to, at rest. `look` may run several times,
    /// also on a leaf that is being changed; such results are discarded.
    #[inline(always)]
    pub(super) fn read_leaf<S: Search, M: Mode, R>(self, key: B, look: impl FnMut(Leaf<'_, B>) -> R) -> R {
        self.read_leaf_from::<M, R>(self.descend::<S>(key), key, look).0
    }

    /// Reads the leaf that `key` belongs to, from `node`, the result of a descent. Also returns that leaf
    /// and its version, unless it was read under its latch. See [`Finder::read_leaf`].
    #[inline(always)]
    pub(super) fn read_leaf_from<M: Mode, R>(
        self,
        mut at: At<'a>,
        key: B,
        mut look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        let (mut backoff, mut tries) = (Backoff::default(), 0);
        loop {
            let (latch, leaf) = (at.latch(), at.leaf::<B>());
            // The only call of `look`: with two it wouldn't be inlined.
            let held =
                (tries == READ_TRIES).then(|| M::latch(at.lines.as_flattened(), self.of.store.origin()));
            let version = latch.stable_version();
            let inside = leaf.covers(key);
            let found = look(leaf);
            let at_rest =
                !M::SHARED || held.is_some() || version.is_some_and(|version| latch.validate(version));
            if inside && at_rest {
                return (found, at.node, version);
            }
            drop(held);
            at = self.of.store.at(self.look_again(at, key, at_rest));
            tries = READ_TRIES.min(tries + 1);
            // A reader that is only misled needn't wait. One that is misled repeatedly waits for a change
            // that is under way, or, in a child, for one that was under way at the fork.
            if !at_rest || tries > MISLED_TRIES {
                backoff.wait_at(self.of.store.origin());
            }
        }
    }

    /// Returns where to look next for `key`, which this leaf doesn't cover, or which couldn't be read there.
    #[cold]
    #[inline(never)]
    fn look_again(self, at: At<'_>, key: B, at_rest: bool) -> NodeRef {
        self.of.store.counts().count_restart();
        if at_rest {
            self.of.store.counts().count_misled(1);
            self.correct(key, at.node);
            // A split moves keys to the next leaf.
            let right = at.leaf::<B>().link();
            if !right.is_nil() && self.of.store.leaf(right).covers(key) {
                return right;
            }
        }
        self.of.store.descend_to_leaf(key)
    }

    /// Returns an estimate of the number of entries between two keys, rather too large; the maximum if
    /// nothing is known. It assumes slots as wide as half a leaf.
    #[inline(always)]
    pub(super) fn about(self, low: B, high: B) -> usize {
        let slots = self.of.ways.guesses.slots();
        let quarters = slots.map(|slots| slots.quarters_between(low.to_u64(), high.to_u64()));
        // One more quarter at each end, and at most five eighths of a leaf per slot.
        let eighths = |quarters: u64| (quarters as usize).saturating_add(2).saturating_mul(5);
        quarters.map_or(usize::MAX, |quarters| eighths(quarters).saturating_mul(Leaf::<B>::CAPACITY) / 32)
    }
}

/// What operations learn about leaves.
impl<B: Bits> Finder<'_, B> {
    /// Enters a leaf with these fences.
    #[inline]
    pub(super) fn name_leaf(self, leaf: NodeRef, low: B, high: B) {
        self.of.ways.guesses.name(leaf, low, high);
    }

    /// Corrects the entry that misled a descent for `key` to a leaf: a slot, or an entry of the directory.
    #[cold]
    #[inline(never)]
    fn correct(self, key: B, misled_to: NodeRef) {
        let guesses = &self.of.ways.guesses;
        let guess = guesses.slots().and_then(|slots| Some((slots, slots.guess(key.to_u64())?)));
        let Some((slots, _)) = guess.filter(|(_, (leaf, _))| *leaf == misled_to) else {
            let end = guesses.at_an_end(key.to_u64());
            return match end.filter(|(leaf, _)| *leaf == misled_to) {
                Some(_) => self.find_ends(),
                None => self.correct_entry(key),
            };
        };
        guesses.was_wrong();
        let leaf = self.of.store.descend_to_leaf(key);
        let (low, high) = self.of.store.fences(0, leaf);
        slots.name_from(key.to_u64(), leaf, (low.to_u64(), high.to_u64()));
    }

    /// Finds the first and the last leaf again.
    fn find_ends(self) {
        for end in [B::MIN, B::MAX] {
            let leaf = self.of.store.descend_to_leaf(end);
            let (low, high) = self.of.store.fences(0, leaf);
            self.of.ways.guesses.name_end(leaf, low, high);
        }
    }

    /// After a split: corrects the entry of `key`, and works on a new directory if one is due.
    #[inline]
    pub(super) fn keep_directory(self, key: B) {
        // Operations on keys before or after all others need no entry.
        if self.of.ways.guesses.at_an_end(key.to_u64()).is_none() {
            self.correct_entry(key);
        }
        if self.of.ways.directory.is_due() {
            self.go_on_with_survey();
        }
    }

    /// Rewrites the entry of a key if it doesn't lead to the key's lowest inner node.
    fn correct_entry(self, key: B) {
        if !self.routing().is_right(key) {
            self.write_entry(key);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_entry(self, key: B) {
        // Another writer may be about to correct the same entry; if not, the next one will.
        if let Ok(_alone) = self.of.ways.survey.try_lock() {
            self.routing().write_entry(key);
        }
    }

    /// Runs a piece of the survey that is under way, or of a new one if it is due.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on_with_survey(self) {
        if let Ok(mut survey) = self.of.ways.survey.try_lock() {
            self.surveyor().go_on(&mut survey);
        }
    }

    /// Runs a whole survey at once, for a tree that was built at once.
    pub(super) fn survey(self) {
        if let Ok(mut survey) = self.of.ways.survey.try_lock() {
            self.surveyor().run_at_once(&mut survey);
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
impl<'a, B: Bits> Finder<'a, B> {
    /// Begins a survey and runs `pieces` pieces of it.
    pub(super) fn begin_survey_with_pieces(self, pieces: usize) {
        self.of.ways.directory.survey_begins();
        (0..pieces).for_each(|_| self.go_on_with_survey());
    }

    /// Locks the survey, as a thread of the parent may have at a fork.
    pub(super) fn hold_survey(self) -> impl Drop + use<'a, B> {
        self.of.ways.survey.try_lock().expect("nobody else holds it")
    }
}

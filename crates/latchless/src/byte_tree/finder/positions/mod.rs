//! The position table: predicts a key's leaf from the key's position in the range of all keys.
//!
//! Most byte strings that serve as keys are numbers in some notation: random or ascending ones, identifiers
//! in decimal or hexadecimal digits, after a common prefix. [`Numbers`] converts such a string back to a
//! number, and the numbers are spread evenly. So their range is cut into slots of equal width, some two for
//! each leaf, and a slot says which leaf covers it: these are the [slots](crate::tree::Slots) by which keys
//! of fixed width are guessed. A lookup then reads a slot and the leaf, and no inner node.
//!
//! There is a table when the tree is larger than a second-level cache. It is rebuilt, empty, when the tree
//! has outgrown it, or when many leaves were split outside of its range. Operations that go down the tree
//! write the leaf that they find into an empty slot, splits write the slots of both halves, and a misled
//! operation corrects its slot. Strings that aren't numbers, such as words and addresses, crowd in few
//! slots. So operations are sampled, and when fewer than three of four are guessed, the table is dropped
//! until the tree has twice as many leaves.
//!
//! Operations that add keys are sampled apart from those that find keys. Where keys grow at many places, as
//! those of time series do, several leaves may have one number, and no slot tells them apart. But the next
//! key goes to the leaf of the previous one, so a key that was added elsewhere than its slot said corrects
//! the slot.
//!
//! # Thread safety
//! A guess counts only if the leaf's fences confirm it. Any thread may write any word at any time, so a
//! layout may be read half old and half new, and then guesses are wrong. A slot that isn't empty names a
//! node that is, or was, a leaf; nodes of that level are leaves for ever. An unused table's memory goes
//! back to the system while other threads may still look at it: they find empty slots.

mod numbers;
mod survey;

use super::guesses::is_chosen;
use crate::blink::Levels;
use crate::byte_tree::node::SUFFIX_ROOM;
use crate::byte_tree::shape::Shape;
use crate::byte_tree::store::Store;
use crate::tree::{Segments, Share, Slots};
use latchless_core::mem::budget::Budget;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::once_array::OnceArray;
use latchless_core::mem::words::Words;
use latchless_core::sync::Word;
use numbers::Numbers;
use std::sync::{Arc, OnceLock};

/// Trees with fewer leaves have no table: caches hold their inner nodes.
const FEWEST_LEAVES: usize = if cfg!(latchless_small_nodes) { 80 } else { 512 };
/// Slots of the smallest table, by their logarithm; those of each other one are twice as many.
const FEWEST_SLOTS: u32 = (2 * FEWEST_LEAVES).ilog2();
/// The largest table is for more leaves than references can distinguish.
const SIZES: usize = 24;
/// A table is out of date when as many leaves were split outside of its range as one for this many slots.
const OUTSIDE_SHARE: usize = 16;
/// One in this many operations is counted.
pub(super) const SAMPLED: u32 = if cfg!(latchless_small_nodes) { 1 } else { 64 };
/// In leaves narrower than this many quarters of a slot, positions predict little.
const NARROWEST: u64 = 2;
/// Weight of an operation without a right guess, against one with it.
const IN_VAIN: i64 = 3;
/// Excess weight of useless guesses at which the table is dropped.
const PATIENCE: i64 = 512;
/// Tables of at least this size use huge pages, if enabled.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// The purpose of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// To find keys or their neighbours.
    Find,
    /// To add keys.
    Add,
}

/// The purpose of an operation, and whether it added its key.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    pub aim: Aim,
    pub is_new: bool,
}

/// The table. See the file's head.
#[derive(Debug)]
pub struct Positions {
    /// For each [`Aim`] the size of the table that is in use, plus one; 0: none is, or guesses don't pay
    /// there.
    forms: [Word; 2],
    /// The number at which the first slot begins, and slots a number, in 2^-64.
    base: Word,
    scale: Word,
    /// 1: slots are as wide as `segments` say.
    is_segmented: Word,
    segments: OnceLock<Box<Segments>>,
    numbers: Numbers,
    /// Tables by size, made when first wanted.
    tables: OnceArray<Words<Word>, SIZES>,
    /// The size of a table that was emptied for the next layout, and one more.
    emptied: Word,
    /// Right guesses less others among the operations of each [`Aim`] that were counted, as an `i64`.
    balances: [Word; 2],
    /// The same sample for lookups in leaves of records: whether the key was at its likely place. If fewer
    /// than three of four were, lookups don't look there until the next layout.
    nearness: Word,
    /// Leaves that were split outside of the range.
    outside: Word,
    /// In trees of fewer nodes there is no table for an [`Aim`].
    not_before: [Word; 2],
    /// 1 when no thread is laying out a table.
    is_idle: Word,
    /// A bit for each table that is charged to the budget. Only the thread that has made `is_idle` zero
    /// reads it.
    charged: Word,
    huge_pages: bool,
    prefault: bool,
    /// The budget that tables are charged to, and the memory for numbers and places.
    budget: Arc<Budget>,
}

/// Slots of a table of this size.
fn slots_of(size: usize) -> usize {
    1 << (FEWEST_SLOTS as usize + size)
}

/// Bytes of a table of this size: its slots, and one more that marks the end of the last one.
fn bytes_of(size: usize) -> usize {
    (slots_of(size) + 1) * size_of::<Word>()
}

/// Nodes for which there are too few slots.
fn too_many_for(slots: usize) -> usize {
    2 * slots / 3 + 1
}

impl Positions {
    /// No table.
    pub fn none(huge_pages: bool, prefault: bool, budget: &Arc<Budget>) -> Self {
        let [base, scale, is_segmented, emptied, outside, nearness] = [const { Word::new(0) }; 6];
        Self {
            forms: [const { Word::new(0) }; 2],
            base,
            scale,
            is_segmented,
            segments: OnceLock::new(),
            numbers: Numbers::none(),
            tables: OnceArray::empty(),
            emptied,
            balances: [const { Word::new(0) }; 2],
            nearness,
            outside,
            not_before: [const { Word::new(FEWEST_LEAVES as u64) }; 2],
            is_idle: Word::new(1),
            charged: Word::new(0),
            huge_pages,
            prefault,
            budget: Arc::clone(budget),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.budget.give_back(self.charged_bytes() + self.fixed_bytes());
        *self = self.alike();
    }

    /// No table of another tree yet, on pages of the same kind and with memory from the same budget.
    pub fn alike(&self) -> Self {
        Self::none(self.huge_pages, self.prefault, &self.budget)
    }

    /// The form of the table that is in use for any [`Aim`]; 0: none is.
    fn form(&self) -> usize {
        self.forms.iter().fold(0, |form, own| form.max(own.follow() as usize))
    }

    /// The slots, if there are any.
    fn slots(&self) -> Option<Slots<'_>> {
        self.slots_by(self.form())
    }

    /// The slots for an [`Aim`], if they pay.
    #[inline(always)]
    fn slots_for(&self, aim: Aim) -> Option<Slots<'_>> {
        self.slots_by(self.forms[aim as usize].follow() as usize)
    }

    #[inline(always)]
    fn slots_by(&self, form: usize) -> Option<Slots<'_>> {
        if form == 0 {
            return None;
        }
        let words = self.tables.get(form - 1)?;
        let segments =
            if self.is_segmented.load_relaxed() == 0 { None } else { Some(&**self.segments.get()?) };
        Some(Slots::new((self.base.load_relaxed(), self.scale.load_relaxed()), segments, words))
    }

    /// The leaf that is likely to have a key, and where in it.
    #[inline(always)]
    pub fn guess(&self, key: &[u8], aim: Aim) -> Option<(NodeRef, Share)> {
        self.slots_for(aim)?.guess(self.numbers.of(key))
    }

    /// How many keys there are in a part of a slot, of this many.
    pub fn density(&self, keys: usize) -> u64 {
        self.slots().map_or(0, |slots| slots.density(keys))
    }

    /// The guess, and the leaf that is likely to come after it: to prefetch, not to follow.
    #[inline(always)]
    pub fn guess_two(&self, key: &[u8]) -> Option<(NodeRef, Share, NodeRef)> {
        self.slots_for(Aim::Find)?.guess_two(self.numbers.of(key))
    }

    /// Prefetches the slots of keys, if there are any, and returns each key's place.
    #[inline(always)]
    pub fn ask_for_all(&self, keys: &[&[u8]], aim: Aim, places: &mut [u64]) -> Option<Slots<'_>> {
        let slots = self.slots_for(aim)?;
        for (key, place) in keys.iter().zip(places) {
            *place = slots.ask(self.numbers.of(key));
        }
        Some(slots)
    }

    /// Whether positions distinguish a leaf of these fences from its neighbours, or there was no table yet.
    pub fn tell(&self, low: &[u8], high: Option<&[u8]>) -> bool {
        let Some(slots) = self.slots_for(Aim::Find) else {
            return self.not_before[Aim::Find as usize].load_relaxed() <= FEWEST_LEAVES as u64;
        };
        let (low, high) = self.numbers.of_fences(low, high);
        slots.quarters_between(low, high) >= NARROWEST
    }

    /// Whether there are slots that pay.
    #[inline(always)]
    pub fn are_any(&self, aim: Aim) -> bool {
        self.forms[aim as usize].load_relaxed() != 0
    }

    /// Bytes of the table, and of the memory for numbers and places.
    pub fn bytes(&self) -> usize {
        let form = self.form();
        self.fixed_bytes() + if form == 0 { 0 } else { bytes_of(form - 1) }
    }

    /// Bytes of the memory for numbers and places.
    fn fixed_bytes(&self) -> usize {
        self.numbers.bytes() + self.segments.get().map_or(0, |_| size_of::<Segments>())
    }

    /// Bytes of the tables that are counted as held.
    fn charged_bytes(&self) -> usize {
        (0..SIZES).filter(|&size| self.is_charged(size)).map(bytes_of).sum()
    }

    fn is_charged(&self, size: usize) -> bool {
        self.charged.load_relaxed() >> size & 1 != 0
    }

    /// A table that was counted takes no memory any more.
    fn discharge(&self, size: usize) {
        if self.is_charged(size) {
            self.charged.add((1u64 << size).wrapping_neg());
            self.budget.give_back(bytes_of(size));
        }
    }

    /// Whether a tree of this many nodes should have a table, or a larger or a newer one.
    pub fn is_outgrown(&self, nodes: usize) -> bool {
        match self.form() {
            0 => self.not_before.iter().any(|fewest| nodes as u64 >= fewest.load_relaxed()),
            form => {
                let slots = slots_of(form - 1);
                nodes >= too_many_for(slots) || self.outside.load_relaxed() as usize > slots / OUTSIDE_SHARE
            }
        }
    }

    /// Counts an operation: whether its guess was right.
    pub fn weigh(&self, aim: Aim, was_right: bool) {
        let (step, word) = (if was_right { 1 } else { -IN_VAIN }, &self.balances[aim as usize]);
        // Threads that do this at once may count one time: it is about many.
        let balance = (word.load_relaxed() as i64 + step).min(PATIENCE);
        word.store_relaxed(balance as u64);
        if balance < -PATIENCE {
            self.give_up(aim);
        }
    }

    /// Counts a lookup in a leaf of records: whether the key stood where it was likely to.
    pub fn weigh_nearness(&self, was_near: bool) {
        let step = if was_near { 1 } else { -IN_VAIN };
        let balance = (self.nearness.load_relaxed() as i64 + step).clamp(-PATIENCE - 1, PATIENCE);
        self.nearness.store_relaxed(balance as u64);
    }

    /// Whether keys in leaves of records are stored elsewhere than predicted.
    pub fn are_far(&self) -> bool {
        (self.nearness.load_relaxed() as i64) < -PATIENCE
    }

    /// Publishes a table of this form, or none, if that is 0; not for an [`Aim`] for which it doesn't pay
    /// in a tree of this many nodes.
    fn publish(&self, form: u64, nodes: usize) {
        for (own, fewest) in self.forms.iter().zip(&self.not_before) {
            own.publish(if nodes as u64 >= fewest.load_relaxed() { form } else { 0 });
        }
    }

    /// There is no table in trees of fewer nodes.
    fn wait_for(&self, nodes: u64) {
        self.not_before.iter().for_each(|fewest| fewest.store_relaxed(nodes));
    }

    /// There is never to be a table.
    #[cfg(test)]
    pub fn forbid(&self) {
        self.wait_for(u64::MAX);
    }

    /// Does without guesses there until the tree is much larger.
    fn give_up(&self, aim: Aim) {
        let form = self.form();
        if form > 0 {
            self.not_before[aim as usize].store_relaxed(too_many_for(slots_of(form - 1)) as u64);
            self.forms[aim as usize].publish(0);
        }
    }

    /// Writes the slots of a leaf of these fences. Returns whether one of them was empty.
    fn name(&self, leaf: NodeRef, low: &[u8], high: Option<&[u8]>) -> bool {
        self.slots().is_some_and(|slots| slots.name(leaf, self.numbers.of_fences(low, high), 0))
    }

    /// Two neighbours meet at a separator now.
    pub fn name_both(&self, [left, right]: [NodeRef; 2], [low, separator]: [&[u8]; 2], high: Option<&[u8]>) {
        if self.form() != 0 {
            self.name(left, low, Some(separator));
            self.name(right, separator, high);
        }
    }

    /// A leaf was split at a separator.
    pub fn note_split(&self, separator: &[u8]) {
        if let Some(slots) = self.slots()
            && !slots.has(self.numbers.of_fence(separator))
        {
            self.outside.add(1);
        }
    }

    /// Learns from a key without a right guess that was found to belong to a leaf, or was added to it:
    /// corrects the slots of that leaf, and those of the wrongly guessed one.
    #[cold]
    #[inline(never)]
    pub fn learn(&self, store: &Store, key: &[u8], leaf: NodeRef, Purpose { aim, is_new }: Purpose) {
        let Some(slots) = self.slots() else { return };
        let number = self.numbers.of(key);
        if !slots.has(number) {
            return;
        }
        let has_named = match self.fences_of(store, leaf) {
            // Leaves to the left have keys of the same number.
            Some((low, _)) if is_new && low == number => {
                slots.point(leaf, number);
                false
            }
            Some(fences) => {
                // A leaf that has no slot of its own is passed by again and again.
                let wrong = slots.guess(number).map(|(guess, _)| guess).filter(|&guess| guess != leaf);
                let has_named = slots.name(leaf, fences, 0);
                if let Some((wrong, fences)) =
                    wrong.and_then(|wrong| Some((wrong, self.fences_of(store, wrong)?)))
                {
                    slots.name(wrong, fences, 0);
                }
                has_named
            }
            None => false,
        };
        if !has_named && is_chosen(SAMPLED) {
            self.weigh(aim, false);
        }
    }

    /// The numbers of a leaf's fences, unless it is being changed or they are long.
    fn fences_of(&self, store: &Store, leaf: NodeRef) -> Option<(u64, u64)> {
        let (_, leaf) = store.at(leaf);
        let version = leaf.latch().stable_version()?;
        let [mut low, mut high] = [[0; SUFFIX_ROOM]; 2];
        let (shape, low, high) = (leaf.shape(), leaf.whole_low(&mut low), leaf.whole_high(&mut high));
        let has_high = !shape.has(Shape::NO_HIGH);
        let is_usable = leaf.latch().validate(version) && !shape.has(Shape::DEAD);
        let low = low.filter(|_| is_usable && high.is_some() == has_high)?;
        Some(self.numbers.of_fences(low, high))
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

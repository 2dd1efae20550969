//! A table tells which leaf a key is in by the key's position: where it stands in the range of all keys.
//!
//! Most byte strings that serve as keys are numbers written in some way: random or ascending ones,
//! identifiers in decimal or hexadecimal digits, after something that all keys begin with. [`Numbers`] makes
//! such a string a number again, and the numbers are spread evenly. So their range is cut into slots of equal
//! width, some two for each leaf, and a slot says which leaf covers it: these are the
//! [slots](crate::tree::Slots) by which keys of fixed width are guessed. A lookup then reads a slot and the
//! leaf, and no inner node.
//!
//! There is a table when the tree is larger than a second-level cache. It is laid out anew, empty, when the
//! tree has outgrown it, or when many leaves were split outside of its range. Operations that go down the
//! tree write what they find where a slot is empty; splits write the slots of both halves, and an
//! operation that was misled corrects the slot. What isn't a number after all, as words and addresses are,
//! crowds in few slots: operations are counted now and then, and when less than three of four are guessed,
//! the table is given up until the tree has twice as many leaves.
//!
//! # Thread safety
//! A guess is worth what the leaf's fences say. All words are written by any thread at any time; so a layout
//! may be read half old and half new, and then guesses are wrong. A slot that isn't empty names a node that
//! is, or was, a leaf; nodes of that level are leaves for ever. The memory of a table that is out of use is
//! given back while others may still look at it: they find empty slots.

mod numbers;
mod survey;

use super::guesses::is_chosen;
use super::node::SUFFIX_ROOM;
use super::shape::Shape;
use super::tree::ByteTree;
use crate::tree::{Segments, Slots};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::words::Words;
use latchless_core::sync::Word;
use numbers::Numbers;
use std::sync::OnceLock;

/// Trees with fewer leaves have no table: caches hold their inner nodes.
const FEWEST_LEAVES: usize = if cfg!(latchless_small_nodes) { 80 } else { 512 };
/// Slots of the smallest table, by their logarithm; those of each other one are twice as many.
const FEWEST_SLOTS: u32 = (2 * FEWEST_LEAVES).ilog2();
/// The largest table is for more leaves than references can tell apart.
const SIZES: usize = 24;
/// A table is out of date when as many leaves were split outside of its range as one for so many slots.
const OUTSIDE_SHARE: usize = 16;
/// One in so many operations is counted.
const SAMPLED: u32 = if cfg!(latchless_small_nodes) { 1 } else { 64 };
/// What an operation without a right guess weighs against one with it.
const IN_VAIN: i64 = 3;
/// So much more weight in vain gives the table up.
const PATIENCE: i64 = 512;
/// Tables of so many bytes stand on huge pages, if they are wanted at all.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// The table. See the file's head.
#[derive(Debug)]
pub struct Positions {
    /// The size of the table that is in use, and one more; 0: none is.
    form: Word,
    /// The number at which the first slot begins, and slots a number, in 2^-64.
    base: Word,
    scale: Word,
    /// 1: slots are as wide as `segments` say.
    is_segmented: Word,
    segments: OnceLock<Box<Segments>>,
    numbers: Numbers,
    /// Tables by size, made when first wanted.
    tables: [OnceLock<Words<Word>>; SIZES],
    /// The size of a table that was emptied for the next layout, and one more.
    emptied: Word,
    /// Right guesses less others among the operations that were counted, as an `i64`.
    balance: Word,
    /// Leaves that were split outside of the range.
    outside: Word,
    /// Trees of fewer nodes get no table.
    not_before: Word,
    /// 1 when no thread is laying out a table.
    is_idle: Word,
    huge_pages: bool,
    prefault: bool,
}

/// Slots of a table of this size.
fn slots_of(size: usize) -> usize {
    1 << (FEWEST_SLOTS as usize + size)
}

impl Positions {
    /// No table.
    pub fn none(huge_pages: bool, prefault: bool) -> Self {
        let [form, base, scale, is_segmented, emptied, balance, outside] = [const { Word::new(0) }; 7];
        Self {
            form,
            base,
            scale,
            is_segmented,
            segments: OnceLock::new(),
            numbers: Numbers::none(),
            tables: [const { OnceLock::new() }; SIZES],
            emptied,
            balance,
            outside,
            not_before: Word::new(FEWEST_LEAVES as u64),
            is_idle: Word::new(1),
            huge_pages,
            prefault,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::none(self.huge_pages, self.prefault);
    }

    /// The slots, if there are any.
    #[inline(always)]
    fn slots(&self) -> Option<Slots<'_>> {
        let form = self.form.follow() as usize;
        if form == 0 {
            return None;
        }
        let words = self.tables.get(form - 1)?.get()?;
        let segments =
            if self.is_segmented.load_relaxed() == 0 { None } else { Some(&**self.segments.get()?) };
        Some(Slots::new((self.base.load_relaxed(), self.scale.load_relaxed()), segments, words))
    }

    /// The leaf that is likely to have a key.
    #[inline(always)]
    pub fn guess(&self, key: &[u8]) -> Option<NodeRef> {
        let (leaf, _) = self.slots()?.guess(self.numbers.of(key))?;
        Some(leaf)
    }

    /// As [`Positions::guess`], and the leaf that is likely to come after it: to ask for, not to follow.
    #[inline(always)]
    pub fn guess_two(&self, key: &[u8]) -> Option<(NodeRef, NodeRef)> {
        let (leaf, _, next) = self.slots()?.guess_two(self.numbers.of(key))?;
        Some((leaf, next))
    }

    /// Asks for the slots of keys, if there are any, and says which place each key has.
    #[inline(always)]
    pub fn ask_for_all(&self, keys: &[&[u8]], places: &mut [u64]) -> Option<Slots<'_>> {
        let slots = self.slots()?;
        for (key, place) in keys.iter().zip(places) {
            *place = slots.ask(self.numbers.of(key));
        }
        Some(slots)
    }

    /// Whether there are slots.
    #[inline(always)]
    pub fn are_any(&self) -> bool {
        self.form.load_relaxed() != 0
    }

    /// Bytes of the table and of what makes numbers and places.
    pub fn bytes(&self) -> usize {
        let segments = self.segments.get().map_or(0, |_| size_of::<Segments>());
        let form = self.form.load_relaxed() as usize;
        let slots = if form == 0 { 0 } else { slots_of(form - 1) };
        self.numbers.bytes() + segments + slots * size_of::<Word>()
    }

    /// Whether a tree of so many nodes should have a table, or a larger or a newer one.
    pub fn is_outgrown(&self, nodes: usize) -> bool {
        match self.form.load_relaxed() as usize {
            0 => nodes as u64 >= self.not_before.load_relaxed(),
            form => {
                let slots = slots_of(form - 1);
                2 * slots < 3 * nodes || self.outside.load_relaxed() as usize > slots / OUTSIDE_SHARE
            }
        }
    }

    /// Counts an operation: whether its guess was right.
    fn weigh(&self, was_right: bool) {
        let step = if was_right { 1 } else { -IN_VAIN };
        // Threads that do this at once may count one time: it is about many.
        let balance = (self.balance.load_relaxed() as i64 + step).min(PATIENCE);
        self.balance.store_relaxed(balance as u64);
        if balance < -PATIENCE {
            self.give_up();
        }
    }

    /// There is never to be a table.
    #[cfg(test)]
    pub fn forbid(&self) {
        self.not_before.store_relaxed(u64::MAX);
    }

    /// Does without a table until the tree is much larger.
    fn give_up(&self) {
        let form = self.form.load_relaxed() as usize;
        if form > 0 {
            self.not_before.store_relaxed(slots_of(form - 1) as u64);
            self.form.publish(0);
        }
    }

    /// Writes the slots of a leaf of these fences. Says whether one of them was empty.
    fn name(&self, leaf: NodeRef, low: &[u8], high: Option<&[u8]>) -> bool {
        let Some(slots) = self.slots() else { return false };
        // Keys of smaller numbers than the fence's are before it.
        let high = high.map_or(u64::MAX, |high| self.numbers.of_fence(high));
        slots.name(leaf, (self.numbers.of_fence(low), high), 0)
    }

    /// Two neighbours meet at a separator now.
    pub fn name_both(&self, [left, right]: [NodeRef; 2], [low, separator]: [&[u8]; 2], high: Option<&[u8]>) {
        if self.are_any() {
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
}

impl ByteTree {
    /// Counts an operation now and then whose guess was right.
    #[inline(always)]
    pub(super) fn count_position(&self) {
        if is_chosen(SAMPLED) {
            self.was_right();
        }
    }

    #[cold]
    #[inline(never)]
    fn was_right(&self) {
        self.positions.weigh(true);
        self.guesses.count_in_vain(self.len());
    }

    /// A key that had no right guess was found to belong to a leaf: writes down what slots say of that leaf,
    /// and of the one that was guessed in its place.
    #[cold]
    #[inline(never)]
    pub(super) fn learn_position(&self, key: &[u8], leaf: NodeRef) {
        let Some(slots) = self.positions.slots() else { return };
        if !slots.has(self.positions.numbers.of(key)) {
            return;
        }
        // A leaf that has no slot of its own is passed by again and again.
        let wrong = self.positions.guess(key).filter(|&guess| guess != leaf);
        let has_named = self.name_leaf(leaf);
        if let Some(wrong) = wrong {
            self.name_leaf(wrong);
        }
        if !has_named && is_chosen(SAMPLED) {
            self.positions.weigh(false);
        }
    }

    /// Writes the slots of a leaf. Says whether one of them was empty.
    fn name_leaf(&self, node: NodeRef) -> bool {
        let (_, leaf) = self.at(node);
        let Some(version) = leaf.latch().stable_version() else { return false };
        let [mut low, mut high] = [[0; SUFFIX_ROOM]; 2];
        let (shape, low, high) = (leaf.shape(), leaf.whole_low(&mut low), leaf.whole_high(&mut high));
        let has_high = !shape.has(Shape::NO_HIGH);
        let is_usable = leaf.latch().validate(version) && !shape.has(Shape::DEAD);
        match low {
            Some(low) if is_usable && high.is_some() == has_high => self.positions.name(node, low, high),
            _ => false,
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

//! Leaf prediction: a table *guesses* the leaf of a key by its position in the range of all keys.
//!
//! The range is partitioned into slots of equal width, up to two per leaf. A slot stores the leaf that
//! covers its first key, where in the slot that leaf ends, and how far before the slot it begins, each
//! rounded conservatively. A key before the end is in this leaf. A key at or after the beginning of the next
//! slot's leaf is in that one. Any other key has no prediction, and its descent reads inner nodes. So a
//! prediction is right while its leaf has the fences that it was written with.
//!
//! Where keys are evenly distributed, at random or in order, nearly all have a prediction, and a descent
//! reads one slot instead of an inner node, whose lines don't fit second-level caches. Where many keys share
//! a place in a slot, as in runs of nearly equal keys, too few would have one. A [survey](super::directory)
//! builds a new table next to the one in use, in pieces, and tries it on a sample of the keys; if less than
//! four fifths of them have a prediction, there is no table until the next survey.
//!
//! Keys outside of the table's range, and all keys where there is no table, may still be in the first or in
//! the last leaf, which are recorded separately (`ends.rs`).
//!
//! # Thread safety
//! As with the [directory](super::directory), the leaf's fences decide whether a prediction is right. Slots
//! are words that any thread may write at any time; each names a leaf, and a leaf remains one. Splits and
//! merges rewrite the slots of their leaves, in the table in use and in the one that is being built, and so
//! does an operation that was misled. After many wrong predictions the table is dropped. The memory of an
//! unused table is returned to the system while other threads may still read it: they find empty slots.
//!
//! # Invariants
//! 1. A slot that isn't empty names a node that is, or was, a leaf.
//! 2. Slots stay where they are until the tree is cleared or dropped, even those of a table that was
//!    outgrown.

mod ends;
mod renewal;
mod segments;

use crate::node::Children;
use core::hint::select_unpredictable;
use ends::Ends;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::words::Words;
use latchless_core::sync::{OnceBox, Word};
use segments::{PLACE_BITS, places};
use std::sync::OnceLock;

pub(super) use ends::End;
pub(super) use renewal::Sample;
pub(crate) use segments::{SEGMENTS, Segments, are_even};

/// Positions in a slot.
const PLACES: u64 = 1 << PLACE_BITS;
/// Positions per coarse unit, in which a leaf's beginning and width are stored.
const COARSE: u64 = 64;
/// The dividend for a leaf's width: the quotient converts a position to sixteenths of the leaf.
const SIXTEENTHS: u64 = 16 << SIXTEENTHS_BITS;
const SIXTEENTHS_BITS: u32 = 9;
/// Fractional bits of the number of keys per coarse unit.
const DENSITY_BITS: u32 = 16;
/// Slots that are made per leaf: three for every two by the time the tree has grown so much that they are
/// rebuilt.
const SLOTS_PER_LEAF: usize = 2;
/// Most slots written per leaf; readers repair the rest.
const NAMED_MAX: usize = 32;

/// Predictions are dropped after one wrong prediction per this many leaves.
const WRONG_SHARE: usize = 4;

/// Slots of the smallest tables; each size has four times as many as the one before.
const FEWEST_SLOTS: usize = 1 << 15;
/// The number of sizes: the largest tables are more than the largest trees need.
const SIZES: usize = 8;
/// Tables of each size, used alternately.
const TURNS: usize = 2;
/// Tables of at least this size in use are on huge pages, if these are enabled.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// Another thread still prefaults the table's memory, so a write to it would wait for the system.
const UNREADY: u64 = 1 << 63;
/// The table's slots have the widths of the first or the second [segments](segments).
const SEGMENTED: [u64; 2] = [1 << 62, 1 << 61];

/// Returns the table of a form.
fn table_of(form: u64) -> usize {
    ((form & !(UNREADY | SEGMENTED[0] | SEGMENTED[1])) >> 32) as usize
}

/// Returns the segments of a form, if it has any.
#[inline(always)]
fn segments_of(form: u64) -> Option<usize> {
    let both = form & (SEGMENTED[0] | SEGMENTED[1]);
    (both != 0).then_some(usize::from(both == SEGMENTED[1]))
}

/// The prediction tables. See the module documentation.
#[derive(Debug)]
pub(super) struct Guesses {
    /// The number of slots for keys, and above these 32 bits the table; 0: there is no table. One more slot
    /// follows them.
    form: Word,
    /// The same for the table that is being built, and [`UNREADY`] while nothing is written to it.
    growing: Word,
    /// Allocated by the first survey.
    made: OnceBox<Made>,
    /// How many more predictions may be wrong before the table is dropped.
    patience: Word,
    ends: Ends,
    huge_pages: bool,
    prefault: bool,
}

/// The tables.
#[derive(Debug)]
struct Made {
    /// By size and turn.
    tables: [Table; SIZES * TURNS],
    /// Those of the table in use and of the one that is being built, alternately, for unevenly distributed
    /// keys.
    segments: [OnceBox<Segments>; 2],
}

/// A table of slots, and the range of its keys.
#[derive(Debug)]
struct Table {
    /// The start of the first slot.
    base: Word,
    /// Slots per key, in 2^-64.
    scale: Word,
    /// Allocated on first use. The unused part costs no memory.
    words: OnceLock<Words<Word>>,
    /// Slots that may not be empty, from the first on.
    used: Word,
    /// Bytes that are charged as memory.
    charged: Word,
}

/// The content of a slot.
#[derive(Debug, Clone, Copy)]
struct Slot(u64);

impl Slot {
    const END: u32 = 32;
    const BEGIN: u32 = Self::END + PLACE_BITS;
    const BEGIN_BITS: u32 = 9;
    const PER_PLACE: u32 = Self::BEGIN + Self::BEGIN_BITS;

    /// `first` is the first position whose keys are all in the leaf or after it, counted from the slot's
    /// first position; `last` is the first position with keys after the leaf.
    fn new(leaf: NodeRef, first: i64, last: i64) -> Self {
        let end = last.clamp(0, PLACES as i64 - 1) as u64;
        let begin = ((-first).max(0) as u64 / COARSE).min((1 << Self::BEGIN_BITS) - 1);
        let width = ((last - first).max(0) as u64 / COARSE + 1).min(SIXTEENTHS);
        let per_place = (SIXTEENTHS / width).min((1 << (64 - Self::PER_PLACE)) - 1);
        let leaf = u64::from(leaf.to_word());
        Self(leaf | end << Self::END | begin << Self::BEGIN | per_place << Self::PER_PLACE)
    }

    #[inline(always)]
    fn leaf(self) -> NodeRef {
        NodeRef::from_word(self.0 as u32)
    }

    /// Returns the end of the positions whose keys are all in the leaf.
    #[inline(always)]
    fn end(self) -> u64 {
        self.0 >> Self::END & (PLACES - 1)
    }

    /// Returns how far before the slot the leaf begins, in coarse units.
    #[inline(always)]
    fn begin(self) -> u64 {
        self.0 >> Self::BEGIN & ((1 << Self::BEGIN_BITS) - 1)
    }

    /// Returns the relative place of a position that is `inside` coarse units after the leaf's beginning.
    #[inline(always)]
    fn share(self, inside: u64) -> Share {
        Share { inside, per_place: self.0 >> Self::PER_PLACE }
    }
}

/// The likely place of a key within a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Share {
    /// Coarse units after the leaf's beginning.
    inside: u64,
    /// Sixteenths of the leaf per coarse unit, with [`SIXTEENTHS_BITS`] fractional bits.
    per_place: u64,
}

impl Share {
    /// Creates an arbitrary one.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn any(inside: u64, per_place: u64) -> Self {
        Self { inside, per_place }
    }

    /// Returns the place in sixteenths of the leaf.
    #[inline(always)]
    pub(crate) fn sixteenth(self) -> usize {
        ((self.inside * self.per_place) >> SIXTEENTHS_BITS) as usize & 15
    }

    /// Returns how many of `count` keys probably precede the key.
    #[inline(always)]
    pub(crate) fn of(self, count: usize) -> usize {
        let before = ((self.inside * self.per_place) as usize * count) >> (SIXTEENTHS_BITS + 4);
        before.min(count)
    }

    /// Returns the likely number of keys in the leaf, for a density from [`Slots::density`].
    #[inline(always)]
    pub(crate) fn len(self, density: u64) -> usize {
        // A leaf's width in coarse units is the number of its sixteenths, over those of a unit.
        let keys = (density >> (DENSITY_BITS - SIXTEENTHS_BITS - 4)) as u32;
        (keys / (self.per_place as u32).max(1)) as usize
    }
}

/// The current slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots<'a> {
    base: u64,
    scale: u64,
    segments: Option<&'a Segments>,
    /// The slots for keys, and the one after them.
    words: &'a [Word],
}

impl<'a> Slots<'a> {
    /// Creates slots from a key on, at a fixed number per key, in 2^-64, or with the widths of segments.
    /// There is one more word.
    #[inline(always)]
    pub(crate) fn new((base, scale): (u64, u64), segments: Option<&'a Segments>, words: &'a [Word]) -> Self {
        Self { base, scale, segments, words }
    }

    /// Returns whether a key is in the range of the slots.
    pub(crate) fn has(self, key: u64) -> bool {
        self.place(key) >> PLACE_BITS < self.words.len() as u128 - 1
    }

    /// Returns the position of a key, counted from the start of the first slot. Keys before it are far after
    /// the end.
    #[inline(always)]
    fn place(self, key: u64) -> u128 {
        if let Some(segments) = self.segments {
            return segments.place(key);
        }
        places(key.wrapping_sub(self.base), self.scale)
    }

    /// Prefetches the slot of a key. Returns the key's position, or one far after the end.
    #[inline(always)]
    pub(crate) fn ask(self, key: u64) -> u64 {
        let place = u64::try_from(self.place(key)).unwrap_or(u64::MAX);
        prefetch_read(self.words.as_ptr().wrapping_add((place >> PLACE_BITS) as usize).cast());
        place
    }

    /// Returns about how many slots lie between two keys, in quarters.
    #[inline(always)]
    pub(crate) fn quarters_between(self, low: u64, high: u64) -> u64 {
        let quarters =
            (self.place(high) >> (PLACE_BITS - 2)).saturating_sub(self.place(low) >> (PLACE_BITS - 2));
        quarters.min(u128::from(u64::MAX)) as u64
    }

    /// Returns the number of keys per coarse unit, if `keys` keys have a slot.
    pub(crate) fn density(self, keys: usize) -> u64 {
        let units = (self.words.len() as u64 - 1) * (PLACES / COARSE);
        (((keys as u64) << DENSITY_BITS) / units.max(1)).min(u64::from(u32::MAX))
    }

    /// Returns the leaf that probably has `key`, and the key's likely place in it.
    #[inline(always)]
    pub(crate) fn guess(self, key: u64) -> Option<(NodeRef, Share)> {
        self.guess_at(self.place(key))
    }

    /// Predicts the leaf of a key at this position. See [`Slots::guess`].
    #[inline(always)]
    pub(crate) fn guess_at(self, place: u128) -> Option<(NodeRef, Share)> {
        let slot = (place >> PLACE_BITS) as usize;
        let place = place as u64 & (PLACES - 1);
        let (own, next) = (Slot(self.words.get(slot)?.follow()), Slot(self.words.get(slot + 1)?.follow()));
        let coarse = place / COARSE;
        let in_own = place < own.end();
        let chosen = Slot(select_unpredictable(in_own, own.0, next.0));
        let inside = select_unpredictable(in_own, coarse + own.begin(), {
            (coarse + next.begin()).wrapping_sub(PLACES / COARSE)
        });
        let named = (chosen.0 != 0) & (inside <= coarse + chosen.begin());
        named.then(|| (chosen.leaf(), chosen.share(inside)))
    }

    /// Predicts the leaf of a key, and the leaf after it, as a reference for a prefetch only. See
    /// [`Slots::guess`].
    #[inline(always)]
    pub(crate) fn guess_two(self, key: u64) -> Option<(NodeRef, Share, NodeRef)> {
        let place = self.place(key);
        let (leaf, share) = self.guess_at(place)?;
        // A leaf has about two slots: the first of these that names another leaf.
        let slot = (place >> PLACE_BITS) as usize;
        let named =
            |after: usize| self.words.get(slot + after).map_or(leaf, |word| Slot(word.load_relaxed()).leaf());
        let (first, second) = (named(1), named(2));
        let later = select_unpredictable(second != leaf, second.to_word(), named(3).to_word());
        let next = select_unpredictable(first != leaf, first.to_word(), later);
        Some((leaf, share, NodeRef::from_word(next)))
    }

    /// Writes the slots, from slot `from` on, whose first key a leaf with these fences covers. Returns
    /// whether one of them was empty.
    pub(crate) fn name(self, leaf: NodeRef, (low, high): (u64, u64), from: u64) -> bool {
        let end = (self.words.len() as u64 - 1) << PLACE_BITS;
        if low > high || high < self.base {
            return false;
        }
        let at = |key: u64| self.place(key).min(u128::from(end) + 1) as u64;
        let first = if low <= self.base { 0 } else { at(low - 1) + 1 };
        let last = at(high).min(end);
        let mut was_empty = false;
        for slot in (first.div_ceil(PLACES).max(from)..=last >> PLACE_BITS).take(NAMED_MAX) {
            let start = (slot << PLACE_BITS) as i64;
            let Some(word) = self.words.get(slot as usize) else { break };
            let says = Slot::new(leaf, first as i64 - start, last as i64 - start);
            was_empty |= word.load_relaxed() == 0;
            if word.load_relaxed() != says.0 {
                word.publish(says.0);
            }
        }
        was_empty
    }

    /// Writes the slots of a leaf with these fences, from the slot of `key` on. See [`Slots::name`].
    pub(super) fn name_from(self, key: u64, leaf: NodeRef, fences: (u64, u64)) {
        let slot = u64::try_from(self.place(key) >> PLACE_BITS).unwrap_or(u64::MAX);
        self.name(leaf, fences, slot);
    }

    /// Enters a leaf for the keys of one slot up to `key`.
    pub(crate) fn point(self, leaf: NodeRef, key: u64) {
        let place = self.place(key);
        if let Some(word) = self.words.get((place >> PLACE_BITS) as usize) {
            let end = (place as u64 & (PLACES - 1)) as i64 + 1;
            word.publish(Slot::new(leaf, 0, end).0);
        }
    }

    /// Writes the slots of all leaves of an inner node with this high fence.
    pub(super) fn name_all<B: Bits>(self, children: &Children<B>, high: u64) {
        let (separators, nodes) = (children.separators(), children.nodes());
        for (at, &leaf) in nodes.iter().enumerate() {
            let high = separators.get(at + 1).map_or(high, |next| next.to_u64().wrapping_sub(1));
            self.name(leaf, (separators[at].to_u64(), high), 0);
        }
    }
}

impl Guesses {
    /// Creates an empty predictor, for a tree that hasn't been surveyed.
    pub(super) fn none(huge_pages: bool, prefault: bool) -> Self {
        let [form, growing, patience] = [const { Word::new(0) }; 3];
        let (made, ends) = (OnceBox::empty(), Ends::unknown());
        Self { form, growing, made, patience, ends, huge_pages, prefault }
    }

    /// Drops the table until the next survey.
    pub(super) fn drop_all(&self) {
        self.form.publish(0);
    }

    /// Counts a wrong prediction.
    pub(super) fn was_wrong(&self) {
        let patience = self.patience.load_relaxed();
        // Threads that do this at once may count once: only large numbers matter.
        self.patience.store_relaxed(patience.saturating_sub(1));
        if patience == 0 {
            self.drop_all();
        }
    }

    /// Returns the slots, if there is a table.
    #[inline(always)]
    pub(super) fn slots(&self) -> Option<Slots<'_>> {
        self.slots_of(self.form.follow())
    }

    /// Predicts the leaf of a key and the sixteenth of the leaf, if there is a table. See [`Slots::guess`].
    #[inline(always)]
    pub(super) fn guess(&self, key: u64) -> Option<(NodeRef, usize)> {
        // A closure in place of the branch would be called.
        let slots = if let Some(slots) = self.slots() { slots.guess(key) } else { None };
        slots.map(|(leaf, share)| (leaf, share.sixteenth()))
    }

    /// Predicts the leaf of a key and the next one, if there is a table. See [`Slots::guess_two`].
    #[inline(always)]
    pub(super) fn guess_two(&self, key: u64) -> Option<(NodeRef, usize, NodeRef)> {
        let slots = if let Some(slots) = self.slots() { slots.guess_two(key) } else { None };
        slots.map(|(leaf, share, next)| (leaf, share.sixteenth(), next))
    }

    /// Predicts the first or the last leaf for a key that has no slot. See [`Slots::guess`].
    #[inline(always)]
    pub(super) fn at_an_end(&self, key: u64) -> Option<(NodeRef, usize)> {
        self.ends.guess(key)
    }

    /// Returns the end to which a key probably belongs.
    #[inline(always)]
    pub(super) fn end(&self, key: u64) -> Option<End> {
        self.ends.end(key)
    }

    /// Returns two fences: keys up to the first, and from the second one on, are probably in the first or in
    /// the last leaf.
    #[inline(always)]
    pub(super) fn end_fences(&self) -> (u64, u64) {
        self.ends.fences()
    }

    /// Returns the slots of the table that is being built, if there is one and its memory is ready.
    #[inline]
    pub(super) fn growing(&self) -> Option<Slots<'_>> {
        let form = self.growing.follow();
        if form & UNREADY == 0 { self.slots_of(form) } else { None }
    }

    #[inline(always)]
    fn slots_of(&self, form: u64) -> Option<Slots<'_>> {
        if form == 0 {
            return None;
        }
        let Made { tables, segments } = self.made.get()?;
        let table = tables.get(table_of(form))?;
        // The table may be reused in between: then predictions are wrong.
        let words = table.words.get()?.get(..=form as u32 as usize)?;
        // A closure in place of the branch would be called.
        let segments = match segments_of(form) {
            Some(which) => Some(segments[which].get()?),
            None => None,
        };
        Some(Slots { base: table.base.load_relaxed(), scale: table.scale.load_relaxed(), segments, words })
    }

    /// Enters a leaf with these fences.
    #[inline]
    pub(super) fn name<B: Bits>(&self, leaf: NodeRef, low: B, high: B) {
        for slots in [self.slots(), self.growing()].into_iter().flatten() {
            slots.name(leaf, (low.to_u64(), high.to_u64()), 0);
        }
        self.name_end(leaf, low, high);
    }

    /// Enters the first or the last leaf.
    pub(super) fn name_end<B: Bits>(&self, leaf: NodeRef, low: B, high: B) {
        self.ends.name(leaf, low, high);
    }

    /// Removes everything that is known about the tree.
    pub(super) fn clear(&mut self) {
        *self = self.alike();
    }

    /// Creates predictions of no tree yet, on pages of the same kind.
    pub(super) fn alike(&self) -> Self {
        Self::none(self.huge_pages, self.prefault)
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

//! Guesses: which leaf a key is in, by where it stands in the range of all keys.
//!
//! The range is cut into slots of equal width, up to two for each leaf. A slot says which leaf covers
//! its first key, where in the slot that leaf ends, and how far before the slot it begins, each rounded
//! so that it is never too much. A key before the end is in this leaf. A key that the next slot's leaf
//! begins before is in that one. Any other key has no guess, and its descent reads inner nodes. So a
//! guess is right as long as its leaf has the fences that it was written with.
//!
//! Where keys are spread evenly, at random or in order, nearly all have a guess, and a descent reads one
//! slot in place of an inner node, whose lines second-level caches can't hold any more. Where many keys
//! share a place in a slot, as with runs of keys that are nearly equal, too few would have one. A
//! [survey](super::directory) makes a new table beside the one that is in use, in pieces, and tries a
//! sample of the keys that are there; if less than four fifths of them have a guess, there is no table
//! until the next survey.
//!
//! Keys beyond those that the table was made for, and all keys where there is none, may still be in the first
//! or in the last leaf, which are known by themselves (`ends.rs`).
//!
//! # Thread safety
//! As with the [directory](super::directory): a guess is worth what the leaf's fences say. Slots are
//! words that any thread may write at any time; each names a leaf, and a leaf is one for ever. Splits and
//! merges write the slots of their leaves anew, of the table that is in use and of the one that is being
//! made, and so does an operation that was misled. When many were, the table is dropped. The memory of a
//! table that is out of use is given back while others may still look at it: they find empty slots.
//!
//! # Invariants
//! 1. A slot that isn't empty names a node that is, or was, a leaf.
//! 2. Slots stay where they are until the tree is cleared or dropped, even those of a table that was
//!    outgrown.

mod ends;
mod renewal;
mod segments;

use super::*;
use crate::node::Children;
use core::hint::select_unpredictable;
pub(super) use ends::End;
use ends::Ends;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::words::Words;
use latchless_core::search::Scalar;
use std::sync::OnceLock;

pub(super) use renewal::Sample;
pub(crate) use segments::{SEGMENTS, Segments, are_even};

/// Where in a slot a key stands is told in so many bits.
const PLACE_BITS: u32 = 12;
/// Places in a slot.
const PLACES: u64 = 1 << PLACE_BITS;
/// Places in the coarser units in which a leaf's begin and width are told.
const COARSE: u64 = 64;
/// What a leaf's width divides, so that a product tells sixteenths of the leaf.
const SIXTEENTHS: u64 = 16 << SIXTEENTHS_BITS;
const SIXTEENTHS_BITS: u32 = 9;
/// How many keys there are in a coarse unit is told in parts of this many bits.
const DENSITY_BITS: u32 = 16;
/// Slots that are made for each leaf: three for every two when the tree has grown so much that they are
/// made anew.
const SLOTS_PER_LEAF: usize = 2;
/// Slots that are written for a leaf at the most: the others are mended by who reads them.
const NAMED_MAX: usize = 32;

/// Guesses are dropped when as many were wrong as one in so many leaves.
const WRONG_SHARE: usize = 4;

/// Slots that the smallest tables have; those of each size have four times as many as the ones before.
const FEWEST_SLOTS: usize = 1 << 15;
/// The largest tables are more than the largest trees need.
const SIZES: usize = 8;
/// Tables of each size, which are used in turn.
const TURNS: usize = 2;
/// Tables of which so many bytes are used at once stand on huge pages, if they are wanted at all.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// Another thread still makes memory of the table ready: who writes to it would wait for the system.
const UNREADY: u64 = 1 << 63;
/// The table's slots are as wide as the first or the second [segments](segments) say.
const SEGMENTED: [u64; 2] = [1 << 62, 1 << 61];

/// Which of the tables a form is of.
fn table_of(form: u64) -> usize {
    ((form & !(UNREADY | SEGMENTED[0] | SEGMENTED[1])) >> 32) as usize
}

/// Which segments a form has, if any.
#[inline(always)]
fn segments_of(form: u64) -> Option<usize> {
    let both = form & (SEGMENTED[0] | SEGMENTED[1]);
    (both != 0).then_some(usize::from(both == SEGMENTED[1]))
}

/// What there is to guess by. See the module documentation.
#[derive(Debug)]
pub(super) struct Guesses {
    /// Slots that keys may have, and above these 32 bits, in which of the tables; 0: there are no guesses.
    /// One more slot follows them.
    form: Word,
    /// The same of the table that is being made, and [`UNREADY`] as long as nothing is written to it.
    growing: Word,
    /// Tables by size and turn.
    tables: [Table; SIZES * TURNS],
    /// Those of the table that is in use, and of the one that is being made, in turn; where keys are spread
    /// unevenly.
    segments: [OnceLock<Box<Segments>>; 2],
    /// How many guesses may still be wrong before there are none any more.
    patience: Word,
    ends: Ends,
    huge_pages: bool,
    prefault: bool,
}

/// A table of slots, and which keys they are for.
#[derive(Debug)]
struct Table {
    /// The key at which the first slot begins.
    base: Word,
    /// Slots a key, in 2^-64.
    scale: Word,
    /// Made when it is first wanted. What isn't used of it costs no memory.
    words: OnceLock<Words<Word>>,
    /// Slots that may not be empty, from the first on.
    used: Word,
    /// Bytes that count as memory.
    charged: Word,
}

/// What a slot says.
#[derive(Debug, Clone, Copy)]
struct Slot(u64);

impl Slot {
    const END: u32 = 32;
    const BEGIN: u32 = Self::END + PLACE_BITS;
    const BEGIN_BITS: u32 = 9;
    const PER_PLACE: u32 = Self::BEGIN + Self::BEGIN_BITS;

    /// `first`: the first place whose keys are all in the leaf or behind it, counted from the slot's first
    /// place; `last`: the first place that has keys behind the leaf.
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

    /// Keys at places before this one are in the leaf.
    #[inline(always)]
    fn end(self) -> u64 {
        self.0 >> Self::END & (PLACES - 1)
    }

    /// How far before the slot the leaf begins, in coarse units.
    #[inline(always)]
    fn begin(self) -> u64 {
        self.0 >> Self::BEGIN & ((1 << Self::BEGIN_BITS) - 1)
    }

    /// Where in the leaf a place is that lies so many coarse units behind its begin.
    #[inline(always)]
    fn share(self, inside: u64) -> Share {
        Share { inside, per_place: self.0 >> Self::PER_PLACE }
    }
}

/// Where in a leaf a key is likely to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Share {
    /// So many coarse units behind the leaf's begin.
    inside: u64,
    /// Sixteenths of the leaf in such a unit, and finer by [`SIXTEENTHS_BITS`].
    per_place: u64,
}

impl Share {
    /// One that says anything.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn any(inside: u64, per_place: u64) -> Self {
        Self { inside, per_place }
    }

    /// In sixteenths of the leaf.
    #[inline(always)]
    pub(crate) fn sixteenth(self) -> usize {
        ((self.inside * self.per_place) >> SIXTEENTHS_BITS) as usize & 15
    }

    /// How many of so many keys are likely to come before the key.
    #[inline(always)]
    pub(crate) fn of(self, count: usize) -> usize {
        let before = ((self.inside * self.per_place) as usize * count) >> (SIXTEENTHS_BITS + 4);
        before.min(count)
    }

    /// How many keys the leaf is likely to have, where there are so many in a coarse unit, as
    /// [`Slots::density`] tells it.
    #[inline(always)]
    pub(crate) fn len(self, density: u64) -> usize {
        // A leaf's width in coarse units is so many as it has sixteenths, over those of a unit.
        let keys = (density >> (DENSITY_BITS - SIXTEENTHS_BITS - 4)) as u32;
        (keys / (self.per_place as u32).max(1)) as usize
    }
}

/// The slots as they are now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slots<'a> {
    base: u64,
    scale: u64,
    segments: Option<&'a Segments>,
    /// The slots that keys may have, and the one behind them.
    words: &'a [Word],
}

/// How many places a distance between two keys is, with so many slots a key, in 2^-64.
#[inline(always)]
fn places(distance: u64, scale: u64) -> u128 {
    (u128::from(distance) * u128::from(scale)) >> (64 - PLACE_BITS)
}

impl<'a> Slots<'a> {
    /// Slots from a key on, so many a key in 2^-64, or as wide as segments say. There is one more word.
    #[inline(always)]
    pub(crate) fn new((base, scale): (u64, u64), segments: Option<&'a Segments>, words: &'a [Word]) -> Self {
        Self { base, scale, segments, words }
    }

    /// Whether a key is in the range of the slots.
    pub(crate) fn has(self, key: u64) -> bool {
        self.place(key) >> PLACE_BITS < self.words.len() as u128 - 1
    }

    /// The place of a key, counted from the first slot's first. Keys before that one are far behind.
    #[inline(always)]
    fn place(self, key: u64) -> u128 {
        if let Some(segments) = self.segments {
            return segments.place(key);
        }
        places(key.wrapping_sub(self.base), self.scale)
    }

    /// Asks for the slot of a key. Says what place the key has, or one far behind.
    #[inline(always)]
    pub(crate) fn ask(self, key: u64) -> u64 {
        let place = u64::try_from(self.place(key)).unwrap_or(u64::MAX);
        prefetch_read(self.words.as_ptr().wrapping_add((place >> PLACE_BITS) as usize).cast());
        place
    }

    /// About how many slots lie between two keys, in quarters.
    #[inline(always)]
    pub(crate) fn quarters_between(self, low: u64, high: u64) -> u64 {
        let quarters =
            (self.place(high) >> (PLACE_BITS - 2)).saturating_sub(self.place(low) >> (PLACE_BITS - 2));
        quarters.min(u128::from(u64::MAX)) as u64
    }

    /// How many keys there are in a coarse unit, if so many have a slot.
    pub(crate) fn density(self, keys: usize) -> u64 {
        let units = (self.words.len() as u64 - 1) * (PLACES / COARSE);
        (((keys as u64) << DENSITY_BITS) / units.max(1)).min(u64::from(u32::MAX))
    }

    /// The leaf that is likely to have `key`, and where in it the key is likely to stand.
    #[inline(always)]
    pub(crate) fn guess(self, key: u64) -> Option<(NodeRef, Share)> {
        self.guess_at(self.place(key))
    }

    /// As [`Slots::guess`], of a key with this place.
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

    /// As [`Slots::guess`], and which leaf is likely to come after it: a reference to prefetch, not to
    /// follow.
    #[inline(always)]
    pub(crate) fn guess_two(self, key: u64) -> Option<(NodeRef, Share, NodeRef)> {
        let place = self.place(key);
        let (leaf, share) = self.guess_at(place)?;
        // A leaf has about two slots: the first of these that names another one.
        let slot = (place >> PLACE_BITS) as usize;
        let named =
            |after: usize| self.words.get(slot + after).map_or(leaf, |word| Slot(word.load_relaxed()).leaf());
        let (first, second) = (named(1), named(2));
        let later = select_unpredictable(second != leaf, second.to_word(), named(3).to_word());
        let next = select_unpredictable(first != leaf, first.to_word(), later);
        Some((leaf, share, NodeRef::from_word(next)))
    }

    /// Writes those slots, from slot `from` on, whose first key a leaf of these fences covers. Says
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

    /// Says of the keys of one slot, up to this one, that a leaf has them.
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
    /// None, until a tree has been surveyed.
    pub(super) fn none(huge_pages: bool, prefault: bool) -> Self {
        let [form, growing, patience] = [const { Word::new(0) }; 3];
        let tables = [const { Table::none() }; SIZES * TURNS];
        let segments = [const { OnceLock::new() }; 2];
        Self { form, growing, tables, segments, patience, ends: Ends::unknown(), huge_pages, prefault }
    }

    /// Makes no guesses any more, until the next survey.
    pub(super) fn drop_all(&self) {
        self.form.publish(0);
    }

    /// Counts a wrong guess.
    fn was_wrong(&self) {
        let patience = self.patience.load_relaxed();
        // Threads that do this at once may count one time: it is about many.
        self.patience.store_relaxed(patience.saturating_sub(1));
        if patience == 0 {
            self.drop_all();
        }
    }

    /// The slots, if there are any.
    #[inline(always)]
    pub(super) fn slots(&self) -> Option<Slots<'_>> {
        self.slots_of(self.form.follow())
    }

    /// As [`Slots::guess`], if there are slots.
    #[inline(always)]
    pub(super) fn guess(&self, key: u64) -> Option<(NodeRef, usize)> {
        // A closure in place of the branch would be called.
        let slots = if let Some(slots) = self.slots() { slots.guess(key) } else { None };
        slots.map(|(leaf, share)| (leaf, share.sixteenth()))
    }

    /// As [`Slots::guess_two`], if there are slots.
    #[inline(always)]
    pub(super) fn guess_two(&self, key: u64) -> Option<(NodeRef, usize, NodeRef)> {
        let slots = if let Some(slots) = self.slots() { slots.guess_two(key) } else { None };
        slots.map(|(leaf, share, next)| (leaf, share.sixteenth(), next))
    }

    /// As [`Slots::guess`], of a key that has no slot: the first or the last leaf may have it.
    #[inline(always)]
    pub(super) fn at_an_end(&self, key: u64) -> Option<(NodeRef, usize)> {
        self.ends.guess(key)
    }

    /// The end of all keys that a key is likely to come to.
    #[inline(always)]
    pub(super) fn end(&self, key: u64) -> Option<End> {
        self.ends.end(key)
    }

    /// Keys up to the first of these, and from the second one on, are likely to be in the first or in the
    /// last leaf.
    #[inline(always)]
    pub(super) fn end_fences(&self) -> (u64, u64) {
        self.ends.fences()
    }

    /// The slots of the table that is being made, if one is and has its memory.
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
        let table = self.tables.get(table_of(form))?;
        // The table may be used anew in between: then guesses are wrong.
        let words = table.words.get()?.get(..=form as u32 as usize)?;
        // A closure in place of the branch would be called.
        let segments = match segments_of(form) {
            Some(which) => Some(&**self.segments[which].get()?),
            None => None,
        };
        Some(Slots { base: table.base.load_relaxed(), scale: table.scale.load_relaxed(), segments, words })
    }

    /// Forgets all there is to know about the tree.
    pub(super) fn clear(&mut self) {
        *self = Self::none(self.huge_pages, self.prefault);
    }
}

impl<B: Bits> BlinkTree<B> {
    /// About how many entries there are between two keys, rather too many; the largest number if nothing is
    /// known. A guess: where slots are as wide as half a leaf.
    #[inline(always)]
    pub(super) fn about(&self, low: B, high: B) -> usize {
        let quarters = self.guesses.slots().map(|slots| slots.quarters_between(low.to_u64(), high.to_u64()));
        // One more quarter at each end, and at most five eighths of a leaf for each slot.
        let eighths = |quarters: u64| (quarters as usize).saturating_add(2).saturating_mul(5);
        quarters.map_or(usize::MAX, |quarters| eighths(quarters).saturating_mul(Leaf::<B>::CAPACITY) / 32)
    }

    /// Writes what is to be guessed of a leaf of these fences.
    #[inline]
    pub(super) fn name_leaf(&self, leaf: NodeRef, (low, high): (B, B)) {
        for slots in [self.guesses.slots(), self.guesses.growing()].into_iter().flatten() {
            slots.name(leaf, (low.to_u64(), high.to_u64()), 0);
        }
        self.guesses.ends.name(leaf, (low, high));
    }

    /// Corrects what misled a descent for `key` to a leaf: its guess, or its entry in the directory.
    #[cold]
    #[inline(never)]
    pub(super) fn correct(&self, key: B, misled_to: NodeRef) {
        let guess = self.guesses.slots().and_then(|slots| Some((slots, slots.guess(key.to_u64())?)));
        let Some((slots, _)) = guess.filter(|(_, (leaf, _))| *leaf == misled_to) else {
            let end = self.guesses.at_an_end(key.to_u64());
            return match end.filter(|(leaf, _)| *leaf == misled_to) {
                Some(_) => self.find_ends(),
                None => self.correct_entry(key),
            };
        };
        self.guesses.was_wrong();
        let leaf = self.descend_to::<Scalar>(0, key).expect("every tree has leaves");
        let (low, high) = self.fences(0, leaf);
        let slot = u64::try_from(slots.place(key.to_u64()) >> PLACE_BITS).unwrap_or(u64::MAX);
        slots.name(leaf, (low.to_u64(), high.to_u64()), slot);
    }

    /// Looks for the first and the last leaf anew.
    fn find_ends(&self) {
        for end in [B::MIN, B::MAX] {
            let leaf = self.descend_to::<Scalar>(0, end).expect("every tree has leaves");
            self.guesses.ends.name(leaf, self.fences(0, leaf));
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

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
//! share a place in a slot, as with runs of keys that are nearly equal, too few would have one. A survey
//! tries a sample of the keys that are there; if less than four fifths of them have a guess, there is no
//! table until the next survey.
//!
//! # Thread safety
//! As with the [directory](super::directory): a guess is worth what the leaf's fences say. Slots are
//! words that any thread may write at any time; each names a leaf, and a leaf is one for ever. Splits and
//! merges write the slots of their leaves anew, and so does an operation that was misled. When many were,
//! the table is dropped.
//!
//! # Invariants
//! 1. A slot that isn't empty names a node that is, or was, a leaf.
//! 2. Slots stay where they are until the tree is cleared or dropped, even those of a table that was
//!    outgrown.

use super::*;
use crate::node::{Children, Entries};
use core::hint::select_unpredictable;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::words::Words;
use latchless_core::search::Scalar;
use std::sync::OnceLock;

/// Where in a slot a key stands is told in so many bits.
const PLACE_BITS: u32 = 12;
/// Places in a slot.
const PLACES: u64 = 1 << PLACE_BITS;
/// Places in the coarser units in which a leaf's begin and width are told.
const COARSE: u64 = 64;
/// What a leaf's width divides, so that a product tells sixteenths of the leaf.
const SIXTEENTHS: u64 = 16 << SIXTEENTHS_BITS;
const SIXTEENTHS_BITS: u32 = 9;
/// Slots that are made for each leaf: three for every two when the tree has grown so much that they are
/// made anew.
const SLOTS_PER_LEAF: usize = 2;
/// Slots that are written for a leaf at the most: the others are mended by who reads them.
const NAMED_MAX: usize = 32;

/// Leaves whose keys a survey tries.
const SAMPLED_LEAVES: usize = 256;
/// Guesses are dropped when as many were wrong as one in so many leaves.
const WRONG_SHARE: usize = 4;

/// Slots that the smallest table has; each of the others has four times as many as the one before, so that
/// all those together that a tree has outgrown are a third of the one it uses.
const FEWEST_SLOTS: usize = 1 << 11;
/// The largest table is more than the largest trees need.
const TABLES: usize = 10;
/// Tables of which so many bytes are used at once stand on huge pages, if they are wanted at all.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// What there is to guess by. See the file's head.
#[derive(Debug)]
pub(super) struct Guesses {
    /// The key at which the first slot begins.
    base: Word,
    /// Slots a key, in 2^-64.
    scale: Word,
    /// Slots that keys may have, and above these 32 bits, in which of the tables; 0: there are no guesses.
    /// One more slot follows them.
    form: Word,
    /// Tables by size, each made when it is first wanted. What isn't used of one costs no memory.
    tables: [OnceLock<Words<Word>>; TABLES],
    /// Bytes that were ever used of each table.
    used: [Word; TABLES],
    /// How many guesses may still be wrong before there are none any more.
    patience: Word,
    huge_pages: bool,
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

    /// How far into the leaf a place is that lies so many coarse units behind its begin, in sixteenths.
    #[inline(always)]
    fn sixteenth(self, inside: u64) -> usize {
        ((inside * (self.0 >> Self::PER_PLACE)) >> SIXTEENTHS_BITS) as usize & 15
    }
}

/// The slots as they are now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots<'a> {
    base: u64,
    scale: u64,
    /// The slots that keys may have, and the one behind them.
    words: &'a [Word],
}

impl<'a> Slots<'a> {
    /// The place of a key, counted from the first slot's first. Keys before that one are far behind.
    #[inline(always)]
    fn place(self, key: u64) -> u128 {
        let distance = key.wrapping_sub(self.base);
        (u128::from(distance) * u128::from(self.scale)) >> (64 - PLACE_BITS)
    }

    /// Asks for the slot of a key.
    #[inline(always)]
    pub(super) fn ask(self, key: u64) {
        let slot = (self.place(key) >> PLACE_BITS) as usize;
        prefetch_read(self.words.as_ptr().wrapping_add(slot).cast());
    }

    /// The leaf that is likely to have `key`, and in which sixteenth of it the key is likely to stand.
    #[inline(always)]
    pub(super) fn guess(self, key: u64) -> Option<(NodeRef, usize)> {
        let place = self.place(key);
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
        named.then(|| (chosen.leaf(), chosen.sixteenth(inside)))
    }

    /// Writes those slots, from slot `from` on, whose first key a leaf of these fences covers. Says
    /// whether one of them was empty.
    fn name(self, leaf: NodeRef, (low, high): (u64, u64), from: u64) -> bool {
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
}

impl Guesses {
    /// None, until a tree has been surveyed.
    pub(super) fn none(huge_pages: bool) -> Self {
        let [base, scale, form] = [const { Word::new(0) }; 3];
        let (tables, used) = ([const { OnceLock::new() }; TABLES], [const { Word::new(0) }; TABLES]);
        Self { base, scale, form, tables, used, patience: Word::new(0), huge_pages }
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
        let form = self.form.follow();
        if form == 0 {
            return None;
        }
        let table = self.tables.get((form >> 32) as usize)?.get()?;
        // The slots may be made anew in between: then guesses are wrong.
        let words = table.get(..=form as u32 as usize)?;
        Some(Slots { base: self.base.load_relaxed(), scale: self.scale.load_relaxed(), words })
    }

    /// Forgets all there is to know about the tree.
    pub(super) fn clear(&mut self) {
        *self = Self::none(self.huge_pages);
    }

    /// Empty slots for so many leaves with keys of this range. `charge` is asked whether so many bytes
    /// may be used. `None`: no memory, or so few keys that it isn't worth it.
    fn lay_out(
        &self,
        leaves: usize,
        (first, last): (u64, u64),
        charge: impl FnOnce(usize) -> Result<()>,
    ) -> Option<Slots<'_>> {
        self.form.publish(0);
        let slots = leaves * SLOTS_PER_LEAF;
        let range = u128::from(last - first) + 1;
        let scale = u64::try_from(((slots as u128) << 64) / range).ok()?;
        let at = (0..TABLES).find(|&at| slots < FEWEST_SLOTS << (2 * at))?;
        let table = self.table(at, slots, charge)?;
        table.get(..=slots)?.iter().for_each(|word| word.store_relaxed(0));
        self.base.store_relaxed(first);
        self.scale.store_relaxed(scale);
        self.form.publish((at as u64) << 32 | slots as u64);
        self.slots()
    }

    /// The table of that size, with so many slots and one more counted as used.
    fn table(
        &self,
        at: usize,
        slots: usize,
        charge: impl FnOnce(usize) -> Result<()>,
    ) -> Option<&Words<Word>> {
        let (table, used) = (&self.tables[at], &self.used[at]);
        let bytes = (slots + 1) * size_of::<Word>();
        let made = match table.get() {
            Some(_) => None,
            None => {
                let huge_pages = self.huge_pages && bytes >= HUGE_FROM_BYTES;
                Some(Words::new(FEWEST_SLOTS << (2 * at), huge_pages).ok()?)
            }
        };
        let more = bytes.saturating_sub(used.load_relaxed() as usize);
        charge(more).ok()?;
        used.add(more as u64);
        // Nobody else is here to be first.
        Some(table.get_or_init(|| made.expect("it was made where there was none")))
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Writes what is to be guessed of a leaf of these fences.
    #[inline]
    pub(super) fn name_leaf(&self, leaf: NodeRef, (low, high): (B, B)) {
        if let Some(slots) = self.guesses.slots() {
            slots.name(leaf, (low.to_u64(), high.to_u64()), 0);
        }
    }

    /// Corrects what misled a descent for `key` to a leaf: its guess, or its entry in the directory.
    #[cold]
    #[inline(never)]
    pub(super) fn correct(&self, key: B, misled_to: NodeRef) {
        let guess = self.guesses.slots().and_then(|slots| Some((slots, slots.guess(key.to_u64())?)));
        let Some((slots, _)) = guess.filter(|(_, (leaf, _))| *leaf == misled_to) else {
            return self.correct_entry(key);
        };
        self.guesses.was_wrong();
        let leaf = self.descend_to::<Scalar>(0, key).expect("every tree has leaves");
        let (low, high) = self.fences(0, leaf);
        let slot = u64::try_from(slots.place(key.to_u64()) >> PLACE_BITS).unwrap_or(u64::MAX);
        slots.name(leaf, (low.to_u64(), high.to_u64()), slot);
    }

    /// Makes the slots anew, for the tree as it has become: of the lowest inner nodes between these, all
    /// keys.
    pub(super) fn survey_leaves(&self, leftmost: NodeRef, range: (u64, u64)) {
        let mut leaves = 0;
        self.each_of_the_lowest(leftmost, |children, _| leaves += children.separators().len());
        let Some(slots) = self.guesses.lay_out(leaves, range, |bytes| self.arena.charge(bytes)) else {
            return;
        };
        self.guesses.patience.store_relaxed((leaves / WRONG_SHARE) as u64);
        self.each_of_the_lowest(leftmost, |children, high| {
            let (separators, nodes) = (children.separators(), children.nodes());
            for (at, &leaf) in nodes.iter().enumerate() {
                let high = separators.get(at + 1).map_or(high, |next| next.to_u64().wrapping_sub(1));
                slots.name(leaf, (separators[at].to_u64(), high), 0);
            }
        });
        if !self.are_good(slots, leftmost, leaves) {
            self.guesses.drop_all();
        }
    }

    /// Whether most of the keys that are there have a guess, by a sample.
    fn are_good(&self, slots: Slots<'_>, leftmost: NodeRef, leaves: usize) -> bool {
        let step = (leaves / SAMPLED_LEAVES).max(1);
        let (mut at, mut keys, mut guessed) = (0, 0, 0);
        let mut entries = Entries::default();
        self.each_of_the_lowest(leftmost, |children, _| {
            for &leaf in children.nodes() {
                at += 1;
                if at % step == 0 {
                    self.leaf(leaf).copy_out::<Scalar>(&mut entries);
                    keys += entries.keys().len();
                    let right = |key: &&B| slots.guess(key.to_u64()).is_some_and(|(named, _)| named == leaf);
                    guessed += entries.keys().iter().filter(right).count();
                }
            }
        });
        guessed * 5 >= keys * 4
    }

    /// Shows `visit` the children of each of the lowest inner nodes, and the node's high fence.
    pub(super) fn each_of_the_lowest(&self, mut node: NodeRef, mut visit: impl FnMut(&Children<B>, u64)) {
        let mut children = Children::default();
        while !node.is_nil() {
            let inner = self.inner(node);
            inner.copy_out(&mut children);
            visit(&children, inner.high().to_u64());
            node = inner.link();
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests;

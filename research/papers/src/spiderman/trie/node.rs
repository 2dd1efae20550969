//! Inner nodes of four kinds, by the number of children that they have room for: 4, 16, 48 and 256.
//!
//! ```text
//! word 0   latch and version
//! word 1   number of children, 32 bits │ of a node with 4 places its bytes
//! then     with 16 places a byte each, ascending; with 48 for each byte 1 + its place, or 0
//! then     the children, two in a word
//! ```
//! A node stores bytes and children. The reference to it has the position of the byte on which it
//! branches.
//!
//! # Thread safety
//! Words are atomics, written by the holder of the latch. A reader may see some children from before a
//! change and some from after it; it then finds another version, and reads again.

use super::reference::{Kind, Ref};
use core::marker::PhantomData;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::Word;

/// A one in each byte of a word.
const ONES: u64 = u64::MAX / 0xff;
/// The highest bit of each byte.
const HIGHS: u64 = ONES << 7;

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Four, Self::Sixteen, Self::FortyEight, Self::All];

    /// Returns the number of children that there is room for.
    pub(super) const fn places(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Sixteen => 16,
            Self::FortyEight => 48,
            Self::All => 256,
        }
    }

    /// With so few children the smaller kind does: fewer than that kind's places, so that a node doesn't
    /// change back and forth.
    pub(super) const fn few(self) -> usize {
        match self {
            Self::Four => 0,
            Self::Sixteen => 3,
            Self::FortyEight => 12,
            Self::All => 36,
        }
    }

    pub(super) const fn larger(self) -> Option<Self> {
        match self {
            Self::Four => Some(Self::Sixteen),
            Self::Sixteen => Some(Self::FortyEight),
            Self::FortyEight => Some(Self::All),
            Self::All => None,
        }
    }

    pub(super) const fn smaller(self) -> Option<Self> {
        match self {
            Self::Four => None,
            Self::Sixteen => Some(Self::Four),
            Self::FortyEight => Some(Self::Sixteen),
            Self::All => Some(Self::FortyEight),
        }
    }

    /// Returns the offset of the bytes, in bytes.
    const fn bytes_at(self) -> usize {
        if matches!(self, Self::Four) { 12 } else { 16 }
    }

    /// Returns the offset of the children, in words.
    const fn children_at(self) -> usize {
        match self {
            Self::Four | Self::All => 2,
            Self::Sixteen => 2 + 16 / 8,
            Self::FortyEight => 2 + 256 / 8,
        }
    }

    pub(super) const fn words(self) -> usize {
        self.children_at() + self.places() / 2
    }
}

/// The first byte of a word that is this one; 8: none is.
#[inline(always)]
fn first_byte(word: u64, byte: u8) -> usize {
    let zeros = word ^ (ONES * u64::from(byte));
    let found = zeros.wrapping_sub(ONES) & !zeros & HIGHS;
    found.trailing_zeros() as usize / 8
}

fn ask_all<T: Trace>(from: *const u8, bytes: usize) {
    T::prefetch(from, bytes);
    prefetch_read_all(from, bytes);
}

/// The words of an inner node.
#[derive(Debug)]
pub(super) struct Node<'a, T> {
    kind: Kind,
    words: &'a [Word],
    touch: PhantomData<T>,
}

impl<T> Clone for Node<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Node<'_, T> {}

impl<'a, T: Trace> Node<'a, T> {
    #[inline(always)]
    pub(super) fn new(kind: Kind, words: &'a [Word]) -> Self {
        Self { kind, words, touch: PhantomData }
    }

    /// The word that is the node's latch.
    #[inline(always)]
    pub(super) fn latch_word(self) -> &'a Word {
        &self.words[0]
    }

    fn address(self, byte: usize) -> *const u8 {
        self.words.as_ptr().cast::<u8>().wrapping_add(byte)
    }

    /// Returns the number of children.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.words[1].load_relaxed() as u32 as usize
    }

    fn set_len(self, len: usize) {
        let rest = self.words[1].load_relaxed() & !u64::from(u32::MAX);
        self.words[1].store_relaxed(rest | len as u64);
    }

    #[inline(always)]
    fn byte(self, nth: usize) -> u8 {
        let at = self.kind.bytes_at() + nth;
        (self.words[at / 8].load_relaxed() >> (8 * (at % 8))) as u8
    }

    fn set_byte(self, nth: usize, byte: u8) {
        let at = self.kind.bytes_at() + nth;
        let (word, shift) = (&self.words[at / 8], 8 * (at % 8));
        let rest = word.load_relaxed() & !(0xff << shift);
        word.store_relaxed(rest | u64::from(byte) << shift);
    }

    #[inline(always)]
    fn slot(self, place: usize) -> Ref {
        T::read(self.slot_address(place), size_of::<u32>());
        let word = self.words[self.kind.children_at() + place / 2].load_relaxed();
        Ref::from_word((word >> (32 * (place % 2))) as u32)
    }

    fn set_slot(self, place: usize, child: Ref) {
        let (word, shift) = (&self.words[self.kind.children_at() + place / 2], 32 * (place % 2));
        let rest = word.load_relaxed() & !(u64::from(u32::MAX) << shift);
        word.store_relaxed(rest | u64::from(child.to_word()) << shift);
    }

    fn slot_address(self, place: usize) -> *const u8 {
        self.address(8 * self.kind.children_at() + 4 * place)
    }

    /// Makes the node one without children. For its owner, before anybody else knows of it.
    pub(super) fn reset(self) {
        let end = if self.kind == Kind::All { self.kind.words() } else { self.kind.children_at() };
        self.words[1..end].iter().for_each(|word| word.store_relaxed(0));
    }

    /// Returns the place of the child under a byte, if there may be one.
    #[inline(always)]
    fn place(self, byte: u8) -> Option<usize> {
        let of_sorted = |place: usize| (place < self.len()).then_some(place);
        match self.kind {
            Kind::Four => {
                T::read(self.address(8), 8);
                T::work(Work::Probe);
                of_sorted(first_byte(self.words[1].load_relaxed() >> 32, byte))
            }
            Kind::Sixteen => {
                T::read(self.address(8), 24);
                T::work(Work::Probe);
                let [low, high] = [2, 3].map(|word| first_byte(self.words[word].load_relaxed(), byte));
                of_sorted(if low < 8 { low } else { 8 + high })
            }
            Kind::FortyEight => {
                T::read(self.address(self.kind.bytes_at() + usize::from(byte)), 1);
                usize::from(self.byte(usize::from(byte))).checked_sub(1)
            }
            Kind::All => Some(usize::from(byte)),
        }
    }

    /// The child under a byte, or [`Ref::NIL`].
    #[inline(always)]
    pub(super) fn child(self, byte: u8) -> Ref {
        self.place(byte).map_or(Ref::NIL, |place| self.slot(place))
    }

    /// Prefetches the lines that [`Node::child`] will read.
    #[inline(always)]
    pub(super) fn ask(kind: Kind, at: *const u8, byte: u8) {
        let behind = |words: usize, bytes: usize| at.wrapping_add(8 * words + bytes);
        match kind {
            Kind::Four | Kind::Sixteen => ask_all::<T>(at, 8 * kind.words()),
            // The place of the child isn't known yet, so its line may be any of three or four.
            Kind::FortyEight => {
                ask_all::<T>(at, 1);
                ask_all::<T>(behind(0, kind.bytes_at() + usize::from(byte)), 1);
                ask_all::<T>(behind(kind.children_at(), 0), 4 * kind.places());
            }
            Kind::All => {
                ask_all::<T>(at, 1);
                ask_all::<T>(behind(kind.children_at(), 4 * usize::from(byte)), 4);
            }
        }
    }

    /// Returns how many of the bytes, which ascend, are below `end`.
    fn below(self, end: usize) -> usize {
        T::read(self.address(8), self.kind.bytes_at() + self.kind.places() - 8);
        let len = self.len().min(self.kind.places());
        (0..len).take_while(|&nth| usize::from(self.byte(nth)) < end).count()
    }

    fn is_sorted(self) -> bool {
        matches!(self.kind, Kind::Four | Kind::Sixteen)
    }

    fn entry(self, byte: usize) -> Option<(u8, Ref)> {
        Some((byte as u8, self.child(byte as u8))).filter(|entry| entry.1 != Ref::NIL)
    }

    /// The first child whose byte is at least `from`.
    pub(super) fn first_from(self, from: usize) -> Option<(u8, Ref)> {
        if !self.is_sorted() {
            return (from..256).find_map(|byte| self.entry(byte));
        }
        let nth = self.below(from);
        (nth < self.len().min(self.kind.places())).then(|| (self.byte(nth), self.slot(nth)))
    }

    /// The last child whose byte is below `end`.
    pub(super) fn last_below(self, end: usize) -> Option<(u8, Ref)> {
        if !self.is_sorted() {
            return (0..end).rev().find_map(|byte| self.entry(byte));
        }
        let nth = self.below(end).checked_sub(1)?;
        Some((self.byte(nth), self.slot(nth)))
    }

    /// The children by their bytes.
    pub(super) fn children(self) -> impl Iterator<Item = (u8, Ref)> {
        let mut from = 0;
        core::iter::from_fn(move || {
            let entry = self.first_from(from)?;
            from = usize::from(entry.0) + 1;
            Some(entry)
        })
    }
}

/// Changes by the holder of the latch, or by the owner of a node that isn't reachable yet.
impl<T: Trace> Node<'_, T> {
    fn tell_written(self) {
        T::write(self.address(0), 8 * self.words.len());
    }

    /// Replaces the child under a byte that has one.
    pub(super) fn replace(self, byte: u8, child: Ref) {
        self.tell_written();
        if let Some(place) = self.place(byte) {
            self.set_slot(place, child);
        }
    }

    /// Inserts a child under a byte that has none. There is room.
    pub(super) fn add(self, byte: u8, child: Ref) {
        self.tell_written();
        let len = self.len();
        debug_assert!(len < self.kind.places() && self.child(byte) == Ref::NIL);
        let place = match self.kind {
            Kind::Four | Kind::Sixteen => {
                let at = self.below(usize::from(byte));
                for nth in (at..len).rev() {
                    self.move_entry(nth, nth + 1);
                }
                self.set_byte(at, byte);
                at
            }
            Kind::FortyEight => {
                self.set_byte(usize::from(byte), len as u8 + 1);
                len
            }
            Kind::All => usize::from(byte),
        };
        self.set_slot(place, child);
        self.set_len(len + 1);
    }

    fn move_entry(self, from: usize, to: usize) {
        self.set_byte(to, self.byte(from));
        self.set_slot(to, self.slot(from));
    }

    /// Removes the child under a byte that has one.
    pub(super) fn remove(self, byte: u8) {
        self.tell_written();
        let (Some(place), last) = (self.place(byte), self.len() - 1) else { return };
        match self.kind {
            Kind::Four | Kind::Sixteen => (place..last).for_each(|nth| self.move_entry(nth + 1, nth)),
            // The last child takes the place of the removed one.
            Kind::FortyEight => {
                self.set_slot(place, self.slot(last));
                let moved = (0..256).find(|&other| usize::from(self.byte(other)) == last + 1);
                moved.into_iter().for_each(|other| self.set_byte(other, place as u8 + 1));
                self.set_byte(usize::from(byte), 0);
            }
            Kind::All => self.set_slot(place, Ref::NIL),
        }
        self.set_len(last);
    }
}

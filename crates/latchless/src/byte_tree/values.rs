//! Values in leaves: one word, several words, or byte strings.
//!
//! The first word of every value is at its entry's place, before the rest of the key; its other words
//! follow that rest. So code that reads keys doesn't see them. A leaf's shape gives the number of words:
//! the same for all its entries, or, for byte strings, encoded in the first word.
//!
//! The first byte of a byte string is its length, and up to [`STRING_MAX`] bytes are stored in the leaf. A
//! longer one is outside, as long keys are (see `long.rs`): its only word has [`LONG`] in the lowest byte,
//! then the length and the first block.

use super::change::Shared;
use super::node::{Node, Words};
use super::shape::{LEN_MAX, LONG, LongRef, SHAPE, Shape, WORDS, entry_words};
use latchless_core::base::bytes_value::{Kind, WORDS_MAX};
use latchless_core::mem::node_ref::NodeRef;

/// The longest byte string that is stored in its leaf.
pub const STRING_MAX: usize = if cfg!(latchless_small_nodes) { 24 } else { 192 };

/// How long the values of a leaf's entries are: this many words after the first, up to seven, or byte
/// strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values(u64);

impl Values {
    /// One word, as the entries of inner nodes have.
    pub const ONE_WORD: Self = Self(0);
    /// Byte strings.
    pub(super) const STRINGS: Self = Self(WORDS_MAX as u64);

    /// Those of this kind.
    pub const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Word => Self::ONE_WORD,
            Kind::Words(words) => Self(words as u64 - 1),
            Kind::Bytes => Self::STRINGS,
        }
    }

    /// Words of a value after its first.
    #[inline(always)]
    pub fn more(self, first: u64) -> usize {
        if self.0 < Self::STRINGS.0 {
            return self.0 as usize;
        }
        let length = first as u8;
        if length == LONG { 0 } else { usize::from(length) / 8 }
    }

    /// The string outside that a value is, if it is one.
    #[inline(always)]
    pub fn long(self, first: u64) -> Option<LongRef> {
        (self.0 >= Self::STRINGS.0 && first as u8 == LONG).then(|| LongRef {
            first: NodeRef::from_word((first >> 32) as u32),
            len: (first >> 8) as usize & LEN_MAX,
        })
    }
}

impl Shape {
    /// How long the values are.
    #[inline(always)]
    pub fn values(self) -> Values {
        Values(self.0 >> Self::VALUES & 0xF)
    }

    /// The same shape, of a node with such values.
    pub fn with_values(self, values: Values) -> Self {
        Self(self.0 & !(0xF << Self::VALUES) | values.0 << Self::VALUES)
    }
}

impl<W: Words> Node<'_, W> {
    /// The word where a value goes on after its first.
    #[inline(always)]
    pub fn more_at(self, shape: Shape, at: usize) -> usize {
        self.place(shape, at) + entry_words(self.length(shape, at))
    }

    /// Words that an entry takes in addition to its slot.
    #[inline(always)]
    pub fn words_of_entry(self, shape: Shape, at: usize) -> usize {
        let words = entry_words(self.length(shape, at));
        if shape.values() == Values::ONE_WORD {
            return words;
        }
        words + shape.values().more(self.value(shape, at))
    }

    /// The strings outside that values are.
    pub fn long_values(self) -> impl Iterator<Item = LongRef> {
        let shape = self.shape();
        (0..shape.len()).filter_map(move |at| shape.values().long(self.value(shape, at)))
    }
}

impl Shared<'_> {
    /// Whether an entry's value can be made one of this many words after the first.
    pub fn has_room_to_set(self, at: usize, more: usize) -> bool {
        let shape = self.shape();
        let old = shape.values().more(self.value(shape, at));
        more <= old || shape.has_words(entry_words(self.length(shape, at)) + more)
    }

    /// Gives an entry another value, for which there is room.
    pub fn set_words(self, at: usize, first: u64, more: &[u64]) {
        debug_assert!(self.latch().is_held());
        let (mut shape, length) = (self.shape(), self.length(self.shape(), at));
        let (place, key_words) = (self.place(shape, at), entry_words(length));
        let (old, new) = (shape.values().more(self.value(shape, at)), more.len());
        let mut to = place;
        if new > old {
            // All of the entry goes elsewhere.
            let words = key_words + new;
            to = WORDS - shape.used() - words;
            (1..key_words).for_each(|word| self.set(to + word, self.words.word(place + word)));
            self.set_place(shape, at, to);
            shape = shape.with_words(words).with_waste(key_words + old);
        } else {
            shape = shape.with_waste(old - new);
        }
        self.set(to, first);
        more.iter().enumerate().for_each(|(word, &from)| self.set(to + key_words + word, from));
        self.set(SHAPE, shape.0);
    }
}

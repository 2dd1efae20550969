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
use super::leaf_copy::LeafCopy;
use super::long::{LEN_MAX, LongStrings};
use super::node::{Node, Words};
use super::shape::{LONG, LongRef, SHAPE, Shape, WORDS, entry_words};
use super::text::word;
use super::tree::ByteTree;
use latchless_core::base::bytes_value::{Kind, Raw, WORDS_MAX};
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::node_ref::NodeRef;

/// The longest byte string that is stored in its leaf.
pub const STRING_MAX: usize = if cfg!(latchless_small_nodes) { 24 } else { 192 };
/// Words of the longest string with a length of one byte.
const STRING_WORDS: usize = 32;
/// The longest byte string that is a value.
pub const VALUE_MAX: usize = LEN_MAX;

/// How long the values of a leaf's entries are: this many words after the first, up to seven, or byte
/// strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values(u64);

impl Values {
    /// One word, as the entries of inner nodes have.
    pub const ONE_WORD: Self = Self(0);
    const STRINGS: Self = Self(WORDS_MAX as u64);

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

/// Takes values out of leaves. A value taken from a leaf that changes meanwhile doesn't count, and is taken
/// again.
pub trait Take {
    /// Whether the first word is the whole value, so that nothing else has to be taken.
    const IS_ONE_WORD: bool = false;
    /// The type of a taken value.
    type Value: Copy;
    /// Takes the value of an entry.
    fn take<W: Words>(&mut self, leaf: Node<'_, W>, shape: Shape, at: usize) -> Self::Value;
    /// Takes the value of an entry that is removed under the leaf's latch. Parts outside the leaf stay
    /// there.
    fn take_latched(&mut self, leaf: Shared<'_>, shape: Shape, at: usize) -> Self::Value;
    /// Takes, and frees, the parts that `take_latched` left outside: no node names them any more.
    fn take_the_rest(&mut self, long: &LongStrings);
    /// Takes the value of an entry of a copy. Returns whether it still has one.
    fn take_copied(&mut self, tree: &ByteTree, copy: &mut LeafCopy, at: usize) -> bool;
}

/// Takes values of one word.
#[derive(Debug, Clone, Copy)]
pub struct OneWord;

impl Take for OneWord {
    const IS_ONE_WORD: bool = true;
    type Value = u64;

    #[inline(always)]
    fn take<W: Words>(&mut self, leaf: Node<'_, W>, shape: Shape, at: usize) -> u64 {
        leaf.value(shape, at)
    }

    #[inline(always)]
    fn take_latched(&mut self, leaf: Shared<'_>, shape: Shape, at: usize) -> u64 {
        leaf.value(shape, at)
    }

    #[inline(always)]
    fn take_the_rest(&mut self, _: &LongStrings) {}

    #[inline(always)]
    fn take_copied(&mut self, _: &ByteTree, _: &mut LeafCopy, _: usize) -> bool {
        true
    }
}

/// A value that was taken: of several words, or a byte string.
#[derive(Debug)]
pub struct Kept {
    values: Values,
    words: [u64; WORDS_MAX],
    /// A string that was in its leaf: its length and its bytes.
    bytes: [u8; 8 * STRING_WORDS],
    /// One that was outside.
    long: Vec<u8>,
    is_long: bool,
    /// Where that is, if it wasn't taken yet.
    outside: Option<LongRef>,
}

impl Kept {
    /// Nothing yet, of this kind.
    #[inline]
    pub fn of(kind: Kind) -> Self {
        Self {
            values: Values::of(kind),
            words: [0; WORDS_MAX],
            bytes: [0; 8 * STRING_WORDS],
            long: Vec::new(),
            is_long: false,
            outside: None,
        }
    }

    /// The value.
    #[inline]
    pub fn raw(&self) -> Raw<'_> {
        if self.values != Values::STRINGS {
            return Raw::Words(&self.words[..=self.values.more(0)]);
        }
        Raw::Bytes(if self.is_long { &self.long } else { &self.bytes[1..][..usize::from(self.bytes[0])] })
    }

    /// Whether the value is outside and wasn't taken.
    pub fn is_outside(&self) -> bool {
        self.outside.is_some()
    }

    /// Takes the words of a value that isn't outside; otherwise returns its location.
    #[inline(always)]
    fn take_words(&mut self, first: u64, more: impl Fn(usize) -> u64) -> Option<LongRef> {
        (self.outside, self.is_long) = (self.values.long(first), false);
        if self.values != Values::STRINGS {
            self.words[0] = first;
            let rest = self.words[1..=self.values.more(0)].iter_mut().enumerate();
            rest.for_each(|(at, to)| *to = more(at));
        } else if self.outside.is_none() {
            let (room, _) = self.bytes.as_chunks_mut::<8>();
            room[0] = first.to_le_bytes();
            let rest = room[1..=self.values.more(first)].iter_mut().enumerate();
            rest.for_each(|(at, to)| *to = more(at).to_le_bytes());
        }
        self.outside
    }

    /// Whether the value is this one. It may still be outside, where it doesn't change.
    pub fn is(&self, other: Raw<'_>, long: &LongStrings) -> bool {
        match (self.outside, self.raw(), other) {
            (Some(string), _, Raw::Bytes(other)) => {
                string.len == other.len() && long.compare(string, other).is_eq()
            }
            (None, Raw::Bytes(own), Raw::Bytes(other)) => own == other,
            (None, Raw::Words(own), Raw::Words(other)) => own == other,
            _ => false,
        }
    }

    fn take_string(&mut self, long: &LongStrings, string: LongRef) {
        self.long.clear();
        long.append(string, &mut self.long);
        (self.is_long, self.outside) = (true, None);
    }
}

impl Take for Kept {
    type Value = ();

    #[inline(always)]
    fn take<W: Words>(&mut self, leaf: Node<'_, W>, shape: Shape, at: usize) {
        let start = leaf.more_at(shape, at);
        if let Some(string) = self.take_words(leaf.value(shape, at), |word| leaf.words.word(start + word)) {
            self.take_string(leaf.long, string);
        }
    }

    #[inline(always)]
    fn take_latched(&mut self, leaf: Shared<'_>, shape: Shape, at: usize) {
        let start = leaf.more_at(shape, at);
        self.take_words(leaf.value(shape, at), |word| leaf.words.word(start + word));
    }

    #[inline]
    fn take_the_rest(&mut self, long: &LongStrings) {
        if let Some(string) = self.outside {
            self.take_string(long, string);
            long.free(string);
        }
    }

    #[inline]
    fn take_copied(&mut self, tree: &ByteTree, copy: &mut LeafCopy, at: usize) -> bool {
        let (first, more) = copy.value_words(at);
        let Some(string) = self.take_words(first, |word| more.get(word).copied().unwrap_or(0)) else {
            return true;
        };
        self.take_string(&tree.long, string);
        // Strings outside are of the leaf's moment only as long as the leaf is as it was.
        copy.is_up_to_date(tree) || tree.get_wide(copy.entry(at).0, self)
    }
}

/// A value as its leaf will have it: its words, or the bytes that are to go outside.
#[derive(Debug)]
pub struct Packed {
    words: [u64; STRING_WORDS],
    /// How many of the words it has.
    len: usize,
    /// The string that was stored outside and that no node names yet.
    stored: Option<LongRef>,
}

impl Packed {
    /// A value. A byte string that is long is stored outside.
    ///
    /// # Errors
    /// When it is too long, or memory is refused.
    #[inline]
    pub fn of(tree: &ByteTree, value: Raw<'_>) -> Result<Self> {
        let mut packed = Self { words: [0; STRING_WORDS], len: 1, stored: None };
        packed.set(tree, value)?;
        Ok(packed)
    }

    /// Packs a value over another value.
    ///
    /// # Errors
    /// Those of [`Packed::of`].
    #[inline]
    pub fn set(&mut self, tree: &ByteTree, value: Raw<'_>) -> Result<()> {
        self.stored = None;
        match value {
            Raw::Word(word) => (self.words[0], self.len) = (word, 1),
            Raw::Words(words) => {
                self.words[..words.len()].copy_from_slice(words);
                self.len = words.len();
            }
            Raw::Bytes(bytes) if bytes.len() > STRING_MAX => {
                let string = tree.store_value(bytes)?;
                let first = u64::from(LONG) | (string.len as u64) << 8;
                self.words[0] = first | u64::from(string.first.to_word()) << 32;
                (self.len, self.stored) = (1, Some(string));
            }
            Raw::Bytes(bytes) => {
                self.words[0] = bytes.len() as u64 | word(bytes, 0) << 8;
                self.len = 1 + bytes.len() / 8;
                let rest = self.words[1..self.len].iter_mut().enumerate();
                rest.for_each(|(at, to)| *to = word(bytes, 8 * at + 7));
            }
        }
        Ok(())
    }

    pub fn first(&self) -> u64 {
        self.words[0]
    }

    /// The words after the first.
    pub fn more(&self) -> &[u64] {
        &self.words[1..self.len]
    }

    /// The string that was stored outside, if no node names it yet: to be freed.
    pub fn take_stored(&mut self) -> Option<LongRef> {
        self.stored.take()
    }
}

impl ByteTree {
    /// Stores a value outside of nodes.
    #[inline(never)]
    fn store_value(&self, bytes: &[u8]) -> Result<LongRef> {
        if bytes.len() > VALUE_MAX {
            return Err(Error::ValueTooLong { len: bytes.len(), limit: VALUE_MAX });
        }
        let mut blocks = self.long.put_aside();
        blocks.reserve(LongStrings::blocks_for(bytes.len()))?;
        Ok(blocks.store(bytes))
    }
}

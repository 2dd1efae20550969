//! Taking values out of leaves, and packing those that are to go there.

use super::change::Shared;
use super::long::LongStrings;
use super::node::{Node, Words};
use super::shape::{LEN_MAX, LONG, LongRef, Shape};
use super::text::word;
use super::values::{STRING_MAX, Values};
use latchless_core::base::bytes_value::{Kind, Raw, WORDS_MAX};
use latchless_core::base::error::{Error, Result};

/// Words of the longest string with a length of one byte.
const STRING_WORDS: usize = 32;
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
    /// Takes the value that has these words in a copy of a leaf. Returns whether it is all there: a part that
    /// is outside of the leaf is of the copy's moment only if the leaf is still as it was copied.
    fn take_copied(&mut self, words: CopiedWords<'_>, long: &LongStrings) -> bool;
}

/// The words of a value in a copy of a leaf.
#[derive(Debug, Clone, Copy)]
pub struct CopiedWords<'c> {
    pub first: u64,
    /// Those after the first.
    pub more: &'c [u64],
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
    fn take_copied(&mut self, _: CopiedWords<'_>, _: &LongStrings) -> bool {
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
        Self::of_values(Values::of(kind))
    }

    /// Nothing yet, of this form.
    #[inline]
    pub(super) fn of_values(values: Values) -> Self {
        Self {
            values,
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
    fn take_copied(&mut self, CopiedWords { first, more }: CopiedWords<'_>, long: &LongStrings) -> bool {
        let Some(string) = self.take_words(first, |word| more.get(word).copied().unwrap_or(0)) else {
            return true;
        };
        self.take_string(long, string);
        false
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
    pub fn of(long: &LongStrings, value: Raw<'_>) -> Result<Self> {
        let mut packed = Self { words: [0; STRING_WORDS], len: 1, stored: None };
        packed.set(long, value)?;
        Ok(packed)
    }

    /// Packs a value over another value.
    ///
    /// # Errors
    /// Those of [`Packed::of`].
    #[inline]
    pub fn set(&mut self, long: &LongStrings, value: Raw<'_>) -> Result<()> {
        self.stored = None;
        match value {
            Raw::Word(word) => (self.words[0], self.len) = (word, 1),
            Raw::Words(words) => {
                self.words[..words.len()].copy_from_slice(words);
                self.len = words.len();
            }
            Raw::Bytes(bytes) if bytes.len() > STRING_MAX => {
                let string = store_value(long, bytes)?;
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

/// Stores a value outside of nodes.
#[inline(never)]
fn store_value(long: &LongStrings, bytes: &[u8]) -> Result<LongRef> {
    if bytes.len() > LEN_MAX {
        return Err(Error::ValueTooLong { len: bytes.len(), limit: LEN_MAX });
    }
    let mut blocks = long.put_aside();
    blocks.reserve(LongStrings::blocks_for(bytes.len()))?;
    Ok(blocks.store(bytes))
}

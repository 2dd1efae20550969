//! An index of words of one width, and what batches do with it. Nothing here needs the interpreter.

use crate::batch::CHUNK;
use crate::column::Words;
use crate::lane::{Lane, Order};
use crate::sort;
use latchless::index::Options;
use latchless::{Error, FillFactor, Index, Result};
use std::num::NonZeroUsize;
use std::ops::Range;

/// The position of a key that is none: NaN or NaT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoKey(pub usize);

/// An index whose keys and values are words.
pub struct Engine<B: Lane> {
    /// The index itself.
    pub index: Index<B, B>,
    order: Order,
}

/// Room for the keys of a chunk.
pub type Keys<B> = [B; CHUNK];

impl<B: Lane> Engine<B> {
    /// An empty one.
    pub fn new(order: Order, limit_bytes: Option<usize>) -> Result<Self> {
        Ok(Self { index: Index::with_options(Options { limit_bytes, ..Options::default() })?, order })
    }

    /// The word under which a key is stored.
    #[inline(always)]
    pub fn encode(&self, word: B) -> Option<B> {
        word.ordered(self.order)
    }

    /// The key of a stored word.
    #[inline(always)]
    pub fn decode(&self, word: B) -> B {
        word.restored(self.order)
    }

    /// Whether all words are keys; and whether they ascend.
    pub fn survey(&self, keys: Words<'_, B::Atomic>) -> Result<bool, NoKey> {
        let (mut last, mut ascends) = (B::MIN, true);
        for at in 0..keys.len() {
            let key = self.encode_at(keys, at)?;
            ascends &= last <= key;
            last = key;
        }
        Ok(ascends)
    }

    /// Whether all words are keys.
    pub fn check(&self, keys: Words<'_, B::Atomic>) -> Result<(), NoKey> {
        if self.order.is_partial() { self.survey(keys).map(drop) } else { Ok(()) }
    }

    #[inline(always)]
    fn encode_at(&self, keys: Words<'_, B::Atomic>, at: usize) -> Result<B, NoKey> {
        keys.load(at).ordered(self.order).ok_or(NoKey(at))
    }

    /// Reads a chunk of keys.
    #[inline]
    pub fn read<'a>(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: &Range<usize>,
        room: &'a mut Keys<B>,
    ) -> Result<&'a [B], NoKey> {
        let room = &mut room[..chunk.len()];
        self.read_into(keys, chunk, room)?;
        Ok(room)
    }

    /// As [`Engine::read`], to a room of the chunk's length.
    #[inline]
    pub fn read_into(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: &Range<usize>,
        room: &mut [B],
    ) -> Result<(), NoKey> {
        for (place, at) in room.iter_mut().zip(chunk.clone()) {
            *place = self.encode_at(keys, at)?;
        }
        Ok(())
    }

    /// Fills the empty index. In any order: of equal keys the last one stays. Otherwise they must ascend.
    pub fn load(
        &mut self,
        keys: Words<'_, B::Atomic>,
        values: Words<'_, B::Atomic>,
        sorted: bool,
        fill: f64,
    ) -> Result<(), Undone> {
        let fill = FillFactor::new(fill)?;
        let len = keys.len();
        let mut columns = (sort::room(len)?, sort::room(len)?);
        if sorted || self.survey(keys)? {
            for at in 0..len {
                columns.0.push(self.encode_at(keys, at)?);
                columns.1.push(values.load(at));
            }
            match self.load_columns(&columns.0, &columns.1, fill) {
                // Equal keys side by side: the way below keeps the last of them.
                Err(Error::DuplicateKey { .. }) if !sorted => {}
                loaded => return Ok(loaded?),
            }
        }
        let mut entries = sort::room(len)?;
        for at in 0..len {
            entries.push((self.encode_at(keys, at)?, values.load(at)));
        }
        sort::by_key(&mut entries)?;
        sort::keep_last(&mut entries);
        columns.0.clear();
        columns.1.clear();
        columns.0.extend(entries.iter().map(|entry| entry.0));
        columns.1.extend(entries.iter().map(|entry| entry.1));
        drop(entries);
        Ok(self.load_columns(&columns.0, &columns.1, fill)?)
    }

    fn load_columns(&mut self, keys: &[B], values: &[B], fill: FillFactor) -> Result<()> {
        self.index.bulk_load_columns(keys, values, fill, NonZeroUsize::MIN)
    }
}

/// Why something wasn't done.
#[derive(Debug)]
pub enum Undone {
    /// A key is none.
    NoKey(NoKey),
    /// The index refused, or the system did.
    Refused(Error),
}

impl From<NoKey> for Undone {
    fn from(no_key: NoKey) -> Self {
        Self::NoKey(no_key)
    }
}

impl From<Error> for Undone {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

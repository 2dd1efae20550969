//! An index of words of one width, and its batches. It depends on the interpreter only for signals, which
//! end long operations.

use crate::batch::{Pulse, stretches};
use crate::cells::Cells;
use crate::column::Words;
use crate::lane::{Lane, Order};
use crate::sort;
use crate::store::{Store, changes};
use latchless::index::Options;
use latchless::{Error, FillFactor, Index, Reader, Result};
use pyo3::PyErr;
use std::convert::identity;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

/// The position of an invalid key: NaN or NaT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoKey(pub usize);

/// An index whose keys and values are words.
pub struct Engine<B: Lane> {
    /// The index itself, and its log if it has one.
    pub store: Store<B, B, Cells>,
    /// How its keys are ordered.
    pub order: Order,
}

impl<B: Lane> Engine<B> {
    /// An empty one.
    pub fn new(order: Order, limit_bytes: Option<usize>) -> Result<Self> {
        let index = Index::with_options(Options { limit_bytes, ..Options::default() })?;
        Ok(Self { store: Store::Memory(index), order })
    }

    /// The index, for reading.
    #[inline(always)]
    pub fn index(&self) -> &Reader<Index<B, B>> {
        self.store.index()
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
    pub fn survey(&self, keys: Words<'_, B::Atomic>, pulse: &mut Pulse) -> Result<bool, Undone> {
        let (mut last, mut ascends) = (B::MIN, true);
        for stretch in stretches(keys.len()) {
            for at in stretch {
                let key = self.encode_at(keys, at)?;
                ascends &= last <= key;
                last = key;
            }
            pulse.check()?;
        }
        Ok(ascends)
    }

    /// Whether all words are keys.
    pub fn check(&self, keys: Words<'_, B::Atomic>) -> Result<(), Undone> {
        if self.order.is_partial() { self.survey(keys, &mut Pulse::new()).map(drop) } else { Ok(()) }
    }

    #[inline(always)]
    fn encode_at(&self, keys: Words<'_, B::Atomic>, at: usize) -> Result<B, NoKey> {
        keys.load(at).ordered(self.order).ok_or(NoKey(at))
    }

    /// Reads a chunk of keys into a buffer that is reused for each chunk. Each order of words has a loop of
    /// its own.
    #[inline]
    pub fn read<'a>(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: &Range<usize>,
        room: &'a mut Vec<B>,
    ) -> Result<&'a [B], NoKey> {
        room.clear();
        let words = keys.stretch(chunk.clone());
        match self.order {
            Order::Unsigned => room.extend(words),
            Order::Signed => room.extend(words.map(|word| word.unrestored(Order::Signed))),
            order @ (Order::Time | Order::Float) => {
                let mut no_key = None;
                room.extend(words.zip(chunk.clone()).map(|(word, at)| {
                    word.ordered(order).unwrap_or_else(|| {
                        no_key.get_or_insert(NoKey(at));
                        B::MIN
                    })
                }));
                return no_key.map_or(Ok(room), Err);
            }
        }
        Ok(room)
    }

    /// Fills the empty index. In any order: of equal keys the last one stays. Otherwise they must ascend. A
    /// signal can end it, except during the last step, in which the leaves are built.
    pub fn load(
        &mut self,
        keys: Words<'_, B::Atomic>,
        values: Words<'_, B::Atomic>,
        sorted: bool,
        fill: f64,
    ) -> Result<(), Undone> {
        let (fill, pulse) = (FillFactor::new(fill)?, &mut Pulse::new());
        let len = keys.len();
        let mut columns = (sort::room(len)?, sort::room(len)?);
        if sorted || self.survey(keys, pulse)? {
            for stretch in stretches(len) {
                for at in stretch {
                    columns.0.push(self.encode_at(keys, at)?);
                    columns.1.push(values.load(at));
                }
                pulse.check()?;
            }
            match self.load_columns(&columns.0, &columns.1, fill) {
                // Equal keys side by side: the way below keeps the last of them.
                Err(Error::DuplicateKey { .. }) if !sorted => {}
                loaded => return Ok(loaded?),
            }
        }
        let mut entries = sort::room(len)?;
        for stretch in stretches(len) {
            for at in stretch {
                entries.push((self.encode_at(keys, at)?, values.load(at)));
            }
            pulse.check()?;
        }
        sort::by_key(&mut entries, pulse)?;
        sort::keep_last(&mut entries);
        columns.0.clear();
        columns.1.clear();
        columns.0.extend(entries.iter().map(|entry| entry.0));
        columns.1.extend(entries.iter().map(|entry| entry.1));
        drop(entries);
        pulse.check()?;
        Ok(self.load_columns(&columns.0, &columns.1, fill)?)
    }

    fn load_columns(&mut self, keys: &[B], values: &[B], fill: FillFactor) -> Result<()> {
        self.store.in_memory().bulk_load_columns(keys, values, fill, NonZeroUsize::MIN)
    }
}

changes! {
    impl[B: Lane] Store<B, B, Cells>, (B, B), (B, B);
    identity, identity, identity, identity, Ok::<_, Error>
}

/// Why something wasn't done.
#[derive(Debug)]
pub enum Undone {
    /// A key is invalid.
    NoKey(NoKey),
    /// The index refused, or the system did.
    Refused(Error),
    /// The log refused.
    NotLogged(latchless_log::Error),
    /// The index was opened to be read, in this folder.
    ReadOnly(PathBuf),
    /// A signal has come, and its handler raised this.
    Stopped(PyErr),
}

impl From<NoKey> for Undone {
    fn from(no_key: NoKey) -> Self {
        Self::NoKey(no_key)
    }
}

impl From<PyErr> for Undone {
    fn from(raised: PyErr) -> Self {
        Self::Stopped(raised)
    }
}

impl From<latchless_log::Error> for Undone {
    fn from(error: latchless_log::Error) -> Self {
        Self::NotLogged(error)
    }
}

impl From<Error> for Undone {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

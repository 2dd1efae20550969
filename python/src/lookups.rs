//! Batches that read: values under keys, and the nearest entries.

use crate::column::Words;
use crate::engine::{Engine, NoKey};
use crate::lane::Lane;
use latchless::index::Own;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// Selects a neighbour of a key.
#[derive(Debug, Clone, Copy)]
pub enum Near {
    /// The largest key that isn't larger.
    Floor,
    /// The smallest key that isn't smaller.
    Ceiling,
    /// The largest smaller key.
    Lower,
    /// The smallest larger key.
    Higher,
}

/// On which side of a key its nearest entry is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Sides {
    /// On one.
    One(Near),
    /// On both, at one moment; of two entries that are equally near, the first one counts.
    Both(Own),
}

impl Sides {
    /// The neighbour for a direction of `pandas.merge_asof`.
    pub fn of(direction: &str, exact: bool) -> Option<Self> {
        let (before, after) = if exact { (Near::Floor, Near::Ceiling) } else { (Near::Lower, Near::Higher) };
        match direction {
            "backward" => Some(Self::One(before)),
            "forward" => Some(Self::One(after)),
            "nearest" => Some(Self::Both(if exact { Own::Counts } else { Own::IsPassed })),
            _ => None,
        }
    }

    /// Whether entries before a key are looked at, whether those after it are, and whether its own counts.
    pub fn ways(self) -> (bool, bool, bool) {
        match self {
            Self::One(Near::Floor) => (true, false, true),
            Self::One(Near::Lower) => (true, false, false),
            Self::One(Near::Ceiling) => (false, true, true),
            Self::One(Near::Higher) => (false, true, false),
            Self::Both(own) => (true, true, matches!(own, Own::Counts)),
        }
    }
}

/// The requests for nearest entries.
#[derive(Debug, Clone, Copy)]
pub struct Question<B> {
    /// Where they are.
    pub sides: Sides,
    /// How far away they may be.
    pub farthest: Option<u64>,
    /// The key and the value for a missing entry.
    pub missing: (B, B),
}

/// Room for answers, which are written in the order of the places.
#[derive(Debug)]
pub struct Places<'a, T>(&'a mut [MaybeUninit<T>]);

impl<'a, T: Copy> Places<'a, T> {
    /// The places of each part of a batch.
    pub fn cut(mut places: &'a mut [MaybeUninit<T>], cuts: &[usize]) -> Vec<Self> {
        let part = |cut: &[usize]| Self(places.split_off_mut(..cut[1] - cut[0]).expect("so many are there"));
        cuts.windows(2).map(part).collect()
    }

    /// The next places, each with a first answer.
    #[inline]
    pub fn next(&mut self, count: usize, first: T) -> &'a mut [T] {
        let next = self.0.split_off_mut(..count).expect("so many are there");
        next.iter_mut().for_each(|place| _ = place.write(first));
        // SAFETY: every place has just been written, and a `MaybeUninit` has the layout of its content.
        unsafe { &mut *(std::ptr::from_mut(next) as *mut [T]) }
    }
}

/// Columns of entries.
struct Columns<'a, B> {
    keys: &'a mut [B],
    values: &'a mut [B],
    found: &'a mut [bool],
}

/// A thread's buffers for its chunks.
#[derive(Debug)]
pub struct Reading<'a, B> {
    keys: Places<'a, B>,
    values: Places<'a, B>,
    found: Places<'a, bool>,
    asked: Vec<B>,
}

impl<'a, B: Lane> Reading<'a, B> {
    /// With this room for its answers.
    pub fn new((keys, (values, found)): (Places<'a, B>, (Places<'a, B>, Places<'a, bool>))) -> Self {
        Self { keys, values, found, asked: Vec::new() }
    }
}

impl<B: Lane> Engine<B> {
    /// Looks a chunk of keys up.
    pub fn get_chunk(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        missing: B,
        reading: &mut Reading<'_, B>,
    ) -> Result<(), NoKey> {
        let keys = self.read(keys, &chunk, &mut reading.asked)?;
        let (values, found) =
            (reading.values.next(keys.len(), missing), reading.found.next(keys.len(), false));
        self.index().get_columns(keys, values, found).expect("they are of one length");
        Ok(())
    }

    /// Looks up a chunk into arrays of the caller. See [`Engine::get_chunk`].
    pub fn get_chunk_into(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        missing: B,
        (values, found): (Option<Words<'_, B::Atomic>>, Words<'_, AtomicU8>),
    ) -> Result<(), NoKey> {
        let (mut room, count) = (Vec::new(), chunk.len());
        let asked = self.read(keys, &chunk, &mut room)?;
        let (mut its_values, mut its_found) = (vec![missing; count], vec![false; count]);
        self.index().get_columns(asked, &mut its_values, &mut its_found).expect("they are of one length");
        for (at, (value, is_found)) in chunk.zip(its_values.into_iter().zip(its_found)) {
            found.store(at, is_found);
            if let Some(values) = &values {
                values.store(at, value);
            }
        }
        Ok(())
    }

    /// Looks for the nearest entries of a chunk of keys.
    pub fn near_chunk(
        &self,
        question: Question<B>,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        reading: &mut Reading<'_, B>,
    ) -> Result<(), NoKey> {
        let asked = self.read(keys, &chunk, &mut reading.asked)?;
        let no_key = question.missing.0.unrestored(self.order);
        let mut entries = Columns {
            keys: reading.keys.next(asked.len(), no_key),
            values: reading.values.next(asked.len(), question.missing.1),
            found: reading.found.next(asked.len(), false),
        };
        match question.sides {
            Sides::One(near) => self.beside(near, asked, &mut entries),
            Sides::Both(own) => {
                let distance = |key: B, other: B| key.distance(other, self.order);
                let columns = (&mut *entries.keys, &mut *entries.values, &mut *entries.found);
                let found = self.index().nearest_columns_by(asked, (own, distance), columns);
                found.expect("they are of one length");
            }
        }
        if let Some(farthest) = question.farthest {
            for (at, &key) in asked.iter().enumerate() {
                if entries.found[at] && key.distance(entries.keys[at], self.order) > farthest {
                    entries.found[at] = false;
                    (entries.keys[at], entries.values[at]) = (no_key, question.missing.1);
                }
            }
        }
        entries.keys.iter_mut().for_each(|key| *key = self.decode(*key));
        Ok(())
    }

    /// The neighbours on one side.
    fn beside(&self, near: Near, keys: &[B], to: &mut Columns<'_, B>) {
        let places = (&mut *to.keys, &mut *to.values, &mut *to.found);
        let found = match near {
            Near::Floor => self.index().floor_columns(keys, places.0, places.1, places.2),
            Near::Ceiling => self.index().ceiling_columns(keys, places.0, places.1, places.2),
            Near::Lower => self.index().lower_columns(keys, places.0, places.1, places.2),
            Near::Higher => self.index().higher_columns(keys, places.0, places.1, places.2),
        };
        found.expect("they are of one length");
    }

    /// The neighbour of one key.
    pub fn near(&self, near: Near, key: B) -> Option<(B, B)> {
        match near {
            Near::Floor => self.index().floor(key),
            Near::Ceiling => self.index().ceiling(key),
            Near::Lower => self.index().lower(key),
            Near::Higher => self.index().higher(key),
        }
    }

    /// The nearest entry to one key, on either side.
    pub fn nearest(&self, key: B) -> Option<(B, B)> {
        self.index().nearest_by(key, Own::Counts, |key: B, other: B| key.distance(other, self.order))
    }
}

//! Batches that change the index.

use crate::batch::{CHUNK, Pulse, stretches};
use crate::column::Words;
use crate::engine::{Engine, NoKey, Undone};
use crate::lane::Lane;
use crate::sort;
use crate::store::{Inserted, Store, logged};
use latchless::Error;
use std::ops::Range;

/// From this length on, a batch of inserts is sorted first, unless it ascends already: neighbours then go to
/// leaves that are in the cache.
const SORTED_FROM: usize = 1 << 14;

/// The order in which a batch's entries go in.
#[derive(Debug)]
pub enum Sequence<B> {
    /// As they came.
    AsGiven,
    /// By key, each with its position.
    ByKey(Vec<(B, u32)>),
}

/// The changes of a part of a batch.
#[derive(Debug, Default)]
pub struct Changed {
    /// Keys that came in, or went.
    pub keys: usize,
    /// The positions that were refused, and why the first one was.
    pub refused: Vec<usize>,
    /// Why.
    pub error: Option<Error>,
}

impl Changed {
    /// Counts a chunk's new keys, or lists what of it was refused: then the number of new keys isn't reported.
    /// `position` is that of a place in the chunk.
    pub fn note(&mut self, inserted: Inserted, position: impl Fn(usize) -> usize) {
        match inserted {
            Ok(new) => self.keys += new,
            Err((refused, error)) => {
                self.refused.extend(refused.into_iter().map(position));
                self.error.get_or_insert(error);
            }
        }
    }
}

impl<B: Lane> Sequence<B> {
    /// The position of the entry that is `at` in the order.
    pub fn position(&self, at: usize) -> usize {
        match self {
            Self::AsGiven => at,
            Self::ByKey(order) => order[at].1 as usize,
        }
    }

    /// Moves cuts to where no two parts have equal keys, so that of equal keys the last one stays.
    pub fn cut_between_keys(&self, cuts: &mut [usize]) {
        let Self::ByKey(order) = self else { return };
        for at in 1..cuts.len().saturating_sub(1) {
            let mut cut = cuts[at].max(cuts[at - 1]);
            while cut > 0 && cut < order.len() && order[cut].0 == order[cut - 1].0 {
                cut += 1;
            }
            cuts[at] = cut;
        }
    }
}

impl<B: Lane> Engine<B> {
    /// Chooses the order in which the entries of a batch go in. Nothing is changed if one of the keys is
    /// none. `parted`: several threads will share the batch.
    pub fn sequence(&self, keys: Words<'_, B::Atomic>, parted: bool) -> Result<Sequence<B>, Undone> {
        let pulse = &mut Pulse::new();
        let ascends = self.survey(keys, pulse)?;
        let short = keys.len() < SORTED_FROM;
        if (!parted && (short || ascends)) || u32::try_from(keys.len()).is_err() {
            return Ok(Sequence::AsGiven);
        }
        let mut order = sort::room(keys.len())?;
        for stretch in stretches(keys.len()) {
            for at in stretch {
                let key = self.encode(keys.load(at)).ok_or(NoKey(at))?;
                order.push((key, at as u32));
            }
            pulse.check()?;
        }
        sort::by_key(&mut order, pulse)?;
        Ok(Sequence::ByKey(order))
    }

    /// The entry that is `at` in the order.
    #[inline(always)]
    fn entry(
        &self,
        keys: Words<'_, B::Atomic>,
        values: Words<'_, B::Atomic>,
        sequence: &Sequence<B>,
        at: usize,
    ) -> Result<(B, B), NoKey> {
        Ok(match sequence {
            Sequence::AsGiven => (self.encode(keys.load(at)).ok_or(NoKey(at))?, values.load(at)),
            Sequence::ByKey(order) => (order[at].0, values.load(order[at].1 as usize)),
        })
    }

    /// Inserts a chunk of a batch.
    pub fn insert_chunk(
        &self,
        keys: Words<'_, B::Atomic>,
        values: Words<'_, B::Atomic>,
        sequence: &Sequence<B>,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) -> Result<(), Undone> {
        let inserted = match &self.store {
            Store::Memory(index) => {
                let (mut room, mut its_values) = ([B::MIN; CHUNK], [B::MIN; CHUNK]);
                let (room, its_values) = (&mut room[..chunk.len()], &mut its_values[..chunk.len()]);
                for (i, at) in chunk.clone().enumerate() {
                    (room[i], its_values[i]) = self.entry(keys, values, sequence, at)?;
                }
                index.insert_columns(room, its_values).map_err(|some| (some.refused, some.error))
            }
            Store::Durable(durable) => {
                let (mut room, mut its_values) = (sort::room(chunk.len())?, sort::room(chunk.len())?);
                for at in chunk.clone() {
                    let (key, value) = self.entry(keys, values, sequence, at)?;
                    room.push(key);
                    its_values.push(value);
                }
                logged(durable.insert_columns(&room, &its_values))?
            }
            Store::ReadOnly(reading) => return Err(reading.refusal()),
        };
        changed.note(inserted, |at| sequence.position(chunk.start + at));
        Ok(())
    }

    /// Removes a chunk of keys.
    pub fn remove_chunk(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) -> Result<(), Undone> {
        let mut room = Vec::new();
        let keys = self.read(keys, &chunk, &mut room)?;
        changed.keys += match &self.store {
            Store::Memory(index) => {
                let (mut values, mut found) = ([B::MIN; CHUNK], [false; CHUNK]);
                let (values, found) = (&mut values[..chunk.len()], &mut found[..chunk.len()]);
                index.remove_columns(keys, values, found).expect("they are of one length")
            }
            Store::Durable(durable) => durable.remove_many(keys)?,
            Store::ReadOnly(reading) => return Err(reading.refusal()),
        };
        Ok(())
    }
}

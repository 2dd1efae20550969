//! Batches that read: values under keys, and the nearest entries.

use crate::batch::CHUNK;
use crate::column::Words;
use crate::engine::{Engine, NoKey};
use crate::lane::Lane;
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// Which neighbour of a key is asked for.
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

/// Room for one answer of each request, and the word that it gets where nothing is found.
pub struct Answers<'a, B: Lane> {
    /// The places.
    pub words: Words<'a, B::Atomic>,
    /// The word for nothing.
    pub missing: B,
}

impl<B: Lane> Answers<'_, B> {
    #[inline(always)]
    fn put(&self, at: usize, word: B, found: bool) {
        self.words.store(at, if found { word } else { self.missing });
    }
}

/// Where the answers of a batch go.
pub struct Room<'a, B: Lane> {
    /// The keys that were found.
    pub keys: Option<Answers<'a, B>>,
    /// Their values.
    pub values: Option<Answers<'a, B>>,
    /// Whether something was found.
    pub found: Words<'a, AtomicU8>,
}

impl<B: Lane> Engine<B> {
    /// Looks a chunk of keys up.
    pub fn get_chunk(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        answers: &Room<'_, B>,
    ) -> Result<(), NoKey> {
        let (mut room, mut values, mut found) = ([B::MIN; CHUNK], [B::MIN; CHUNK], [false; CHUNK]);
        let keys = self.read(keys, &chunk, &mut room)?;
        let (values, found) = (&mut values[..chunk.len()], &mut found[..chunk.len()]);
        self.index.get_columns(keys, values, found).expect("they are of one length");
        for ((at, &value), &found) in chunk.zip(&*values).zip(&*found) {
            answers.found.store(at, found);
            if let Some(values) = &answers.values {
                values.put(at, value, found);
            }
        }
        Ok(())
    }

    /// Looks for the neighbours of a chunk of keys.
    pub fn near_chunk(
        &self,
        near: Near,
        keys_given: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        answers: &Room<'_, B>,
    ) -> Result<(), NoKey> {
        let (mut room, mut near_keys) = ([B::MIN; CHUNK], [B::MIN; CHUNK]);
        let (mut values, mut found) = ([B::MIN; CHUNK], [false; CHUNK]);
        let keys = &mut room[..chunk.len()];
        self.read_into(keys_given, &chunk, keys)?;
        let near_keys = &mut near_keys[..chunk.len()];
        let (values, found) = (&mut values[..chunk.len()], &mut found[..chunk.len()]);
        // The smallest key has none before it, the largest none after it.
        let outside = match near {
            Near::Lower => step(keys, B::before),
            Near::Higher => step(keys, B::next),
            Near::Floor | Near::Ceiling => Vec::new(),
        };
        let served = match near {
            Near::Floor | Near::Lower => self.index.floor_columns(keys, near_keys, values, found),
            Near::Ceiling | Near::Higher => self.index.ceiling_columns(keys, near_keys, values, found),
        };
        served.expect("they are of one length");
        outside.into_iter().for_each(|i| found[i] = false);
        for (i, at) in chunk.enumerate() {
            answers.found.store(at, found[i]);
            if let Some(keys) = &answers.keys {
                keys.put(at, self.decode(near_keys[i]), found[i]);
            }
            if let Some(its) = &answers.values {
                its.put(at, values[i], found[i]);
            }
        }
        Ok(())
    }

    /// The neighbour of one key.
    pub fn near(&self, near: Near, key: B) -> Option<(B, B)> {
        match near {
            Near::Floor => self.index.floor(key),
            Near::Ceiling => self.index.ceiling(key),
            Near::Lower => self.index.floor(key.before()?),
            Near::Higher => self.index.ceiling(key.next()?),
        }
    }
}

/// Replaces each key by the one beside it, and says where there is none.
fn step<B: Lane>(keys: &mut [B], beside: impl Fn(B) -> Option<B>) -> Vec<usize> {
    let mut outside = Vec::new();
    for (i, key) in keys.iter_mut().enumerate() {
        match beside(*key) {
            Some(next) => *key = next,
            None => outside.push(i),
        }
    }
    outside
}

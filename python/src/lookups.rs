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

/// Room for the answers of a batch. Where nothing is found, the words stay as they are.
pub struct Answers<'a, B: Lane> {
    /// The keys that were found.
    pub keys: Option<Words<'a, B::Atomic>>,
    /// Their values.
    pub values: Option<Words<'a, B::Atomic>>,
    /// Whether something was found.
    pub found: Words<'a, AtomicU8>,
}

impl<B: Lane> Engine<B> {
    /// Looks a chunk of keys up.
    pub fn get_chunk(
        &self,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        answers: &Answers<'_, B>,
    ) -> Result<(), NoKey> {
        let (mut room, mut values) = ([B::MIN; CHUNK], [None; CHUNK]);
        let (keys, values) = (self.read(keys, &chunk, &mut room)?, &mut values[..chunk.len()]);
        self.index.get_many(keys, values).expect("they are of one length");
        for (at, value) in chunk.zip(values) {
            answers.found.store(at, value.is_some());
            if let (Some(words), &mut Some(value)) = (answers.values, value) {
                words.store(at, value);
            }
        }
        Ok(())
    }

    /// Looks for the neighbours of a chunk of keys.
    pub fn near_chunk(
        &self,
        near: Near,
        keys: Words<'_, B::Atomic>,
        chunk: Range<usize>,
        answers: &Answers<'_, B>,
    ) -> Result<(), NoKey> {
        let (mut room, mut found) = ([B::MIN; CHUNK], [None; CHUNK]);
        let (keys, found) = (self.read(keys, &chunk, &mut room)?, &mut found[..chunk.len()]);
        self.near_each(near, keys, found);
        for (at, entry) in chunk.zip(found) {
            answers.found.store(at, entry.is_some());
            let &mut Some((key, value)) = entry else { continue };
            if let Some(words) = answers.keys {
                words.store(at, self.decode(key));
            }
            if let Some(words) = answers.values {
                words.store(at, value);
            }
        }
        Ok(())
    }

    fn near_each(&self, near: Near, keys: &[B], found: &mut [Option<(B, B)>]) {
        for (found, &key) in found.iter_mut().zip(keys) {
            *found = self.near(near, key);
        }
    }

    /// The neighbour of one key.
    pub fn near(&self, near: Near, key: B) -> Option<(B, B)> {
        match near {
            Near::Floor => self.index.floor(key),
            Near::Ceiling => self.index.ceiling(key),
            Near::Lower => self.index.lower(key),
            Near::Higher => self.index.higher(key),
        }
    }
}

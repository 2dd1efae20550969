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
        let (mut room, mut values, mut found) = ([B::MIN; CHUNK], [B::MIN; CHUNK], [false; CHUNK]);
        let keys = self.read(keys, &chunk, &mut room)?;
        let (values, found) = (&mut values[..chunk.len()], &mut found[..chunk.len()]);
        self.index.get_columns(keys, values, found).expect("they are of one length");
        for ((at, &value), &found) in chunk.zip(&*values).zip(&*found) {
            answers.found.store(at, found);
            if let (Some(words), true) = (answers.values, found) {
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
        let (mut room, mut near_keys) = ([B::MIN; CHUNK], [B::MIN; CHUNK]);
        let (mut values, mut found) = ([B::MIN; CHUNK], [false; CHUNK]);
        let keys = self.read(keys, &chunk, &mut room)?;
        let near_keys = &mut near_keys[..chunk.len()];
        let (values, found) = (&mut values[..chunk.len()], &mut found[..chunk.len()]);
        let served = match near {
            Near::Floor => self.index.floor_columns(keys, near_keys, values, found),
            Near::Ceiling => self.index.ceiling_columns(keys, near_keys, values, found),
            Near::Lower => self.index.lower_columns(keys, near_keys, values, found),
            Near::Higher => self.index.higher_columns(keys, near_keys, values, found),
        };
        served.expect("they are of one length");
        for (i, at) in chunk.enumerate() {
            answers.found.store(at, found[i]);
            if !found[i] {
                continue;
            }
            if let Some(words) = answers.keys {
                words.store(at, self.decode(near_keys[i]));
            }
            if let Some(words) = answers.values {
                words.store(at, values[i]);
            }
        }
        Ok(())
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

//! Strings for changes of nodes, with room for the longest key: made before latches are taken.

use latchless_core::base::error::Result;
use latchless_core::mem::refusal::reserve;
use latchless_core::sync::{BitsWord, Mutex, Word};

/// Strings that a change of one level needs: room for the longest keys.
#[derive(Debug, Default)]
pub struct Strings {
    pub low: Vec<u8>,
    pub high: Vec<u8>,
    pub separator: Vec<u8>,
    pub other: Vec<u8>,
}

impl Strings {
    /// Makes room for strings of this length.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        // Words are added whole.
        let bytes = len + 16;
        for string in [&mut self.low, &mut self.high, &mut self.separator, &mut self.other] {
            string.clear();
            reserve(string, bytes)?;
        }
        Ok(())
    }
}

/// The length of the longest key.
#[derive(Debug)]
pub struct Longest {
    /// At least as long as the longest key that was ever inserted.
    len: Word,
    /// Strings for a merge that finds no memory for its own: with room for the longest key.
    spare: Mutex<Strings>,
}

impl Default for Longest {
    fn default() -> Self {
        Self { len: Word::new(0), spare: Mutex::default() }
    }
}

impl Longest {
    #[inline]
    pub fn get(&self) -> usize {
        self.len.load_relaxed() as usize
    }

    /// Notes the length of a key that is about to be inserted, and makes room for it where strings are
    /// kept. No latch is held.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn note(&self, len: usize) -> Result<()> {
        if len > self.get() {
            self.spare.lock().reserve(len)?;
            self.len.publish_max(len as u64);
        }
        Ok(())
    }

    /// The strings for a merge that finds no memory for its own.
    pub fn spare(&self) -> &Mutex<Strings> {
        &self.spare
    }
}

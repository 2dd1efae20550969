//! An index whose keys are versions of others.

use super::subject::{RANGE, Subject, present, text};
use latchless::{Index, Result, VersionedKey};
use std::hint::black_box;

impl Subject for Index<VersionedKey, u64> {
    type Key = VersionedKey;

    fn insert(&mut self, key: &VersionedKey) -> Result<usize> {
        Ok(usize::from(black_box(Self::insert(self, borrowed(key), 1)?).is_some()))
    }

    fn remove(&mut self, key: &VersionedKey) -> usize {
        usize::from(black_box(Self::remove(self, borrowed(key))).is_some())
    }

    fn get(&self, key: &VersionedKey) -> usize {
        usize::from(black_box(Self::get(self, borrowed(key))).is_some())
    }

    fn ceiling(&self, key: &VersionedKey) -> usize {
        usize::from(black_box(self.ceiling_with(borrowed(key), |_, value| value)).is_some())
    }

    fn range(&self, low: &VersionedKey) -> usize {
        Self::range(self, borrowed(low)..).take(RANGE).map(black_box).count()
    }

    fn get_many(&self, keys: &[VersionedKey]) -> Result<usize> {
        let keys: Vec<_> = keys.iter().map(borrowed).collect();
        let mut answers = vec![None; keys.len()];
        Self::get_many(self, &keys, &mut answers)?;
        Ok(present(&answers))
    }

    fn insert_many(&mut self, keys: &[VersionedKey]) -> Result<usize> {
        let entries: Vec<_> = keys.iter().map(|key| (borrowed(key), 1)).collect();
        let mut replaced = vec![None; keys.len()];
        Self::insert_many(self, &entries, &mut replaced).map_err(|incomplete| incomplete.error)?;
        Ok(present(&replaced))
    }

    fn newest(&self, VersionedKey(key, _): &VersionedKey) -> Option<usize> {
        Some(usize::from(black_box(Self::newest(self, key, u64::MAX)).is_some()))
    }

    fn newest_many(&self, keys: &[VersionedKey]) -> Result<usize> {
        let keys: Vec<_> = keys.iter().map(|VersionedKey(key, _)| VersionedKey(&key[..], u64::MAX)).collect();
        let mut answers = vec![None; keys.len()];
        Self::newest_many(self, &keys, &mut answers)?;
        Ok(present(&answers))
    }
}

fn borrowed(VersionedKey(key, number): &VersionedKey) -> VersionedKey<&[u8]> {
    VersionedKey(key, *number)
}

/// Returns the `at`th of as many different texts, with the number of its only version.
pub fn version(at: usize) -> VersionedKey {
    VersionedKey(text(at), at as u64)
}

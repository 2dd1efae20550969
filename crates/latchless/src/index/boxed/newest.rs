//! The newest versions of keys, with values of any type.

use super::{Boxed, Handles, TOGETHER};
use crate::index::newest::Versions;
use crate::slot_map::{Pinned, SlotId};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::versioned::VersionedKey;

impl<I: Handles, V: IndexValue> Boxed<I, V> {
    /// Returns the newest version of a key.
    fn newest_of<'p, K: IndexKey>(
        &'p self,
        key: VersionedKey<K::Probe<'_>>,
        pin: &'p Pinned,
    ) -> Option<(u64, &'p V)>
    where
        I: Versions<K, SlotId>,
    {
        loop {
            // A handle that was retired meanwhile: the version has another one now, or is gone.
            let (number, handle) = self.index.newest(key)?;
            if let Some(value) = self.slots.read(handle, pin) {
                return Some((number, value));
            }
        }
    }
}

impl<K: IndexKey, I: Handles + Versions<K, SlotId>, V: IndexValue> Versions<K, V> for Boxed<I, V> {
    fn newest(&self, key: VersionedKey<K::Probe<'_>>) -> Option<(u64, V)> {
        self.newest_of(key, &self.pin()).map(|(number, value)| (number, value.clone()))
    }

    fn see_newest<R>(
        &self,
        key: VersionedKey<K::Probe<'_>>,
        see: impl FnOnce(u64, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.newest_of(key, &self.pin()).map(|(number, value)| see(number, value.lend()))
    }

    fn newest_many(&self, keys: &[VersionedKey<K::Probe<'_>>], answers: &mut [Option<(u64, V)>]) {
        let (pin, mut found) = (self.pin(), [None; TOGETHER]);
        for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            let found = &mut found[..keys.len()];
            self.index.newest_many(keys, found);
            found.iter().flatten().for_each(|&(_, handle)| self.slots.prefetch(handle));
            for ((answer, found), &key) in answers.iter_mut().zip(found).zip(keys) {
                *answer = found.take().and_then(|(number, handle)| match self.slots.read(handle, &pin) {
                    Some(value) => Some((number, value.clone())),
                    // Retired meanwhile.
                    None => Versions::newest(self, key),
                });
            }
        }
    }
}

//! artmap's trie of versions.

use super::keys::Key;
use super::subject::{Batch, Digest, Form, RANGE, Subject};
use artmap::VersionedArtMap;
use latchless::Result;
use std::hint::black_box;
use std::ops::Bound::{Included, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering};

/// `artmap::VersionedArtMap`, and the newest number, which its user gives.
pub struct Art<K: Key> {
    map: VersionedArtMap<K::Owned, u64>,
    newest: AtomicU64,
}

impl<K: Key> Subject<K> for Art<K> {
    const NAME: &'static str = "VersionedArtMap";
    const IS_RIVAL: bool = true;
    type Moment = u64;

    fn create() -> Result<Self> {
        Ok(Self { map: VersionedArtMap::new(), newest: AtomicU64::new(0) })
    }

    fn insert(&self, key: &K, value: u64) -> Result<()> {
        let number = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
        black_box(self.map.insert(key.owned(), number, value));
        Ok(())
    }

    fn insert_together(&self, entries: &[(&K, u64)]) -> Result<bool> {
        let number = self.newest.load(Ordering::Acquire) + 1;
        let guard = self.map.pin();
        for (key, value) in entries {
            self.map.insert_with_guard(key.owned(), number, *value, &guard);
        }
        self.newest.store(number, Ordering::Release);
        Ok(true)
    }

    /// A version that is replaced under its own number would change under its readers, and nothing else
    /// drops the one before in the same search.
    fn overwrite(&self, key: &K, value: u64) -> Result<bool> {
        let number = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
        self.map.insert(key.owned(), number, value);
        key.with_bytes(|key| self.map.prune_key(key, number, |_| false));
        Ok(true)
    }

    fn moment(&self) -> Option<u64> {
        Some(self.newest.load(Ordering::Acquire))
    }

    fn prune(&self, &oldest: &u64) -> Result<Option<usize>> {
        Ok(Some(self.map.prune_all(oldest, |_| false)))
    }

    fn get(&self, key: &K) -> Option<u64> {
        key.with_bytes(|key| self.map.get_slice(key))
    }

    fn get_at(&self, key: &K, &moment: &u64) -> Option<u64> {
        key.with_bytes(|key| self.map.get_version_le(key, moment)).map(|(_, value)| value)
    }

    /// There are no batches; one guard serves all lookups.
    fn get_many(&self, batch: &Batch<'_, '_, K>, moment: Option<&u64>, digest: &mut Digest) -> Result<()> {
        let (guard, moment) = (self.map.pin(), moment.copied().unwrap_or(u64::MAX));
        for key in batch.keys {
            let found = key.with_bytes(|key| self.map.get_version_le_with_guard(key, moment, &guard));
            digest.add(found.map(|(_, value)| value));
        }
        Ok(())
    }

    /// The iterator shows the newest versions, and skips keys whose newest one is a removal. So this isn't a
    /// snapshot of an index in which keys are removed; it is one of the keys here, which stay.
    fn range(&self, low: &K, moment: Option<&u64>, _: Form, digest: &mut Digest) {
        let (guard, moment) = (self.map.pin(), moment.copied().unwrap_or(u64::MAX));
        low.with_bytes(|low| {
            let entries = self.map.range_with_guard::<_, [u8]>((Included(low), Unbounded), &guard);
            let seen = entries.filter_map(|entry| {
                black_box(entry.key());
                entry.get_version_le(moment).map(|(_, &value)| value)
            });
            seen.take(RANGE).for_each(|value| digest.add(Some(value)));
        });
    }
}

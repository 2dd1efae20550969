//! crossbeam's skip list, whose keys end in a falling number.

use super::keys::{Key, Pair};
use super::subject::{Batch, Digest, Form, RANGE, Subject};
use crossbeam_skiplist::SkipMap;
use crossbeam_skiplist::map::Entry;
use latchless::Result;
use std::cmp::Reverse;
use std::hint::black_box;
use std::ops::Bound::{Included, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering};

/// The list, and the newest number, which its user gives.
pub struct List<K: Key> {
    map: SkipMap<Pair<K>, u64>,
    newest: AtomicU64,
}

impl<K: Key> List<K> {
    /// The newest version up to a number is the first entry at or after it, if that is the key's.
    fn find(&self, key: &K, number: u64) -> Option<u64> {
        let entry = key.with_pair(number, |pair| self.map.lower_bound(Included(pair)))?;
        (entry.key().0 == *key).then(|| *entry.value())
    }
}

/// Whether an entry is another version of the key of the one before.
fn is_of<K: Key>(entry: &Entry<'_, Pair<K>, u64>, last: Option<&Entry<'_, Pair<K>, u64>>) -> bool {
    last.is_some_and(|last| last.key().0 == entry.key().0)
}

impl<K: Key> Subject<K> for List<K> {
    const NAME: &'static str = "SkipMap of versions";
    const IS_RIVAL: bool = true;
    type Moment = u64;

    fn create() -> Result<Self> {
        Ok(Self { map: SkipMap::new(), newest: AtomicU64::new(0) })
    }

    fn insert(&self, key: &K, value: u64) -> Result<()> {
        let number = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
        self.map.insert((key.clone(), Reverse(number)), value);
        Ok(())
    }

    fn insert_together(&self, entries: &[(&K, u64)]) -> Result<bool> {
        let number = self.newest.load(Ordering::Acquire) + 1;
        for &(key, value) in entries {
            self.map.insert((key.clone(), Reverse(number)), value);
        }
        self.newest.store(number, Ordering::Release);
        Ok(true)
    }

    /// The version before is the next entry: it needs no search.
    fn overwrite(&self, key: &K, value: u64) -> Result<bool> {
        let number = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
        let entry = self.map.insert((key.clone(), Reverse(number)), value);
        if let Some(before) = entry.next()
            && before.key().0 == *key
        {
            before.remove();
        }
        Ok(true)
    }

    fn moment(&self) -> Option<u64> {
        Some(self.newest.load(Ordering::Acquire))
    }

    fn prune(&self, &oldest: &u64) -> Result<Option<usize>> {
        let (mut removed, mut seen) = (0, None);
        for entry in &self.map {
            if is_of(&entry, seen.as_ref()) {
                removed += usize::from(entry.remove());
            } else if entry.key().1.0 <= oldest {
                seen = Some(entry);
            }
        }
        Ok(Some(removed))
    }

    fn get(&self, key: &K) -> Option<u64> {
        self.find(key, u64::MAX)
    }

    fn get_at(&self, key: &K, &moment: &u64) -> Option<u64> {
        self.find(key, moment)
    }

    /// There are no batches, and a guard serves one call.
    fn get_many(&self, batch: &Batch<'_, '_, K>, moment: Option<&u64>, digest: &mut Digest) -> Result<()> {
        let moment = moment.copied().unwrap_or(u64::MAX);
        batch.keys.iter().for_each(|key| digest.add(self.find(key, moment)));
        Ok(())
    }

    fn range(&self, low: &K, moment: Option<&u64>, _: Form, digest: &mut Digest) {
        let moment = moment.copied().unwrap_or(u64::MAX);
        let (mut shown, mut seen) = (0, None);
        low.with_pair(u64::MAX, |pair| {
            for entry in self.map.range::<Pair<K>, _>((Included(pair), Unbounded)) {
                if entry.key().1.0 > moment || is_of(&entry, seen.as_ref()) {
                    continue;
                }
                black_box(entry.key());
                digest.add(Some(*entry.value()));
                shown += 1;
                if shown == RANGE {
                    return;
                }
                seen = Some(entry);
            }
        });
    }
}

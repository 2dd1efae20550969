//! The indexes of this workspace.

use super::keys::Key;
use super::subject::{BATCH, Batch, Digest, Form, RANGE, Subject};
use latchless::versions::{Snapshot, VersionedIndex, WriteBatch};
use latchless::{Index, Result, VersionedKey};
use std::hint::black_box;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Continues until this many entries were shown.
fn until_full(shown: &mut usize) -> ControlFlow<()> {
    *shown += 1;
    if *shown < RANGE { Continue(()) } else { Break(()) }
}

/// Shows the first entries of an iterator.
fn show_first<K>(entries: impl Iterator<Item = (K, u64)>, digest: &mut Digest) {
    entries.take(RANGE).for_each(|(key, value)| {
        black_box(&key);
        digest.add(Some(value));
    });
}

/// Returns what a scan calls with each entry, so that it shows the first ones.
fn showing_first<K>(digest: &mut Digest) -> impl FnMut(K, u64) -> ControlFlow<()> {
    let mut shown = 0;
    move |key, value| {
        black_box(&key);
        digest.add(Some(value));
        until_full(&mut shown)
    }
}

/// An index of one value per key: what is beside it in a row is what versions cost.
impl<K: Key> Subject<K> for Index<K, u64> {
    const NAME: &'static str = "Index";
    type Moment = ();

    fn create() -> Result<Self> {
        Self::new()
    }

    fn insert(&self, key: &K, value: u64) -> Result<()> {
        Self::insert(self, key.probe(), value).map(|before| _ = black_box(before))
    }

    fn insert_together(&self, _: &[(&K, u64)]) -> Result<bool> {
        Ok(false)
    }

    fn overwrite(&self, key: &K, value: u64) -> Result<bool> {
        Subject::insert(self, key, value).map(|()| true)
    }

    fn moment(&self) -> Option<()> {
        None
    }

    fn prune(&self, (): &()) -> Result<Option<usize>> {
        Ok(None)
    }

    fn get(&self, key: &K) -> Option<u64> {
        Self::get(self, key.probe())
    }

    fn get_at(&self, key: &K, (): &()) -> Option<u64> {
        Self::get(self, key.probe())
    }

    fn get_many(&self, batch: &Batch<'_, '_, K>, _: Option<&()>, digest: &mut Digest) -> Result<()> {
        let mut answers = [None; BATCH];
        let answers = &mut answers[..batch.probes.len()];
        Self::get_many(self, batch.probes, answers)?;
        answers.iter().for_each(|&answer| digest.add(answer));
        Ok(())
    }

    fn range(&self, low: &K, _: Option<&()>, form: Form, digest: &mut Digest) {
        match form {
            Form::Iterator => show_first(Self::range(self, low.probe()..), digest),
            Form::Lent => _ = self.scan(low.probe().., showing_first(digest)),
        }
    }

    fn bytes_beside_heap(&self) -> usize {
        self.memory_bytes()
    }
}

/// An index whose snapshots keep versions. It is in an `Arc`, so that a snapshot can be kept.
pub struct Versions<K: Key>(Arc<VersionedIndex<K, u64>>);

impl<K: Key> Subject<K> for Versions<K> {
    const NAME: &'static str = "VersionedIndex";
    type Moment = Snapshot<K, u64>;

    fn create() -> Result<Self> {
        Ok(Self(Arc::new(VersionedIndex::new()?)))
    }

    fn insert(&self, key: &K, value: u64) -> Result<()> {
        self.0.insert(key.probe(), value).map(|before| _ = black_box(before))
    }

    fn insert_together(&self, entries: &[(&K, u64)]) -> Result<bool> {
        let mut batch = WriteBatch::new();
        entries.iter().for_each(|(key, value)| _ = batch.insert(key.probe(), *value));
        self.0.commit(batch).map(|_| true)
    }

    /// A commit drops the versions of its key that no snapshot needs.
    fn overwrite(&self, key: &K, value: u64) -> Result<bool> {
        Subject::insert(self, key, value).map(|()| true)
    }

    fn moment(&self) -> Option<Snapshot<K, u64>> {
        Some(self.0.snapshot_owned())
    }

    fn snapshot(&self) -> bool {
        black_box(self.0.snapshot());
        true
    }

    /// The snapshots that exist say which versions are needed.
    fn prune(&self, _: &Snapshot<K, u64>) -> Result<Option<usize>> {
        Ok(Some(self.0.prune()?.versions))
    }

    fn get(&self, key: &K) -> Option<u64> {
        self.0.get(key.probe())
    }

    fn get_at(&self, key: &K, moment: &Snapshot<K, u64>) -> Option<u64> {
        moment.get(key.probe())
    }

    fn get_many(
        &self,
        batch: &Batch<'_, '_, K>,
        moment: Option<&Snapshot<K, u64>>,
        digest: &mut Digest,
    ) -> Result<()> {
        let Some(moment) = moment else { return Ok(()) };
        let mut answers = [None; BATCH];
        let answers = &mut answers[..batch.probes.len()];
        moment.get_many(batch.probes, answers)?;
        answers.iter().for_each(|&answer| digest.add(answer));
        Ok(())
    }

    fn range(&self, low: &K, moment: Option<&Snapshot<K, u64>>, form: Form, digest: &mut Digest) {
        let Some(moment) = moment else { return };
        match form {
            Form::Iterator => show_first(moment.range(low.probe()..), digest),
            Form::Lent => _ = moment.scan(low.probe().., showing_first(digest)),
        }
    }

    fn bytes_beside_heap(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// An index whose keys end in the number of a version, which its user gives.
pub struct Numbered<K>
where
    VersionedKey<K>: latchless::KeyFor<u64>,
{
    index: Index<VersionedKey<K>, u64>,
    newest: AtomicU64,
}

/// The operations of an index of versioned keys are bounded by a type of its own, so they are called for
/// each type of keys.
macro_rules! numbered {
    ($key:ty) => {
        impl Subject<$key> for Numbered<$key> {
            const NAME: &'static str = "Index of VersionedKey";
            type Moment = u64;

            fn create() -> Result<Self> {
                Ok(Self { index: Index::new()?, newest: AtomicU64::new(0) })
            }

            fn insert(&self, key: &$key, value: u64) -> Result<()> {
                let number = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
                let before =
                    self.index.insert(VersionedKey(latchless::IndexKey::probe(key), number), value)?;
                black_box(before);
                Ok(())
            }

            fn insert_together(&self, entries: &[(&$key, u64)]) -> Result<bool> {
                let number = self.newest.load(Ordering::Acquire) + 1;
                for (key, value) in entries {
                    self.index.insert(VersionedKey(latchless::IndexKey::probe(*key), number), *value)?;
                }
                self.newest.store(number, Ordering::Release);
                Ok(true)
            }

            /// The versions of such a table go with the table, or by a pass over all of it.
            fn overwrite(&self, _: &$key, _: u64) -> Result<bool> {
                Ok(false)
            }

            fn moment(&self) -> Option<u64> {
                Some(self.newest.load(Ordering::Acquire))
            }

            fn prune(&self, &oldest: &u64) -> Result<Option<usize>> {
                // The key whose newest version that the oldest reader sees has been shown.
                let mut seen: Option<$key> = None;
                Ok(Some(self.index.retain(|VersionedKey(key, number), _| {
                    let is_needed = seen.as_ref() != Some(&key);
                    if is_needed && number <= oldest {
                        seen = Some(key);
                    }
                    is_needed
                })))
            }

            fn get(&self, key: &$key) -> Option<u64> {
                self.index.newest(latchless::IndexKey::probe(key), u64::MAX).map(|(_, value)| value)
            }

            fn get_at(&self, key: &$key, &moment: &u64) -> Option<u64> {
                self.index.newest(latchless::IndexKey::probe(key), moment).map(|(_, value)| value)
            }

            fn get_many(
                &self,
                batch: &Batch<'_, '_, $key>,
                moment: Option<&u64>,
                digest: &mut Digest,
            ) -> Result<()> {
                let number = moment.copied().unwrap_or(u64::MAX);
                let keys: Vec<_> = batch.probes.iter().map(|&key| VersionedKey(key, number)).collect();
                let mut answers = [None; BATCH];
                let answers = &mut answers[..keys.len()];
                self.index.newest_many(&keys, answers)?;
                answers.iter().for_each(|answer| digest.add(answer.map(|(_, value)| value)));
                Ok(())
            }

            fn range(&self, low: &$key, moment: Option<&u64>, form: Form, digest: &mut Digest) {
                let moment = moment.copied().unwrap_or(u64::MAX);
                let low = VersionedKey(latchless::IndexKey::probe(low), u64::MAX)..;
                let (mut shown, mut last): (usize, Option<$key>) = (0, None);
                let mut show = |VersionedKey(key, number): VersionedKey<$key>, value| {
                    if number > moment || last.as_ref() == Some(&key) {
                        return Continue(());
                    }
                    digest.add(Some(value));
                    last = Some(key);
                    until_full(&mut shown)
                };
                let _ = match form {
                    Form::Iterator => self.index.range(low).try_for_each(|(key, value)| show(key, value)),
                    Form::Lent => self.index.scan(low, show),
                };
            }

            fn bytes_beside_heap(&self) -> usize {
                self.index.memory_bytes()
            }
        }
    };
}

numbered!(u64);
numbered!(Vec<u8>);

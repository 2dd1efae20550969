//! Recovery into a versioned index.

use crate::commits::{self, Committed};
use crate::error::Result;
use latchless::snapshot::{self, SavedValue};
use latchless::versions::{Change, Version, VersionedIndex, WriteBatch};
use latchless::{BytesKey, KeyFor};
use std::io::Write;

impl<K: KeyFor<Version<V>> + BytesKey, V: SavedValue> Committed for VersionedIndex<K, V> {
    type Key = K;
    type Value = V;

    fn newest(&self) -> u64 {
        self.newest()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn write(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        let snapshot = self.snapshot();
        commits::write::<K, V>(snapshot.number(), snapshot.iter(), out)
    }

    fn load(&mut self, entries: Vec<(K, V)>, number: u64) -> Result<()> {
        Ok(self.reload(entries, number)?)
    }

    fn commit(&mut self, changes: Vec<Change<K, V>>) -> Result<Result<(), &'static str>> {
        let mut batch = WriteBatch::new();
        for change in changes {
            match change {
                Change::Put(key, Some(value)) => batch.extend([(key, value)]),
                Change::Put(key, None) => {
                    batch.remove(key.probe());
                }
                Change::RemoveRange(low, high) => {
                    batch.remove_range((low.as_ref().map(K::probe), high.as_ref().map(K::probe)));
                }
            }
        }
        VersionedIndex::commit(self, batch)?;
        Ok(Ok(()))
    }

    fn prune(&self) -> latchless::Result<()> {
        self.prune().map(drop)
    }

    fn clear(&mut self) -> Result<()> {
        Ok(self.reload([], 0)?)
    }
}

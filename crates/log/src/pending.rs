//! Entries that a replay can't insert into an index at its memory limit. The log has entries that the index
//! refused, each followed by a record that takes it back. Besides, an index that is filled by a replay may
//! need more nodes for the same entries than the one that wrote the log. So a refused entry waits here,
//! until a later record replaces or removes it, or until the end, when all others are there.

use latchless::bytes::{Form, MultiIndex};
use latchless::index::Incomplete;
use latchless::index::engine::Engine;
use latchless::{BytesKey, BytesValue, Error, FillFactor, Index, IndexValue, KeyFor, Result};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// An index as the target of entries.
pub trait Room {
    /// The identity and the order of entries.
    type Order: Ord;
    /// A key and its value.
    type Entry;
    fn order(entry: &Self::Entry) -> Self::Order;
    /// Inserts an entry.
    fn put(&mut self, entry: &Self::Entry) -> Result<()>;
    /// All entries, in their order.
    fn all(&self) -> Vec<Self::Entry>;
    /// Has these entries alone, in their order, in as few nodes as possible; or none, if they are refused.
    fn reload(&mut self, entries: &[Self::Entry]) -> Result<()>;
}

/// A key in the order of its index.
pub struct InOrder<K, V>(K, PhantomData<fn() -> V>);

impl<K: KeyFor<V>, V: IndexValue> InOrder<K, V> {
    pub fn of(key: &K) -> Self {
        Self(K::own(key.probe()), PhantomData)
    }

    /// The ends of a range.
    pub fn span((low, high): &(Bound<K>, Bound<K>)) -> (Bound<Self>, Bound<Self>) {
        (low.as_ref().map(Self::of), high.as_ref().map(Self::of))
    }
}

impl<K: KeyFor<V>, V: IndexValue> Ord for InOrder<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        K::Engine::order(&self.0, &other.0)
    }
}

impl<K: KeyFor<V>, V: IndexValue> PartialOrd for InOrder<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: KeyFor<V>, V: IndexValue> PartialEq for InOrder<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: KeyFor<V>, V: IndexValue> Eq for InOrder<K, V> {}

impl<K: KeyFor<V>, V: BytesValue> Room for Index<K, V> {
    type Order = InOrder<K, V>;
    type Entry = (K, V);

    fn order((key, _): &(K, V)) -> InOrder<K, V> {
        InOrder::of(key)
    }

    fn put(&mut self, (key, value): &(K, V)) -> Result<()> {
        self.insert(key.probe(), <V::Form as Form<V>>::lend(value)).map(drop)
    }

    fn all(&self) -> Vec<(K, V)> {
        self.iter().collect()
    }

    fn reload(&mut self, entries: &[(K, V)]) -> Result<()> {
        self.reset();
        self.bulk_load(entries, FillFactor::FULL)
    }
}

impl<K: BytesKey> Room for MultiIndex<K> {
    type Order = Vec<u8>;
    type Entry = (K, u64);

    /// The bytes of a pair, in whose order a [`MultiIndex`] has them.
    fn order((key, row): &(K, u64)) -> Vec<u8> {
        (key, *row).with_bytes(<[u8]>::to_vec)
    }

    fn put(&mut self, (key, row): &(K, u64)) -> Result<()> {
        self.insert(key, *row).map(drop)
    }

    fn all(&self) -> Vec<(K, u64)> {
        self.iter().collect()
    }

    fn reload(&mut self, entries: &[(K, u64)]) -> Result<()> {
        self.clear();
        self.bulk_load(entries.iter().map(|(key, row)| (key, *row)), FillFactor::FULL)
    }
}

/// Entries that wait. Each is newer than the index's entry in its place.
pub struct Pending<R: Room> {
    entries: BTreeMap<R::Order, R::Entry>,
}

impl<R: Room> Default for Pending<R> {
    fn default() -> Self {
        Self { entries: BTreeMap::new() }
    }
}

/// Whether an error means that the index is at its limit. If the system has no memory, entries can't wait
/// in it.
pub fn is_full(error: &Error) -> bool {
    matches!(error, Error::MemoryLimit { .. } | Error::ReferencesExhausted { .. })
}

/// That error, unless it means that the index is full.
pub fn unless_full(error: latchless::snapshot::Error) -> latchless::snapshot::Result<()> {
    match error {
        latchless::snapshot::Error::Index(error) if is_full(&error) => Ok(()),
        other => Err(other),
    }
}

impl<R: Room> Pending<R> {
    /// Inserts an entry, or lets it wait. Returns the reason if it was refused.
    pub fn put(&mut self, index: &mut R, entry: R::Entry) -> Result<Option<Error>> {
        match index.put(&entry) {
            Ok(()) => {
                self.remove(|| R::order(&entry));
                Ok(None)
            }
            Err(error) if is_full(&error) => {
                self.entries.insert(R::order(&entry), entry);
                Ok(Some(error))
            }
            Err(error) => Err(error),
        }
    }

    /// After a batch of these entries, in this order: refused entries wait, and inserted ones don't any
    /// more.
    pub fn note<T>(
        &mut self,
        inserted: Result<T, Incomplete>,
        entries: impl Iterator<Item = R::Entry>,
    ) -> Result<()> {
        let refused = match inserted {
            Ok(_) if self.entries.is_empty() => return Ok(()),
            Ok(_) => Vec::new(),
            Err(Incomplete { error, refused }) if is_full(&error) => refused,
            Err(Incomplete { error, .. }) => return Err(error),
        };
        let mut refused = refused.into_iter().peekable();
        for (at, entry) in entries.enumerate() {
            let order = R::order(&entry);
            if refused.next_if_eq(&at).is_some() {
                self.entries.insert(order, entry);
            } else {
                self.entries.remove(&order);
            }
        }
        Ok(())
    }

    /// A removed entry doesn't wait either.
    pub fn remove(&mut self, order: impl FnOnce() -> R::Order) {
        if !self.entries.is_empty() {
            self.entries.remove(&order());
        }
    }

    /// The removed entries of a range don't wait either.
    pub fn remove_range(&mut self, range: &impl RangeBounds<R::Order>) {
        self.entries.retain(|order, _| !range.contains(order));
    }

    /// All waiting entries for which this holds are dropped.
    pub fn remove_if(&mut self, mut is_gone: impl FnMut(&R::Entry) -> bool) {
        self.entries.retain(|_, entry| !is_gone(entry));
    }

    /// Inserts the entries that still wait. If there is no room for them, the index is filled from the
    /// start, with as many entries per node as fit.
    ///
    /// # Errors
    /// The reason if an entry was refused then as well.
    pub fn settle(&mut self, index: &mut R) -> Result<()> {
        for (_, entry) in std::mem::take(&mut self.entries) {
            self.put(index, entry)?;
        }
        if self.entries.is_empty() {
            return Ok(());
        }
        let mut all: BTreeMap<_, _> =
            index.all().into_iter().map(|entry| (R::order(&entry), entry)).collect();
        all.append(&mut self.entries);
        let all: Vec<_> = all.into_values().collect();
        match index.reload(&all) {
            Err(error) if is_full(&error) => {}
            done => return done,
        }
        // A load needs all nodes before it gives back the one that it begins with; inserts don't.
        let mut refused = None;
        for entry in all {
            refused = refused.or(self.put(index, entry)?);
        }
        refused.map_or(Ok(()), Err)
    }
}

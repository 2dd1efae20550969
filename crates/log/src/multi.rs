//! A durable index of keys that map to many rows. As entries of the log its pairs are keys without values.

use crate::batch;
use crate::bytes::{removed, stripe_of};
use crate::durable::Durable;
use crate::error::Result;
use crate::logged::{KeyOf, LentOf, Logged, Part};
use crate::pairs::ROW;
use crate::record::{Kind, check_length};
use crate::stripes::Set;
use latchless::BytesKey;
use latchless::bytes::MultiIndex;

/// A [`MultiIndex`] in memory with a redo log in a folder: the counterpart of
/// [`DurableIndex`](crate::DurableIndex) for keys that map to many rows. The promises of the [crate's
/// head](crate) hold here.
///
/// ```
/// use latchless_log::{DurableMultiIndex, Options};
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-multi-{}", std::process::id()));
/// let (by_city, recovery) = DurableMultiIndex::<String>::open(&folder, Options::default())?;
/// assert_eq!(recovery.stopped, None); // nothing was cut off
/// by_city.insert("Ulm", 0)?; // is on the disk when this returns
/// by_city.insert_many(&[("Bonn", 1), ("Ulm", 2)])?; // one record, one wait for the disk
/// drop(by_city);
///
/// let (by_city, recovery) = DurableMultiIndex::<String>::open(&folder, Options::default())?;
/// assert_eq!(recovery.records, 2);
/// assert_eq!(by_city.index().rows("Ulm").collect::<Vec<_>>(), [0, 2]);
/// # drop(by_city);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DurableMultiIndex<K> = Durable<MultiIndex<K>>;

impl<K: BytesKey + 'static> Logged<()> for MultiIndex<K> {
    type Value = ();
    type Lent<'v> = ();
    type Entry = (K, u64);

    fn lend((): &()) {}

    fn own((): ()) {}

    fn is_alike((): &(), (): (), (): ()) -> bool {
        true
    }

    fn first(&self) -> Option<(K, u64)> {
        self.first()
    }

    fn last(&self) -> Option<(K, u64)> {
        self.last()
    }

    fn key((key, row): &(K, u64)) -> impl KeyOf<Self> {
        (key, *row)
    }
}

/// The record of the first of these pairs.
fn part<'q, K: BytesKey, Q: BytesKey<K> + ?Sized + 'q>(
    kind: Kind,
    pairs: impl Iterator<Item = (&'q Q, u64)>,
) -> Part {
    batch::part(kind, pairs, |draft, (key, row)| {
        key.with_bytes(|key| {
            draft.push(key);
            draft.push_value(&row.to_le_bytes(), ROW);
            stripe_of(key)
        })
    })
}

/// The stripe is that of the key, so that [`DurableMultiIndex::remove_all`] excludes changes of its rows.
impl<K: BytesKey + 'static, Q: BytesKey<K> + ?Sized> KeyOf<MultiIndex<K>> for (&Q, u64) {
    /// As the index would.
    fn check(self) -> latchless::Result<()> {
        self.with_bytes(check_length)
    }

    fn stripe(self, (): &()) -> Set {
        self.0.with_bytes(stripe_of)
    }

    fn puts<'v>(
        (): &(),
        entries: impl ExactSizeIterator<Item = (Self, LentOf<'v, MultiIndex<K>, ()>)> + Clone,
    ) -> Part {
        part(Kind::PutStrings, entries.map(|(pair, ())| pair))
    }

    fn removals((): &(), pairs: impl ExactSizeIterator<Item = Self> + Clone) -> Part {
        part(Kind::RemoveRows, pairs)
    }

    fn get(self, index: &MultiIndex<K>) -> Option<()> {
        index.contains(self.0, self.1).then_some(())
    }

    fn put(self, index: &MultiIndex<K>, (): ()) -> latchless::Result<Option<()>> {
        let is_new = index.insert(self.0, self.1)?;
        Ok((!is_new).then_some(()))
    }

    fn remove(self, index: &MultiIndex<K>) -> Option<()> {
        index.remove(self.0, self.1).then_some(())
    }
}

impl<K: BytesKey + 'static> DurableMultiIndex<K> {
    /// Inserts a row under a key. Returns whether it is new.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Index`](crate::Error::Index), also for a key of more bytes than a [`MultiIndex`] takes:
    /// nothing has changed. [`Error::Closed`](crate::Error::Closed): nothing has changed, or, if the disk failed while the
    /// operation waited for it, the row is in the index and perhaps not on the disk.
    pub fn insert<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<bool> {
        Ok(self.put((key, row), ())?.is_none())
    }

    /// Inserts many rows, in order, and returns how many are new. One record for up to 64 MiB, one wait for
    /// the disk.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) names the refused pairs: all, if a key is too long. The others are those of
    /// [`DurableMultiIndex::insert`]; of a batch of several records, those before the one that failed are
    /// done.
    pub fn insert_many<Q: BytesKey<K>>(&self, pairs: &[(Q, u64)]) -> Result<usize> {
        let entries = pairs.iter().map(|(key, row)| ((key, *row), ()));
        self.put_many(entries, |now| self.index.insert_many(&pairs[now]))
    }

    /// Removes a row from under a key, and returns whether it was there.
    ///
    /// # Errors
    /// Those of [`DurableMultiIndex::insert`], except that a key that is too long isn't there.
    pub fn remove<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<bool> {
        Ok(self.take((key, row))?.is_some())
    }

    /// Removes rows from under keys, and returns how many were there. One record for up to 64 MiB.
    ///
    /// # Errors
    /// Those of [`DurableMultiIndex::insert_many`], except that keys that are too long aren't there.
    pub fn remove_many<Q: BytesKey<K>>(&self, pairs: &[(Q, u64)]) -> Result<usize> {
        self.take_many(pairs.iter().map(|(key, row)| (key, *row)))
    }

    /// Removes all rows of a key, and returns how many there were.
    ///
    /// # Errors
    /// Those of [`DurableMultiIndex::remove`].
    pub fn remove_all<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Result<usize> {
        let pair = (key, 0);
        if KeyOf::<MultiIndex<K>>::check(pair).is_err() {
            return self.journal.nothing(0);
        }
        let remove = |draft: &mut _, key: &Q| key.with_bytes(|key| removed(draft, key));
        let Part { set, draft, .. } = batch::part(Kind::RemoveStrings, std::iter::once(key), remove);
        self.journal.change(set, draft, || Ok(self.index.remove_all(key)))
    }
}

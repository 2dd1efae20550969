//! A durable index of keys that map to many rows.

use crate::batch::Batch;
use crate::bytes::{check_length, removal, stripe_of};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::pairs::ROW;
use crate::record::{Draft, Kind};
use latchless::BytesKey;
use latchless::bytes::MultiIndex;
use latchless::index::Incomplete;

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

/// A pair's bytes in a record.
fn push(draft: &mut Draft, key: &[u8], row: u64) {
    draft.push(key);
    draft.push_value(&row.to_le_bytes(), ROW);
}

fn draft_of<K: BytesKey, Q: BytesKey<K> + ?Sized>(kind: Kind, key: &Q, row: u64) -> Draft {
    let mut draft = Draft::of_strings(kind);
    key.with_bytes(|key| push(&mut draft, key, row));
    draft
}

/// Refuses a pair that is too long, as the index would, before anything is logged.
fn check<K: BytesKey, Q: BytesKey<K> + ?Sized>(key: &Q, row: u64) -> latchless::Result<()> {
    (key, row).with_bytes(check_length)
}

impl<K: BytesKey + 'static> DurableMultiIndex<K> {
    /// Logs that a pair isn't there that the index refused.
    fn take_back<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<()> {
        if self.index.contains(key, row) {
            return Ok(());
        }
        self.journal.take_back(draft_of(Kind::RemoveRows, key, row))
    }

    /// Inserts a row under a key. Returns whether it is new.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Index`], also for a key of more bytes than a [`MultiIndex`] takes:
    /// nothing has changed. [`Error::Closed`]: nothing has changed, or, if the disk failed while the
    /// operation waited for it, the row is in the index and perhaps not on the disk.
    pub fn insert<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<bool> {
        check(key, row)?;
        self.journal.change(key.with_bytes(stripe_of), draft_of(Kind::PutStrings, key, row), || {
            let inserted = self.index.insert(key, row);
            if inserted.is_err() {
                self.take_back(key, row)?;
            }
            Ok(inserted?)
        })
    }

    /// Inserts many rows, in order, and returns how many are new. One record for up to 64 MiB, one wait for
    /// the disk.
    ///
    /// # Errors
    /// [`Error::Index`] names the refused pairs: all, if a key is too long. The others are those of
    /// [`DurableMultiIndex::insert`]; of a batch of several records, those before the one that failed are
    /// done.
    pub fn insert_many<Q: BytesKey<K>>(&self, pairs: &[(Q, u64)]) -> Result<usize> {
        let refused = |cause| Error::Index { cause, refused: (0..pairs.len()).collect() };
        pairs.iter().try_for_each(|(key, row)| check(key, *row)).map_err(refused)?;
        if pairs.is_empty() {
            return self.journal.nothing(0);
        }
        let (mut new, mut from) = (0, 0);
        while from < pairs.len() {
            let rest = &pairs[from..];
            let batch = Batch::new(Kind::PutStrings, rest, |draft, (key, row)| {
                key.with_bytes(|key| push(draft, key, *row));
                key.with_bytes(stripe_of)
            });
            let now = &rest[..batch.entries];
            new += self.journal.change(batch.set, batch.draft, || {
                self.index.insert_many(now).or_else(|Incomplete { error: cause, refused }| {
                    refused.iter().try_for_each(|&at| self.take_back(&now[at].0, now[at].1))?;
                    Err(Error::Index { cause, refused: refused.into_iter().map(|at| from + at).collect() })
                })
            })?;
            from += batch.entries;
        }
        Ok(new)
    }

    /// Removes a row from under a key, and returns whether it was there.
    ///
    /// # Errors
    /// Those of [`DurableMultiIndex::insert`], except that a key that is too long isn't there.
    pub fn remove<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<bool> {
        if check(key, row).is_err() {
            return self.journal.nothing(false);
        }
        let draft = draft_of(Kind::RemoveRows, key, row);
        self.journal.change(key.with_bytes(stripe_of), draft, || Ok(self.index.remove(key, row)))
    }

    /// Removes all rows of a key, and returns how many there were.
    ///
    /// # Errors
    /// Those of [`DurableMultiIndex::remove`].
    pub fn remove_all<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Result<usize> {
        if check(key, 0).is_err() {
            return self.journal.nothing(0);
        }
        let (set, draft) = key.with_bytes(|key| (stripe_of(key), removal(key)));
        self.journal.change(set, draft, || Ok(self.index.remove_all(key)))
    }
}

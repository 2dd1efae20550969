//! A durable index of byte strings.

use crate::batch::{Batch, STRING_MAX};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::record::{Draft, Kind};
use crate::stripes::Set;
use latchless::bytes::{BytesIndex, Form, Lent};
use latchless::index::Incomplete;
use latchless::snapshot::{self, SavedValue};
use latchless::{BytesKey, BytesValue};
use std::ops::{Bound, RangeBounds};

/// A [`BytesIndex`] in memory with a redo log in a folder: the counterpart of
/// [`DurableIndex`](crate::DurableIndex) for keys of any length, with every value that a snapshot has
/// ([`SavedValue`]). The promises of the [crate's head](crate) hold here.
///
/// ```
/// use latchless_log::{DurableBytesIndex, Options};
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-bytes-{}", std::process::id()));
/// let (pages, recovery) = DurableBytesIndex::<String, u64>::open(&folder, Options::default())?;
/// assert_eq!(recovery.stopped, None); // nothing was cut off
/// pages.insert("/about", 7)?; // is on the disk when this returns
/// pages.insert_many(&[("/", 90), ("/shop", 25)])?; // one record, one wait for the disk
/// drop(pages);
///
/// let (pages, recovery) = DurableBytesIndex::<String, u64>::open(&folder, Options::default())?;
/// assert_eq!((pages.get("/about"), recovery.records), (Some(7), 2));
/// # drop(pages);
/// # std::fs::remove_dir_all(&folder)?;
///
/// let (titles, recovery) = DurableBytesIndex::<String, String>::open(&folder, Options::default())?;
/// assert_eq!(recovery.stopped, None);
/// titles.insert("/about", "Who we are")?; // byte strings are taken as slices
/// assert_eq!(titles.get("/about").as_deref(), Some("Who we are"));
/// # drop(titles);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DurableBytesIndex<K, V> = Durable<BytesIndex<K, V>>;

/// Refuses a key that is too long, before anything is logged.
pub fn check_length(key: &[u8]) -> latchless::Result<()> {
    match key.len() {
        ..=STRING_MAX => Ok(()),
        len => Err(latchless::Error::KeyTooLong { len, limit: STRING_MAX }),
    }
}

/// The stripe of a key, as a set.
pub fn stripe_of(key: &[u8]) -> Set {
    Set::of([crc32fast::hash(key).into()])
}

fn lend<V: BytesValue>(value: &V) -> Lent<'_, V> {
    <V::Form as Form<V>>::lend(value)
}

/// Whether values have the same bytes in a record.
fn is_alike<V: SavedValue>(one: Lent<'_, V>, other: Lent<'_, V>) -> bool {
    V::with_cell(one, |one| V::with_cell(other, |other| one == other))
}

/// An entry's bytes in a record.
fn push<V: SavedValue>(draft: &mut Draft, key: &[u8], value: Lent<'_, V>) {
    draft.push(key);
    V::with_cell(value, |value| draft.push_value(value, V::COLUMN));
}

fn put<V: SavedValue>(key: &[u8], value: Lent<'_, V>) -> Draft {
    let mut draft = Draft::of_strings(Kind::PutStrings);
    push::<V>(&mut draft, key, value);
    draft
}

pub fn removal(key: &[u8]) -> Draft {
    let mut draft = Draft::of_strings(Kind::RemoveStrings);
    draft.push(key);
    draft
}

impl<K: BytesKey + 'static, V: SavedValue> DurableBytesIndex<K, V> {
    /// The value of a key.
    pub fn get<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        self.index.get(key)
    }

    /// Sets a key in the index, after it was logged.
    fn put_logged<Q: BytesKey<K> + ?Sized>(&self, key: &Q, value: Lent<'_, V>) -> Result<Option<V>> {
        let inserted = self.index.insert(key, value);
        if inserted.is_err() {
            self.take_back(key)?;
        }
        Ok(inserted?)
    }

    /// Logs that a key that the index refused has the value that it has now.
    fn take_back<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Result<()> {
        let there = self.index.get(key);
        let draft = key.with_bytes(|key| match &there {
            Some(value) => put::<V>(key, lend(value)),
            None => removal(key),
        });
        self.journal.take_back(draft)
    }

    /// Refuses a value that a record has no room for, before anything is logged.
    fn check_value(&self, value: Lent<'_, V>) -> Result<()> {
        let (bytes, asked) = (V::with_cell(value, <[u8]>::len), V::COLUMN);
        match asked.width_bytes() {
            0 if bytes > STRING_MAX => {
                Err(latchless::Error::ValueTooLong { len: bytes, limit: STRING_MAX }.into())
            }
            width if width > 0 && bytes != width => {
                Err(self.journal.refuse(snapshot::Error::NoCell { bytes, asked }))
            }
            _ => Ok(()),
        }
    }

    /// Sets a key to a value, and returns the one it had.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Index`], which also a key or value of over 65,535 bytes is: nothing has
    /// changed. [`Error::Closed`]: nothing has changed, or, if the disk failed while the operation waited
    /// for it, it is in the index and perhaps not on the disk.
    pub fn insert<Q>(&self, key: &Q, value: Lent<'_, V>) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.check_value(value)?;
        let (set, draft) = key.with_bytes(|bytes| {
            check_length(bytes)?;
            Ok::<_, Error>((stripe_of(bytes), put::<V>(bytes, value)))
        })?;
        self.journal.change(set, draft, || self.put_logged(key, value))
    }

    /// Inserts many entries, in order, and returns how many keys are new. One record for up to 64 MiB of
    /// keys and values, one wait for the disk.
    ///
    /// # Errors
    /// [`Error::Index`] names the refused entries: all, if a key or value has over 65,535 bytes. The others
    /// are those of [`DurableBytesIndex::insert`]; of a batch of several records, those before the one that
    /// failed are done.
    pub fn insert_many<Q: BytesKey<K>>(&self, entries: &[(Q, V)]) -> Result<usize> {
        let check = |(key, value): &(Q, V)| {
            key.with_bytes(check_length)?;
            self.check_value(lend(value))
        };
        entries.iter().try_for_each(check).map_err(|error| match error {
            Error::Index { cause, .. } => Error::Index { cause, refused: (0..entries.len()).collect() },
            other => other,
        })?;
        if entries.is_empty() {
            return self.journal.nothing(0);
        }
        let (mut new, mut from) = (0, 0);
        while from < entries.len() {
            let rest = &entries[from..];
            let batch = Batch::new(Kind::PutStrings, rest, |draft, (key, value)| {
                key.with_bytes(|key| push::<V>(draft, key, lend(value)));
                key.with_bytes(stripe_of)
            });
            let now = &rest[..batch.entries];
            new += self.journal.change(batch.set, batch.draft, || {
                let mut replaced = vec![None; now.len()];
                let inserted = self.index.insert_many(now, &mut replaced);
                self.told(inserted, now, from)?;
                Ok(replaced.iter().filter(|before| before.is_none()).count())
            })?;
            from += batch.entries;
        }
        Ok(new)
    }

    /// Logs the inverse of the entries that the index refused; the error has their positions in the whole
    /// batch.
    fn told<Q: BytesKey<K>>(
        &self,
        inserted: Result<(), Incomplete>,
        entries: &[(Q, V)],
        from: usize,
    ) -> Result<()> {
        let Err(Incomplete { error: cause, refused }) = inserted else { return Ok(()) };
        refused.iter().try_for_each(|&at| self.take_back(&entries[at].0))?;
        Err(Error::Index { cause, refused: refused.into_iter().map(|at| from + at).collect() })
    }

    /// Removes a key, and returns the value it had. A key of over 65,535 bytes isn't there.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn remove<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Result<Option<V>> {
        let change = key.with_bytes(|key| check_length(key).ok().map(|()| (stripe_of(key), removal(key))));
        let Some((set, draft)) = change else { return self.journal.nothing(None) };
        self.journal.change(set, draft, || Ok(self.index.remove(key)))
    }

    /// Removes the keys of a batch, and returns how many were there. One record for up to 64 MiB of keys.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert_many`], except that keys of over 65,535 bytes aren't there.
    pub fn remove_many<Q: BytesKey<K>>(&self, keys: &[Q]) -> Result<usize> {
        let fits = |key: &&Q| key.with_bytes(|key| check_length(key).is_ok());
        let keys: Vec<&Q> = keys.iter().filter(fits).collect();
        if keys.is_empty() {
            return self.journal.nothing(0);
        }
        let (mut removed, mut from) = (0, 0);
        while from < keys.len() {
            let rest = &keys[from..];
            let batch = Batch::new(Kind::RemoveStrings, rest, |draft, key| {
                key.with_bytes(|key| draft.push(key));
                key.with_bytes(stripe_of)
            });
            removed += self.journal.change(batch.set, batch.draft, || {
                let mut before = vec![None; batch.entries];
                self.index.remove_many(&rest[..batch.entries], &mut before)?;
                Ok(before.iter().flatten().count())
            })?;
            from += batch.entries;
        }
        Ok(removed)
    }

    /// Removes all keys of a range, and returns how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`] if the range ends before it starts, or an end has over 65,535 bytes. The others as
    /// [`DurableBytesIndex::insert`].
    pub fn remove_range<Q: BytesKey<K> + ?Sized>(&self, range: impl RangeBounds<Q>) -> Result<usize> {
        let owned =
            [range.start_bound(), range.end_bound()].map(|end| end.map(|key| key.with_bytes(<[u8]>::to_vec)));
        let ends = owned.each_ref().map(|end| end.as_ref().map(Vec::as_slice));
        for end in ends {
            if let Bound::Included(key) | Bound::Excluded(key) = end {
                check_length(key)?;
            }
        }
        // A range that the index refuses isn't logged.
        if let [Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)] =
            ends
            && start > end
        {
            return Err(latchless::Error::InvertedRange.into());
        }
        let mut draft = Draft::of_strings(Kind::RemoveRangeOfStrings);
        draft.push_range(ends);
        let range = (range.start_bound(), range.end_bound());
        self.journal.change(Set::ALL, draft, || Ok(self.index.remove_range::<Q>(range)?))
    }

    /// Replaces a key's value by the result of a closure on the present one, if any; `None` removes the
    /// key. Returns the previous value. The closure runs once. No other change of the key comes between; so
    /// the closure itself mustn't change the index, which would wait for it for ever. A value that is equal
    /// bit by bit isn't logged.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    ///
    /// ```
    /// # use latchless_log::{DurableBytesIndex, Options};
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-compute-{}", std::process::id()));
    /// let (seen, recovery) = DurableBytesIndex::<String, u64>::open(&folder, Options::default())?;
    /// assert_eq!(recovery.stopped, None);
    /// let count = |word: &str| seen.compute(word, |count| Some(count.unwrap_or(0) + 1));
    /// assert_eq!((count("tea")?, count("tea")?, seen.get("tea")), (None, Some(1), Some(2)));
    /// assert!(seen.compare_remove("tea", 2)? && seen.is_empty());
    /// # drop(seen);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute<Q>(&self, key: &Q, value: impl FnOnce(Option<V>) -> Option<V>) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.journal.check_process()?;
        let set = key.with_bytes(|key| check_length(key).map(|()| stripe_of(key)))?;
        let held = self.journal.hold(set);
        let before = self.index.get(key);
        match (&before, value(before.clone())) {
            (None, None) => {
                drop(held);
                self.journal.unchanged(None)
            }
            (Some(was), Some(value)) if is_alike::<V>(lend(was), lend(&value)) => {
                drop(held);
                self.journal.unchanged(before)
            }
            (_, Some(value)) => {
                let value = lend(&value);
                self.check_value(value)?;
                let draft = key.with_bytes(|key| put::<V>(key, value)).seal();
                self.journal.change_held(held, draft, || self.put_logged(key, value))
            }
            (_, None) => {
                let draft = key.with_bytes(removal).seal();
                self.journal.change_held(held, draft, || Ok(self.index.remove(key)))
            }
        }
    }

    /// The key's value; without one, the key gets this value first.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn get_or_insert<Q: BytesKey<K> + ?Sized>(&self, key: &Q, value: V) -> Result<V> {
        Ok(self.compute(key, |before| before.or_else(|| Some(value.clone())))?.unwrap_or(value))
    }

    /// Replaces the value of a present key, and returns the previous one.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn replace<Q>(&self, key: &Q, value: Lent<'_, V>) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.compute(key, |before| before.map(|_| <V::Form as Form<V>>::own(value)))
    }

    /// Replaces the value of a key if it is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn compare_exchange<Q>(&self, key: &Q, expected: Lent<'_, V>, value: Lent<'_, V>) -> Result<bool>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.change_if(key, expected, || Some(<V::Form as Form<V>>::own(value)))
    }

    /// Removes a key if its value is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn compare_remove<Q>(&self, key: &Q, expected: Lent<'_, V>) -> Result<bool>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.change_if(key, expected, || None)
    }

    fn change_if<Q>(
        &self,
        key: &Q,
        expected: Lent<'_, V>,
        becomes: impl FnOnce() -> Option<V>,
    ) -> Result<bool>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let mut is_it = false;
        self.compute(key, |before| {
            is_it = before.as_ref().is_some_and(|value| is_alike::<V>(lend(value), expected));
            if is_it { becomes() } else { before }
        })?;
        Ok(is_it)
    }

    /// Removes the entry with the smallest key, and gives it back. Other changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn pop_first(&self) -> Result<Option<(K, V)>> {
        self.pop(BytesIndex::first)
    }

    /// Removes the entry with the largest key, and gives it back. Other changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert`].
    pub fn pop_last(&self) -> Result<Option<(K, V)>> {
        self.pop(BytesIndex::last)
    }

    fn pop(&self, end: impl FnOnce(&BytesIndex<K, V>) -> Option<(K, V)>) -> Result<Option<(K, V)>> {
        self.journal.check_process()?;
        let held = self.journal.hold(Set::ALL);
        let Some((key, value)) = end(&self.index) else {
            drop(held);
            return self.journal.unchanged(None);
        };
        let draft = key.with_bytes(removal).seal();
        self.journal.change_held(held, draft, || Ok(self.index.remove(&key)))?;
        Ok(Some((key, value)))
    }
}

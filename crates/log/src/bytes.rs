//! A durable index of byte strings.

use crate::batch;
use crate::durable::Durable;
use crate::error::Result;
use crate::journal::Journal;
use crate::logged::{KeyOf, LentOf, Logged, Map, Part};
use crate::record::{Draft, Kind, check_length};
use crate::stripes::Set;
use latchless::BytesKey;
use latchless::bytes::{BytesIndex, Form, Lent, VALUE_LEN_MAX};
use latchless::snapshot::{self, SavedValue};
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

/// The stripe of a key, as a set.
pub fn stripe_of(key: &[u8]) -> Set {
    Set::of([crc32fast::hash(key).into()])
}

/// The record that removes the first of these keys, with all that they have.
pub fn removals<'q, K: BytesKey, Q: BytesKey<K> + ?Sized + 'q>(keys: impl Iterator<Item = &'q Q>) -> Part {
    batch::part(Kind::RemoveStrings, keys, |draft, key| {
        key.with_bytes(|key| {
            draft.push(key);
            stripe_of(key)
        })
    })
}

impl<K: BytesKey + 'static, V: SavedValue> Logged<()> for BytesIndex<K, V> {
    type Value = V;
    type Lent<'v> = Lent<'v, V>;
    type Entry = (K, V);

    fn lend(value: &V) -> Lent<'_, V> {
        <V::Form as Form<V>>::lend(value)
    }

    fn own(value: Lent<'_, V>) -> V {
        <V::Form as Form<V>>::own(value)
    }

    fn is_alike((): &(), one: Lent<'_, V>, other: Lent<'_, V>) -> bool {
        V::with_cell(one, |one| V::with_cell(other, |other| one == other))
    }

    fn check_value(value: Lent<'_, V>, journal: &Journal) -> Result<()> {
        let (bytes, asked) = (V::with_cell(value, <[u8]>::len), V::COLUMN);
        match asked.width_bytes() {
            0 if bytes > VALUE_LEN_MAX => {
                Err(latchless::Error::ValueTooLong { len: bytes, limit: VALUE_LEN_MAX }.into())
            }
            width if width > 0 && bytes != width => {
                Err(journal.refuse(snapshot::Error::NoCell { bytes, asked }))
            }
            _ => Ok(()),
        }
    }

    fn first(&self) -> Option<(K, V)> {
        self.first()
    }

    fn last(&self) -> Option<(K, V)> {
        self.last()
    }

    fn key((key, _): &(K, V)) -> impl KeyOf<Self> {
        key
    }
}

impl<K: BytesKey + 'static, V: SavedValue> Map<()> for BytesIndex<K, V> {}

impl<K: BytesKey + 'static, V: SavedValue, Q: BytesKey<K> + ?Sized> KeyOf<BytesIndex<K, V>> for &Q {
    fn check(self) -> latchless::Result<()> {
        self.with_bytes(check_length)
    }

    fn stripe(self, (): &()) -> Set {
        self.with_bytes(stripe_of)
    }

    fn puts<'v>(
        (): &(),
        entries: impl ExactSizeIterator<Item = (Self, LentOf<'v, BytesIndex<K, V>, ()>)> + Clone,
    ) -> Part {
        batch::part(Kind::PutStrings, entries, |draft, (key, value)| {
            key.with_bytes(|key| {
                draft.push(key);
                V::with_cell(value, |value| draft.push_value(value, V::COLUMN));
                stripe_of(key)
            })
        })
    }

    fn removals((): &(), keys: impl ExactSizeIterator<Item = Self> + Clone) -> Part {
        removals(keys)
    }

    #[inline]
    fn get(self, index: &BytesIndex<K, V>) -> Option<V> {
        index.get(self)
    }

    fn put(self, index: &BytesIndex<K, V>, value: Lent<'_, V>) -> latchless::Result<Option<V>> {
        index.insert(self, value)
    }

    fn remove(self, index: &BytesIndex<K, V>) -> Option<V> {
        index.remove(self)
    }

    fn remove_many(index: &BytesIndex<K, V>, keys: &[Self]) -> latchless::Result<usize> {
        let mut before = vec![None; keys.len()];
        index.remove_many(keys, &mut before)?;
        Ok(before.iter().flatten().count())
    }
}

impl<K: BytesKey + 'static, V: SavedValue> DurableBytesIndex<K, V> {
    /// Inserts many entries, in order, and returns how many keys are new. One record for up to 64 MiB of
    /// keys and values, one wait for the disk.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) names the refused entries: all, if a key or value has over 16 MiB. The others
    /// are those of [`Durable::insert`]; of a batch of several records, those before the one that
    /// failed are done.
    pub fn insert_many<Q: BytesKey<K>>(&self, entries: &[(Q, V)]) -> Result<usize> {
        let lent = entries.iter().map(|(key, value)| (key, BytesIndex::<K, V>::lend(value)));
        self.put_many(lent, |now| {
            let mut replaced = vec![None; now.len()];
            self.index.insert_many(&entries[now], &mut replaced)?;
            Ok(replaced.iter().filter(|before| before.is_none()).count())
        })
    }

    /// Removes the keys of a batch, and returns how many were there. One record for up to 64 MiB of keys.
    ///
    /// # Errors
    /// Those of [`DurableBytesIndex::insert_many`], except that keys of over 16 MiB aren't there.
    pub fn remove_many<Q: BytesKey<K>>(&self, keys: &[Q]) -> Result<usize> {
        self.take_many(keys.iter())
    }

    /// Removes all keys of a range, and returns how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the range ends before it starts, or an end has over 16 MiB. The others as
    /// [`Durable::insert`].
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
}

//! The records and snapshots of byte strings.

use crate::batch;
use crate::durable::Durable;
use crate::error::Result;
use crate::journal::Journal;
use crate::labels::{self, Labels};
use crate::logged::Part;
use crate::record::{Draft, Kind, check_length};
use crate::replay::Target;
use crate::stored::{Ends, Stored, StoredAsUsual};
use crate::strings::Strings;
use crate::stripes::Set;
use latchless::bytes::{ByteStrings, KeyInBytes, Lent, VALUE_LEN_MAX};
use latchless::snapshot::{self, SavedValue};
use latchless::{BytesKey, Index};
use std::io::Write;
use std::ops::Bound;

/// An [`Index`] whose keys or values fit no word, in memory with a redo log in a folder: the counterpart of
/// [`DurableIndex`](crate::DurableIndex), with every value that a snapshot has ([`SavedValue`]).
/// The promises of the [crate's head](crate) hold here.
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
pub type DurableBytesIndex<K, V> = Durable<Index<K, V>>;

/// The stripe of a key, as a set.
pub fn stripe_of(key: &[u8]) -> Set {
    Set::of([crc32fast::hash(key).into()])
}

/// Adds a key that is removed, with all that it has, to a record. Returns its stripe.
pub fn removed(draft: &mut Draft, key: &[u8]) -> Set {
    draft.push(key);
    stripe_of(key)
}

impl<K: KeyInBytes<V>, V: SavedValue, C: Labels> Stored<K, V, C> for ByteStrings<K, V> {
    fn write(index: &Index<K, V>, labels: &C, out: &mut dyn Write) -> snapshot::Result<u64> {
        labels::write(index, labels, out)
    }

    fn target<'a>(index: &'a mut Index<K, V>, labels: &'a C) -> snapshot::Result<impl Target + 'a> {
        Ok(Strings::new(index, labels))
    }

    fn is_alike(_: &C, one: Lent<'_, V>, other: Lent<'_, V>) -> bool {
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

    fn check(key: K::Probe<'_>) -> latchless::Result<()> {
        key.with_bytes(check_length)
    }

    fn stripe(_: &C, key: K::Probe<'_>) -> Set {
        key.with_bytes(stripe_of)
    }

    fn puts<'q, 'v>(
        _: &C,
        entries: impl ExactSizeIterator<Item = (K::Probe<'q>, Lent<'v, V>)> + Clone,
    ) -> Part {
        batch::part(Kind::PutStrings, entries, |draft, (key, value)| {
            key.with_bytes(|key| {
                draft.push(key);
                V::with_cell(value, |value| draft.push_value(value, V::COLUMN));
                stripe_of(key)
            })
        })
    }

    fn removals<'q>(_: &C, keys: impl ExactSizeIterator<Item = K::Probe<'q>> + Clone) -> Part {
        batch::part(Kind::RemoveStrings, keys, |draft, key| key.with_bytes(|key| removed(draft, key)))
    }

    fn range(_: &C, (low, high): Ends<'_, K>) -> latchless::Result<Draft> {
        let owned = [low, high].map(|end| end.map(|key| key.with_bytes(<[u8]>::to_vec)));
        let ends = owned.each_ref().map(|end| end.as_ref().map(Vec::as_slice));
        for end in ends {
            if let Bound::Included(key) | Bound::Excluded(key) = end {
                check_length(key)?;
            }
        }
        if let [Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)] =
            ends
            && start > end
        {
            return Err(latchless::Error::InvertedRange);
        }
        let mut draft = Draft::of_strings(Kind::RemoveRangeOfStrings);
        draft.push_range(ends);
        Ok(draft)
    }
}

impl<K: KeyInBytes<V>, V: SavedValue> StoredAsUsual<K, V> for ByteStrings<K, V> {
    type Columns = ();
}

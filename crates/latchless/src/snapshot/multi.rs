//! Snapshots of indexes whose keys are in many rows.
//!
//! ```
//! use latchless::bytes::MultiIndex;
//! use latchless::snapshot::multi;
//!
//! let by_city = MultiIndex::<String>::new()?;
//! by_city.insert_many(&[("Ulm", 0), ("Bonn", 1), ("Ulm", 2)]).expect("there is memory");
//! let mut file = Vec::new();
//! assert_eq!(multi::write(&by_city, &mut file)?, 3);
//! let again: MultiIndex<String> = multi::read(&file[..])?;
//! assert_eq!(again.rows("Ulm").collect::<Vec<_>>(), [0, 2]);
//! # Ok::<(), latchless::snapshot::Error>(())
//! ```
//!
//! The file is as [`strings`] describes it, but for its columns: `key`, in which a key comes once for each
//! of its rows, and `row`, which is Arrow's `uint64`. It is sorted by key, and by row where keys are equal.

use super::data_type::DataType;
use super::error::{Error, Result};
use super::layout::{About, ROW_COLUMNS};
use super::saved_value::number_of;
use super::strings::{Snapshot, key_type};
use super::write::{SeeRow, write_strings};
use super::{gather, gather_file, replace};
use crate::bytes::MultiIndex;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::fill::FillFactor;
use std::io::{Read, Write};
use std::path::Path;

#[cfg(doc)]
use super::strings;

/// Saves an index, and says how many pairs the snapshot has. What is at `path` is replaced in one step: see
/// [`snapshot`](super).
///
/// # Errors
/// [`Error::Io`] if the system refuses; what was at `path` is still there then.
pub fn save<K: BytesKey<Owned = K> + 'static>(index: &MultiIndex<K>, path: impl AsRef<Path>) -> Result<u64> {
    replace::replace(path.as_ref(), |file| write(index, file))
}

/// Writes a snapshot of an index, and says how many pairs it has.
///
/// # Errors
/// [`Error::Io`] if `out` refuses.
pub fn write<K: BytesKey<Owned = K> + 'static>(index: &MultiIndex<K>, out: impl Write) -> Result<u64> {
    let about = About {
        columns: ROW_COLUMNS,
        key: Some(K::type_name().into()),
        ..About::new([key_type::<K>(), DataType::UInt64])
    };
    let each = |see: &mut SeeRow| {
        let mut see = |(key, row): (K, u64)| key.with_bytes(|key| see(key, &row.to_le_bytes()));
        let _ = index.iter().try_for_each(&mut see);
    };
    write_strings(each, out, about)
}

/// The index of a snapshot, its leaves filled to four fifths.
///
/// # Errors
/// [`Error::Io`]; [`Error::Columns`] if the file is of another kind of index; [`Error::OtherKeys`] or
/// [`Error::OtherKeyType`] if it holds other keys than `K`; [`Error::NoKey`]; [`Error::Index`] if its pairs
/// are out of order or memory is refused; the others if it is no snapshot, or damaged.
pub fn open<K: BytesKey<Owned = K>>(path: impl AsRef<Path>) -> Result<MultiIndex<K>> {
    gather_file(path.as_ref()).and_then(index_of)
}

/// As [`open`], from anything that can be read to its end.
///
/// # Errors
/// As [`open`].
pub fn read<K: BytesKey<Owned = K>>(from: impl Read) -> Result<MultiIndex<K>> {
    gather(from, 0).and_then(index_of)
}

fn index_of<K: BytesKey<Owned = K>>(bytes: Vec<u8>) -> Result<MultiIndex<K>> {
    let snapshot = Snapshot::of_columns(bytes, ROW_COLUMNS)?;
    let (found, asked) = (snapshot.value_type(), DataType::UInt64);
    if found != asked {
        return Err(Error::OtherType { column: ROW_COLUMNS[1], found, asked });
    }
    snapshot.check_keys::<K>()?;
    let pairs = snapshot.byte_rows().map(|(key, row)| (K::from_bytes(key), number_of(row)));
    Ok(MultiIndex::from_sorted(pairs, FillFactor::UPDATED)?)
}

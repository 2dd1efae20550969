//! Snapshots of indexes whose keys map to many rows.
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
//! The file is as [`strings`] describes it, except its columns: `key`, in which a key occurs once for each
//! of its rows, and `row`, which is Arrow's `uint64`. It is sorted by key, and by row where keys are equal.

use super::data_type::DataType;
use super::error::{Error, Result};
use super::layout::{About, ROW_COLUMNS};
use super::strings::{self, key_type};
use super::write::{SeeRow, write_strings};
use super::{gather, gather_file, replace};
use crate::bytes::MultiIndex;
use crate::frozen::Reader;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::fill::FillFactor;
use std::io::{Read, Write};
use std::path::Path;

/// Saves an index, and returns the number of pairs of the snapshot. The file at `path` is replaced in one
/// step: see [`snapshot`](super).
///
/// # Errors
/// [`Error::Io`] if the system refuses; the old file at `path` is still there then.
pub fn save<K: BytesKey + 'static>(index: &MultiIndex<K>, path: impl AsRef<Path>) -> Result<u64> {
    replace::replace(path.as_ref(), |file| write(index, file))
}

/// Writes a snapshot of an index, and returns how many pairs it has.
///
/// # Errors
/// [`Error::Io`] if `out` refuses.
pub fn write<K: BytesKey + 'static>(index: &MultiIndex<K>, out: impl Write) -> Result<u64> {
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

impl<K: BytesKey + 'static> Reader<MultiIndex<K>> {
    /// Saves a snapshot as a file that [`multi::open`](open) opens.
    ///
    /// # Errors
    /// Those of [`multi::save`](save).
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64> {
        save(&self.0, path)
    }

    /// Writes a snapshot to a writer.
    ///
    /// # Errors
    /// Those of [`multi::write`](write()).
    pub fn write(&self, out: impl Write) -> Result<u64> {
        write(&self.0, out)
    }
}

/// The index of a snapshot, its leaves filled to four fifths.
///
/// # Errors
/// [`Error::Io`]; [`Error::OtherRows`] if the file is one of another kind of index; [`Error::OtherKeys`] or
/// [`Error::OtherKeyType`] if it holds other keys than `K`; [`Error::NoKey`]; [`Error::Index`] if its pairs
/// are out of order or memory is refused; the others if it is no snapshot, or damaged.
pub fn open<K: BytesKey>(path: impl AsRef<Path>) -> Result<MultiIndex<K>> {
    Snapshot::open(path)?.index()
}

/// Reads a snapshot's index from a reader, up to its end. See [`open`].
///
/// # Errors
/// Those of [`open`].
pub fn read<K: BytesKey>(from: impl Read) -> Result<MultiIndex<K>> {
    Snapshot::read(from)?.index()
}

/// A file in memory, validated except for the order of its pairs and the meaning of its strings.
#[derive(Debug, Clone)]
pub struct Snapshot(strings::Snapshot);

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`open`], except the errors about keys and about the order of pairs.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        gather_file(path.as_ref()).and_then(Self::from_bytes)
    }

    /// Reads a file from anything that can be read to its end.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn read(from: impl Read) -> Result<Self> {
        gather(from, 0).and_then(Self::from_bytes)
    }

    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let pairs = strings::Snapshot::of_columns(bytes, ROW_COLUMNS)?;
        match pairs.value_type() {
            DataType::UInt64 => Ok(Self(pairs)),
            found => Err(Error::OtherType { column: ROW_COLUMNS[1], found, asked: DataType::UInt64 }),
        }
    }

    /// How many pairs it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The type whose bytes the keys are, as [`BytesKey::type_name`] has it.
    pub fn key_name(&self) -> &str {
        self.0.key_name()
    }

    /// The type of the column `key`: [`DataType::Binary`] or [`DataType::Utf8`].
    pub fn key_type(&self) -> DataType {
        self.0.key_type()
    }

    /// Names and texts of the schema's metadata, except this library's own.
    pub fn metadata(&self) -> &[(String, String)] {
        self.0.metadata()
    }

    /// All pairs: the key's bytes, and the row.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.0.rows()
    }

    /// The index, its leaves filled to four fifths.
    ///
    /// # Errors
    /// [`Error::OtherKeyType`], [`Error::NoKey`]; or [`Error::Index`] if pairs are out of order or memory is
    /// refused.
    pub fn index<K: BytesKey>(&self) -> Result<MultiIndex<K>> {
        let mut index = MultiIndex::new()?;
        self.load(&mut index, FillFactor::UPDATED)?;
        Ok(index)
    }

    /// Fills an empty index, as [`MultiIndex::bulk_load`] does.
    ///
    /// # Errors
    /// Those of [`Snapshot::index`], and [`NotEmpty`](crate::Error::NotEmpty). The index is then as before.
    pub fn load<K: BytesKey>(&self, index: &mut MultiIndex<K>, fill: FillFactor) -> Result<()> {
        self.0.check_keys::<K>()?;
        Ok(index.bulk_load(self.pairs().map(|(key, row)| (K::from_bytes(key), row)), fill)?)
    }
}

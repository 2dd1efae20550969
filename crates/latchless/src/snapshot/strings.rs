//! Snapshots of indexes whose keys have any length.
//!
//! ```
//! use latchless::bytes::BytesIndex;
//! use latchless::snapshot::strings;
//!
//! let pages: BytesIndex<String, u64> = [("/".into(), 10), ("/about".into(), 7)].into();
//! let mut file = Vec::new();
//! assert_eq!(strings::write(&pages, &mut file)?, 2);
//! let again: BytesIndex<String, u64> = strings::read(&file[..])?;
//! assert_eq!(again.get("/about"), Some(7));
//! # Ok::<(), latchless::snapshot::Error>(())
//! ```
//!
//! The file is as [`snapshot`](super) describes it, but for the column `key`: its type is Arrow's `utf8` if
//! keys are `String`s, else `binary`, which has the keys' bytes, and a record batch has at most 16 MiB of
//! them. The schema's metadata has `latchless.key`, the keys' [type](BytesKey::type_name), without which one
//! couldn't tell a tuple from another one. [`snapshot`](super#while-others-write) also says what a saved file
//! means while other threads write; if none does, it is of one moment.
//!
//! A file that was made on purpose has strings that no key of its type has, and opening it is an error then,
//! but for types of the caller's own: [`BytesKey::is_key`] panics for these where
//! [`from_bytes`](BytesKey::from_bytes) does.

use super::data_type::{DataType, Native};
use super::error::{Error, Result};
use super::layout::About;
use super::parse::{self, Cells, Parsed};
use super::write::write_strings;
use super::{gather, gather_file, replace};
use crate::bytes::BytesIndex;
use core::any::TypeId;
use core::ops::ControlFlow;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::value::Value;
use std::io::{Read, Write};
use std::path::Path;

/// Saves an index, and says how many entries the snapshot has. What is at `path` is replaced in one step: see
/// [`snapshot`](super).
///
/// # Errors
/// [`Error::Io`] if the system refuses; what was at `path` is still there then.
pub fn save<K: BytesKey<Owned = K> + 'static, V: Native>(
    index: &BytesIndex<K, V>,
    path: impl AsRef<Path>,
) -> Result<u64> {
    Layout::new(V::DATA_TYPE).save(index, path, V::to_cell)
}

/// Writes a snapshot of an index, and says how many entries it has.
///
/// # Errors
/// [`Error::Io`] if `out` refuses.
pub fn write<K: BytesKey<Owned = K> + 'static, V: Native>(
    index: &BytesIndex<K, V>,
    out: impl Write,
) -> Result<u64> {
    Layout::new(V::DATA_TYPE).write(index, out, V::to_cell)
}

/// The index of a snapshot, its leaves filled to four fifths.
///
/// # Errors
/// [`Error::Io`]; [`Error::OtherKeys`], [`Error::OtherKeyType`] or [`Error::OtherType`] if the file holds
/// other types than `K` and `V`; [`Error::NoKey`]; [`Error::Index`] if its rows are out of order or memory is
/// refused; the others if it is no snapshot, or damaged.
pub fn open<K: BytesKey<Owned = K>, V: Native>(path: impl AsRef<Path>) -> Result<BytesIndex<K, V>> {
    Snapshot::open(path)?.index()
}

/// As [`open`], from anything that can be read to its end.
///
/// # Errors
/// As [`open`].
pub fn read<K: BytesKey<Owned = K>, V: Native>(from: impl Read) -> Result<BytesIndex<K, V>> {
    Snapshot::read(from)?.index()
}

/// The type of the column `key` of an index of `K`: [`DataType::Utf8`] of `String`s, else
/// [`DataType::Binary`].
pub fn key_type<K: BytesKey<Owned = K> + 'static>() -> DataType {
    if TypeId::of::<K>() == TypeId::of::<String>() { DataType::Utf8 } else { DataType::Binary }
}

/// How an index is saved whose values aren't [`Native`], or not of the type that the column is to have; or
/// rows that are in no index.
///
/// ```
/// use latchless::bytes::BytesIndex;
/// use latchless::snapshot::DataType;
/// use latchless::snapshot::strings::{Layout, Snapshot};
/// use latchless::FillFactor;
///
/// let seen: BytesIndex<(u64, String), bool> = [((7, "a".into()), true), ((7, "b".into()), false)].into();
/// let mut file = Vec::new();
/// let layout = Layout::new(DataType::UInt8).with_metadata("of", "tenant, name");
/// layout.write(&seen, &mut file, u64::from)?;
///
/// let snapshot = Snapshot::from_bytes(file)?;
/// assert_eq!((snapshot.len(), snapshot.key_name()), (2, "(u64, text)"));
/// let mut again = BytesIndex::<(u64, String), bool>::new()?;
/// snapshot.load_by(&mut again, FillFactor::FULL, |cell| cell != 0)?;
/// assert_eq!(again.get(&(7_u64, "b")), Some(false));
/// # Ok::<(), latchless::snapshot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(About);

impl Layout {
    /// Values of this type.
    pub fn new(value: DataType) -> Self {
        Self(About { types: [DataType::Binary, value], key: None, metadata: Vec::new() })
    }

    /// Adds a name and a text to the schema's metadata, where other programs see them, too.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.metadata.push((name.into(), text.into()));
        self
    }

    /// As [`save`], of the cell that `cell` makes of a value: its bytes, in little-endian order, are the low
    /// bytes of a number; those above are ignored.
    ///
    /// # Errors
    /// As [`save`]; [`Error::Reserved`]; [`Error::UnknownType`] for values that are strings.
    pub fn save<K: BytesKey<Owned = K> + 'static, V: Value>(
        &self,
        index: &BytesIndex<K, V>,
        path: impl AsRef<Path>,
        cell: impl Fn(V) -> u64,
    ) -> Result<u64> {
        replace::replace(path.as_ref(), |file| self.write(index, file, cell))
    }

    /// As [`write()`], of the cell that `cell` makes of a value: see [`Layout::save`].
    ///
    /// # Errors
    /// As [`Layout::save`].
    pub fn write<K: BytesKey<Owned = K> + 'static, V: Value>(
        &self,
        index: &BytesIndex<K, V>,
        out: impl Write,
        cell: impl Fn(V) -> u64,
    ) -> Result<u64> {
        let each = |see: &mut dyn FnMut(&[u8], u64) -> ControlFlow<()>| {
            // A range without ends isn't turned round, which is all that could be wrong with it.
            let _ = index.scan::<K>(.., |key, value| see(key, cell(value)));
        };
        write_strings(each, out, self.about::<K>())
    }

    /// As [`Layout::save`], of rows that are in no index: the bytes of keys of type `K`, sorted, and cells. A
    /// key may come more than once, but then only [`Snapshot::rows`] reads the file: no index can be loaded
    /// from it.
    ///
    /// # Errors
    /// As [`Layout::save`]; [`Error::Index`] for a key of 2 GiB.
    pub fn save_rows<K: BytesKey<Owned = K> + 'static>(
        &self,
        path: impl AsRef<Path>,
        rows: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>,
    ) -> Result<u64> {
        let each = |see: &mut dyn FnMut(&[u8], u64) -> ControlFlow<()>| {
            let _ = rows.into_iter().try_for_each(|(key, cell)| see(key.as_ref(), cell));
        };
        replace::replace(path.as_ref(), |file| write_strings(each, file, self.about::<K>()))
    }

    /// The same of keys of a type.
    fn about<K: BytesKey<Owned = K> + 'static>(&self) -> About {
        About {
            types: [key_type::<K>(), self.0.types[1]],
            key: Some(K::type_name().into()),
            ..self.0.clone()
        }
    }
}

/// A file in memory, of which all is known to be right but the order of its rows and what its strings mean.
#[derive(Debug, Clone)]
pub struct Snapshot {
    bytes: Vec<u8>,
    parsed: Parsed,
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// As [`open`], but for what is wrong with the values' type, with keys and with their order.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        gather_file(path.as_ref()).and_then(Self::from_bytes)
    }

    /// Reads a file from anything that can be read to its end.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn read(from: impl Read) -> Result<Self> {
        gather(from, 0).and_then(Self::from_bytes)
    }

    /// Takes the bytes of a file.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let parsed = parse::parse(&bytes)?;
        match parsed.types[0] {
            found if found.is_string() => Ok(Self { bytes, parsed }),
            found => Err(Error::OtherKeys { found, opener: "snapshot::open" }),
        }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.parsed.len
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.parsed.len == 0
    }

    /// The type whose bytes the keys are, as [`BytesKey::type_name`] has it.
    pub fn key_name(&self) -> &str {
        let of_column = if self.key_type() == DataType::Utf8 { "text" } else { "bytes" };
        self.parsed.key.as_deref().unwrap_or(of_column)
    }

    /// The type of the column `key`: [`DataType::Binary`] or [`DataType::Utf8`].
    pub fn key_type(&self) -> DataType {
        self.parsed.types[0]
    }

    /// The type of the column `value`.
    pub fn value_type(&self) -> DataType {
        self.parsed.types[1]
    }

    /// Names and texts of the schema's metadata, but for this library's own.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.parsed.metadata
    }

    /// All rows: the key's bytes, and the value's cell as [`Layout::save`] has it.
    pub fn rows(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let values = Cells::new(self.value_type(), &self.parsed.batches, 2);
        self.parsed.batches.iter().enumerate().flat_map(move |(number, batch)| {
            let values = values.clone();
            let value = move |row| values.get_in(&self.bytes, number, row);
            batch.strings(&self.bytes).enumerate().map(move |(row, key)| (key, value(row)))
        })
    }

    /// The index, its leaves filled to four fifths.
    ///
    /// # Errors
    /// [`Error::OtherKeyType`], [`Error::OtherType`], [`Error::NoKey`]; or [`Error::Index`] if rows are out
    /// of order or memory is refused.
    pub fn index<K: BytesKey<Owned = K>, V: Native>(&self) -> Result<BytesIndex<K, V>> {
        let mut index = BytesIndex::new()?;
        self.load(&mut index, FillFactor::UPDATED)?;
        Ok(index)
    }

    /// Fills an empty index, as [`BytesIndex::bulk_load`] does.
    ///
    /// # Errors
    /// As [`Snapshot::index`], and [`NotEmpty`](crate::Error::NotEmpty). The index is then as before.
    pub fn load<K: BytesKey<Owned = K>, V: Native>(
        &self,
        index: &mut BytesIndex<K, V>,
        fill: FillFactor,
    ) -> Result<()> {
        let (found, asked) = (self.value_type(), V::DATA_TYPE);
        if found != asked {
            return Err(Error::OtherType { column: "value", found, asked });
        }
        self.load_by(index, fill, V::from_cell)
    }

    /// As [`Snapshot::load`], of the values that `value` makes of their cells.
    ///
    /// # Errors
    /// As [`Snapshot::load`], but for [`Error::OtherType`].
    pub fn load_by<K: BytesKey<Owned = K>, V: Value>(
        &self,
        index: &mut BytesIndex<K, V>,
        fill: FillFactor,
        value: impl Fn(u64) -> V,
    ) -> Result<()> {
        let asked = K::type_name();
        if self.key_name() != asked {
            let found = self.key_name().to_owned();
            return Err(Error::OtherKeyType { found, asked: asked.into() });
        }
        if let Some(row) = self.rows().position(|(key, _)| !K::is_key(key)) {
            return Err(Error::NoKey { row, key_type: asked.into() });
        }
        let mut rows = self.rows();
        Ok(index.bulk_load_bytes(fill, |bytes| {
            let (key, cell) = rows.next()?;
            bytes.extend_from_slice(key);
            Some(value(cell))
        })?)
    }
}

//! Snapshots of indexes with keys of any length.
//!
//! ```
//! use latchless::Index;
//! use latchless::snapshot::strings;
//!
//! let pages: Index<String, u64> = [("/".into(), 10), ("/about".into(), 7)].into();
//! let mut file = Vec::new();
//! assert_eq!(strings::write(&pages, &mut file)?, 2);
//! let again: Index<String, u64> = strings::read(&file[..])?;
//! assert_eq!(again.get("/about"), Some(7));
//! # Ok::<(), latchless::snapshot::Error>(())
//! ```
//!
//! The file is as [`snapshot`](super) describes it, except its columns. The type of `key` is Arrow's `utf8`
//! if keys are `String`s, else `binary`, which has the keys' bytes. That of `value` is `utf8` or `binary`
//! as well if values are `String`s or `Vec<u8>`s, and `fixed_size_binary` if they are otherwise no numbers:
//! [`SavedValue`] defines these bytes. A record batch has at most 16 MiB of keys and as much of values. The
//! schema's metadata has `latchless.key`, the keys' [type](BytesKey::type_name), which distinguishes one
//! tuple from another. It has `latchless.value`, the [values' type](SavedValue::type_name), if the column
//! doesn't determine it.
//!
//! [`snapshot`](super#while-others-write) also defines the meaning of a saved file while other threads
//! write; without writers it is of one moment.
//!
//! A maliciously made file can have strings that no key or value of its type has. Opening it is an error
//! then, except for keys of the caller's own types: [`BytesKey::is_key`] panics for these where
//! [`from_bytes`](BytesKey::from_bytes) does.
//!
//! ```
//! # use latchless::Index;
//! # use latchless::snapshot::strings;
//! let titles: Index<String, String> = [("/".into(), "Home".into()), ("/a".into(), "".into())].into();
//! let mut file = Vec::new();
//! strings::write(&titles, &mut file)?;
//! let again: Index<String, String> = strings::read(&file[..])?;
//! assert_eq!(again.get("/").as_deref(), Some("Home"));
//! # Ok::<(), latchless::snapshot::Error>(())
//! ```

use super::data_type::DataType;
use super::error::{Error, Result};
use super::layout::{About, COLUMNS, ROW_COLUMNS};
use super::parse::{self, Parsed};
use super::saved_row::SavedRow;
use super::saved_value::{SavedValue, number_of};
pub use super::write::SeeRow;
use super::write::write_strings;
use super::{gather, gather_file, replace};
use crate::Index;
use crate::bytes::{ByteStrings, Holder, KeyInBytes, Whole};
use core::any::TypeId;
use core::ops::ControlFlow;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::value::Value;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::Path;

/// Saves an index, and returns the number of entries of the snapshot. The file at `path` is replaced in one
/// step: see [`snapshot`](super).
///
/// # Errors
/// [`Error::Io`] if the system refuses; the old file at `path` is still there then.
pub fn save<H: Holder<Key: 'static, Value: SavedValue>>(index: H, path: impl AsRef<Path>) -> Result<u64> {
    replace::replace(path.as_ref(), |file| write(index, file))
}

/// Writes a snapshot of an index, and returns how many entries it has.
///
/// # Errors
/// [`Error::Io`] if `out` refuses.
pub fn write<H: Holder<Key: 'static, Value: SavedValue>>(index: H, out: impl Write) -> Result<u64> {
    Layout::of_values::<H::Value>().write_index(index, out)
}

/// The index of a snapshot, its leaves filled to four fifths.
///
/// # Errors
/// [`Error::Io`]; [`Error::OtherKeys`], [`Error::OtherKeyType`], [`Error::OtherType`] or
/// [`Error::OtherValueType`] if the file holds other types than `K` and `V`; [`Error::NoKey`],
/// [`Error::NoValue`]; [`Error::Index`] if its rows are out of order or memory is refused; the others if it
/// is no snapshot, or damaged.
pub fn open<K: KeyInBytes<V>, V: SavedValue>(path: impl AsRef<Path>) -> Result<Index<K, V>> {
    Snapshot::open(path)?.index()
}

/// Reads a snapshot's index from a reader, up to its end. See [`open`].
///
/// # Errors
/// Those of [`open`].
pub fn read<K: KeyInBytes<V>, V: SavedValue>(from: impl Read) -> Result<Index<K, V>> {
    Snapshot::read(from)?.index()
}

/// The type of the column `key` of an index of `K`: [`DataType::Utf8`] of `String`s, else
/// [`DataType::Binary`].
pub fn key_type<K: BytesKey + 'static>() -> DataType {
    if TypeId::of::<K>() == TypeId::of::<String>() { DataType::Utf8 } else { DataType::Binary }
}

/// How an index is saved whose values aren't a [`SavedValue`], or not of the type that the column is to
/// have; or rows that are in no index.
///
/// ```
/// use latchless::Index;
/// use latchless::snapshot::DataType;
/// use latchless::snapshot::strings::{Layout, Snapshot};
/// use latchless::FillFactor;
///
/// let seen: Index<(u64, String), bool> = [((7, "a".into()), true), ((7, "b".into()), false)].into();
/// let mut file = Vec::new();
/// let layout = Layout::new(DataType::UInt8).with_metadata("of", "tenant, name");
/// layout.write(&seen, &mut file, u64::from)?;
///
/// let snapshot = Snapshot::from_bytes(file)?;
/// assert_eq!((snapshot.len(), snapshot.key_name()), (2, "(u64, text)"));
/// let mut again = Index::<(u64, String), bool>::new()?;
/// snapshot.load_by(&mut again, FillFactor::FULL, |cell| cell != 0)?;
/// assert_eq!(again.get((7, "b")), Some(false));
/// # Ok::<(), latchless::snapshot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(About);

impl Layout {
    /// Values of this type.
    pub fn new(value: DataType) -> Self {
        Self(About::new([DataType::Binary, value]))
    }

    /// Keys in many rows, as a [`MultiIndex`](crate::bytes::MultiIndex) has them: [`Layout::save_rows`] takes
    /// their pairs, and [`multi`](super::multi) reads the file.
    ///
    /// ```
    /// use latchless::snapshot::multi;
    /// use latchless::snapshot::strings::Layout;
    ///
    /// # let path = std::env::temp_dir().join(format!("latchless-layout-{}", std::process::id()));
    /// let layout = Layout::of_rows().with_metadata("of", "city");
    /// layout.save_rows::<String>(&path, [("Bonn", 1), ("Ulm", 0), ("Ulm", 2)])?;
    /// assert_eq!(multi::open::<String>(&path)?.rows("Ulm").collect::<Vec<_>>(), [0, 2]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_rows() -> Self {
        Self(About { columns: ROW_COLUMNS, ..About::new([DataType::Binary, DataType::UInt64]) })
    }

    /// Values of this type, as [`write()`] saves them, or rows.
    pub fn of_values<V: SavedRow>() -> Self {
        let name = Some(V::type_name()).filter(|name| **name != V::COLUMN.value_name());
        Self(About { value: name.map(Cow::into_owned), ..About::new([DataType::Binary, V::COLUMN]) })
    }

    /// Adds a name and a text to the schema's metadata, where other programs see them, too.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.metadata.push((name.into(), text.into()));
        self
    }

    /// Saves an index, whose values `cell` converts: a value's bytes, in little-endian order, are the low
    /// bytes of a number; those above are ignored. Otherwise as [`save`].
    ///
    /// # Errors
    /// Those of [`save`]; [`Error::Reserved`]; [`Error::NoCells`] for strings, and for values of more than
    /// eight bytes.
    pub fn save<H: Holder<Key: 'static, Value: Value>>(
        &self,
        index: H,
        path: impl AsRef<Path>,
        cell: impl Fn(H::Value) -> u64,
    ) -> Result<u64> {
        replace::replace(path.as_ref(), |file| self.write(index, file, cell))
    }

    /// Writes a snapshot of an index, whose values `cell` converts as for [`Layout::save`]. Otherwise as
    /// [`write()`].
    ///
    /// # Errors
    /// Those of [`Layout::save`].
    pub fn write<H: Holder<Key: 'static, Value: Value>>(
        &self,
        index: H,
        out: impl Write,
        cell: impl Fn(H::Value) -> u64,
    ) -> Result<u64> {
        let width = self.check_cells()?;
        let each = |see: &mut SeeRow| {
            let see = |key: &[u8], cell: u64| see(key, &cell.to_le_bytes()[..width]);
            let _ = see_cells(index.index(), &cell, see);
        };
        write_strings(each, out, self.about::<H::Key>())
    }

    /// Saves rows that are in no index: the bytes of keys of type `K`, sorted, and cells. A key may occur
    /// more than once, but then only [`Snapshot::rows`] reads the file: no index can be loaded from it.
    /// Otherwise as [`Layout::save`].
    ///
    /// # Errors
    /// Those of [`Layout::save`]; [`Error::Index`] for a key of 2 GiB.
    pub fn save_rows<K: BytesKey + 'static>(
        &self,
        path: impl AsRef<Path>,
        rows: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>,
    ) -> Result<u64> {
        let width = self.check_cells()?;
        let each = |see: &mut SeeRow| {
            let see = |(key, cell): (_, u64)| see(AsRef::as_ref(&key), &cell.to_le_bytes()[..width]);
            let _ = rows.into_iter().try_for_each(see);
        };
        replace::replace(path.as_ref(), |file| write_strings(each, file, self.about::<K>()))
    }

    /// Saves rows whose values are bytes: strings, or as many bytes as the column is wide. Otherwise as
    /// [`Layout::save_rows`].
    ///
    /// # Errors
    /// Those of [`Layout::save_rows`]; [`Error::NoCell`]; [`Error::UnknownType`].
    pub fn save_byte_rows<K: BytesKey + 'static>(
        &self,
        path: impl AsRef<Path>,
        rows: impl IntoIterator<Item = (impl AsRef<[u8]>, impl AsRef<[u8]>)>,
    ) -> Result<u64> {
        let each = |see: &mut SeeRow| {
            let _ = rows.into_iter().try_for_each(|(key, value)| see(key.as_ref(), value.as_ref()));
        };
        replace::replace(path.as_ref(), |file| write_strings(each, file, self.about::<K>()))
    }

    /// Writes rows whose values are bytes, as `each` shows them. Otherwise as [`Layout::save_byte_rows`].
    ///
    /// # Errors
    /// Those of [`Layout::save_byte_rows`].
    pub fn write_byte_rows<K: BytesKey + 'static>(
        &self,
        out: impl Write,
        each: impl FnOnce(&mut SeeRow),
    ) -> Result<u64> {
        write_strings(each, out, self.about::<K>())
    }

    /// Writes a snapshot of an index, as [`write()`], with this layout's metadata: the layout is that of its
    /// values, [`Layout::of_values`].
    ///
    /// # Errors
    /// [`Error::Io`] if `out` refuses; [`Error::Reserved`].
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::snapshot::strings::{Layout, Snapshot};
    ///
    /// let names: Index<String, u32> = [("cat".to_string(), 7)].into_iter().collect();
    /// let mut file = Vec::new();
    /// Layout::of_values::<u32>().with_metadata("of", "animals").write_index(&names, &mut file)?;
    /// let snapshot = Snapshot::from_bytes(file)?;
    /// assert_eq!(snapshot.metadata()[0], ("of".to_string(), "animals".to_string()));
    /// # Ok::<(), latchless::snapshot::Error>(())
    /// ```
    pub fn write_index<H: Holder<Key: 'static, Value: SavedValue>>(
        &self,
        index: H,
        out: impl Write,
    ) -> Result<u64> {
        let each = |see: &mut SeeRow| {
            // A range without ends isn't turned round, which is all that could be wrong with it.
            let _ = index.index().scan::<H::Key>(.., |key, value| {
                <H::Value as SavedValue>::with_cell(value, |value| see(key, value))
            });
        };
        self.write_byte_rows::<H::Key>(out, each)
    }

    /// How many bytes of a cell are a value's, if cells have room for it.
    fn check_cells(&self) -> Result<usize> {
        let [_, value] = self.0.types;
        if value.has_cells() { Ok(value.width_bytes()) } else { Err(Error::NoCells { found: value }) }
    }

    /// The same of keys of a type.
    fn about<K: BytesKey + 'static>(&self) -> About {
        About {
            types: [key_type::<K>(), self.0.types[1]],
            key: Some(K::type_name().into()),
            ..self.0.clone()
        }
    }
}

/// Shows the entries of an index, with their cells.
fn see_cells<K: BytesKey, V: Value>(
    index: &ByteStrings<K, V>,
    cell: &impl Fn(V) -> u64,
    mut see: impl FnMut(&[u8], u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    index.scan::<K>(.., |key, value| see(key, cell(value)))
}

/// A file in memory, validated except for the order of its rows and the meaning of its strings.
#[derive(Debug, Clone)]
pub struct Snapshot {
    bytes: Vec<u8>,
    parsed: Parsed,
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`open`], except the errors about the values' type, about keys and about their order.
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
        Self::of_columns(bytes, COLUMNS)
    }

    /// Takes the bytes of a file with these columns.
    pub(super) fn of_columns(bytes: Vec<u8>, columns: [&'static str; 2]) -> Result<Self> {
        let parsed = parse::parse(&bytes, columns)?;
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
        self.parsed.key_name()
    }

    /// The type of the column `key`: [`DataType::Binary`] or [`DataType::Utf8`].
    pub fn key_type(&self) -> DataType {
        self.parsed.types[0]
    }

    /// The type of the column `value`.
    pub fn value_type(&self) -> DataType {
        self.parsed.types[1]
    }

    /// The type of the values, as [`SavedValue::type_name`] has it.
    pub fn value_name(&self) -> Cow<'_, str> {
        self.parsed.value_name()
    }

    /// Names and texts of the schema's metadata, except this library's own.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.parsed.metadata
    }

    /// All rows: the key's bytes, and the value's cell as [`Layout::save`] has it. Of values of more than
    /// eight bytes the cell is the first eight: [`Snapshot::byte_rows`] has all.
    pub fn rows(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.byte_rows().map(|(key, value)| (key, number_of(value)))
    }

    /// All rows: the key's bytes and the value's, which of a number are little-endian.
    pub fn byte_rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.parsed.batches.iter().flat_map(|batch| {
            let [keys, values] = batch.columns(&self.bytes, self.parsed.types);
            keys.zip(values)
        })
    }

    /// The index, its leaves filled to four fifths.
    ///
    /// # Errors
    /// [`Error::OtherKeyType`], [`Error::OtherType`], [`Error::OtherValueType`], [`Error::NoKey`],
    /// [`Error::NoValue`]; or [`Error::Index`] if rows are out of order or memory is refused.
    pub fn index<K: KeyInBytes<V>, V: SavedValue>(&self) -> Result<Index<K, V>> {
        let mut index = Index::new()?;
        self.load(&mut index, FillFactor::UPDATED)?;
        Ok(index)
    }

    /// Fills an empty index, as [`Index::bulk_load`] does.
    ///
    /// # Errors
    /// Those of [`Snapshot::index`], and [`NotEmpty`](crate::Error::NotEmpty). The index is then as before.
    pub fn load<I: Whole<Value: SavedValue>>(&self, index: &mut I, fill: FillFactor) -> Result<()> {
        self.parsed.check_values::<I::Value>()?;
        self.load_rows(index, fill, <I::Value as SavedValue>::of_cell)
    }

    /// Refuses a file with other types than `K` and `V`, and strings that no key of this type has.
    ///
    /// # Errors
    /// [`Error::OtherKeyType`], [`Error::OtherType`], [`Error::OtherValueType`], [`Error::NoKey`].
    pub fn check_types<K: BytesKey, V: SavedRow>(&self) -> Result<()> {
        self.parsed.check_values::<V>()?;
        self.check_keys::<K>()
    }

    /// Fills an empty index with the values that `value` makes from their cells.
    ///
    /// # Errors
    /// Those of [`Snapshot::load`], except the errors about values; [`Error::NoCells`] for strings, and for
    /// values of more than eight bytes.
    pub fn load_by<I: Whole<Value: Value>>(
        &self,
        index: &mut I,
        fill: FillFactor,
        value: impl Fn(u64) -> I::Value,
    ) -> Result<()> {
        match self.value_type() {
            found if found.has_cells() => self.load_rows(index, fill, |cell| Some(value(number_of(cell)))),
            found => Err(Error::NoCells { found }),
        }
    }

    /// Fills an empty index with the values that `value` makes from their bytes.
    fn load_rows<I: Whole>(
        &self,
        index: &mut I,
        fill: FillFactor,
        value: impl Fn(&[u8]) -> Option<I::Value>,
    ) -> Result<()> {
        self.check_keys::<I::Key>()?;
        let index = index.index_mut();
        let (mut rows, mut no_value) = (self.byte_rows().enumerate(), None);
        index.bulk_load_bytes(fill, |bytes| {
            let (row, (key, cell)) = rows.next()?;
            bytes.extend_from_slice(key);
            let value = value(cell);
            no_value = value.is_none().then_some(row);
            value
        })?;
        let Some(row) = no_value else { return Ok(()) };
        index.reset();
        Err(Error::NoValue { row, value_type: self.value_name().into() })
    }

    /// Refuses keys of another type, and strings that no key of this type has.
    pub(super) fn check_keys<K: BytesKey>(&self) -> Result<()> {
        self.parsed.check_key_name::<K>()?;
        match self.byte_rows().position(|(key, _)| !K::is_key(key)) {
            Some(row) => Err(Error::NoKey { row, key_type: K::type_name().into() }),
            None => Ok(()),
        }
    }
}

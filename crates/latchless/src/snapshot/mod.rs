//! Snapshots: an index's entries in a file, and an index from such a file. With the feature `snapshot`.
//!
//! ```
//! use latchless::{Index, snapshot};
//!
//! let prices: Index<u64, f64> = [(99, 5.0), (101, 7.5), (105, 3.0)].into_iter().collect();
//! # let folder = std::env::temp_dir().join(format!("latchless-snapshot-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("prices.arrow");
//! assert_eq!(snapshot::save(&prices, &path)?, 3);
//! let again: Index<u64, f64> = snapshot::open(&path)?;
//! assert_eq!(again.floor(104), Some((101, 7.5)));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//! A plain Arrow IPC file, as pyarrow, polars and pandas read it: two columns, `key` and `value`, without
//! nulls, sorted by key, at most 2^20 rows per record batch, not compressed. The schema's metadata has
//! `latchless.version`; the footer's has `latchless.len`, the number of entries, and `latchless.checksum`.
//! The checksum is a CRC-32 of the whole file, in which its own eight digits count as zeros.
//!
//! [`open`] reads the file into memory, compares the checksum, and loads the index from the columns in
//! place. In addition to the index it takes as much memory as the file has bytes. It refuses a file that is
//! cut short, one in which a single bit has changed, and one that another program has rewritten. The
//! checksum protects from accidents, not from people: anyone can compute it. A maliciously made file can
//! hold other entries, but it causes no panic, and takes no more memory than its bytes and its entries.
//!
//! # A file is read where it lies
//! [`Mapped::open`] maps a file into memory instead, and answers from its columns: in milliseconds, whatever
//! the size, and processes that map one file share its pages. For this, saves add a directory of some of
//! the keys, which other programs don't see. [`Mapped`] says what that costs, and what it demands of the
//! file.
//!
//! # A file is replaced in one step
//! [`save`] writes a new file next to the old one, under that file's name and `.tmp-…`. The new file is
//! synced, replaces the old one, and the folder is synced. If anything fails, or the process is killed, the
//! old file is whole. Only a killed process leaves its `.tmp-…` file.
//!
//! On Unix the new file has the old one's permissions, and its owner and group as far as the system lets
//! this process set them; where the group can't be kept, the new group may do no more than others may.
//! Access control lists and extended attributes aren't kept, and other hard links stay with the old file. A
//! symbolic link stays: the file that it leads to is replaced, in that file's folder. A path that is
//! neither a file nor absent is refused with [`Error::NotAFile`].
//!
//! # While others write
//! A save takes no latch and stops no writer. The snapshot has every entry that stayed unchanged during the
//! save, exactly once. An entry that was inserted, changed or removed meanwhile is in it in one of the
//! states that it had, which may be its absence. Two entries may come from different moments: of two
//! inserts, one made after the other, the snapshot may have only the second. For a snapshot of one moment
//! no other thread may write: [`Index::exclusive`] ensures that.
//!
//! ```
//! # let mut index: latchless::Index<u64, u64> = (0..10).map(|key| (key, 2 * key)).collect();
//! let mut bytes = Vec::new();
//! latchless::snapshot::write(&index.exclusive(), &mut bytes)?;
//! assert_eq!(latchless::snapshot::read::<u64, u64>(&bytes[..])?.len(), 10);
//! # Ok::<(), latchless::snapshot::Error>(())
//! ```
//!
//! # Types
//! [`save`] and [`open`] are for indexes whose keys and values are [`Native`] to Arrow. For other types, or
//! types that are known only at run time, a [`Layout`] saves and a [`Snapshot`] opens: the caller converts
//! entries to cells and cells to entries.
//!
//! Keys of any length are saved and opened by [`strings`], with every [`SavedValue`], and those of a
//! [`MultiIndex`] with their rows by [`multi`].
//!
//! [`MultiIndex`]: crate::bytes::MultiIndex

mod batch;
mod bytes;
mod data_type;
mod directory;
mod error;
mod layout;
mod mapped;
pub mod multi;
mod parse;
mod replace;
mod rows;
mod saved;
mod saved_row;
mod saved_value;
pub mod strings;
#[cfg(test)]
mod tests;
mod write;

pub use data_type::{DataType, Native, TimeUnit};
pub use error::{Error, Result};
pub use layout::VERSION;
pub use mapped::{Entries, Mapped};
pub use rows::{Rows, Sought};
pub use saved::Saved;
pub use saved_row::SavedRow;
pub use saved_value::SavedValue;

use crate::Index;
use crate::index::Holder;
use batch::Cells;
use core::num::NonZeroUsize;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Key;
use latchless_core::base::spans;
use latchless_core::base::value::Value;
use layout::{About, COLUMNS};
use parse::Parsed;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Saves an index, `&Index` or `&Exclusive`, and returns the number of entries of the snapshot. The file at
/// `path` is replaced in one step: see [the module](self).
///
/// # Errors
/// [`Error::Io`] if the system refuses; the old file at `path` is still there then.
pub fn save<H>(index: H, path: impl AsRef<Path>) -> Result<u64>
where
    H: Holder<Key: Native, Value: Native>,
{
    native_layout::<H>().save(index, path, native_cells::<H>)
}

/// Writes a snapshot of an index, `&Index` or `&Exclusive`, and returns how many entries it has.
///
/// # Errors
/// [`Error::Io`] if `out` refuses.
pub fn write<H>(index: H, out: impl Write) -> Result<u64>
where
    H: Holder<Key: Native, Value: Native>,
{
    native_layout::<H>().write(index, out, native_cells::<H>)
}

/// The index of a snapshot, its leaves filled to four fifths.
///
/// # Errors
/// [`Error::Io`]; [`Error::OtherType`] if the file holds other types than `K` and `V`; [`Error::Index`] if
/// its rows are out of order or memory is refused; the others if it is no snapshot, or damaged.
pub fn open<K: Native, V: Native>(path: impl AsRef<Path>) -> Result<Index<K, V>> {
    Snapshot::open(path)?.index()
}

/// Reads a snapshot's index from a reader, up to its end. See [`open`].
///
/// # Errors
/// Those of [`open`].
pub fn read<K: Native, V: Native>(from: impl Read) -> Result<Index<K, V>> {
    Snapshot::read(from)?.index()
}

/// The type of the column `key` in the bytes of a file: it decides between [`Snapshot`] and
/// [`strings::Snapshot`].
///
/// # Errors
/// Those of [`Snapshot::from_bytes`], except [`Error::OtherKeys`].
///
/// ```
/// use latchless::snapshot::{self, DataType};
///
/// let mut file = Vec::new();
/// snapshot::write(&latchless::Index::<u64, u64>::new()?, &mut file)?;
/// assert_eq!(snapshot::key_type(&file)?, DataType::UInt64);
/// # Ok::<(), snapshot::Error>(())
/// ```
pub fn key_type(bytes: &[u8]) -> Result<DataType> {
    Ok(parse::parse(bytes, COLUMNS)?.types[0])
}

fn native_layout<H: Holder<Key: Native, Value: Native>>() -> Layout {
    Layout::new(H::Key::DATA_TYPE, H::Value::DATA_TYPE)
}

fn native_cells<H: Holder<Key: Native, Value: Native>>(key: H::Key, value: H::Value) -> (u64, u64) {
    (key.to_cell(), value.to_cell())
}

/// How an index is saved whose types aren't [`Native`], or not the ones that the columns are to have.
///
/// ```
/// use latchless::snapshot::{DataType, Layout, Snapshot};
/// use latchless::{FillFactor, Index};
/// use std::num::NonZeroUsize;
///
/// // Keys of two parts, as one number of 64 bits.
/// let index: Index<(u32, u32), u8> = [((7, 1), 10), ((7, 2), 20)].into_iter().collect();
/// let layout = Layout::new(DataType::UInt64, DataType::UInt8).with_metadata("parts", "user, item");
/// let mut file = Vec::new();
/// layout.write(&index, &mut file, |(user, item), value| {
///     (u64::from(user) << 32 | u64::from(item), value.into())
/// })?;
///
/// let snapshot = Snapshot::from_bytes(file)?;
/// assert_eq!(snapshot.metadata(), [("parts".to_owned(), "user, item".to_owned())]);
/// let mut again = Index::<(u32, u32), u8>::new()?;
/// snapshot.load_by(&mut again, FillFactor::FULL, NonZeroUsize::MIN, |key, value| {
///     (((key >> 32) as u32, key as u32), value as u8)
/// })?;
/// assert_eq!(again.get((7, 2)), Some(20));
/// # Ok::<(), latchless::snapshot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(About);

impl Layout {
    /// Columns of these types, which aren't strings.
    pub fn new(key: DataType, value: DataType) -> Self {
        Self(About::new([key, value]))
    }

    /// Adds a name and a text to the schema's metadata, where other programs see them, too.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.metadata.push((name.into(), text.into()));
        self
    }

    /// Saves an index, whose entries `cells` converts. The bytes of each cell, in little-endian order, are
    /// the low bytes of a number; those above are ignored. The rows are in the order of the index's keys.
    /// If that isn't the order of the column `key`, only [`Snapshot::load_by`] can load them. Otherwise as
    /// [`save`].
    ///
    /// # Errors
    /// Those of [`save`]; [`Error::Reserved`]; [`Error::UnknownType`] for a type that is a string.
    pub fn save<H: Holder>(
        &self,
        index: H,
        path: impl AsRef<Path>,
        cells: impl Fn(H::Key, H::Value) -> (u64, u64),
    ) -> Result<u64> {
        replace::replace(path.as_ref(), |file| self.write(index, file, cells))
    }

    /// Saves rows that are in no index: the cells of [`Layout::save`], sorted by the key. A key may occur
    /// more than once, but then only [`Snapshot::row`] reads the file: no index can be loaded from it.
    ///
    /// # Errors
    /// Those of [`Layout::save`].
    pub fn save_rows(
        &self,
        path: impl AsRef<Path>,
        rows: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<u64> {
        replace::replace(path.as_ref(), |file| write::write_rows(rows, file, self.0.clone()))
    }

    /// Writes a snapshot of an index, whose entries `cells` converts as for [`Layout::save`]. Otherwise as
    /// [`write()`].
    ///
    /// # Errors
    /// Those of [`write()`]; and [`Error::Reserved`].
    pub fn write<H: Holder>(
        &self,
        index: H,
        out: impl Write,
        cells: impl Fn(H::Key, H::Value) -> (u64, u64),
    ) -> Result<u64> {
        write::write(index, out, self.0.clone(), cells)
    }
}

/// A file in memory, of which all is known to be right but the order of its rows.
#[derive(Debug, Clone)]
pub struct Snapshot {
    bytes: Vec<u8>,
    parsed: Parsed,
    cells: [Cells; 2],
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`open`], except [`Error::OtherType`] and the order of the rows.
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
        let parsed = parse::parse(&bytes, COLUMNS)?;
        let [key, value] = parsed.types;
        if key.is_string() {
            return Err(Error::OtherKeys { found: key, opener: "snapshot::strings" });
        }
        let cells = [(key, 0), (value, 1)].map(|(of, part)| Cells::new(of, &parsed.batches, part));
        Ok(Self { bytes, parsed, cells })
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.parsed.len
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.parsed.len == 0
    }

    /// The type of the column `key`.
    pub fn key_type(&self) -> DataType {
        self.parsed.types[0]
    }

    /// The type of the column `value`.
    pub fn value_type(&self) -> DataType {
        self.parsed.types[1]
    }

    /// Names and texts of the schema's metadata, except this library's own.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.parsed.metadata
    }

    /// The cells of a row: the bytes of each, little-endian, are the low bytes of a number, and those above
    /// are zero.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, at: usize) -> (u64, u64) {
        assert!(at < self.len(), "there is no row {at} in a snapshot of {}", self.len());
        self.cells(at)
    }

    #[inline(always)]
    fn cells(&self, at: usize) -> (u64, u64) {
        let [keys, values] = &self.cells;
        (keys.get(&self.bytes, at), values.get(&self.bytes, at))
    }

    /// The index, its leaves filled to four fifths.
    ///
    /// # Errors
    /// [`Error::OtherType`]; or [`Error::Index`] if rows are out of order or memory is refused.
    pub fn index<K: Native, V: Native>(&self) -> Result<Index<K, V>> {
        let mut index = Index::new()?;
        self.load(&mut index, FillFactor::UPDATED, NonZeroUsize::MIN)?;
        Ok(index)
    }

    /// Fills an empty index, by several threads, as [`Index::bulk_load_with`] does.
    ///
    /// # Errors
    /// Those of [`Snapshot::index`], and [`NotEmpty`](crate::Error::NotEmpty). The index is then as before.
    pub fn load<K: Native, V: Native>(
        &self,
        index: &mut Index<K, V>,
        fill: FillFactor,
        threads: NonZeroUsize,
    ) -> Result<()> {
        self.parsed.check_numbers::<K, V>()?;
        self.load_by(index, fill, threads, |key, value| (K::from_cell(key), V::from_cell(value)))
    }

    /// Fills an empty index, by several threads, with the entries that `entry` makes from the cells of a
    /// row (see [`Snapshot::row`]). It may be called for a row more than once.
    ///
    /// # Errors
    /// [`Error::Index`], with the errors of [`Index::bulk_load`].
    pub fn load_by<K: Key, V: Value>(
        &self,
        index: &mut Index<K, V>,
        fill: FillFactor,
        threads: NonZeroUsize,
        entry: impl Fn(u64, u64) -> (K, V) + Sync,
    ) -> Result<()> {
        let entry_at = |at| {
            let (key, value) = self.cells(at);
            entry(key, value)
        };
        Ok(index.bulk_load_by(self.len(), entry_at, fill, threads)?)
    }
}

/// All of a file.
fn gather_file(path: &Path) -> Result<Vec<u8>> {
    let span = spans::snapshot_read();
    let file = File::open(path).map_err(|cause| Error::io("open")(cause).about(path))?;
    let bytes = file.metadata().map_or(0, |about| about.len());
    span.record("bytes", bytes);
    gather(file, bytes).map_err(|error| error.about(path))
}

/// All that can be read; `expected_bytes` of it, unless the file changes.
fn gather(mut from: impl Read, expected_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let refused = || Error::OutOfMemory { requested_bytes: expected_bytes };
    // One more than is expected, or the end would only be found after the buffer has grown.
    let room =
        usize::try_from(expected_bytes).ok().and_then(|bytes| bytes.checked_add(1)).ok_or_else(refused)?;
    bytes.try_reserve_exact(room).map_err(|_| refused())?;
    from.read_to_end(&mut bytes).map_err(Error::io("read"))?;
    Ok(bytes)
}

//! The contents of the columns of logs and snapshots.

use latchless::snapshot::{self, DataType, Layout, Native, Snapshot};
use latchless::{Bits, FillFactor, Index, Key, Reader, Value};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How an index's keys and values are cells of the columns of its log and of its snapshots.
///
/// [`Plain`] is for the types that Arrow has. An index of other types, or of types that are known only at
/// run time, brings columns of its own to [`Found::recover`](crate::Found::recover). A cell is the low
/// bytes of a number, as many as the column's type is wide; those above are ignored when it is written, and
/// zero when it is read. Every key of an operation must be that of its cell, the ends of a range that is
/// removed as well: the log has nothing but the cells.
pub trait Columns<K: Key, V: Value>: Send + Sync {
    /// The types of the column of keys and of the column of values.
    fn types(&self) -> [DataType; 2];

    /// Names and texts for the metadata of snapshots. With any of them a new folder has a snapshot from its
    /// first moment on, and [`Found::metadata`](crate::Found::metadata) returns them before it is
    /// recovered.
    fn metadata(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The cell of a key.
    fn key_to_cell(&self, key: K) -> u64;

    /// The cell of a value.
    fn value_to_cell(&self, value: V) -> u64;

    /// The key of a cell; `None` for an invalid cell: such a record or snapshot is damaged.
    fn key_of_cell(&self, cell: u64) -> Option<K>;

    /// The value of a cell.
    fn value_of_cell(&self, cell: u64) -> V;
}

/// The columns of types that Arrow has as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plain;

impl<K: Native, V: Native> Columns<K, V> for Plain {
    #[inline(always)]
    fn types(&self) -> [DataType; 2] {
        [K::DATA_TYPE, V::DATA_TYPE]
    }

    #[inline(always)]
    fn key_to_cell(&self, key: K) -> u64 {
        key.to_cell()
    }

    #[inline(always)]
    fn value_to_cell(&self, value: V) -> u64 {
        value.to_cell()
    }

    #[inline(always)]
    fn key_of_cell(&self, cell: u64) -> Option<K> {
        Some(K::from_cell(cell))
    }

    #[inline(always)]
    fn value_of_cell(&self, cell: u64) -> V {
        V::from_cell(cell)
    }
}

impl<K: Key, V: Value, C: Columns<K, V> + ?Sized> Columns<K, V> for Arc<C> {
    fn types(&self) -> [DataType; 2] {
        C::types(self)
    }

    fn metadata(&self) -> Vec<(String, String)> {
        C::metadata(self)
    }

    #[inline(always)]
    fn key_to_cell(&self, key: K) -> u64 {
        C::key_to_cell(self, key)
    }

    #[inline(always)]
    fn value_to_cell(&self, value: V) -> u64 {
        C::value_to_cell(self, value)
    }

    #[inline(always)]
    fn key_of_cell(&self, cell: u64) -> Option<K> {
        C::key_of_cell(self, cell)
    }

    #[inline(always)]
    fn value_of_cell(&self, cell: u64) -> V {
        C::value_of_cell(self, cell)
    }
}

/// Refuses columns that are no numbers: a record of the log has room for these alone.
///
/// # Errors
/// [`UnknownType`](snapshot::Error::UnknownType).
pub fn check<K: Key, V: Value>(columns: &impl Columns<K, V>) -> snapshot::Result<()> {
    let types = ["key", "value"].into_iter().zip(columns.types());
    let is_bytes = |found| matches!(found, DataType::Binary | DataType::Utf8 | DataType::FixedSizeBinary(_));
    match types.into_iter().find(|&(_, found)| is_bytes(found)) {
        Some((column, found)) => Err(snapshot::Error::UnknownType { column, found: found.to_string() }),
        None => Ok(()),
    }
}

/// Saves a snapshot of an index with these columns, as a log's folder has them, and returns how many
/// entries it has.
///
/// # Errors
/// Those of [`Layout::save`].
pub fn save<K: Key, V: Value>(
    index: &Reader<Index<K, V>>,
    path: &Path,
    columns: &impl Columns<K, V>,
) -> snapshot::Result<u64> {
    layout(columns).save(index, path, |key, value| (columns.key_to_cell(key), columns.value_to_cell(value)))
}

/// Writes a snapshot to a writer. See [`save`].
pub fn write<K: Key, V: Value>(
    index: &Index<K, V>,
    out: impl Write,
    columns: &impl Columns<K, V>,
) -> snapshot::Result<u64> {
    layout(columns).write(index, out, |key, value| (columns.key_to_cell(key), columns.value_to_cell(value)))
}

/// The file's columns and metadata.
fn layout<K: Key, V: Value>(columns: &impl Columns<K, V>) -> Layout {
    let [key, value] = columns.types();
    let named = |layout: Layout, (name, text)| layout.with_metadata(name, text);
    columns.metadata().into_iter().fold(Layout::new(key, value), named)
}

/// The error for a maliciously made file with a key that no index has.
pub const NO_KEY: snapshot::Error = snapshot::Error::Damaged { at: 0, what: "one of its keys is none" };

/// Fills an empty index from a snapshot with these columns, by several threads.
///
/// # Errors
/// Those of [`Snapshot::load`]; [`Damaged`](snapshot::Error::Damaged) if the cell of a key is invalid.
pub fn load<K: Key, V: Value>(
    snapshot: &Snapshot,
    index: &mut Index<K, V>,
    columns: &impl Columns<K, V>,
    fill: FillFactor,
    threads: NonZeroUsize,
) -> snapshot::Result<()> {
    let [key, value] = columns.types();
    for (column, asked, found) in [("key", key, snapshot.key_type()), ("value", value, snapshot.value_type())]
    {
        if found != asked {
            return Err(snapshot::Error::OtherType { column, found, asked });
        }
    }
    let no_key = AtomicBool::new(false);
    let entry = |key, value| {
        let key = columns.key_of_cell(key).unwrap_or_else(|| {
            no_key.store(true, Relaxed);
            K::decode(K::Bits::MIN)
        });
        (key, columns.value_of_cell(value))
    };
    let loaded = snapshot.load_by(index, fill, threads, entry);
    if no_key.load(Relaxed) {
        return Err(NO_KEY);
    }
    loaded
}

//! What the columns of logs and snapshots hold.

use latchless::snapshot::{DataType, Native};
use latchless::{Key, Value};

/// How an index's keys and values are cells of the columns of its log and of its snapshots.
///
/// [`Plain`] is for the types that Arrow has. An index of other types, or of types that are known only at run
/// time, brings columns of its own to [`Found::recover`](crate::Found::recover). A cell is the low bytes of a
/// number, as many as the column's type is wide; those above are ignored when it is written, and zero when it
/// is read. Every key of an operation must be that of its cell, the ends of a range that is removed as well: the
/// log has nothing but the cells.
pub trait Columns<K: Key, V: Value>: Send + Sync {
    /// The types of the column of keys and of the column of values.
    fn types(&self) -> [DataType; 2];

    /// Names and texts for the metadata of snapshots. With any of them a new folder has a snapshot from its
    /// first moment on, and [`Found::metadata`](crate::Found::metadata) tells them before it is recovered.
    fn metadata(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The cell of a key.
    fn key_to_cell(&self, key: K) -> u64;

    /// The cell of a value.
    fn value_to_cell(&self, value: V) -> u64;

    /// The key of a cell, or nothing for a cell that is none: such a record or snapshot is damaged.
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

//! Records: what changed, as bytes. See "The log's bytes" in the [crate's head](crate).

use crate::columns::Columns;
use latchless::snapshot::DataType;
use latchless::{Key, Value};
use std::ops::{Bound, RangeBounds};

/// Bytes before a record's keys and values.
pub const HEADER_BYTES: usize = 24;
/// The most entries of a record. Larger batches are several.
pub const ENTRIES_MAX: usize = 1 << 20;
/// Bytes of the ends of a range.
const RANGE_BYTES: usize = 24;

/// What a record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sets keys to values.
    Put = 1,
    /// Removes keys.
    Remove = 2,
    /// Removes a range of keys.
    RemoveRange = 3,
}

/// A record that is to be written: its bytes, with room for the header.
#[derive(Debug)]
pub struct Draft {
    bytes: Vec<u8>,
    kind: Kind,
    entries: u32,
}

/// Calls something with the width of a cell as a constant: copies of a fixed length are single instructions.
macro_rules! by_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            _ => $function::<8>($($argument),*),
        }
    };
}

fn put_cells<const WIDTH: usize>(cells: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
    for cell in cells {
        let cell = cell.to_le_bytes();
        bytes.extend_from_slice(cell.first_chunk::<WIDTH>().expect("a cell has at most eight bytes"));
    }
}

fn take_cells<const WIDTH: usize>(column: &[u8], take: &mut impl FnMut(u64)) {
    for bytes in column.as_chunks::<WIDTH>().0 {
        let mut cell = [0; 8];
        cell[..WIDTH].copy_from_slice(bytes);
        take(u64::from_le_bytes(cell));
    }
}

/// Appends the cells of a column of this width to the bytes of a record.
#[inline]
fn append(width: usize, cells: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
    by_width!(width, put_cells(cells, bytes));
}

/// Shows the cells of a column of this width.
#[inline]
pub fn cells(width: usize, column: &[u8], mut take: impl FnMut(u64)) {
    by_width!(width, take_cells(column, &mut take));
}

impl Draft {
    fn new(kind: Kind, entries: usize, payload_bytes: usize) -> Self {
        debug_assert!(entries <= ENTRIES_MAX);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload_bytes);
        bytes.resize(HEADER_BYTES, 0);
        Self { bytes, kind, entries: entries as u32 }
    }

    /// Sets these keys to these values; as many of one as of the other.
    pub fn put<K: Key, V: Value>(columns: &impl Columns<K, V>, keys: &[K], values: &[V]) -> Self {
        let [key, value] = columns.types().map(DataType::width_bytes);
        let mut draft = Self::new(Kind::Put, keys.len(), keys.len() * (key + value));
        append(key, keys.iter().map(|&key| columns.key_to_cell(key)), &mut draft.bytes);
        append(value, values.iter().map(|&value| columns.value_to_cell(value)), &mut draft.bytes);
        draft
    }

    /// Removes these keys.
    pub fn remove<K: Key, V: Value>(columns: &impl Columns<K, V>, keys: &[K]) -> Self {
        let width = columns.types()[0].width_bytes();
        let mut draft = Self::new(Kind::Remove, keys.len(), keys.len() * width);
        append(width, keys.iter().map(|&key| columns.key_to_cell(key)), &mut draft.bytes);
        draft
    }

    /// Removes this range.
    pub fn remove_range<K: Key, V: Value>(columns: &impl Columns<K, V>, range: &impl RangeBounds<K>) -> Self {
        let mut draft = Self::new(Kind::RemoveRange, 0, RANGE_BYTES);
        let ends = [range.start_bound(), range.end_bound()];
        draft.bytes.extend(ends.map(|end| match end {
            Bound::Unbounded => 0,
            Bound::Included(_) => 1,
            Bound::Excluded(_) => 2,
        }));
        draft.bytes.extend([0; 6]);
        for end in ends {
            let cell = match end {
                Bound::Unbounded => 0,
                Bound::Included(key) | Bound::Excluded(key) => columns.key_to_cell(*key),
            };
            draft.bytes.extend(cell.to_le_bytes());
        }
        draft
    }

    /// Computes what can be computed before the record's number is known: the sum over keys and values.
    pub fn seal(mut self) -> Self {
        let sum = crc32fast::hash(&self.bytes[HEADER_BYTES..]);
        self.bytes[4..8].copy_from_slice(&sum.to_le_bytes());
        self.bytes[16..20].copy_from_slice(&self.entries.to_le_bytes());
        self.bytes[20] = self.kind as u8;
        self
    }

    /// The bytes of the record that has this number.
    pub fn numbered(&mut self, number: u64) -> &[u8] {
        self.bytes[8..16].copy_from_slice(&number.to_le_bytes());
        let sum = crc32fast::hash(&self.bytes[4..HEADER_BYTES]);
        self.bytes[..4].copy_from_slice(&sum.to_le_bytes());
        &self.bytes
    }
}

/// What a record's first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    pub number: u64,
    pub entries: usize,
    sum: u32,
}

/// Four bytes as a number.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Eight bytes as a number.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

impl Header {
    /// The header that these bytes are, or what is wrong with them.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, &'static str> {
        if u32_at(bytes, 0) != crc32fast::hash(&bytes[4..]) {
            return Err("the sum of a record's header is wrong");
        }
        let kind = match bytes[20] {
            1 => Kind::Put,
            2 => Kind::Remove,
            3 => Kind::RemoveRange,
            _ => return Err("no kind of record has this number"),
        };
        let entries = u32_at(bytes, 16) as usize;
        if entries > ENTRIES_MAX {
            return Err("a record has more entries than any that is written");
        }
        Ok(Self { kind, number: u64_at(bytes, 8), entries, sum: u32_at(bytes, 4) })
    }

    /// How many bytes follow.
    pub fn payload_bytes(&self, types: [DataType; 2]) -> usize {
        let [key, value] = types.map(DataType::width_bytes);
        match self.kind {
            Kind::Put => self.entries * (key + value),
            Kind::Remove => self.entries * key,
            Kind::RemoveRange => RANGE_BYTES,
        }
    }

    /// Whether these are the bytes that follow.
    pub fn has(&self, payload: &[u8]) -> bool {
        crc32fast::hash(payload) == self.sum
    }
}

/// The range of a [`Kind::RemoveRange`], or what is wrong with it.
pub fn range<K: Key, V: Value>(
    columns: &impl Columns<K, V>,
    payload: &[u8],
) -> Result<(Bound<K>, Bound<K>), &'static str> {
    let key = |at| columns.key_of_cell(u64_at(payload, at)).ok_or("an end of a range is no key");
    let end = |kind: u8, at: usize| match kind {
        0 => Ok(Bound::Unbounded),
        1 => Ok(Bound::Included(key(at)?)),
        2 => Ok(Bound::Excluded(key(at)?)),
        _ => Err("no end of a range is of this kind"),
    };
    Ok((end(payload[0], 8)?, end(payload[1], 16)?))
}

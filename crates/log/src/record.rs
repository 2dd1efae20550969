//! The encoding of changes as records. See "The log's bytes" in the [crate's head](crate).

use crate::columns::Columns;
use latchless::bytes::{KEY_LEN_MAX, VALUE_LEN_MAX};
use latchless::snapshot::DataType;
use latchless::{Key, Value};
use std::ops::{Bound, RangeBounds};

/// Bytes before a record's keys and values.
pub const HEADER_BYTES: usize = Format::NOW.header_bytes();
/// The most entries of a record. Larger batches are several.
pub const ENTRIES_MAX: usize = 1 << 20;
/// In the place of a length of two bytes: four bytes follow, which are the length.
pub const LONG: u16 = u16::MAX;
/// A record of strings ends with the entry that reaches so many bytes. A larger batch is several.
pub const STRING_BYTES: usize = 1 << 26;
/// The most bytes of a record of strings: it may end with the largest entry.
const STRING_BYTES_MAX: usize = STRING_BYTES + KEY_LEN_MAX + VALUE_LEN_MAX + 2 * (2 + 4);
/// The most bytes of a commit of a versioned index, which is one record.
pub const COMMIT_BYTES_MAX: usize = 1 << 30;
/// Bytes of the ends of a range.
const RANGE_BYTES: usize = 24;

/// Refuses a key that is too long, before anything is logged.
pub fn check_length(key: &[u8]) -> latchless::Result<()> {
    match key.len() {
        ..=KEY_LEN_MAX => Ok(()),
        len => Err(latchless::Error::KeyTooLong { len, limit: KEY_LEN_MAX }),
    }
}

/// How records are written in a log of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// As of version 2: without the extent of the log that was on the disk.
    Unstamped = 2,
    /// As of version 3: each record has the number of the record up to which the log was on the disk at the
    /// time.
    Stamped = 3,
}

impl Format {
    /// The one that is written.
    pub const NOW: Self = Self::Stamped;

    /// That of a log of this version.
    pub fn of_version(version: u32) -> Option<Self> {
        [Self::Unstamped, Self::Stamped].into_iter().find(|&format| format as u32 == version)
    }

    /// Bytes before a record's keys and values.
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Unstamped => 24,
            Self::Stamped => 32,
        }
    }
}

/// The effect of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sets keys to values.
    Put = 1,
    /// Removes keys.
    Remove = 2,
    /// Removes a range of keys.
    RemoveRange = 3,
    /// The same three of keys that are strings.
    PutStrings = 4,
    RemoveStrings = 5,
    RemoveRangeOfStrings = 6,
    /// Removes rows from under keys that are strings.
    RemoveRows = 7,
    /// Makes the changes of a commit. Kind 8 is a mark.
    Commit = 9,
}

impl Kind {
    /// The largest count of a record: of entries, or, of strings, of bytes.
    fn count_max(self) -> usize {
        match self {
            Self::Put | Self::Remove | Self::RemoveRange => ENTRIES_MAX,
            Self::PutStrings | Self::RemoveStrings | Self::RemoveRangeOfStrings | Self::RemoveRows => {
                STRING_BYTES_MAX
            }
            Self::Commit => COMMIT_BYTES_MAX,
        }
    }
}

/// A record that is to be written: its bytes, with room for the header.
#[derive(Debug)]
pub struct Draft {
    bytes: Vec<u8>,
    kind: Kind,
    /// See [`Header::count`].
    count: u32,
    /// Whether it has a string of [`LONG`] bytes or more.
    is_long: bool,
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
        Self { bytes, kind, count: entries as u32, is_long: false }
    }

    /// Sets these keys to their values.
    pub fn put<K: Key, V: Value>(
        columns: &impl Columns<K, V>,
        entries: impl ExactSizeIterator<Item = (K, V)> + Clone,
    ) -> Self {
        let [key, value] = columns.types().map(DataType::width_bytes);
        let mut draft = Self::new(Kind::Put, entries.len(), entries.len() * (key + value));
        append(key, entries.clone().map(|(key, _)| columns.key_to_cell(key)), &mut draft.bytes);
        append(value, entries.map(|(_, value)| columns.value_to_cell(value)), &mut draft.bytes);
        draft
    }

    /// Removes these keys.
    pub fn remove<K: Key, V: Value>(
        columns: &impl Columns<K, V>,
        keys: impl ExactSizeIterator<Item = K>,
    ) -> Self {
        let width = columns.types()[0].width_bytes();
        let mut draft = Self::new(Kind::Remove, keys.len(), keys.len() * width);
        append(width, keys.map(|key| columns.key_to_cell(key)), &mut draft.bytes);
        draft
    }

    /// Removes this range.
    pub fn remove_range<K: Key, V: Value>(columns: &impl Columns<K, V>, range: &impl RangeBounds<K>) -> Self {
        let mut draft = Self::new(Kind::RemoveRange, 0, RANGE_BYTES);
        let ends = [range.start_bound(), range.end_bound()];
        draft.bytes.extend(ends.map(kind_of_end));
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

    /// A record of strings without any yet.
    pub fn of_strings(kind: Kind) -> Self {
        Self::new(kind, 0, 0)
    }

    /// How many bytes follow the header so far.
    pub fn payload_bytes(&self) -> usize {
        self.bytes.len() - HEADER_BYTES
    }

    /// Adds bytes as they are.
    pub fn push_raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.count = self.payload_bytes() as u32;
    }

    /// Adds a string.
    pub fn push(&mut self, string: &[u8]) {
        let short = u16::try_from(string.len()).unwrap_or(LONG);
        self.bytes.extend(short.to_le_bytes());
        if short == LONG {
            let length = u32::try_from(string.len()).expect("strings that are too long aren't logged");
            self.bytes.extend(length.to_le_bytes());
            self.is_long = true;
        }
        self.push_raw(string);
    }

    /// Adds a value of this type: as many bytes as that has, or a string.
    pub fn push_value(&mut self, value: &[u8], of: DataType) {
        match of.width_bytes() {
            0 => self.push(value),
            width => {
                assert_eq!(value.len(), width, "values of another width aren't logged");
                self.push_raw(value);
            }
        }
    }

    /// Adds the ends of a range of strings: the kind of each, and its string.
    pub fn push_range(&mut self, ends: [Bound<&[u8]>; 2]) {
        self.bytes.extend(ends.map(kind_of_end));
        for end in ends {
            let key = match end {
                Bound::Unbounded => &[],
                Bound::Included(key) | Bound::Excluded(key) => key,
            };
            self.push(key);
        }
    }

    /// Computes the sum over keys and values, which doesn't depend on the record's number.
    pub fn seal(mut self) -> Self {
        let sum = crc32fast::hash(&self.bytes[HEADER_BYTES..]);
        self.bytes[4..8].copy_from_slice(&sum.to_le_bytes());
        self.bytes[24..28].copy_from_slice(&self.count.to_le_bytes());
        self.bytes[28] = self.kind as u8;
        self.bytes[29] = self.is_long.into();
        self
    }

    /// How many bytes the record has.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the record that has this number, while those up to `synced` are on the disk.
    pub fn numbered(&mut self, number: u64, synced: u64) -> &[u8] {
        stamp(&mut self.bytes[..HEADER_BYTES], number, synced);
        &self.bytes
    }
}

/// Writes its numbers into a header, and the sum over it.
fn stamp(header: &mut [u8], number: u64, synced: u64) {
    header[8..16].copy_from_slice(&number.to_le_bytes());
    header[16..24].copy_from_slice(&synced.to_le_bytes());
    let sum = crc32fast::hash(&header[4..]);
    header[..4].copy_from_slice(&sum.to_le_bytes());
}

/// The kind of a mark, which is a header alone.
const MARK: u8 = 8;

/// A mark: it changes nothing, and has the number of the record up to which the log is on the disk. Its own
/// number is that of the record before it.
pub fn mark(number: u64, synced: u64) -> [u8; HEADER_BYTES] {
    let mut mark = [0; HEADER_BYTES];
    mark[4..8].copy_from_slice(&crc32fast::hash(&[]).to_le_bytes());
    mark[28] = MARK;
    stamp(&mut mark, number, synced);
    mark
}

/// The contents of the header of a record or mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The record's number; of a mark, that of the record before it.
    pub number: u64,
    /// The records up to this number were on the disk when it was written.
    pub synced: u64,
    /// Nothing for a mark.
    pub record: Option<Header>,
}

/// The description of a record's payload in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub number: u64,
    pub kind: Kind,
    /// How many entries it has; of strings, how many bytes follow.
    pub count: usize,
    /// Whether a length of two bytes may be [`LONG`]. Before there were such lengths, it never was.
    pub is_long: bool,
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

impl Entry {
    /// Parses an entry from as many bytes as the format has before keys and values; the error describes the
    /// damage.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, &'static str> {
        if u32_at(bytes, 0) != crc32fast::hash(&bytes[4..]) {
            return Err("the sum of a record's header is wrong");
        }
        let (synced, count) = match format {
            Format::Unstamped => (0, 16),
            Format::Stamped => (u64_at(bytes, 16), 24),
        };
        let kind = match (bytes[count + 4], format) {
            (1, _) => Kind::Put,
            (2, _) => Kind::Remove,
            (3, _) => Kind::RemoveRange,
            (4, _) => Kind::PutStrings,
            (5, _) => Kind::RemoveStrings,
            (6, _) => Kind::RemoveRangeOfStrings,
            (7, _) => Kind::RemoveRows,
            (9, Format::Stamped) => Kind::Commit,
            (MARK, Format::Stamped) => return Ok(Self { number: u64_at(bytes, 8), synced, record: None }),
            _ => return Err("no kind of record has this number"),
        };
        let is_long = bytes[count + 5] != 0;
        let count = u32_at(bytes, count) as usize;
        if count > kind.count_max() {
            return Err("a record has more entries than any that is written");
        }
        let number = u64_at(bytes, 8);
        Ok(Self {
            number,
            synced,
            record: Some(Header { number, kind, count, is_long, sum: u32_at(bytes, 4) }),
        })
    }

    /// How many bytes follow.
    pub fn payload_bytes(&self, types: [DataType; 2]) -> usize {
        self.record.map_or(0, |header| header.payload_bytes(types))
    }

    /// Whether these are the bytes that follow.
    pub fn has(&self, payload: &[u8]) -> bool {
        self.record.is_none_or(|header| crc32fast::hash(payload) == header.sum)
    }
}

impl Header {
    fn payload_bytes(&self, types: [DataType; 2]) -> usize {
        let [key, value] = types.map(DataType::width_bytes);
        match self.kind {
            Kind::Put => self.count * (key + value),
            Kind::Remove => self.count * key,
            Kind::RemoveRange => RANGE_BYTES,
            _ => self.count,
        }
    }
}

/// The range of a [`Kind::RemoveRange`]; the error describes the damage.
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

/// The code of a range's end.
fn kind_of_end<K>(end: Bound<K>) -> u8 {
    match end {
        Bound::Unbounded => 0,
        Bound::Included(_) => 1,
        Bound::Excluded(_) => 2,
    }
}

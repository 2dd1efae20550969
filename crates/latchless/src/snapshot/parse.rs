//! Parses the bytes of a file into validated columns.
//!
//! The bytes may be hostile. Each length and each offset is checked before it is used, and flatbuffers are
//! read by functions that return an error for malformed ones.

use super::batch::{Batch, END_BYTES, end};
use super::data_type::{DataType, Native, TimeUnit};
use super::directory::Directory;
use super::error::{Error, Result};
use super::layout::{
    BATCH_ROWS, CHECKSUM_NAME, COLUMNS, DIRECTORY_NAME, HEAD, HEAD_SUM_BYTES, KEY_NAME, LEN_NAME, MAGIC,
    NO_CHECKSUM, RESERVED, ROW_COLUMNS, TAIL_BYTES, VALUE_NAME, VERSION, VERSION_NAME, digits_of,
};
use super::saved_row::SavedRow;
use core::ops::Range;
use crc32fast::Hasher;
use latchless_core::base::bytes_key::BytesKey;
use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::{self, ReadAsRoot, Vector};
use std::borrow::Cow;

/// The most columns that an error names, and the most characters of a name.
const COLUMNS_NAMED_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 40;

/// The result of reading from a flatbuffer.
type Read<T> = planus::Result<T>;

/// The contents of a good file.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The columns' names.
    pub columns: [&'static str; 2],
    pub types: [DataType; 2],
    /// The type whose bytes the keys are, if they are strings.
    pub key: Option<String>,
    /// The type of the values, if their column doesn't determine it.
    pub value: Option<String>,
    pub metadata: Vec<(String, String)>,
    pub batches: Vec<Batch>,
    pub len: usize,
    /// Where the directory begins, as the footer says.
    pub directory: Option<String>,
    /// The end of the last record batch.
    pub messages_end: usize,
}

impl Parsed {
    /// The type whose bytes the keys are, if they are strings.
    pub fn key_name(&self) -> &str {
        let of_column = if self.types[0] == DataType::Utf8 { "text" } else { "bytes" };
        self.key.as_deref().unwrap_or(of_column)
    }

    /// The type of the values.
    pub fn value_name(&self) -> Cow<'_, str> {
        let of_column = || self.types[1].value_name().into();
        self.value.as_deref().map_or_else(of_column, Cow::Borrowed)
    }

    /// Refuses keys of another type, which are strings.
    pub fn check_key_name<K: BytesKey>(&self) -> Result<()> {
        let (found, asked) = (self.key_name(), K::type_name());
        if found != asked {
            return Err(Error::OtherKeyType { found: found.to_owned(), asked: asked.into() });
        }
        Ok(())
    }

    /// Refuses values of another type, where keys are strings.
    pub fn check_values<V: SavedRow>(&self) -> Result<()> {
        let (found, asked) = (self.types[1], V::COLUMN);
        if found != asked {
            return Err(Error::OtherType { column: self.columns[1], found, asked });
        }
        let (found, asked) = (self.value_name(), V::type_name());
        if found != asked {
            return Err(Error::OtherValueType { found: found.into(), asked: asked.into() });
        }
        Ok(())
    }

    /// Refuses other types than those of an index of words.
    pub fn check_numbers<K: Native, V: Native>(&self) -> Result<()> {
        let asked = [K::DATA_TYPE, V::DATA_TYPE];
        for ((column, asked), found) in self.columns.into_iter().zip(asked).zip(self.types) {
            if found != asked {
                return Err(Error::OtherType { column, found, asked });
            }
        }
        Ok(())
    }
}

/// The error for damage at a place in the file.
pub(super) fn damaged(at: usize, what: &'static str) -> Error {
    Error::Damaged { at: at as u64, what }
}

/// Reads a whole file, which has these columns.
pub fn parse(file: &[u8], columns: [&'static str; 2]) -> Result<Parsed> {
    parse_as(file, columns, None)
}

/// Reads the head of a file, which has these columns, and finds its directory. The contents of both columns
/// and of the directory may be any bytes.
pub fn parse_head(file: &[u8], columns: [&'static str; 2]) -> Result<(Parsed, Directory)> {
    let mut head = Hasher::new();
    head.update(&file[..file.len().min(HEAD.len())]);
    let parsed = parse_as(file, columns, Some(&mut head))?;
    let footer_at = find_footer(file)?;
    let Some(at) = &parsed.directory else { return Err(Error::NoDirectory) };
    let place = at.parse().ok().filter(|&at| at >= parsed.messages_end);
    let limit = footer_at.start.saturating_sub(HEAD_SUM_BYTES);
    let directory = place.and_then(|at: usize| Some((at, Directory::at(at, parsed.len, limit)?)));
    let Some((start, directory)) = directory else {
        return Err(damaged(footer_at.start, "the footer names a directory outside of its place"));
    };
    head.update(&file[parsed.messages_end..start]);
    let (text, digits) = digits_in(file, footer_at.clone())?;
    [&file[footer_at.start..digits], NO_CHECKSUM, &file[digits + text.len()..]]
        .into_iter()
        .for_each(|part| head.update(part));
    let stored = u32::from_le_bytes(file[directory.end..directory.end + 4].try_into().expect("four bytes"));
    match head.finalize() {
        found if found == stored => Ok((parsed, directory)),
        found => Err(Error::Checksum { stored, found }),
    }
}

/// Reads a file. `head`: whether only its head is read, and the checksum of that, up to the end of the last
/// record batch.
fn parse_as(file: &[u8], columns: [&'static str; 2], mut head: Option<&mut Hasher>) -> Result<Parsed> {
    let footer_at = find_footer(file)?;
    let unreadable = |_| damaged(footer_at.start, "the footer can't be read");
    let footer = ipc::FooterRef::read_as_root(&file[footer_at.clone()]).map_err(unreadable)?;
    let Some(schema) = footer.schema().map_err(unreadable)? else {
        return Err(damaged(footer_at.start, "the footer has no schema"));
    };
    let in_schema = pairs(schema.custom_metadata().map_err(unreadable)?).map_err(unreadable)?;
    let in_footer = pairs(footer.custom_metadata().map_err(unreadable)?).map_err(unreadable)?;
    // Whose file it is comes first: others have no checksum.
    check_version(&in_schema)?;
    if lookup(&in_footer, CHECKSUM_NAME).is_none() {
        // Arrow's own tools keep the schema's metadata when they write a table again, not the footer's.
        return Err(Error::Foreign {
            lacks: "its footer has no latchless.checksum; perhaps it was written again",
        });
    }
    if head.is_none() {
        check_sum(file, footer_at.clone())?;
    }
    let types = column_types(schema, columns, footer_at.start)?;
    if footer.dictionaries().map_err(unreadable)?.is_some_and(|dictionaries| !dictionaries.is_empty()) {
        return Err(damaged(footer_at.start, "there are dictionaries"));
    }
    let blocks = footer.record_batches().map_err(unreadable)?;
    let blocks: Vec<ipc::BlockRef> = blocks.map_or(Vec::new(), |blocks| blocks.iter().collect());
    let mut batches =
        Batches { file, messages: HEAD.len()..footer_at.start, columns, types, len: 0, batches: Vec::new() };
    for (batch, block) in blocks.iter().enumerate() {
        batches.add(batch, batch + 1 == blocks.len(), block, head.as_deref_mut())?;
    }
    let stored = lookup(&in_footer, LEN_NAME).unwrap_or_default();
    if stored != batches.len.to_string() {
        return Err(Error::Len { stored: stored.to_owned(), found: batches.len as u64 });
    }
    let [key, value] = [KEY_NAME, VALUE_NAME].map(|name| lookup(&in_schema, name).map(str::to_owned));
    let own: Pairs = in_schema.into_iter().filter(|(name, _)| !name.starts_with(RESERVED)).collect();
    // A flatbuffer may refer to one text many times, and so be much larger when it is copied.
    if own.iter().map(|(name, text)| name.len() + text.len()).sum::<usize>() > footer_at.len() {
        return Err(damaged(footer_at.start, "the metadata is longer than the footer"));
    }
    let metadata = own.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    let directory = lookup(&in_footer, DIRECTORY_NAME).map(str::to_owned);
    let messages_end = batches.messages.start;
    Ok(Parsed {
        columns,
        types,
        key,
        value,
        metadata,
        len: batches.len,
        directory,
        messages_end,
        batches: batches.batches,
    })
}

/// Where the footer is.
fn find_footer(file: &[u8]) -> Result<Range<usize>> {
    if !file.starts_with(MAGIC) {
        return Err(Error::NotArrow);
    }
    if file.len() < HEAD.len() + TAIL_BYTES || !file.ends_with(MAGIC) {
        return Err(Error::NoEnd);
    }
    let end = file.len() - TAIL_BYTES;
    let footer_bytes = u32::from_le_bytes(file[end..end + 4].try_into().expect("four bytes"));
    match end.checked_sub(footer_bytes as usize) {
        Some(start) if start >= HEAD.len() => Ok(start..end),
        _ => Err(damaged(end, "the footer is said to be longer than the file")),
    }
}

type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Names and texts of a flatbuffer's metadata.
fn pairs<'a>(metadata: Option<Vector<'a, Read<ipc::KeyValueRef<'a>>>>) -> Read<Pairs<'a>> {
    let mut pairs = Vec::new();
    for pair in metadata.iter().flat_map(|metadata| metadata.iter()) {
        let pair = pair?;
        pairs.push((pair.key()?.unwrap_or_default(), pair.value()?.unwrap_or_default()));
    }
    Ok(pairs)
}

fn lookup<'a>(pairs: &Pairs<'a>, name: &str) -> Option<&'a str> {
    pairs.iter().find(|(there, _)| *there == name).map(|&(_, text)| text)
}

fn check_version(in_schema: &Pairs) -> Result<()> {
    match lookup(in_schema, VERSION_NAME) {
        Some(VERSION) => Ok(()),
        Some(other) => Err(Error::Version { found: other.to_owned() }),
        None => Err(Error::Foreign { lacks: "its schema has no latchless.version" }),
    }
}

/// The digits of the checksum, and where they are in the file.
fn digits_in(file: &[u8], footer_at: Range<usize>) -> Result<(&[u8], usize)> {
    let Some(digits) = digits_of(&file[footer_at.clone()]) else {
        return Err(damaged(footer_at.start, "the footer's checksum has no digits"));
    };
    let digits = footer_at.start + digits;
    Ok((&file[digits..digits + NO_CHECKSUM.len()], digits))
}

/// Compares the file with the checksum in its footer. After this it is intact, or maliciously made.
fn check_sum(file: &[u8], footer_at: Range<usize>) -> Result<()> {
    let (text, digits) = digits_in(file, footer_at)?;
    let (before, after) = (&file[..digits], &file[digits + text.len()..]);
    let digit = |&byte: &u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let Some(stored) = text.iter().try_fold(0, |so_far, byte| Some(so_far << 4 | digit(byte)?)) else {
        return Err(damaged(digits, "the checksum isn't a number"));
    };
    let mut checksum = Hasher::new();
    [before, NO_CHECKSUM, after].into_iter().for_each(|part| checksum.update(part));
    let found = checksum.finalize();
    if found == stored { Ok(()) } else { Err(Error::Checksum { stored, found }) }
}

/// The types of these columns.
fn column_types(schema: ipc::SchemaRef, columns: [&'static str; 2], at: usize) -> Result<[DataType; 2]> {
    let unreadable = |_| damaged(at, "the schema can't be read");
    if schema.endianness().map_err(unreadable)? != ipc::Endianness::Little {
        return Err(damaged(at, "the columns are big-endian"));
    }
    let fields = schema.fields().map_err(unreadable)?;
    let fields: Vec<ipc::FieldRef> = fields
        .iter()
        .flat_map(|fields| fields.iter())
        .take(COLUMNS_NAMED_MAX)
        .collect::<Read<_>>()
        .map_err(unreadable)?;
    let names: Vec<&str> = fields
        .iter()
        .map(|field| Ok(field.name()?.unwrap_or_default()))
        .collect::<Read<_>>()
        .map_err(unreadable)?;
    let kinds = [(COLUMNS, "snapshot::open or snapshot::strings"), (ROW_COLUMNS, "snapshot::multi")];
    if let Some((_, opener)) = kinds.into_iter().find(|(theirs, _)| names == theirs && *theirs != columns) {
        return Err(Error::OtherRows { opener });
    }
    if names != columns {
        let shown = names.iter().map(|name| name.chars().take(NAME_CHARS_MAX).collect());
        let shown: Vec<String> = shown.collect();
        return Err(Error::Columns {
            found: if shown.is_empty() { "none".to_owned() } else { shown.join(", ") },
            asked: columns,
        });
    }
    let type_of = |column: usize, fits: &dyn Fn(DataType) -> bool| {
        let field = fields[column];
        let encoded = field.dictionary().map_err(unreadable)?.is_some();
        let arrow = field.type_().map_err(unreadable)?;
        let known =
            if encoded { None } else { arrow.map(data_type).transpose().map_err(unreadable)?.flatten() };
        known.filter(|&known| fits(known)).ok_or_else(|| Error::UnknownType {
            column: columns[column],
            found: if encoded { "dictionary".to_owned() } else { name_of(arrow) },
        })
    };
    let key = type_of(0, &|key| key.is_number() || key.is_string())?;
    let value = type_of(1, &|value| value.is_number() || key.is_string() && value.is_value())?;
    Ok([key, value])
}

/// Arrow's name of a type, without its parameters.
fn name_of(arrow: Option<ipc::TypeRef>) -> String {
    let Some(arrow) = arrow else { return "none".to_owned() };
    // All are tuples of one field: `Utf8(…)`.
    format!("{arrow:?}").split('(').next().unwrap_or_default().to_owned()
}

/// The type of a column; `None` if no snapshot has it.
fn data_type(arrow: ipc::TypeRef) -> Read<Option<DataType>> {
    Ok(match arrow {
        ipc::TypeRef::Int(int) => match (int.is_signed()?, int.bit_width()?) {
            (false, 8) => Some(DataType::UInt8),
            (false, 16) => Some(DataType::UInt16),
            (false, 32) => Some(DataType::UInt32),
            (false, 64) => Some(DataType::UInt64),
            (true, 8) => Some(DataType::Int8),
            (true, 16) => Some(DataType::Int16),
            (true, 32) => Some(DataType::Int32),
            (true, 64) => Some(DataType::Int64),
            _ => None,
        },
        ipc::TypeRef::FloatingPoint(float) => match float.precision()? {
            ipc::Precision::Half => None,
            ipc::Precision::Single => Some(DataType::Float32),
            ipc::Precision::Double => Some(DataType::Float64),
        },
        ipc::TypeRef::Timestamp(time) if time.timezone()?.is_none() => {
            Some(DataType::Timestamp(time.unit()?.into()))
        }
        ipc::TypeRef::Duration(duration) => Some(DataType::Duration(duration.unit()?.into())),
        ipc::TypeRef::Binary(_) => Some(DataType::Binary),
        ipc::TypeRef::Utf8(_) => Some(DataType::Utf8),
        ipc::TypeRef::FixedSizeBinary(binary) => {
            u8::try_from(binary.byte_width()?).ok().map(DataType::FixedSizeBinary)
        }
        _ => None,
    })
}

impl From<ipc::TimeUnit> for TimeUnit {
    fn from(unit: ipc::TimeUnit) -> Self {
        match unit {
            ipc::TimeUnit::Second => Self::Second,
            ipc::TimeUnit::Millisecond => Self::Millisecond,
            ipc::TimeUnit::Microsecond => Self::Microsecond,
            ipc::TimeUnit::Nanosecond => Self::Nanosecond,
        }
    }
}

/// The record batches so far.
struct Batches<'a> {
    file: &'a [u8],
    /// Where the next message and its body may be: batches follow each other, so no byte counts twice.
    messages: Range<usize>,
    columns: [&'static str; 2],
    types: [DataType; 2],
    /// Rows so far.
    len: usize,
    batches: Vec<Batch>,
}

/// The `bytes` at `offset` within the range `within`, as a range of the file.
fn part_of(within: &Range<usize>, offset: i64, bytes: i64) -> Option<Range<usize>> {
    let start = within.start.checked_add(usize::try_from(offset).ok()?)?;
    let end = start.checked_add(usize::try_from(bytes).ok()?)?;
    (end <= within.end).then_some(start..end)
}

impl Batches<'_> {
    /// Takes in the next batch.
    fn add(
        &mut self,
        batch: usize,
        is_last: bool,
        block: &ipc::BlockRef,
        head: Option<&mut Hasher>,
    ) -> Result<()> {
        let from_start = 0..self.messages.end;
        let metadata = part_of(&from_start, block.offset(), block.meta_data_length().into());
        let Some(metadata) = metadata.filter(|place| place.start >= self.messages.start && place.len() >= 8)
        else {
            return Err(damaged(self.messages.end, "the footer names a record batch outside of its place"));
        };
        let Some(body) = part_of(&(metadata.end..self.messages.end), 0, block.body_length()) else {
            return Err(damaged(metadata.start, "a record batch is longer than the file"));
        };
        let unreadable = |_| damaged(metadata.start, "a record batch can't be read");
        let message = ipc::MessageRef::read_as_root(&self.file[metadata.start + 8..metadata.end])
            .map_err(unreadable)?;
        let Some(ipc::MessageHeaderRef::RecordBatch(header)) = message.header().map_err(unreadable)? else {
            return Err(damaged(metadata.start, "there is something else where a record batch should be"));
        };
        if header.compression().map_err(unreadable)?.is_some() {
            return Err(Error::Compressed { batch });
        }
        let found = header.length().map_err(unreadable)?;
        // Strings are read one after the other, so their batches may have any number of rows.
        let may_be_few = is_last || self.types[0].is_string();
        let least = if may_be_few { 1 } else { BATCH_ROWS };
        let rows = usize::try_from(found).ok().filter(|rows| (least..=BATCH_ROWS).contains(rows));
        let Some(rows) = rows else {
            return Err(Error::Rows { batch, found, expected: BATCH_ROWS as u64 });
        };
        let (starts, lens) = self.parts(batch, metadata.start, header, body.clone(), head.is_none())?;
        if let Some(head) = head {
            head.update(&self.file[self.messages.start..metadata.end]);
        }
        self.batches.push(Batch { rows, starts, lens });
        self.len += rows;
        self.messages.start = body.end;
        Ok(())
    }

    /// Where the parts of a batch's columns begin, and how long they are. `all`: whether the ends of all
    /// strings are checked.
    fn parts(
        &self,
        batch: usize,
        at: usize,
        header: ipc::RecordBatchRef,
        body: Range<usize>,
        all: bool,
    ) -> Result<([usize; 4], [usize; 4])> {
        let unreadable = |_| damaged(at, "a record batch can't be read");
        let found = header.length().map_err(unreadable)?;
        let rows = found as usize;
        let nodes = header.nodes().map_err(unreadable)?;
        let buffers = header.buffers().map_err(unreadable)?;
        let (Some(nodes), Some(buffers)) = (nodes, buffers) else {
            return Err(damaged(at, "a record batch without columns"));
        };
        let (mut starts, mut lens, mut part, mut buffer) = ([0; 4], [0; 4], 0, 0);
        for (column, name) in self.columns.into_iter().enumerate() {
            let Some(node) = nodes.get(column) else {
                return Err(damaged(at, "a record batch with too few columns"));
            };
            if node.null_count() != 0 {
                return Err(Error::Nulls { column: name, batch, count: node.null_count() });
            }
            let data_type = self.types[column];
            let mut wanted = match data_type.is_string() {
                true => END_BYTES * (rows + 1),
                false => rows * data_type.width_bytes(),
            };
            buffer += 1; // That of the nulls.
            for number in 0..data_type.parts() {
                let Some(place) = buffers.get(buffer) else {
                    return Err(damaged(at, "a record batch with too few columns"));
                };
                let there = part_of(&body, place.offset(), place.length());
                let Some(there) = there.filter(|there| node.length() == found && there.len() == wanted)
                else {
                    return Err(damaged(at, "a record batch's column is of another length"));
                };
                if number + 1 < data_type.parts() {
                    wanted = self.bytes_of_strings(there.clone(), all)?;
                }
                (starts[part], lens[part]) = (there.start, there.len());
                (part, buffer) = (part + 1, buffer + 1);
            }
        }
        Ok((starts, lens))
    }

    /// How many bytes the strings have whose ends are there: `all` of these are in order, or may be.
    fn bytes_of_strings(&self, ends_at: Range<usize>, all: bool) -> Result<usize> {
        let mut ends = self.file[ends_at.clone()].chunks_exact(END_BYTES).map(end);
        let bytes = match all {
            true => ends.clone().try_fold(0, |before, end| (before <= end).then_some(end)),
            false => ends.clone().next_back(),
        };
        match (ends.next(), bytes) {
            (Some(0), Some(bytes)) => Ok(bytes),
            _ => Err(damaged(ends_at.start, "strings don't follow each other")),
        }
    }
}

//! The framing of an Arrow IPC file: the contents and the length of each part that is no column.
//!
//! ```text
//! ARROW1 and two zero bytes
//! message: the schema, with latchless.version and the caller's metadata
//! message: a record batch of up to 2^20 rows; its body: the keys, then the values. A column of strings is
//!    two parts: where each begins and the last one ends, in 32 bits each, and their bytes
//!    ⋮
//! message: the end
//! directory: some of the keys, if the rows are sorted ([`directory`](super::directory)); the head's checksum
//! footer: the schema again, where each batch lies, latchless.len, latchless.checksum,
//!    latchless.directory
//! the footer's length, 4 bytes; ARROW1
//! ```
//! A message is `ff ff ff ff`, the length of its metadata, the metadata (a flatbuffer) and zeros up to the
//! next multiple of [`ALIGNMENT`]. Each column is padded with zeros in the same way, so in a file that is
//! mapped into memory each column begins at a cache line.
//!
//! The count and the checksum aren't known before all entries have been written, because other threads may
//! change the index meanwhile. So they are in the footer's own metadata, and the file is written
//! sequentially.
//!
//! The head is all of a file but the bodies of its record batches and the directory: the part that is read
//! when a file is mapped. It has a checksum of its own, the four bytes after the directory, for which the
//! digits of the file's checksum count as zeros as well.

use super::data_type::{DataType, TimeUnit};
use super::error::{Error, Result};
use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::Builder;

/// The version of the format, as files have it in their metadata.
pub const VERSION: &str = "1";
/// The first and the last bytes of an Arrow file.
pub const MAGIC: &[u8; 6] = b"ARROW1";
/// How the first message begins: the magic bytes, up to a multiple of eight.
pub const HEAD: &[u8; 8] = b"ARROW1\0\0";
/// Bytes after the footer: its length, and the magic bytes.
pub const TAIL_BYTES: usize = 4 + MAGIC.len();
/// Columns and messages begin at multiples of this.
pub const ALIGNMENT: usize = 64;
/// Rows of every record batch but the last, which may have fewer: log2.
pub const BATCH_ROWS_LOG2: u32 = 20;
/// Rows of every record batch but the last.
pub const BATCH_ROWS: usize = 1 << BATCH_ROWS_LOG2;
/// A record batch of strings ends before the row that would take its keys or its values beyond this.
pub const BATCH_BYTES: usize = 1 << 24;
/// The names of the columns: of an index,
pub const COLUMNS: [&str; 2] = ["key", "value"];
/// and of one whose keys are in many rows.
pub const ROW_COLUMNS: [&str; 2] = ["key", "row"];
/// The prefix of the names of this library's metadata.
pub const RESERVED: &str = "latchless.";
/// In the schema: the version of the format.
pub const VERSION_NAME: &str = "latchless.version";
/// In the schema, where keys are strings: the type whose bytes they are.
pub const KEY_NAME: &str = "latchless.key";
/// In the schema: the type of the values, if their column doesn't determine it.
pub const VALUE_NAME: &str = "latchless.value";
/// In the footer: the number of entries.
pub const LEN_NAME: &str = "latchless.len";
/// In the footer: the checksum of the file.
pub const CHECKSUM_NAME: &str = "latchless.checksum";
/// In the footer: the byte at which the directory begins.
pub const DIRECTORY_NAME: &str = "latchless.directory";
/// Bytes after the directory: the head's checksum, and zeros.
pub const HEAD_SUM_BYTES: usize = 8;
/// The marker right before the checksum's digits, which occurs nowhere else in a footer: so they are found
/// without parsing anything that may be damaged.
pub const CHECKSUM_MARK: &[u8] = b"crc32=";
/// The digits that the checksum is computed with.
pub const NO_CHECKSUM: &[u8; 8] = b"00000000";
/// The end of the messages.
pub const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// The next multiple of [`ALIGNMENT`].
pub fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

/// A file's statements about itself as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The columns' names.
    pub columns: [&'static str; 2],
    /// The columns' types.
    pub types: [DataType; 2],
    /// The type whose bytes the keys are, if they are strings.
    pub key: Option<String>,
    /// The type of the values, if their column doesn't determine it.
    pub value: Option<String>,
    /// The caller's metadata.
    pub metadata: Vec<(String, String)>,
}

fn pair(key: &str, value: &str) -> ipc::KeyValue {
    ipc::KeyValue { key: Some(key.to_owned()), value: Some(value.to_owned()) }
}

impl From<TimeUnit> for ipc::TimeUnit {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Second => Self::Second,
            TimeUnit::Millisecond => Self::Millisecond,
            TimeUnit::Microsecond => Self::Microsecond,
            TimeUnit::Nanosecond => Self::Nanosecond,
        }
    }
}

/// A type as Arrow's schema has it.
fn arrow_type(data_type: DataType) -> ipc::Type {
    let bit_width = 8 * data_type.width_bytes() as i32;
    let int = |is_signed| ipc::Type::Int(Box::new(ipc::Int { bit_width, is_signed }));
    let float = |precision| ipc::Type::FloatingPoint(Box::new(ipc::FloatingPoint { precision }));
    match data_type {
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => int(false),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => int(true),
        DataType::Float32 => float(ipc::Precision::Single),
        DataType::Float64 => float(ipc::Precision::Double),
        DataType::Timestamp(unit) => {
            ipc::Type::Timestamp(Box::new(ipc::Timestamp { unit: unit.into(), timezone: None }))
        }
        DataType::Duration(unit) => ipc::Type::Duration(Box::new(ipc::Duration { unit: unit.into() })),
        DataType::Binary => ipc::Type::Binary(Box::default()),
        DataType::Utf8 => ipc::Type::Utf8(Box::default()),
        DataType::FixedSizeBinary(bytes) => {
            ipc::Type::FixedSizeBinary(Box::new(ipc::FixedSizeBinary { byte_width: bytes.into() }))
        }
    }
}

impl About {
    /// Of columns of these types, of which nothing more is known.
    pub fn new(types: [DataType; 2]) -> Self {
        Self { columns: COLUMNS, types, key: None, value: None, metadata: Vec::new() }
    }

    /// The schema.
    fn schema(&self) -> ipc::Schema {
        let field = |(name, data_type): (&str, DataType)| ipc::Field {
            name: Some(name.to_owned()),
            type_: Some(arrow_type(data_type)),
            children: Some(Vec::new()),
            ..ipc::Field::default()
        };
        let version = pair(VERSION_NAME, VERSION);
        let names = self.key.iter().map(|key| pair(KEY_NAME, key));
        let names = names.chain(self.value.iter().map(|value| pair(VALUE_NAME, value)));
        let own = self.metadata.iter().map(|(name, text)| pair(name, text));
        ipc::Schema {
            fields: Some(self.columns.into_iter().zip(self.types).map(field).collect()),
            custom_metadata: Some(std::iter::once(version).chain(names).chain(own).collect()),
            ..ipc::Schema::default()
        }
    }

    /// The first message of the file, which begins right after [`HEAD`].
    pub fn opening(&self) -> Vec<u8> {
        message(HEAD.len(), ipc::MessageHeader::Schema(Box::new(self.schema())), 0)
    }

    /// The message of a record batch whose columns have parts of this many bytes.
    pub fn batch(&self, rows: usize, mut part_bytes: impl Iterator<Item = usize>) -> Vec<u8> {
        let node = ipc::FieldNode { length: rows as i64, null_count: 0 };
        let (mut buffers, mut body) = (Vec::new(), 0);
        let mut push = |body: usize, bytes: usize| {
            buffers.push(ipc::Buffer { offset: body as i64, length: bytes as i64 });
        };
        for data_type in self.types {
            // Each column has an empty buffer for its nulls.
            push(body, 0);
            for bytes in part_bytes.by_ref().take(data_type.parts()) {
                push(body, bytes);
                body += aligned(bytes);
            }
        }
        let batch = ipc::RecordBatch {
            length: rows as i64,
            nodes: Some(vec![node; 2]),
            buffers: Some(buffers),
            ..ipc::RecordBatch::default()
        };
        message(0, ipc::MessageHeader::RecordBatch(Box::new(batch)), body)
    }

    /// All that comes after the last message, with [`NO_CHECKSUM`], and where those digits are in it.
    pub fn closing(
        &self,
        blocks: Vec<ipc::Block>,
        len: u64,
        directory: Option<u64>,
    ) -> Result<(Vec<u8>, usize)> {
        let mut checksum = CHECKSUM_MARK.to_vec();
        checksum.extend(NO_CHECKSUM);
        let mut metadata =
            vec![pair(LEN_NAME, &len.to_string()), pair(CHECKSUM_NAME, &String::from_utf8_lossy(&checksum))];
        metadata.extend(directory.map(|at| pair(DIRECTORY_NAME, &at.to_string())));
        let footer = ipc::Footer {
            version: ipc::MetadataVersion::V5,
            schema: Some(Box::new(self.schema())),
            dictionaries: Some(Vec::new()),
            record_batches: Some(blocks),
            custom_metadata: Some(metadata),
        };
        let mut closing = Builder::new().finish(footer, None).to_vec();
        let digits = digits_of(&closing).expect("the footer has just been given it");
        let footer_bytes = closing.len() as i32;
        closing.extend(footer_bytes.to_le_bytes());
        closing.extend(MAGIC);
        Ok((closing, digits))
    }

    /// Refuses metadata that would be taken for this library's own, and types that columns can't have.
    pub fn check(&self) -> Result<()> {
        let [key, value] = self.types;
        let fits = match self.key {
            Some(_) => [key.is_string(), value.is_value()],
            None => [key.is_number(), value.is_number()],
        };
        if let Some(column) = fits.iter().position(|fits| !fits) {
            return Err(Error::UnknownType {
                column: self.columns[column],
                found: self.types[column].to_string(),
            });
        }
        let mark = |text: &str| find_mark(text.as_bytes()).is_some();
        let own = |(name, text): &&(String, String)| name.starts_with(RESERVED) || mark(name) || mark(text);
        match self.metadata.iter().find(own) {
            Some((name, _)) => Err(Error::Reserved { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// Where the mark of the checksum is for the last time.
fn find_mark(bytes: &[u8]) -> Option<usize> {
    bytes.windows(CHECKSUM_MARK.len()).rposition(|bytes| bytes == CHECKSUM_MARK)
}

/// Where the digits of the checksum are in a footer.
pub fn digits_of(footer: &[u8]) -> Option<usize> {
    let mark = find_mark(footer)?;
    let digits = mark + CHECKSUM_MARK.len();
    (digits + NO_CHECKSUM.len() <= footer.len()).then_some(digits)
}

/// A message whose body, or the next message, is aligned if it begins `before` bytes after an aligned place.
fn message(before: usize, header: ipc::MessageHeader, body_bytes: usize) -> Vec<u8> {
    let message = ipc::Message {
        version: ipc::MetadataVersion::V5,
        header: Some(header),
        body_length: body_bytes as i64,
        custom_metadata: None,
    };
    let mut builder = Builder::new();
    let metadata = builder.finish(message, None);
    let bytes = aligned(before + 8 + metadata.len()) - before;
    let mut written = vec![0xff; 4];
    written.extend((bytes as i32 - 8).to_le_bytes());
    written.extend(metadata);
    written.resize(bytes, 0);
    written
}

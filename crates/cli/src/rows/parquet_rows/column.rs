//! The cells of a column, in chunks, as texts.

use super::cell::Meaning;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};

/// A column of values, of which each row has one or none.
pub struct Cells {
    reader: ColumnReader,
    meaning: Meaning,
}

impl Cells {
    /// The cells of a reader, with their meaning.
    pub fn new(reader: ColumnReader, meaning: Meaning) -> Self {
        Self { reader, meaning }
    }

    /// The cells of the next rows, `None` for null.
    ///
    /// # Errors
    /// There are fewer, or they can't be decoded.
    pub fn read(&mut self, rows: usize) -> Result<Vec<Option<String>>> {
        let meaning = self.meaning;
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, rows, |value| Ok(value.to_string())),
            ColumnReader::Int32ColumnReader(reader) => {
                read(reader, rows, |&value| Ok(meaning.of_integer(value.into(), value as u32 as u64)))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                read(reader, rows, |&value| Ok(meaning.of_integer(value, value as u64)))
            }
            ColumnReader::Int96ColumnReader(reader) => {
                read(reader, rows, |value| Ok(meaning.of_int96(value)))
            }
            // The shortest form that is read as the same number.
            ColumnReader::FloatColumnReader(reader) => read(reader, rows, |value| Ok(format!("{value:?}"))),
            ColumnReader::DoubleColumnReader(reader) => read(reader, rows, |value| Ok(format!("{value:?}"))),
            ColumnReader::ByteArrayColumnReader(reader) => {
                read(reader, rows, |value| meaning.of_bytes(value.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(reader, rows, |value| meaning.of_bytes(value.data()))
            }
        }
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    shown: impl Fn(&T::T) -> Result<String>,
) -> Result<Vec<Option<String>>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, ..) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if records != rows {
        return Err(too_short());
    }
    if levels.is_empty() {
        // No row lacks a value.
        return values.iter().map(|value| shown(value).map(Some)).collect();
    }
    let mut values = values.iter();
    let cell = |level| match level {
        0 => Ok(None),
        _ => values.next().ok_or_else(too_short).and_then(&shown).map(Some),
    };
    levels.into_iter().map(cell).collect()
}

/// The error of a column that ends before its rows do.
pub fn too_short() -> ParquetError {
    ParquetError::General("a column has fewer cells than there are rows".to_owned())
}

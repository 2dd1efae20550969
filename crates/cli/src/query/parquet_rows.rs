//! A Parquet file's rows as the text that they would be in CSV, so that one path serves both.
//!
//! This costs a pass over the text that a reader of columns wouldn't make. What a query needs after
//! it, keys and single rows by number, is the same.

use super::source::Wanted;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use std::panic::{self, AssertUnwindSafe};

/// The rows of a Parquet file after a header, as [`rows`] writes them.
///
/// The reader panics on some damaged files. Bad input is no bug, so a panic ends here, without
/// the message that it would print, and is an error like any other.
///
/// # Errors
/// When the file is damaged or uses what the reader doesn't know.
pub fn to_csv(bytes: Vec<u8>, wanted: Wanted) -> Result<String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    // Nothing that the reader holds is seen again after a panic.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| rows(bytes, wanted)));
    panic::set_hook(hook);
    outcome.unwrap_or_else(|_| Err(ParquetError::General("the file is damaged".to_owned())))
}

/// The rows of a Parquet file after a header. Values that a cell has no form for, such as lists,
/// are written as for people; null is an empty cell.
fn rows(bytes: Vec<u8>, wanted: Wanted) -> Result<String> {
    let file = SerializedFileReader::new(Bytes::from(bytes))?;
    let schema = file.metadata().file_metadata().schema();
    let chosen = chosen(schema, wanted)?;
    let mut writer = csv::WriterBuilder::new().delimiter(wanted.delimiter).from_writer(Vec::new());
    if wanted.header {
        writer.write_record(chosen.get_fields().iter().map(|field| field.name())).map_err(external)?;
    }
    for row in file.get_row_iter(Some(chosen))? {
        for (_, field) in row?.into_columns() {
            writer.write_field(cell(field)).map_err(external)?;
        }
        writer.write_record(None::<&[u8]>).map_err(external)?;
    }
    let bytes = writer.into_inner().map_err(|error| external(error.into_error()))?;
    String::from_utf8(bytes).map_err(external)
}

/// The schema, cut to the columns that are needed if all of them are there. If they aren't, the code that
/// looks for them names the ones there are.
fn chosen(schema: &Type, wanted: Wanted) -> Result<Type> {
    let all = schema.get_fields();
    let needed = |names: [&str; 2]| {
        let fields: Vec<_> = all.iter().filter(|field| names.contains(&field.name())).cloned().collect();
        names.iter().all(|name| fields.iter().any(|field| field.name() == *name)).then_some(fields)
    };
    let fields = wanted.columns.and_then(needed).unwrap_or_else(|| all.to_vec());
    Type::group_type_builder(schema.name()).with_fields(fields).build()
}

fn cell(field: Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text,
        // The shortest form that reads back as the same number.
        Field::Float(number) => format!("{number:?}"),
        Field::Double(number) => format!("{number:?}"),
        Field::Date(stored) | Field::TimeMillis(stored) => stored.to_string(),
        Field::TimeMicros(stored) | Field::TimestampMillis(stored) | Field::TimestampMicros(stored) => {
            stored.to_string()
        }
        other => other.to_string(),
    }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use proptest::prelude::*;
    use std::sync::Arc;

    const ALL: Wanted = Wanted { delimiter: b',', header: true, columns: None };

    /// Three rows of a key, a name that may be missing and a weight.
    fn file() -> Vec<u8> {
        let schema = "message m { required int64 k; optional binary name (utf8); required double w; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[-3, 5, 5], None, None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let names = [ByteArray::from("a,\"b\""), ByteArray::from("c")];
        column.typed::<ByteArrayType>().write_batch(&names, Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[0.5, 1e300, -2.0], None, None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn rows_come_out_as_csv() {
        let text = to_csv(file(), ALL).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["k,name,w", "-3,\"a,\"\"b\"\"\",0.5"]);
        assert_eq!(lines[2..], ["5,,1e300", "5,c,-2.0"]);
    }

    #[test]
    fn columns_that_nobody_needs_are_left_out_unless_one_is_missing() {
        let only = |columns| to_csv(file(), Wanted { columns: Some(columns), ..ALL }).unwrap();
        assert_eq!(only(["k", "name"]), "k,name\n-3,\"a,\"\"b\"\"\"\n5,\n5,c\n");
        assert_eq!(only(["k", "k"]), "k\n-3\n5\n5\n");
        assert!(only(["k", "x"]).starts_with("k,name,w\n"));
    }

    #[test]
    fn a_file_that_breaks_off_is_refused() {
        let whole = file();
        for length in 0..whole.len() {
            assert!(to_csv(whole[..length].to_vec(), ALL).is_err(), "{length} bytes");
        }
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(at: prop::sample::Index, byte: u8, and_at: prop::sample::Index) {
            let mut bytes = file();
            let (at, and_at) = (at.index(bytes.len()), and_at.index(bytes.len()));
            bytes[at] = byte;
            bytes[and_at] ^= 0x80;
            let _ = to_csv(bytes, ALL);
        }
    }
}

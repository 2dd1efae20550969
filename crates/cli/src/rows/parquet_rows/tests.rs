//! Parquet files as text: all types exactly, nulls, damaged files.

use super::*;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use std::sync::Arc;

const ALL: How = How {
    delimiter: None,
    encoding: None,
    is_ragged: false,
    is_named: true,
    says_guesses: false,
    columns: None,
    names: None,
};

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
    let (text, _) = to_csv(file(), ALL).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["k,name,w", "-3,\"a,\"\"b\"\"\",0.5"]);
    assert_eq!(lines[2..], ["5,,1e300", "5,c,-2.0"]);
}

#[test]
fn columns_that_nobody_needs_are_left_out_unless_one_is_missing() {
    let only = |columns| to_csv(file(), How { columns: Some(columns), ..ALL }).unwrap().0;
    assert_eq!(only(["k", "name"]), "k,name\n-3,\"a,\"\"b\"\"\"\n5,\n5,c\n");
    assert_eq!(only(["k", "k"]), "k\n-3\n5\n5\n");
    assert!(only(["k", "x"]).starts_with("k,name,w\n"));
}

/// A file of one column, written with these levels: 1 for each value, 0 for null.
fn column<T: DataType>(about: &str, values: &[T::T], levels: Option<&[i16]>) -> Vec<u8> {
    let end = if about.ends_with('}') { "" } else { ";" };
    let schema = Arc::new(parse_message_type(&format!("message m {{ {about}{end} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    writer.into_inner().unwrap()
}

/// The cells of a column, and its type.
fn cells<T: DataType>(about: &str, values: &[T::T]) -> (String, String) {
    let (text, kinds) = to_csv(column::<T>(about, values, None), How { is_named: false, ..ALL }).unwrap();
    let kind = kinds[0].map_or("guessed".to_owned(), |kind| kind.to_string());
    (text.trim_end().replace('\n', " "), kind)
}

#[test]
fn every_type_is_written_exactly_and_named() {
    let check = |(text, kind): (String, String), expected: &str, named: &str| {
        assert_eq!((text.as_str(), kind.as_str()), (expected, named));
    };
    let int = |about: &str, values: &[i32]| cells::<Int32Type>(&format!("required int32 k {about}"), values);
    let long = |about: &str, values: &[i64]| cells::<Int64Type>(&format!("required int64 k {about}"), values);
    check(int("", &[-1, 7]), "-1 7", "i32");
    check(int("(integer(8,true))", &[-1]), "-1", "i32");
    check(int("(integer(32,false))", &[-1]), "4294967295", "u32");
    check(int("(uint_16)", &[65535]), "65535", "u32");
    check(int("(date)", &[19_722, -1]), "2023-12-31 1969-12-31", "date");
    check(int("(decimal(9,2))", &[150, -5]), "1.50 -0.05", "decimal");
    check(int("(time_millis)", &[86_399_999]), "23:59:59.999", "time");
    check(long("", &[i64::MIN]), "-9223372036854775808", "i64");
    check(long("(integer(64,false))", &[-1]), "18446744073709551615", "u64");
    check(long("(time(nanos,true))", &[1]), "00:00:00.000000001", "time");
    let second = 1_704_067_200;
    check(long("(timestamp(millis,true))", &[second * 1_000 + 1]), "2024-01-01T00:00:00.001Z", "timestamptz");
    check(
        long("(timestamp(micros,false))", &[second * 1_000_000 - 1]),
        "2023-12-31T23:59:59.999999",
        "timestamp",
    );
    check(
        long("(timestamp(nanos,true))", &[second * 1_000_000_000 + 1]),
        "2024-01-01T00:00:00.000000001Z",
        "timestamptz",
    );
    check(long("(timestamp_millis)", &[0]), "1970-01-01T00:00:00Z", "timestamptz");
    check(long("(decimal(18,3))", &[649_686_000_000_001]), "649686000000.001", "decimal");
    let texts = [ByteArray::from("01000"), ByteArray::from("a,b")];
    check(cells::<ByteArrayType>("required binary k (utf8)", &texts), "01000 \"a,b\"", "guessed");
    let number = [ByteArray::from(vec![0xff, 0x85])];
    check(cells::<ByteArrayType>("required binary k (decimal(9,1))", &number), "-12.3", "decimal");
    let bytes = [FixedLenByteArray::from(ByteArray::from((0u8..16).collect::<Vec<_>>()))];
    let uuid = cells::<FixedLenByteArrayType>("required fixed_len_byte_array(16) k (uuid)", &bytes);
    check(uuid, "00010203-0405-0607-0809-0a0b0c0d0e0f", "guessed");
    let half = [FixedLenByteArray::from(ByteArray::from(vec![0x00, 0x3e]))];
    check(
        cells::<FixedLenByteArrayType>("required fixed_len_byte_array(2) k (float16)", &half),
        "1.5",
        "f32",
    );
}

#[test]
fn int96_keeps_its_nanoseconds() {
    let at = |nanoseconds: u64| {
        let mut value = Int96::new();
        value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, 2_460_311);
        value
    };
    let values = [123_000, 456_000, 456_789, 86_399_999_999_999].map(at);
    let (text, kind) = cells::<Int96Type>("required int96 k", &values);
    let expected = "2024-01-01T00:00:00.000123 2024-01-01T00:00:00.000456 2024-01-01T00:00:00.000456789 \
                    2024-01-01T23:59:59.999999999";
    assert_eq!((text.as_str(), kind.as_str()), (expected, "timestamp"));
}

#[test]
fn int96_within_a_column_is_refused_rather_than_cut() {
    let file = column::<Int96Type>("required group g { required int96 t; }", &[Int96::new()], None);
    let refused = to_csv(file, ALL).unwrap_err().to_string();
    assert!(refused.contains("column \"g\" has INT96 times in its parts"), "{refused}");
}

#[test]
fn null_is_not_an_empty_text() {
    let schema = "message m { optional binary a (utf8); optional int32 b; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&[ByteArray::from("")], Some(&[0, 1]), None).unwrap();
    column.close().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[7], Some(&[1, 0]), None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    assert_eq!(to_csv(writer.into_inner().unwrap(), ALL).unwrap().0, "a,b\n,7\n\"\",\n");
    let alone = super::tests::column::<Int32Type>("optional int32 k", &[7], Some(&[0, 1]));
    assert_eq!(to_csv(alone, ALL).unwrap().0, "k\n\"\"\n7\n");
}

#[test]
fn rows_of_more_than_a_batch_and_of_columns_in_columns_keep_together() {
    let schema = "message m { required int32 k; required group g { required int32 x; optional int32 y; } required int32 z; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let count = BATCH_ROWS as i32 * 2 + 3;
    for group in 0..2 {
        let mut rows = writer.next_row_group().unwrap();
        let values: Vec<i32> = (0..count).map(|row| group * count + row).collect();
        while let Some(mut column) = rows.next_column().unwrap() {
            let is_optional = column.typed::<Int32Type>().get_descriptor().max_def_level() > 0;
            let levels: Vec<i16> = vec![1; values.len()];
            let levels = is_optional.then_some(&levels[..]);
            column.typed::<Int32Type>().write_batch(&values, levels, None).unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    let (text, _) = to_csv(writer.into_inner().unwrap(), ALL).unwrap();
    let expected = (0..2 * count).map(|row| format!("{row},\"{{x: {row}, y: {row}}}\",{row}"));
    assert!(text.lines().skip(1).eq(expected), "{}", text.lines().nth(1).unwrap());
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

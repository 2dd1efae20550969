//! `latchless query` on imperfect files: no rows, no header, cells without a number.

mod common;

use common::{file, refused, run};
use serde_json::Value;

#[test]
fn a_header_without_rows_is_an_empty_answer() {
    for header in ["k,v\n", "k,v", "k,v\r\n\r\n"] {
        let (_folder, path) = file(header);
        for format in ["table", "json", "csv"] {
            for question in ["--get 1", "--between 0 9", "--floor 5", "--ceil 5"] {
                let answer = run(&path, &format!("--key k --format {format} {question}"));
                assert_eq!(
                    (answer.code, answer.out.as_str()),
                    (0, ""),
                    "{format} {question}: {}",
                    answer.err
                );
            }
        }
        let answer = run(&path, "--key k --get 1");
        assert!(answer.err.starts_with("no row has k 1\n0 of 0 rows"), "{}", answer.err);
        assert_eq!(run(&path, "--key k --count 0 9 --format csv").lines(), ["count", "0"]);
        refused(header, "--key x --get 1", "there is no column \"x\" for --key; the columns are k, v");
    }
    let (_folder, path) = file("k,v\n");
    assert_eq!(run(&path, "--key k --get 1").lines(), [""; 0]);
}

#[test]
fn rows_without_a_number_are_left_out_and_counted() {
    let rows = "k,v\n1,a\n,b\nNA,c\n3,d\n";
    let (_folder, path) = file(rows);
    let answer = run(&path, "--key k --skip-bad --value v --format csv --between 0 9");
    assert_eq!(answer.lines(), ["k,v", "1,a", "3,d"]);
    assert!(answer.err.lines().next().unwrap().ends_with(",skipped"), "{}", answer.err);
    assert!(answer.err.lines().nth(1).unwrap().ends_with(",2"), "{}", answer.err);
    let answer = run(&path, "--key k --skip-bad --get 3");
    assert!(
        answer.err.starts_with("2 rows whose keys are empty or not of this type were left out\n"),
        "{}",
        answer.err
    );
    let answer = run(&path, "--key k --skip-bad --get 3 --format json");
    let summary: Value = serde_json::from_str(&answer.err).unwrap();
    assert_eq!((&summary["skipped"], &summary["rows"]), (&2.into(), &2.into()));
    refused(
        rows,
        "--key k --get 1",
        "line 3, column \"k\": the field is empty where a number of type u64 should",
    );
    refused(rows, "--key k --get 1", "--skip-bad leaves such rows out");
    // A number that doesn't fit is no missing one.
    refused("k\n1\n-2\n", "--key k --skip-bad --key-type u64 --get 1", "\"-2\" is not a number of type u64");
}

#[test]
fn without_a_header_the_first_line_is_a_row() {
    let (_folder, path) = file("5,x\n3,y\n");
    let answer = run(&path, "--no-header --key 1 --between 0 9 --format csv");
    assert_eq!(answer.lines(), ["3,y", "5,x"]);
    let answer = run(&path, "--no-header --key 1 --value 2 --get 5 --format json");
    assert_eq!(answer.lines(), ["{\"1\":5,\"2\":\"x\"}"]);
    let nothing = run(&path, "--no-header --key 1 --get 4");
    assert!(nothing.err.starts_with("no row has column 1 4\n"), "{}", nothing.err);
    refused("5,x\n", "--no-header --key 3 --get 1", "no column \"3\" for --key; the columns are 1, 2");
}

#[test]
fn columns_are_named_in_any_capitals_or_numbered() {
    let (_folder, path) = file("Pos,Name\n5,x\n");
    for columns in ["--key Pos --value Name", "--key pos --value NAME", "--key 1 --value 2"] {
        let answer = run(&path, &format!("{columns} --get 5 --format csv"));
        assert_eq!(answer.lines(), ["Pos,Name", "5,x"], "{columns}");
    }
    refused("Pos,pos\n5,x\n", "--key POS --get 5", "more than one column is called \"POS\"");
}

#[test]
fn a_mistyped_column_gets_the_nearest_ones_and_no_escapes() {
    let rows = "position,\u{1b}]0;name\u{7},weight\n1,a,b\n";
    let message = "no column \"postion\" for --key (did you mean position?); the columns are position, ␛]0;name␇, weight";
    refused(rows, "--key postion --get 1", message);
    let wide: Vec<String> = (0..300).map(|column| format!("c{column}")).collect();
    refused(format!("{}\n", wide.join(",")), "--key zzz --get 1", "c18, c19 and 280 more");
}

#[test]
fn the_header_says_what_separates_fields() {
    for text in ["id;preis\n7;1,5\n", "id\tpreis\n7\t1,5\n", "id|preis\n7|1,5\n", "id,preis\n7,\"1,5\"\n"] {
        let (_folder, path) = file(text);
        assert_eq!(run(&path, "--key id --get 7 --format csv").lines(), ["id,preis", "7,\"1,5\""], "{text}");
    }
    let (_folder, path) = file("id;preis\n7;1,5\n");
    let said = run(&path, "--key id --get 7").err;
    let note = "rows.csv: fields are taken to be separated by ';'; --delimiter says otherwise\n";
    assert!(said.contains(note), "{said}");
    for silent in ["--key id --get 7 -q", "--key id --get 7 --delimiter ;", "--key id --get 7 --format json"]
    {
        assert!(!run(&path, silent).err.contains("separated"), "{silent}");
    }
    let (folder, path) = file("a\n");
    let tsv = folder.path().join("rows.tsv");
    std::fs::write(&tsv, "id,x\tpreis\n7\t1\n").unwrap();
    assert_eq!(run(&tsv, "--key preis --get 1 --format csv").lines(), ["\"id,x\",preis", "7,1"]);
    drop(path);
    // Two of them: a comma it is, and the message names the alternative.
    let message = "there is no column \"preis\" for --key, but there is with --delimiter ';'; the columns are id;preis;a, b";
    refused("id;preis;a,b\n7;1;2,3\n", "--key preis --get 1", message);
    refused("id\tx\n7\t1\n", "--key x --delimiter , --get 1", "but there is with --delimiter tab");
    refused("id;x\n7;1\n", "--key y --get 1", "no column \"y\" for --key; the columns are id, x");
}

#[test]
fn bytes_that_are_not_utf_8_are_refused_by_their_line() {
    let latin =
        "line 2 of FILE is not UTF-8; it may be Latin-1 or Windows-1252, which --encoding windows-1252 reads";
    refused(b"k,v\n1,caf\xe9\n", "--key k --get 1", latin);
    let other = "line 2 of FILE is not UTF-8; --encoding names another encoding\n";
    refused(b"k,v\n1,\xe9\x00\x01\n", "--key k --get 1", other);
}

#[test]
fn a_compressed_file_is_read_or_called_by_its_name() {
    use std::io::Write;
    let mut gzip = Vec::new();
    // Two members, as bgzip writes them.
    for text in ["k,v\n1,a\n", "2,b\n"] {
        let mut writer = flate2::write::GzEncoder::new(&mut gzip, flate2::Compression::default());
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap();
    }
    let (folder, path) = file(&gzip);
    assert_eq!(run(&path, "--key k --between 1 2 --format csv").lines(), ["k,v", "1,a", "2,b"]);
    let save = format!("--key k --get 1 --save {}", folder.path().join("index.arrow").display());
    refused(&gzip, &save, "its rows can't be found again; only those of a plain CSV file can");
    refused(&gzip[..20], "--key k --get 1", "can't read FILE");
    for (begins, message) in [
        (
            &b"BZh91AY"[..],
            "FILE is compressed (bzip2), which this build doesn't read: bzcat FILE | latchless query -",
        ),
        (b"\xfd7zXZ\0\0", "compressed (xz), which this build doesn't read: xzcat FILE"),
        (b"PK\x03\x04", "compressed (zip), which this build doesn't read: unzip -p FILE"),
    ] {
        refused(begins, "--key k --get 1", message);
    }
    // A frame of one block, which isn't compressed.
    let zstandard = b"\x28\xb5\x2f\xfd\x20\x0c\x61\0\0k,v\n1,a\n2,b\n";
    if cfg!(feature = "zstd") {
        let (_folder, path) = file(zstandard);
        assert_eq!(run(&path, "--key k --get 2 --format csv").lines(), ["k,v", "2,b"]);
    } else {
        let message = "FILE is compressed (Zstandard), which this build doesn't read: zstdcat FILE";
        refused(zstandard, "--key k --get 1", message);
    }
}

#[test]
fn nothing_is_null_in_json_and_an_empty_text_is_not() {
    let text = "k,a,b\n1,,\"\"\n2,\"\",x\n3,\"q,\"\"\",\n";
    let (folder, path) = file(text);
    let expected =
        [r#"{"k":1,"a":null,"b":""}"#, r#"{"k":2,"a":"","b":"x"}"#, r#"{"k":3,"a":"q,\"","b":null}"#];
    assert_eq!(run(&path, "--key k --between 1 3 --format json").lines(), expected);
    let index = folder.path().join("index.arrow");
    assert_eq!(run(&path, &format!("--key k --get 1 --save {}", index.display())).code, 0);
    assert_eq!(run(&index, "--between 1 3 --format json").lines(), expected);
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_s_types_are_its_schema_s() {
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int96, Int96Type};
    use parquet::{file::writer::SerializedFileWriter, schema::parser};

    let schema = "message m { required int96 t; optional int32 d (date); optional binary s (utf8); }";
    let schema = parser::parse_message_type(schema).unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let at = |nanoseconds| {
        let mut value = Int96::new();
        value.set_data(nanoseconds, 0, 2_460_311);
        value
    };
    column.typed::<Int96Type>().write_batch(&[123_000, 456_000, 456_789].map(at), None, None).unwrap();
    column.close().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[19_722, 19_723], Some(&[1, 0, 1]), None).unwrap();
    column.close().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let texts = ["", "01000"].map(ByteArray::from);
    column.typed::<ByteArrayType>().write_batch(&texts, Some(&[1, 0, 1]), None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    let (_folder, path) = file(writer.into_inner().unwrap());

    let one = run(&path, "--key t --get 2024-01-01T00:00:00.000456 --format json");
    assert_eq!(one.lines(), [r#"{"t":"2024-01-01T00:00:00.000456","d":null,"s":null}"#]);
    assert!(one.err.contains(r#""keys":3,"key_type":"timestamp""#), "{}", one.err);
    let all = run(&path, "--key t --get 2024-01-01 --format csv --value d");
    assert_eq!(
        all.lines()[1..].iter().map(|line| line.ends_with(',')).collect::<Vec<_>>(),
        [false, true, false]
    );
    let dates = run(&path, "--key d --skip-bad --between 2023-12-31 2024-01-01 --value s --format json");
    assert_eq!(dates.lines(), [r#"{"d":"2023-12-31","s":""}"#, r#"{"d":"2024-01-01","s":"01000"}"#]);
    let null = run(&path, "--key d --floor 2024-01-01");
    assert!(null.code == 2 && null.err.contains("line 3, column \"d\": the field is empty"), "{}", null.err);
    assert_eq!(run(&path, "--key s --get 01000 --value d --format csv").lines(), ["s,d", "01000,2024-01-01"]);
    assert_eq!(run(&path, "--key t --get 5").code, 2);
}

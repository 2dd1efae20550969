//! JSON lines, other encodings than UTF-8, and rows with fewer or more fields than there are columns.

mod common;

use common::{Outcome, file, refused, run, shell};
use std::fs;

/// Runs a line of the shell in a folder with these files.
fn with(files: &[(&str, &[u8])], line: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    shell(folder.path(), line)
}

const PEOPLE: &str = "{\"id\":7,\"name\":\"Ann, \\u00e9\",\"tags\":[1, {\"a\":null}]}\n\n\
                      {\"name\":\"two\\nlines\",\"id\":12345678901234567890,\"ok\":true}\r\n\
                      {\"id\":-0.50,\"name\":null}\n";

fn units(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn objects_are_rows_whose_columns_are_their_keys() {
    let (_folder, path) = file("");
    let path = path.with_file_name("people.jsonl");
    fs::write(&path, PEOPLE).unwrap();
    let answer = run(&path, "--key id --between -1 1e30 --format csv");
    let expected = ["id,name,tags,ok", "-0.50,,,", "7,\"Ann, é\",\"[1, {\"\"a\"\":null}]\","];
    assert_eq!(answer.lines()[..3], expected);
    assert_eq!(answer.lines()[3..], ["12345678901234567890,\"two", "lines\",,true"]);
    let one = run(&path, "--key id --get 7 --value ok --format json");
    assert_eq!(one.lines(), [r#"{"id":"7","ok":null}"#]);
    let save = run(&path, "--key id --get 7 --save index.arrow");
    assert!(save.code == 2 && save.err.contains("can't be found again"), "{}", save.err);
}

#[test]
fn json_is_known_by_its_name_or_its_first_characters() {
    let rows = "{\"k\":1}\n{\"k\":2}\n";
    for line in [
        "latchless query a.ndjson --key k --get 2 --format csv",
        "cat a.ndjson | latchless query - --key k --get 2 --format csv",
        "gzip -c a.ndjson > a.jsonl.gz; latchless query a.jsonl.gz --key k --get 2 --format csv",
        "cp a.ndjson a.log; latchless query a.log --key k --get 2 --format csv",
        "printf '2\\n' > keys; latchless query a.ndjson --key k --get-from keys --format csv",
    ] {
        assert_eq!(with(&[("a.ndjson", rows.as_bytes())], line).lines(), ["k", "2"], "{line}");
    }
    let little = units(&format!("\u{feff}{rows}"), u16::to_le_bytes);
    let line = "latchless query a.json --key k --get 2 --format csv";
    assert_eq!(with(&[("a.json", &little)], line).lines(), ["k", "2"]);
    let csv =
        with(&[("a.csv", b"{\"k\"}\n{}\n")], "latchless query a.csv --key '{\"k\"}' --count-by --format csv");
    assert_eq!(csv.lines()[1..], ["{},1"]);
    let keys = with(
        &[("a.csv", b"k\n{\"\"}\n"), ("keys", b"{\"\"}\n")],
        "latchless query a.csv --key k --get-from keys",
    );
    assert_eq!(keys.code, 0, "{}", keys.err);
}

#[test]
fn what_is_wrong_in_json_is_named_by_its_line() {
    for (rows, message) in [
        ("{\"k\":1}\n\n{\"k\":,}\n", "line 3 of a.jsonl is not JSON as expected: expected value (byte 6)"),
        (
            "{\"k\":1}\n7\n",
            "line 2 of a.jsonl is not JSON as expected: invalid type: integer `7`, expected an object",
        ),
        ("{\n\"k\":1}\n", "line 1 of a.jsonl is not JSON as expected: EOF while parsing an object"),
        ("[{\"k\":1}]\n", "which jq -c . makes of objects and jq -c '.[]' of an array"),
        ("{\"k\":1} {\"k\":2}\n", "line 1 of a.jsonl is not JSON as expected: trailing characters"),
        ("{\"k\":1,\"k\":2}\n", "the key \"k\" is there twice"),
        ("{\"k\":\"\\ud800\"}\n", "line 1 of a.jsonl is not JSON as expected: "),
        // The rows before it have a blank line and a line end inside.
        ("\n{\"k\":1,\"v\":\"a\\nb\"}\n\n{\"k\":\"x\"}\n", "line 4, column \"k\": \"x\" is not a number"),
        ("\n\n", "a.jsonl is empty"),
    ] {
        let outcome = with(&[("a.jsonl", rows.as_bytes())], "latchless query a.jsonl --key k --get 1");
        assert!(outcome.code == 2 && outcome.err.contains(message), "{message:?} in {:?}", outcome.err);
    }
    let two = [
        ("a.jsonl", &b"{\"k\":1,\"v\":\"a\\nb\"}\n"[..]),
        ("b.jsonl", b"\n{\"v\":1,\"k\":2}\n\n{\"k\":\"x\"}\n"),
    ];
    let outcome = with(&two, "latchless query a.jsonl b.jsonl --key k --get 1");
    assert!(outcome.err.contains("b.jsonl: line 4, column \"k\": \"x\""), "{}", outcome.err);
    let all = with(&two, "latchless query a.jsonl b.jsonl --key k --get 2 --key-type text --format csv");
    assert_eq!(all.lines(), ["k,v", "2,1"]);
    let join = "latchless join a.jsonl b.jsonl --on k --format csv --skip-bad";
    assert_eq!(with(&two, join).code, 0);
    let left = with(&two, "latchless join b.jsonl a.jsonl --on k");
    assert!(left.code == 2 && left.err.contains("b.jsonl: line 4, column \"k\""), "{}", left.err);
}

#[test]
fn a_key_that_comes_late_is_refused_or_left_out_and_counted() {
    let mut rows = "{\"k\":1}\n".repeat((1 << 20) / 8 + 1);
    rows.push_str("{\"k\":2,\"new\":1}\n");
    let files = [("a.jsonl", rows.as_bytes())];
    let late = with(&files, "latchless query a.jsonl --key k --get 2");
    let message = "line 131074 of a.jsonl has the key \"new\", which no object in the first mebibyte has";
    assert!(late.code == 2 && late.err.contains(message) && late.err.contains("--ragged"), "{}", late.err);
    let taken = with(&files, "latchless query a.jsonl --key k --get 2 --ragged --select k");
    assert_eq!(taken.lines().len(), 5, "{}", taken.out);
    assert!(
        taken.err.contains("1 row has more fields than there are columns, first on line 131074"),
        "{}",
        taken.err
    );
}

#[test]
fn other_encodings_are_read() {
    let text = "\u{feff}k,v\n1,é\n";
    for (bytes, name) in
        [(units(text, u16::to_le_bytes), "UTF-16LE"), (units(&text[3..], u16::to_be_bytes), "UTF-16BE")]
    {
        let (_folder, path) = file(&bytes);
        let answer = run(&path, "--key k --get 1");
        assert!(answer.lines()[3].contains('é'), "{}", answer.out);
        let note = format!("rows.csv: taken for {name}; --encoding says otherwise\n");
        assert!(answer.err.contains(&note), "{}", answer.err);
        let named = run(&path, &format!("--key k --get 1 --encoding {name} --format csv"));
        assert_eq!(named.lines(), ["k,v", "1,é"]);
        assert!(!named.err.contains("taken for"));
        let other = run(&path, "--key k --get 1 --encoding utf-8");
        assert_eq!(other.code, 2);
    }
    let (_folder, path) = file(b"k,v\n1,caf\xe9\n");
    for name in ["latin1", "windows-1252", "ISO-8859-1"] {
        let answer = run(&path, &format!("--key k --get 1 --encoding {name} --format csv"));
        assert_eq!(answer.lines(), ["k,v", "1,café"]);
    }
    let save = run(&path, "--key k --get 1 --encoding latin1 --save x.arrow");
    assert!(save.code == 2 && save.err.contains("only those of a plain CSV file can"), "{}", save.err);
    refused("k\n1\n", "--key k --get 1 --encoding utf-9", "no encoding of this name; usual ones are utf-8");
    refused("k\n1\n", "--key k --get 1 --encoding utf-8,latin1", "2 encodings where there are 1 files");
    let files = [("l.csv", &b"k,v\ncaf\xe9,1\n"[..]), ("r.csv", "k,w\ncafé,2\n".as_bytes())];
    let join = "latchless join l.csv r.csv --on k --encoding latin1,utf-8 --format csv";
    assert_eq!(with(&files, join).lines(), ["k,v,k_right,w", "café,1,café,2"]);
}

#[test]
fn ragged_rows_are_refused_or_taken_and_counted() {
    let rows = "k,v,w\n1,a\n2,b,c,d\n\n3,\"e\",f,\n4\n5,g,h\n";
    refused(rows, "--key k --get 1", "line 2 has 2 fields where the header has 3; --ragged takes such rows");
    let (folder, path) = file(rows);
    let all = run(&path, "--key k --between 1 9 --ragged --format json");
    let expected = [
        r#"{"k":1,"v":"a","w":null}"#,
        r#"{"k":2,"v":"b","w":"c"}"#,
        r#"{"k":3,"v":"e","w":"f"}"#,
        r#"{"k":4,"v":null,"w":null}"#,
        r#"{"k":5,"v":"g","w":"h"}"#,
    ];
    assert_eq!(all.lines(), expected);
    assert!(all.err.contains("\"short\":2,\"long\":2,"), "{}", all.err);
    let said = run(&path, "--key k --get 5 --ragged").err;
    let text = "2 rows have fewer fields than there are columns\n2 rows have more fields than there are columns, \
                first on line 3: they were left out\n";
    assert!(said.contains(text), "{said}");
    let save = format!("--key k --get 5 --ragged --save {}", folder.path().join("i.arrow").display());
    refused(rows, &save, "--ragged takes rows that a saved index refuses");
    // What follows a row that is too short is no part of it.
    let (_folder, path) = file("k,v,w\n1\n\"2\",\"\",\"\"\n");
    assert_eq!(
        run(&path, "--key k --get 1 --ragged --format json").lines(),
        [r#"{"k":1,"v":null,"w":null}"#]
    );
    let files = [("l.csv", &b"k,v\n1\n2,a,b\n"[..]), ("r.csv", b"k,w\n1,x,y\n")];
    let join = with(&files, "latchless join l.csv r.csv --on k --ragged --how left");
    let lefts = "1 row has fewer fields than there are columns\n1 row has more fields than there are columns, first on \
                 line 3 of LEFT: they were left out\n";
    assert!(join.code == 0 && join.err.contains(lefts), "{}", join.err);
    assert!(join.err.contains("first on line 2 of RIGHT"), "{}", join.err);
    let gathered = [("a.csv", &b"k,v\n1\n"[..]), ("b.csv", b"k,v\n\n2,a,b\n")];
    let gathered = with(&gathered, "latchless query a.csv b.csv --key k --get 2 --ragged");
    assert!(gathered.code == 0 && gathered.err.contains("first on line 3 of b.csv"), "{}", gathered.err);
}

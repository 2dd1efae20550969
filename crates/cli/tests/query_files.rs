//! `latchless query` on files that aren't perfect: no rows, no header, cells without a number.

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
    assert!(answer.err.starts_with("2 rows without a number as their key were left out\n"), "{}", answer.err);
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

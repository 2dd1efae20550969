//! Rows, lines and columns of tables, whatever the text.

use super::*;
use crate::rows::line;
use proptest::prelude::*;

/// Every row's line, start and fields, or the error that ends the walk.
fn rows(text: &str) -> Result<Vec<(u64, u64, Vec<String>)>, QueryError> {
    let table = Table::new(text, b',', true)?;
    let mut walk = table.walk().unwrap();
    let mut rows = Vec::new();
    while walk.advance()? {
        let fields = (0..table.columns().count()).map(|column| walk.field(column).to_owned());
        rows.push((walk.line(), walk.start(), fields.collect()));
    }
    Ok(rows)
}

fn lines(text: &str) -> Vec<u64> {
    rows(text).unwrap().into_iter().map(|(line, ..)| line).collect()
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    assert_eq!(lines("a,b\n1,2\n3,4"), [2, 3]);
    assert_eq!(lines("a,b\r\n1,2\r\n3,4\r\n"), [2, 3]);
    assert_eq!(lines("\n\na,b\n\n1,2\n\r\n\n3,4\n\n"), [5, 8]);
    assert_eq!(lines("a,b\n1,\"x\ny\"\n3,4\n"), [2, 4]);
    assert_eq!(lines("a,\"b\n\"\r\n1,2\r\n3,4"), [3, 4]);
}

#[test]
fn quotes_and_line_ends_are_taken_off_the_fields() {
    let rows = rows("a,b\r\n\"1,5\",\"say \"\"hi\"\"\"\r\n 2 ,\r\n").unwrap();
    let fields: Vec<_> = rows.iter().map(|(.., fields)| fields.join("|")).collect();
    assert_eq!(fields, ["1,5|say \"hi\"", " 2 |"]);
}

#[test]
fn a_row_that_fits_no_header_is_named_by_its_line() {
    let ragged = |text| match rows(text) {
        Err(error @ QueryError::Ragged { line, found, expected }) => {
            assert!(error.to_string().contains("--ragged"));
            (line, found, expected)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(ragged("a,b\n1,2\n3\n4,5\n"), (3, 1, 2));
    assert_eq!(ragged("a,b\r\n1,2\r\n3,4,5"), (3, 3, 2));
}

#[test]
fn a_quote_that_is_never_closed_is_seen() {
    for (text, expected) in [
        ("a,b\n1,\"x\n2,y\n3,z\n", 2),
        ("a,b\n1,x\n2,\"", 3),
        ("a,\"b\n1,x\n2,y\n", 1),
        ("a,b\n1,x\n\"2,y\n", 3),
    ] {
        assert!(
            matches!(rows(text), Err(QueryError::UnclosedQuote { line }) if line == expected),
            "{text:?}: {:?}",
            rows(text)
        );
    }
    assert_eq!((lines("a,\"b\""), lines("a,b\n1,\"x\"\n\n")), (vec![], vec![2]));
}

#[test]
fn without_a_header_every_row_is_one() {
    let table = Table::new("7,x\n8,y\n", b',', false).unwrap();
    assert_eq!(table.columns().collect::<Vec<_>>(), ["1", "2"]);
    let mut walk = table.walk().unwrap();
    assert!(walk.advance().unwrap());
    assert_eq!((walk.line(), walk.start(), walk.field(1)), (1, 0, "x"));
    assert!(walk.advance().unwrap() && !walk.advance().unwrap());
    assert_eq!(table.fetch().row(0).unwrap().field(0), "7");
}

#[test]
fn an_empty_text_is_not_nothing() {
    let mut text = String::new();
    for cell in [None, Some(""), Some("a,b"), Some("\"\n,"), None, Some("c"), Some(""), None] {
        line::push_cell(&mut text, b',', cell);
        text.push(',');
    }
    let text = format!("\n\r\n{text}\"x\"y\"z,w\"v,\n1\n");
    let table = Table::new(&text, b',', false).unwrap();
    let mut fetch = table.fetch();
    let row = fetch.row(0).unwrap();
    let expected = [
        None,
        Some(""),
        Some("a,b"),
        Some("\"\n,"),
        None,
        Some("c"),
        Some(""),
        None,
        Some("xy\"z"),
        Some("w\"v"),
        None,
    ];
    assert_eq!(std::array::from_fn(|column| row.value(column)), expected);
}

#[test]
fn columns_are_found_by_their_names() {
    let table = Table::new("a,b,b,\"c d\"\n", b',', true).unwrap();
    for (asked, found) in [("c d", 3), ("C D", 3), ("A", 0), ("2", 1), ("4", 3)] {
        assert_eq!(table.column("--key", asked).unwrap(), found, "{asked}");
    }
    let table = Table::new("3,b\n", b',', true).unwrap();
    assert_eq!(table.column("--key", "3").unwrap(), 0, "a name comes before a number");
    let table = Table::new("A,a\n", b',', true).unwrap();
    assert_eq!((table.column("--key", "a").unwrap(), table.column("--key", "A").unwrap()), (1, 0));
    let table = Table::new("a,b,b,\"c d\"\n", b',', true).unwrap();
    let missing = table.column("--key", "e").unwrap_err().to_string();
    assert_eq!(missing, "there is no column \"e\" for --key; the columns are a, b, b, c d");
    assert!(matches!(table.column("--key", "b"), Err(QueryError::AmbiguousColumn { .. })));
}

proptest! {
    /// Whatever the text, a walk ends without a panic, and each of its rows can be fetched
    /// again, in any order.
    #[test]
    fn rows_are_fetched_as_they_were_walked(
        text in prop_oneof![
            "[ab1,\"\n\r]{0,60}",
            "a,b\n([1-9]{1,3},[xyz\"]{0,3}(\r\n|\n|\r)){0,12}",
            any::<String>(),
        ],
    ) {
        let Ok(rows) = rows(&text) else { return Ok(()) };
        let table = Table::new(&text, b',', true).unwrap();
        let mut fetch = table.fetch();
        for (_, start, fields) in rows.iter().rev().chain(&rows) {
            let fetched = fetch.row(*start).unwrap();
            for (column, field) in fields.iter().enumerate() {
                prop_assert_eq!(fetched.field(column), field);
            }
        }
    }
}

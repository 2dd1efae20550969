//! `latchless join --on`: equal keys of two files, and nearest ones.

mod common;

use common::join;
use proptest::prelude::*;
use std::fmt::Write;

/// The lines of a join of two files for CSV, without the header.
fn rows(left: &str, right: &str, arguments: &str) -> Vec<String> {
    let outcome =
        join(&[("l.csv", left), ("r.csv", right)], &format!("l.csv r.csv --format csv {arguments}"));
    outcome.lines().into_iter().skip(1).map(str::to_owned).collect()
}

/// Expects that a join is refused with this message.
fn refused(left: &str, right: &str, arguments: &str, message: &str) {
    let outcome = join(&[("l.csv", left), ("r.csv", right)], &format!("l.csv r.csv {arguments}"));
    assert_eq!(outcome.code, 2, "{}{}", outcome.out, outcome.err);
    assert!(outcome.err.contains(message), "{message:?} should be in {:?}", outcome.err);
}

#[test]
fn every_pair_of_equal_keys_is_a_row_in_the_order_of_both_files() {
    let (left, right) = ("k,a\n2,x\n1,y\n9,z\n2,w\n", "b,k\np,2\nq,1\nr,2\n");
    let outcome = join(&[("l.csv", left), ("r.csv", right)], "l.csv r.csv --on k --format csv");
    let expected = ["k,a,b,k_right", "2,x,p,2", "2,x,r,2", "1,y,q,1", "2,w,p,2", "2,w,r,2"];
    assert_eq!(outcome.lines(), expected);
    assert!(outcome.err.contains("\n4,3,3,5,0,0,"), "{}", outcome.err);
    assert_eq!(rows(left, right, "--on k --how left")[3], "9,z,,");
    assert_eq!(rows(left, right, "--on k --how left --missing -")[3], "9,z,-,-");
    assert_eq!(rows(left, right, "--on a=b"), [""; 0]);
    let table = join(&[("l.csv", left), ("r.csv", right)], "l.csv r.csv --on k");
    let said = "3 of 4 rows of LEFT have a partner among 3 of RIGHT; 5 rows\n";
    assert!(table.err.starts_with(said), "{}", table.err);
}

#[test]
fn names_that_both_files_have_get_a_suffix() {
    let header = |left: &str, right: &str, arguments: &str| {
        let (left, right) = (format!("{left}\n1,1\n"), format!("{right}\n1,1\n"));
        let outcome =
            join(&[("l.csv", &left), ("r.csv", &right)], &format!("l.csv r.csv --format csv {arguments}"));
        outcome.lines()[0].to_owned()
    };
    assert_eq!(header("k,v", "k,v", "--on k"), "k,v,k_right,v_right");
    assert_eq!(header("k,v", "k,v", "--on k --suffix .r"), "k,v,k.r,v.r");
    assert_eq!(header("k,k_right", "k,v", "--on k"), "k,k_right,k_right_right,v");
    assert_eq!(header("k,v", "K,v", "--on k --suffix ''"), "k,v,K,v");
    refused("k,v\n1,1\n", "k,v\n1,1\n", "--on k --suffix '' --format json", "more than one column is called");
    let both = "5,x\n7,y\n";
    let outcome = join(&[("l.csv", both), ("r.csv", both)], "l.csv r.csv --no-header --on 1 --format json");
    assert_eq!(outcome.lines()[0], r#"{"1":5,"2":"x","1_right":5,"2_right":"x"}"#);
    let named = "k,v\n7,z\n";
    let outcome =
        join(&[("l.csv", both), ("r.csv", named)], "l.csv r.csv --no-header=left --on 1=k --format csv");
    assert_eq!(outcome.lines(), ["1,2,k,v", "7,y,7,z"]);
}

#[test]
fn nothing_is_null_and_equals_nothing() {
    let (left, right) = ("k,a\n,1\n\"\",2\n3,\n", "k,b\n,x\n3,\n\"\",y\n");
    let files = [("l.csv", left), ("r.csv", right)];
    let outcome = join(&files, "l.csv r.csv --on k --how left --format json --suffix _r");
    let expected = [
        r#"{"k":null,"a":"1","k_r":null,"b":null}"#,
        r#"{"k":"","a":"2","k_r":null,"b":null}"#,
        r#"{"k":3,"a":null,"k_r":3,"b":null}"#,
    ];
    assert_eq!(outcome.lines(), expected);
    let text = join(&files, "l.csv r.csv --on k --key-type text");
    assert!(
        text.err.starts_with("2 rows of LEFT have no key\n2 rows of RIGHT have no key\n1 of 3"),
        "{}",
        text.err
    );
    assert_eq!(rows("k\nx\n", "k\n\"\"\n", "--on k --how left"), ["x,"]);
}

#[test]
fn keys_are_of_the_types_that_the_right_file_has() {
    assert_eq!(rows("k\n5.0\n5\n", "k\n5\n", "--on k"), ["5.0,5", "5,5"]);
    assert_eq!(rows("k\n-1\n1e0\n0.5\n", "k\n1\n", "--on k"), ["1e0,1"]);
    assert_eq!(rows("k\n1\n", "k\n1.0\nx\n", "--on k"), [""; 0], "texts");
    assert_eq!(rows("d\n2023-12-31\n12/30/2023\n", "d\n12/31/2023\n12/30/2023\n", "--on d").len(), 2);
    assert_eq!(rows("t\n2024-01-01\n", "t\n2024-01-01 00:00\n2024-01-01 10:00\n", "--on t").len(), 1);
    assert_eq!(rows("v\n1.10\n", "v\n1.10.0\n1.9.0\n", "--on v"), ["1.10,1.10.0"]);
    assert_eq!(rows("a,b\nx,1\ny,2\n", "c,d\n2,y\n1,y\n", "--on a,b=d,c"), ["y,2,2,y"]);
    refused(
        "k\n1\nx\n",
        "k\n1\n",
        "--on k",
        "l.csv: line 3, column \"k\": \"x\" is not a number; --skip-bad",
    );
    refused("k\n1\n01\n", "k\n1\n", "--on k", "l.csv: line 3, column \"k\": \"01\" has a zero in front");
    refused("d\n31/12/2023\n", "d\n12/31/2023\n", "--on d", "\"31/12/2023\" is not of type date-mdy");
    refused("k\n1\n", "k\n1\n2024-01-01,\n", "--on k", "r.csv: line 3 has 2 fields where the header has 1");
    refused("k\n1\n", "k\n1\n", "--on z", "l.csv: there is no column \"z\" for --on; the columns are k");
    refused("k,z\n1,2\n", "k\n1\n", "--on z", "r.csv: there is no column \"z\" for --on");
    refused("k,z\n1,2\n", "k\n1\n", "--on k,z=k", "--on has 2 columns of LEFT and 1 of RIGHT");
    refused("k\n\"1\n", "k\n1\n", "--on k", "l.csv: a quoted field in the row that starts on line 2");
    refused("k\n1\n", "k\n1\n", "--on k --by k", "--by goes with --nearest or --overlap");
    let input = join(&[], "- - --on k");
    assert!(input.code == 2 && input.err.contains("standard input can't be both files"), "{}", input.err);
}

#[test]
fn the_nearest_key_is_one_row_and_within_the_tolerance() {
    let (left, right) = ("t\n5\n3\n1\n8.5\n-2\n", "t,v\n8,a\n3,b\n5,c\n3,d\n");
    let of = |arguments: &str| {
        let rows = rows(left, right, &format!("--on t --how left --nearest {arguments}"));
        rows.iter().map(|row| row.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("backward"), "c d  a ");
    assert_eq!(of("forward"), "c b b  b");
    assert_eq!(of("nearest"), "c d b a b");
    assert_eq!(of("nearest --tolerance 0"), "c d   ");
    assert_eq!(of("nearest --tolerance 0.5"), "c d  a ");
    assert_eq!(of("forward --tolerance 2"), "c b b  ");
    assert_eq!(of("forward --tolerance 5"), "c b b  b");
    // Of two that are equally near the smaller one, however they are written.
    assert_eq!(rows("t\n0.3\n", "t,v\n0.4,a\n0.2,b\n", "--on t --nearest nearest"), ["0.3,0.2,b"]);
    assert_eq!(rows("t\n0.3\n", "t,v\n0.4,a\n", "--on t --nearest nearest --tolerance 0.1").len(), 1);
}

#[test]
fn nan_is_near_nothing() {
    let right = "t,v\nNaN,n\n1.5,a\n";
    for (direction, expected) in [("backward", ["a", ""]), ("forward", ["", ""]), ("nearest", ["a", ""])] {
        let rows = rows("t\n2\nNaN\n", right, &format!("--on t --how left --nearest {direction}"));
        let found: Vec<&str> = rows.iter().map(|row| row.rsplit(',').next().unwrap()).collect();
        assert_eq!(found, expected, "{direction}");
    }
    assert_eq!(rows("t\nNaN\n", right, "--on t"), ["NaN,NaN,n"]);
    assert_eq!(rows("t\nNaN\n", "t,v\n1.5,a\n", "--on t --nearest backward"), [""; 0]);
    let right = "g,t,v\nx,NaN,n\nx,1.5,a\n";
    assert_eq!(rows("g,t\nx,2\n", right, "--on t --by g --nearest forward"), [""; 0]);
}

#[test]
fn nearest_times_are_those_of_the_same_group() {
    let left = "time,who\n2024-03-04 09:00,a\n2024-03-04 09:00,b\n2024-03-04 09:00,c\n2024-03-04,a\n";
    let right = "who,at,v\na,2024-03-04 08:59:59,1\nb,2024-03-04 09:00:01,2\na,2024-03-03 09:00,3\n";
    let of = |arguments: &str| {
        let rows = rows(left, right, &format!("--on time=at --by who --how left --nearest {arguments}"));
        rows.iter().map(|row| row.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("backward"), "1   3");
    assert_eq!(of("forward"), " 2  1");
    assert_eq!(of("nearest --tolerance 1s"), "1 2  ");
    assert_eq!(of("nearest --tolerance 999ms"), "   ");
    assert_eq!(of("backward --tolerance 15h"), "1   3");
}

#[test]
fn keys_without_order_or_distance_have_no_nearest_one() {
    let texts = "k\na\nb\n";
    refused(texts, texts, "--on k --nearest backward", "would compare the keys in k as texts");
    assert_eq!(rows("k\naz\n", texts, "--on k --nearest backward --key-type text"), ["az,a"]);
    refused(
        texts,
        texts,
        "--on k --nearest nearest --key-type text",
        "keys of type text, as in k, have none",
    );
    refused(
        "k\n1\n",
        "k\n1\n",
        "--on k --nearest forward --tolerance 5m",
        "\"5m\" is no distance of keys of type u64",
    );
    let times = "t\n2024-01-01 10:00\n";
    refused(
        times,
        times,
        "--on t --nearest forward --tolerance 5",
        "\"5\" is no distance of keys of type timestamp",
    );
    refused("k,j\n1,2\n", "k,j\n1,2\n", "--on k,j --nearest forward", "--nearest compares one column; --by");
    let versions = "v\n1.2.3\n";
    refused(versions, versions, "--on v --nearest nearest", "keys of type version, as in v, have none");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Joins by one number, by a group and a number, and their nearest ones are those of a look at all pairs.
    #[test]
    fn joins_are_those_of_all_pairs(
        left in prop::collection::vec((0u8..3, -20i64..20), 0..40),
        right in prop::collection::vec((0u8..3, -20i64..20), 0..40),
        is_grouped: bool,
        tolerance in 0i64..6,
    ) {
        let text = |rows: &[(u8, i64)]| {
            let mut text = "g,k,n\n".to_owned();
            for (number, (group, key)) in rows.iter().enumerate() {
                writeln!(text, "g{group},{key},{number}").unwrap();
            }
            text
        };
        let (by, on) = if is_grouped { ("--by g", "--on g,k") } else { ("", "--on k") };
        let pairs = |arguments: &str| {
            let rows = rows(&text(&left), &text(&right), arguments);
            let pair = |row: &String| {
                let fields: Vec<&str> = row.split(',').collect();
                (fields[2].parse().unwrap(), fields[5].parse().unwrap())
            };
            rows.iter().map(pair).collect::<Vec<(usize, usize)>>()
        };
        let is_of = |a: &(u8, i64), b: &(u8, i64)| !is_grouped || a.0 == b.0;
        let mut expected = Vec::new();
        for (l, a) in left.iter().enumerate() {
            expected.extend(right.iter().enumerate().filter(|(_, b)| is_of(a, b) && a.1 == b.1).map(|(r, _)| (l, r)));
        }
        prop_assert_eq!(pairs(on), expected);
        for direction in ["backward", "forward", "nearest"] {
            let mut expected = Vec::new();
            for (l, a) in left.iter().enumerate() {
                let near = right.iter().enumerate().filter(|(_, b)| is_of(a, b)).filter(|(_, b)| match direction {
                    "backward" => b.1 <= a.1,
                    "forward" => b.1 >= a.1,
                    _ => true,
                });
                // The nearest, the smaller of two, the last of those that are backward, the first of the
                // others.
                let best = near.min_by_key(|(r, b)| {
                    let is_before = b.1 < a.1 || (b.1 == a.1 && direction != "forward");
                    let row = *r as i64;
                    ((a.1 - b.1).abs(), !is_before, if is_before { -row } else { row })
                });
                expected.extend(best.filter(|(_, b)| (a.1 - b.1).abs() <= tolerance).map(|(r, _)| (l, r)));
            }
            let asked = format!("--on k {by} --nearest {direction} --tolerance {tolerance}");
            prop_assert_eq!(pairs(&asked), expected, "{}", direction);
        }
    }
}

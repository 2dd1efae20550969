//! `latchless query`: numbers compare as numbers, for keys of any type.

mod common;

use common::{file, refused, run};
use proptest::prelude::*;

/// The values of the rows that a question finds in a file of keys, as one text.
fn found(keys: &[&str], arguments: &str) -> String {
    let rows: String = keys.iter().zip('a'..).map(|(key, name)| format!("{key},{name}\n")).collect();
    let (_folder, path) = file(format!("k,v\n{rows}"));
    let answer = run(&path, &format!("--key k --value v --format csv --quiet {arguments}"));
    answer.lines().iter().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect()
}

#[test]
fn a_number_that_overflows_a_float_is_no_infinity() {
    let message = "line 3, column \"k\": \"1e400\" is beyond the range of type f64";
    refused("k,v\n0.5,a\n1e400,b\n", "--key k --key-type f64 --between -inf inf", message);
    refused("k,v\n0.5,a\n1e400,b\n", "--key k --key-type f64 --skip-bad --between -inf inf", message);
    refused("k,v\n1,a\n-1e39,b\n", "--key k --key-type f32 --floor 0", "beyond the range of type f32");
    assert_eq!(found(&["NaN", "inf", "-inf", "0.5"], "--between -inf inf"), "cdb");
}

#[test]
fn a_bound_that_the_key_type_lacks_is_a_number_all_the_same() {
    let unsigned = ["50300078", "7", "18446744073709551615"];
    for (question, expected) in [
        ("--between -5 50300100", "ba"),
        ("--between -inf 1e3", "b"),
        ("--between 7.5 inf --reverse", "ca"),
        ("--between 7.2 7.8", ""),
        ("--between -7 -5", ""),
        ("--floor 50300078.5", "a"),
        ("--floor -1", ""),
        ("--floor 1e400", "c"),
        ("--ceil -1e400", "b"),
        ("--ceil 7.000000000000000000000001", "a"),
        ("--ceil 18446744073709551615.5", ""),
        ("--get 50300078.0 7e0 7.5", "ab"),
        ("--get -1 18446744073709551616 18446744073709551615.0", "c"),
        ("--get NaN", ""),
    ] {
        assert_eq!(found(&unsigned, question), expected, "{question}");
    }
    assert_eq!(found(&["-7", "5"], "--floor -6.5"), "a");
    assert_eq!(found(&["-7", "5"], "--floor 18446744073709551616"), "b");
    assert_eq!(found(&["-7", "5"], "--between -7.0 -1e-400"), "a");
    assert_eq!(found(&["3", "4294967295"], "--key-type u32 --between -1 4294967296"), "ab");
    assert_eq!(found(&["3", "4294967295"], "--key-type u32 --get 4294967298"), "");
}

#[test]
fn no_bound_is_rounded_where_the_column_is_not() {
    let large = ["9007199254740992", "9007199254740993", "9007199254740994"];
    assert_eq!(found(&large, "--get 9007199254740993.0"), "b");
    assert_eq!(found(&large, "--floor 9007199254740993.5"), "b");
    assert_eq!(found(&large, "--between 9007199254740992.5 9007199254740993.5"), "b");
    // Among floats each row is found by its own text, and a large integer isn't taken for its neighbour.
    assert_eq!(found(&["0.1", "0.30000000000000004"], "--get 0.1 0.30000000000000004 0.3"), "ab");
    assert_eq!(found(&["0.5", "1e16"], "--get 10000000000000001"), "");
    assert_eq!(found(&["0.5", "1e16"], "--get 10000000000000000"), "b");
    assert_eq!(found(&["0.5", "1e16"], "--floor 9999999999999999"), "a");
    assert_eq!(found(&["0.5", "1.5"], "--between 1 1e400"), "b");
}

#[test]
fn zeros_are_equal_and_nan_is_in_no_range_whatever_the_type() {
    for more in ["5", "5.5"] {
        assert_eq!(found(&["0", "-0", more], "--get 0"), "ab", "beside {more}");
        assert_eq!(found(&["0", "-0", more], "--between -0 -0"), "ab", "beside {more}");
    }
    assert_eq!(found(&["NaN", "1.5", "-nan"], "--ceil 2"), "");
    assert_eq!(found(&["NaN", "1.5", "-nan"], "--floor inf"), "b");
    assert_eq!(found(&["NaN", "1.5", "-nan"], "--get NaN"), "ac");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Integers and bounds in quarters, in 128 bits: the answers follow from exact comparison.
    #[test]
    fn ranges_hold_what_compares_so(
        keys in prop::collection::vec(prop_oneof![
            -20i128..20,
            (1i128 << 53) - 3..(1 << 53) + 3,
            i128::from(i64::MAX) - 3..=i128::from(i64::MAX),
        ], 1..8),
        is_unsigned: bool,
        ends in prop::array::uniform2(prop_oneof![
            -100i128..100,
            (1i128 << 55) - 12..(1 << 55) + 12,
            (1i128 << 65) - 12..(1 << 65) + 40,
            Just(-(1i128 << 80)),
        ]),
    ) {
        let keys: Vec<i128> = keys.into_iter().map(|key| if is_unsigned { key.abs() } else { key }).collect();
        let texts: Vec<String> = keys.iter().map(i128::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let quarters = |n: i128| {
            let sign = if n < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", n.abs() / 4, n.abs() % 4 * 25)
        };
        let sorted = |text: String| { let mut all: Vec<char> = text.chars().collect(); all.sort_unstable(); all };
        let expect = |is_in: &dyn Fn(i128) -> bool| -> Vec<char> {
            keys.iter().zip('a'..).filter(|&(&key, _)| is_in(key)).map(|(_, name)| name).collect()
        };
        let asked = format!("--between {} {}", quarters(low), quarters(high));
        prop_assert_eq!(sorted(found(&texts, &asked)), expect(&|key| (low..=high).contains(&(key * 4))));
        let best = keys.iter().copied().filter(|key| key * 4 <= high).max();
        let asked = format!("--floor {}", quarters(high));
        prop_assert_eq!(sorted(found(&texts, &asked)), expect(&|key| Some(key) == best));
        let asked = format!("--get={}", quarters(low));
        prop_assert_eq!(sorted(found(&texts, &asked)), expect(&|key| key * 4 == low));
    }
}

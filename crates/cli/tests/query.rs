//! The binary `latchless query`, on the sample file and on bad files.

mod common;

use common::{Outcome, ask, command, file, refused, run, sample};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The sample's rows between two positions, found without an index.
fn rows_between(low: u64, high: u64) -> Vec<String> {
    let text = std::fs::read_to_string(sample()).unwrap();
    let position = |line: &&str| line.split(',').nth(1).unwrap().parse::<u64>().unwrap();
    text.lines().skip(1).filter(|line| (low..=high).contains(&position(line))).map(str::to_owned).collect()
}

#[test]
fn get_keeps_duplicates_in_the_order_of_the_file() {
    let answer = ask("--get 50338589");
    let expected = ["chrom,pos,id,ref,alt", "22,50338589,rs143055323,A,G", "22,50338589,.,A,AG"];
    assert_eq!(answer.lines(), expected);
    let several = ask("--value id --get 50990086 50300078");
    assert_eq!(several.lines(), ["pos,id", "50990086,rs60414910", "50990086,.", "50300078,rs7410291"]);
}

#[test]
fn a_key_that_is_not_there_is_no_failure_and_prints_nothing() {
    let answer = run(&sample(), "--key pos --get 1 2");
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    assert!(answer.err.starts_with("no row has pos 1 or 2\n"), "{}", answer.err);
    let partly = run(&sample(), "--key pos --value id --format csv --get 1 50300078");
    assert_eq!(partly.lines(), ["pos,id", "50300078,rs7410291"]);
    assert!(partly.err.contains("\n1,1,10376,10369,u64,"), "{}", partly.err);
}

#[test]
fn between_gives_every_row_of_the_range_both_ends_included() {
    let (low, high) = (50_300_101, 50_338_589);
    let expected = rows_between(low, high);
    assert!(expected.len() > 500 && expected[0].contains("50300101"));
    assert_eq!(ask(&format!("--between {low} {high}")).lines()[1..], expected);
    let all = ask("--between 0 18446744073709551615");
    assert_eq!(all.lines()[1..], rows_between(0, u64::MAX));
}

#[test]
fn reverse_starts_at_the_end_and_keeps_equal_keys_in_order() {
    let answer = ask("--value id --between 50338500 50338589 --reverse");
    assert_eq!(answer.lines()[1..3], ["50338589,rs143055323", "50338589,."]);
    let mut positions: Vec<&str> = answer.lines()[1..].iter().map(|line| &line[..8]).collect();
    assert_eq!(positions.len(), rows_between(50_338_500, 50_338_589).len());
    positions.reverse();
    assert!(positions.is_sorted());
}

#[test]
fn limit_counts_rows_not_keys() {
    for (limit, direction) in [(1, ""), (2, ""), (1, "--reverse"), (700, "--reverse")] {
        let whole = ask(&format!("--between 50338589 50500000 {direction}"));
        let cut = ask(&format!("--between 50338589 50500000 --limit {limit} {direction}"));
        assert_eq!(cut.lines(), whole.lines()[..=limit]);
    }
}

#[test]
fn count_counts_rows_not_keys() {
    let count = |low: u64, high: u64| ask(&format!("--count {low} {high}")).lines()[1].to_owned();
    assert_eq!(count(50_338_589, 50_338_589), "2");
    assert_eq!(count(50_400_000, 50_500_000), rows_between(50_400_000, 50_500_000).len().to_string());
    assert_eq!(count(0, u64::MAX), "10376");
    assert_eq!(count(1, 2), "0");
}

#[test]
fn floor_and_ceil_find_the_nearest_rows_or_none() {
    for (question, expected) in [
        ("--floor 50300085", &["50300078,rs7410291"][..]),
        ("--floor 50300086", &["50300086,rs147922003"]),
        ("--floor 50338590", &["50338589,rs143055323", "50338589,."]),
        ("--ceil 50300079", &["50300086,rs147922003"]),
        ("--ceil 50300086", &["50300086,rs147922003"]),
        ("--ceil 0", &["50300078,rs7410291"]),
    ] {
        assert_eq!(ask(&format!("--value id {question}")).lines()[1..], *expected, "{question}");
    }
    for (question, note) in [
        ("--floor 50300077", "no row has pos 50300077 or smaller"),
        ("--ceil 50999965", "no row has pos 50999965 or larger"),
        ("--between 1 2", "no row has pos between 1 and 2"),
    ] {
        let answer = run(&sample(), &format!("--key pos {question}"));
        assert_eq!((answer.code, answer.out.as_str()), (0, ""));
        assert!(answer.err.starts_with(note), "{}", answer.err);
    }
}

#[test]
fn every_type_of_keys_and_every_way_to_build_gives_the_same_answer() {
    for question in [
        "--get 50338589 50300086 7 50999964",
        "--between 50300000 50600000",
        "--between 50300000 50600000 --reverse --limit 3000",
        "--count 50338589 50900000",
        "--floor 50400000",
        "--ceil 50400000",
    ] {
        let expected = ask(question).out;
        for key_type in ["u32", "u64", "i32", "i64", "f64"] {
            for built in ["", "--kernel scalar", "--no-huge-pages", "--memory-limit 4M"] {
                let answer = ask(&format!("--key-type {key_type} {built} {question}"));
                assert!(answer.lines().join("\n") == expected.trim_end(), "{key_type} {built} {question}");
            }
        }
    }
}

#[test]
fn the_summary_says_how_many_bytes_a_key_takes() {
    let answer = run(&sample(), "--key pos --count 0 1 --format json");
    let summary: Value = serde_json::from_str(&answer.err).unwrap();
    let bytes_per_key = summary["bytes_per_key"].as_f64().unwrap();
    assert!((12.0..80.0).contains(&bytes_per_key), "{bytes_per_key}");
}

#[test]
fn json_is_one_object_a_line_and_so_is_its_summary() {
    let answer = run(&sample(), "--key pos --get 50338589 1 --format json");
    let first = r#"{"chrom":"22","pos":50338589,"id":"rs143055323","ref":"A","alt":"G"}"#;
    assert_eq!((answer.lines()[0], answer.lines().len()), (first, 2));
    let summary: Value = serde_json::from_str(&answer.err).unwrap();
    assert_eq!(summary["found"], 2);
    assert_eq!(summary["missing"], serde_json::json!(["1"]));
    assert_eq!((&summary["rows"], &summary["keys"]), (&10_376.into(), &10_369.into()));
    for part in ["read_ns", "parse_ns", "build_ns", "query_ns"] {
        assert!(summary[part].as_u64().unwrap() > 0, "{part}");
    }
    assert_eq!(run(&sample(), "--key pos --count 0 50300100 --format json").out, "{\"count\":2}\n");
}

#[test]
fn csv_comes_out_as_it_went_in() {
    let (_folder, path) = file("\u{feff}k,\"the, text\"\r\n 007 ,\"a \"\"b\"\",\nc\"\r\n-1,\r\n");
    let answer = run(&path, "--key k --key-type i64 --format csv --between -5 9");
    assert_eq!(answer.out, "k,\"the, text\"\n-1,\n 007 ,\"a \"\"b\"\",\nc\"\n");
    assert!(answer.err.starts_with("found,missing,rows,"), "{}", answer.err);
    assert_eq!(answer.err.lines().count(), 2);
    let json = run(&path, "--key k --key-type i64 --format json --get 7");
    assert_eq!(json.out, "{\"k\":7,\"the, text\":\"a \\\"b\\\",\\nc\"}\n");
}

#[test]
fn tables_are_for_people() {
    let answer = run(&sample(), "--key pos --value id --get 50300078");
    assert!(answer.lines().iter().any(|line| line.contains("50300078") && line.contains("rs7410291")));
    for part in ["1 of 10,376 rows", "read ", "parse ", "build ", "query "] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
}

#[test]
fn the_file_need_not_be_sorted_and_may_have_negative_and_fractional_keys() {
    let (_folder, path) = file("k;v\n2.5;a\n-7;b\n1e3;c\n-0.5;d\n2.5;e\n");
    let ask = |question: &str| {
        let answer = run(&path, &format!("--delimiter ; --key k --format csv --value v {question}"));
        answer.lines()[1..].iter().map(|line| line.split(',').nth(1).unwrap()).collect::<String>()
    };
    assert_eq!(ask("--between -inf inf"), "bdaec");
    assert_eq!(ask("--between -7 -0.5 --reverse"), "db");
    assert_eq!(ask("--get -0.5 2.5"), "dae");
    assert_eq!(ask("--get=-7"), "b");
    assert_eq!(ask("--floor -1"), "b");
    assert_eq!(ask("--ceil -1 --key-type f32"), "d");
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let piped = |arguments: &str| -> Outcome {
        let mut child = command(Path::new("-"), arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"k\tv\n1\ta\n2\tb\n").unwrap();
        child.wait_with_output().unwrap().into()
    };
    assert_eq!(piped("--key k --get 2 --format csv --delimiter tab").lines(), ["k,v", "2,b"]);
    let refused = piped("--key x --get 2 --delimiter tab");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("there is no column \"x\" for --key; the columns are k, v"));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_query_quietly() {
    for format in ["table", "json", "csv"] {
        let mut child = command(&sample(), &format!("--key pos --between 0 99999999 --format {format}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let outcome: Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert!(!outcome.err.contains("error"), "{}", outcome.err);
    }
}

#[test]
fn bad_files_are_refused_with_the_place() {
    let missing = run(Path::new("no-such-file.csv"), "--key k --get 1");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("can't read no-such-file.csv: No such file"), "{}", missing.err);

    let get = "--key k --get 1";
    refused("", get, "FILE is empty");
    refused("\n\n", get, "FILE is empty");
    refused("k,v\n1,a\n", "--key x --get 1", "no column \"x\" for --key; the columns are k, v");
    refused("k,v\n1,a\n", "--key k --value x --get 1", "no column \"x\" for --value; the columns are k, v");
    refused("k,k\n1,a\n", get, "more than one column is called \"k\"");
    refused("k,v,v\n1,a,b\n", "--key k --get 1 --format json", "more than one column is called \"v\"");
    refused("k,v\n1,a\n2\n", get, "line 3 has 1 fields where the header has 2");
    refused("k,v\n1,\"a\n2,b\n", get, "starts on line 2 is never closed");
    refused(b"k,v\n1,a\n2,\xff\n", get, "line 3 of FILE is not UTF-8");
    refused("k,v\n1,a\nx7,b\n", get, "line 3, column \"k\": \"x7\" is not a number; --skip-bad");
    refused("k,v\n1,a\n,b\n", get, "line 3, column \"k\": the field is empty");
    refused("k,v\n1,a\n-2,b\n", "--key k --key-type u64 --get 1", "line 3, column \"k\": \"-2\" is not");
    let large = "k,v\n1,a\n18446744073709551616,b\n";
    refused(
        large,
        "--key k --key-type u64 --get 1",
        "line 3, column \"k\": \"18446744073709551616\" is not a number of type u64",
    );
}

#[test]
fn bad_arguments_are_refused_by_their_names() {
    let rows = "k,v\n1,a\n2,b\n";
    refused(rows, "--key k --between 3 2", "--between 3 2: the range starts after its end");
    refused(rows, "--key k --count 3 2", "--count 3 2: the range starts after its end");
    refused(rows, "--key k --between 1 2 --limit 0", "--limit 0");
    refused(rows, "--key k --kernel avx3 --get 1", "no such kernel (did you mean avx2");
    refused(rows, "--key k --floor x", "--floor: \"x\" is not a number");
    refused(rows, "--key k --between 1 x", "--between: \"x\" is not a number");
    refused(rows, "--key k --floor NaN", "--floor: NaN is neither smaller nor larger than any number");
    refused(rows, "--key k --count 0 -nan", "--count: NaN is neither");
    refused(rows, "--key k --delimiter ,, --get 1", "--delimiter takes one ASCII character");
    refused(
        rows,
        "--key k --get 1 --limit 5",
        "--limit goes with --between, --prefix, --distinct and --count-by only",
    );
    refused(
        rows,
        "--key k --floor 1 --reverse",
        "--reverse goes with --between, --prefix, --distinct and --count-by only",
    );
    refused(rows, "--key k --get 1 --prefix 1", "cannot be used with");
    refused(rows, "--key k --prefix 1 --limit 0", "--limit 0");
    // Refused by clap: no question, two questions, unknown types.
    refused(rows, "--key k", "--get");
    refused(rows, "--key k --get 1 --floor 1", "cannot be used with");
    refused(rows, "--key k --key-type u8 --get 1", "u8");
    refused(rows, "--get 1", "--key");
}

#[test]
fn refused_memory_is_a_failure_while_running() {
    let answer = ask("--memory-limit 4096 --get 1");
    assert_eq!((answer.code, answer.out.as_str()), (1, ""));
    assert!(answer.err.contains("over its limit of 4096 bytes"), "{}", answer.err);
}

#[test]
fn help_teaches() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless"));
    let help: Outcome = command.args(["query", "--help"]).output().unwrap().into();
    let help = help.lines().join("\n");
    for part in ["Examples", "$FILE --key pos --get 50338589", "Exit codes", "--key-type"] {
        assert!(help.contains(part), "{part}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_parquet_file_is_known_for_one() {
    refused(b"PAR1\xff\xff", "--key k --get 1", "FILE is a Parquet file, which this build doesn't read");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_is_a_file_like_any_other() {
    use parquet::{data_type::DoubleType, file::writer::SerializedFileWriter, schema::parser};

    let schema = parser::parse_message_type("message m { required double k; required double v; }").unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    for numbers in [[2.5, -7.0, 1e3], [1.0, 2.0, 3.0]] {
        let mut column = rows.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
    }
    rows.close().unwrap();
    let bytes = writer.into_inner().unwrap();

    let (_folder, path) = file(&bytes);
    let answer = run(&path, "--key k --value v --between -10 10 --format csv");
    assert_eq!(answer.lines(), ["k,v", "-7.0,2.0", "2.5,1.0"]);
    let answer = run(&path, "--no-header --key 2 --between 0 1.5 --format csv");
    assert_eq!(answer.lines(), ["2.5,1.0"], "its columns have names, but they are no row");
    refused(&bytes[..bytes.len() / 2], "--key k --get 1", "can't read FILE as Parquet");
    refused(&bytes, "--key k --value x --get 1", "no column \"x\" for --value; the columns are k, v");
}

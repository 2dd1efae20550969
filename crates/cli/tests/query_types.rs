//! `latchless query` on columns of dates, times, addresses, versions, decimals and ids: the type is the one
//! that fits all cells, and no question about it is answered about texts.

mod common;

use common::{file, refused, run, run_with};
use std::path::Path;

/// The last cells of the rows that a question finds, as one text.
fn found_in(path: &Path, arguments: &[&str]) -> String {
    let outcome = run_with(path, &[&["--format", "csv", "--quiet"], arguments].concat());
    assert_eq!((outcome.code, &outcome.err[..]), (0, ""), "{arguments:?}");
    let mut rows = csv::Reader::from_reader(outcome.out.as_bytes());
    rows.records().map(|row| row.unwrap().iter().next_back().unwrap().to_owned()).collect()
}

/// A file of these keys, of which each row is called by a letter.
fn keyed(keys: &[&str]) -> (tempfile::TempDir, std::path::PathBuf) {
    let rows: String = keys.iter().zip('a'..).map(|(key, name)| format!("{key}\t{name}\n")).collect();
    file(format!("k\tv\n{rows}"))
}

/// Runs each of these questions, and checks the type that the statistics name.
fn check(keys: &[&str], key_type: &str, questions: &[(&[&str], &str)]) {
    let (_folder, path) = keyed(keys);
    for (question, expected) in questions {
        assert_eq!(found_in(&path, &[&["--key", "k"], *question].concat()), *expected, "{question:?}");
    }
    let said = run(&path, "--key k --prefix x --key-type text --format json").err;
    assert!(said.contains(r#""key_type":"text""#), "{said}");
    let said = run_with(&path, &[&["--key", "k", "--format", "json"], questions[0].0].concat()).err;
    assert!(said.contains(&format!(r#""key_type":"{key_type}""#)), "{said}");
}

#[test]
fn dates_of_the_united_states_are_in_the_order_of_days() {
    check(
        &["12/31/2023", "1/5/2024", "02/01/2023", "1/5/2024"],
        "date-mdy",
        &[
            (&["--between", "1/1/2023", "12/31/2023"], "ca"),
            (&["--between", "2023-01-01", "12/31/2023"], "ca"),
            (&["--get", "01/05/2024"], "bd"),
            (&["--get", "2024-01-05", "2/1/2023"], "bdc"),
            (&["--floor", "2024-01-04"], "a"),
            (&["--ceil", "2/2/2023"], "a"),
            (&["--count", "2023-01-01", "2025-01-01"], "4"),
            (&["--between", "2023-01-01", "2025-01-01", "--reverse", "--limit", "3"], "bda"),
            (&["--prefix", "1/5"], "bd"),
        ],
    );
}

#[test]
fn dates_are_read_in_the_order_that_all_cells_leave() {
    check(&["31/12/2023", "5/1/2024"], "date-dmy", &[(&["--between", "1/1/2024", "1/2/2024"], "b")]);
    check(&["01.12.2023", "05.01.2024"], "date-dmy", &[(&["--between", "1.1.2024", "1.2.2024"], "b")]);
    check(&["2023-12-31", "2024-01-05"], "date", &[(&["--ceil", "2024-01-01"], "b")]);
    check(&["31 Dec 2023", "Jan 5, 2024"], "date-mon", &[(&["--between", "1 Jan 2024", "2024-12-31"], "b")]);
    let ambiguous = "k,v\n1/5/2024,a\n2/12/2023,b\n";
    let message =
        "column k: each cell can be of type date-mdy or date-dmy, such as \"1/5/2024\"; --date-format mdy";
    for question in ["--between 1/1/2023 12/31/2023", "--floor 2024-01-01", "--get 1/5/2024"] {
        refused(ambiguous, &format!("--key k {question}"), message);
    }
    refused(ambiguous, "--key k --key-type date --floor 2024-01-01", message);
    let (_folder, path) = file(ambiguous);
    for (format, expected) in [("mdy", "ba"), ("dmy", "ba")] {
        let ask = ["--key", "k", "--date-format", format, "--between", "2023-01-01", "2025-01-01"];
        assert_eq!(found_in(&path, &ask), expected);
    }
    let february = ["--between", "2023-02-01", "2023-02-28", "--key", "k"];
    assert_eq!(found_in(&path, &[&february[..], &["--date-format", "mdy"]].concat()), "b");
    assert_eq!(found_in(&path, &[&february[..], &["--date-format", "dmy"]].concat()), "");
    assert_eq!(
        found_in(&path, &["--key", "k", "--key-type", "text", "--between", "1/1/2023", "12/31/2023"]),
        "a"
    );
}

#[test]
fn a_range_of_dates_is_never_one_of_texts() {
    let mixed = "name,date\nbob,12/31/2023\ntom,NA\nann,1/5/2024\n";
    let line = "line 3, column \"date\": \"NA\" is not of type date-mdy, as 12/31/2023 is; --skip-bad";
    for question in ["--between 1/1/2023 12/31/2023", "--count 1/1/2023 12/31/2023", "--get 12/31/2023"] {
        refused(mixed, &format!("--key date {question} --quiet"), line);
    }
    let (_folder, path) = file(mixed);
    let skipping =
        run(&path, "--key date --skip-bad --between 1/1/2023 12/31/2023 --format csv --value name");
    assert_eq!(skipping.lines(), ["date,name", "12/31/2023,bob"]);
    assert!(
        skipping.err.contains(",date-mdy,") && skipping.err.trim_end().ends_with(",1"),
        "{}",
        skipping.err
    );
    assert_eq!(found_in(&path, &["--key", "date", "--value", "name", "--get", "NA"]), "tom");
    // One end is a date, the other nothing.
    refused(
        "d\nx\ny\n",
        "--key d --between 1/1/2023 zz",
        "--between: \"1/1/2023\" would be compared as a text, because the keys in d are: no other type fits all of them",
    );
    // Cells with digits, whatever they are, have another order than texts.
    for (cells, ends) in
        [("1/5/24\n12/31/23", "1/1/23 12/31/23"), ("$1.50\n$10.00", "$1 $2"), ("9%\n50%", "50% 9%")]
    {
        refused(format!("k\n{cells}\n"), &format!("--key k --between {ends}"), "would be compared as a text");
    }
    let (_folder, path) = file("k\nA-9\nA-10\n");
    assert_eq!(found_in(&path, &["--key", "k", "--between", "A-1", "A-2"]), "A-10");
    // Another date format than the column's, and a text that is no date at all.
    let iso = "d\n2024-01-05\n2023-12-31\n";
    let message = "--between: \"1/1/2024\" is not of the type of the keys in d, date, as 2023-12-31 is; with --key-type text";
    refused(iso, "--key d --between 1/1/2024 12/31/2024", message);
    refused(iso, "--key d --get foo", "--get: \"foo\" is not of the type of the keys in d, date");
    refused(iso, "--key d --floor 5", "--floor: \"5\" is not of the type of the keys in d, date");
    refused(iso, "--key d --between 2024-02-01 2024-01-01", "the range starts after its end");
    refused(iso, "--key d --floor 2024-02-30", "is not of the type");
    refused(
        "d\n2024/12/12\n2024/12/13\n1\n",
        "--key d --floor 2024/12/13",
        "line 4, column \"d\": \"1\" is not of type",
    );
    refused(
        "d\n2024/12/12\n\n\"\"\n",
        "--key d --floor 2024/12/13",
        "line 4, column \"d\": the field is empty",
    );
    refused(
        "d\n1\n",
        "--key d --date-format mdy --key-type u64 --get 1",
        "--date-format goes with --key-type date",
    );
}

#[test]
fn time_stamps_with_zones_are_instants() {
    let stamps = [
        "2024-01-01T10:00:00+02:00",
        "2024-01-01T09:00:00Z",
        "2024-01-01 08:00:00.000000001Z",
        "2024-01-01 03:00 -0500",
    ];
    check(
        &stamps,
        "timestamptz",
        &[
            (&["--between", "2024-01-01T08:00:00Z", "2024-01-01T08:59:59Z"], "adc"),
            (&["--get", "2024-01-01T08:00Z"], "ad"),
            (&["--get", "2024-01-01T08:00:00.000000001 UTC"], "c"),
            (&["--floor", "2024-01-01T23:00+14:00"], "b"),
        ],
    );
    let (_folder, path) = keyed(&stamps);
    let naive = run(&path, "--key k --floor 2024-01-01T08:00");
    assert!(
        naive.code == 2 && naive.err.contains("timestamptz, as 2023-12-31T23:59:59Z is"),
        "{}",
        naive.err
    );
    let mixture = "k,v\n2024-01-01T10:00:00,a\n2024-01-01T09:00:00Z,b\n";
    let message = "\"2024-01-01T09:00:00Z\" is not of type timestamp, as 2023-12-31T23:59:59 is";
    refused(mixture, "--key k --floor 2024-01-01T09:00:00Z", message);
    refused(mixture, "--key k --key-type timestamp --floor 2024-01-01T09:00:00", message);
    let other = "\"2024-01-01T10:00:00\" is not of type timestamptz, as";
    refused(mixture, "--key k --key-type timestamptz --get 2024-01-01T09:00Z", other);
}

#[test]
fn a_day_among_time_stamps_is_all_of_it() {
    check(
        &["2024-01-01 00:00", "2024-01-01 23:59:59.999999999", "2024-01-02 00:00:00", "2023-12-31T12:00"],
        "timestamp",
        &[
            (&["--get", "2024-01-01"], "ab"),
            (&["--between", "2023-12-31", "2024-01-01"], "dab"),
            (&["--between", "2024-01-01T00:00:00.5", "2024-01-02"], "bc"),
            (&["--floor", "2024-01-01"], "b"),
            (&["--ceil", "2024-01-02"], "c"),
            (&["--count", "2024-01-01", "2024-01-01"], "2"),
        ],
    );
    check(&["12/31/2023 11:59 PM", "1/1/2024 12:30 AM"], "timestamp-mdy", &[(&["--get", "1/1/2024"], "b")]);
    let (_folder, path) = file("t,n,v\n2024-01-01 10:00,1,a\n2024-01-01 11:00,2,b\n2024-01-02 11:00,2,c\n");
    assert_eq!(found_in(&path, &["--key", "t,n", "--get", "2024-01-01"]), "ab");
    assert_eq!(
        found_in(&path, &["--key", "t,n", "--between", "2024-01-01T10:30", "2024-01-02T11:00,2"]),
        "bc"
    );
    let day = run(&path, "--key t,n --get 2024-01-01,2");
    assert!(
        day.code == 2 && day.err.contains("is a whole day, after which a key has no more parts"),
        "{}",
        day.err
    );
    assert_eq!(found_in(&path, &["--key", "n,t", "--get", "2,2024-01-01"]), "b");
}

#[test]
fn times_addresses_and_versions_have_their_own_order() {
    check(
        &["9:05", "10:00:00", "11:59 PM", "23:59:00"],
        "time",
        &[(&["--between", "9:00", "10:00"], "ab"), (&["--get", "23:59"], "cd")],
    );
    check(
        &["10.0.0.10", "10.0.0.9", "10.0.0.1", "9.255.255.255", "::1"],
        "ip",
        &[
            (&["--between", "10.0.0.1", "10.0.0.9"], "cb"),
            (&["--floor", "10.0.0.255"], "a"),
            (&["--get", "0:0::1"], "e"),
        ],
    );
    check(
        &["1.10.0", "1.9.0", "v1.2", "1.10.0-rc.1", "1.2.0"],
        "version",
        &[
            (&["--between", "1.2", "1.10"], "cebda"),
            (&["--between", "1.9", "1.10.0-rc.2"], "bd"),
            (&["--get", "1.2.0.0"], "ce"),
        ],
    );
    refused(
        "k\n10.0.0.1\n10.0.0\n",
        "--key k --key-type ip --floor 10.0.0.1",
        "line 3, column \"k\": \"10.0.0\" is not of type ip",
    );
    refused(
        "k\n10.0.0.1\nhost\n",
        "--key k --floor 10.0.0.1",
        "line 3, column \"k\": \"host\" is not of type ip, as 10.0.0.1 is",
    );
}

#[test]
fn decimals_are_exact_to_the_last_digit() {
    check(
        &["649686000000001631.440", "649686000000001631.441", "1.50", "1.5"],
        "decimal",
        &[
            (&["--get", "649686000000001631.440"], "a"),
            (&["--get", "649686000000001631.44"], "a"),
            (&["--get", "1.5"], "cd"),
            (&["--between", "2", "649686000000001631.4405"], "a"),
            (&["--floor", "1e400"], "b"),
            (&["--ceil", "-inf"], "cd"),
        ],
    );
    // Few digits have floats of their own.
    check(
        &["0.1", "0.10", "0.3", "2"],
        "f64",
        &[
            (&["--get", "0.1"], "ab"),
            (&["--get", "0.1000000000000000055"], ""),
            (&["--floor", "0.2999999999999999999999"], "ab"),
            (&["--ceil", "0.3000000000000000000001"], "d"),
        ],
    );
    check(
        &["18446744073709551616", "18446744073709551617"],
        "decimal",
        &[(&["--get", "18446744073709551617"], "b")],
    );
    check(&["1,234.5", "999.25"], "decimal", &[(&["--between", "1000", "2000"], "a")]);
}

#[test]
fn decimals_may_have_a_comma() {
    let prices = "id;preis\n1;1,50\n2;2,75\n3;10,00\n4;1.000,5\n";
    let (_folder, path) = file(prices);
    let ask = |question: &[&str]| found_in(&path, &[&["--value", "id", "--key", "preis"], question].concat());
    let csv = |question: &str| run(&path, &format!("--key preis --format csv {question}")).out;
    assert_eq!(csv("--between 1,5 3"), "id,preis\n1,\"1,50\"\n2,\"2,75\"\n");
    assert_eq!(ask(&["--get", "1000,50"]), "4");
    assert_eq!(ask(&["--between", "1,5", "3"]), "12");
    let point = run(&path, "--key preis --between 1.5 3");
    assert!(point.code == 2 && point.err.contains("decimal-comma, as 1,50 is"), "{}", point.err);
    let either = "k;v\n1,500;a\n2,250;b\n";
    refused(
        either,
        "--key k --between 1 3",
        "such as \"1,500\"; --key-type decimal or --decimal-comma says which",
    );
    let (_folder, path) = file(either);
    assert_eq!(found_in(&path, &["--key", "k", "--decimal-comma", "--between", "1", "2"]), "a");
    assert_eq!(found_in(&path, &["--key", "k", "--key-type", "decimal", "--between", "1", "2000"]), "a");
    // Full stops that are no points.
    let (_folder, path) = file("k;v\n1.500;a\n2;b\n");
    assert_eq!(found_in(&path, &["--key", "k", "--decimal-comma", "--floor", "1000"]), "b");
    assert_eq!(found_in(&path, &["--key", "k", "--floor", "1.75"]), "a");
    refused(
        "k\nx\n",
        "--key k --decimal-comma --floor 1,5",
        "line 2, column \"k\": \"x\" is not of type decimal-comma",
    );
    refused(
        "k\n1\n",
        "--key k --decimal-comma --key-type u64 --get 1",
        "--decimal-comma goes with --key-type decimal",
    );
}

#[test]
fn ids_with_zeros_in_front_are_texts() {
    let zips = ["01000", "1000", "10001", "02134"];
    check(
        &zips,
        "text",
        &[
            (&["--get", "01000"], "a"),
            (&["--get", "1000"], "b"),
            (&["--get", "01000", "1000"], "ab"),
            (&["--prefix", "0"], "ad"),
            (&["--prefix", "1"], "bc"),
            (&["--between", "01000", "09999"], "ad"),
        ],
    );
    let (_folder, path) = keyed(&zips);
    let numbers = run(&path, "--key k --between 1000 2000 --quiet");
    assert_eq!((numbers.code, &numbers.out[..]), (2, ""));
    assert!(
        numbers.err.contains("line 2, column \"k\": \"01000\" has a zero in front, as ids have"),
        "{}",
        numbers.err
    );
    assert_eq!(found_in(&path, &["--key", "k", "--key-type", "u64", "--between", "1000", "2000"]), "ab");
    refused("k\n1000\n", "--key k --get 01000", "--get: \"01000\" is not a number, as the keys in k are");
    refused("k\n01000\nNA\n", "--key k --skip-bad --get 1", "\"01000\" has a zero in front");
}

#[test]
fn leaving_out_all_rows_is_no_answer() {
    let message = "--skip-bad would leave out all 2 rows: no key is of type";
    let dates = "id,d\n1,2024-01-01\n2,2024-01-02\n";
    refused(dates, "--key d --skip-bad --get 5 --quiet", message);
    refused(
        dates,
        "--key id,d --skip-bad --get 1 --quiet",
        "no key is of type u64,u64; --key-type names another",
    );
    refused("d\n1/5/24\n2/5/24\n", "--key d --skip-bad --key-type date --get 2024-01-05", message);
    let (_folder, path) = file(dates);
    assert_eq!(
        found_in(&path, &["--key", "id,d", "--key-type", "u64,date", "--skip-bad", "--get", "1"]),
        "2024-01-01"
    );
    assert_eq!(found_in(&path, &["--key", "d", "--skip-bad", "--get", "2024-01-02"]), "2024-01-02");
}

#[test]
fn types_are_parts_of_keys_of_several_columns() {
    let text = "host;day;n\nb;31.12.2023;1\na;1.1.2024;2\na;2.12.2023;3\n";
    let (_folder, path) = file(text);
    assert_eq!(found_in(&path, &["--key", "host,day", "--get", "a"]), "32");
    assert_eq!(found_in(&path, &["--key", "host,day", "--between", "a,3.12.2023", "b,2023-12-31"]), "21");
    assert_eq!(found_in(&path, &["--key", "day,host", "--between", "2023-12-01", "2023-12-31,a"]), "3");
    assert_eq!(found_in(&path, &["--key", "day,host", "--prefix", "31.12.2023,"]), "1");
    let said = run(&path, "--key host,day --get a").err;
    assert!(said.contains("distinct text,date-dmy keys"), "{said}");
    let (_folder, path) = file("ip;v;n\n10.0.0.9;1.10.0;1\n10.0.0.10;1.9.0;2\n10.0.0.9;1.9.0;3\n");
    assert_eq!(found_in(&path, &["--key", "ip,v", "--between", "10.0.0.9,1.9", "10.0.0.10,1.9.0"]), "312");
}

#[test]
fn a_saved_index_keeps_its_types() {
    for (keys, how, key_type, questions) in [
        (
            &["12/31/2023", "1/5/2024"][..],
            "",
            "date-mdy",
            &["--between 1/1/2023 12/31/2023", "--get 2024-01-05"][..],
        ),
        (&["2024-01-01T10:00+02", "2024-01-01T09:00Z"], "", "timestamptz", &["--ceil 2024-01-01T08:30Z"]),
        (&["2024-01-01T10:00", "2024-01-02T09:00"], "", "timestamp", &["--get 2024-01-01"]),
        (&["10.0.0.10", "10.0.0.9"], "", "ip", &["--between 10.0.0.1 10.0.0.9"]),
        (&["1.10.0", "1.9.0"], "", "version", &["--floor 1.9.5"]),
        (
            &["649686000000001631.440", "649686000000001631.441"],
            "",
            "decimal",
            &["--get 649686000000001631.441"],
        ),
        (&["1,500", "2,250"], "--decimal-comma", "decimal-comma", &["--floor 2"]),
        (&["0.1", "0.3"], "", "f64", &["--get 0.1000000000000000055", "--floor 0.29"]),
        (&["01000", "1000"], "", "text", &["--get 01000", "--prefix 0"]),
    ] {
        let (folder, path) = keyed(keys);
        let index = folder.path().join("index.arrow");
        let saving = format!("--key k {how} {} --save {}", questions[0], index.display());
        assert_eq!(run(&path, &saving).code, 0, "{saving}");
        for question in questions {
            let (from_file, from_index) = (
                run(&path, &format!("--key k {how} {question} --format csv")),
                run(&index, &format!("{question} --format csv")),
            );
            assert_eq!(
                (from_index.code, &from_index.out),
                (0, &from_file.out),
                "{question}: {}",
                from_index.err
            );
            assert!(from_index.err.contains(&format!(",{key_type},")), "{}", from_index.err);
        }
        assert_eq!(run(&index, "--get foo").code, if key_type == "text" { 0 } else { 2 });
        let ordered = run(&index, "--between 1/1/1999 2/2/1999");
        assert_eq!(ordered.code, if key_type == "date-mdy" { 0 } else { 2 }, "{key_type}: {}", ordered.err);
    }
    let (folder, path) = keyed(&["12/31/2023", "1/5/2024"]);
    let index = folder.path().join("index.arrow");
    assert_eq!(run(&path, &format!("--key k --get 1/5/2024 --save {}", index.display())).code, 0);
    assert_eq!(run(&index, "--key-type date --get 1/5/2024 --format csv").lines(), ["k,v", "1/5/2024,b"]);
    let other = run(&index, "--key-type ip --get ::1");
    assert!(
        other.code == 2 && other.err.contains("is an index over keys of type date-mdy, not ip"),
        "{}",
        other.err
    );
}

#[test]
fn an_index_that_an_earlier_version_saved_is_asked_as_it_was_saved() {
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/earlier");
    let ask = |index: &str, question: &str| run(&earlier.join(index), &format!("{question} --format csv"));
    let of_numbers = ask("zip.arrow", "--get 1000");
    assert_eq!(of_numbers.lines().len(), 3, "{}", of_numbers.out);
    assert_eq!(ask("price.arrow", "--get 0.1").lines()[1..], ["01000,0.1,10"]);
    assert_eq!(ask("name.arrow", "--get NA").lines()[1..], ["20000,649686000000001631.441,NA"]);
    let ordered = ask("name.arrow", "--between 1 20");
    assert!(ordered.code == 2 && ordered.err.contains("would be compared as a text"), "{}", ordered.err);
    assert_eq!(ask("name.arrow", "--between 1 20 --key-type text").lines().len(), 2);
}

//! `latchless query` on columns of texts, and on several columns.

mod common;

use common::{Outcome, file, refused, run, run_with, sample};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::path::Path;

/// The last cells of the rows that a question finds, as one text; none of them has a comma.
fn found(path: &Path, arguments: &[&str]) -> String {
    let outcome = run_with(path, &[&["--format", "csv", "--quiet"], arguments].concat());
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.err);
    let mut rows = csv::Reader::from_reader(outcome.out.as_bytes());
    rows.records().map(|row| row.unwrap().iter().next_back().unwrap().to_owned()).collect()
}

/// A file of these keys and values.
fn rows(header: &str, rows: &[(&str, &str)]) -> (tempfile::TempDir, std::path::PathBuf) {
    let mut writer = csv::Writer::from_writer(header.as_bytes().to_vec());
    rows.iter().for_each(|&(key, value)| writer.write_record([key, value]).unwrap());
    file(writer.into_inner().unwrap())
}

#[test]
fn texts_have_every_question() {
    let names = [
        ("pear", "a"),
        ("Pear", "b"),
        ("", "c"),
        ("pear", "d"),
        ("pea", "e"),
        ("say \"hi\", you", "f"),
        ("poire é", "g"),
        ("poire\nê", "h"),
        (" pear", "i"),
        ("10", "j"),
        ("9", "k"),
        ("日本", "l"),
    ];
    let (_folder, path) = rows("name,v\n", &names);
    for (question, expected) in [
        (&["--get", "pear"][..], "ad"),
        (&["--get", "Pear", "", "pears", "pear"], "bcad"),
        (&["--get", "say \"hi\", you"], "f"),
        (&["--get", " pear"], "i"),
        (&["--get", "pear "], ""),
        (&["--get", "poire\nê", "日本"], "hl"),
        (&["--get", "10", "pea"], "je"),
        (&["--prefix", "pea"], "ead"),
        (&["--prefix", "pea", "--reverse"], "ade"),
        (&["--prefix", "pea", "--limit", "2"], "ea"),
        (&["--prefix", "poire"], "hg"),
        (&["--prefix", "日"], "l"),
        (&["--prefix", "1"], "j"),
        (&["--prefix", "x"], ""),
        (&["--prefix", ""], "cijkbeadhgfl"),
        (&["--between", "pea", "pear"], "ead"),
        (&["--between", "", "A"], "cijk"),
        (&["--between", "pf", "po"], ""),
        (&["--between", "pear", "pear"], "ad"),
        (&["--between", "pea", "q", "--reverse", "--limit", "3"], "gha"),
        (&["--between", "1", "9", "--key-type", "text"], "jk"),
        (&["--floor", "pear"], "ad"),
        (&["--floor", "peaq"], "e"),
        (&["--floor", ""], "c"),
        (&["--ceil", "peb"], "h"),
        (&["--ceil", "~"], "l"),
        (&["--ceil", "月"], ""),
        (&["--count", "pea", "pear"], "3"),
        (&["--count", "q", "r"], "0"),
    ] {
        assert_eq!(found(&path, &[&["--key", "name"], question].concat()), expected, "{question:?}");
    }
    // Longer than any key: not there, and no failure.
    let long = "x".repeat(70_000);
    for question in [&["--get", &long][..], &["--prefix", &long], &["--between", &long, &long]] {
        assert_eq!(found(&path, &[&["--key", "name"], question].concat()), "");
    }
    assert_eq!(found(&path, &["--key", "name", "--floor", &long]), "f");
    let json = run_with(&path, &["--key", "name", "--get", "10", "pea", "--format", "json"]);
    assert_eq!(json.lines(), [r#"{"name":"10","v":"j"}"#, r#"{"name":"pea","v":"e"}"#]);
    assert!(json.err.contains(r#""keys":11,"key_type":"text""#), "{}", json.err);
}

#[test]
fn every_way_to_build_gives_the_same_answer() {
    for question in
        ["--key id --prefix rs74103", "--key alt,pos --between C,50400000 G,7 --limit 9 --reverse"]
    {
        let expected = run(&sample(), &format!("{question} --format csv")).out;
        assert!(expected.lines().count() > 3, "{question}: {expected}");
        for built in ["--kernel scalar", "--no-huge-pages", "--memory-limit 4M"] {
            assert_eq!(run(&sample(), &format!("{question} --format csv {built}")).out, expected, "{built}");
        }
        let refused = run(&sample(), &format!("{question} --memory-limit 8192"));
        assert_eq!((refused.code, &refused.out[..]), (1, ""), "{}", refused.err);
        assert!(refused.err.contains("over its limit of 8192 bytes"), "{}", refused.err);
    }
}

#[test]
fn what_is_missing_is_said_harmlessly() {
    let (_folder, path) = file("name,v\nb,1\nc,2\n");
    let note = |arguments: &[&str]| run_with(&path, &[&["--key", "name"], arguments].concat()).err;
    assert!(note(&["--get", "a", "", "d"]).starts_with("no row has name a or \"\" or d\n"));
    assert!(note(&["--get", "\u{1b}[2J"]).starts_with("no row has name ␛[2J\n"));
    assert!(note(&["--prefix", "bb"]).starts_with("no row has name that begins with bb\n"));
    assert!(note(&["--floor", "a"]).starts_with("no row has name a or smaller\n"));
    assert!(note(&["--count", "d", "e"]).starts_with("no row has name between d and e\n"));
    let summary = note(&["--get", "say \"hi\", you", "x", "--format", "csv"]);
    let mut summary = csv::Reader::from_reader(summary.as_bytes());
    assert_eq!(&summary.records().next().unwrap().unwrap()[1], "say \"hi\", you x");
}

#[test]
fn a_column_of_numbers_stays_one() {
    let numbers = "k,v\n10,a\n9,b\n";
    refused(
        numbers,
        "--key k --get x 9",
        "--get: \"x\" is not a number, as the keys in k are; with --key-type text",
    );
    refused(numbers, "--key k --prefix 1", "--prefix asks about texts, and the keys in k are numbers");
    refused(numbers, "--key k --key-type u32 --between 1 x", "--between: \"x\" is not a number");
    refused(numbers, "--key k --skip-bad --get x", "--get: \"x\" is not a number");
    let (_folder, path) = file(numbers);
    assert_eq!(found(&path, &["--key", "k", "--between", "1", "100"]), "ba");
    assert_eq!(found(&path, &["--key", "k", "--key-type", "text", "--between", "", "a"]), "ab");
    assert_eq!(found(&path, &["--key", "k", "--key-type", "text", "--prefix", "1"]), "a");
}

#[test]
fn a_cell_without_a_number_does_not_go_unseen_where_numbers_are_meant() {
    let some = "k,v\n10,a\nNA,b\n9,c\n";
    for question in ["--get 9", "--between 1 10", "--floor 9", "--get NaN", "--count 1 2"] {
        let message = "line 3, column \"k\": \"NA\" is not a number; --skip-bad leaves such rows out, with --key-type text";
        refused(some, &format!("--key k {question}"), message);
    }
    let (_folder, path) = file(some);
    assert_eq!(found(&path, &["--key", "k", "--get", "NA", "9"]), "bc");
    assert_eq!(found(&path, &["--key", "k", "--get", "9", "--skip-bad"]), "c");
    assert_eq!(found(&path, &["--key", "k", "--get", "9", "--key-type", "text"]), "c");
    assert_eq!(found(&path, &["--key", "k", "--get", "NA", "--key-type", "text", "--skip-bad"]), "b");
    refused(some, "--key k --between 9 10 --key-type text", "--between 9 10: the range starts after its end");
    refused(some, "--key k --between b a", "--between b a: the range starts after its end");
}

#[test]
fn without_rows_every_question_has_an_empty_answer() {
    let (_folder, path) = file("k,v\n");
    for question in ["--get a", "--prefix a", "--between a b", "--floor a", "--ceil a", "--get 1"] {
        for key in ["k", "k,v", "v,k"] {
            let answer = run(&path, &format!("--key {key} {question}"));
            assert_eq!((answer.code, &answer.out[..]), (0, ""), "{key} {question}: {}", answer.err);
        }
    }
    assert_eq!(found(&path, &["--key", "k", "--count", "a", "b"]), "0");
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let longest = "x".repeat((1 << 24) - 1);
    let (_folder, path) = rows("k,v\n", &[(&longest, "a"), ("y", "b")]);
    assert_eq!(found(&path, &["--key", "k", "--prefix", "x"]), "a");
    refused(
        format!("k,v\ny,a\nx{longest},b\n"),
        "--key k --prefix x",
        "line 3, column \"k\": the key has 16777216 bytes, more than the 16777215 that a key may have\n",
    );
    refused(
        format!("k,v\nx{longest},b\n"),
        "--key k --key-type text --skip-bad --prefix x",
        "line 2, column \"k\": the key has 16777216 bytes",
    );
    refused(
        format!("k,v\n{longest},1\n"),
        "--key k,v --prefix x",
        "line 2, column \"k\": the key has 16777217 bytes",
    );
}

#[test]
fn two_columns_are_ordered_by_the_first_and_then_by_the_second() {
    let text = "city,year,v\nRome,-5,a\nOslo,7,b\nRome,-50,c\n\"Rome, N.Y.\",3,d\nRome,12,e\nOslo,7,f\nRom,9,g\n,0,h\n";
    let (_folder, path) = file(text);
    for (question, expected) in [
        (&["--get", "Rome"][..], "cae"),
        (&["--get", "Rome,-5", "Oslo,7", "Rome,7"], "abf"),
        (&["--get", "Rome,-5.0"], "a"),
        (&["--get", "Rome,-5.5"], ""),
        (&["--get", "\"Rome, N.Y.\""], "d"),
        (&["--get", "\"Rome, N.Y.\",3"], "d"),
        (&["--get", ""], "h"),
        (&["--get", ",0"], "h"),
        (&["--between", "Rome,-50", "Rome,-1"], "ca"),
        (&["--between", "Rome,-49.5", "Rome"], "ae"),
        (&["--between", "Oslo", "Rome,-5.5"], "bfgc"),
        (&["--between", "Oslo", "Rome", "--reverse"], "eacgbf"),
        (&["--between", "Rome,13", "Rome,99"], ""),
        (&["--between", "Rome,-6.5", "Rome,-6.1"], ""),
        (&["--between", "", "~"], "hbfgcaed"),
        (&["--count", "Rome", "Rome"], "3"),
        (&["--count", "Rome", "Rome,0"], "2"),
        (&["--floor", "Rome"], "e"),
        (&["--floor", "Rome,-6"], "c"),
        (&["--floor", "Oslo,7"], "bf"),
        (&["--ceil", "Rome"], "c"),
        (&["--ceil", "Oslo,8"], "g"),
        (&["--ceil", "Rome,1e30"], "d"),
        (&["--prefix", "Rom"], "gcaed"),
        (&["--prefix", "Rome", "--limit", "2"], "ca"),
    ] {
        assert_eq!(found(&path, &[&["--key", "city,year"], question].concat()), expected, "{question:?}");
    }
    for (question, expected) in [
        (&["--get", "7"][..], "bf"),
        (&["--get=-5,Rome"], "a"),
        (&["--get=-5", "--get=-50"], "ac"),
        (&["--between", "-50", "0"], "cah"),
        (&["--between", "-50,S", "-4.5"], "a"),
        (&["--between", "6.5,zzz", "7.5,"], "bf"),
        (&["--floor", "1e99"], "e"),
        (&["--ceil", "-1e99"], "c"),
        (&["--prefix", "7,O"], "bf"),
        (&["--prefix", "3,Rome"], "d"),
        (&["--prefix", "3,R", "--key-type", "f64,text"], "d"),
        (&["--prefix", "6.5,O"], ""),
    ] {
        assert_eq!(found(&path, &[&["--key", "year,city"], question].concat()), expected, "{question:?}");
    }
    let json = run(&path, "--key year,city --get 7,Oslo --format json --value v");
    assert_eq!(json.lines()[0], r#"{"year":7,"city":"Oslo","v":"b"}"#);
    assert!(json.err.contains(r#""key_type":"i64,text""#), "{}", json.err);
    assert!(run(&path, "--key city,year --get Rome,1").err.starts_with("no row has city,year Rome,1\n"));
}

#[test]
fn several_columns_are_named_and_asked_about_within_reason() {
    let text = "a,b,\"c,d\"\nx,1,p\nx,NA,q\n";
    refused(text, "--key a,e --get x", "there is no column \"e\" for --key; the columns are a, b, c,d");
    refused(text, "--key c,d --get x", "there is no column \"c\" for --key");
    refused(text, "--key a,b --get x,1", "line 3, column \"b\": \"NA\" is not a number");
    refused(text, "--key a,b --get x,1,y", "--get: \"x,1,y\" has 3 parts where the key has 2; quote");
    refused(
        text,
        "--key a,b --key-type text,u32,f64 --get x",
        "--key-type has 3 types where --key has 2 columns",
    );
    refused(text, "--key a,b --key-type text,u32 --get x", "line 3, column \"b\": \"NA\" is not a number");
    refused(text, "--key a,b --key-type u64 --get 1", "line 2, column \"a\": \"x\" is not a number");
    refused(text, "--key a,b --between x,b x,a", "the range starts after its end");
    refused("a,b\n1,2\n", "--key a,b --get 1,x", "--get: \"x\" is not a number, as the keys in b are");
    refused("a,b\n1,2\n", "--key a,b --between 2 1,7", "the range starts after its end");
    refused("a,b\n1,2\n", "--key a,b --floor 1,NaN", "--floor: NaN is neither");
    refused(
        "a,b\n1,2\n",
        "--key a,b --prefix 1,2",
        "--prefix asks about texts, and the keys in b are numbers",
    );
    let (_folder, path) = file(text);
    assert_eq!(found(&path, &["--key", "a,b", "--get", "x"]), "pq");
    let skipping = ["--key", "a,b", "--key-type", "text,u64", "--skip-bad", "--get", "x"];
    assert_eq!(found(&path, &skipping), "p");
    refused(text, "--key a,b --skip-bad --get x", "no key is of type u64,u64; --key-type names another");
    assert_eq!(found(&path, &["--key", "a,b", "--get", "x,NA"]), "q");
    assert_eq!(found(&path, &["--key", "\"c,d\",1", "--get", "p,x", "q"]), "pq");
    assert_eq!(found(&path, &["--key", "a,b,\"c,d\"", "--get", "x,1,p", "--key-type", "text"]), "p");
    assert_eq!(found(&path, &["--key", "1,2,3", "--prefix", "x,N"]), "q");
}

#[test]
fn floats_in_a_pair_have_their_order() {
    let (_folder, path) = file("a,b,v\n1,0.5,a\n1,-0,b\n1,0,c\n1,-inf,d\nNaN,2,e\n1,NaN,f\n-1.5,9,g\n");
    let found = |question: &[&str]| found(&path, &[&["--key", "a,b"], question].concat());
    assert_eq!(found(&["--get", "1"]), "dbcaf");
    assert_eq!(found(&["--get", "1,0", "1,NaN", "NaN"]), "bcfe");
    assert_eq!(found(&["--between", "1,-inf", "1,inf"]), "dbca");
    assert_eq!(found(&["--between", "-inf", "inf"]), "gdbcaf");
    assert_eq!((found(&["--ceil", "2"]), found(&["--floor", "2"])), (String::new(), "f".to_owned()));
}

/// A row of the sample: its bases, its position, its line.
fn variants() -> Vec<(String, u64, String)> {
    let text = std::fs::read_to_string(sample()).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[3].to_owned(), cells[1].parse().unwrap(), line.to_owned())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn the_sample_by_bases_and_position_is_as_in_a_tree_map() {
    let variants = variants();
    let mut model = BTreeMap::<(&str, u64), Vec<&str>>::new();
    for (bases, position, line) in &variants {
        model.entry((bases, *position)).or_default().push(line);
    }
    let lines =
        |outcome: Outcome| outcome.lines().iter().skip(1).map(|&line| line.to_owned()).collect::<Vec<_>>();
    let ask = |question: &str| lines(run(&sample(), &format!("--key ref,pos --format csv {question}")));
    let rows = |range: &mut dyn Iterator<Item = (&(&str, u64), &Vec<&str>)>| -> Vec<String> {
        range.flat_map(|(_, rows)| rows).map(|&row| row.to_owned()).collect()
    };
    for (at, (bases, position, _)) in variants.iter().enumerate().step_by(911) {
        let near = position + at as u64 % 3;
        let after = variants[(at * 7 + 13) % variants.len()].0.clone();
        let (low, high) = if *bases <= after { (bases.clone(), after) } else { (after, bases.clone()) };
        let of_bases = rows(&mut model.iter().filter(|((of, _), _)| of == bases));
        assert_eq!(ask(&format!("--get {bases}")), of_bases);
        assert_eq!(
            ask(&format!("--get {bases},{near}")),
            rows(&mut model.get_key_value(&(&bases[..], near)).into_iter())
        );
        let begins = rows(&mut model.iter().filter(|((of, _), _)| of.starts_with(&bases[..])));
        assert_eq!(ask(&format!("--prefix {bases}")), begins);
        let mut between =
            rows(&mut model.range((Included((&low[..], near)), Included((&high[..], u64::MAX)))));
        assert_eq!(ask(&format!("--between {low},{near} {high}")), between);
        assert_eq!(ask(&format!("--count {low},{near} {high}")), [between.len().to_string()]);
        between.truncate(5);
        assert_eq!(ask(&format!("--between {low},{near} {high} --limit 5")), between);
        let floor = rows(&mut model.range(..=(&bases[..], near)).next_back().into_iter());
        assert_eq!(ask(&format!("--floor {bases},{near}")), floor);
        let ceil = rows(&mut model.range((Included((&bases[..], near)), Unbounded)).next().into_iter());
        assert_eq!(ask(&format!("--ceil {bases},{near}")), ceil);
    }
}

/// Texts whose bytes, ends and quotes may be taken for something else.
fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "b", "", ",", "\"", " ", "\n", "é", "\u{10ffff}", "7"]),
        0..5,
    )
    .prop_map(|parts| parts.concat())
}

/// A key as a question gives it.
fn given(parts: &[&str]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(parts).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap().strip_suffix('\n').unwrap().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// One column and two, against a tree map with the same keys.
    #[test]
    fn texts_and_pairs_are_as_in_a_tree_map(
        keys in prop::collection::vec((texts(), -3i64..4), 0..12),
        ends in prop::array::uniform2((texts(), -4i64..5)),
    ) {
        let [low, high] = if ends[0] <= ends[1] { ends } else { let [a, b] = ends; [b, a] };
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["text", "number", "v"]).unwrap();
        let mut model = BTreeMap::<(String, i64), String>::new();
        for ((text, number), value) in keys.iter().zip('A'..) {
            writer.write_record([text, &number.to_string(), &value.to_string()]).unwrap();
            model.entry((text.clone(), *number)).or_default().push(value);
        }
        let (_folder, path) = file(writer.into_inner().unwrap());
        let sorted = |rows: String| { let mut rows: Vec<char> = rows.chars().collect(); rows.sort_unstable(); rows };
        let texts = |question: &[&str]| sorted(found(&path, &[&["--key", "text", "--key-type", "text"], question].concat()));
        let of = |is_in: &dyn Fn(&str) -> bool| -> Vec<char> {
            sorted(model.iter().filter(|((text, _), _)| is_in(text)).map(|(_, rows)| &rows[..]).collect())
        };
        prop_assert_eq!(texts(&[&format!("--get={}", low.0)]), of(&|text| text == low.0));
        prop_assert_eq!(texts(&["--between", &low.0, &high.0]), of(&|text| low.0[..] <= *text && *text <= high.0[..]));
        prop_assert_eq!(texts(&["--prefix", &low.0]), of(&|text| text.starts_with(&low.0)));
        let best = model.keys().map(|(text, _)| text).filter(|text| **text <= high.0).max();
        prop_assert_eq!(texts(&["--floor", &high.0]), of(&|text| best.is_some_and(|best| best == text)));

        let pairs = |question: &[&str]| {
            found(&path, &[&["--key", "text,number", "--key-type", "text,i64"], question].concat())
        };
        let pair = |key: &(String, i64)| given(&[&key.0, &key.1.to_string()]);
        let range: String = model.range(low.clone()..=high.clone()).map(|(_, rows)| &rows[..]).collect();
        prop_assert_eq!(pairs(&["--between", &pair(&low), &pair(&high)]), range);
        let one = model.get(&low).cloned().unwrap_or_default();
        prop_assert_eq!(pairs(&[&format!("--get={}", pair(&low))]), one);
        let first: String = model.iter().filter(|((text, _), _)| *text == low.0).map(|(_, rows)| &rows[..]).collect();
        prop_assert_eq!(pairs(&[&format!("--get={}", given(&[&low.0]))]), first);
        let begins: String =
            model.iter().filter(|((text, _), _)| text.starts_with(&low.0)).map(|(_, rows)| &rows[..]).collect();
        prop_assert_eq!(pairs(&["--prefix", &given(&[&low.0])]), begins);
        let ceil = model.range(low.clone()..).next().map(|(_, rows)| rows.clone()).unwrap_or_default();
        prop_assert_eq!(pairs(&["--ceil", &pair(&low)]), ceil);
    }
}

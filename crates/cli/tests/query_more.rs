//! `latchless query`: many keys at once, chosen columns and rows, places in the order of the keys.

mod common;

use common::{ask, file, refused, run, run_with, shell};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;

#[test]
fn keys_of_a_file_are_looked_up_in_its_order() {
    let (folder, _path) = file("k,v\n3,a\n1,b\n3,c\n2.5,d\n");
    fs::write(folder.path().join("keys"), "\u{feff}3\r\n\n7\n2.50\n3").unwrap();
    let run =
        |line: &str| shell(folder.path(), &format!("latchless query rows.csv --key k --format csv {line}"));
    let answer = run("--get-from keys");
    assert_eq!(answer.lines(), ["k,v", "3,a", "3,c", "2.5,d", "3,a", "3,c"]);
    assert!(answer.err.contains("\n5,7,4,3,f64,"), "{}", answer.err);
    assert_eq!(run("--get-from - < keys").out, answer.out);
    assert_eq!(run("--get-from /dev/null").lines(), [""; 0]);
    fs::write(folder.path().join("many"), (10..60).map(|key| format!("{key}\n")).collect::<String>())
        .unwrap();
    let missing = shell(folder.path(), "latchless query rows.csv --key k --get-from many");
    assert!(
        missing.err.starts_with("no row has k 10 or 11 or") && missing.err.contains("or 29 or 30 more\n"),
        "{}",
        missing.err
    );
    fs::write(folder.path().join("bad"), "3\nx\n").unwrap();
    let bad = run("--get-from bad");
    assert!(bad.code == 2 && bad.err.contains("--get-from: \"x\" is not a number"), "{}", bad.err);
    let both = shell(folder.path(), "latchless query - --key k --get-from - < keys");
    assert!(both.code == 2 && both.err.contains("standard input can't be both files"), "{}", both.err);
    let several = shell(
        folder.path(),
        "printf '\"a,b\",1\\nx\\n' > t; printf 'n,k\\n\"a,b\",1\\nx,2\\nx,1\\n' > f; latchless query f --key n,k --get-from t --format csv",
    );
    assert_eq!(several.lines(), ["n,k", "\"a,b\",1", "x,1", "x,2"]);
    let index = shell(
        folder.path(),
        "latchless query rows.csv --key k --get 1 --save i.arrow -q > i.out && latchless query i.arrow --get-from keys --format csv",
    );
    assert_eq!(index.lines(), answer.lines());
}

#[test]
fn columns_are_printed_as_they_were_selected() {
    assert_eq!(
        ask("--get 50300078 --select id,POS,3").lines(),
        ["id,pos,id", "rs7410291,50300078,rs7410291"]
    );
    let (folder, path) = file("k,\"a,b\"\n1,x\n");
    let answer = run_with(&path, &["--key", "k", "--get", "1", "--select", "\"a,b\",k", "--format", "json"]);
    assert_eq!(answer.lines(), [r#"{"a,b":"x","k":1}"#]);
    let save = "latchless query rows.csv --key k --get 1 --save i.arrow -q > i.out; latchless query i.arrow --get 1 --select 2 --format csv";
    assert_eq!(shell(folder.path(), save).lines(), ["\"a,b\"", "x"]);
    refused("k\n1\n", "--key k --get 1 --select z", "there is no column \"z\" for --select");
    refused("k\n1\n", "--key k --get 1 --select k --value k", "cannot be used with");
}

#[test]
fn conditions_leave_rows_out_of_every_question() {
    let rows = "k,when,n\n1,2024-03-01,5\n2,2024-03-02,\n3,2024-03-03,7\n4,2024-03-04,8.5\n";
    let (_folder, path) = file(rows);
    let keys = |question: &str, condition: &str| {
        let mut arguments: Vec<&str> = question.split_whitespace().collect();
        arguments.extend(["--key", "k", "--format", "csv", "--select", "k", "--where", condition]);
        let answer = run_with(&path, &arguments);
        answer.lines().into_iter().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys("--between 0 9", "n >= 5 and n < 8.5"), "1 3");
    assert_eq!(keys("--between 0 9", "n != 5"), "3 4");
    assert_eq!(keys("--between 0 9", "when > 2024-03-01 and when <= '2024-03-03'"), "2 3");
    assert_eq!(keys("--floor 3", "n = 5"), "1");
    assert_eq!(keys("--nth 2", "n > 5"), "4");
    assert_eq!(keys("--quantile 1", "when < 2024-03-03"), "2");
    let count = run_with(&path, &["--key", "k", "--count", "0", "9", "--where", "n>0", "--format", "csv"]);
    assert_eq!(count.lines(), ["count", "3"]);
    let refused = |condition: &str, message: &str| {
        let answer = run_with(&path, &["--key", "k", "--get", "1", "--where", condition]);
        assert!(answer.code == 2 && answer.err.contains(message), "{condition}: {}", answer.err);
    };
    refused("n > x", "--where: \"x\" is not a number, as the keys in n are");
    refused("when > 5", "--where: \"5\" is not of the type of the keys in when, date");
    refused("when > 2024-13-01", "--where: \"2024-13-01\" is not of the type");
    refused("z = 1", "there is no column \"z\" for --where; the columns are k, when, n");
    refused("n = 1 or k = 2", "--where: \"or k = 2\" isn't as expected");
    refused("n > NaN", "NaN is neither smaller nor larger");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), rows).unwrap();
    let saved = shell(
        folder.path(),
        "latchless query f --key k --get 1 --save i -q; latchless query i --get 1 --where 'n = 5'",
    );
    assert!(saved.code == 2 && saved.err.contains("i is an index; ask the file"), "{}", saved.err);
    let save = shell(folder.path(), "latchless query f --key k --get 1 --where 'n = 5' --save j");
    assert!(save.code == 2 && save.err.contains("can't be saved as that of the file"), "{}", save.err);
    let skipped = "n\n1\nx\n3\n";
    let (_folder, path) = file(skipped);
    let answer = run_with(
        &path,
        &["--key", "n", "--between", "0", "9", "--where", "n > 1", "--skip-bad", "--format", "csv"],
    );
    assert_eq!(answer.lines(), ["n", "3"]);
}

#[test]
fn pages_places_and_fractions() {
    let (_folder, path) = file("k,v\n30,a\n10,b\nNaN,n\n20,c\n20,d\n40.5,e\n");
    let lines = |question: &str| {
        let answer = run(&path, &format!("--key k --format csv {question}"));
        answer.lines().into_iter().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(lines("--between 0 50 --offset 1 --limit 2"), "20,c 20,d");
    assert_eq!(lines("--between 0 50 --offset 1 --limit 2 --reverse"), "30,a 20,c");
    assert_eq!(lines("--between 0 50 --offset 9"), "");
    for (key, rank) in
        [("5", "0"), ("10", "0"), ("20", "1"), ("20.5", "3"), ("40.5", "4"), ("50", "5"), ("inf", "5")]
    {
        assert_eq!(lines(&format!("--rank {key}")), rank, "{key}");
    }
    assert_eq!(run(&path, "--key k --rank 20 --format csv").lines(), ["rank", "1"]);
    assert_eq!(lines("--nth 1 --value v"), "10,b");
    assert_eq!(lines("--nth 6"), "NaN,n");
    assert_eq!(run(&path, "--key k --nth 7").err.lines().next(), Some("there are fewer than 7 rows"));
    assert_eq!(lines("--quantile 0 0.2 0.21 0.5 1 --value v"), "10,b 10,b 20,c 20,d 40.5,e");
    assert_eq!(lines("--distinct"), "10 20 30 40.5 NaN");
    assert_eq!(lines("--distinct --reverse --offset 1 --limit 2"), "40.5 30");
    assert_eq!(lines("--count-by --limit 2"), "10,1 20,2");
    let json = run(&path, "--key k --count-by --format json --offset 1 --limit 1");
    assert_eq!(json.lines(), [r#"{"k":20.0,"count":2}"#]);
    refused("k\n1\n", "--key k --nth 0", "--nth counts rows from 1");
    refused("k\n1\n", "--key k --quantile 1.5", "--quantile takes numbers from 0 to 1");
    refused("k\n1\n", "--key k --get 1 --offset 1", "--offset goes with --between");
    refused("k\n1\n", "--key k --rank NaN", "NaN is neither");
    let (_folder, path) = file("k,v\n");
    for question in ["--quantile 0.5", "--nth 1", "--distinct", "--count-by"] {
        let answer = run(&path, &format!("--key k {question}"));
        assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{question}: {}", answer.err);
    }
}

#[test]
fn groups_of_several_columns_and_of_texts() {
    let (_folder, path) = file("a,b\nx,2\ny,1\nx,2\nx,10\n");
    let answer = run(&path, "--key a,b --count-by --format csv");
    assert_eq!(answer.lines(), ["a,b,count", "x,2,2", "x,10,1", "y,1,1"]);
    let answer = run(&path, "--key a --count-by --format csv");
    assert_eq!(answer.lines(), ["a,count", "x,3", "y,1"]);
    // The first part alone, the largest of its type: no key is after it.
    let (_folder, end) = file("k,v\n18446744073709551615,1\n5,2\n");
    let answer = run(&end, "--key k,v --get 18446744073709551615 5 --format csv");
    assert_eq!(answer.lines()[1..], ["18446744073709551615,1", "5,2"]);
    let answer = run_with(&path, &["--key", "a", "--rank", "y", "--key-type", "text", "--format", "csv"]);
    assert_eq!(answer.lines(), ["rank", "3"]);
}

#[test]
fn files_with_known_columns_are_asked_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bed"), "track x\n22\t5\t9\n#r\n22\t1\t4\n").unwrap();
    let answer = shell(folder.path(), "latchless query a.bed --key start --between 0 9 --format csv");
    assert_eq!(answer.lines(), ["chrom,start,end", "22,1,4", "22,5,9"]);
    let save = shell(folder.path(), "latchless query a.bed --key start --get 1 --save i.arrow");
    assert!(save.code == 2 && save.err.contains("only those of a plain CSV file can"), "{}", save.err);
    fs::write(folder.path().join("a.tsv"), "a,b\tc\n1\t2\n").unwrap();
    let answer = shell(folder.path(), "latchless query a.tsv --key c --get 2 --format json");
    assert_eq!(answer.lines(), [r#"{"a,b":"1","c":2}"#]);
}

#[test]
fn several_files_of_the_same_columns_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.csv", "k,v\r\n3,a\r\n1,b");
    write("b.csv", "k,v\n2,c\n\n1,d\n");
    write("c.csv", "k,v\n");
    let run = |line: &str| shell(folder.path(), &format!("latchless query {line}"));
    let answer = run("a.csv c.csv b.csv a.csv --key k --between 0 9 --format csv");
    assert_eq!(answer.lines(), ["k,v", "1,b", "1,d", "1,b", "2,c", "3,a", "3,a"]);
    let no_header = run("a.csv b.csv --no-header --key 2 --get v --format csv");
    assert_eq!(no_header.lines(), ["k,v", "k,v"]);
    for (text, message) in [
        ("k,w\n1,2\n", "d.csv has other columns, or another separator of fields, than a.csv"),
        ("k;v\n1;2\n", "d.csv has other columns"),
        ("k,v\n\n5,x\ny,1\n", "d.csv: line 4, column \"k\": \"y\" is not a number"),
        ("k,v\r\n5,x\r\ny,1\r\n", "d.csv: line 3, column \"k\": \"y\" is not a number"),
        ("k,v\n1\n", "d.csv: line 2 has 1 fields where the header has 2"),
        ("k,v\n1,\"a\n", "d.csv: a quoted field in the row that starts on line 2 is never closed"),
        ("", "d.csv is empty"),
    ] {
        write("d.csv", text);
        let refused = run("a.csv d.csv b.csv --key k --floor 5");
        assert!(refused.code == 2 && refused.err.contains(message), "{text:?}: {}", refused.err);
    }
    write("d.csv", "k,v\ny,1\n");
    let first = run("d.csv a.csv --key k --floor 5");
    assert!(first.err.contains("d.csv: line 2, column \"k\": \"y\""), "{}", first.err);
    let filtered = run("a.csv d.csv --key v --get b --where 'k > 1'");
    assert!(filtered.err.contains("d.csv: line 2, column \"k\": \"y\""), "{}", filtered.err);
    let save = run("a.csv b.csv --key k --get 1 --save i.arrow");
    assert!(save.code == 2 && save.err.contains("only those of a plain CSV file can"), "{}", save.err);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Places, ranks and keys of a file are those of the sorted rows, for keys of words and of bytes.
    #[test]
    fn answers_are_those_of_the_sorted_rows(
        keys in prop::collection::vec(-9i32..9, 1..40),
        asked in prop::collection::vec(-10i32..10, 0..20),
        nth in 1usize..45,
        is_bytes: bool,
    ) {
        let mut text = "k,n\n".to_owned();
        keys.iter().enumerate().for_each(|(row, key)| writeln!(text, "{key},{row}").unwrap());
        let (folder, path) = file(&text);
        let from: String = asked.iter().map(|key| format!("{key}\n")).collect();
        fs::write(folder.path().join("keys"), from).unwrap();
        let key_type = if is_bytes { "decimal" } else { "i32" };
        let rows = |question: &str| {
            let keys = folder.path().join("keys");
            let question = question.replace("KEYS", keys.to_str().unwrap());
            let answer = run(&path, &format!("--key k --key-type {key_type} --format csv {question}"));
            answer.lines().into_iter().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect::<Vec<usize>>()
        };
        let mut sorted: Vec<(i32, usize)> = keys.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let of = |key: i32| sorted.iter().filter(move |row| row.0 == key).map(|row| row.1);
        prop_assert_eq!(rows("--get-from KEYS"), asked.iter().flat_map(|&key| of(key)).collect::<Vec<_>>());
        prop_assert_eq!(rows(&format!("--nth {nth}")), sorted.get(nth - 1).map(|row| row.1).into_iter().collect::<Vec<_>>());
        let key = nth as i32 - 20;
        prop_assert_eq!(rows(&format!("--rank {key}")), vec![sorted.iter().filter(|row| row.0 < key).count()]);
        prop_assert_eq!(rows("--quantile 0.25"), vec![sorted[keys.len().div_ceil(4) - 1].1]);
    }
}

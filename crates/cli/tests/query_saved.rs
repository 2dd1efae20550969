//! `latchless query --save`, and questions to the index that it saved.

mod common;

use common::{Outcome, file, run, sample};
use latchless::Index;
use latchless::snapshot::{self, strings};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Saves the index over a file with the first question; the folder that it is in, and its place.
fn saved(from: &Path, how: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index.arrow");
    let first = run(from, &format!("{how} --get 1 --save {}", index.display()));
    assert_eq!(first.code, 0, "{}", first.err);
    (folder, index)
}

/// The answer, and the statistics without times.
fn answers(outcome: &Outcome) -> (i32, &str, Vec<&str>) {
    let times = |line: &&str| !line.starts_with("read ");
    (outcome.code, &outcome.out, outcome.err.lines().filter(times).collect())
}

/// A run must be refused: exit code 2, no answer, and this in its message.
fn refused(file: &Path, arguments: &str, message: &str) {
    let outcome = run(file, arguments);
    assert_eq!((outcome.code, &outcome.out[..]), (2, ""), "{}", outcome.err);
    assert!(outcome.err.contains(message), "{message:?} should be in {:?}", outcome.err);
}

#[test]
fn every_question_has_the_same_answer_as_from_the_file() {
    let (_folder, index) = saved(&sample(), "--key pos");
    for question in [
        "--get 50338589 1 50300078 50338589",
        "--get 1",
        "--between 50338500 50400000",
        "--between 50338589 50500000 --limit 700 --reverse",
        "--between 0 5",
        "--count 50400000 50500000",
        "--count 0 1e30",
        "--floor 50300085.5",
        "--ceil -7",
        "--floor 3 --value id",
        "--between 50400000 50410000 --value 3",
        "--get 50338589 --value pos",
        "--get 50338589 --format csv",
        "--get 50338589 --format json --value ref",
    ] {
        let (from_file, from_index) =
            (run(&sample(), &format!("--key pos {question}")), run(&index, question));
        if question.contains("--format") {
            // The times are in the same lines as the rest.
            assert_eq!((from_file.code, &from_file.out), (from_index.code, &from_index.out), "{question}");
        } else {
            assert_eq!(answers(&from_file), answers(&from_index), "{question}");
        }
    }
    assert_eq!(run(&index, "--key POS --count 0 1e9 --format csv").lines(), ["count", "10376"]);
}

#[test]
fn key_types_are_kept() {
    let (_folder, rows) = file("k;v\n-2.5;a\n1e3;\"b;c\"\nNaN;d\n-0;e\n0.0;f\n");
    let (_folder, index) = saved(&rows, "--key k --delimiter ;");
    let all = run(&index, "--between -inf inf --format json");
    let expected = [
        r#"{"k":-2.5,"v":"a"}"#,
        r#"{"k":-0.0,"v":"e"}"#,
        r#"{"k":0.0,"v":"f"}"#,
        r#"{"k":1000.0,"v":"b;c"}"#,
    ];
    assert_eq!(all.lines(), expected);
    assert_eq!(run(&index, "--get NaN --format csv").lines(), ["k,v", "NaN,d"]);
    assert!(run(&index, "--get 0").err.contains("distinct f64 keys"));
    refused(&index, "--get 0 --key-type f32", "is an index over keys of type f64, not f32");
    for (key_type, arrow) in [
        ("u32", "uint32"),
        ("i32", "int32"),
        ("u64", "uint64"),
        ("i64", "int64"),
        ("f32", "float32"),
        ("f64", "float64"),
    ] {
        let (_folder, rows) = file("k\n7\n3\n");
        let (_folder, index) = saved(&rows, &format!("--key k --key-type {key_type}"));
        let columns = snapshot::Snapshot::open(&index).unwrap();
        assert_eq!(columns.key_type().to_string(), arrow);
        for again in ["", &format!("--key-type {key_type}")] {
            assert_eq!(run(&index, &format!("--ceil 4 --format csv {again}")).lines(), ["k", "7"]);
        }
    }
}

#[test]
fn files_of_all_forms_keep_theirs() {
    let (_folder, rows) = file("5\tx\n3\t\"y\ny\"\n\n3\tz\n");
    let (_folder, index) = saved(&rows, "--no-header --key 1 --delimiter tab");
    assert_eq!(run(&index, "--between 0 9 --format csv").lines(), ["3,\"y", "y\"", "3,z", "5,x"]);
    assert!(run(&index, "--get 8").err.starts_with("no row has column 1 8\n"));
    let (_folder, rows) = file("\u{feff}k,v\r\n1,é\r\nNA,b\r\n2,c\r\n");
    let (_folder, index) = saved(&rows, "--key k --skip-bad");
    assert_eq!(run(&index, "--between 0 9 --format csv").lines(), ["k,v", "1,é", "2,c"]);
    let (_folder, rows) = file("k,v\n");
    let (_folder, index) = saved(&rows, "--key k");
    assert!(run(&index, "--get 8").err.starts_with("no row has k 8\n0 of 0 rows"));
}

#[test]
fn a_snapshot_of_another_program_is_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.arrow");
    let prices: Index<i16, f64> = [(-3, 0.5), (7, 2.0), (9, f64::INFINITY)].into_iter().collect();
    snapshot::save(&prices, &path).unwrap();
    assert_eq!(run(&path, "--between -5 8 --format csv").lines(), ["key,value", "-3,0.5", "7,2"]);
    assert_eq!(run(&path, "--floor 100 --value value --format json").lines(), [r#"{"key":9,"value":"inf"}"#]);
    // Its other column, whose rows are in the order of these keys.
    assert_eq!(
        run(&path, "--key value --between 0.7 inf --format csv").lines(),
        ["key,value", "7,2", "9,inf"]
    );
    assert_eq!(run(&path, "--key VALUE --floor 1 --value key --format csv").lines(), ["value,key", "0.5,-3"]);
    refused(
        &path,
        "--key price --get 1",
        "there is no column \"price\" for --key; the columns are key, value",
    );
    // Two zeros are two keys to an index, and one number to a question.
    let zeros: Index<f64, u64> = [(-0.0, 1), (0.0, 2), (-f64::NAN, 3)].into_iter().collect();
    snapshot::save(&zeros, &path).unwrap();
    assert_eq!(run(&path, "--get 0 --value value --format csv").lines(), ["key,value", "-0,1", "0,2"]);
    assert_eq!(run(&path, "--get NaN --value value --format csv").lines(), ["key,value", "NaN,3"]);
}

#[test]
fn a_file_that_changed_is_not_asked_through_its_old_index() {
    let (_folder, rows) = file("k,v\n1,a\n2,b\n");
    let (_folder, index) = saved(&rows, "--key k");
    assert_eq!(run(&index, "--get 2 --format csv").lines(), ["k,v", "2,b"]);
    let before = fs::metadata(&rows).unwrap().modified().unwrap();
    fs::write(&rows, "k,v\n2,c\n1,d\n").unwrap();
    fs::File::options().write(true).open(&rows).unwrap().set_modified(before).unwrap();
    // Of the same length and time: found by the row's key.
    refused(&index, "--get 2", "has changed since");
    fs::write(&rows, "k,v\n1,a\n2,b\n3,c\n").unwrap();
    refused(&index, "--get 2", "ask");
    fs::remove_file(&rows).unwrap();
    refused(&index, "--get 2", "can't read");
    // A question that needs no row needs no file.
    assert_eq!(run(&index, "--count 0 9 --format csv").lines(), ["count", "2"]);
    assert!(run(&index, "--get 5").err.starts_with("no row has k 5\n"));
}

#[test]
fn a_file_may_be_touched_and_moved_with_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    fs::create_dir_all(before.join("indexes")).unwrap();
    let (rows, index) = (before.join("rows.csv"), before.join("indexes").join("rows.arrow"));
    fs::write(&rows, "\u{feff}k,v\n1,a\n2,b\n").unwrap();
    assert_eq!(run(&rows, &format!("--key k --get 1 --save {}", index.display())).code, 0);
    let found = |index: &Path| run(index, "--get 2 --format csv").out;

    let touched = fs::File::options().write(true).open(&rows).unwrap();
    touched.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(found(&index), "k,v\n2,b\n");
    fs::rename(&before, &after).unwrap();
    let (rows, index) = (after.join("rows.csv"), after.join("indexes").join("rows.arrow"));
    assert_eq!(found(&index), "k,v\n2,b\n");
    // Another one is where it was: the one that moved is still found.
    fs::create_dir(&before).unwrap();
    fs::write(before.join("rows.csv"), "\u{feff}k,v\n2,c\n1,d\n").unwrap();
    assert_eq!(found(&index), "k,v\n2,b\n");
    // As long as before, and changed where no key is.
    fs::write(&rows, "\u{feff}k,v\n1,a\n2,c\n").unwrap();
    refused(&index, "--get 2", "has changed since");
    fs::remove_file(&rows).unwrap();
    refused(&index, "--get 2", "has changed since");
    fs::remove_dir_all(&before).unwrap();
    refused(&index, "--get 2", "can't read");
    refused(&index, "--key v --get 2", "to ask about another column, ask");
}

#[test]
fn what_cannot_be_saved_is_said_before_anything_is_written() {
    let (folder, rows) = file("k,v\n1,a\n");
    let index = folder.path().join("index.arrow");
    let save = format!("--key k --get 1 --save {}", index.display());
    refused(Path::new("-"), &save, "its rows can't be read again");
    refused(&rows, &format!("--key k --get 1 --save {}", rows.display()), "the index would take its place");
    refused(&rows, "--get 1", "--key has to name the column");
    assert!(!index.exists());
    assert_eq!(fs::read_to_string(&rows).unwrap(), "k,v\n1,a\n");
    assert_eq!(run(&rows, &save).code, 0);
    refused(&index, &format!("{save}2"), "it is a saved index already");
    // A folder that isn't there is no fault of the file's.
    let nowhere = run(&rows, "--key k --get 1 --save /nowhere/index.arrow");
    assert_eq!((nowhere.code, &nowhere.out[..]), (1, ""), "{}", nowhere.err);
    assert!(nowhere.err.contains("can't save the index in /nowhere/index.arrow"), "{}", nowhere.err);
}

/// Both answers to a question, from the file and from its saved index, are the same.
fn same_answers(from: &Path, how: &str, index: &Path, questions: &[&str]) {
    for question in questions {
        let (from_file, from_index) = (run(from, &format!("{how} {question}")), run(index, question));
        if question.contains("--format") {
            assert_eq!((from_file.code, &from_file.out), (from_index.code, &from_index.out), "{question}");
        } else {
            assert_eq!(answers(&from_file), answers(&from_index), "{question}");
        }
    }
}

#[test]
fn an_index_over_texts_has_the_same_answers() {
    let (_folder, index) = saved(&sample(), "--key id --key-type text");
    let questions = [
        "--get rs7410291 nothing rs738829",
        "--prefix rs7410 --limit 5 --reverse",
        "--prefix none",
        "--between rs1 rs2 --limit 9 --value pos",
        "--count rs1 rs2",
        "--floor rs5 --format csv",
        "--ceil zzz",
        "--get rs7410291 --format json --value ref",
    ];
    same_answers(&sample(), "--key id", &index, &questions);
    let (_folder, rows) = file("k,v\n10,a\n9,\u{1f980}\n,c\n\"x\ny\",d\n10,e\n");
    let (_folder, index) = saved(&rows, "--key k --key-type text");
    same_answers(
        &rows,
        "--key k --key-type text",
        &index,
        &["--get 10 --format csv", "--floor 95", "--between  9"],
    );
    assert_eq!(run(&index, "--prefix x --value v --format csv").lines(), ["k,v", "\"x", "y\",d"]);
    refused(&index, "--key-type u64 --get 1", "is an index over keys of type text, not u64");
    assert_eq!(
        run(&index, "--key K --key-type text --get 9 --value v --format csv").lines(),
        ["k,v", "9,\u{1f980}"]
    );
}

#[test]
fn an_index_over_several_columns_has_the_same_answers() {
    let how = "--key ref,pos";
    let (folder, rows) = (tempfile::tempdir().unwrap(), sample());
    let index = folder.path().join("index.arrow");
    assert_eq!(run(&rows, &format!("{how} --get TC --save {}", index.display())).code, 0);
    let questions = [
        "--get TC",
        "--get TC,50333180 A,1",
        "--between TC,50400000 TC,50900000",
        "--between T TC --limit 3 --reverse",
        "--count A C",
        "--floor G,50300000.5 --format csv",
        "--ceil T",
    ];
    same_answers(&rows, how, &index, &questions);
    assert_eq!(run(&index, "--key ref,pos --count A C").out, run(&index, "--count A C").out);
    refused(&index, "--key pos,ref --get 1", "is an index over ref,pos; to ask about another column, ask");
    refused(&index, "--key ref --get TC", "is an index over ref,pos; to ask about another column, ask");
    refused(&index, "--key-type u32 --get TC", "keys of type text, not u32");
    refused(&index, "--key-type text,u64,u64 --get TC", "--key-type has 3 types where --key has 2 columns");
    refused(&index, "--get TC,x", "--get: \"x\" is not a number, as the keys in pos are");
    refused(&index, "--get TC,1,2", "has 3 parts where the key has 2");
}

#[test]
fn a_changed_row_is_found_by_its_text() {
    let (_folder, rows) = file("k,n,v\nab,1,x\ncd,2,y\n");
    for (key, get) in [("k", "cd"), ("k,n", "cd,2"), ("n,k", "2,cd")] {
        fs::write(&rows, "k,n,v\nab,1,x\ncd,2,y\n").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.arrow");
        assert_eq!(run(&rows, &format!("--key {key} --get {get} --save {}", index.display())).code, 0);
        assert_eq!(run(&index, &format!("--get {get} --format csv")).lines(), ["k,n,v", "cd,2,y"]);
        let before = fs::metadata(&rows).unwrap().modified().unwrap();
        fs::write(&rows, "k,n,v\ncd,2,y\nab,1,x\n").unwrap();
        fs::File::options().write(true).open(&rows).unwrap().set_modified(before).unwrap();
        refused(&index, &format!("--get {get}"), "has changed since");
    }
}

#[test]
fn a_snapshot_of_strings_of_another_program_is_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.arrow");
    let pages: Index<String, i32> = [("/".into(), -1), ("/a,b".into(), 7), ("/c".into(), 7)].into();
    strings::save(&pages, &path).unwrap();
    assert_eq!(run(&path, "--prefix /a --format csv").lines(), ["key,value", "\"/a,b\",7"]);
    assert_eq!(run(&path, "--floor / --value value --format json").lines(), [r#"{"key":"/","value":"-1"}"#]);
    assert_eq!(
        run(&path, "--key value --get 7 --value key --format csv").lines(),
        ["value,key", "7,\"/a,b\"", "7,/c"]
    );
    let bytes: Index<Vec<u8>, i32> = [(vec![1, 0xff], 7)].into();
    strings::save(&bytes, &path).unwrap();
    refused(&path, "--get a", "has keys of type binary, which can't be asked about here");
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    refused(&path, "--get a", "the file was cut short");
}

#[test]
fn values_that_are_no_numbers_are_shown_and_texts_among_them_can_be_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("titles.arrow");
    let titles: Index<String, String> =
        [("/".into(), "Home".into()), ("/a".into(), "é, a".into()), ("/b".into(), String::new())].into();
    strings::save(&titles, &path).unwrap();
    assert_eq!(run(&path, "--prefix /a --format csv").lines(), ["key,value", "/a,\"é, a\""]);
    assert_eq!(run(&path, "--key value --get Home --format csv").lines(), ["key,value", "/,Home"]);
    let bytes: Index<String, Vec<u8>> = [("/".into(), vec![b'a', 0xff]), ("/a".into(), vec![])].into();
    strings::save(&bytes, &path).unwrap();
    assert_eq!(run(&path, "--get / --format csv").lines(), ["key,value", "/,a\\xff"]);
    refused(&path, "--key value --get a", "has keys of type binary, which can't be asked about here");
    let wide: Index<String, [u8; 9]> = [("/".into(), *b"123456789")].into();
    strings::save(&wide, &path).unwrap();
    assert_eq!(run(&path, "--get / --format csv").lines(), ["key,value", "/,123456789"]);
    refused(&path, "--key value --get 1", "has keys of type fixed_size_binary[9], which can't be asked");
}

#[test]
fn a_saved_index_is_asked_in_its_own_words() {
    let (folder, rows) = file("k,v\n1,a\n");
    let index = folder.path().join("index.arrow");
    assert_eq!(run(&rows, &format!("--key k --get 1 --save {}", index.display())).code, 0);
    refused(&index, "--key k,v --get 1", "is an index over k; to ask about another column, ask");
    refused(&index, "--key-type text --get 1", "is an index over keys of type u64, not text");
    refused(&index, "--get a", "--get: \"a\" is not a number, as the keys in k are");
    refused(&index, "--prefix 1", "--prefix asks about texts, and the keys in k are numbers");
}

#[test]
fn a_damaged_index_is_refused() {
    let (_folder, index) = saved(&sample(), "--key pos");
    let good = fs::read(&index).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&index, &bad).unwrap();
    refused(&index, "--get 1", "the file is damaged: its checksum is");
    fs::write(&index, &good[..good.len() / 2]).unwrap();
    refused(&index, "--get 1", "the file was cut short");
    fs::write(&index, b"ARROW1\0\0").unwrap();
    refused(&index, "--get 1", "can't open");
}

/// A table whose saved index is mapped: of 100,000 rows, with keys that repeat in three of its columns.
fn large() -> String {
    let row = |at: u64| {
        let number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 47;
        format!("{},{}.5,beginning{},{at}\n", number as i64 - 9000, number, number / 3)
    };
    "n,f,t,row\n".to_owned() + &(0..100_000).map(row).collect::<String>()
}

#[test]
fn a_large_index_is_asked_where_it_lies() {
    let (_folder, rows) = file(large());
    let questions = |low: &str, high: &str, absent: &str| {
        [
            format!("--get {low} {absent} {high}"),
            format!("--between {low} {high} --limit 50"),
            format!("--between {low} {high} --limit 50 --offset 7 --reverse"),
            format!("--count {low} {high}"),
            format!("--count {high} {low}"),
            format!("--floor {absent}"),
            format!("--ceil {absent}"),
            format!("--rank {high}"),
            "--nth 99999".to_owned(),
            "--nth 100000".to_owned(),
            "--quantile 0 0.5 1".to_owned(),
            "--distinct --limit 5".to_owned(),
            "--count-by --limit 5 --offset 3 --reverse".to_owned(),
        ]
    };
    for (key, low, high, absent) in [
        ("n", "-8000", "90000", "-20000"),
        ("f", "17.5", "90000.5", "17.25"),
        ("t --key-type text", "beginning1", "beginning2", "beginning/"),
        ("n,t", "-8000", "90000", "-20000"),
    ] {
        let (_folder, index) = saved(&rows, &format!("--key {key}"));
        assert!(fs::metadata(&index).unwrap().len() > 1 << 20, "it is mapped");
        for question in questions(low, high, absent) {
            let from_file = run(&rows, &format!("--key {key} {question} --format csv"));
            let from_index = run(&index, &format!("{question} --format csv"));
            assert_eq!(
                (from_file.code, &from_file.out),
                (from_index.code, &from_index.out),
                "{key} {question}"
            );
        }
        let table = run(&index, "--count -5 5");
        assert!(table.err.contains("0.0 bytes a key"), "{}", table.err);
    }
}

#[test]
fn a_large_index_of_another_program_is_asked_where_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.arrow");
    let names: Index<String, u64> = (0..80_000).map(|at| (format!("name{:06}", at * 3), at)).collect();
    strings::save(&names, &path).unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 1 << 20, "it is mapped");
    assert_eq!(run(&path, "--get name000006 --format csv").lines(), ["key,value", "name000006,2"]);
    assert_eq!(run(&path, "--key value --get 2 --format csv").lines(), ["key,value", "name000006,2"]);
    let counted = run(&path, "--prefix name00001 --format csv");
    assert_eq!(counted.lines(), ["key,value", "name000012,4", "name000015,5", "name000018,6"]);
    assert_eq!(run(&path, "--floor name000007 --format csv").lines(), ["key,value", "name000006,2"]);
    let last = run(&path, "--distinct --limit 1 --reverse --format csv");
    assert_eq!(last.code, 0, "{}", last.err);
    assert!(last.out.contains("name239997"), "{}", last.out);
}

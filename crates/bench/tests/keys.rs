//! `latchless-bench --keys`, `--suite keys` and `--pages`, run as users run them on tiny numbers.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless-bench"));
    // The environment of the tests may have tunables.
    command.env_remove("GLIBC_TUNABLES").args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("readable output")
}

/// Results on 2,000 keys, one object a line.
fn results(args: &[&str]) -> Vec<Value> {
    let tiny = ["--records", "2000", "--ops", "400", "--rounds", "2", "--format", "json"];
    let output = bench(&[&tiny[..], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

fn refusal(args: &[&str], code: i32) -> String {
    let output = bench(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    said
}

/// Every key set that `list` knows.
fn key_sets() -> Vec<String> {
    let list =
        Command::new(env!("CARGO_BIN_EXE_latchless-bench")).args(["list", "--format", "json"]).output();
    let listed = text(&list.expect("the binary runs").stdout);
    let rows = listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    let sets = rows.filter(|row| row["kind"] == "keys");
    sets.map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn one_race_runs_on_every_key_set() {
    let sets = key_sets();
    assert!(sets.len() > 20 && sets.iter().any(|set| set == "composite-64-step-60"), "{sets:?}");
    let mut checksums = Vec::new();
    for set in &sets {
        let found =
            results(&["--keys", set, "--workload", "mixed", "--index", "btreemap,index,index-exclusive"]);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|one| one["checksum"] == found[0]["checksum"]), "{set}");
        assert!(found.iter().all(|one| one["keys"] == set.as_str()), "{set}");
        // The index reports its statistics, the baseline doesn't.
        assert!(
            found[1]["misled"].is_number() && found[1]["leaf_fill"].as_f64() > Some(0.3),
            "{set}: {}",
            found[1]
        );
        assert!(found[0]["misled"].is_null() && found[0]["leaf_fill"].is_null(), "{set}");
        checksums.push(found[0]["checksum"].clone());
    }
    checksums.dedup();
    assert_eq!(checksums.len(), sets.len(), "each set has keys of its own");
}

#[test]
fn the_suite_runs_every_row_on_every_key_set() {
    let sets = key_sets();
    let rows = results(&["--suite", "keys", "--keys", "all", "--index", "btreemap,index"]);
    let names: Vec<_> = rows.iter().map(|row| row["workload"].as_str().expect("a name")).collect();
    let mut kinds = names.clone();
    kinds.dedup();
    let expected = "get chain get-many insert insert-many remove range-48 visit-48";
    assert_eq!(kinds, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(rows.len(), kinds.len() * sets.len());
    for row in &rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"));
        assert!(number("ours_min") <= number("ours") && number("ours") <= number("ours_max"), "{row}");
        assert!((number("btreemap") / number("ours") / number("ratio") - 1.0).abs() < 1e-9, "{row}");
        assert!((0.0..=1.0).contains(&number("leaf_fill")) && number("bytes_per_key") > 10.0, "{row}");
        assert!((0.0..2.0).contains(&number("misled")) && number("of_uniform") > 0.0, "{row}");
        let keys = format!("--keys {}", row["keys"].as_str().expect("a key set"));
        assert!(row["command"].as_str().is_some_and(|command| command.contains(&keys)), "{row}");
    }
    let uniform = rows.iter().filter(|row| row["keys"] == "uniform");
    assert!(uniform.clone().count() == kinds.len() && uniform.clone().all(|row| row["of_uniform"] == 1.0));
}

#[test]
fn the_suite_brings_uniform_keys_and_writes_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.md");
    let file = file.to_str().expect("a readable path");
    let only = ["--suite", "keys", "--keys", "tenants-7", "--row", "insert,visit-48", "--report", file];
    let rows = results(&only);
    let pairs: Vec<_> = rows.iter().map(|row| (row["workload"].as_str(), row["keys"].as_str())).collect();
    let (insert, visit) = (Some("insert"), Some("visit-48"));
    let (uniform, tenants) = (Some("uniform"), Some("tenants-7"));
    assert_eq!(pairs, [(insert, uniform), (insert, tenants), (visit, uniform), (visit, tenants)]);
    assert_eq!(rows[3]["note"], "leaf by leaf; peers loop");
    assert_eq!(rows[0]["rival"].is_string(), cfg!(feature = "rivals"));
    let page = std::fs::read_to_string(file).expect("a page");
    for part in ["| keys |", "leaf by leaf", "### insert over tenants-7", "--keys tenants-7", "| index | "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let people =
        bench(&["--records", "1k", "--ops", "1k", "--rounds", "1", "--suite", "keys", "--row", "get"]);
    let shown = text(&people.stdout);
    assert!(shown.contains("uniform") && shown.contains("composite-8192") && shown.contains(" %"), "{shown}");
}

#[test]
fn the_table_of_one_race_says_how_the_index_is_formed() {
    let table = bench(&["--records", "1k", "--ops", "1k", "--rounds", "1", "--keys", "dense"]);
    let (said, shown) = (text(&table.stderr), text(&table.stdout));
    assert!(said.contains("dense u64 keys requested by uniform"), "{said}");
    assert!(shown.contains("misled") && shown.contains("leaf fill"), "{shown}");
    let without = bench(&["--records", "1k", "--ops", "1k", "--rounds", "1"]);
    assert!(!text(&without.stdout).contains("misled"));
}

#[test]
fn files_of_keys_are_raced_and_bad_ones_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        format!("file:{}", path.to_str().expect("a readable path"))
    };
    let numbers =
        |numbers: &mut dyn Iterator<Item = u64>| numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
    let squares = path("squares", &numbers(&mut (0..4000).map(|key| key * key)));
    let found = results(&["--keys", &squares, "--workload", "insert"]);
    assert_eq!(found[0]["checksum"], found[1]["checksum"]);
    assert_eq!(found[0]["keys"], squares);
    let rows = results(&["--suite", "keys", "--keys", &squares, "--row", "get"]);
    assert_eq!(rows[1]["keys"], squares);
    let few = refusal(&["--records", "4k", "--ops", "1k", "--workload", "insert", "--keys", &squares], 2);
    assert!(few.contains("has 4000 distinct keys, but 6000 are needed"), "{few}");
    let torn = path("torn", &[0xff; 20]);
    assert!(refusal(&["--keys", &torn], 2).contains("byte 16: 4 bytes are left"));
    let text = path("text", b"1\n2\nthree\n");
    assert!(refusal(&["--keys", &text], 2).contains("line 3: `three` is not a number below 2^64"));
    assert!(refusal(&["--keys", "file:/nowhere"], 2).contains("/nowhere can't be read"));
}

#[test]
fn key_sets_that_cannot_be_served_are_refused() {
    assert!(refusal(&["--keys", "normal"], 2).contains("there are uniform, dense"));
    assert!(refusal(&["--keys", "lognorml"], 2).contains("(did you mean lognormal"));
    assert!(refusal(&["--keys", "composite-0"], 2).contains("lies in 1 to"));
    assert!(refusal(&["--keys", "uniform,dense"], 2).contains("--suite keys takes several"));
    assert!(refusal(&["--keys", "uniform", "--key", "u32"], 2).contains("more than 32 bits"));
    assert!(refusal(&["--keys", "dense", "--distribution", "sequential"], 2).contains("leave one out"));
    assert!(refusal(&["--suite", "keys", "--key", "u32"], 2).contains("leave out --key"));
    assert!(refusal(&["--suite", "keys", "--row", "ycsb-a"], 2).contains("get-many"));
    assert!(refusal(&["--suite", "keys", "--keys", "normal"], 2).contains("`normal`"));
    assert!(refusal(&["--suite", "flagship", "--keys", "dense"], 2).contains("--suite keys"));
}

#[test]
fn pages_are_chosen_for_all_and_said() {
    let of = |pages: &str| -> Vec<Value> {
        results(&["--pages", pages]).iter().map(|row| row["pages"].clone()).collect()
    };
    assert_eq!(of("huge"), ["huge", "huge"]);
    assert_eq!(of("small"), ["small", "small"]);
    assert_eq!(of("both"), ["huge", "huge", "small", "small"]);
    assert_eq!(results(&[])[0]["pages"], "own");
    let huge = bench(&["--records", "1k", "--ops", "1k", "--rounds", "1", "--pages", "huge"]);
    let said = text(&huge.stderr);
    assert!(said.contains("all on huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1;"), "{said}");
    assert!(refusal(&["--pages", "huge", "--no-huge-pages"], 2).contains("--no-huge-pages"));
    // A failure in the other process keeps its exit code.
    assert!(refusal(&["--pages", "huge", "--keys", "normal"], 2).contains("`normal`"));
}

#[test]
fn suites_run_on_the_pages_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.md");
    let file = file.to_str().expect("a readable path");
    for suite in ["flagship", "keys"] {
        let asked = ["--suite", suite, "--row", "get", "--pages", "both", "--report", file];
        let rows =
            results(&[&asked[..], if suite == "keys" { &["--keys", "uniform"] } else { &[] }].concat());
        let commands: Vec<_> = rows.iter().map(|row| row["command"].as_str().expect("a command")).collect();
        assert_eq!(commands.len(), 2, "{suite}");
        assert!(
            commands[0].contains("--pages huge") && commands[1].contains("--pages small"),
            "{commands:?}"
        );
        for pages in ["huge", "small"] {
            let page = std::fs::read_to_string(file.replace(".md", &format!("-{pages}.md"))).expect("a page");
            assert!(page.contains(&format!("all on {pages} pages")), "{page}");
        }
    }
}

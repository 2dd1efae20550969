//! `latchless-bench` over byte strings, run as users run it on tiny numbers.

use serde_json::Value;
use std::process::{Command, Output};

const WORKLOADS: [&str; 7] = ["load", "get", "chain", "absent", "insert", "remove", "scan"];

fn bench(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless-bench"));
    // The environment of the tests may have tunables.
    command.env_remove("GLIBC_TUNABLES").args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("readable output")
}

fn objects(output: &Output) -> Vec<Value> {
    let lines = text(&output.stdout);
    lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Results on 300 keys, one object an index or a row.
fn results(args: &[&str]) -> Vec<Value> {
    results_on(["300", "100"], args)
}

/// Results on that many keys and operations, one object an index or a row.
fn results_on([records, ops]: [&str; 2], args: &[&str]) -> Vec<Value> {
    let tiny = ["--records", records, "--ops", ops, "--format", "json"];
    let output = bench(&[&tiny[..], args].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    objects(&output)
}

fn refusal(args: &[&str]) -> String {
    let output = bench(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    said
}

/// Checksums of all indexes, which have to be the same.
fn checksum(results: &[Value]) -> &Value {
    assert!(results.iter().all(|result| result["checksum"] == results[0]["checksum"]), "{results:?}");
    &results[0]["checksum"]
}

/// Returns name and note of everything of a kind in `list`.
fn listed(kind: &str) -> Vec<(String, String)> {
    let rows = objects(&bench(&["list", "--format", "json"]));
    let cell = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    rows.iter().filter(|row| row["kind"] == kind).map(|row| (cell(row, "name"), cell(row, "note"))).collect()
}

/// Returns whether this build has the index over byte strings.
fn is_here() -> bool {
    listed("index").iter().any(|(name, note)| name == "bytes" && note == "latchless")
}

#[test]
fn every_workload_runs_on_every_set_and_all_agree() {
    let sets = listed("byte strings");
    assert!(sets.len() > 12 && sets.iter().any(|(name, _)| name == "url"), "{sets:?}");
    let mut of_gets = Vec::new();
    for (set, _) in &sets {
        for workload in WORKLOADS {
            // Keys of 64 KB take a while to compare.
            let long = set == "long-ends";
            let sizes = if long { ["60", "30"] } else { ["300", "100"] };
            let asked = ["--keys", set.as_str(), "--workload", workload, "--index", "all", "--rounds", "2"];
            let found = results_on(sizes, &asked);
            // One rival takes no keys beyond 256 bytes, and one that refuses is left out.
            assert!(
                found.len() >= if cfg!(feature = "rivals") { 4 } else { 1 },
                "{set} {workload}: {found:?}"
            );
            assert_eq!(
                (found[0]["index"].as_str(), found[0]["key"].as_str()),
                (Some("btreemap"), Some("bytes"))
            );
            assert!(found.iter().any(|one| one["index"] == "bytes") == is_here(), "{found:?}");
            let sum = checksum(&found);
            assert_eq!(found[0]["keys"], set.as_str());
            let expected = if workload == "scan" {
                "entry"
            } else if workload == "load" {
                "key"
            } else {
                "op"
            };
            for one in &found {
                let number = |name: &str| one[name].as_f64().unwrap_or_else(|| panic!("{name}: {one}"));
                assert!(number("median_ns") > 0.0 && one["per"] == expected, "{one}");
                // Common prefixes may be stored once, so entries may take less than the keys' bytes.
                assert!(number("bytes_per_key") > 8.0 && number("key_bytes") >= 8.0, "{one}");
            }
            if workload == "get" && !long {
                of_gets.push(sum.clone());
            }
        }
    }
    // Answers depend on the keys' numbers alone: they are equal in all sets of equal size.
    assert!(of_gets.iter().all(|sum| *sum == of_gets[0]), "{of_gets:?}");
}

#[test]
fn batches_and_ways_of_filling_give_the_same_answers() {
    for workload in ["get", "absent"] {
        let one_by_one = results(&["--keys", "url", "--workload", workload]);
        for more in [&["--batch", "256"][..], &["--batch", "7", "--load", "bulk"], &["--load", "sorted"]] {
            let other = results(&[&["--keys", "url", "--workload", workload], more].concat());
            assert_eq!(checksum(&one_by_one), checksum(&other), "{workload} {more:?}");
        }
    }
    for batch in ["1", "64", "256"] {
        checksum(&results(&["--keys", "rocks", "--workload", "insert", "--batch", batch, "--index", "all"]));
    }
    let popular = results(&["--keys", "word", "--distribution", "zipf:0.99"]);
    assert_ne!(checksum(&popular), checksum(&results(&["--keys", "word"])));
}

#[test]
fn threads_have_requests_of_their_own_and_right_answers() {
    for workload in WORKLOADS {
        let threads = results(&["--keys", "rocks", "--workload", workload, "--threads", "3"]);
        checksum(&threads);
        assert_eq!((threads.len(), &threads[0]["threads"]), (2, &Value::from(3)), "{workload}");
    }
    for batch in ["1", "64"] {
        checksum(&results(&["--keys", "url", "--workload", "insert", "--threads", "2", "--batch", batch]));
    }
    // Rivals may be left out for their answers; the remaining ones answer alike.
    checksum(&results(&["--keys", "int8", "--threads", "2", "--index", "all"]));
}

#[test]
fn rounds_of_updates_go_on_where_the_last_ended_or_start_anew() {
    for workload in ["insert", "remove"] {
        for rounds in ["1", "2", "5"] {
            for ops in ["20", "250"] {
                let asked = ["--keys", "email", "--records", "300", "--format", "json", "--index", "all"];
                let more = ["--workload", workload, "--ops", ops, "--rounds", rounds];
                let output = bench(&[&asked[..], &more].concat());
                assert!(output.status.success(), "{}", text(&output.stderr));
                checksum(&objects(&output));
            }
        }
    }
}

#[test]
fn a_table_says_how_long_keys_are_and_what_is_beside_them() {
    let output = bench(&["--keys", "uuid36", "--records", "300", "--ops", "100", "--rounds", "1"]);
    assert!(
        text(&output.stderr).contains("uuid36 bytes keys of 36.0 on average"),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("beside") && text(&output.stdout).contains("btreemap"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    results(&["--keys", "path", "--report", file.to_str().expect("a readable path")]);
    assert!(std::fs::read_to_string(&file).expect("a report").contains("path bytes keys"));
}

#[test]
fn the_suite_runs_every_row_on_every_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bytes.md");
    let file = file.to_str().expect("a readable path");
    let rows = results(&["--suite", "bytes", "--keys", "url,nested", "--rounds", "1", "--report", file]);
    let names: Vec<_> = rows.iter().map(|row| row["workload"].as_str().expect("a name")).collect();
    let expected = "get absent chain get-many insert insert-many remove scan-100 get-2 insert-2 remove-2 load \
                    beside-random beside-loaded";
    let expected: Vec<_> = expected.split(' ').collect();
    assert_eq!(names, [&expected[..], &expected].concat());
    for row in &rows {
        assert!(row["btreemap"].as_f64() > Some(0.0) && row["key_bytes"].as_f64() > Some(8.0), "{row}");
        assert!(row["ours"].as_f64().is_some() == is_here(), "{row}");
        let command = row["command"].as_str().expect("a command");
        assert!(command.contains(&format!("--keys {}", row["keys"].as_str().expect("a set"))), "{command}");
    }
    let page = std::fs::read_to_string(file).expect("a page");
    for part in ["| keys |", "### get over url", "### load over nested", "| beside-random |"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_row_of_the_suite_brings_the_race_that_has_its_numbers() {
    let rows = results(&["--suite", "bytes", "--keys", "int8", "--row", "insert-many,beside-loaded"]);
    let commands: Vec<_> = rows.iter().map(|row| row["command"].as_str().expect("a command")).collect();
    assert_eq!(commands.len(), 2);
    assert!(commands[0].contains("--batch 256") && commands[1].contains("--workload load"), "{commands:?}");
}

#[test]
fn what_byte_strings_do_not_have_is_refused_with_what_there_is() {
    let url = |more: &[&str]| refusal(&[&["--keys", "url"], more].concat());
    assert!(url(&["--workload", "mixed"]).contains("load, get, chain, absent, insert, remove, scan"));
    assert!(url(&["--key", "u32"]).contains("64 bits"));
    assert!(url(&["--order", "sorted"]).contains("--order sorted"));
    assert!(url(&["--pauses", "get"]).contains("--pauses"));
    assert!(url(&["--batch", "auto"]).contains("number of requests per batch"));
    assert!(url(&["--batch", "8", "--workload", "scan"]).contains("no batches of scan"));
    assert!(url(&["--index", "index"]).contains("at most 64 bits"));
    assert!(url(&["--index", "btremap"]).contains("did you mean btreemap"));
    assert!(url(&["--distribution", "dense"]).contains("key set url"));
    assert!(refusal(&["--keys", "url,email"]).contains("--suite bytes takes several"));
    assert!(refusal(&["--index", "bytes"]).contains("--keys url"));
    assert!(refusal(&["--keys", "urls"]).contains("byte strings url, email"));
    assert!(refusal(&["--keys", "long-ends", "--records", "20k"]).contains("has 16384 distinct keys"));
    assert!(refusal(&["--suite", "bytes", "--keys", "dense"]).contains("there are url, email"));
    assert!(refusal(&["--suite", "bytes", "--row", "range"]).contains("scan-100"));
    assert!(refusal(&["--suite", "bytes", "--index", "index"]).contains("at most 64 bits"));
    assert!(refusal(&["--suite", "bytes", "--key", "u32"]).contains("64 bits"));
}

#[cfg(feature = "rivals")]
#[test]
fn rivals_race_and_those_that_refuse_are_left_out() {
    let rivals = ["artmap", "artmap-arena", "crossbeam-skiplist", "scc"];
    let all = ["btreemap", "masstree"].iter().chain(&rivals).copied().collect::<Vec<_>>().join(",");
    let output = bench(&[
        "--keys",
        "one-long",
        "--records",
        "300",
        "--ops",
        "100",
        "--format",
        "json",
        "--index",
        &all,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names: Vec<_> =
        objects(&output).iter().map(|one| one["index"].as_str().expect("a name").to_owned()).collect();
    let mut expected = vec!["btreemap"];
    expected.extend(rivals);
    assert_eq!(names, expected);
    assert!(
        text(&output.stderr).contains("left out: masstree: masstree does not offer"),
        "{}",
        text(&output.stderr)
    );
}

//! `latchless-bench list`, run as users run it.

use serde_json::Value;
use std::process::Command;

fn list(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_latchless-bench")).arg("list").args(args).output();
    let output = output.expect("the binary runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("readable output")
}

#[test]
fn everything_that_can_be_named_is_listed() {
    let text = list(&["--format", "json"]);
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let named = |kind: &str, name: &str| rows.iter().find(|row| row["kind"] == kind && row["name"] == name);
    let papers = "b-plus p8 p8e p8i p8-sweep csb p8-csb cssl cssl5 olc spiderman";
    let papers = papers.split(' ').filter(|_| cfg!(feature = "papers"));
    for index in "btreemap sorted-array scc".split(' ').chain(papers) {
        assert!(named("index", index).is_some(), "{index}");
    }
    for workload in ["load", "get", "chain", "sum", "count", "mixed", "ycsb-a", "ycsb-f", "spiderman-d"] {
        assert!(named("workload", workload).is_some(), "{workload}");
    }
    assert!(rows[0]["note"].as_str().is_some_and(|note| note.contains("recommended")), "{}", rows[0]);
    assert!(named("kernel", "scalar").is_some());
    let chosen = rows.iter().filter(|row| row["kind"] == "kernel" && row["note"] == "chosen").count();
    assert_eq!(chosen, 1, "one kernel is chosen");
    let note = named("index", "scc").and_then(|row| row["note"].as_str()).expect("a note");
    assert!(note == "rival" || (note.contains("--features rivals") && !cfg!(feature = "rivals")), "{note}");
}

#[test]
fn forms_and_help() {
    assert!(list(&[]).contains("btreemap"));
    assert!(list(&["--format", "csv"]).starts_with("kind,name,about,note\n"));
    assert!(list(&["--help"]).contains("Examples:"));
}

#[test]
fn a_filter_lists_what_has_it() {
    let names = |filter: &str| -> Vec<String> {
        let all = list(&[filter, "--format", "csv"]);
        all.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert!(names("YCSB-").iter().all(|line| line.starts_with("workload ycsb-")));
    assert_eq!(names("ycsb-").len(), 6);
    assert!(names("wide nodes").contains(&"index index".to_owned()), "a description counts");
    assert!(names("").len() > 80, "{}", names("").len());
    let nothing = Command::new(env!("CARGO_BIN_EXE_latchless-bench")).args(["list", "btremap"]).output();
    let nothing = nothing.expect("the binary runs");
    assert!(nothing.status.success() && nothing.stdout.is_empty());
    let said = String::from_utf8(nothing.stderr).expect("readable output");
    assert!(said.contains("did you mean btreemap"), "{said}");
}

#[test]
fn quiet_leaves_nothing_on_standard_error_but_errors() {
    let run = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_latchless-bench")).args(arguments.split(' ')).output();
        let output = output.expect("the binary runs");
        let text = |bytes| String::from_utf8(bytes).expect("readable output");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = run("--quiet --records 1k --ops 1k --rounds 1");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("btreemap"));
    let (code, _, err) = run("--quiet --index nosuch");
    assert_eq!(code, Some(2));
    assert!(err.starts_with("error: no index is called `nosuch`"), "{err}");
    assert_eq!(run("list nothing-like-this -q").2, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    for arguments in [&["list"][..], &["--records", "10", "--ops", "10"]] {
        let program = env!("CARGO_BIN_EXE_latchless-bench");
        let output = Command::new("sh").args(["-c", "\"$0\" \"$@\" >&-", program]).args(arguments).output();
        let output = output.expect("a shell");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output is closed"));
    }
}

//! Every example in the program's help and in its README, as a user would type it.

mod common;

use common::shell;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with the sample files where they are in the repository, and with files that examples make up.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = folder.path().join("examples/data");
    fs::create_dir_all(&data).unwrap();
    for file in fs::read_dir(root.join("examples/data")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), data.join(file.file_name())).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("orders.csv", "client,date,sum\nSmith,2024-03-05,7\nJones,2024-03-01,8\nSmith,2024-03-11,9\n");
    write("rows.csv", "id,x\n7,1.5\n8,NA\n9,200\n");
    write("events.jsonl", "{\"id\":7,\"kind\":\"start\"}\n{\"id\":8,\"kind\":\"stop\",\"code\":1}\n");
    fs::write(folder.path().join("latin.csv"), b"town,people\nM\xfcnchen,5\n").unwrap();
    write("ragged.csv", "id,x\n7\n8,1,2\n");
    write("more_orders.csv", "client,date,sum\nJones,2024-03-06,1\n");
    let made = shell(folder.path(), "gzip -k rows.csv; cp examples/data/chr22_variants.csv variants.csv");
    assert_eq!(made.code, 0, "{}", made.err);
    folder
}

/// Lines that go on after a backslash as one.
fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join("\n").replace("\\\n", " ")
}

/// Runs the lines that call the program, with the variables that lines before them set; each prints
/// something.
fn check(text: &str) -> usize {
    let folder = folder();
    let (mut variables, mut ran) = (String::new(), 0);
    for line in joined(text).lines().map(str::trim) {
        let is_variable = line.split_once('=').is_some_and(|(name, value)| {
            !name.is_empty() && name.chars().all(char::is_uppercase) && !value.contains(' ')
        });
        if is_variable {
            variables = format!("{line}; ");
        } else if line.contains("latchless ") && !line.contains("cargo") {
            let outcome = shell(folder.path(), &format!("{variables}{line}"));
            let is_typed = line.starts_with("latchless shell");
            assert!(outcome.code == 0 && outcome.out.is_empty() == is_typed, "{line}: {}", outcome.err);
            ran += 1;
        }
    }
    ran
}

#[test]
fn every_example_in_the_help_prints_something() {
    for (command, fewest) in [("query", 25), ("join", 6), ("shell", 4)] {
        let program = env!("CARGO_BIN_EXE_latchless");
        let help = Command::new(program).args([command, "--help"]).env("COLUMNS", "500").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let (_, examples) = help.split_once("\nExamples").unwrap();
        let (examples, _) = examples
            .split_once("\nTypes:")
            .or(examples.split_once("\nColumns:"))
            .or(examples.split_once("\nLines:"))
            .unwrap();
        assert!(check(examples) >= fewest, "{command}");
    }
}

#[test]
fn every_example_of_query_and_join_in_the_pages_prints_something() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, fewest) in [("crates/cli/README.md", 9), ("examples/data/README.md", 7)] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let mut blocks = text.split("```");
        let mut examples = String::new();
        while let (Some(_), Some(block)) = (blocks.next(), blocks.next()) {
            let block = joined(block);
            let lines = block.lines().filter(|line| {
                ["query", "join"].iter().any(|command| line.contains(&format!("latchless {command} ")))
            });
            lines.for_each(|line| examples.push_str(&format!("{line}\n")));
        }
        assert!(check(&examples) >= fewest, "{page}");
    }
}

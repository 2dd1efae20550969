//! `latchless-bench witness`, run as users run it; valgrind has to be installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn witness(args: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latchless-bench"));
    command.args(["witness", "--counter", "valgrind", "--quiet"]).args(args).arg(file);
    command.output().expect("the binary runs")
}

#[test]
fn counts_repeat_and_a_row_that_costs_more_is_named() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept.tsv");
    let kept = witness(&["--records", "800", "--kind", "index", "--format", "csv", "--keep"], &file);
    assert!(kept.status.success(), "{kept:?}");
    let table = fs::read_to_string(&file).unwrap();
    for line in ["# records: 800", "# counter: valgrind", "index\tget\t100\t", "index\tremove\t100\t"] {
        assert!(table.contains(line), "{line} isn't in {table}");
    }
    // Nothing but the kind is given: the number of records is the kept table's.
    let same = witness(&["--kind", "index", "--against"], &file);
    assert!(same.status.success(), "{same:?}");
    let get = table.lines().find(|line| line.starts_with("index\tget\t")).unwrap();
    let cheaper = get.split('\t').take(3).chain(["10.0", "0.0", "0.0"]).collect::<Vec<_>>().join("\t");
    fs::write(&file, table.replace(get, &cheaper)).unwrap();
    let more = witness(&["--kind", "index", "--against"], &file);
    let said = String::from_utf8(more.stderr).unwrap();
    assert_eq!(more.status.code(), Some(1), "{said}");
    assert!(said.contains("index get: 10.000 instructions, now "), "{said}");
    assert!(!said.contains("index remove"), "{said}");
}

#[test]
fn another_build_is_raced() {
    let own = Path::new(env!("CARGO_BIN_EXE_latchless-bench"));
    let mut race = Command::new(own);
    let output = race.args(["witness", "--records", "800", "--format", "csv", "--race"]).arg(own).output();
    let output = output.unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.starts_with("index,operation,ns,ns of the other,ratio\nindex,get,"), "{table}");
    assert_eq!(table.lines().count(), 51, "{table}");
}

//! `latchless-bench versions`, run as users run it.

use std::process::Command;

fn versions(args: &[&str]) -> (bool, String, String) {
    let command = Command::new(env!("CARGO_BIN_EXE_latchless-bench")).arg("versions").args(args).output();
    let output = command.expect("the program");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_operation_of_an_index_of_versions_is_timed() {
    for keys in ["u64", "u64-dense", "uuid16", "url"] {
        let (is_done, table, notes) =
            versions(&["--records", "2000", "--rounds", "2", "--keys", keys, "--format", "csv"]);
        assert!(is_done, "{notes}");
        // No operation of this table has a comma in a cell that is counted from the right.
        let mut lines = table.lines().map(|line| line.rsplit(',').map(str::to_owned).collect::<Vec<_>>());
        let heads = lines.next().expect("a head");
        let at = heads.iter().position(|head| head == "VersionedIndex").expect("its column");
        let numbers: Vec<f64> =
            lines.map(|cells| cells[at].trim_matches('"').parse().expect("a number")).collect();
        assert!(numbers.len() == 19 && numbers.iter().all(|&number| number > 0.0), "{table}");
    }
}

#[test]
fn a_table_in_markdown_has_the_ratios() {
    let (is_done, table, notes) = versions(&["--records", "800", "--rounds", "1", "--markdown"]);
    assert!(is_done, "{notes}");
    assert!(
        table.starts_with("| operation | Index |") && table.contains("| Index / VersionedIndex |"),
        "{table}"
    );
}

#[test]
fn too_few_records_and_unknown_keys_are_refused() {
    let (is_done, _, error) = versions(&["--records", "7"]);
    assert!(!is_done && error.contains("at least 8 records"), "{error}");
    let (is_done, _, error) = versions(&["--keys", "strings"]);
    assert!(!is_done && error.contains("uuid16"), "{error}");
}

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
    let (is_done, table, notes) = versions(&["--records", "2000", "--rounds", "2", "--format", "csv"]);
    assert!(is_done, "{notes}");
    let mut lines = table.lines().map(|line| line.rsplit(',').map(str::to_owned).collect::<Vec<_>>());
    let heads = lines.next().expect("a head");
    let at = heads.iter().position(|head| head.contains("VersionedIndex")).expect("its column");
    let nanos: Vec<f64> =
        lines.map(|cells| cells[at].trim_matches('"').parse().expect("nanoseconds")).collect();
    assert!(nanos.len() == 7 && nanos.iter().all(|&nanos| nanos > 0.0), "{table}");
}

#[test]
fn too_few_records_are_refused() {
    let (is_done, _, error) = versions(&["--records", "7"]);
    assert!(!is_done && error.contains("at least 8 records"), "{error}");
}

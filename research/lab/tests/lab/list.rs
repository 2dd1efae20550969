//! `latchless-lab list`, run as users run it.

use std::process::Command;

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_latchless-lab")).args(args).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("readable output");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_experiment_is_listed_with_its_paper() {
    let (code, listed, _) = run(&["list", "--format", "csv"]);
    assert_eq!(code, Some(0));
    assert!(listed.starts_with("paper,experiment,title\n"), "{listed}");
    for line in ["pb-tree,table-3,", "cssl,fig-7,", "spiderman,fig-13,", "pi,", "olfit,"] {
        assert!(listed.lines().any(|row| row.starts_with(line)), "{line}");
    }
}

#[test]
fn a_filter_lists_what_has_it_and_says_what_is_like_it() {
    let (_, listed, _) = run(&["list", "olfit", "--format", "csv"]);
    assert!(
        listed.lines().skip(1).count() > 3
            && listed.lines().skip(1).all(|row| row.to_lowercase().contains("olfit"))
    );
    let (code, listed, said) = run(&["list", "tabel-3"]);
    assert_eq!((code, listed.as_str()), (Some(0), ""));
    assert!(said.contains("did you mean table-3"), "{said}");
    assert_eq!(run(&["list", "nothing-like-this", "-q"]).2, "");
}

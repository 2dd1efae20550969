//! The commands of `latchless-bench` in documents.

mod commands;

#[test]
fn the_program_knows_every_command_that_a_document_names() {
    let folders =
        ["", "docs", "docs/internals", "docs/internals/design", "crates/bench/results", "research/results"];
    let seen = commands::known("latchless-bench", env!("CARGO_BIN_EXE_latchless-bench"), &folders);
    assert!(seen > 20, "only {seen} commands were found");
}

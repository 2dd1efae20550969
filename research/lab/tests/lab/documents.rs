//! The commands of `latchless-lab` in documents.

use crate::commands;

#[test]
fn the_program_knows_every_command_that_a_document_names() {
    let folders = [
        "research",
        "research/docs",
        "research/results",
        "research/results/native",
        "research/results/model",
    ];
    let seen = commands::known("latchless-lab", env!("CARGO_BIN_EXE_latchless-lab"), &folders);
    assert!(seen > 10, "only {seen} commands were found");
}

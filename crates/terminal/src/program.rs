//! The frame of a program: parsing, quiet, exit codes.

use crate::failure::Failure;
use crate::{output, say};
use std::process::ExitCode;

/// Runs a program: parses its command line, runs the command, and reports a failure. A closed standard output
/// is refused first, since no answer could be written.
pub fn run<Cli>(
    parse: impl FnOnce() -> Cli,
    is_quiet: impl FnOnce(&Cli) -> bool,
    command: impl FnOnce(Cli) -> Result<(), Failure>,
) -> ExitCode {
    if output::terminal::was_closed() {
        return Failure::run("standard output is closed, so no answer can be written").report();
    }
    let cli = parse();
    if is_quiet(&cli) {
        say::be_quiet();
    }
    match command(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

//! `latchless query`.

use crate::failure::Failure;

/// Answer questions about a file's rows through an index over one of its columns.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: &Args) -> Result<(), Failure> {
    Err(Failure::usage("being built"))
}

//! `latchless bench`.

use crate::failure::Failure;

/// Race indexes against each other, interleaved in one process.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: &Args) -> Result<(), Failure> {
    Err(Failure::usage("being built"))
}

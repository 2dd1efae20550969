//! `latchless paper`.

use crate::failure::Failure;

/// Rerun a paper's experiments and set the numbers beside the published ones.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: &Args) -> Result<(), Failure> {
    Err(Failure::usage("being built"))
}

//! `latchless list`.

use crate::failure::Failure;

/// What there is: indexes, workloads, experiments, search kernels.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: &Args) -> Result<(), Failure> {
    Err(Failure::usage("being built"))
}

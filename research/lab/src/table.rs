//! `latchless-lab claims`: the table of the papers' claims.

use latchless_lab::LabError;
use latchless_lab::claims::Research;
use latchless_lab::results;
use latchless_terminal::failure::Failure;
use std::fs;

/// Make the table of the papers' claims, `research/results/README.md`, and that of their headline claims in
/// `research/ARTIFACT.md`, from the kept results.
///
/// Each claim gets a verdict, on the paper's machine and natively. A claim that is off needs a measured
/// reason in
/// `research/claims`, and a reason needs such a claim.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write nothing; fail if the table isn't that of the kept results
    #[arg(long)]
    check: bool,
}

/// Runs the command.
///
/// # Errors
/// Missing reasons or figures, files that can't be read or written, with `--check` another table.
pub fn run(args: &Args) -> Result<(), Failure> {
    let research = Research::find().map_err(Failure::run)?;
    for (path, page) in research.pages().map_err(Failure::run)? {
        if !args.check {
            results::put(&path, &page).map_err(Failure::run)?;
        } else if fs::read_to_string(&path).map_or(true, |kept| kept != page) {
            let path = path.display().to_string();
            return Err(Failure::run(LabError::Stale { path, command: "latchless-lab claims" }));
        }
    }
    Ok(())
}

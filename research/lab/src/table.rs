//! `latchless-lab claims`: the table of the papers' claims.

use latchless_lab::claims::Research;
use latchless_lab::results;
use latchless_terminal::failure::Failure;

/// Make the table of the papers' claims, `research/results/README.md`, and that of their headline claims in
/// `research/ARTIFACT.md`, from the kept results.
///
/// Each claim gets a verdict, on the paper's machine and natively. A claim that is off needs a measured
/// reason in `research/claims`, and a reason needs such a claim.
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
        let written = match args.check {
            true => results::is_current(&path, &page, "latchless-lab claims"),
            false => results::put(&path, &page),
        };
        written.map_err(Failure::run)?;
    }
    Ok(())
}

//! `latchless-lab list`: the papers and their experiments.

use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::say;
use serde_json::json;

/// The papers' experiments: paper, name, title.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only experiments with this text in paper, name or title
    #[arg(value_name = "FILTER")]
    filter: Option<String>,

    /// How the list is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// When standard output can't be written to.
pub fn run(args: &Args) -> Result<(), Failure> {
    let all = latchless_lab::catalogue();
    let wanted = args.filter.as_deref().unwrap_or_default().to_lowercase();
    let mut rows = Rows::new(["paper", "experiment", "title"]);
    for one in &all {
        let cells = [one.paper.name, one.experiment.name, one.experiment.title];
        if cells.iter().any(|cell| cell.to_lowercase().contains(&wanted)) {
            rows.push(cells.iter().map(|cell| json!(cell)).collect());
        }
    }
    if rows.is_empty() {
        let like = did_you_mean(&wanted, all.iter().map(|one| one.experiment.name));
        say::note(format_args!("nothing has `{wanted}` in its paper, name or title{like}"));
        return Ok(());
    }
    rows.print(args.format)
}

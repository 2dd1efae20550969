//! `latchless list`: what there is.

use crate::catalogue;
use crate::failure::Failure;
use crate::output::{Format, Rows};
use latchless::search::Kernel;
use latchless_workload::Workload;
use serde_json::json;

/// What there is: indexes, workloads, the papers' experiments, search kernels.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless list
      Everything that can be named on the command line.
  latchless list --format json
      The same, one JSON object a line: kind, name, about, note.")]
pub struct Args {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// When standard output can't be written to.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut rows = Rows::new(["kind", "name", "about", "note"]);
    let (first, others): (Vec<_>, Vec<_>) =
        catalogue::entries().into_iter().partition(|entry| entry.name == catalogue::FLAGSHIP);
    for entry in first.into_iter().chain(others) {
        let note = match entry.origin {
            _ if entry.name == catalogue::FLAGSHIP => "latchless: the one to use",
            _ if !entry.compiled => "rival: build with --features rivals",
            origin => origin.name(),
        };
        rows.push(vec![json!("index"), json!(entry.name), json!(entry.about), json!(note)]);
    }
    for workload in Workload::ALL {
        let note = if workload.updates() { "updates" } else { "reads" };
        rows.push(vec![json!("workload"), json!(workload.name()), json!(workload.about()), json!(note)]);
    }
    for one in latchless_lab::catalogue() {
        let (name, title) = (one.experiment.name, one.experiment.title);
        rows.push(vec![json!("experiment"), json!(name), json!(title), json!(one.paper.name)]);
    }
    for kernel in Kernel::ALL {
        let note = match kernel {
            absent if !absent.is_available() => "not on this processor",
            best if best == Kernel::best() => "chosen",
            _ => "available",
        };
        rows.push(vec![json!("kernel"), json!(kernel.name()), json!("in-node search"), json!(note)]);
    }
    rows.print(args.format)
}

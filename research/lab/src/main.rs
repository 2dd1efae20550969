//! `latchless-lab`: reruns the papers' experiments, and shows the published numbers beside ours.

mod list;
mod paper;
mod table;

use clap::{Parser, Subcommand};
use latchless_measure::counting::Counting;
use latchless_terminal::program;
use std::process::ExitCode;

/// Counting is off, without a measurable cost, unless an experiment weighs an index.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The laboratory of latchless: the experiments of five papers.
#[derive(Debug, Parser)]
#[command(name = "latchless-lab", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Say nothing on standard error but errors: no statistics, notes or progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Paper(paper::Args),
    List(list::Args),
    Claims(table::Args),
}

fn main() -> ExitCode {
    program::run(
        Cli::parse,
        |cli| cli.quiet,
        |cli| match cli.command {
            Command::Paper(args) => paper::run(&args),
            Command::List(args) => list::run(&args),
            Command::Claims(args) => table::run(&args),
        },
    )
}

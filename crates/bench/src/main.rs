//! `latchless-bench`: race indexes against each other.

use clap::{Parser, Subcommand};
use latchless_bench::{args, list};
use latchless_measure::counting::Counting;
use latchless_terminal::program;
use std::process::ExitCode;

/// Counting is off, without a measurable cost, unless a race weighs an index.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Race indexes against each other, interleaved in one process.
#[derive(Debug, Parser)]
#[command(name = "latchless-bench", version, args_conflicts_with_subcommands = true)]
#[command(after_long_help = args::TEACHING)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    race: args::Args,

    /// Say nothing on standard error but errors: no statistics, notes or progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
}

fn main() -> ExitCode {
    program::run(
        Cli::parse,
        |cli| cli.quiet,
        |cli| match cli.command {
            Some(Command::List(args)) => list::run(&args),
            None => latchless_bench::run(&cli.race),
        },
    )
}

//! `latchless-bench`: race indexes against each other.

use clap::{Parser, Subcommand};
use latchless_bench::counting::Counting;
use latchless_bench::{args, list};
use latchless_terminal::failure::Failure;
use latchless_terminal::output;
use latchless_terminal::say;
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
    if output::terminal::was_closed() {
        return Failure::run("standard output is closed, so no answer can be written").report();
    }
    let cli = Cli::parse();
    if cli.quiet {
        say::be_quiet();
    }
    let outcome = match cli.command {
        Some(Command::List(args)) => list::run(&args),
        None => latchless_bench::run(&cli.race),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

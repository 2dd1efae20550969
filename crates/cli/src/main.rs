//! `latchless`: queries the rows of a file through an ordered index.

mod query;

use clap::{Parser, Subcommand};
use latchless_terminal::failure::Failure;
use latchless_terminal::output;
use latchless_terminal::say;
use std::process::ExitCode;

/// Ordered indexes in main memory, over the rows of a file.
#[derive(Debug, Parser)]
#[command(name = "latchless", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Say nothing on standard error but errors: no statistics, notes or progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Query(Box<query::Args>),
}

fn main() -> ExitCode {
    if output::terminal::was_closed() {
        return Failure::run("standard output is closed, so no answer can be written").report();
    }
    let cli = Cli::parse();
    if cli.quiet {
        say::be_quiet();
    }
    let Command::Query(args) = cli.command;
    match query::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

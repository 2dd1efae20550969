//! `latchless`: query a file through an ordered index, race indexes against each other, rerun the
//! papers' experiments.

mod bench;
mod catalogue;
mod failure;
mod list;
mod output;
mod paper;
mod query;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Ordered indexes in main memory: query, race, reproduce.
#[derive(Debug, Parser)]
#[command(name = "latchless", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Query(Box<query::Args>),
    Bench(bench::Args),
    Paper(paper::Args),
    List(list::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Query(args) => query::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::List(args) => list::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

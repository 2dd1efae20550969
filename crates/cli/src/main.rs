//! `latchless`: queries the rows of a file through an ordered index, once or in a shell, joins two files, and
//! looks after durable indexes.

mod join;
mod log;
mod manual;
mod query;
mod rows;
mod shell;

use clap::{CommandFactory, Parser, Subcommand};
use latchless_terminal::program;
use std::process::ExitCode;

/// Ordered indexes in main memory, over the rows of files.
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
    Join(Box<join::Args>),
    Shell(Box<shell::Args>),
    Log(log::Args),
    Completions(manual::Completions),
    Man(manual::Page),
}

fn main() -> ExitCode {
    program::run(
        Cli::parse,
        |cli| cli.quiet,
        |cli| match cli.command {
            Command::Query(args) => query::run(&args),
            Command::Join(args) => join::run(&args),
            Command::Shell(args) => shell::run(&args),
            Command::Log(args) => log::run(&args),
            Command::Completions(args) => manual::completions(&args, Cli::command()),
            Command::Man(args) => manual::page(&args, Cli::command()),
        },
    )
}

//! `latchless-bench`: race indexes against each other.

use clap::{Parser, Subcommand};
#[cfg(feature = "races")]
use latchless_bench::{args, list};
use latchless_bench::{small, versions, witness};
use latchless_measure::counting::Counting;
#[cfg(not(feature = "races"))]
use latchless_terminal::failure::Failure;
use latchless_terminal::program;
use std::process::ExitCode;

/// Counting is off, without a measurable cost, unless a race weighs an index.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Race indexes against each other, interleaved in one process.
#[derive(Debug, Parser)]
#[command(name = "latchless-bench", version, args_conflicts_with_subcommands = true)]
#[cfg_attr(feature = "races", command(after_long_help = args::TEACHING))]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[cfg(feature = "races")]
    #[command(flatten)]
    race: args::Args,

    /// Say nothing on standard error but errors: no statistics, notes or progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "races")]
    List(list::Args),
    Small(small::Args),
    Versions(versions::Args),
    Witness(witness::Args),
}

fn main() -> ExitCode {
    program::run(
        Cli::parse,
        |cli| cli.quiet,
        |cli| match cli.command {
            #[cfg(feature = "races")]
            Some(Command::List(args)) => list::run(&args),
            Some(Command::Small(args)) => small::run(&args),
            Some(Command::Versions(args)) => versions::run(&args),
            Some(Command::Witness(args)) => witness::run(&args),
            #[cfg(feature = "races")]
            None => latchless_bench::run(&cli.race),
            #[cfg(not(feature = "races"))]
            None => {
                Err(Failure::usage("this build has no races: its commands are small, versions and witness"))
            }
        },
    )
}

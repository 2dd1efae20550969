//! The command line of `latchless log`, and its help.

use clap::{Subcommand, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:

  Is everything whole that an opening reads?
    latchless log verify prices
  What was written since record 1000, one line a change:
    latchless log dump prices --from 1000
  A copy of one moment, while a program has the index open; it opens as an index by itself:
    latchless log backup prices /backups/prices-friday
  What precedes the damage of a log, in a new folder, or in place:
    latchless log repair prices --to prices-repaired
    latchless log repair prices

Exit codes:
  0: all is well. 1: a file is damaged or can't be read; the message names it, and the byte. 2: there is no durable index in the folder, or another program has it open.
";

/// Check, copy, show and repair the folder of a durable index (crate latchless-log)
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "--help has examples.")]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check every file that an opening reads, and name what is wrong by file and byte; nothing is changed
    Verify {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Keep all records before the first damaged one, and set the others aside
    ///
    /// The folder must not be open. What is cut off is kept beside the logs, under names that end in .torn
    /// or .rejected.
    Repair {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
        /// Copy what would be kept to this new folder, and leave the damaged one as it is
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        to: Option<PathBuf>,
    },
    /// Print the records since the newest snapshot, one line a change: number, change, key, value
    Dump {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
        /// The number of the first record to print
        #[arg(long, value_name = "N", default_value_t = 1)]
        from: u64,
    },
    /// Copy the index to a new folder, while others read and write it
    Backup {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
        /// The new folder; there must be nothing of that name
        #[arg(value_name = "TO", value_hint = ValueHint::DirPath)]
        to: PathBuf,
    },
}

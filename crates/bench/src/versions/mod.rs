//! `latchless-bench versions`: an index that keeps versions beside indexes that don't, and beside a skip list
//! whose keys end in a version.
//!
//! In reading order: [`subject`] (the indexes, with the operations that each has), then the rounds here.

mod subject;

use latchless_measure::built::Commit;
use latchless_measure::{host::Host, machine};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::{count, say};
use serde_json::{Value, json};
use std::time::Instant;
use subject::Operation;

/// A prime number: its multiples visit all entries.
const STRIDE: u64 = 2_654_435_761;
/// Of so many entries, one is requested by each operation in a round.
const SHARE: usize = 8;

/// Nanoseconds of each operation of a `VersionedIndex`, beside an `Index` and a skip list of versions.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless-bench versions
      A million entries, medians of nine rounds in which the indexes alternate.
  latchless-bench versions --records 10M --rounds 5 --format csv

A plain index has one value per key: its rows are what versions cost. The skip list (in a build with the
feature skip-list) has entries of (key, falling number), where a read at a number is the entry at or after it.")]
pub struct Args {
    /// Entries of each index, such as 1M or 20k
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    records: usize,
    /// Rounds, of which the median is printed
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// Refused memory, and fewer than [`SHARE`] entries.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.records < SHARE {
        return Err(Failure::usage(format!("at least {SHARE} records")));
    }
    let commit = Commit::here();
    say::note(format_args!("{}, {}", commit.name, machine::short(&Host::here())));
    let key = |at: usize| (at as u64).wrapping_mul(STRIDE) % args.records as u64;
    let loaded: Vec<u64> = (0..args.records).map(key).collect();
    let subjects = subject::all(&loaded)?;
    // Requests in an order unlike that of the keys.
    let keys: Vec<u64> = (0..args.records / SHARE).map(|at| key(at * SHARE + 1)).collect();
    let mut rows = Rows::new(["operation"].into_iter().chain(subjects.iter().map(|subject| subject.name())));
    for operation in Operation::ALL {
        let mut nanos = vec![Vec::new(); subjects.len()];
        for round in 0..usize::from(args.rounds) {
            for turn in 0..subjects.len() {
                let which = (round + turn) % subjects.len();
                let start = Instant::now();
                if let Some(times) = subjects[which].perform(operation, &keys)? {
                    nanos[which].push(start.elapsed().as_nanos() as f64 / times as f64);
                }
            }
        }
        let cells = nanos.into_iter().map(|nanos| median(nanos).map_or(Value::Null, shown));
        rows.push([json!(operation.name())].into_iter().chain(cells).collect());
    }
    rows.print(args.format)
}

fn shown(nanos: f64) -> Value {
    json!(format!("{nanos:.1}"))
}

fn median(mut nanos: Vec<f64>) -> Option<f64> {
    nanos.sort_by(f64::total_cmp);
    nanos.get(nanos.len() / 2).copied()
}

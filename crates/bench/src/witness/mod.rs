//! `latchless-bench witness`: what the operations of each kind of index cost, in events of the processor.
//!
//! In reading order: [`kind`], [`subject`] and [`versions`] (the indexes), [`work`] (the operations),
//! [`counter`] (the events), [`table`] (the counts, as they are kept and compared).

mod counter;
mod kind;
mod subject;
mod table;
mod versions;
mod work;

use counter::Counter;
use kind::Kind;
use latchless_measure::built::{self, Commit};
use latchless_measure::{host::Host, machine};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::{Format, Rows};
use latchless_terminal::{count, say};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
pub(crate) use subject::{Boxed, number};
use table::Table;

/// Entries, unless the command line or the kept table says otherwise.
const RECORDS: usize = 1_000_000;
/// Rounds of a race.
const ROUNDS: usize = 9;

/// Counts instructions, branch misses and last-level misses of each operation of each kind of index.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  latchless-bench witness
      Every operation of every kind of index, with a million entries.
  latchless-bench witness --records 20k --kind bytes,boxed-bytes
      A short form, of two kinds.
  latchless-bench witness --keep before.tsv
      Also writes the table to a file, with the commit, the processor and the compiler.
  latchless-bench witness --against before.tsv
      Fails if a row costs more than in that file, and names it: over 1 % more instructions, 15 % more branch
      misses or 2 % more last-level misses.
  latchless-bench witness --race other/target/release/latchless-bench
      Nanoseconds of this build and of another one, medians of rounds in which the two alternate.

How it counts:
  A process fills one index, key by key, then runs each operation on an eighth of the entries. Keys are the
  same in every run. The counts are those of the operations alone, divided by their number; a range of 48
  entries is one operation. With valgrind they are those of a modelled processor with AVX2, 32 KiB and 1 MiB
  of cache and no prefetcher. They repeat to the last digit, but for byte strings, whose hashes have random
  seeds: those vary by a thousandth. Between builds branch misses vary by a tenth, with the addresses of
  branches. Differences below 0.02 events are never reported.")]
pub struct Args {
    /// Entries of each index, such as 1M or 20k [default: 1M, or as in the file of --against]
    #[arg(long, value_name = "N", value_parser = count::parse)]
    records: Option<usize>,
    /// Only these kinds of index
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    kind: Vec<Kind>,
    /// Writes the table to a file
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Compares with a kept table, and fails if a row costs more
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Races another build of this program, in place of counting
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["keep", "against", "counter"])]
    race: Option<PathBuf>,
    /// The counter [default: perf where the hardware has counters, or as in the file of --against]
    #[arg(long, value_enum)]
    counter: Option<Counter>,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Runs the operations of this kind of index: the process that is counted
    #[arg(long, value_enum, hide = true)]
    serve: Option<Kind>,
    /// So many operations of that process
    #[arg(long, hide = true, default_value_t = usize::MAX)]
    operations: usize,
}

/// Runs the command.
///
/// # Errors
/// A counter or a file that isn't there, and rows that cost more than in the kept table.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(kind) = args.serve {
        let done = work::run(kind, args.records.unwrap_or(RECORDS), args.operations)?;
        print!("{}", work::write(&done));
        return Ok(());
    }
    let kinds = if args.kind.is_empty() { &Kind::ALL[..] } else { &args.kind };
    if let Some(other) = &args.race {
        return race(other, kinds, args.records.unwrap_or(RECORDS))?.print(args.format);
    }
    let base = args.against.as_deref().map(kept).transpose()?;
    let (table, base) = (counted(args, kinds, base.as_ref())?, base);
    table.shown().print(args.format)?;
    if let Some(file) = &args.keep {
        std::fs::write(file, table.write()).map_err(|error| at(file, error))?;
    }
    let Some(base) = base else { return Ok(()) };
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let (more, less) = table.against(&base, &names);
    less.iter().for_each(|line| say::note(format_args!("less: {line}")));
    if more.is_empty() {
        return Ok(());
    }
    Err(Failure::run(format!("{} rows cost more:\n{}", more.len(), more.join("\n"))))
}

fn at(file: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {error}", file.display()))
}

fn kept(file: &Path) -> Result<Table, Failure> {
    Table::read(&std::fs::read_to_string(file).map_err(|error| at(file, error))?)
        .map_err(|error| at(file, error))
}

/// Counts as the command line says, or else as `base` was counted.
fn counted(args: &Args, kinds: &[Kind], base: Option<&Table>) -> Result<Table, Failure> {
    let in_base = |name: &str| base.and_then(|base| base.value(name));
    let records = args.records.or_else(|| in_base("records")?.parse().ok()).unwrap_or(RECORDS);
    let counter = args.counter.or_else(|| clap::ValueEnum::from_str(in_base("counter")?, false).ok());
    let counter = counter.unwrap_or_else(Counter::best);
    let mut table = Table::default();
    let mut kernels = Vec::new();
    for &kind in kinds {
        say::note(format_args!("counting {} by {}", kind.name(), counter.name()));
        let (kernel, counted) = counter.count(kind, records)?;
        kernels.push(kernel);
        table.rows.extend(counted.into_iter().map(|counted| (kind.name().to_owned(), counted)));
    }
    kernels.dedup();
    let commit = Commit::here();
    let names = if args.kind.is_empty() { String::new() } else { names(kinds) };
    table.head = [
        ("command", format!("latchless-bench witness --records {records}{names}")),
        ("commit", commit.name + if commit.is_dirty { ", with changes" } else { "" }),
        ("processor", machine::short(&Host::here())),
        ("compiler", format!("{}, {}", built::COMPILER, built::PROFILE)),
        ("kernel", kernels.join(" ")),
        ("counter", counter.name().to_owned()),
        ("records", records.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if let Some(base) = base {
        for name in ["records", "counter", "kernel"] {
            if table.value(name) != base.value(name) {
                return Err(Failure::usage(format!(
                    "the kept table has other {name}: nothing to compare with"
                )));
            }
        }
    }
    Ok(table)
}

fn names(kinds: &[Kind]) -> String {
    format!(" --kind {}", kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(","))
}

/// Runs this build and another one alternately; returns the median nanoseconds of each operation.
fn race(other: &Path, kinds: &[Kind], records: usize) -> Result<Rows, Failure> {
    let programs = [std::env::current_exe()?, other.to_owned()];
    let mut rows = Rows::new(["index", "operation", "ns", "ns of the other", "ratio"]);
    for &kind in kinds {
        let mut rounds: [Vec<Vec<work::Done>>; 2] = Default::default();
        for round in 0..ROUNDS {
            // Each is first in every second round.
            for which in [round % 2, 1 - round % 2] {
                let request = counter::request(kind, records, usize::MAX);
                rounds[which].push(counter::served(Command::new(&programs[which]).args(request))?.1);
            }
        }
        for at in 0..rounds[0][0].len() {
            let [own, others] = [0, 1].map(|which| median(&rounds[which], at));
            let operation = &rounds[0][0][at].operation;
            rows.push(vec![
                json!(kind.name()),
                json!(operation),
                json!(format!("{own:.1}")),
                json!(format!("{others:.1}")),
                json!(format!("{:.2}", own / others)),
            ]);
        }
    }
    Ok(rows)
}

/// Returns the median nanoseconds of the operation at this place.
fn median(rounds: &[Vec<work::Done>], at: usize) -> f64 {
    let nanos = |round: &Vec<work::Done>| {
        round.get(at).map_or(f64::NAN, |done| done.took.as_nanos() as f64 / done.times as f64)
    };
    let mut all: Vec<f64> = rounds.iter().map(nanos).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

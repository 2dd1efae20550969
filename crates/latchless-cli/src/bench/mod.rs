//! `latchless bench`: race indexes against each other.

mod access;
mod check;
mod contest;
mod digest;
mod drive;
mod load;
mod outcome;
mod report;
mod word;

use crate::catalogue::{self, Origin};
use crate::failure::Failure;
use crate::machine;
use crate::output::Format;
use latchless_workload::{Distribution, Spec, Workload};
use outcome::Setting;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// What the long help adds to the options.
const TEACHING: &str = "\
Examples:
  latchless bench
      A million random 64-bit keys, a million gets: BTreeMap against the pB+-Tree family.
  latchless bench --index btreemap,p8,p8-csb --records 10M
      The same over ten million keys, far beyond the caches.
  latchless bench --workload scan --scan-length 10000 --ops 1000 --index btreemap,p8i
      Scans of ten thousand entries; times are per entry.
  latchless bench --workload ycsb-a --threads 2 --index btreemap,p8
      Half gets, half updates from two threads, with popular keys.
  latchless bench --workload load --records 10M --index btreemap,p8
      Bulk loads of sorted pairs; times are per key.
  latchless bench --index all --format json > results.jsonl
      Every index of this build, one JSON object a line.
  cargo run --release -p latchless-cli --features rivals -- bench --index btreemap,scc,p8
      With the published rivals, which a plain build leaves out.

How it measures:
  Keys and requests are made before the clock starts. The indexes take turns, round by round, in
  one process; the median round counts, and the fastest and the slowest are shown beside it.
  Requests that change an index find it filled anew, untimed, in every round. Every answer goes
  into a checksum that has to equal a reference's, and every entry is looked at in the end.
  ratio       how many times as fast as the index named first (above 1: faster)
  bytes/key   what the index counts itself, or else the heap bytes that it asked for
  With --threads above 1, times are wall time divided by the requests of all threads. Indexes
  made for concurrent updates take them as they are; for the others, workloads that update put one
  RwLock around the index, and reading workloads share it without a lock.
  A batch of gets is one call (`get_many`); in other workloads it is one call of mixed requests.

Exit codes: 0 done, 1 failed while running, 2 can't be served as asked, 3 a wrong answer.";

/// Race indexes against each other, interleaved in one process.
#[derive(Debug, clap::Args)]
#[command(after_long_help = TEACHING)]
pub struct Args {
    /// Indexes, the one to compare with first; `all` for every one of this build (see `list`)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "btreemap,b-plus,p8,p8i,p8-csb"
    )]
    index: Vec<String>,
    /// What to do: load, get, insert, remove, scan, mixed, ycsb-a … -f, spiderman-a … -d
    #[arg(long, value_name = "NAME", default_value = "get")]
    workload: Workload,
    /// Keys to load before measuring; 10M and 250k can be written so
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M")]
    records: usize,
    /// Requests a round, over all threads (a bulk load makes none)
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M")]
    ops: usize,
    /// Threads that make the requests
    #[arg(long, value_name = "T", value_parser = parse_count, default_value = "1")]
    threads: usize,
    /// Requests handed over at once: `none` (one by one), a number, or `auto` (tried out first)
    #[arg(long, value_name = "none|auto|N", default_value = "none")]
    batch: Batch,
    /// uniform, zipf:θ (exact), zipf-ycsb:θ (YCSB's own formula), sequential, dense or sparse
    /// [default: uniform; zipf:0.99 for YCSB]
    #[arg(long, value_name = "NAME")]
    distribution: Option<Distribution>,
    /// Width of keys and values
    #[arg(long, value_enum, default_value_t = Width::U64)]
    key: Width,
    /// How the indexes are filled
    #[arg(long, value_enum, default_value_t = Load::Random)]
    load: Load,
    /// Entries that a scan asks for (ycsb-e: at most; spiderman-d has its own)
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "100")]
    scan_length: usize,
    /// Rounds, of which the median counts
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..), default_value = "5")]
    rounds: u32,
    /// Same seed, same keys and requests
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also write a page with plots, which opens offline
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    options: catalogue::Options,
}

/// How requests are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// One by one.
    None,
    /// That many at once.
    Size(NonZeroUsize),
    /// As many at once as does best.
    Auto,
}

impl FromStr for Batch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "auto" => Ok(Self::Auto),
            size => {
                size.parse().map(Self::Size).map_err(|_| "a batch is none, auto or at least 1".to_owned())
            }
        }
    }
}

impl std::fmt::Display for Batch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Auto => out.write_str("auto"),
            Self::Size(size) => write!(out, "{size}"),
        }
    }
}

/// How wide keys and values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Width {
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
}

/// How an index is filled before it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Load {
    /// One insert after the other, every index in the same random order
    Random,
    /// One insert after the other, ascending
    Sorted,
    /// One bulk load of sorted pairs
    Bulk,
}

/// A count, as people write them: `1000000`, `1_000_000`, `1M`, `250k`, `2G`.
fn parse_count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let (digits, scale) = match plain.as_bytes().last() {
        Some(b'k' | b'K') => (&plain[..plain.len() - 1], 1_000),
        Some(b'M' | b'm') => (&plain[..plain.len() - 1], 1_000_000),
        Some(b'G' | b'g') => (&plain[..plain.len() - 1], 1_000_000_000),
        _ => (&plain[..], 1),
    };
    let count: usize = digits.parse().map_err(|_| "not a number (try 1000000, 1M or 250k)".to_owned())?;
    count.checked_mul(scale).ok_or_else(|| "too large".to_owned())
}

/// Updates of more records than this make a sorted array crawl, so `all` leaves it out.
const SORTED_ARRAY_RECORDS_MAX: usize = 100_000;

impl Args {
    /// The indexes to race.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        for name in self.index.iter().map(|name| name.trim()) {
            if name != "all" {
                catalogue::check(name)?;
                names.push(name.to_owned());
                continue;
            }
            for entry in catalogue::entries().into_iter().filter(|entry| entry.compiled) {
                let crawls = entry.name == "sorted-array"
                    && self.workload.updates()
                    && self.workload != Workload::Load
                    && self.records > SORTED_ARRAY_RECORDS_MAX;
                if crawls {
                    eprintln!(
                        "note: sorted-array is left out, since each update moves half of it; name it to insist"
                    );
                } else {
                    names.push(entry.name.to_owned());
                }
            }
        }
        Ok(names)
    }

    fn spec(&self) -> Result<Spec, Failure> {
        let defaults = Spec::new(self.workload);
        if self.batch != Batch::None && self.threads > 1 && self.workload.updates() {
            return Err(Failure::usage(
                "batches of requests that update are for one thread: leave out --batch or --threads",
            ));
        }
        Ok(Spec {
            distribution: self.distribution.unwrap_or(defaults.distribution),
            records: self.records,
            ops: self.ops,
            threads: self.threads,
            scan_length: self.scan_length,
            seed: self.seed,
            ..defaults
        })
    }
}

/// Runs the command.
///
/// # Errors
/// What can't be served as asked, what fails while running, and wrong answers.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (names, spec) = (args.names()?, args.spec()?);
    let machine = machine::line();
    if args.format == Format::Table {
        eprintln!("{machine}");
        if names.iter().any(|name| is_rival(name)) && !args.options.no_huge_pages {
            eprintln!("note: latchless's own nodes stand on huge pages (--no-huge-pages turns them off)");
        }
    }
    let (outcomes, key) = match args.key {
        Width::U32 => (contest::race::<u32>(args, spec, &names)?, <u32 as word::Word>::NAME),
        Width::U64 => (contest::race::<u64>(args, spec, &names)?, <u64 as word::Word>::NAME),
    };
    let setting = Setting {
        workload: spec.workload.name(),
        records: spec.records,
        ops: if spec.workload == Workload::Load { spec.records } else { spec.ops },
        threads: spec.threads,
        batch: args.batch.to_string(),
        distribution: spec.distribution.to_string(),
        key,
    };
    if let Some(file) = &args.report {
        report::write(file, &machine, &setting, &outcomes)?;
    }
    if args.format == Format::Table {
        eprintln!("{}", setting.line(args.rounds));
        return outcome::table(&setting, &outcomes).print(args.format);
    }
    outcome::rows(&setting, &outcomes).print(args.format)
}

fn is_rival(name: &str) -> bool {
    catalogue::entries().iter().any(|entry| entry.name == name && entry.origin != Origin::Latchless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_write_them() {
        assert_eq!(parse_count("10000000"), Ok(10_000_000));
        assert_eq!(parse_count("10M"), Ok(10_000_000));
        assert_eq!(parse_count("1_000k"), Ok(1_000_000));
        for bad in ["", "M", "-1", "1.5M", "ten", "99999999999G"] {
            assert!(parse_count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn batches_are_read_back() {
        for text in ["none", "auto", "64"] {
            assert_eq!(text.parse::<Batch>().unwrap().to_string(), text);
        }
        assert!("0".parse::<Batch>().is_err() && "some".parse::<Batch>().is_err());
    }
}

//! The command line of `latchless-bench`.

use super::outcome::Setting;
use super::pages::Pages;
use super::pauses::Single;
use super::word::Word;
use crate::catalogue;
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use latchless_workload::{Distribution, KeySet, Kind, Spec, Workload};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// What the long help adds to the options.
pub const TEACHING: &str = "\
Examples:
  latchless-bench
      A million random 64-bit keys, a million gets: BTreeMap against the index to use.
  latchless-bench --index btreemap,p16i,p8-csb --records 10M --batch 64
      Others over ten million keys, far beyond the caches, in batches of 64 gets.
  latchless-bench --workload sum --scan-length 10000 --ops 1000
      Sums of ten thousand values each; times are per entry.
  latchless-bench --workload ycsb-a --threads 2
      Half gets, half updates from two threads, with popular keys.
  latchless-bench --workload insert --records 10M --batch 64
      Inserts in batches: one call of insert_many each.
  latchless-bench --workload load --records 10M
      Bulk loads of sorted pairs; times are per key.
  latchless-bench --index all --format json > results.jsonl
      Every index of this build, one JSON object a line.
  latchless-bench --suite flagship --records 10M --report flagship.md
      Every race that the index to use has to win, one table; takes an hour or so.
  latchless-bench --keys composite-64 --records 2M
      Keys as tables have them: a hashed user, then a counter, 64 items per user.
  latchless-bench --suite keys --keys uniform,composite-64,tenants --records 10M --pages huge
      Every row on several key sets, all indexes on huge pages.
  latchless-bench --keys url --index bytes,btreemap --workload scan
      Keys of any length: addresses of pages, scans of a hundred with their keys.
  latchless-bench --suite bytes --keys url,uuid16,rocks --report bytes.md
      Every row over byte strings, on several sets of them.
  latchless-bench --workload insert --pauses insert --records 10M
      How long the longest of all inserts takes, beside the median, in processor time.
  latchless-bench --suite pauses --records 10M --prefault
      The same of inserts, removals and gets, from one thread and while two write.
  cargo run --release -p latchless-bench --features rivals -- --index btreemap,scc,p16i
      With the published rivals, which a plain build leaves out.

How it measures:
  Keys and requests are made before the clock starts. The indexes take turns, round by round, in
  one process; some untimed gets warm the caches before each turn; the median round counts, and
  the fastest and the slowest are shown beside it. Every answer goes into a checksum that has to
  equal a reference's, and every entry is looked at in the end.
  Rounds of a workload that updates are parts of one history: each has keys of its own, and nothing
  is put back. Before half as many keys have come or gone as were loaded, all indexes are filled
  anew, untimed. (So they are before every round if memory can't hold all of them side by side.)
  ratio       how many times as fast as the index named first (above 1: faster)
  bytes/key   what the index counts itself, or else the heap bytes that it asked for
  With --threads above 1, times are wall time divided by the requests of all threads. Indexes
  made for concurrent updates take them as they are; for the others, workloads that update put one
  RwLock around the index, and reading workloads share it without a lock.
  A batch of gets, of inserts, of updates or of removals is one call (get_many, insert_many,
  remove_many); in other workloads it is one call of mixed requests (execute). Each thread has
  batches of its own; where there is a lock, a batch of updates or of mixed requests holds it.
  chain makes each key out of the last answer (an exclusive or), so that no two gets overlap.
  range takes entries one by one out of each index's iterator; visit takes them leaf by leaf where an
  index shows leaves. sum adds values up by each index's own fastest way: within the leaves where it
  can, in a loop over its iterator where it can't. Index, index-exclusive and btreemap are called as
  their users call them; all others through a table of functions.
  Byte strings (--keys url and others) race on one thread, values of 64 bits: load, get, chain, absent, insert,
  remove, scan; batches of gets and of inserts. Guards of rivals are taken anew every 256 operations.
  beside      bytes per key beside the key and its value
  Keys of a set (--keys) are loaded and inserted in the order in which they arrive.
  A rival that refuses a workload or answers wrongly is left out, with a note.

Exit codes: 0 done, 1 failed while running, 2 can't be served as asked, 3 a wrong answer.";

/// The options of a race, or of a suite of races.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Indexes, the one to compare with first; `all` for every one of this build (see `list`)
    /// [default: btreemap and the index to use]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub index: Vec<String>,
    /// Many races, one table: what the index to use has to show, row by row. --index says who may
    /// take part; --records, --ops, --rounds, --key and the index options hold for every race
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = OF_ONE_RACE)]
    pub suite: Option<Suite>,
    /// Rows of the suite, and no others
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "suite")]
    pub row: Vec<String>,
    /// What to do: load, get, chain, absent, insert, update, remove, scan, range, visit, sum, sum-range,
    /// count, mixed, ycsb-a … -f, spiderman-a … -d
    #[arg(long, value_name = "NAME", default_value = "get", value_parser = parse_workload)]
    pub workload: Workload,
    /// Keys to load before measuring; 10M and 250k can be written so
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    pub records: usize,
    /// Requests a round, over all threads (a bulk load makes none)
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    pub ops: usize,
    /// Threads that make the requests
    #[arg(long, value_name = "T", value_parser = count::parse, default_value = "1")]
    pub threads: usize,
    /// Requests handed over at once: `none` (one by one), a number, or `auto` (tried out first)
    #[arg(long, value_name = "none|auto|N", default_value = "none")]
    pub batch: Batch,
    /// The order of the requests within a batch, or, without batches, of all of them
    #[arg(long, value_enum, default_value_t = Order::Drawn)]
    pub order: Order,
    /// uniform, zipf:θ (exact), zipf-ycsb:θ (YCSB's own formula), sequential, dense or sparse
    /// [default: uniform; zipf:0.99 for YCSB]
    #[arg(long, value_name = "NAME", value_parser = parse_distribution)]
    pub distribution: Option<Distribution>,
    /// Named keys: uniform, dense, composite-N, composite-N-step-N, lognormal, clusters, runs, tenants,
    /// timestamps, snowflake, outliers, prefix, chr22, ascending, descending, zigzag, or file:PATH; or
    /// byte strings: url, email, word, path, uuid16, uuid36, rocks, int8 and hard ones, which have indexes
    /// of their own (see `list`). The suites `keys` and `bytes` take several, or `all`; --distribution then
    /// says which of them are asked for
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub keys: Vec<String>,
    /// Width of keys and values
    #[arg(long, value_enum, default_value_t = Width::U64)]
    pub key: Width,
    /// How the indexes are filled
    #[arg(long, value_enum, default_value_t = Load::Random)]
    pub load: Load,
    /// Entries that a scan or a sum asks for (ycsb-e: at most; spiderman-d has its own)
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "100")]
    pub scan_length: usize,
    /// The share of the key space that the ranges of sum-range and count take
    #[arg(long, value_name = "SHARE", default_value = "0.01")]
    pub range_share: f64,
    /// Rounds, of which the median counts
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..), default_value = "5")]
    pub rounds: u32,
    /// Same seed, same keys and requests
    #[arg(long, value_name = "S", default_value = "1")]
    pub seed: u64,
    /// Takes the processor time of every single operation of this kind, and says the median, 99.9 %, 99.999 %
    /// and the longest of all rounds. What it costs to take it is part of all times
    #[arg(long, value_enum, value_name = "get|insert|remove")]
    pub pauses: Option<Single>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Puts all indexes on the same pages: huge ones, or small ones; `both` runs everything twice [default:
    /// this library's nodes on huge ones, others where the allocator puts them]
    #[arg(
        long,
        value_enum,
        value_name = "huge|small|both",
        overrides_with = "pages",
        conflicts_with = "no_huge_pages"
    )]
    pub pages: Option<Pages>,
    /// Also write a page: HTML with plots, which opens offline; of a suite, Markdown
    #[arg(long, value_name = "FILE", overrides_with = "report")]
    pub report: Option<PathBuf>,
    /// How indexes are built.
    #[command(flatten)]
    pub options: catalogue::Options,
}

/// What a suite says for each of its rows.
const OF_ONE_RACE: [&str; 9] =
    ["workload", "threads", "batch", "order", "distribution", "load", "scan_length", "range_share", "pauses"];

/// Many races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Suite {
    /// What the index to use has to show
    Flagship,
    /// The same on every kind of keys (--keys; all of them if none is named)
    Keys,
    /// How long single operations take: the tail and the longest (--prefault for memory made ready ahead)
    Pauses,
    /// One index of each kind beside the others, to tell which to take when
    Which,
    /// The index of byte strings beside its rivals, on sets of byte strings (--keys; if none is named, all
    /// that aren't made to be hard)
    Bytes,
}

impl Suite {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flagship => "flagship",
            Self::Keys => "keys",
            Self::Pauses => "pauses",
            Self::Which => "which",
            Self::Bytes => "bytes",
        }
    }
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

/// In which order requests are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// As the distribution draws them
    Drawn,
    /// Ascending, each batch sorted before the clock starts
    Sorted,
}

impl Order {
    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Sorted => "sorted",
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

impl Width {
    /// The word on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => <u32 as Word>::NAME,
            Self::U64 => <u64 as Word>::NAME,
        }
    }
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

/// A workload by its name, or, after a slip, those that it may have been.
fn parse_workload(name: &str) -> Result<Workload, String> {
    name.parse().map_err(|error: latchless_workload::Error| match error {
        latchless_workload::Error::UnknownWorkload { known, .. } => {
            let like = did_you_mean(name, Workload::ALL.map(Workload::name));
            format!("no workload is called `{name}`{like}; there are {known}")
        }
        other => other.to_string(),
    })
}

/// A distribution by its name, or, after a slip, those that it may have been.
fn parse_distribution(text: &str) -> Result<Distribution, String> {
    text.parse().map_err(|error: latchless_workload::Error| {
        let like = match &error {
            latchless_workload::Error::UnknownDistribution { .. } => {
                let name = text.split(':').next().unwrap_or_default();
                did_you_mean(name, ["uniform", "zipf:θ", "zipf-ycsb:θ", "sequential", "dense", "sparse"])
            }
            _ => String::new(),
        };
        format!("{error}{like}")
    })
}

/// A key set by its name, or, after a slip, those that it may have been.
fn parse_key_set(text: &str) -> Result<KeySet, Failure> {
    text.parse().map_err(|error: latchless_workload::Error| {
        let known = KeySet::ALL.map(|set| set.to_string());
        let like = match &error {
            latchless_workload::Error::UnknownKeySet { .. } => {
                did_you_mean(text, known.iter().map(String::as_str))
            }
            _ => String::new(),
        };
        Failure::usage(format!("{error}{like}"))
    })
}

/// Updates of more records than this make a sorted array crawl, so `all` leaves it out.
const SORTED_ARRAY_RECORDS_MAX: usize = 100_000;

impl Args {
    /// The indexes to race.
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        if self.index.is_empty() {
            return Ok(["btreemap", catalogue::FLAGSHIP].map(str::to_owned).into());
        }
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
                    say::note(
                        "note: sorted-array is left out, since each update moves half of it; name it to insist",
                    );
                } else {
                    names.push(entry.name.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// What to measure.
    ///
    /// # Errors
    /// Requests that can't be handed over as asked.
    pub fn spec(&self) -> Result<Spec, Failure> {
        let defaults = Spec::new(self.workload);
        let only = |kinds: &[Kind]| kinds.iter().any(|&kind| self.workload.is_only(kind));
        let is_pure = only(&[Kind::Get, Kind::Insert, Kind::Update, Kind::Remove]);
        if self.order == Order::Sorted && !is_pure {
            return Err(Failure::usage(
                "--order sorted is for gets, inserts, updates or removals alone: elsewhere it would mix up what \
                 the requests do",
            ));
        }
        let has_none = only(&[Kind::Chain, Kind::Range, Kind::Visit, Kind::Sum, Kind::SumRange, Kind::Count]);
        if self.batch != Batch::None && (has_none || self.workload == Workload::Load) {
            return Err(Failure::usage(format!("{} has no batches: leave out --batch", self.workload)));
        }
        if self.batch != Batch::None && self.threads > 1 && only(&[Kind::Scan]) {
            return Err(Failure::usage(
                "batches of scans are for one thread: leave out --batch or --threads",
            ));
        }
        let timed = self.pauses.map(|single| match single {
            Single::Get => Kind::Get,
            Single::Insert => Kind::Insert,
            Single::Remove => Kind::Remove,
        });
        if timed.is_some() && self.batch != Batch::None {
            return Err(Failure::usage("--pauses times operations one by one: leave out --batch"));
        }
        if timed.is_some_and(|kind| self.workload == Workload::Load || !self.workload.has(kind)) {
            return Err(Failure::usage(format!(
                "{} has no operations of the kind that --pauses names",
                self.workload
            )));
        }
        Ok(Spec {
            distribution: self.distribution.unwrap_or(defaults.distribution),
            records: self.records,
            ops: self.ops,
            threads: self.threads,
            scan_length: self.scan_length,
            range_share: self.range_share,
            seed: self.seed,
            ..defaults
        })
    }

    /// The key sets: those named, or every one.
    ///
    /// # Errors
    /// A name that no key set has.
    pub fn key_sets(&self) -> Result<Vec<KeySet>, Failure> {
        if self.keys.iter().any(|name| name == "all") {
            return Ok(KeySet::ALL.into());
        }
        self.keys.iter().map(|name| parse_key_set(name)).collect()
    }

    /// The key set of one race, if it has one.
    ///
    /// # Errors
    /// A name that no key set has, and more than one name.
    pub fn key_set(&self) -> Result<Option<KeySet>, Failure> {
        let mut sets = self.key_sets()?;
        if sets.len() > 1 {
            return Err(Failure::usage("one race has one key set; --suite keys takes several"));
        }
        Ok(sets.pop())
    }

    /// How indexes of this library are to be built.
    pub fn index_options(&self) -> catalogue::Options {
        let mut options = self.options.clone();
        options.no_huge_pages |= self.pages == Some(Pages::Small);
        options
    }

    /// What every result shares.
    pub fn setting(&self, spec: &Spec) -> Setting {
        let has = |kinds: &[Kind]| kinds.iter().any(|&kind| spec.workload.has(kind));
        Setting {
            workload: spec.workload.name(),
            records: spec.records,
            ops: if spec.workload == Workload::Load { spec.records } else { spec.ops },
            threads: spec.threads,
            batch: self.batch.to_string(),
            keys: self.key_set().ok().flatten().map(|set| set.to_string()),
            pages: self.pages.map_or("own", Pages::name),
            distribution: spec.distribution.to_string(),
            key: self.key.name(),
            key_bytes: None,
            order: self.order.name(),
            scan_length: has(&[Kind::Scan, Kind::Range, Kind::Visit, Kind::Sum]).then_some(spec.scan_length),
            range_share: has(&[Kind::SumRange, Kind::Count]).then_some(spec.range_share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_read_back() {
        for text in ["none", "auto", "64"] {
            assert_eq!(text.parse::<Batch>().unwrap().to_string(), text);
        }
        assert!("0".parse::<Batch>().is_err() && "some".parse::<Batch>().is_err());
    }
}

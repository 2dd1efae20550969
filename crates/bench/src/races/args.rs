//! The command line of `latchless-bench`.

use super::outcome::Setting;
use super::pages::Pages;
use super::pauses::Single;
use super::word::Word;
use crate::races::catalogue;
use latchless_terminal::count;
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use latchless_workload::{Distribution, KeySet, Kind, Spec, Workload};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// The text of the long help after the options.
pub const TEACHING: &str = "\
Examples:
  latchless-bench
      A million random 64-bit keys, a million gets: BTreeMap against the recommended index.
  latchless-bench --index btreemap,p16i,p8-csb --records 10M --batch 64
      Other indexes over ten million keys, far beyond the caches, in batches of 64 gets.
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
      The recommended index and the rivals in some fifty workloads, one table; takes an hour or so.
  latchless-bench --keys composite-64 --records 2M
      Keys as in a table of items: a hashed user, then a counter, 64 items per user.
  latchless-bench --suite keys --keys uniform,composite-64,tenants --records 10M --pages huge
      Every row on several key sets, all indexes on huge pages.
  latchless-bench --keys url --index bytes,btreemap --workload scan
      Keys of any length: addresses of pages, scans of a hundred entries with their keys.
  latchless-bench --suite bytes --keys url,uuid16,rocks --report bytes.md
      Every workload over byte strings, on several sets of them.
  latchless-bench --workload insert --pauses insert --records 10M
      The median and the longest of all inserts, in processor time.
  latchless-bench --suite pauses --records 10M --prefault
      The same for inserts, removals and gets, with one thread and while two threads write.
  cargo run --release -p latchless-bench --features rivals -- --index btreemap,scc,p16i
      With the published rivals, which a default build leaves out.

How it measures:
  Keys and requests are generated before the clock starts. The indexes take turns, round by round, in
  one process; some untimed gets warm the caches before each turn. The result is the median round;
  the fastest and the slowest are shown as well. A checksum over all answers must equal that of a
  reference, and all entries are checked at the end.
  Rounds of a workload that updates are parts of one history: each uses other keys, and updates aren't
  undone. Before the number of inserted and removed keys exceeds half of the records, all indexes are
  refilled, untimed. (They are refilled before every round if memory can't hold all of them at once.)
  ratio       how many times as fast as the index named first (above 1: faster)
  bytes/key   the index's own count, or else the heap bytes that it has allocated
  With --threads above 1, times are wall time divided by the requests of all threads. Indexes
  with concurrent updates are shared without a lock; for the others, workloads that update put one
  RwLock around the index, and reading workloads share it without a lock.
  A batch of gets, of inserts, of updates or of removals is one call (get_many, insert_many,
  remove_many); in other workloads it is one call of mixed requests (execute). Each thread has
  separate batches; if there is a lock, a batch of updates or of mixed requests holds it.
  chain computes each key from the last answer (an exclusive or), so that no two gets overlap.
  range reads entries one by one from each index's iterator; visit reads them leaf by leaf if an
  index shows leaves. sum adds up values in each index's fastest way: within the leaves, or in a loop
  over its iterator if it has no other. Index, index-exclusive and btreemap are called as their users
  call them; all others through a table of functions.
  Byte strings (--keys url and others) race with values of 64 bits: load, get, chain, absent, insert,
  remove, scan; batches of gets and of inserts. Guards of rivals are renewed every 256 operations.
  beside      bytes per entry without the key and its value
  Keys of a set (--keys) are loaded and inserted in the set's order of arrival.
  A rival that refuses a workload or answers wrongly is left out, with a note.

Exit codes: 0 done, 1 failed while running, 2 the command line isn't supported, 3 a wrong answer.";

/// The options of a race, or of a suite of races.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Indexes, the one to compare with first; `all` for every one of this build (see `list`) [default:
    /// btreemap and the recommended index]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub index: Vec<String>,
    /// A suite: many races, one table. --index selects the indexes; --records, --ops, --rounds, --key and
    /// the index options apply to every race
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = OF_ONE_RACE)]
    pub suite: Option<Suite>,
    /// Only these rows of the suite
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "suite")]
    pub row: Vec<String>,
    /// The workload: load, get, chain, absent, insert, update, remove, scan, range, visit, sum, sum-range,
    /// count, mixed, ycsb-a … -f, spiderman-a … -d
    #[arg(long, value_name = "NAME", default_value = "get", value_parser = parse_workload)]
    pub workload: Workload,
    /// Keys to load before measuring, such as 10M or 250k
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    pub records: usize,
    /// Requests per round, over all threads (a bulk load makes none)
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1M")]
    pub ops: usize,
    /// Threads that make the requests
    #[arg(long, value_name = "T", value_parser = count::parse, default_value = "1")]
    pub threads: usize,
    /// Requests per call: `none` (one by one), a number, or `auto` (the fastest of several sizes)
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
    /// byte strings: url, email, word, path, uuid16, uuid36, rocks, int8 and hard ones, which have
    /// separate indexes (see `list`). The suites `keys` and `bytes` take several, or `all`; --distribution
    /// then selects the keys that are requested
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub keys: Vec<String>,
    /// Width of keys and values
    #[arg(long, value_enum, default_value_t = Width::U64)]
    pub key: Width,
    /// How the indexes are filled
    #[arg(long, value_enum, default_value_t = Load::Random)]
    pub load: Load,
    /// Entries per scan or sum (ycsb-e: at most; spiderman-d has a fixed number)
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "100")]
    pub scan_length: usize,
    /// The share of the key space that the ranges of sum-range and count take
    #[arg(long, value_name = "SHARE", default_value = "0.01")]
    pub range_share: f64,
    /// Rounds; results are medians over them
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..), default_value = "5")]
    pub rounds: u32,
    /// Seed; the same seed gives the same keys and requests
    #[arg(long, value_name = "S", default_value = "1")]
    pub seed: u64,
    /// Times every single operation of this kind in processor time, and shows the median, 99.9 %, 99.999 %
    /// and the longest of all rounds. All times include the cost of the clock
    #[arg(long, value_enum, value_name = "get|insert|remove")]
    pub pauses: Option<Single>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Puts all indexes on the same pages: huge or small ones; `both` runs everything twice [default: this
    /// library's nodes on huge pages, others where the allocator puts them]
    #[arg(
        long,
        value_enum,
        value_name = "huge|small|both",
        overrides_with = "pages",
        conflicts_with = "no_huge_pages"
    )]
    pub pages: Option<Pages>,
    /// Also writes a page: HTML with plots, which opens offline; for a suite, Markdown
    #[arg(long, value_name = "FILE", overrides_with = "report")]
    pub report: Option<PathBuf>,
    /// Index options.
    #[command(flatten)]
    pub options: catalogue::Options,
}

/// Options that each row of a suite sets itself.
const OF_ONE_RACE: [&str; 9] =
    ["workload", "threads", "batch", "order", "distribution", "load", "scan_length", "range_share", "pauses"];

/// A suite of races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Suite {
    /// The recommended index, compared with the baseline and the rivals
    Flagship,
    /// The same workloads on many kinds of keys (--keys; all of them if none is named)
    Keys,
    /// Times of single operations: the tail and the longest (--prefault for memory that is prepared in
    /// advance)
    Pauses,
    /// One index of each kind on the same workloads, as a help to choose between them
    Which,
    /// The index of byte strings and its rivals, on sets of byte strings (--keys; if none is named, all
    /// but the hard ones)
    Bytes,
}

impl Suite {
    /// Returns the name on the command line.
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

/// How many requests a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// One by one.
    None,
    /// A fixed number.
    Size(NonZeroUsize),
    /// The fastest of several numbers.
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

/// The order of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// As the distribution draws them
    Drawn,
    /// Ascending, each batch sorted before the clock starts
    Sorted,
}

impl Order {
    /// Returns the word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Sorted => "sorted",
        }
    }
}

/// The width of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Width {
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
}

impl Width {
    /// Returns the word on the command line and in results.
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

/// Parses a workload's name; for an unknown one, the error suggests similar names.
fn parse_workload(name: &str) -> Result<Workload, String> {
    name.parse().map_err(|error: latchless_workload::Error| match error {
        latchless_workload::Error::UnknownWorkload { known, .. } => {
            let like = did_you_mean(name, Workload::ALL.map(Workload::name));
            format!("no workload is called `{name}`{like}; there are {known}")
        }
        other => other.to_string(),
    })
}

/// Parses a distribution; for an unknown one, the error suggests similar names.
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

/// Parses a key set's name; for an unknown one, the error suggests similar names.
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

/// The maximum number of records at which `all` includes the sorted array in workloads that update; its
/// updates are linear.
const SORTED_ARRAY_RECORDS_MAX: usize = 100_000;

impl Args {
    /// Returns the names of the indexes to race.
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
                        "note: sorted-array is left out, because each update moves half of it; name it to include it",
                    );
                } else {
                    names.push(entry.name.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// Returns the specification of the workload.
    ///
    /// # Errors
    /// Combinations of workload and options that aren't supported.
    pub fn spec(&self) -> Result<Spec, Failure> {
        let defaults = Spec::new(self.workload);
        let only = |kinds: &[Kind]| kinds.iter().any(|&kind| self.workload.is_only(kind));
        let is_pure = only(&[Kind::Get, Kind::Insert, Kind::Update, Kind::Remove]);
        if self.order == Order::Sorted && !is_pure {
            return Err(Failure::usage(
                "--order sorted is for gets, inserts, updates or removals alone: elsewhere it would change the \
                 meaning of the requests",
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

    /// Returns the named key sets, or every one.
    ///
    /// # Errors
    /// An unknown key set.
    pub fn key_sets(&self) -> Result<Vec<KeySet>, Failure> {
        if self.keys.iter().any(|name| name == "all") {
            return Ok(KeySet::ALL.into());
        }
        self.keys.iter().map(|name| parse_key_set(name)).collect()
    }

    /// Returns the key set of one race, if it has one.
    ///
    /// # Errors
    /// An unknown key set, and more than one.
    pub fn key_set(&self) -> Result<Option<KeySet>, Failure> {
        let mut sets = self.key_sets()?;
        if sets.len() > 1 {
            return Err(Failure::usage("one race has one key set; --suite keys takes several"));
        }
        Ok(sets.pop())
    }

    /// Returns the options with which indexes of this library are built.
    pub fn index_options(&self) -> catalogue::Options {
        let mut options = self.options.clone();
        options.no_huge_pages |= self.pages == Some(Pages::Small);
        options
    }

    /// Returns the settings that all results share.
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

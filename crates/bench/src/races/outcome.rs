//! Results: medians, spreads, and the rows of the table.

use super::digest::Digest;
use super::pauses::Pauses;
use latchless_core::base::stats::Stats;
use latchless_terminal::output::Rows;
use serde_json::{Value, json};
use std::time::Duration;

/// The unit that times are per.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One request.
    Operation,
    /// One entry that a scan has copied.
    Entry,
    /// One key that a bulk load has inserted.
    Key,
}

impl Unit {
    /// Returns the word in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operation => "op",
            Self::Entry => "entry",
            Self::Key => "key",
        }
    }

    /// Returns the plural of the word.
    const fn plural(self) -> &'static str {
        match self {
            Self::Operation => "ops",
            Self::Entry => "entries",
            Self::Key => "keys",
        }
    }
}

/// The result of one index.
#[derive(Debug, Clone)]
pub struct Outcome {
    name: String,
    unit: Unit,
    /// Nanoseconds per unit, one for each round.
    rounds_ns: Vec<f64>,
    bytes_per_key: f64,
    /// The number of requests that went to a wrong leaf and restarted, and the number of all requests.
    misled: (u64, u64),
    leaf_fill: Option<f64>,
    batch: Option<usize>,
    digest: Digest,
    /// The times of single operations, of all rounds.
    pauses: Option<Pauses>,
}

impl Outcome {
    /// Creates a result without measurements.
    pub fn new(name: &str, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            rounds_ns: Vec::new(),
            bytes_per_key: f64::NAN,
            misled: (0, 0),
            leaf_fill: None,
            batch: None,
            digest: Digest::default(),
            pauses: None,
        }
    }

    /// Adds the times of a round's single operations.
    pub fn paused(&mut self, pauses: &Pauses) {
        self.pauses.get_or_insert_with(Pauses::none).add(pauses);
    }

    /// Returns microseconds of single operations: the median, the tail and the longest.
    fn pauses_us(&self) -> [Option<f64>; 4] {
        let Some(pauses) = &self.pauses else { return [None; 4] };
        let [median, most, nearly_all] = [0.5, 0.999, 0.999_99].map(|share| pauses.within_us(share));
        [median, most, nearly_all, pauses.longest_us()].map(Some)
    }

    /// Sets the index's size.
    pub fn holds(&mut self, bytes: usize, keys: usize) {
        self.bytes_per_key = bytes as f64 / keys as f64;
    }

    /// Adds a round: its time, its requests, and the entries that they scanned.
    pub fn ran(&mut self, elapsed: Duration, ops: u64, entries: u64, batch: Option<usize>, digest: Digest) {
        let units = if self.unit == Unit::Entry { entries } else { ops };
        self.rounds_ns.push(elapsed.as_nanos() as f64 / units.max(1) as f64);
        self.batch = batch;
        self.digest = digest;
    }

    /// Adds the change of the index's statistics over `requests` requests.
    pub fn formed(&mut self, before: Stats, after: Stats, requests: u64) {
        let (misled, of) = &mut self.misled;
        *misled += after.misled.saturating_sub(before.misled);
        *of += requests;
        self.leaf_fill = Some(after.leaf_fill);
    }

    /// Returns the share of requests that went to a wrong leaf and restarted.
    pub fn misled(&self) -> Option<f64> {
        let (misled, of) = self.misled;
        (of > 0).then(|| misled as f64 / of as f64)
    }

    /// Returns the index's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the unit that times are per.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns the keys per batch, once they are known.
    pub fn batch(&self) -> Option<usize> {
        self.batch
    }

    /// Returns the number of rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds_ns.len() as u32
    }

    /// Returns the median round, in nanoseconds per unit; the midpoint of the two middle ones for an even
    /// number.
    pub fn median_ns(&self) -> f64 {
        let mut sorted = self.rounds_ns.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => sorted[odd / 2],
            even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
        }
    }

    /// Returns the fastest round.
    pub fn min_ns(&self) -> f64 {
        self.rounds_ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the slowest round.
    pub fn max_ns(&self) -> f64 {
        self.rounds_ns.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the index's bytes per key.
    pub fn bytes_per_key(&self) -> f64 {
        self.bytes_per_key
    }
}

/// The settings that all rows share.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The workload's name.
    pub workload: &'static str,
    /// Keys loaded.
    pub records: usize,
    /// Requests made.
    pub ops: usize,
    /// Number of threads.
    pub threads: usize,
    /// `none`, a number, or `auto`.
    pub batch: String,
    /// The key set, if one is given.
    pub keys: Option<String>,
    /// The pages that the indexes are on: see [`super::pages`].
    pub pages: &'static str,
    /// The distribution, as on the command line.
    pub distribution: String,
    /// `u32`, `u64` or `bytes`.
    pub key: &'static str,
    /// The mean length of the keys in bytes, if they are byte strings.
    pub key_bytes: Option<f64>,
    /// `drawn` or `sorted`.
    pub order: &'static str,
    /// Entries per scan or sum, if the workload has any.
    pub scan_length: Option<usize>,
    /// The share of the key space that a range covers, if the workload has ranges.
    pub range_share: Option<f64>,
}

impl Setting {
    /// Returns everything that the table's rows share, in one line.
    pub fn line(&self, rounds: u32) -> String {
        let plural = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let scans = self.scan_length.map(|length| format!(", scans of {length}")).unwrap_or_default();
        let ranges = self.range_share.map(|share| format!(", ranges of {share}")).unwrap_or_default();
        let requested =
            self.keys.as_ref().map(|_| format!(" requested by {}", self.distribution)).unwrap_or_default();
        let sorted = if self.order == "sorted" { ", sorted" } else { "" };
        let mean = self.key_bytes.map(|bytes| format!(" of {bytes:.1} on average")).unwrap_or_default();
        format!(
            "{}: {} records, {} ops, {}, batch {}{sorted}{scans}{ranges}, {} {} keys{mean}{requested}, median of {}",
            self.workload,
            self.records,
            self.ops,
            plural(self.threads as u64, "thread"),
            self.batch,
            self.keys.as_ref().unwrap_or(&self.distribution),
            self.key,
            plural(u64::from(rounds), "round"),
        )
    }
}

/// The columns of a result, in order.
const COLUMNS: [&str; 28] = [
    "index",
    "workload",
    "records",
    "ops",
    "threads",
    "batch",
    "distribution",
    "key",
    "median_ns",
    "min_ns",
    "max_ns",
    "ops_per_s",
    "bytes_per_key",
    "ratio",
    "checksum",
    "per",
    "order",
    "scan_length",
    "range_share",
    "keys",
    "pages",
    "misled",
    "leaf_fill",
    "p50_us",
    "p999_us",
    "p99999_us",
    "longest_us",
    "key_bytes",
];

/// Returns a row for each index, for programs.
pub fn rows(setting: &Setting, outcomes: &[Outcome]) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let first = outcomes.first().map_or(f64::NAN, Outcome::median_ns);
    for outcome in outcomes {
        let batch = match (setting.batch.as_str(), outcome.batch) {
            ("auto", Some(size)) => format!("auto:{size}"),
            (given, _) => given.to_owned(),
        };
        let mut row = vec![
            json!(outcome.name),
            json!(setting.workload),
            json!(setting.records),
            json!(setting.ops),
            json!(setting.threads),
            json!(batch),
            json!(setting.distribution),
            json!(setting.key),
            rounded(outcome.median_ns(), 2),
            rounded(outcome.min_ns(), 2),
            rounded(outcome.max_ns(), 2),
            json!((1e9 / outcome.median_ns()).round() as u64),
            rounded(outcome.bytes_per_key, 2),
            rounded(first / outcome.median_ns(), 2),
            json!(outcome.digest.to_string()),
            json!(outcome.unit.name()),
            json!(setting.order),
            json!(setting.scan_length),
            json!(setting.range_share),
            json!(setting.keys),
            json!(setting.pages),
            json!(outcome.misled()),
            json!(outcome.leaf_fill),
        ];
        row.extend(outcome.pauses_us().map(|us| json!(us)));
        row.push(json!(setting.key_bytes));
        rows.push(row);
    }
    rows
}

/// Rounds a number to that many decimal places; null if it isn't a number.
fn rounded(number: f64, places: i32) -> Value {
    let scale = 10f64.powi(places);
    json!((number * scale).round() / scale)
}

/// Returns the table for people: the columns that differ between the rows.
pub fn table(setting: &Setting, outcomes: &[Outcome]) -> Rows {
    let unit = outcomes.first().map_or(Unit::Operation, Outcome::unit);
    let batched = setting.batch != "none";
    let mut columns =
        vec!["index".to_owned(), format!("ns/{}", unit.name()), "min".to_owned(), "max".to_owned()];
    columns.extend([format!("{}/s", unit.plural()), "bytes/key".to_owned(), "ratio".to_owned()]);
    // The overhead per entry, if keys are of any length.
    columns.extend(setting.key_bytes.map(|_| "beside".to_owned()));
    columns.extend(batched.then(|| "batch".to_owned()));
    // The statistics in which key sets differ for the recommended index.
    let formed = setting.keys.is_some() && outcomes.iter().any(|outcome| outcome.leaf_fill.is_some());
    columns.extend(["misled", "leaf fill"].into_iter().filter(|_| formed).map(str::to_owned));
    // The processor time of single operations.
    let timed = outcomes.iter().any(|outcome| outcome.pauses.is_some());
    columns
        .extend(["p50 µs", "p99.9", "p99.999", "longest"].into_iter().filter(|_| timed).map(str::to_owned));
    let mut rows = Rows::new(columns);
    let first = outcomes.first().map_or(f64::NAN, Outcome::median_ns);
    for outcome in outcomes {
        let mut row = vec![
            json!(outcome.name),
            rounded(outcome.median_ns(), 2),
            rounded(outcome.min_ns(), 2),
            rounded(outcome.max_ns(), 2),
            json!(per_second(1e9 / outcome.median_ns())),
            rounded(outcome.bytes_per_key, 1),
            rounded(first / outcome.median_ns(), 2),
        ];
        row.extend(setting.key_bytes.map(|bytes| rounded(beside(outcome.bytes_per_key, bytes), 1)));
        row.extend(batched.then(|| json!(outcome.batch)));
        row.extend(
            [outcome.misled(), outcome.leaf_fill]
                .iter()
                .filter(|_| formed)
                .map(|share| json!(share.map(percent))),
        );
        row.extend(outcome.pauses_us().into_iter().filter(|_| timed).map(|us| json!(us)));
        rows.push(row);
    }
    rows
}

/// Returns the size of an entry without its key and its value of 64 bits.
pub fn beside(bytes_per_key: f64, key_bytes: f64) -> f64 {
    bytes_per_key - key_bytes - 8.0
}

/// Formats a share, such as `1.5 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a rate, such as `12.3 M`.
fn per_second(number: f64) -> String {
    match number {
        large if large >= 1e9 => format!("{:.2} G", large / 1e9),
        large if large >= 1e6 => format!("{:.2} M", large / 1e6),
        large if large >= 1e3 => format!("{:.2} k", large / 1e3),
        small => format!("{small:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(rounds_ns: &[u64]) -> Outcome {
        let mut outcome = Outcome::new("x", Unit::Operation);
        for &ns in rounds_ns {
            outcome.ran(Duration::from_nanos(ns), 10, 0, None, Digest::default());
        }
        outcome
    }

    #[test]
    fn medians_of_odd_and_even_numbers_of_rounds() {
        let odd = outcome(&[300, 100, 900]);
        assert_eq!((odd.median_ns(), odd.min_ns(), odd.max_ns()), (30.0, 10.0, 90.0));
        assert_eq!(outcome(&[100, 200, 300, 900]).median_ns(), 25.0);
    }

    #[test]
    fn scans_are_divided_by_entries() {
        let mut outcome = Outcome::new("x", Unit::Entry);
        outcome.ran(Duration::from_nanos(1000), 2, 200, None, Digest::default());
        assert_eq!(outcome.median_ns(), 5.0);
    }

    #[test]
    fn misled_lookups_are_counted_over_all_rounds() {
        let mut outcome = outcome(&[100, 100]);
        assert_eq!(outcome.misled(), None, "an index that doesn't say");
        let stats = |misled, leaf_fill| {
            let mut stats = Stats::default();
            (stats.misled, stats.leaf_fill) = (misled, leaf_fill);
            stats
        };
        // Misled requests between two rounds, while the index is refilled, don't count.
        outcome.formed(stats(5, 0.5), stats(15, 0.6), 100);
        outcome.formed(stats(1000, 0.7), stats(1005, 0.8), 50);
        assert_eq!(outcome.misled(), Some(0.1));
        assert_eq!(outcome.leaf_fill, Some(0.8));
        let setting = Setting {
            workload: "get",
            records: 1,
            ops: 1,
            threads: 1,
            batch: "none".to_owned(),
            keys: Some("dense".to_owned()),
            pages: "own",
            distribution: "uniform".to_owned(),
            key: "u64",
            key_bytes: None,
            order: "drawn",
            scan_length: None,
            range_share: None,
        };
        let row = rows(&setting, &[outcome]).to_markdown();
        assert!(row.contains("| 0.1 | 0.8 |"), "{row}");
    }
}

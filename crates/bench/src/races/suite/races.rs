//! The races of a suite: each is held once, in a separate process.

use super::row::{Field, Of, Row, Run, What};
use super::shown::shown;
use crate::races::args::Args;
use crate::races::outcome::beside;
use crate::races::pages;
use latchless_terminal::say;
use latchless_workload::{BytesKeySet, KeySet};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// The result of an index in a race.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its name.
    pub index: String,
    /// The median round, in nanoseconds.
    pub median_ns: f64,
    /// The fastest round.
    pub min_ns: f64,
    /// The slowest round.
    pub max_ns: f64,
    /// Memory per key, in bytes.
    pub bytes_per_key: f64,
    /// The mean length of the keys in bytes, if they are byte strings.
    pub key_bytes: f64,
    /// The unit that the nanoseconds are per: `op`, `entry` or `key`.
    pub per: String,
    /// The share of lookups that went to a wrong leaf, if the index counts them.
    pub misled: Option<f64>,
    /// The share of the leaves' places that contain a key, if the index reports it.
    pub leaf_fill: Option<f64>,
    /// Microseconds of single operations, if they were timed: of 99.9 %, of 99.999 %, of the longest.
    pub pauses_us: [f64; 3],
}

impl Measured {
    /// Returns the number that a row compares, in the row's unit.
    pub fn number(&self, what: What) -> f64 {
        match what {
            What::Time => self.median_ns,
            What::Bytes => self.bytes_per_key,
            What::Beside => beside(self.bytes_per_key, self.key_bytes),
            What::Within999 => self.pauses_us[0],
            What::Within99999 => self.pauses_us[1],
            What::Longest => self.pauses_us[2],
        }
    }

    /// Returns the unit of its times, such as `ns` or `ns/entry`.
    pub fn unit(&self) -> String {
        if self.per == "op" { "ns".to_owned() } else { format!("ns/{}", self.per) }
    }
}

/// A race.
#[derive(Debug, Clone)]
pub struct Race {
    /// The command that repeats it.
    pub command: String,
    /// The results of the indexes that finished, or the reason why none did.
    pub found: Result<Vec<Measured>, String>,
    /// The indexes that were left out, with the reasons.
    pub notes: Vec<String>,
}

/// All races so far, by the names of their rows.
#[derive(Debug)]
pub struct Races {
    records: usize,
    /// The maximum number of requests of a row, if the set has too few keys for more.
    ops_max: usize,
    rows: &'static [Row],
    /// The key set, if it isn't the row's own.
    keys: Option<String>,
    /// The times of our rows on the uniform key set, by name.
    uniform_ns: BTreeMap<&'static str, f64>,
    done: BTreeMap<&'static str, Race>,
}

impl Races {
    /// Creates an empty list of races between indexes of `records` keys.
    pub fn new(records: usize, rows: &'static [Row]) -> Self {
        Self {
            records,
            ops_max: usize::MAX,
            rows,
            keys: None,
            uniform_ns: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// Creates an empty list of races over a key set.
    pub fn over(keys: &KeySet, records: usize, rows: &'static [Row]) -> Self {
        Self { keys: Some(keys.to_string()), ..Self::new(records, rows) }
    }

    /// Creates an empty list of races over a set of byte strings. If the set has few keys, at most a quarter
    /// of them is loaded, and at most a quarter requested.
    pub fn over_bytes(keys: BytesKeySet, records: usize, rows: &'static [Row]) -> Self {
        let most = usize::try_from(keys.keys_max() / 4).unwrap_or(usize::MAX);
        Self { keys: Some(keys.to_string()), ops_max: most, ..Self::new(records.min(most), rows) }
    }

    /// Returns the key set's name; empty in a suite without key sets.
    pub fn keys(&self) -> &str {
        self.keys.as_deref().unwrap_or_default()
    }

    /// Records the time of one of our rows on the uniform key set.
    pub fn compare_with_uniform(&mut self, name: &'static str, uniform_ns: f64) {
        self.uniform_ns.insert(name, uniform_ns);
    }

    /// Returns the time of one of our rows on the uniform key set.
    pub fn uniform_ns(&self, row: &Row) -> Option<f64> {
        self.uniform_ns.get(row.name).copied()
    }

    /// Returns all races, by the names of their rows.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Race)> {
        self.done.iter().map(|(&name, race)| (name, race))
    }

    /// Holds the race of the row of that name, unless it has been held. A race that fails is recorded as
    /// failed.
    pub fn hold(&mut self, name: &'static str, args: &Args) {
        let Some(Row { of: Of::Run(run), .. }) = self.row(name) else { return };
        if self.done.contains_key(name) {
            return;
        }
        let admitted = |index: &str| {
            let named =
                args.index.is_empty() || args.index.iter().any(|given| given == index || given == "all");
            named && run.field.check(index).is_ok()
        };
        let entrants: Vec<String> =
            run.names().into_iter().filter(|index| admitted(index)).map(str::to_owned).collect();
        let flags = self.child_flags(run, &entrants, args);
        let command = format!("latchless-bench {}", flags.join(" "));
        let titled = self.label(name);
        say::note(format_args!("{titled}: {command}"));
        // The index of byte strings also runs alone, because not every build has its rivals.
        let is_race = entrants.iter().any(|index| *index != "btreemap") || run.field == Field::Bytes;
        let (found, notes) = if is_race {
            match child(&flags) {
                Ok(output) => (results(&output), notes(&output)),
                Err(error) => (Err(format!("its process can't be started: {error}")), Vec::new()),
            }
        } else {
            (Err("no index to race".to_owned()), Vec::new())
        };
        notes.iter().for_each(say::warn);
        match &found {
            Ok(found) => {
                let each: Vec<_> =
                    found.iter().map(|one| format!("{} {}", one.index, shown(one.median_ns))).collect();
                say::note(format_args!("{titled}: ns: {}", each.join(", ")));
            }
            Err(failure) => say::warn(format_args!("{titled}: failed: {failure}")),
        }
        self.done.insert(name, Race { command, found, notes });
    }

    /// Holds the race of the row of that name again, with one index alone, and returns its median
    /// nanoseconds. The race isn't recorded.
    pub fn again(&self, name: &str, index: &str, args: &Args) -> Option<f64> {
        let Of::Run(run) = &self.row(name)?.of else { return None };
        let output = child(&self.child_flags(run, &[index.to_owned()], args)).ok()?;
        Some(results(&output).ok()?.first()?.median_ns)
    }

    /// Returns the result of an index in the race of a row.
    pub fn of(&self, row: &Row, index: &str) -> Option<&Measured> {
        self.found(row).iter().find(|measured| measured.index == index)
    }

    /// Returns the row of that name.
    fn row(&self, name: &str) -> Option<&'static Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the rival with the smallest number among those of a field.
    pub fn best_rival(&self, row: &Row, among: Field) -> Option<&Measured> {
        let entries = among.entries();
        let is_rival = |measured: &&Measured| entries.iter().any(|entry| entry.name == measured.index);
        let rivals = self.found(row).iter().filter(is_rival);
        rivals.min_by(|left, right| left.number(row.what).total_cmp(&right.number(row.what)))
    }

    /// Returns a race's name, with the keys that it ran over if the suite has several sets.
    pub fn label(&self, name: &str) -> String {
        if self.keys().is_empty() { name.to_owned() } else { format!("{name} over {}", self.keys()) }
    }

    /// Returns the race of a row.
    pub fn race(&self, row: &Row) -> Option<&Race> {
        self.done.get(row.source())
    }

    fn found(&self, row: &Row) -> &[Measured] {
        self.race(row).and_then(|race| race.found.as_ref().ok()).map_or(&[], Vec::as_slice)
    }

    /// Returns the flags of the race's process.
    fn child_flags(&self, run: &Run, entrants: &[String], args: &Args) -> Vec<String> {
        let ops = (args.ops.min(self.ops_max) / run.one_in).max(1);
        let mut flags: Vec<String> = run.flags.split_whitespace().map(str::to_owned).collect();
        let shared = [
            ("--index", entrants.join(",")),
            ("--records", self.records.to_string()),
            ("--ops", ops.to_string()),
            ("--rounds", args.rounds.to_string()),
            ("--seed", args.seed.to_string()),
            ("--key", args.key.name().to_owned()),
        ];
        let keys = self.keys.iter().map(|keys| ("--keys", keys.clone()));
        let pages = args.pages.iter().map(|pages| ("--pages", pages.name().to_owned()));
        let all = shared.into_iter().chain(keys).chain(pages);
        flags.extend(all.flat_map(|(flag, value)| [flag.to_owned(), value]));
        flags.extend(args.options.flags());
        flags
    }
}

/// Runs a race in a separate process.
fn child(flags: &[String]) -> std::io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env_remove(pages::TRIED).args(flags).args(["--format", "json"]).output()
}

/// Returns the results of a race, or the reason of its failure.
fn results(output: &Output) -> Result<Vec<Measured>, String> {
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let found: Option<Vec<_>> = lines.lines().map(measured).collect();
    found.ok_or_else(|| "its results can't be read".to_owned())
}

/// Returns a race's notes on the indexes that it left out.
fn notes(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect()
}

fn measured(line: &str) -> Option<Measured> {
    let object: Value = serde_json::from_str(line).ok()?;
    Some(Measured {
        index: object["index"].as_str()?.to_owned(),
        median_ns: object["median_ns"].as_f64()?,
        min_ns: object["min_ns"].as_f64()?,
        max_ns: object["max_ns"].as_f64()?,
        bytes_per_key: object["bytes_per_key"].as_f64().unwrap_or(f64::NAN),
        key_bytes: object["key_bytes"].as_f64().unwrap_or(f64::NAN),
        per: object["per"].as_str()?.to_owned(),
        misled: object["misled"].as_f64(),
        leaf_fill: object["leaf_fill"].as_f64(),
        pauses_us: ["p999_us", "p99999_us", "longest_us"]
            .map(|name| object[name].as_f64().unwrap_or(f64::NAN)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::races::suite::bytes::ROWS;

    #[test]
    fn each_row_compares_the_number_in_its_unit() {
        let line = r#"{"index":"bytes","median_ns":100.0,"min_ns":90.0,"max_ns":110.0,"bytes_per_key":20.0,
            "key_bytes":7.0,"per":"op","p999_us":5.0,"p99999_us":80.0,"longest_us":400.0}"#;
        let measured = measured(line).unwrap();
        let whats =
            [What::Time, What::Bytes, What::Beside, What::Within999, What::Within99999, What::Longest];
        assert_eq!(whats.map(|what| measured.number(what)), [100.0, 20.0, 5.0, 5.0, 80.0, 400.0]);
    }

    #[test]
    fn sets_with_few_keys_race_with_fewer() {
        let few = Races::over_bytes(BytesKeySet::LongEnds, 5_000_000, ROWS);
        assert_eq!((few.records, few.ops_max, few.keys()), (4096, 4096, "long-ends"));
        let many = Races::over_bytes(BytesKeySet::Url, 5_000_000, ROWS);
        assert_eq!(many.records, 5_000_000);
    }
}

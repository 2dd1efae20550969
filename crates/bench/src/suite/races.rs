//! The races of a suite: each held once, in a process of its own.

use super::goal::number;
use super::row::{Field, Of, Row, Run};
use super::show::shown;
use crate::args::Args;
use crate::pages;
use latchless_terminal::say;
use latchless_workload::{BytesKeySet, KeySet};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// How an index did in a race.
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
    /// What a key took.
    pub bytes_per_key: f64,
    /// How long keys are on average, where they are byte strings.
    pub key_bytes: f64,
    /// What the nanoseconds are for: an `op`, an `entry`, a `key`.
    pub per: String,
    /// The share of lookups that went to a wrong leaf, where the index counts them.
    pub misled: Option<f64>,
    /// The share of leaves' places that hold a key, where the index says so.
    pub leaf_fill: Option<f64>,
    /// Microseconds of single operations, where they were timed: of 99.9 %, of 99.999 %, of the longest.
    pub pauses_us: [f64; 3],
}

/// A race.
#[derive(Debug, Clone)]
pub struct Race {
    /// What repeats it.
    pub command: String,
    /// The indexes that were to take part.
    pub asked: Vec<String>,
    /// The results of the indexes that came through, or why none did.
    pub found: Result<Vec<Measured>, String>,
    /// The indexes that were left out, and why.
    pub notes: Vec<String>,
}

/// All races so far, by the names of their rows.
#[derive(Debug)]
pub struct Races {
    records: usize,
    /// Requests of a row, where there are no more keys for them.
    ops_max: usize,
    rows: &'static [Row],
    /// The key set, where it isn't the row's own.
    keys: Option<String>,
    /// What our rows took on the uniform key set, by name.
    uniform_ns: BTreeMap<&'static str, f64>,
    done: BTreeMap<&'static str, Race>,
}

impl Races {
    /// None yet, of indexes of that many keys.
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

    /// None yet, over a key set.
    pub fn over(keys: &KeySet, records: usize, rows: &'static [Row]) -> Self {
        Self { keys: Some(keys.to_string()), ..Self::new(records, rows) }
    }

    /// None yet, over a set of byte strings. Of a set with few keys, as many as there are: a quarter of them
    /// loaded, and no more than a quarter asked for.
    pub fn over_bytes(keys: BytesKeySet, records: usize, rows: &'static [Row]) -> Self {
        let most = usize::try_from(keys.keys_max() / 4).unwrap_or(usize::MAX);
        Self { keys: Some(keys.to_string()), ops_max: most, ..Self::new(records.min(most), rows) }
    }

    /// The key set's name; of a suite without any, nothing.
    pub fn keys(&self) -> &str {
        self.keys.as_deref().unwrap_or_default()
    }

    /// Keeps what a row of ours took on the uniform key set.
    pub fn compare_with_uniform(&mut self, name: &'static str, uniform_ns: f64) {
        self.uniform_ns.insert(name, uniform_ns);
    }

    /// What a row of ours took on the uniform key set.
    pub fn uniform_ns(&self, row: &Row) -> Option<f64> {
        self.uniform_ns.get(row.name).copied()
    }

    /// All races, by the names of their rows.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Race)> {
        self.done.iter().map(|(&name, race)| (name, race))
    }

    /// Holds the race of the row of that name, unless it has been held.
    /// A race that fails is kept as such.
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
        let asked: Vec<String> =
            run.names().into_iter().filter(|index| admitted(index)).map(str::to_owned).collect();
        let flags = self.child_flags(run, &asked, args);
        let command = format!("latchless-bench {}", flags.join(" "));
        let titled =
            if self.keys().is_empty() { name.to_owned() } else { format!("{name} over {}", self.keys()) };
        say::note(format_args!("{titled}: {command}"));
        // The index of byte strings is asked for alone as well: not each build has one of its rivals.
        let is_race = asked.iter().any(|index| *index != "btreemap") || run.field == Field::Bytes;
        let (found, notes) = if is_race {
            match child(&flags) {
                Ok(output) => (results(&output), notes(&output)),
                Err(error) => (Err(format!("its process can't be started: {error}")), Vec::new()),
            }
        } else {
            (Err("nobody to race".to_owned()), Vec::new())
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
        self.done.insert(name, Race { command, asked, found, notes });
    }

    /// The median nanoseconds of an index in the race of the row of that name, which is held again, with
    /// this index alone. Nothing is kept of it.
    pub fn again(&self, name: &str, index: &str, args: &Args) -> Option<f64> {
        let Of::Run(run) = &self.row(name)?.of else { return None };
        let output = child(&self.child_flags(run, &[index.to_owned()], args)).ok()?;
        Some(results(&output).ok()?.first()?.median_ns)
    }

    /// Keys loaded in each of them.
    pub fn records(&self) -> usize {
        self.records
    }

    /// How an index did in the race of a row.
    pub fn of(&self, row: &Row, index: &str) -> Option<&Measured> {
        self.found(row).iter().find(|measured| measured.index == index)
    }

    /// How an index did in the row of that name.
    pub fn in_row(&self, name: &str, index: &str) -> Option<&Measured> {
        self.of(self.row(name)?, index)
    }

    /// The row of that name.
    pub fn row(&self, name: &str) -> Option<&'static Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Whether an index was asked to take part in a row's race.
    pub fn asked(&self, row: &Row, index: &str) -> bool {
        self.race(row).is_some_and(|race| race.asked.iter().any(|name| name == index))
    }

    /// The rival with the smallest number of those that `among` picks.
    pub fn best_rival(&self, row: &Row, among: impl Fn(&str) -> bool) -> Option<&Measured> {
        let rivals = self.found(row).iter().filter(|measured| among(&measured.index));
        rivals.min_by(|left, right| number(row, left).total_cmp(&number(row, right)))
    }

    /// The race that a row is about.
    pub fn race(&self, row: &Row) -> Option<&Race> {
        self.done.get(row.source())
    }

    fn found(&self, row: &Row) -> &[Measured] {
        self.race(row).and_then(|race| race.found.as_ref().ok()).map_or(&[], Vec::as_slice)
    }

    /// What the race's process is told.
    fn child_flags(&self, run: &Run, asked: &[String], args: &Args) -> Vec<String> {
        let ops = (args.ops.min(self.ops_max) / run.one_in).max(1);
        let mut flags: Vec<String> = run.flags.split_whitespace().map(str::to_owned).collect();
        let shared = [
            ("--index", asked.join(",")),
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

    /// One race that has been held.
    #[cfg(test)]
    pub fn of_one(records: usize, name: &'static str, asked: Vec<String>, found: Vec<Measured>) -> Self {
        let row = Row {
            name,
            of: Of::Same(name),
            ours: crate::catalogue::FLAGSHIP,
            what: super::row::What::Time,
            goals: &[],
            note: "",
        };
        let rows = Box::leak(Box::new([row]));
        let race = Race { command: String::new(), asked, found: Ok(found), notes: Vec::new() };
        Self { done: BTreeMap::from([(name, race)]), ..Self::new(records, rows) }
    }
}

/// Runs a race in a process of its own.
fn child(flags: &[String]) -> std::io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env_remove(pages::TRIED).args(flags).args(["--format", "json"]).output()
}

/// What a race found, or what it failed of.
fn results(output: &Output) -> Result<Vec<Measured>, String> {
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let found: Option<Vec<_>> = lines.lines().map(measured).collect();
    found.ok_or_else(|| "its results can't be read".to_owned())
}

/// What a race said of those that it left out.
fn notes(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect()
}

fn measured(line: &str) -> Option<Measured> {
    let told: Value = serde_json::from_str(line).ok()?;
    Some(Measured {
        index: told["index"].as_str()?.to_owned(),
        median_ns: told["median_ns"].as_f64()?,
        min_ns: told["min_ns"].as_f64()?,
        max_ns: told["max_ns"].as_f64()?,
        bytes_per_key: told["bytes_per_key"].as_f64().unwrap_or(f64::NAN),
        key_bytes: told["key_bytes"].as_f64().unwrap_or(f64::NAN),
        per: told["per"].as_str()?.to_owned(),
        misled: told["misled"].as_f64(),
        leaf_fill: told["leaf_fill"].as_f64(),
        pauses_us: ["p999_us", "p99999_us", "longest_us"].map(|name| told[name].as_f64().unwrap_or(f64::NAN)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::bytes::ROWS;

    #[test]
    fn sets_with_few_keys_race_with_fewer() {
        let few = Races::over_bytes(BytesKeySet::LongEnds, 5_000_000, ROWS);
        assert_eq!((few.records(), few.ops_max, few.keys()), (4096, 4096, "long-ends"));
        let many = Races::over_bytes(BytesKeySet::Url, 5_000_000, ROWS);
        assert_eq!(many.records(), 5_000_000);
    }
}

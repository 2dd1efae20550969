//! The table of rows over key sets, and its page.

use super::races::{Measured, Races};
use super::row::{Field, Row};
use super::show::labelled;
use super::shown::{ratio, shown};
use crate::races::outcome::percent;
use latchless_terminal::output::Rows;
use serde_json::{Value, json};

const FOR_PEOPLE: [&str; 10] = [
    "keys",
    "workload",
    "ns",
    "min to max",
    "× uniform's time",
    "× btreemap",
    "best rival",
    "misled",
    "bytes/key",
    "leaf fill",
];

const FOR_PROGRAMS: [&str; 19] = [
    "keys",
    "workload",
    "index",
    "unit",
    "ours",
    "ours_min",
    "ours_max",
    "btreemap",
    "btreemap_min",
    "btreemap_max",
    "rival",
    "best",
    "ratio",
    "of_uniform",
    "misled",
    "bytes_per_key",
    "leaf_fill",
    "command",
    "note",
];

/// Returns the table: each row of the suite over each key set.
pub fn table(chosen: &[&Row], over: &[Races], for_programs: bool) -> Rows {
    let mut rows = if for_programs { Rows::new(FOR_PROGRAMS) } else { Rows::new(FOR_PEOPLE) };
    for row in chosen {
        for races in over {
            let line = Line::new(row, races);
            rows.push(if for_programs { line.for_programs() } else { line.for_people() });
        }
    }
    rows
}

/// A row over a key set, with the results that the table shows.
struct Line<'a> {
    row: &'a Row,
    races: &'a Races,
    ours: Option<&'a Measured>,
    baseline: Option<&'a Measured>,
    rival: Option<&'a Measured>,
}

impl<'a> Line<'a> {
    fn new(row: &'a Row, races: &'a Races) -> Self {
        Self {
            row,
            races,
            ours: races.of(row, row.ours),
            baseline: races.of(row, "btreemap"),
            rival: races.best_rival(row, Field::All),
        }
    }

    /// Returns how many times as fast as the baseline ours is.
    fn times(&self) -> Option<f64> {
        Some(self.baseline?.median_ns / self.ours?.median_ns)
    }

    /// Returns our time as a multiple of our time on uniform keys.
    fn of_uniform(&self) -> Option<f64> {
        Some(self.ours?.median_ns / self.races.uniform_ns(self.row)?)
    }

    fn for_people(&self) -> Vec<Value> {
        let spread = |one: &Measured| format!("{} to {}", shown(one.min_ns), shown(one.max_ns));
        let rival = self.rival.map(|rival| format!("{} {}", rival.index, shown(rival.median_ns)));
        vec![
            json!(self.races.keys()),
            json!(labelled(self.row)),
            json!(self.ours.map(|ours| shown(ours.median_ns))),
            json!(self.ours.map(spread)),
            json!(self.of_uniform().map(ratio)),
            json!(self.times().map(ratio)),
            json!(rival),
            json!(self.ours.and_then(|ours| ours.misled).map(percent)),
            json!(self.ours.map(|ours| format!("{:.1}", ours.bytes_per_key))),
            json!(self.ours.and_then(|ours| ours.leaf_fill).map(percent)),
        ]
    }

    fn for_programs(&self) -> Vec<Value> {
        let of = |one: Option<&Measured>, number: fn(&Measured) -> f64| json!(one.map(number));
        vec![
            json!(self.races.keys()),
            json!(self.row.name),
            json!(self.row.ours),
            json!(self.ours.map(Measured::unit)),
            of(self.ours, |one| one.median_ns),
            of(self.ours, |one| one.min_ns),
            of(self.ours, |one| one.max_ns),
            of(self.baseline, |one| one.median_ns),
            of(self.baseline, |one| one.min_ns),
            of(self.baseline, |one| one.max_ns),
            json!(self.rival.map(|rival| &rival.index)),
            of(self.rival, |one| one.median_ns),
            json!(self.times()),
            json!(self.of_uniform()),
            json!(self.ours.and_then(|ours| ours.misled)),
            of(self.ours, |one| one.bytes_per_key),
            json!(self.ours.and_then(|ours| ours.leaf_fill)),
            json!(self.races.race(self.row).map(|race| &race.command)),
            json!(self.row.note),
        ]
    }
}

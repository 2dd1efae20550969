//! The table of rows over sets of byte strings, and its page.

use super::races::{Measured, Races};
use super::row::{Field, Row, What};
use super::shown::{ratio, shown};
use latchless_terminal::output::Rows;
use serde_json::{Value, json};

const FOR_PEOPLE: [&str; 7] =
    ["keys", "row", "ours", "min to max", "best rival", "× best rival", "× btreemap"];

const FOR_PROGRAMS: [&str; 14] = [
    "keys",
    "workload",
    "index",
    "unit",
    "ours",
    "ours_min",
    "ours_max",
    "rival",
    "best",
    "btreemap",
    "of_best",
    "of_btreemap",
    "key_bytes",
    "command",
];

/// Returns the table: each row of the suite over each key set, set by set.
pub fn table(chosen: &[&Row], over: &[Races], for_programs: bool) -> Rows {
    let mut rows = if for_programs { Rows::new(FOR_PROGRAMS) } else { Rows::new(FOR_PEOPLE) };
    for races in over {
        for row in chosen {
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
    /// The fastest or smallest index of the others, including the baseline.
    best: Option<&'a Measured>,
    baseline: Option<&'a Measured>,
}

impl<'a> Line<'a> {
    fn new(row: &'a Row, races: &'a Races) -> Self {
        Self {
            row,
            races,
            ours: races.of(row, row.ours),
            best: races.best_rival(row, Field::Bytes),
            baseline: races.of(row, "btreemap"),
        }
    }

    fn number(&self, one: Option<&Measured>) -> Option<f64> {
        one.map(|one| one.number(self.row.what))
    }

    /// Returns another index's number as a multiple of ours.
    fn times(&self, other: Option<&Measured>) -> Option<f64> {
        Some(self.number(other)? / self.number(self.ours)?)
    }

    fn unit(&self) -> Option<String> {
        self.row.what.unit().map(str::to_owned).or_else(|| self.ours.or(self.baseline).map(Measured::unit))
    }

    fn for_people(&self) -> Vec<Value> {
        let unit = self.unit().unwrap_or_default();
        let spread = |one: &Measured| format!("{} to {}", shown(one.min_ns), shown(one.max_ns));
        let is_time = self.row.what == What::Time;
        vec![
            json!(self.races.keys()),
            json!(self.row.name),
            json!(self.number(self.ours).map(|ours| format!("{} {unit}", shown(ours)))),
            json!(self.ours.filter(|_| is_time).map(spread)),
            json!(self.best.map(|best| format!("{} {}", best.index, shown(best.number(self.row.what))))),
            json!(self.times(self.best).map(ratio)),
            json!(self.times(self.baseline).map(ratio)),
        ]
    }

    fn for_programs(&self) -> Vec<Value> {
        let times =
            |one: fn(&Measured) -> f64| json!(self.ours.filter(|_| self.row.what == What::Time).map(one));
        vec![
            json!(self.races.keys()),
            json!(self.row.name),
            json!(self.row.ours),
            json!(self.unit()),
            json!(self.number(self.ours)),
            times(|one| one.min_ns),
            times(|one| one.max_ns),
            json!(self.best.map(|best| &best.index)),
            json!(self.number(self.best)),
            json!(self.number(self.baseline)),
            json!(self.times(self.best)),
            json!(self.times(self.baseline)),
            json!(self.baseline.or(self.ours).map(|one| one.key_bytes)),
            json!(self.races.race(self.row).map(|race| &race.command)),
        ]
    }
}

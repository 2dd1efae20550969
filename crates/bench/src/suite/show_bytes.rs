//! The table of rows over sets of byte strings, and its page.

use super::goal::{number, ratio, together};
use super::races::{Measured, Races};
use super::row::{Field, Row, What};
use super::show::{every_race, head, shown};
use crate::args::{Args, Suite};
use latchless_terminal::output::Rows;
use serde_json::{Value, json};

const FOR_PEOPLE: [&str; 9] =
    ["keys", "row", "ours", "min to max", "best rival", "× best rival", "× btreemap", "goal", "reached"];

const FOR_PROGRAMS: [&str; 16] = [
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
    "goal",
    "reached",
    "command",
];

/// The table: each row of the suite over each key set, set by set.
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

/// What there is to say about a row over a key set.
struct Line<'a> {
    row: &'a Row,
    races: &'a Races,
    ours: Option<&'a Measured>,
    /// The best index that isn't ours, the baseline among them.
    best: Option<&'a Measured>,
    baseline: Option<&'a Measured>,
    goal: String,
    reached: String,
}

impl<'a> Line<'a> {
    fn new(row: &'a Row, races: &'a Races) -> Self {
        let others = Field::Bytes.entries();
        let verdicts: Vec<_> = row.goals.iter().map(|goal| goal.judge(row, races)).collect();
        let failed = races.race(row).is_some_and(|race| race.found.is_err());
        Self {
            row,
            races,
            ours: races.of(row, row.ours),
            best: races.best_rival(row, |name| others.iter().any(|entry| entry.name == name)),
            baseline: races.of(row, "btreemap"),
            goal: row.goals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            reached: if failed { "failed".to_owned() } else { together(&verdicts) },
        }
    }

    fn number(&self, one: Option<&Measured>) -> Option<f64> {
        one.map(|one| number(self.row, one))
    }

    /// How many times another index's number is ours.
    fn times(&self, other: Option<&Measured>) -> Option<f64> {
        Some(self.number(other)? / self.number(self.ours)?)
    }

    fn unit(&self) -> Option<String> {
        let per = |one: &Measured| if one.per == "op" { "ns".to_owned() } else { format!("ns/{}", one.per) };
        self.row.what.unit().map(str::to_owned).or_else(|| self.ours.or(self.baseline).map(per))
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
            json!(self.best.map(|best| format!("{} {}", best.index, shown(number(self.row, best))))),
            json!(self.times(self.best).map(ratio)),
            json!(self.times(self.baseline).map(ratio)),
            json!(self.goal),
            json!(self.reached),
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
            json!(self.goal),
            json!(self.reached),
            json!(self.races.race(self.row).map(|race| &race.command)),
        ]
    }
}

/// The result as a page of Markdown: the machine, the table, each race's command and notes.
pub fn page(suite: Suite, chosen: &[&Row], over: &[Races], machine: &str, args: &Args) -> String {
    let mut page = head(suite, machine, args);
    page.push_str(&table(chosen, over, false).to_markdown());
    page.push_str("\n## Every race\n");
    over.iter().for_each(|races| every_race(&mut page, races));
    page
}

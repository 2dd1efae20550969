//! A suite's table, for people and for programs, and its page.

use super::goal::{number, ratio, together};
use super::races::{Measured, Races};
use super::row::Row;
use crate::args::{Args, Suite};
use crate::catalogue::{self, Origin};
use latchless_terminal::output::Rows;
use serde_json::{Value, json};
use std::fmt::Write;

/// A number with three digits that mean something.
pub fn shown(number: f64) -> String {
    match number {
        small if small < 10.0 => format!("{small:.2}"),
        middle if middle < 100.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

/// The table. Programs get the numbers apart from their names and units, and the commands.
pub fn table(chosen: &[&Row], races: &Races, for_programs: bool) -> Rows {
    let known = catalogue::entries();
    let is_rival = |name: &str| known.iter().any(|entry| entry.name == name && entry.origin == Origin::Rival);
    let mut rows = Rows::new(if for_programs {
        vec![
            "workload", "index", "unit", "ours", "rival", "best", "btreemap", "ratio", "goal", "reached",
            "command", "note",
        ]
    } else {
        vec!["workload", "ours", "best rival", "× btreemap", "goal", "reached"]
    });
    for row in chosen {
        let ours = races.of(row, row.ours);
        let best = races.best_rival(row, is_rival);
        let baseline = races.of(row, "btreemap");
        let times = ours.zip(baseline).map(|(ours, baseline)| number(row, baseline) / number(row, ours));
        let goal = row.goals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let verdicts: Vec<_> = row.goals.iter().map(|goal| goal.judge(row, races)).collect();
        let reached = match races.race(row).map(|race| &race.found) {
            Some(Err(_)) => "failed".to_owned(),
            _ => together(&verdicts),
        };
        let unit = match (row.what.unit(), ours) {
            (Some(unit), _) => unit.to_owned(),
            (None, Some(ours)) if ours.per != "op" => format!("ns/{}", ours.per),
            (None, _) => "ns".to_owned(),
        };
        let of = |measured: Option<&Measured>| measured.map(|one| number(row, one));
        rows.push(if for_programs {
            let command = races.race(row).map(|race| race.command.clone());
            let rival = best.map(|best| best.index.clone());
            vec![
                json!(row.name),
                json!(row.ours),
                json!(unit),
                json!(of(ours)),
                json!(rival),
                json!(of(best)),
                json!(of(baseline)),
                json!(times),
                json!(goal),
                json!(reached),
                json!(command),
                json!(row.note),
            ]
        } else {
            let best = best.map(|best| format!("{} {}", best.index, shown(number(row, best))));
            vec![
                json!(labelled(row)),
                json!(of(ours).map(|ours| format!("{} {unit}", shown(ours)))),
                json!(best),
                json!(times.map(ratio)),
                json!(goal),
                json!(reached),
            ]
        });
    }
    rows
}

/// A row's name, and what has to be known to compare.
pub fn labelled(row: &Row) -> String {
    if row.note.is_empty() { row.name.to_owned() } else { format!("{} ({})", row.name, row.note) }
}

/// The result as a page of Markdown: the machine, the table, each race's command and notes.
pub fn page(suite: Suite, chosen: &[&Row], races: &Races, machine: &str, args: &Args) -> String {
    let mut page = head(suite, machine, args);
    page.push_str(&table(chosen, races, false).to_markdown());
    page.push_str("\n## Every race\n");
    every_race(&mut page, races);
    page
}

/// A page's head: what was run, and on what.
pub fn head(suite: Suite, machine: &str, args: &Args) -> String {
    format!(
        "# `latchless-bench --suite {}`\n\n{machine}.\n{} records, {} requests a round (fewer where each takes \
         longer), median of {} rounds, {} keys.\n\n",
        suite.name(),
        args.records,
        args.ops,
        args.rounds,
        args.key.name(),
    )
}

/// A section for each race: its command, everybody's numbers, notes.
pub fn every_race(page: &mut String, races: &Races) {
    for (name, race) in races.all() {
        let keys = if races.keys().is_empty() { String::new() } else { format!(" over {}", races.keys()) };
        // Writing to a string never fails.
        let _ = write!(page, "\n### {name}{keys}\n\n`{}`\n\n", race.command);
        match &race.found {
            Ok(found) => {
                let mut rows = Rows::new(["index", "ns", "per", "bytes/key", "min", "max"]);
                for one in found {
                    let cells = [
                        one.index.clone(),
                        shown(one.median_ns),
                        one.per.clone(),
                        format!("{:.1}", one.bytes_per_key),
                        shown(one.min_ns),
                        shown(one.max_ns),
                    ];
                    rows.push(cells.map(Value::String).into());
                }
                page.push_str(&rows.to_markdown());
            }
            Err(failure) => {
                let _ = writeln!(page, "Failed: {failure}");
            }
        }
        for note in &race.notes {
            let _ = writeln!(page, "\n{note}");
        }
    }
}

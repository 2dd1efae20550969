//! A suite's table, for people and for programs, and its page.

use super::races::{Measured, Races};
use super::row::{Field, Row};
use super::shown::{ratio, shown};
use crate::races::args::{Args, Suite};
use latchless_terminal::output::Rows;
use serde_json::{Value, json};
use std::fmt::Write;

/// Returns the table. For programs, numbers are separate from their names and units, and each row has its
/// command.
pub fn table(chosen: &[&Row], races: &Races, for_programs: bool) -> Rows {
    let mut rows = Rows::new(if for_programs {
        vec!["workload", "index", "unit", "ours", "rival", "best", "btreemap", "ratio", "command", "note"]
    } else {
        vec!["workload", "ours", "best rival", "× btreemap"]
    });
    for row in chosen {
        let ours = races.of(row, row.ours);
        let best = races.best_rival(row, Field::All);
        let baseline = races.of(row, "btreemap");
        let times =
            ours.zip(baseline).map(|(ours, baseline)| baseline.number(row.what) / ours.number(row.what));
        let time_unit = || ours.map_or_else(|| "ns".to_owned(), Measured::unit);
        let unit = row.what.unit().map_or_else(time_unit, str::to_owned);
        let of = |measured: Option<&Measured>| measured.map(|one| one.number(row.what));
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
                json!(command),
                json!(row.note),
            ]
        } else {
            let best = best.map(|best| format!("{} {}", best.index, shown(best.number(row.what))));
            vec![
                json!(labelled(row)),
                json!(of(ours).map(|ours| format!("{} {unit}", shown(ours)))),
                json!(best),
                json!(times.map(ratio)),
            ]
        });
    }
    rows
}

/// Returns a row's name, with its note if it has one.
pub fn labelled(row: &Row) -> String {
    if row.note.is_empty() { row.name.to_owned() } else { format!("{} ({})", row.name, row.note) }
}

/// Returns the result as a page of Markdown: the machine, a note on the table, the table, each race's command
/// and notes.
pub fn page(suite: Suite, note: &str, table: &Rows, over: &[Races], machine: &str, args: &Args) -> String {
    let mut page = head(suite, machine, args);
    page.push_str(note);
    page.push_str(&table.to_markdown());
    page.push_str("\n## Every race\n");
    over.iter().for_each(|races| every_race(&mut page, races));
    page
}

/// Returns a page's head: the suite, the machine and the settings.
fn head(suite: Suite, machine: &str, args: &Args) -> String {
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

/// Appends a section for each race: its command, the numbers of every index, notes.
fn every_race(page: &mut String, races: &Races) {
    for (name, race) in races.all() {
        // Writing to a string never fails.
        let _ = write!(page, "\n### {}\n\n`{}`\n\n", races.label(name), race.command);
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

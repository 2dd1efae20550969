//! The suite `keys`: the same rows over many key sets.
//!
//! A row's times are compared with the baseline's on the same keys, and with the row's own on uniform keys.
//! Machines change their speed within minutes. So the row is run over uniform keys again after each other key
//! set, and what a set is compared with is the mean of the run before it and the one after it.

use super::flagship::BY_LEAF;
use super::goal::Goal::{self, Faster, Misled, OfUniform};
use super::races::Races;
use super::row::{Field, Of, Row, Run, What};
use super::{choose, measured_on, show_keys, written};
use crate::args::{Args, Suite, Width};
use crate::catalogue::FLAGSHIP;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;
use latchless_workload::KeySet;

/// Never slower than the baseline.
const AHEAD: Goal = Faster { than: "btreemap", in_row: None, times: 1.0 };
/// At most 2 % of lookups go to a wrong leaf.
const SELDOM_MISLED: Goal = Misled(0.02);

const fn row(name: &'static str, flags: &'static str, goals: &'static [Goal]) -> Row {
    let run = Run { flags, one_in: 1, field: Field::All, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Time, goals, note: "" }
}

/// A row of ranges of 48 entries.
const fn range(name: &'static str, flags: &'static str, note: &'static str) -> Row {
    let run = Run { flags, one_in: 10, field: Field::All, exclusive: false };
    Row { of: Of::Run(run), note, ..row(name, flags, &[AHEAD]) }
}

/// The rows, in the order in which they are raced.
pub const ROWS: &[Row] = &[
    row("get", "--workload get", &[OfUniform(1.6), AHEAD, SELDOM_MISLED]),
    row("chain", "--workload chain", &[OfUniform(1.6), AHEAD, SELDOM_MISLED]),
    row("get-many", "--workload get --batch 1024", &[OfUniform(1.8), AHEAD, SELDOM_MISLED]),
    row("insert", "--workload insert", &[OfUniform(1.4), AHEAD, SELDOM_MISLED]),
    row("insert-many", "--workload insert --batch 1024", &[AHEAD, SELDOM_MISLED]),
    row("remove", "--workload remove", &[AHEAD, SELDOM_MISLED]),
    range("range-48", "--workload range --scan-length 48", ""),
    range("visit-48", "--workload visit --scan-length 48", BY_LEAF),
];

/// Runs the suite.
///
/// # Errors
/// Names of rows, key sets or indexes that there aren't; after the table, races that failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.key == Width::U32 {
        return Err(Failure::usage("the suite keys has 64-bit keys: leave out --key"));
    }
    let chosen = choose(ROWS, args)?;
    let mut over: Vec<Races> = sets(args)?.iter().map(|set| Races::over(set, args.records, ROWS)).collect();
    for row in &chosen {
        let [uniform, others @ ..] = &mut over[..] else { continue };
        uniform.hold(row.name, args);
        let mut before = uniform.of(row, row.ours).map(|ours| ours.median_ns);
        before.into_iter().for_each(|ns| uniform.compare_with_uniform(row.name, ns));
        for races in others {
            races.hold(row.name, args);
            // Without a time on uniform keys, the sets race all the same.
            let Some(last) = before else { continue };
            let after = uniform.again(row.name, row.ours, args).unwrap_or(last);
            races.compare_with_uniform(row.name, f64::midpoint(last, after));
            before = Some(after);
        }
    }
    let head = measured_on(args);
    if let Some(file) = &args.report {
        written(file, &show_keys::page(Suite::Keys, &chosen, &over, &head, args))?;
    }
    if args.format == Format::Table {
        say::note(&head);
    }
    show_keys::table(&chosen, &over, args.format != Format::Table).print(args.format)?;
    let failed: Vec<_> = over
        .iter()
        .flat_map(|races| {
            races.all().map(move |(name, race)| (format!("{name} over {}", races.keys()), race))
        })
        .filter(|(_, race)| race.found.is_err())
        .map(|(name, _)| name)
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::run(format!("failed: {}", failed.join(", ")))) }
}

/// The uniform set, with which all are compared, then those asked for.
fn sets(args: &Args) -> Result<Vec<KeySet>, Failure> {
    let asked = if args.keys.is_empty() { KeySet::ALL.into() } else { args.key_sets()? };
    let mut sets = vec![KeySet::Uniform];
    for set in asked {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    Ok(sets)
}

//! The suite `keys`: the same rows over many key sets.
//!
//! A row's times are compared with the baseline's on the same keys, and with the row's own on uniform
//! keys. A machine's speed changes within minutes, so the row runs over uniform keys again after each
//! other key set. A set is compared with the mean of the uniform runs before and after it.

use super::flagship::BY_LEAF;
use super::frame::{choose, finish};
use super::races::Races;
use super::row::{Field, Of, Row, Run, What};
use super::show_keys;
use crate::races::args::{Args, Suite, Width};
use crate::races::catalogue::FLAGSHIP;
use latchless_terminal::failure::Failure;
use latchless_workload::KeySet;

/// Creates a row that compares times.
const fn row(name: &'static str, flags: &'static str, one_in: usize, note: &'static str) -> Row {
    let run = Run { flags, one_in, field: Field::All, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Time, note }
}

/// The rows, in the order of their races.
pub const ROWS: &[Row] = &[
    row("get", "--workload get", 1, ""),
    row("chain", "--workload chain", 1, ""),
    row("get-many", "--workload get --batch 1024", 1, ""),
    row("insert", "--workload insert", 1, ""),
    row("insert-many", "--workload insert --batch 1024", 1, ""),
    row("remove", "--workload remove", 1, ""),
    row("range-48", "--workload range --scan-length 48", 10, ""),
    row("visit-48", "--workload visit --scan-length 48", 10, BY_LEAF),
];

/// Runs the suite.
///
/// # Errors
/// Unknown rows, key sets or indexes; after the table, races that failed.
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
            // The sets race even if there is no time on uniform keys.
            let Some(last) = before else { continue };
            let after = uniform.again(row.name, row.ours, args).unwrap_or(last);
            races.compare_with_uniform(row.name, f64::midpoint(last, after));
            before = Some(after);
        }
    }
    let table = |for_programs| show_keys::table(&chosen, &over, for_programs);
    finish(Suite::Keys, "", table, &over, args)
}

/// Returns the uniform set, with which all are compared, then the requested ones.
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

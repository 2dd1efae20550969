//! The suite `bytes`: the index over byte strings beside every ordered rival, on several sets of keys.
//!
//! The goals of times are over the best rival of the same run. Batches have no rival: what they are held
//! against is the best rival's single operation.

use super::goal::Goal::{self, Ahead, AheadIn, BytesBeside, Faster};
use super::races::Races;
use super::row::{Field, Of, Row, Run, What};
use super::{choose, measured_on, show_bytes, written};
use crate::args::{Args, Suite, Width};
use crate::bytes::{catalogue::FLAGSHIP, sets};
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Format;
use latchless_terminal::say;

/// So many times as fast as each rival.
macro_rules! ahead {
    ($times:literal) => {
        &[Ahead { of: Field::Bytes, times: $times }]
    };
    ($times:literal in $row:literal) => {
        &[AheadIn { row: $row, of: Field::Bytes, times: $times }]
    };
}

/// So many times the index's own rate in a row of one thread.
macro_rules! of_one_thread {
    ($row:literal) => {
        &[Faster { than: FLAGSHIP, in_row: Some($row), times: 1.8 }]
    };
}

/// A row that is raced for its times; one in so many requests is made.
const fn timed(name: &'static str, flags: &'static str, one_in: usize, goals: &'static [Goal]) -> Row {
    let run = Run { flags, one_in, field: Field::Bytes, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Time, goals, note: "" }
}

/// What a key took in another row's race, beside itself and its value.
const fn beside(name: &'static str, of: &'static str, goals: &'static [Goal]) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Beside, goals, note: "" }
}

/// The rows, in the order in which they are raced and printed.
pub const ROWS: &[Row] = &[
    timed("get", "--workload get", 1, ahead!(1.67)),
    timed("absent", "--workload absent", 1, ahead!(1.25)),
    timed("chain", "--workload chain", 1, &[]),
    timed("get-many", "--workload get --batch 256", 1, ahead!(3.57 in "get")),
    timed("insert", "--workload insert", 1, ahead!(1.43)),
    timed("insert-many", "--workload insert --batch 256", 1, ahead!(2.86 in "insert")),
    timed("remove", "--workload remove", 1, ahead!(1.33)),
    timed("scan-100", "--workload scan --scan-length 100", 10, ahead!(4.0)),
    timed("get-2", "--workload get --threads 2", 1, of_one_thread!("get")),
    timed("insert-2", "--workload insert --threads 2", 1, of_one_thread!("insert")),
    timed("remove-2", "--workload remove --threads 2", 1, of_one_thread!("remove")),
    timed("load", "--workload load", 1, &[]),
    beside("beside-random", "get", &[BytesBeside { at_most: 20.0, but_of: Some(("uuid36", 28.0)) }]),
    beside("beside-loaded", "load", &[BytesBeside { at_most: 8.0, but_of: None }]),
];

/// Runs the suite.
///
/// # Errors
/// Names of rows, key sets or indexes that there aren't; after the table, races that failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.key == Width::U32 {
        return Err(Failure::usage("the suite bytes has values of 64 bits: leave out --key"));
    }
    let chosen = choose(ROWS, args)?;
    let sets = sets(&args.keys)?;
    let mut over: Vec<Races> =
        sets.into_iter().map(|set| Races::over_bytes(set, args.records, ROWS)).collect();
    for races in &mut over {
        chosen.iter().flat_map(|row| row.needed()).for_each(|name| races.hold(name, args));
    }
    let head = measured_on(args);
    if let Some(file) = &args.report {
        written(file, &show_bytes::page(Suite::Bytes, &chosen, &over, &head, args))?;
    }
    if args.format == Format::Table {
        say::note(&head);
    }
    show_bytes::table(&chosen, &over, args.format != Format::Table).print(args.format)?;
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

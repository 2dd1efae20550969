//! The suite `bytes`: the index over byte strings compared with every ordered rival, on several sets of
//! keys.

use super::frame::{choose, finish};
use super::races::Races;
use super::row::{Field, Of, Row, Run, What};
use super::show_bytes;
use crate::races::args::{Args, Suite, Width};
use crate::races::bytes::{catalogue::FLAGSHIP, sets};
use latchless_terminal::failure::Failure;

/// Creates a row that compares times; the suite's number of requests is divided by `one_in`.
const fn timed(name: &'static str, flags: &'static str, one_in: usize) -> Row {
    let run = Run { flags, one_in, field: Field::Bytes, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Time, note: "" }
}

/// Creates a row with the memory per entry in another row's race, apart from the key and its value.
const fn beside(name: &'static str, of: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Beside, note: "" }
}

/// The rows, in the order of their races and in the table.
pub const ROWS: &[Row] = &[
    timed("get", "--workload get", 1),
    timed("absent", "--workload absent", 1),
    timed("chain", "--workload chain", 1),
    timed("get-many", "--workload get --batch 256", 1),
    timed("insert", "--workload insert", 1),
    timed("insert-many", "--workload insert --batch 256", 1),
    timed("remove", "--workload remove", 1),
    timed("scan-100", "--workload scan --scan-length 100", 10),
    timed("get-2", "--workload get --threads 2", 1),
    timed("insert-2", "--workload insert --threads 2", 1),
    timed("remove-2", "--workload remove --threads 2", 1),
    timed("load", "--workload load", 1),
    beside("beside-random", "get"),
    beside("beside-loaded", "load"),
];

/// Runs the suite.
///
/// # Errors
/// Unknown rows, key sets or indexes; after the table, races that failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.key == Width::U32 {
        return Err(Failure::usage("the suite bytes has values of 64 bits: leave out --key"));
    }
    let chosen = choose(ROWS, args)?;
    let sets = sets(&args.keys)?;
    let mut over: Vec<Races> =
        sets.into_iter().map(|set| Races::over_bytes(set, args.records, ROWS)).collect();
    for races in &mut over {
        chosen.iter().map(|row| row.source()).for_each(|name| races.hold(name, args));
    }
    let table = |for_programs| show_bytes::table(&chosen, &over, for_programs);
    finish(Suite::Bytes, "", table, &over, args)
}

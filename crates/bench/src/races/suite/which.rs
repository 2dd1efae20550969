//! The suite `which`: the same work for one index of each kind, as a help to choose between them.
//!
//! Indexes that accept updates from one thread only aren't in the rows of two threads.

use super::frame::{choose, finish};
use super::races::Races;
use super::row::{Field, KINDS, Of, Row, Run, What};
use super::shown::shown;
use crate::races::args::{Args, Suite};
use crate::races::catalogue::FLAGSHIP;
use latchless_terminal::failure::Failure;
use latchless_terminal::output::Rows;
use serde_json::{Value, json};

/// Creates a row that compares times; the suite's number of requests is divided by `one_in`.
const fn row(name: &'static str, flags: &'static str, one_in: usize, note: &'static str) -> Row {
    let run = Run { flags, one_in, field: Field::Kinds, exclusive: true };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Time, note }
}

/// Creates a row with the memory per key in another row's race.
const fn bytes(name: &'static str, of: &'static str, note: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Bytes, note }
}

/// The rows, in the order of their races and in the table.
pub const ROWS: &[Row] = &[
    row("get", "--workload get --load bulk", 1, "one by one"),
    row("zipf-get", "--workload get --load bulk --distribution zipf:0.99", 1, "one by one, popular keys"),
    row("get-many-64", "--workload get --load bulk --batch 64", 1, "batches of 64"),
    row("get-many", "--workload get --load bulk --batch 1024", 1, "batches of 1,024"),
    row("get-many-64k", "--workload get --load bulk --batch 65536", 1, "batches of 65,536"),
    row("scan-10", "--workload scan --load bulk --scan-length 10", 4, "copies of 10 entries"),
    row("scan-100", "--workload scan --load bulk --scan-length 100", 20, "copies of 100 entries"),
    row("scan-1000", "--workload scan --load bulk --scan-length 1000", 100, "copies of 1,000 entries"),
    row("sum-1000", "--workload sum --load bulk --scan-length 1000", 100, "sums of 1,000 entries"),
    row("sum-range", "--workload sum-range --load bulk --range-share 0.01", 1000, "sums of 1 % of the keys"),
    row("count", "--workload count --load bulk --range-share 0.1", 1000, "ranks: counts of 10 % of the keys"),
    row("insert", "--workload insert --load bulk", 1, "one by one"),
    row("insert-many", "--workload insert --load bulk --batch 1024", 1, "batches of 1,024"),
    row("insert-many-64k", "--workload insert --load bulk --batch 65536", 1, "batches of 65,536"),
    row("update-many-64k", "--workload update --load bulk --batch 65536", 1, "batches of 65,536"),
    row("remove", "--workload remove --load bulk", 1, "one by one"),
    row("mixed", "--workload mixed --load bulk", 1, "gets, inserts, removals, scans"),
    row("get-2", "--workload get --load bulk --threads 2", 1, "two threads"),
    row("get-insert-2", "--workload spiderman-a --load bulk --threads 2", 1, "two threads, halves"),
    row("load", "--workload load", 1, "bulk load"),
    row("get-grown", "--workload get", 1, "after random inserts"),
    bytes("bytes-loaded", "load", "a key, after a bulk load"),
    bytes("bytes-grown", "get-grown", "a key, after random inserts"),
];

/// What a page says of its numbers.
const NOTE: &str = "Times are nanoseconds per operation, or per entry of a range or of a load, for one index of each \
    kind. An empty cell: the index doesn't accept updates from two threads.\n\n";

/// Runs the suite.
///
/// # Errors
/// Unknown rows or indexes; after the table, races that failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    let chosen = choose(ROWS, args)?;
    let mut races = Races::new(args.records, ROWS);
    chosen.iter().for_each(|row| races.hold(row.source(), args));
    finish(Suite::Which, NOTE, |_| table(&chosen, &races), core::slice::from_ref(&races), args)
}

/// Returns the table, with a line for each row and a column for each index.
fn table(chosen: &[&Row], races: &Races) -> Rows {
    let names = || std::iter::once("btreemap").chain(KINDS);
    let known = |name: &&str| chosen.iter().any(|row| races.of(row, name).is_some());
    let columns: Vec<&str> = names().filter(known).collect();
    let mut rows = Rows::new(["row", "what"].into_iter().chain(columns.iter().copied()));
    for row in chosen {
        let cell = |&name: &&str| match races.of(row, name) {
            Some(one) => json!(shown(one.number(row.what))),
            None => Value::Null,
        };
        rows.push([json!(row.name), json!(row.note)].into_iter().chain(columns.iter().map(cell)).collect());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::races::catalogue;

    #[test]
    fn each_index_is_known_and_threads_are_for_those_that_share() {
        KINDS.into_iter().for_each(|name| catalogue::check(name).unwrap());
        for row in ROWS {
            let Of::Run(run) = row.of else { continue };
            let names = run.names();
            assert!(names.contains(&"index") && names[0] == "btreemap", "{}", row.name);
            let shares = run.flags.contains("--threads");
            assert_eq!(names.contains(&"pi"), cfg!(feature = "papers") && !shares, "{}", row.name);
            let expected = match (cfg!(feature = "papers"), shares) {
                (true, true) => 6,
                (true, false) => 10,
                (false, true) => 2,
                (false, false) => 3,
            };
            assert_eq!(names.len(), expected, "{names:?}");
        }
    }
}

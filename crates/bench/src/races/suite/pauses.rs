//! The suite `pauses`: the processor time of single operations, with one thread and with two.
//!
//! Each race has three rows: the time within which 99.9 % of the operations finish, the same for 99.999 %,
//! and the longest operation. The requests of all rounds count together. With five rounds of a tenth of
//! the records each, the tree grows by half during the inserts, so it allocates memory and rebuilds its
//! tables.

use super::row::{Field, Of, Row, Run, What};
use crate::races::catalogue::FLAGSHIP;

/// Creates a row with a race and its 99.9 %.
const fn race(name: &'static str, flags: &'static str) -> Row {
    let run = Run { flags, one_in: 1, field: Field::Concurrent, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Within999, note: "99.9 %" }
}

/// Creates a row with the 99.999 % of another row's race.
const fn tail(name: &'static str, of: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Within99999, note: "99.999 %" }
}

/// Creates a row with the longest operation of another row's race.
const fn longest(name: &'static str, of: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Longest, note: "the longest" }
}

/// The rows, in the order of their races.
pub const ROWS: &[Row] = &[
    race("insert", "--workload insert --pauses insert"),
    tail("insert-tail", "insert"),
    longest("insert-longest", "insert"),
    race("insert-2", "--workload insert --threads 2 --pauses insert"),
    tail("insert-2-tail", "insert-2"),
    longest("insert-2-longest", "insert-2"),
    race("remove", "--workload remove --pauses remove"),
    tail("remove-tail", "remove"),
    longest("remove-longest", "remove"),
    race("remove-2", "--workload remove --threads 2 --pauses remove"),
    tail("remove-2-tail", "remove-2"),
    longest("remove-2-longest", "remove-2"),
    race("get", "--workload get --pauses get"),
    tail("get-tail", "get"),
    longest("get-longest", "get"),
    race("get-while-2-write", "--workload mixed --threads 2 --pauses get"),
    tail("get-while-2-write-tail", "get-while-2-write"),
    longest("get-while-2-write-longest", "get-while-2-write"),
];

//! The suite `pauses`: the processor time of single operations, one thread and two.
//!
//! Each race has three rows: 99.9 % of the operations, 99.999 % of them, and the longest. The requests of all
//! rounds count together. While inserts go on the tree grows by half if there are five rounds of a tenth of
//! the records each: it gets memory, and new tables.

use super::goal::Goal::{self, AtMostMicroseconds};
use super::row::{Field, Of, Row, Run, What};
use crate::catalogue::FLAGSHIP;

/// What 99.999 % of the operations are to take at most, and each of them.
const TAIL: &[Goal] = &[AtMostMicroseconds(100.0)];
const LONGEST: &[Goal] = &[AtMostMicroseconds(500.0)];

/// A race, told by its 99.9 %.
const fn race(name: &'static str, flags: &'static str) -> Row {
    let run = Run { flags, one_in: 1, field: Field::Concurrent, exclusive: false };
    Row { name, of: Of::Run(run), ours: FLAGSHIP, what: What::Within999, goals: &[], note: "99.9 %" }
}

/// The rest of that race.
const fn tail(name: &'static str, of: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Within99999, goals: TAIL, note: "99.999 %" }
}

const fn longest(name: &'static str, of: &'static str) -> Row {
    Row { name, of: Of::Same(of), ours: FLAGSHIP, what: What::Longest, goals: LONGEST, note: "the longest" }
}

/// The rows, in the order in which they are raced.
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

//! The suite `flagship`: the recommended index, `latchless::Index`, compared with `BTreeMap` and the
//! published rivals, one workload per row.

use super::row::{Field, Of, Row, Run, What};
use crate::races::catalogue::{FLAGSHIP, SINGLE_THREADED};

/// The note of rows in which a peer has to loop over its iterator.
pub const PUSHED_DOWN: &str = "pushed down; peers loop";
/// The note of rows that iterate over leaves, or over an iterator if an index shows no leaves.
pub const BY_LEAF: &str = "leaf by leaf; peers loop";

/// Creates a row that compares times.
const fn timed(name: &'static str, flags: &'static str, one_in: usize, field: Field) -> Row {
    Row {
        name,
        of: Of::Run(Run { flags, one_in, field, exclusive: true }),
        ours: FLAGSHIP,
        what: What::Time,
        note: "",
    }
}

impl Row {
    /// Returns the same row with a note.
    const fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

/// Creates a row with the result of the single-threaded form in another row's race.
const fn single_threaded(name: &'static str, row: &'static str) -> Row {
    Row { name, of: Of::Same(row), ours: SINGLE_THREADED, what: What::Time, note: "" }
}

/// Creates a row with the memory per key in another row's race.
const fn bytes(name: &'static str, row: &'static str) -> Row {
    Row { name, of: Of::Same(row), ours: FLAGSHIP, what: What::Bytes, note: "" }
}

/// The rows, in the order in which they are raced and printed.
pub const ROWS: &[Row] = &[
    // Gets.
    timed("get", "--workload get", 1, Field::All),
    timed("chain", "--workload chain", 1, Field::All),
    timed("get-many", "--workload get --batch 1024", 1, Field::All),
    timed("get-many-sorted", "--workload get --batch 65536 --order sorted", 1, Field::All),
    timed("zipf-get", "--workload get --distribution zipf:0.99", 1, Field::All),
    timed("zipf-get-many", "--workload get --distribution zipf:0.99 --batch 1024", 1, Field::All),
    // Updates.
    timed("insert", "--workload insert", 1, Field::All),
    timed("insert-many", "--workload insert --batch 1024", 1, Field::All),
    timed("remove", "--workload remove", 1, Field::All),
    timed("remove-many", "--workload remove --batch 1024", 1, Field::All),
    timed("update", "--workload update", 1, Field::All),
    timed("update-many", "--workload update --batch 1024", 1, Field::All),
    // Ranges through the iterator, for all.
    timed("range-48", "--workload range --scan-length 48", 10, Field::All),
    timed("range-1000", "--workload range --scan-length 1000", 100, Field::All),
    timed("range-100k", "--workload range --scan-length 100000", 10_000, Field::All),
    // Ranges leaf by leaf, and sums within the leaves, which no peer has.
    timed("visit-48", "--workload visit --scan-length 48", 10, Field::All).noted(BY_LEAF),
    timed("sum-48", "--workload sum --scan-length 48", 10, Field::All).noted(PUSHED_DOWN),
    timed("sum-1000", "--workload sum --scan-length 1000", 100, Field::All).noted(PUSHED_DOWN),
    timed("sum-100k", "--workload sum --scan-length 100000", 10_000, Field::All).noted(PUSHED_DOWN),
    timed("sum-range", "--workload sum-range --range-share 0.01", 1000, Field::Baseline).noted(PUSHED_DOWN),
    timed("count", "--workload count --range-share 0.01", 1000, Field::Baseline),
    // Mixes, one thread.
    timed("ycsb-a", "--workload ycsb-a", 1, Field::Concurrent),
    timed("ycsb-b", "--workload ycsb-b", 1, Field::Concurrent),
    timed("ycsb-c", "--workload ycsb-c", 1, Field::Concurrent),
    timed("ycsb-d", "--workload ycsb-d", 1, Field::Concurrent),
    timed("ycsb-e", "--workload ycsb-e", 10, Field::Concurrent),
    timed("ycsb-f", "--workload ycsb-f", 1, Field::Concurrent),
    timed("get-insert", "--workload spiderman-a", 1, Field::Concurrent),
    // Two threads.
    timed("get-2", "--workload get --threads 2", 1, Field::Concurrent),
    timed("get-insert-2", "--workload spiderman-a --threads 2", 1, Field::Concurrent),
    timed("ycsb-a-2", "--workload ycsb-a --threads 2", 1, Field::Concurrent),
    timed("ycsb-b-2", "--workload ycsb-b --threads 2", 1, Field::Concurrent),
    timed("ycsb-c-2", "--workload ycsb-c --threads 2", 1, Field::Concurrent),
    timed("ycsb-d-2", "--workload ycsb-d --threads 2", 1, Field::Concurrent),
    timed("ycsb-e-2", "--workload ycsb-e --threads 2", 10, Field::Concurrent),
    timed("ycsb-f-2", "--workload ycsb-f --threads 2", 1, Field::Concurrent),
    timed("insert-many-2", "--workload insert --batch 1024 --threads 2", 1, Field::Concurrent),
    timed("update-many-2", "--workload update --batch 1024 --threads 2", 1, Field::Concurrent),
    // Bulk loads and bytes.
    timed("load", "--workload load", 1, Field::All),
    bytes("bytes-random", "get"),
    bytes("bytes-loaded", "load"),
    // The single-threaded form, in the same races.
    single_threaded("exclusive-get", "get"),
    single_threaded("exclusive-chain", "chain"),
    single_threaded("exclusive-get-many", "get-many"),
    single_threaded("exclusive-insert", "insert"),
    single_threaded("exclusive-insert-many", "insert-many"),
    single_threaded("exclusive-remove", "remove"),
    single_threaded("exclusive-remove-many", "remove-many"),
    single_threaded("exclusive-update", "update"),
    single_threaded("exclusive-update-many", "update-many"),
    single_threaded("exclusive-range-48", "range-48"),
    single_threaded("exclusive-range-1000", "range-1000"),
    single_threaded("exclusive-range-100k", "range-100k"),
    single_threaded("exclusive-sum-48", "sum-48").noted(PUSHED_DOWN),
    single_threaded("exclusive-sum-1000", "sum-1000").noted(PUSHED_DOWN),
    single_threaded("exclusive-sum-100k", "sum-100k").noted(PUSHED_DOWN),
    single_threaded("exclusive-load", "load"),
];

//! The suite `flagship`: what the index to use has to show, row by row.
//!
//! "×" is how many times as fast: another index's time over ours. Goals over `btreemap` mean the
//! standard library's map filled by the same random inserts.

use super::goal::Goal::{Ahead, BytesPerKey, Faster, Nanoseconds};
use super::row::{Field, Of, Row, Run, What};
use crate::catalogue::{FLAGSHIP, SINGLE_THREADED};

/// At least so many times as fast as the baseline in the same row.
macro_rules! over_btreemap {
    ($times:literal) => {
        Faster { than: "btreemap", in_row: None, times: $times }
    };
}

/// At most 3 % slower than the concurrent form in the same race.
const AS_FAST_AS_CONCURRENT: super::goal::Goal = Faster { than: FLAGSHIP, in_row: None, times: 0.97 };
/// Ahead of every rival that takes updates from many threads.
const AHEAD_OF_CONCURRENT: super::goal::Goal = Ahead { of: Field::Concurrent, times: 1.0 };

/// Of rows in which a peer has to loop over its iterator.
pub const PUSHED_DOWN: &str = "pushed down; peers loop";
/// Of rows that a user writes over leaves, and over an iterator where there is nothing else.
pub const BY_LEAF: &str = "leaf by leaf; peers loop";

/// A row that is raced for its times.
const fn timed(name: &'static str, flags: &'static str, one_in: usize, field: Field) -> Row {
    Row {
        name,
        of: Of::Run(Run { flags, one_in, field, exclusive: true }),
        ours: FLAGSHIP,
        what: What::Time,
        goals: &[],
        note: "",
    }
}

impl Row {
    /// The same row with goals.
    const fn with(self, goals: &'static [super::goal::Goal]) -> Self {
        Self { goals, ..self }
    }

    /// The same row with a note.
    const fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

/// How the single-threaded form did in a race that is in the table already.
const fn single_threaded(name: &'static str, row: &'static str) -> Row {
    Row {
        name,
        of: Of::Same(row),
        ours: SINGLE_THREADED,
        what: What::Time,
        goals: &[AS_FAST_AS_CONCURRENT],
        note: "",
    }
}

/// What a key took in a race that is in the table already.
const fn bytes(name: &'static str, row: &'static str, goals: &'static [super::goal::Goal]) -> Row {
    Row { name, of: Of::Same(row), ours: FLAGSHIP, what: What::Bytes, goals, note: "" }
}

/// The rows, in the order in which they are raced and printed.
pub const ROWS: &[Row] = &[
    // Gets.
    timed("get", "--workload get", 1, Field::All).with(&[over_btreemap!(4.5), AHEAD_OF_CONCURRENT]),
    timed("chain", "--workload chain", 1, Field::All).with(&[over_btreemap!(3.5)]),
    timed("get-many", "--workload get --batch 1024", 1, Field::All).with(&[
        over_btreemap!(18.0),
        Nanoseconds { at_most: 60.0, records: 10_000_000 },
        Nanoseconds { at_most: 100.0, records: 100_000_000 },
        Ahead { of: Field::All, times: 2.5 },
    ]),
    timed("get-many-sorted", "--workload get --batch 65536 --order sorted", 1, Field::All).with(&[Faster {
        than: "btreemap",
        in_row: Some("get"),
        times: 28.0,
    }]),
    timed("zipf-get", "--workload get --distribution zipf:0.99", 1, Field::All)
        .with(&[over_btreemap!(3.5), AHEAD_OF_CONCURRENT]),
    timed("zipf-get-many", "--workload get --distribution zipf:0.99 --batch 1024", 1, Field::All)
        .with(&[over_btreemap!(10.0)]),
    // Updates.
    timed("insert", "--workload insert", 1, Field::All).with(&[over_btreemap!(2.6)]),
    timed("insert-many", "--workload insert --batch 1024", 1, Field::All).with(&[over_btreemap!(5.0)]),
    timed("remove", "--workload remove", 1, Field::All).with(&[over_btreemap!(3.2)]),
    timed("remove-many", "--workload remove --batch 1024", 1, Field::All).with(&[over_btreemap!(7.0)]),
    timed("update", "--workload update", 1, Field::All).with(&[over_btreemap!(3.5)]),
    timed("update-many", "--workload update --batch 1024", 1, Field::All).with(&[over_btreemap!(11.0)]),
    // Ranges through the iterator, for all.
    timed("range-48", "--workload range --scan-length 48", 10, Field::All)
        .with(&[over_btreemap!(3.0), Ahead { of: Field::All, times: 1.0 }]),
    timed("range-1000", "--workload range --scan-length 1000", 100, Field::All)
        .with(&[over_btreemap!(5.0), Ahead { of: Field::All, times: 1.0 }]),
    timed("range-100k", "--workload range --scan-length 100000", 10_000, Field::All)
        .with(&[over_btreemap!(8.3), Ahead { of: Field::All, times: 1.0 }]),
    // Ranges leaf by leaf, and sums within the leaves: no peer has either.
    timed("visit-48", "--workload visit --scan-length 48", 10, Field::All).noted(BY_LEAF),
    timed("sum-48", "--workload sum --scan-length 48", 10, Field::All)
        .noted(PUSHED_DOWN)
        .with(&[over_btreemap!(5.0), Ahead { of: Field::All, times: 1.0 }]),
    timed("sum-1000", "--workload sum --scan-length 1000", 100, Field::All)
        .noted(PUSHED_DOWN)
        .with(&[over_btreemap!(20.0), Ahead { of: Field::All, times: 1.0 }]),
    timed("sum-100k", "--workload sum --scan-length 100000", 10_000, Field::All)
        .noted(PUSHED_DOWN)
        .with(&[over_btreemap!(25.0), Ahead { of: Field::All, times: 1.0 }]),
    timed("sum-range", "--workload sum-range --range-share 0.01", 1000, Field::Baseline).noted(PUSHED_DOWN),
    timed("count", "--workload count --range-share 0.01", 1000, Field::Baseline).with(&[Faster {
        than: FLAGSHIP,
        in_row: Some("sum-range"),
        times: 5.0,
    }]),
    // Mixes, one thread.
    timed("ycsb-a", "--workload ycsb-a", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-b", "--workload ycsb-b", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-c", "--workload ycsb-c", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-d", "--workload ycsb-d", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-e", "--workload ycsb-e", 10, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-f", "--workload ycsb-f", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("get-insert", "--workload spiderman-a", 1, Field::Concurrent),
    // Two threads.
    timed("get-2", "--workload get --threads 2", 1, Field::Concurrent).with(&[Faster {
        than: FLAGSHIP,
        in_row: Some("get"),
        times: 1.85,
    }]),
    timed("get-insert-2", "--workload spiderman-a --threads 2", 1, Field::Concurrent).with(&[Faster {
        than: FLAGSHIP,
        in_row: Some("get-insert"),
        times: 1.7,
    }]),
    timed("ycsb-a-2", "--workload ycsb-a --threads 2", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-b-2", "--workload ycsb-b --threads 2", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-c-2", "--workload ycsb-c --threads 2", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-d-2", "--workload ycsb-d --threads 2", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-e-2", "--workload ycsb-e --threads 2", 10, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("ycsb-f-2", "--workload ycsb-f --threads 2", 1, Field::Concurrent).with(&[AHEAD_OF_CONCURRENT]),
    timed("insert-many-2", "--workload insert --batch 1024 --threads 2", 1, Field::Concurrent),
    timed("update-many-2", "--workload update --batch 1024 --threads 2", 1, Field::Concurrent),
    // Bulk loads and bytes.
    timed("load", "--workload load", 1, Field::All).with(&[over_btreemap!(2.0)]),
    bytes("bytes-random", "get", &[BytesPerKey(25.0)]),
    bytes("bytes-loaded", "load", &[BytesPerKey(18.5)]),
    // The single-threaded form, in the same races.
    Row {
        goals: &[AS_FAST_AS_CONCURRENT, Faster { than: "brie-tree", in_row: None, times: 1.0 }],
        ..single_threaded("exclusive-get", "get")
    },
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

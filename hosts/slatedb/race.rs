//! Both memtables in one program: the time of a put, a read, a row of an iteration, and a seek, alternately.
//!
//!   hosts/slatedb/run race

use crate::types::RowEntry;
use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 200_000;
const ROUNDS: usize = 5;
const SEEKS: usize = 20_000;

/// Numbers that look random, each once.
fn shuffled() -> impl Iterator<Item = u64> {
    (0..ROWS as u64).map(|at| at * 7_919 % ROWS as u64)
}

fn keys(kind: &str) -> Vec<Bytes> {
    let of = |key: String| Bytes::from(key.into_bytes());
    match kind {
        "texts in order" => (0..ROWS).map(|number| of(format!("key-{number:012}"))).collect(),
        "texts at random" => shuffled().map(|number| of(format!("user-{number:016}"))).collect(),
        _ => shuffled()
            .map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .map(|number| Bytes::copy_from_slice(&number.to_be_bytes()))
            .collect(),
    }
}

/// Nanoseconds of a put, a read, a row of a whole iteration, and a seek in an iteration.
macro_rules! round {
    ($table:ty, $keys:expr) => {{
        let (table, keys) = (<$table>::new(), $keys);
        let begun = Instant::now();
        for (seq, key) in keys.iter().enumerate() {
            table.put(RowEntry::new_value(key, &[7; 100], seq as u64 + 1));
        }
        let put = begun.elapsed();
        let begun = Instant::now();
        for key in keys.iter().step_by(2) {
            let row = table.range_ascending(key..=key).next_sync();
            black_box(row.expect("a key that is there"));
        }
        let get = begun.elapsed() * 2;
        let begun = Instant::now();
        let mut rows = table.iter();
        let mut seen = 0;
        while let Some(row) = rows.next_sync() {
            black_box(row);
            seen += 1;
        }
        assert_eq!(seen, ROWS);
        let iterate = begun.elapsed();
        let begun = Instant::now();
        for key in keys.iter().take(SEEKS) {
            let mut rows = table.range_ascending(key.clone()..);
            (0..10).for_each(|_| _ = black_box(rows.next_sync()));
        }
        let seek = begun.elapsed() * (ROWS / SEEKS) as u32;
        [put, get, iterate, seek].map(|time| time.as_nanos() as f64 / ROWS as f64)
    }};
}

fn median(rounds: &[[f64; 4]], at: usize) -> f64 {
    let mut times: Vec<_> = rounds.iter().map(|round| round[at]).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
#[ignore = "a measurement: hosts/slatedb/run race"]
fn both_memtables() {
    for kind in ["texts in order", "texts at random", "numbers at random"] {
        let keys = keys(kind);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(round!(crate::skip_list::KVTable, &keys));
            ours.push(round!(crate::mem_table::KVTable, &keys));
        }
        for (at, what) in ["put", "get", "iterate", "range of ten"].into_iter().enumerate() {
            let (theirs, ours) = (median(&theirs, at), median(&ours, at));
            println!(
                "{kind:18} {what:12} skip list {theirs:7.0} ns, latchless {ours:7.0} ns, {:.2}",
                ours / theirs
            );
        }
    }
}

//! Measures one operation: two commits of the library can both build this program, so that
//! `crates/bench/compare.py` can race them and count their instructions. It uses no API that changes often.
//!
//! ```text
//! cargo run --release -p latchless --example witness -- get 1000000
//! ```
//!
//! Fills an index with as many random keys, one by one, and prints the nanoseconds of one operation. `none`
//! only fills the index: its instruction count under valgrind is that of the filling.

use latchless::Index;
use std::hint::black_box;
use std::time::Instant;

/// Requests per batch.
const BATCH: usize = 1024;

/// Returns the `at`th of as many different keys as there are, in no order.
fn key(at: u64) -> u64 {
    let mut key = at.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    key = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key = (key ^ key >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ key >> 31
}

/// Returns the sum of the values of so many entries from `low` on.
fn scan(index: &Index<u64, u64>, low: u64, entries: usize) -> u64 {
    let range = index.range(low..);
    range.take(entries).fold(0, |sum, (_, value)| sum.wrapping_add(value))
}

/// Runs the operation with all of `asked` or of `new`, and returns the number of operations.
fn run(operation: &str, index: &Index<u64, u64>, asked: &[u64], new: &[u64]) -> usize {
    let mut values = vec![None; BATCH];
    match operation {
        "none" => return 1,
        "get" => asked.iter().for_each(|&key| _ = black_box(index.get(key))),
        "chain" => {
            // Each key comes from the previous answer, which is the key itself.
            let start = 0;
            black_box(asked.iter().fold(start, |last: u64, &key| {
                index.get(key ^ black_box(last)).map_or(1, |value| value ^ key)
            }));
        }
        "get-many" => asked.chunks(BATCH).for_each(|batch| {
            _ = black_box(index.get_many(batch, &mut values[..batch.len()]));
        }),
        "insert" => new.iter().for_each(|&key| _ = black_box(index.insert(key, key))),
        "insert-many" => {
            let entries: Vec<(u64, u64)> = new.iter().map(|&key| (key, key)).collect();
            entries.chunks(BATCH).for_each(|batch| {
                _ = black_box(index.insert_many(batch, &mut values[..batch.len()]));
            });
        }
        "update" => asked.iter().for_each(|&key| _ = black_box(index.insert(key, key))),
        "remove" => asked.iter().for_each(|&key| _ = black_box(index.remove(key))),
        "range-48" | "range-1000" => {
            let entries = if operation == "range-48" { 48 } else { 1000 };
            let ranges = asked.len() / entries;
            asked[..ranges].iter().for_each(|&low| _ = black_box(scan(index, low, entries)));
            return ranges * entries;
        }
        _ => {
            panic!("none, get, chain, get-many, insert, insert-many, update, remove, range-48 or range-1000")
        }
    }
    asked.len()
}

fn main() {
    let mut words = std::env::args().skip(1);
    let operation = words.next().unwrap_or_else(|| "get".into());
    let records: u64 =
        words.next().map_or(1_000_000, |records| records.parse().expect("a number of entries"));
    let index = Index::new().expect("address space");
    for at in 0..records {
        index.insert(key(at), key(at)).expect("memory");
    }
    // Loaded keys in another order than that of their inserts, each once, and as many new ones.
    let asked: Vec<u64> = (0..records / 4).map(|at| key((at * 4 + 1) * 2_654_435_761 % records)).collect();
    let new: Vec<u64> = (records..records + records / 4).map(key).collect();
    let start = Instant::now();
    let operations = run(&operation, &index, &asked, &new);
    println!("{:.2} {operations}", start.elapsed().as_nanos() as f64 / operations as f64);
}

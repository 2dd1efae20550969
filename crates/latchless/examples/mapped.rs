//! An index in a file, read where it lies: the times of opening it and of lookups, beside an `Index` and a
//! binary search in a slice.
//!
//! `cargo run --release -p latchless --features snapshot --example mapped [ENTRIES [FILE]]`

use latchless::snapshot::{DataType, Layout, Mapped};
use latchless::{FillFactor, Index};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Lookups that are timed.
const LOOKUPS: usize = 1 << 20;

/// The key at a position: gaps of differing length, so that no position can be computed from a key.
fn key(at: u64) -> u64 {
    at * 1_000 + at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000
}

/// What a closure returns, and how long it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = run();
    (done, start.elapsed())
}

/// Prints nanoseconds per lookup.
fn report(name: &str, took: Duration) {
    println!("{name:<28} {:>8.1} ns", took.as_nanos() as f64 / LOOKUPS as f64);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let entries = match arguments.next() {
        Some(given) => given.to_str().ok_or("ENTRIES is a number")?.parse()?,
        None => 1_000_000,
    };
    let usual = std::env::temp_dir().join("latchless-mapped.arrow");
    let path = arguments.next().map_or(usual, PathBuf::from);
    let rows = (0..entries).map(|at| (key(at), at));
    let (saved, took) = timed(|| Layout::new(DataType::UInt64, DataType::UInt64).save_rows(&path, rows));
    let bytes = std::fs::metadata(&path)?.len() as f64 / saved? as f64;
    println!("{entries} entries saved in {took:.1?}, {bytes:.3} bytes each");

    // SAFETY: the file was just made, and nothing changes it.
    let (mapped, took) = timed(|| unsafe { Mapped::<u64, u64>::open(&path) });
    let mapped = mapped?;
    println!("opened in {took:.1?}");
    let (first, took) = timed(|| mapped.get(key(entries / 3)));
    println!("first lookup in {took:.1?}: {:?}", first?);

    let positions = (0..LOOKUPS as u64).map(|at| at.wrapping_mul(0xd134_2543_de82_ef95) >> 20);
    let keys: Vec<u64> = positions.map(|at| key(at % entries)).collect();
    let mut answers = vec![None; LOOKUPS];
    for round in ["the first time", "again"] {
        let (sum, took) =
            timed(|| keys.iter().try_fold(0, |sum, &key| Ok(sum ^ mapped.get(key)?.unwrap_or(0))));
        black_box(sum.map_err(|error: latchless::snapshot::Error| error)?);
        report(&format!("mapped get, {round}"), took);
    }
    let (done, took) = timed(|| mapped.get_many(&keys, &mut answers));
    done?;
    report("mapped get_many", took);

    let sorted: Vec<(u64, u64)> = (0..entries).map(|at| (key(at), at)).collect();
    let found = |key: &u64| sorted.binary_search_by_key(key, |&(key, _)| key).map_or(0, |at| sorted[at].1);
    let (sum, took) = timed(|| keys.iter().fold(0, |sum, key| sum ^ found(key)));
    black_box(sum);
    report("binary search in a slice", took);

    let mut index = Index::<u64, u64>::new()?;
    index.bulk_load_by(sorted.len(), |at| sorted[at], FillFactor::FULL, NonZeroUsize::MIN)?;
    drop(sorted);
    let (sum, took) = timed(|| keys.iter().fold(0, |sum, &key| sum ^ index.get(key).unwrap_or(0)));
    black_box(sum);
    report("Index get", took);
    let (done, took) = timed(|| index.get_many(&keys, &mut answers));
    done?;
    report("Index get_many", took);
    Ok(())
}

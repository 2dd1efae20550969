//! An index that outlives its process: saved while another thread writes, and opened again.
//!
//! `cargo run --release -p latchless --features snapshot --example snapshot [FILE]`

use latchless::{Index, snapshot};
use std::path::PathBuf;
use std::thread;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usual = std::env::temp_dir().join("latchless-example.arrow");
    let path = std::env::args_os().nth(1).map_or(usual, PathBuf::from);

    let trades = Index::<u64, f64>::new()?;
    for time in 0..100_000 {
        trades.insert(time, 100.0 + (time % 17) as f64)?;
    }
    thread::scope(|threads| {
        let writer =
            threads.spawn(|| (100_000..200_000).try_for_each(|time| trades.insert(time, 200.0).map(drop)));
        // Contains the first 100,000 entries, which don't change meanwhile, and some of the others.
        let saved = snapshot::save(&trades, &path)?;
        println!("{saved} entries in {}", path.display());
        writer.join().expect("the writer doesn't panic")?;
        Ok::<(), snapshot::Error>(())
    })?;

    let again: Index<u64, f64> = snapshot::open(&path)?;
    println!("the last trade up to 99,999: {:?}", again.floor(99_999));
    assert!(again.iter().take(100_000).eq(trades.iter().take(100_000)));
    Ok(())
}

//! A memtable: writers insert versions of items while readers look up the newest one, and at the end it
//! yields a sorted run. `cargo run --release -p latchless --example quickstart`

use latchless::index::Options;
use latchless::{FillFactor, Index};

/// An item and its version, newest first: the complement of a sequence number.
type Version = (u32, u32);

/// Returns the newest value of an item.
fn newest(memtable: &Index<Version, u64>, item: u32) -> Option<u64> {
    let ((found, _), value) = memtable.ceiling((item, 0))?;
    (found == item).then_some(value)
}

fn main() -> latchless::Result<()> {
    // The memtable never exceeds 64 MiB: an insert beyond that returns an error, and nothing is lost.
    let options = Options { limit_bytes: Some(64 << 20), ..Options::default() };
    let memtable = Index::<Version, u64>::with_options(options)?;

    std::thread::scope(|threads| {
        let writers = (0..4u32).map(|writer| {
            let memtable = &memtable;
            threads.spawn(move || -> latchless::Result<()> {
                for sequence in (writer..40_000).step_by(4) {
                    let (item, value) = (sequence % 1000, u64::from(sequence) * 10);
                    memtable.insert((item, !sequence), value)?;
                    // Every thread sees a write at once.
                    assert!(newest(memtable, item) >= Some(value));
                }
                Ok(())
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no panic"))
    })?;

    assert_eq!(memtable.len(), 40_000);
    assert_eq!(newest(&memtable, 7), Some(390_070));
    assert_eq!(newest(&memtable, 1000), None);
    println!("item 7 has {} versions", memtable.count((7, 0)..=(7, u32::MAX)));

    // Flush: the newest version of each item, in order, packed into another index.
    let mut run: Vec<(u32, u64)> = memtable.iter().map(|((item, _), value)| (item, value)).collect();
    run.dedup_by_key(|&mut (item, _)| item);
    let flushed = Index::from_sorted(&run, FillFactor::FULL)?;
    memtable.clear();
    println!("{} items flushed, {} bytes each", flushed.len(), flushed.memory_bytes() / flushed.len());
    for (item, value) in flushed.range(100..103) {
        println!("item {item}: {value}");
    }
    Ok(())
}

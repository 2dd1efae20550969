//! A long range, page by page into the caller's buffers: the scan pauses when they are full and resumes
//! where it stopped. `cargo run --release -p latchless-papers --example paused_scan`

use latchless_core::{Direction, FillFactor};
use latchless_papers::pb_tree::PInternalTree;

/// Entries a page.
const PAGE: usize = 1_000;

fn main() -> latchless_papers::Result<()> {
    // A million readings, one every three seconds, signed to show that any fixed-width key will do.
    let readings: Vec<(i64, f64)> =
        (-500_000..500_000).map(|tick| (3 * tick, (tick as f64 / 1e4).sin())).collect();
    let map = PInternalTree::<i64, f64, 8>::from_sorted(&readings, FillFactor::FULL)?;

    // Both buffers are made once; the scan allocates nothing for its pages.
    let (mut times, mut values) = (vec![0; PAGE], vec![0.0; PAGE]);
    let mut scan = map.scanner(-30_000..=30_000, Direction::Forward)?;
    let (mut pages, mut entries, mut largest) = (0, 0, (0, f64::MIN));
    loop {
        let found = scan.fill(&mut times, &mut values)?;
        if found == 0 {
            break; // The range has ended.
        }
        pages += 1;
        entries += found;
        for (&time, &value) in times[..found].iter().zip(&values) {
            if value > largest.1 {
                largest = (time, value);
            }
        }
        // Between two pages the caller can do anything else: send this page, read a clock.
    }
    println!("{entries} entries in {pages} pages; the largest, {:.4}, at {} s", largest.1, largest.0);
    assert_eq!((entries, pages), (20_001, 21));

    // Downwards it works the same way; here for the last page alone, and without the keys.
    let mut last = map.scanner(..=30_000, Direction::Reverse)?;
    let found = last.fill_values(&mut values)?;
    println!("mean of the last {found}: {:.4}", values[..found].iter().sum::<f64>() / found as f64);
    Ok(())
}

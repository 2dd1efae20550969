//! CSSL: ranges of positions that are counted without a visit, and read by several threads.
//! `cargo run --release -p latchless-papers --example counted_ranges`

use latchless_papers::cssl::CsslMap;

fn main() -> latchless_papers::Result<()> {
    // A million positions with a quality each; gaps of one to seven.
    let mut position = 0;
    let variants: Vec<(u32, u32)> = (0..1_000_000u32)
        .map(|nth| {
            position += 1 + nth.wrapping_mul(2_654_435_761) % 7;
            (position, nth % 100)
        })
        .collect();
    let map = CsslMap::from_sorted(&variants)?;

    // Positions in the lanes are ranks: two descents count a range, however long.
    let region = 1_000_000..2_000_000;
    let count = map.count(region.clone())?;
    let pinned = map.pin();
    let run = pinned.range(region.clone())?;
    println!("{count} variants in {region:?}, from {:?} to {:?}", run.first(), run.last());
    assert_eq!(count, run.count());

    // Each of two threads reads a half with as many entries.
    let pieces = map.cut(region.clone(), 2)?;
    let of_pieces: Vec<usize> = pieces.into_iter().map(|piece| map.count(piece)).collect::<Result<_, _>>()?;
    println!("cut for two threads: {of_pieces:?}");
    assert!(of_pieces.iter().all(|&entries| entries > count / 3));
    let best =
        map.fold_on_threads(region.clone(), 2, || 0, |best, _, quality| quality.max(best), u32::max)?;
    let copied = map.copy_on_threads(region.clone(), 2)?;
    println!("the best quality is {best}; {} were copied", copied.len());
    assert_eq!((best, copied.len()), (99, count));

    drop(pinned);

    // The map is shared: a thread inserts while others read, and the lanes are rebuilt when it is time.
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for nth in 0..50_000 {
                map.insert(8_000_000 + nth, 1).expect("there is memory for it");
            }
        });
        assert_eq!(map.count(region), Ok(count));
    });
    assert_eq!(map.len(), 1_050_000);
    Ok(())
}

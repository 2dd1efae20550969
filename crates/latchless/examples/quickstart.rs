//! An ordered map in main memory, in ten lines: `cargo run -p latchless --example quickstart`

use latchless::variants::pb_tree::PInternalTree;

fn main() -> latchless::Result<()> {
    let mut prices = PInternalTree::<u64, u32, 8>::new()?;
    for (item, price) in [(101, 7), (99, 5), (105, 3), (250, 9)] {
        prices.insert(item, price)?;
    }
    assert_eq!(prices.get(99), Some(5));
    assert_eq!(prices.floor(104), Some((101, 7)));
    assert_eq!(prices.remove(101), Some(7));
    for (item, price) in prices.range(100..200)? {
        println!("item {item} costs {price}"); // item 105 costs 3
    }
    Ok(())
}

//! An index join: for each row of one table, the matching row of another. Single lookups wait for memory one
//! after the other; in batches the cache misses overlap.
//! `cargo run --release -p latchless --example join`

use latchless::Index;
use std::time::Instant;

/// Customers, each with a discount in percent.
const CUSTOMERS: u64 = 2_000_000;
/// Orders, each of a customer that may not exist.
const ORDERS: usize = 2_000_000;
/// Orders that are joined at a time.
const BATCH: usize = 1024;

/// An order: its customer and its amount.
type Order = (u64, u64);

/// Distributes numbers over all of 64 bits.
fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn one_by_one(customers: &Index<u64, u8>, orders: &[Order]) -> (usize, u64) {
    let matches = orders.iter().filter_map(|&(customer, amount)| Some((customers.get(customer)?, amount)));
    matches.fold((0, 0), |(rows, sum), (discount, amount)| (rows + 1, sum + amount * u64::from(discount)))
}

fn in_batches(customers: &Index<u64, u8>, orders: &[Order]) -> latchless::Result<(usize, u64)> {
    let (mut rows, mut sum) = (0, 0);
    // Both buffers are allocated once.
    let (mut keys, mut discounts) = (Vec::with_capacity(BATCH), [None; BATCH]);
    for batch in orders.chunks(BATCH) {
        keys.clear();
        keys.extend(batch.iter().map(|&(customer, _)| customer));
        customers.get_many(&keys, &mut discounts[..keys.len()])?;
        for (&(_, amount), discount) in batch.iter().zip(&discounts) {
            if let Some(discount) = *discount {
                rows += 1;
                sum += amount * u64::from(discount);
            }
        }
    }
    Ok((rows, sum))
}

fn main() -> latchless::Result<()> {
    let customers: Index<u64, u8> =
        (0..CUSTOMERS).map(|number| (scramble(number), (number % 30) as u8)).collect();
    let orders: Vec<Order> =
        (0..ORDERS as u64).map(|order| (scramble(order * 7919 % (CUSTOMERS + 1000)), order % 100)).collect();

    let start = Instant::now();
    let single = one_by_one(&customers, &orders);
    let single_time = start.elapsed();
    let start = Instant::now();
    let batched = in_batches(&customers, &orders)?;
    let batched_time = start.elapsed();

    assert_eq!(single, batched);
    println!("{} of {ORDERS} orders have a customer; discounts of {}", batched.0, batched.1 / 100);
    println!("one by one {single_time:.2?}, in batches of {BATCH} {batched_time:.2?}");
    Ok(())
}

//! An order book: orders by their number, and by price and time, for matching.
//!
//! Run with `cargo run --release --example orders`.

use latchless::table::{Batch, NonUnique, Table, TableError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// An offer to sell.
#[derive(Debug, Clone)]
struct Order {
    number: u64,
    price: u32,
    time: u64,
    amount: u32,
}

/// The orders, in the order in which they are matched.
struct Book {
    orders: Table<u64, Order>,
    by_price: NonUnique<((u32, u64), u64), Order>,
}

impl Book {
    fn new() -> latchless::Result<Self> {
        let mut builder = Table::builder(|order: &Order| order.number);
        let by_price = builder.index("price and time", |order| (order.price, order.time))?;
        Ok(Self { orders: builder.build()?, by_price })
    }

    /// Buys an amount at no more than a price, all orders in one commit, and returns what was bought.
    fn buy(&self, mut wanted: u32, limit: u32) -> Result<u32, TableError<Order>> {
        let (mut bought, mut trade) = (0, Batch::new());
        for order in self.by_price.snapshot().range(..=(limit, u64::MAX)) {
            if wanted == 0 {
                break;
            }
            let taken = wanted.min(order.amount);
            match order.amount - taken {
                0 => trade.remove(order.number),
                amount => trade.replace(Order { amount, ..(*order).clone() }),
            };
            (wanted, bought) = (wanted - taken, bought + taken);
        }
        self.orders.commit(trade)?;
        Ok(bought)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (book, bought, is_over) = (Book::new()?, AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // One thread sells, one buys: commits are serial, and only one thread matches.
        scope.spawn(|| {
            for number in 0..100_000 {
                let order = Order { number, price: 100 + (number * 7 % 50) as u32, time: number, amount: 10 };
                book.orders.insert(order).expect("a new number");
            }
            is_over.store(true, Ordering::Release);
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                let amount = book.buy(25, 120).expect("memory for a trade");
                bought.fetch_add(amount.into(), Ordering::Relaxed);
            }
        });
        // A reader sees each moment whole: the sum over one index is that over the other.
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                let now = book.orders.snapshot();
                let all = now.fold(.., 0, |sum, _, order| sum + u64::from(order.amount));
                let by_price = book.by_price.at(&now).iter().map(|order| u64::from(order.amount)).sum();
                assert_eq!(all, by_price);
            }
        });
    });
    let best = book.by_price.snapshot().iter().next();
    println!(
        "{} bought, {} orders are left; the best of them: {best:?}",
        bought.into_inner(),
        book.orders.len()
    );
    Ok(())
}

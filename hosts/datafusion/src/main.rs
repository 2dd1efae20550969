//! A million orders in an index, and queries in SQL, while a thread goes on inserting orders.

use datafusion::common::Result;
use datafusion::prelude::SessionContext;
use latchless::Index;
use latchless_datafusion::IndexTable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// An order's key: its customer, and which of the customer's orders it is.
fn order(customer: u64, number: u64) -> u64 {
    customer << 16 | number
}

const CUSTOMERS: u64 = 100_000;

/// Ten orders of each customer; a value is the amount paid.
fn orders() -> Result<Index<u64, u64>, latchless::Error> {
    let index = Index::new()?;
    for number in 0..10 {
        for customer in 0..CUSTOMERS {
            index.insert(order(customer, number), 100 + (customer * 31 + number * 17) % 900)?;
        }
    }
    Ok(index)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let index = Arc::new(orders()?);
    let context = SessionContext::new();
    context.register_table("orders", Arc::new(IndexTable::new(Arc::clone(&index))))?;

    let is_over = Arc::new(AtomicBool::new(false));
    let writer = {
        let (index, is_over) = (Arc::clone(&index), Arc::clone(&is_over));
        thread::spawn(move || {
            let mut taken = 0;
            while !is_over.load(Ordering::Relaxed) {
                index.insert(order(taken % CUSTOMERS, 10 + taken / CUSTOMERS), 1)?;
                taken += 1;
            }
            Ok::<_, latchless::Error>(taken)
        })
    };

    let (first, last) = (order(4711, 0), order(4711, 0xFFFF));
    let questions = [
        "SELECT count(*) AS orders, sum(value) AS paid FROM orders WHERE value > 1".to_owned(),
        format!(
            "SELECT key % 65536 AS number, value FROM orders WHERE key BETWEEN {first} AND {last} AND value > 1"
        ),
        format!("EXPLAIN SELECT value FROM orders WHERE key BETWEEN {first} AND {last} ORDER BY key LIMIT 3"),
        format!("SELECT key, value FROM orders WHERE key IN ({}, {}, 7)", order(1, 0), order(99_999, 9)),
        "SELECT key >> 16 AS customer, sum(value) AS paid FROM orders WHERE value > 1
         GROUP BY customer ORDER BY paid DESC, customer LIMIT 3"
            .to_owned(),
    ];
    for question in questions {
        println!("{question}");
        context.sql(&question).await?.show().await?;
    }

    is_over.store(true, Ordering::Relaxed);
    let taken = writer.join().expect("the writer doesn't panic")?;
    println!("meanwhile {taken} orders were taken in");
    Ok(())
}

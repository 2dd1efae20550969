//! The memory that each index of a table takes per row.
//!
//! ```text
//! cargo run --release -p latchless --example table_bytes -- 1000000
//! ```

use latchless::table::{Builder, Table, TableError};

#[derive(Debug, Clone)]
struct Account {
    id: u64,
    /// 21 bytes.
    email: String,
    country: u32,
}

/// Fills the table that `builder` makes and returns its bytes per row.
fn bytes_per_row(rows: u64, builder: Builder<u64, Account>) -> Result<f64, TableError<Account>> {
    let table = builder.build()?;
    for at in 0..rows {
        // In no order.
        let id = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let email = format!("{:09}@example.org", id % 1_000_000_007);
        table.insert(Account { id, email, country: id as u32 % 200 })?;
    }
    Ok(table.memory_bytes() as f64 / rows as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(100_000), |rows| rows.parse())?;
    let by_id = || Table::builder(|account: &Account| account.id);
    let primary = bytes_per_row(rows, by_id())?;
    let mut builder = by_id();
    builder.unique("email", |account| account.email.clone())?;
    let unique = bytes_per_row(rows, builder)? - primary;
    let mut builder = by_id();
    builder.index("country", |account| account.country)?;
    let other = bytes_per_row(rows, builder)? - primary;
    println!("primary key of 64 bits: {primary:.0} bytes per row");
    println!("unique index by strings of 21 bytes: {unique:.0} more");
    println!("index by a u32: {other:.0} more");
    Ok(())
}

//! Every concurrent index, with many threads: histories must be linearizable, scans must miss nothing,
//! memory must be freed. And indexes that are broken on purpose, which each of these tests must detect.
//!
//! `LATCHLESS_EFFORT=N` multiplies the amount of work by N (by default 0.5), `LATCHLESS_SUBJECT=bytes` tests
//! only that index.

mod broken;
mod broken_order;
mod bytes;
mod churn;
mod driver;
mod flagship;
mod history;
mod limits;
mod linearizable;
mod memory;
mod ordered;
mod passing;
mod reference;
mod scans;
mod stamps;
mod storms;
mod straddling;
mod subject;
mod subjects;
mod unchanged;
mod whole;

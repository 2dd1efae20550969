//! Every index that takes updates from many threads, under many threads: histories that must be
//! linearizable, scans that must not miss, memory that must come back. And indexes that are broken
//! on purpose, which each of these must find out.
//!
//! `LATCHLESS_EFFORT=N` does N times as much of everything (by default a half), `LATCHLESS_SUBJECT=bytes`
//! tests that index alone.

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

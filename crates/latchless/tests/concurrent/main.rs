//! Every index that takes updates from many threads, under many threads: histories that must be
//! linearizable, scans that must not miss, memory that must come back. And indexes that are broken
//! on purpose, which each of these must find out.
//!
//! `LATCHLESS_EFFORT=N` does N times as much of everything (by default a half), `LATCHLESS_SUBJECT=b-ol`
//! tests that index alone. With `--no-default-features` and `--cfg latchless_alone` the flagship's subjects
//! are built alone.

// Loads the crate, without which the compiler shares none of its instances.
use latchless_conformance as _;

mod broken;
mod broken_order;
mod bytes;
mod churn;
#[cfg(feature = "cssl")]
mod cssl;
mod driver;
#[cfg(feature = "olfit")]
mod duplicates;
mod flagship;
mod history;
mod linearizable;
mod memory;
#[cfg(any(feature = "cssl", feature = "olfit"))]
mod narrow;
#[cfg(feature = "olfit")]
mod olfit;
mod ordered;
mod passing;
#[cfg(feature = "pi")]
mod pi;
mod reference;
mod scans;
#[cfg(feature = "spiderman")]
mod spiderman;
mod stamps;
mod storms;
mod straddling;
mod subject;
mod unchanged;
mod whole;

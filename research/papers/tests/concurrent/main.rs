//! The papers' structures with concurrent updates, under the product's own tests of many threads:
//! linearizable histories, complete scans, reclaimed memory.
//!
//! `LATCHLESS_EFFORT=N` does N times as much of everything (by default a quarter), `LATCHLESS_SUBJECT=b-ol`
//! tests that structure alone.

#[path = "../../../../crates/latchless/tests/concurrent/broken.rs"]
mod broken;
#[path = "../../../../crates/latchless/tests/concurrent/churn.rs"]
mod churn;
mod cssl;
#[path = "../../../../crates/latchless/tests/concurrent/driver.rs"]
mod driver;
mod duplicates;
#[path = "../../../../crates/latchless/tests/concurrent/history.rs"]
mod history;
mod limits;
#[path = "../../../../crates/latchless/tests/concurrent/linearizable.rs"]
mod linearizable;
#[path = "../../../../crates/latchless/tests/concurrent/memory.rs"]
mod memory;
mod narrow;
mod olfit;
mod pi;
#[path = "../../../../crates/latchless/tests/concurrent/reference.rs"]
mod reference;
#[path = "../../../../crates/latchless/tests/concurrent/scans.rs"]
mod scans;
mod spiderman;
#[path = "../../../../crates/latchless/tests/concurrent/stamps.rs"]
mod stamps;
#[path = "../../../../crates/latchless/tests/concurrent/storms.rs"]
mod storms;
#[path = "../../../../crates/latchless/tests/concurrent/subject.rs"]
#[expect(dead_code, reason = "neighbours and leaves are operations of the index alone")]
mod subject;
mod subjects;

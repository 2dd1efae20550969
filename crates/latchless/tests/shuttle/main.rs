//! The index itself, with nodes of four entries, under a scheduler that chooses the next thread at every
//! access to a node's word and at every operation on a latch. It is sequentially consistent; the loom
//! models, in the core crate's `tests/loom`, include what weaker memory allows, but only of parts of the
//! index.
//!
//! `.ci/run shuttle` runs them. Every schedule with up to a number of preemptions is run; for longer
//! histories some random ones are. A failure prints the schedule, and `shuttle::replay` runs it again.
#![cfg(latchless_shuttle)]

mod bounded;
mod bytes;
mod counts;
mod drawn;
mod history;
mod nearest;
mod scenes;
mod schedules;
mod steps;
mod subject;

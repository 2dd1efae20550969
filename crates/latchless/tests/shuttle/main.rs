//! The index itself, of nodes of four entries, under a scheduler that chooses at every access to a node's
//! word and at every operation on a latch which thread goes on (sequentially consistent; loom, in
//! `tests/loom`, knows what weaker memory allows, but models parts alone).
//!
//! `.ci/run shuttle` runs them. Up to a number of preemptions every schedule is run; of longer histories some
//! are drawn. A failure names the schedule, and `shuttle::replay` runs it again.
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

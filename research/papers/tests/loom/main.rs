//! The papers' own protocols, model-checked: loom runs every interleaving (up to a number of preemptions)
//! with every value that the memory model lets a load return.
//!
//! Run by `.ci/run loom`. Each rule of the protocols has a mutation that breaks it, and loom must find that.
//! The bound is three preemptions; `LOOM_MAX_PREEMPTIONS` sets another.
#![cfg(loom)]

mod epochs;
// The same model of a latched node as in the tests of core's latch.
#[path = "../../../../crates/core/tests/loom/latches.rs"]
#[expect(dead_code, reason = "a part of the model serves the papers' lists")]
mod latches;
mod list;
#[path = "../../../../crates/core/tests/loom/schedules.rs"]
mod schedules;
mod shared;
mod unlinked;

use schedules::race;

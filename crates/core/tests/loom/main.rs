//! The latch and the protocols on top of it, model-checked: loom runs every interleaving (up to a
//! number of preemptions) with every value that the memory model lets a load return.
//!
//! Run by `.ci/run loom`.
//!
//! Each rule of the protocols has a mutation that breaks it, and loom must find that. The bound is
//! three preemptions; `LOOM_MAX_PREEMPTIONS` sets another.
#![cfg(loom)]

mod blocks;
mod counts;
mod latches;
mod leaves;
mod one_node;
mod passed;
mod schedules;

use schedules::{both, check, race};

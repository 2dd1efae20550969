//! Every variant through the trait that all share: against a model, and against bad input.

// Loads the crate, without which the compiler shares none of its instances.
use latchless_conformance as _;

mod common;
mod duplicates;
mod model;
mod multiplexed;
mod refusals;
mod requests;
mod shared;
mod short;
mod touch;

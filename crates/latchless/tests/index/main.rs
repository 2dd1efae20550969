//! Every variant through the trait that all share: against a model, and against bad input.

// Compiled there once.
#[cfg(not(latchless_alone))]
use latchless_instances as _;

mod common;
mod duplicates;
mod model;
mod multiplexed;
mod refusals;
mod requests;
mod rng;
mod shared;
mod short;
#[cfg(feature = "model")]
mod touch;

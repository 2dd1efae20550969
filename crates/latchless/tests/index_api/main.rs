//! `latchless::Index` as its users see it: what the documentation says, said again as tests, and every
//! operation against `BTreeMap`.

// Compiled there once.
#[cfg(not(latchless_alone))]
use latchless_instances as _;

mod batches;
mod boxed;
mod closures;
mod common;
mod cursors;
mod map;
mod model;
#[cfg(feature = "rayon")]
mod parallel;
mod ranges;
mod refusals;
#[path = "../index/rng.rs"]
mod rng;
mod stored;
mod threads;

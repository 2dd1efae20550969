//! Any history of `Index` through `OrderedIndex` and `ConcurrentIndex`, against `BTreeMap`.
#![no_main]

use latchless_fuzz::{Flagship, operations::History};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|history: History<Flagship>| history.run());

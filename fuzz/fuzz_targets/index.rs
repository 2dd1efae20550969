//! Any history of `Index`'s own operations, against `BTreeMap`.
#![no_main]

use latchless_fuzz::index::Calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|calls: Calls| calls.run());

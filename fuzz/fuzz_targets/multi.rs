//! Any history of `MultiIndex`, against a `BTreeSet` of pairs.
#![no_main]

use latchless_fuzz::multi::Calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|calls: Calls| calls.run());

//! Any history of `BytesIndex`, with values of one word, three words or any length, against `BTreeMap`.
#![no_main]

use latchless_fuzz::bytes::Calls;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|calls: Calls| calls.run());

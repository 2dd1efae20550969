//! Any history on `Index` or any member of the families, against `BTreeMap`.
#![no_main]

use latchless_fuzz::operations::History;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|history: History| history.run());

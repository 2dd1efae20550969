//! Any bulk load of `Index`, sorted or not.
#![no_main]

use latchless_fuzz::{Flagship, bulk_load::Load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|load: Load<Flagship>| load.run());

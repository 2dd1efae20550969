//! Any bulk load, sorted or not, on `Index` or any member of the families.
#![no_main]

use latchless_fuzz::bulk_load::Load;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|load: Load| load.run());

//! Any bulk load of any member of the papers' families, sorted or not.
#![no_main]

use latchless_fuzz::bulk_load::Load;
use latchless_papers_fuzz::Published;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|load: Load<Published>| load.run());

//! Any history of any member of the papers' families, against `BTreeMap`.
#![no_main]

use latchless_fuzz::operations::History;
use latchless_papers_fuzz::Published;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|history: History<Published>| history.run());

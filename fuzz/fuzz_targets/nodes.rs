//! Any damage to a node of byte strings, which readers must survive.
#![no_main]

use latchless_fuzz::nodes::Torn;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|torn: Torn| torn.run());

//! Any bytes as a snapshot: a typed error, or an index with the file's entries.
#![no_main]

use latchless_fuzz::snapshot::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: Bytes| bytes.run());

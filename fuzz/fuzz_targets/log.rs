//! Any damage to a redo log: a typed error, or an index as it was after one of its changes.
#![no_main]

use latchless_fuzz::log::Folder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|folder: Folder| folder.run());

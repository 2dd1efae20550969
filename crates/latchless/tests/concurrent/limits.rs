//! Threads that reach a limit together.

use crate::memory::{full_together, is_memory, is_references};
use crate::subject::scaled;
use latchless::Index;
use latchless::index::Options;

#[test]
fn threads_that_run_into_a_memory_limit_lose_nothing() {
    let limit_bytes = Some(scaled(64, 8).min(64) << 10);
    let options = Options { limit_bytes, huge_pages: false, ..Options::default() };
    full_together(&Index::with_options(options).expect("one leaf finds room"), limit_bytes, is_memory);
}

#[test]
fn threads_that_run_out_of_references_lose_nothing() {
    let node_references = scaled(50, 6).min(50) as u32;
    let options = Options { node_references, huge_pages: false, ..Options::default() };
    full_together(&Index::with_options(options).expect("one leaf finds room"), None, is_references);
}

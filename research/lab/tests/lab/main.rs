//! The laboratory: its program as people run it, what the papers say, on the model, and the commands
//! that documents name.
//!
//! One binary, so that the tests of all files share the processors.

use latchless_bench::counting::Counting;

/// As the program: what is modelled lies where it lies in every process.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[path = "../../../../crates/bench/tests/documents/commands.rs"]
mod commands;
mod documents;
mod experiments;
mod list;
mod olfit;
mod paper;
mod pi;
mod published;
mod spiderman;

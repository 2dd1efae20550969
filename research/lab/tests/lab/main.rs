//! The laboratory: its program as people run it, the papers' claims on the model, and the commands in
//! documents.
//!
//! One binary, so that the tests of all files share the processors.

use latchless_measure::counting::Counting;

/// The program's allocator: modelled structures have the same layout in every process.
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

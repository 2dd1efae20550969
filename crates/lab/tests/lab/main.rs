//! The laboratory: its program as people run it, and what the papers say, on the model.
//!
//! One binary, so that the tests of all files share the processors.

use latchless_lab::counting::Counting;

/// As the program: what is modelled lies where it lies in every process.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

mod bench;
mod list;
mod olfit;
mod paper;
mod pi;
mod published;
mod spiderman;

//! The laboratory: its program as people run it, and what the papers say, on the model.
//!
//! One binary, so that the tests of all files share the processors.

mod bench;
mod list;
mod olfit;
mod paper;
mod pi;
mod published;
mod spiderman;

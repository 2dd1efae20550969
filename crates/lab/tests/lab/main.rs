//! The laboratory: its program as people run it, what the papers say, on the model, and the commands
//! that documents name.
//!
//! One binary, so that the tests of all files share the processors.

mod bench;
mod documents;
mod list;
mod olfit;
mod paper;
mod pi;
mod published;
mod spiderman;

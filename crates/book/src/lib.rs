//! The book's code in Rust, run as tests: `cargo test -p latchless-book`.
//!
//! `build.rs` reads the pages that `docs/SUMMARY.md` lists. Each block marked `rust` becomes one test in
//! `tests/pages.rs`: a block with a `main` is a program, any other block is the body of a function that may
//! use `?`. A block is complete in itself and imports what it uses, so that a reader can copy it.

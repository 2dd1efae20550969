//! What tests, laboratory and program use of the library's generic code, compiled once.
//!
//! Every crate compiles generic code for itself, unless a crate that it depends on has compiled the same
//! instance already; without much optimization the compiler takes that one. So the tests, the laboratory and
//! the program depend on this crate, which saves a good part of what building them takes, and call nothing in
//! it. Where instances aren't shared (a release) or one test is built alone (under loom, ThreadSanitizer and
//! the like, or by choice under `--cfg latchless_alone`) there is nothing here.

#[cfg(all(debug_assertions, not(any(loom, latchless_scalar, latchless_perturb, latchless_alone))))]
mod instances;
#[cfg(all(debug_assertions, not(any(loom, latchless_scalar, latchless_perturb, latchless_alone))))]
pub use instances::instances;

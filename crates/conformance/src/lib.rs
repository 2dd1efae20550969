//! What the tests and the laboratory use of the library's generic code, compiled once.
//!
//! Every crate compiles generic code for itself, unless a crate that it *loads* has compiled the same
//! instance already; without much optimization the compiler takes that one. So the tests and the laboratory
//! say `use latchless_conformance as _;`, without which a dependency isn't loaded and nothing is shared, and
//! call nothing in it. Where instances aren't shared (a release) or one test is built alone (under loom,
//! ThreadSanitizer and the like, or by choice under `--cfg latchless_alone`) there is nothing here.

#[cfg(all(
    feature = "all",
    debug_assertions,
    not(any(loom, latchless_scalar, latchless_perturb, latchless_alone))
))]
mod instances;
#[cfg(all(
    feature = "all",
    debug_assertions,
    not(any(loom, latchless_scalar, latchless_perturb, latchless_alone))
))]
pub use instances::instances;

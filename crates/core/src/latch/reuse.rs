//! Memory that latched nodes name, and that is used again as soon as none does: without an epoch.
//!
//! # Thread safety
//! A reader looks at a node's version, reads from the node where something is, reads that, and validates
//! the version. The memory may be written for something else meanwhile. A reader that sees any of the new
//! content must see the new version as well, so it has to be ordered after the change by which the node
//! ceased to name the memory.
//!
//! `crates/conformance/tests/loom/blocks.rs` checks that, and that leaving the fence out is found.

use crate::sync::{Ordering, fence};

/// Orders what this thread writes from here on after every change of a node that it made, or heard of from
/// the thread that gave the memory back. To be called before the first word of such memory is written anew.
///
/// The fence pairs with the one that validating has: a reader that loaded a word written after this one,
/// and then validates, finds the version that the change left, or a later one.
#[inline(always)]
pub fn before_reuse() {
    fence(Ordering::Release);
}

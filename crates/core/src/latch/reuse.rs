//! The ordering by which memory that latched nodes refer to can be reused at once, without an epoch.
//!
//! # Thread safety
//! A reader loads a node's version, reads a reference from the node, reads the memory there, and validates
//! the version. The memory may be reused meanwhile. A reader that sees any of the new content must see the
//! new version as well, so the new content has to be ordered after the change that removed the reference
//! from the node.
//!
//! `crates/core/tests/loom/blocks.rs` checks that, and that removing the fence is detected.

use crate::sync::{Ordering, fence};

/// Orders all later writes of this thread after every change of a node that it made, or that it learned of
/// from the thread that freed the memory. Call it before the first write to memory that is reused.
///
/// The fence pairs with the one in validation: a reader that loads a word written after this fence, and then
/// validates, finds the version that the change published, or a later one.
#[inline(always)]
pub fn before_reuse() {
    fence(Ordering::Release);
}

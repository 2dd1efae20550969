//! What a tree counts of itself: its keys, and the splits of its nodes.

use super::latecomers::Latecomers;
use crate::blink::Mode;
use latchless_core::sync::{Striped, Word};

/// See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Counts {
    len: Striped,
    splits: Word,
    latecomers: Latecomers,
}

impl Counts {
    /// Returns the number of keys: exact if no thread is changing it.
    pub(super) fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Sets the number of keys. For a caller that has the tree to itself.
    pub(super) fn set_len(&mut self, len: usize) {
        self.len.set(len as i64);
    }

    /// Counts keys that were added, or removed.
    #[inline(always)]
    pub(super) fn count_entries<M: Mode>(&self, change: i64) {
        if M::SHARED { self.len.add(change) } else { self.len.add_alone(change) }
    }

    /// Returns the number of nodes that were split.
    pub(super) fn splits(&self) -> u64 {
        self.splits.load_relaxed()
    }

    /// Counts nodes that were split together.
    pub(super) fn count_splits(&self, nodes: usize) {
        self.splits.add(nodes as u64);
    }

    /// Returns which leaves were split.
    #[inline(always)]
    pub(super) fn latecomers(&self) -> &Latecomers {
        &self.latecomers
    }
}

//! Latching the node that covers a key.

use super::levels::{Latched, Levels, Side};
use super::mode::Mode;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

/// Latches the node of a level that covers `key`, if there is such a level. `start` is a node of that level
/// that probably covers it: without a latch it may have been split, merged or reused meanwhile.
#[inline(always)]
pub(crate) fn latch_covering<'a, L: Levels, M: Mode>(
    tree: &'a L,
    start: NodeRef,
    level: usize,
    key: &L::Key,
) -> Option<Latched<'a, L, M>> {
    let (mut node, mut backoff) = (start, Backoff::default());
    loop {
        let at = tree.at(node);
        let held = tree.latch::<M>(at);
        match L::side(at, level, key) {
            Side::Here => return Some((at, held)),
            Side::Right => node = L::link(at),
            Side::Left => {
                drop(held);
                tree.counts().count_restart();
                backoff.wait_at(tree.origin());
                node = tree.descend_to(level, key)?;
            }
        }
    }
}

//! Prefetching the leaves ahead of a scan (§3.3): the first k at the start, then, for each leaf that the
//! scan arrives at, the one k ahead of it. The shape determines the source of the references.
//!
//! By default jump pointers aren't used for leaves that are neighbours in memory, as a bulk load leaves them:
//! a processor's own prefetcher, which the paper's machine doesn't have, then fetches them already, and
//! prefetches from afar disturb it. Such a leaf is prefetched when the scan arrives at it, as without jump
//! pointers. [`ScanPrefetch::Whole`] is the paper's algorithm, without such exceptions.

use super::{ScanPrefetch, Tree};
use crate::pb_tree::jump_array::JumpCursor;
use crate::pb_tree::node::{Jump, Shape};
use crate::pb_tree::path::Path;
use latchless_core::mem::node_ref::NodeRef;

/// The leaves ahead of a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    source: Source,
    /// Leaves that were passed to the prefetcher and that the scan hasn't arrived at.
    lead: usize,
    /// Which of them weren't prefetched, the next one in the lowest bit.
    left_alone: u64,
    /// The leaf that was passed last.
    last: NodeRef,
    forward: bool,
}

/// The source of the references of the leaves ahead.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "one a scan, on the stack; a box would cost an allocation")]
enum Source {
    /// None: there are no more leaves.
    Dry,
    /// The external jump-pointer array.
    Array(JumpCursor),
    /// The internal one: a bottom inner node, and the position of the child taken last in it.
    Siblings(NodeRef, usize),
    /// A second path that sweeps ahead of the scan's own.
    Sweep(Path),
}

impl Ahead {
    /// Prefetching from the leaf at the end of `path` on.
    pub(super) fn from<S: Shape>(tree: &Tree<S>, path: &Path, leaf: NodeRef, forward: bool) -> Self {
        let source = match (S::JUMP, path.bottom()) {
            (Jump::None, _) | (_, None) => Source::Dry,
            (Jump::Internal, Some((bottom, at))) if forward => {
                if S::PREFETCH {
                    tree.nodes.prefetch(tree.nodes.sibling(bottom));
                }
                Source::Siblings(bottom, at)
            }
            (Jump::External, _) if forward => match &tree.jumps {
                Some(jumps) => Source::Array(jumps.cursor_behind(&tree.nodes, leaf)),
                None => Source::Dry,
            },
            // Jump pointers lead forward only; backward the path itself is swept.
            _ => {
                path.prefetch_neighbours(&tree.nodes, forward);
                Source::Sweep(*path)
            }
        };
        Self { source, lead: 0, left_alone: 0, last: leaf, forward }
    }

    /// Records that the scan has arrived at the next leaf; returns whether that leaf was prefetched.
    pub(super) fn arrive(&mut self) -> bool {
        let asked = self.lead > 0 && self.left_alone & 1 == 0;
        self.lead = self.lead.saturating_sub(1);
        self.left_alone >>= 1;
        asked
    }

    /// Prefetches leaves until `target` are ahead of the scan. `each` gets the distance of each.
    pub(super) fn top_up<S: Shape>(&mut self, tree: &Tree<S>, target: usize, mut each: impl FnMut(usize)) {
        while self.lead < target {
            let Some(leaf) = self.next(tree) else { return };
            let beside = leaf == self.last.offset(1) && self.lead < u64::BITS as usize;
            self.last = leaf;
            match tree.options.scan_prefetch {
                ScanPrefetch::Whole => tree.nodes.prefetch(leaf),
                ScanPrefetch::Needed if beside => self.left_alone |= 1 << self.lead,
                ScanPrefetch::Needed => {
                    tree.nodes.prefetch_pairs(leaf, tree.len.div_ceil(tree.leaves));
                }
            }
            self.lead += 1;
            each(self.lead);
        }
    }

    fn next<S: Shape>(&mut self, tree: &Tree<S>) -> Option<NodeRef> {
        let next = match &mut self.source {
            Source::Dry => None,
            Source::Array(cursor) => tree.jumps.as_ref().and_then(|jumps| jumps.advance(cursor)),
            Source::Siblings(bottom, at) => next_by_siblings(tree, bottom, at),
            Source::Sweep(path) => path.advance(&tree.nodes, self.forward),
        };
        if next.is_none() {
            self.source = Source::Dry;
        }
        next
    }
}

fn next_by_siblings<S: Shape>(tree: &Tree<S>, bottom: &mut NodeRef, at: &mut usize) -> Option<NodeRef> {
    if *at < tree.nodes.count(*bottom) {
        *at += 1;
        return Some(tree.nodes.child(*bottom, *at));
    }
    let sibling = tree.nodes.sibling(*bottom);
    if sibling.is_nil() {
        return None;
    }
    // The one after it is on its way before this one's leaves are.
    let behind = tree.nodes.sibling(sibling);
    if !behind.is_nil() {
        tree.nodes.prefetch(behind);
    }
    (*bottom, *at) = (sibling, 0);
    Some(tree.nodes.child(sibling, 0))
}

//! The consistency check of a whole tree, level by level, from the root down.

use super::levels::Levels;
use core::fmt::Debug;
use latchless_core::base::error::Broken;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::node_ref::NodeRef;

/// What the check needs to know of a node.
#[derive(Debug)]
pub(crate) struct Content<F> {
    /// The low fence.
    pub(crate) low: F,
    /// Where the next node begins; `None`: there is none.
    pub(crate) end: Option<F>,
    /// Where each child begins. None in a leaf.
    pub(crate) children: Vec<(F, NodeRef)>,
    /// The number of entries. None in an inner node.
    pub(crate) entries: usize,
    /// Blocks of memory that the node has outside of itself.
    pub(crate) blocks: usize,
}

/// A tree that can be checked.
pub(crate) trait Check: Levels {
    /// A copy of a fence.
    type Fence: Debug + PartialEq;

    /// Returns whether a node is in use as one of this level, as far as that is known.
    fn is_of_level(&self, node: NodeRef, level: usize) -> bool;
    /// Returns a node's content.
    ///
    /// # Errors
    /// The first invariant that is violated within the node.
    fn content(&self, at: Self::At<'_>, level: usize) -> Result<Content<Self::Fence>, String>;
}

/// What a whole tree has.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) nodes: usize,
    pub(crate) blocks: usize,
}

/// Checks every node of a tree at rest, and what leads to it. The first one of each level begins at `first`.
///
/// # Errors
/// The first violated invariant.
pub(crate) fn check<C: Check>(tree: &C, first: C::Fence) -> Result<Sums, Broken> {
    let (root, levels) = tree.root().get();
    let (mut sums, mut entries, mut named) = (Sums::default(), 0, vec![(first, root)]);
    for level in (0..levels).rev() {
        sums.nodes += named.len();
        let (mut below, mut before) = (Vec::new(), None);
        let mut nodes = named.into_iter().peekable();
        while let Some((begin, node)) = nodes.next() {
            let wrong = |what: String| Broken::new(format!("level {level}, node {}: {what}", node.to_word()));
            if !tree.is_of_level(node, level) {
                return Err(wrong("was handed out for another level, or given back".to_owned()));
            }
            let at = tree.at(node);
            if OptimisticLatch::of(&tree.words(at)[0]).is_held() {
                return Err(wrong("is latched".to_owned()));
            }
            let Content { low, end, children, entries: own, blocks } =
                tree.content(at, level).map_err(wrong)?;
            if low != begin || before.is_some_and(|before| before != Some(low)) {
                return Err(wrong(format!(
                    "doesn't begin at {begin:?}, where its parent names it, or has a gap before"
                )));
            }
            let (link, next) = (C::link(at), nodes.peek().map_or(NodeRef::NIL, |(_, next)| *next));
            if link != next || next.is_nil() != end.is_none() {
                return Err(wrong(format!("ends at {end:?} and links to {}", link.to_word())));
            }
            if level > 0 && children.is_empty() {
                return Err(wrong("has no child".to_owned()));
            }
            (before, entries) = (Some(end), entries + own);
            sums.blocks += blocks;
            below.extend(children);
        }
        named = below;
    }
    let counted = tree.counts().entries();
    if entries != counted {
        return Err(Broken::new(format!("{entries} entries found, {counted} counted")));
    }
    Ok(sums)
}

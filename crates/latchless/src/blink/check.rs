//! The consistency check of a whole tree: each node before its children, from the root down.

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
/// Needs memory for one node of each level, so that an index whose memory is used up can be checked.
///
/// # Errors
/// The first violated invariant.
pub(crate) fn check<C: Check>(tree: &C, first: C::Fence) -> Result<Sums, Broken> {
    let (root, levels) = tree.root().get();
    let next = (0..levels).map(|_| None).collect();
    let mut walk = Walk { tree, next, sums: Sums::default(), entries: 0 };
    walk.node(levels - 1, root, first)?;
    for (level, next) in walk.next.into_iter().enumerate() {
        if let Some((_, link)) = next.filter(|(_, link)| !link.is_nil()) {
            let link = link.to_word();
            return Err(Broken::new(format!("level {level}: the last node links to {link}")));
        }
    }
    let counted = tree.counts().entries();
    if walk.entries != counted {
        return Err(Broken::new(format!("{} entries found, {counted} counted", walk.entries)));
    }
    Ok(walk.sums)
}

/// A walk over the nodes, each before its children.
struct Walk<'t, C: Check> {
    tree: &'t C,
    /// By level: where the node before ends, and where it links to.
    next: Vec<Option<(Option<C::Fence>, NodeRef)>>,
    sums: Sums,
    entries: usize,
}

impl<C: Check> Walk<'_, C> {
    /// Checks a node that begins there by its parent, and all nodes below it.
    fn node(&mut self, level: usize, node: NodeRef, begin: C::Fence) -> Result<(), Broken> {
        let wrong = |what: String| Broken::new(format!("level {level}, node {}: {what}", node.to_word()));
        if !self.tree.is_of_level(node, level) {
            return Err(wrong("was handed out for another level, or given back".to_owned()));
        }
        let at = self.tree.at(node);
        if OptimisticLatch::of(&self.tree.words(at)[0]).is_held() {
            return Err(wrong("is latched".to_owned()));
        }
        let Content { low, end, children, entries, blocks } = self.tree.content(at, level).map_err(wrong)?;
        if low != begin {
            return Err(wrong(format!("begins at {low:?}, its parent says {begin:?}")));
        }
        let link = C::link(at);
        if link.is_nil() != end.is_none() {
            return Err(wrong(format!("ends at {end:?} and links to {}", link.to_word())));
        }
        if let Some((before, to)) = self.next[level].replace((end, link))
            && (to != node || before.as_ref() != Some(&low))
        {
            let to = to.to_word();
            return Err(wrong(format!(
                "begins at {low:?}; the node before ends at {before:?}, links to {to}"
            )));
        }
        if level > 0 && children.is_empty() {
            return Err(wrong("has no child".to_owned()));
        }
        self.sums.nodes += 1;
        self.sums.blocks += blocks;
        self.entries += entries;
        children.into_iter().try_for_each(|(begin, child)| self.node(level - 1, child, begin))
    }
}

//! The consistency check of the whole tree.

use super::blink::BlinkTree;
use super::store::{Arena, LEVELS_MAX};
use crate::node::operation::{Operation, Search};
use crate::node::{Children, Inner};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::base::span::{before, behind};
use latchless_core::mem::node_ref::NodeRef;

impl<B: Bits> BlinkTree<B> {
    /// Checks every invariant of the tree and of its nodes. The tree must be at rest: concurrent changes may
    /// look like violations.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        Check { tree: self }.run()
    }
}

struct Check<'a, B> {
    tree: &'a BlinkTree<B>,
}

/// The state of a walk over the tree.
struct Found<B> {
    nodes: usize,
    entries: usize,
    /// By level: the expected low fence of the next node, and its reference.
    next: [Option<(B, NodeRef)>; LEVELS_MAX],
}

/// Checks an inner node with the searches of the tree's kernel.
struct FaultOf<'a, B>(Inner<'a, B>);

impl<B: Bits> Operation for FaultOf<'_, B> {
    type Output = Option<String>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<String> {
        self.0.fault::<S>()
    }
}

impl<B: Bits> Check<'_, B> {
    fn run(&self) -> Result<(), Broken> {
        let (root, levels) = self.tree.store().root();
        let mut found = Found { nodes: 0, entries: 0, next: [None; LEVELS_MAX] };
        self.check(levels - 1, root, (B::MIN, B::MAX), &mut found)?;
        if found.entries != self.tree.len() {
            return Err(Broken::new(format!("{} entries found, {} counted", found.entries, self.tree.len())));
        }
        let (bytes, live) = (found.nodes * Arena::NODE_BYTES, self.tree.live_bytes());
        if bytes != live {
            return Err(Broken::new(format!("nodes of {bytes} bytes found, {live} bytes handed out")));
        }
        self.tree.ranks().fault(self.tree.store()).map_or(Ok(()), |fault| Err(Broken::new(fault)))
    }

    /// Checks a node that has these fences in its parent, and all nodes below it.
    fn check(&self, level: usize, node: NodeRef, fences: (B, B), found: &mut Found<B>) -> Result<(), Broken> {
        let wrong =
            |what: String| Err(Broken::new(format!("level {level}, node {}: {what}", node.to_word())));
        found.nodes += 1;
        if self.tree.store().at(node).latch().stable_version().is_none() {
            return wrong("is latched".to_owned());
        }
        if !self.tree.store().arena().is_of_kind(level, node) {
            return wrong("was handed out for another level, or given back".to_owned());
        }
        let own = self.tree.store().fences(level, node);
        if own != fences {
            return wrong(format!("has fences {own:?}, its parent says {fences:?}"));
        }
        let link = self.tree.store().link(level, node);
        if found.next[level].is_some_and(|expected| expected != (own.0, node)) {
            return wrong(format!("isn't where the link before leads: {:?}", found.next[level]));
        }
        if link.is_nil() != (own.1 == B::MAX) {
            return wrong(format!("ends at {:?} and links to {}", own.1, link.to_word()));
        }
        found.next[level] = Some((behind(own.1), link));
        if level == 0 {
            let leaf = self.tree.store().leaf(node);
            found.entries += leaf.len();
            return leaf.fault().map_or(Ok(()), wrong);
        }
        let inner = self.tree.store().inner(node);
        if let Some(fault) = self.tree.store().run(FaultOf(inner)) {
            return wrong(fault);
        }
        let mut children = Children::default();
        inner.copy_out(&mut children);
        for (at, (&low, &child)) in children.separators().iter().zip(children.nodes()).enumerate() {
            let high = children.separators().get(at + 1).map_or(own.1, |&next| before(next));
            self.check(level - 1, child, (low, high), found)?;
        }
        Ok(())
    }
}

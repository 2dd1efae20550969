//! The consistency check of the whole tree.

use super::blink::BlinkTree;
use super::store::{Arena, At, Store};
use crate::blink::{Check, Content, check};
use crate::node::operation::{Operation, Search};
use crate::node::{Children, Inner};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::node_ref::NodeRef;

impl<B: Bits> BlinkTree<B> {
    /// Checks every invariant of the tree and of its nodes. The tree must be at rest: concurrent changes may
    /// look like violations.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let nodes = check(self.store(), B::MIN)?.nodes;
        let (bytes, live) = (nodes * Arena::NODE_BYTES, self.live_bytes());
        if bytes != live {
            return Err(Broken::new(format!("nodes of {bytes} bytes found, {live} bytes handed out")));
        }
        self.ranks().fault(self.store()).map_or(Ok(()), |fault| Err(Broken::new(fault)))
    }
}

impl<B: Bits> Check for Store<B> {
    type Fence = B;

    fn is_of_level(&self, node: NodeRef, level: usize) -> bool {
        self.arena().is_of_kind(level, node)
    }

    fn content(&self, at: At<'_>, level: usize) -> Result<Content<B>, String> {
        let (low, high) = at.fences(level);
        let mut content = Content { low, end: next(high), children: Vec::new(), entries: 0, blocks: 0 };
        let fault = if level == 0 {
            content.entries = at.leaf::<B>().len();
            at.leaf::<B>().fault()
        } else {
            let mut children = Children::default();
            at.inner().copy_out(&mut children);
            let separators = children.separators().iter().copied();
            content.children = separators.zip(children.nodes().iter().copied()).collect();
            self.run(FaultOf(at.inner::<B>()))
        };
        fault.map_or(Ok(content), Err)
    }
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

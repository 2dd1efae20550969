//! Descents step by step, for batches that lead many keys down together.

use super::Tree;
use crate::common::operation::{Operation, Run, Search};
use crate::common::walk::{Aim, KernelWalk, Step};
use crate::pb_tree::node::Shape;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::search::Dispatch;

/// The walks of a tree.
#[derive(Debug)]
pub struct TreeWalk<'a, S: Shape>(&'a Tree<S>);

impl<S: Shape> Tree<S> {
    /// Walks down this tree.
    pub fn walk(&self) -> TreeWalk<'_, S> {
        TreeWalk(self)
    }

    /// Looks up a key in the leaf at the end of a walk; see [`Tree::get`].
    #[inline]
    pub fn get_from(&self, leaf: NodeRef, key: S::Bits) -> Option<S::Bits> {
        self.options.dispatch.run(GetFrom { tree: self, leaf, key })
    }
}

/// The position of a walk: the node, and the number of levels below it.
pub type Place = (NodeRef, usize);

impl<S: Shape> KernelWalk for TreeWalk<'_, S> {
    type Key = S::Bits;
    type Place = Place;
    type Anchor = NodeRef;

    fn dispatch(&self) -> Dispatch {
        self.0.options.dispatch
    }

    #[inline(always)]
    fn begin(&self, _: S::Bits, _: Aim) -> Place {
        (self.0.root, self.0.levels - 1)
    }

    #[inline(always)]
    fn step_by<K: Search>(&self, (node, below): &mut Place, key: S::Bits) -> Step<NodeRef> {
        let nodes = &self.0.nodes;
        if *below == 0 {
            return Step::Landed(Some(*node));
        }
        S::Trace::work(Work::Visit);
        let at = nodes.child_position::<K>(*node, key);
        *node = nodes.child(*node, at);
        *below -= 1;
        nodes.prefetch(*node);
        Step::On
    }
}

struct GetFrom<'a, S: Shape> {
    tree: &'a Tree<S>,
    leaf: NodeRef,
    key: S::Bits,
}

impl<S: Shape> Operation for GetFrom<'_, S> {
    type Output = Option<S::Bits>;

    #[inline(always)]
    fn run<K: Search>(self) -> Self::Output {
        let (at, here) = self.tree.search_leaf::<K>(self.leaf, self.key);
        if here { Some(self.tree.nodes.value(self.leaf, at)) } else { None }
    }
}

//! The nodes of a tree, and its root.
//!
//! Nothing here knows which leaf has a key, except by a descent from the root: see `finder.rs`.

use crate::blink::{Counts, Levels, Mode, Root, SharedArena, Side};
use crate::node::operation::{Operation, Run, Search};
use crate::node::{self, Inner, Leaf, LeafEditor, NodeLines};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel, Scalar};
use latchless_core::sync::{Origin, Word};

/// The nodes of all trees.
pub(super) type Arena = SharedArena<{ node::LINES }>;

/// A node with its address, which is looked up once per visit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(super) node: NodeRef,
    pub(super) lines: &'a NodeLines,
}

impl<'a> At<'a> {
    #[inline(always)]
    pub(super) fn latch(self) -> &'a OptimisticLatch {
        node::latch(self.lines)
    }

    #[inline(always)]
    pub(super) fn leaf<B: Bits>(self) -> Leaf<'a, B> {
        Leaf::new(self.lines)
    }

    #[inline(always)]
    pub(super) fn inner<B: Bits>(self) -> Inner<'a, B> {
        Inner::new(self.lines)
    }

    /// Returns the fences of a node of this level.
    #[inline(always)]
    pub(super) fn fences<B: Bits>(self, level: usize) -> (B, B) {
        if level == 0 {
            self.leaf().fences()
        } else {
            let inner = self.inner();
            (inner.low(), inner.high())
        }
    }

    /// Returns the address of a line of the node, for a prefetch.
    #[inline(always)]
    pub(super) fn line_address(self, line: usize) -> *const u8 {
        node::line_address(self.lines.as_ptr().cast(), line)
    }
}

/// A latched node.
pub(super) type Latched<'a, M> = (At<'a>, <M as Mode>::Held<'a>);

/// The nodes, the root, and the kernel that searches them.
#[derive(Debug)]
pub(crate) struct Store<B> {
    root: Root,
    arena: Arena,
    counts: Counts,
    dispatch: Dispatch,
    lanes: PhantomData<fn() -> B>,
}

impl<B: Bits> Store<B> {
    /// Creates the nodes of an empty tree: one empty leaf.
    ///
    /// # Errors
    /// Memory for that leaf was refused.
    pub(super) fn new(arena: Arena, dispatch: Dispatch) -> Result<Self> {
        let (root, counts) = (Root::default(), Counts::default());
        let store = Self { root, arena, counts, dispatch, lanes: PhantomData };
        store.init_root()?;
        Ok(store)
    }

    /// Makes an empty leaf the root.
    ///
    /// # Errors
    /// Memory for that leaf was refused.
    pub(super) fn init_root(&self) -> Result<()> {
        let leaf = self.arena.allocate(0)?;
        LeafEditor(self.leaf(leaf)).set_empty((B::MIN, B::MAX), NodeRef::NIL);
        self.root.set(leaf, 1);
        Ok(())
    }

    /// Creates another store, with the same options and without nodes, the root included. Both take their
    /// memory from one budget.
    pub(super) fn alike(&self) -> Self {
        let (root, arena, counts) = (Root::default(), self.arena.alike(), Counts::default());
        Self { root, arena, counts, dispatch: self.dispatch, lanes: PhantomData }
    }

    /// Exchanges the nodes with those of another tree, and the number of entries. The counts of events stay.
    pub(super) fn swap_nodes(&mut self, other: &mut Self) {
        core::mem::swap(&mut self.root, &mut other.root);
        core::mem::swap(&mut self.arena, &mut other.arena);
        self.counts.swap_entries(&mut other.counts);
    }

    /// Frees all nodes, and returns their memory to the system.
    pub(super) fn clear(&mut self) {
        self.arena.clear();
        self.counts.set_entries(0);
        self.init_root().expect("one node found room before");
    }

    #[inline(always)]
    pub(super) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(super) fn kernel(&self) -> Kernel {
        self.dispatch.kernel()
    }

    /// Runs an operation with the tree's kernel.
    #[inline(always)]
    pub(super) fn run<O: Operation>(&self, operation: O) -> O::Output {
        self.dispatch.run(operation)
    }

    /// Sets the number of entries, for the caller that has put them into the nodes.
    pub(super) fn set_entries(&mut self, entries: usize) {
        self.counts.set_entries(entries);
    }

    /// Returns a node without a call, if that is possible, as it is for nearly all: see
    /// [`SharedArena::near`].
    #[inline(always)]
    pub(super) fn near(&self, node: NodeRef) -> Option<At<'_>> {
        // A closure in place of the branch would be called.
        self.arena.near(node).map(|lines| At { node, lines })
    }

    /// Returns a node by a reference that may be older than the tree's last `clear`.
    #[inline(always)]
    pub(super) fn find(&self, node: NodeRef) -> Option<At<'_>> {
        self.arena.find(node).map(|lines| At { node, lines })
    }

    #[inline(always)]
    pub(super) fn leaf(&self, node: NodeRef) -> Leaf<'_, B> {
        Leaf::new(self.arena.node(node))
    }

    #[inline(always)]
    pub(super) fn inner(&self, node: NodeRef) -> Inner<'_, B> {
        Inner::new(self.arena.node(node))
    }

    /// Returns the fences of a node.
    #[inline(always)]
    pub(super) fn fences(&self, level: usize, node: NodeRef) -> (B, B) {
        self.at(node).fences(level)
    }

    /// Latches a node.
    #[inline(always)]
    pub(super) fn latch<M: Mode>(&self, node: NodeRef) -> Latched<'_, M> {
        let at = self.at(node);
        (at, Levels::latch::<M>(self, at))
    }

    /// Finds the node of `key` on a level, counted from the leaves (level 0), by a descent from the root;
    /// `None` if the tree has no such level.
    pub(super) fn descend_through<S: Search>(&self, level: usize, key: B) -> Option<NodeRef> {
        let (mut node, levels) = self.root.get();
        for _ in level + 1..levels {
            node = self.inner(node).child::<S>(key);
        }
        (level < levels).then_some(node)
    }

    /// Finds the leaf of `key` by a descent from the root.
    pub(super) fn descend_to_leaf(&self, key: B) -> NodeRef {
        self.descend_through::<Scalar>(0, key).expect("every tree has leaves")
    }

    /// Visits some of the lowest inner nodes, from the one that covers `from` on. Returns the key at which
    /// to continue.
    pub(super) fn visit_lowest(
        &self,
        from: u64,
        most: usize,
        mut visit: impl FnMut(NodeRef, Inner<'_, B>),
    ) -> Option<u64> {
        let (mut node, mut next) = (self.descend_through::<Scalar>(1, B::truncate(from))?, from);
        for _ in 0..most {
            let inner = self.inner(node);
            let high = inner.high().to_u64();
            visit(node, inner);
            node = inner.link();
            if high == B::MAX.to_u64() || node.is_nil() {
                return None;
            }
            // The fence of a node that is being changed is arbitrary.
            next = next.max(high + 1);
        }
        Some(next)
    }
}

impl<B: Bits> Levels for Store<B> {
    type Key = B;
    type At<'a> = At<'a>;

    #[inline(always)]
    fn root(&self) -> &Root {
        &self.root
    }

    #[inline(always)]
    fn counts(&self) -> &Counts {
        &self.counts
    }

    #[inline(always)]
    fn origin(&self) -> &Origin {
        self.arena.origin()
    }

    #[inline(always)]
    fn at(&self, node: NodeRef) -> At<'_> {
        At { node, lines: self.arena.node(node) }
    }

    #[inline(always)]
    fn name(at: At<'_>) -> NodeRef {
        at.node
    }

    #[inline(always)]
    fn words<'a>(&'a self, at: At<'a>) -> &'a [Word] {
        at.lines.as_flattened()
    }

    #[inline(always)]
    fn side(at: At<'_>, level: usize, key: &B) -> Side {
        let (low, high) = at.fences(level);
        if low <= *key && *key <= high {
            Side::Here
        } else if low > *key || low > high {
            Side::Left
        } else {
            Side::Right
        }
    }

    #[inline(always)]
    fn link(at: At<'_>) -> NodeRef {
        at.leaf::<B>().link()
    }

    fn first(&self, level: usize) -> Option<NodeRef> {
        self.descend_through::<Scalar>(level, B::MIN)
    }

    fn descend_to(&self, level: usize, key: &B) -> Option<NodeRef> {
        self.descend_through::<Scalar>(level, *key)
    }
}

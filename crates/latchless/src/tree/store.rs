//! The nodes of a tree, and its root.
//!
//! Nothing here knows which leaf has a key, except by a descent from the root: see `finder.rs`.

use crate::blink::Mode;
use crate::blink::SharedArena;
use crate::node::operation::{Operation, Run, Search};
use crate::node::{self, Entries, Inner, Leaf, LeafEditor, NodeLines};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel, Scalar};
use latchless_core::sync::{Origin, Word};

/// More levels than a tree of 2^32 nodes has; for the smallest nodes, more than the trees of tests have.
pub(super) const LEVELS_MAX: usize = if cfg!(latchless_small_nodes) { 48 } else { 16 };

/// The nodes of all trees.
pub(super) type Arena = SharedArena<{ node::LINES }>;

/// A node with its address, which is looked up once per visit.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
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

    /// Returns the address of a line of the node, for a prefetch.
    #[inline(always)]
    pub(super) fn line_address(self, line: usize) -> *const u8 {
        node::line_address(self.lines.as_ptr().cast(), line)
    }
}

/// A latched node.
pub(super) type Latched<'a, M> = (NodeRef, <M as Mode>::Held<'a>);

/// The nodes, the root, and the kernel that searches them.
#[derive(Debug)]
pub(super) struct Store<B> {
    /// The root's reference, and above it the number of levels.
    root: Word,
    arena: Arena,
    dispatch: Dispatch,
    lanes: PhantomData<fn() -> B>,
}

impl<B: Bits> Store<B> {
    /// Creates the nodes of an empty tree: one empty leaf.
    ///
    /// # Errors
    /// Memory for that leaf was refused.
    pub(super) fn new(arena: Arena, dispatch: Dispatch) -> Result<Self> {
        let store = Self { root: Word::new(0), arena, dispatch, lanes: PhantomData };
        store.init_root()?;
        Ok(store)
    }

    /// Makes an empty leaf the root.
    fn init_root(&self) -> Result<()> {
        let leaf = self.arena.allocate(0)?;
        LeafEditor(self.leaf(leaf)).set((B::MIN, B::MAX), NodeRef::NIL, &Entries::default(), 0..0);
        self.set_root(leaf, 1);
        Ok(())
    }

    /// Frees all nodes, and returns their memory to the system.
    pub(super) fn clear(&mut self) {
        self.arena.clear();
        self.init_root().expect("one node found room before");
    }

    #[inline(always)]
    pub(super) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Returns the process in which the tree was made.
    #[inline(always)]
    pub(super) fn origin(&self) -> &Origin {
        self.arena.origin()
    }

    pub(super) fn kernel(&self) -> Kernel {
        self.dispatch.kernel()
    }

    /// Runs an operation with the tree's kernel.
    #[inline(always)]
    pub(super) fn run<O: Operation>(&self, operation: O) -> O::Output {
        self.dispatch.run(operation)
    }

    /// Returns the root and the number of levels.
    #[inline(always)]
    pub(super) fn root(&self) -> (NodeRef, usize) {
        let word = self.root.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    pub(super) fn set_root(&self, node: NodeRef, levels: usize) {
        self.root.publish((levels as u64) << 32 | u64::from(node.to_word()));
    }

    #[inline(always)]
    pub(super) fn at(&self, node: NodeRef) -> At<'_> {
        At { node, lines: self.arena.node(node) }
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
        if level == 0 {
            self.leaf(node).fences()
        } else {
            let inner = self.inner(node);
            (inner.low(), inner.high())
        }
    }

    pub(super) fn link(&self, level: usize, node: NodeRef) -> NodeRef {
        if level == 0 { self.leaf(node).link() } else { self.inner(node).link() }
    }

    pub(super) fn leftmost_child(&self, node: NodeRef) -> NodeRef {
        self.inner(node).child::<Scalar>(B::MIN)
    }

    /// Latches a node.
    #[inline(always)]
    pub(super) fn latch<M: Mode>(&self, node: NodeRef) -> M::Held<'_> {
        M::latch(self.arena.node(node).as_flattened(), self.origin())
    }

    /// Finds the node of `key` on a level, counted from the leaves (level 0), by a descent from the root;
    /// `None` if the tree has no such level.
    pub(super) fn descend_to<S: Search>(&self, level: usize, key: B) -> Option<NodeRef> {
        let (mut node, levels) = self.root();
        for _ in level + 1..levels {
            node = self.inner(node).child::<S>(key);
        }
        (level < levels).then_some(node)
    }

    /// Finds the leaf of `key` by a descent from the root.
    pub(super) fn descend_to_leaf(&self, key: B) -> NodeRef {
        self.descend_to::<Scalar>(0, key).expect("every tree has leaves")
    }

    /// Visits some of the lowest inner nodes, from the one that covers `from` on. Returns the key at which
    /// to continue.
    pub(super) fn visit_lowest(
        &self,
        from: u64,
        most: usize,
        mut visit: impl FnMut(NodeRef, Inner<'_, B>),
    ) -> Option<u64> {
        let (mut node, mut next) = (self.descend_to::<Scalar>(1, B::truncate(from))?, from);
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

    /// Counts the nodes of a level, along its links.
    pub(super) fn count_level(&self, level: usize) -> usize {
        let (mut node, levels) = self.root();
        for _ in level + 1..levels {
            node = self.leftmost_child(node);
        }
        let mut count = 0;
        while !node.is_nil() {
            count += 1;
            node = self.link(level, node);
        }
        count
    }
}

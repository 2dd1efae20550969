//! The memory of a trie: an arena of leaves, and one for each kind of inner nodes.
//!
//! A node that left the trie is reused at once, as a node of the same kind. Its version continues to grow,
//! so a thread that has seen it before detects this; and memory is never returned to the system while the
//! trie exists.

use super::node::Node;
use super::options::TrieOptions;
use super::reference::{Kind, Ref, To};
use crate::common::units::{NodePoolOptions, Reuse, UnitArena};
use crate::error;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::{BitsWord, Origin, Word};

/// The units of an arena are all of one kind.
const UNIT: usize = 0;

/// All nodes of a trie. Leaves are a key and its value.
#[derive(Debug)]
pub(super) struct Pools<B: Bits> {
    /// Keeps the limit: memory of inner nodes is charged to it.
    leaves: UnitArena<B::Word>,
    inner: [UnitArena<Word>; 4],
}

impl<B: Bits> Pools<B> {
    pub(super) fn new(options: TrieOptions) -> error::Result<Self> {
        let TrieOptions { limit_bytes, huge_pages, references } = options;
        let of = |node_bytes, limit_bytes, most: u32| NodePoolOptions {
            node_bytes,
            unit_nodes: 1,
            limit_bytes,
            huge_pages,
            references: references.min(most),
        };
        let inner = |kind: Kind| UnitArena::new(of(8 * kind.words(), None, Ref::NODES_MAX), Reuse::AtOnce, 0);
        let [four, sixteen, forty_eight, all] = Kind::ALL.map(inner);
        let leaves = of(2 * B::BYTES, limit_bytes, Ref::LEAVES_MAX);
        Ok(Self {
            leaves: UnitArena::new(leaves, Reuse::AtOnce, 0)?,
            inner: [four?, sixteen?, forty_eight?, all?],
        })
    }

    /// Forgets all nodes and gives their memory back.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.leaves.clear()?;
        self.inner.iter_mut().try_for_each(UnitArena::clear)
    }

    pub(super) fn origin(&self) -> &Origin {
        self.leaves.origin()
    }

    /// Bytes of all nodes that were ever in use.
    pub(super) fn held_bytes(&self) -> usize {
        self.leaves.held_bytes()
    }

    /// Bytes of the nodes in use.
    pub(super) fn live_bytes(&self) -> usize {
        // Charged memory doesn't count as nodes.
        self.leaves.live_bytes() + self.inner.iter().map(UnitArena::live_bytes).sum::<usize>()
    }

    /// Leaves and inner nodes in use.
    pub(super) fn live(&self) -> (usize, usize) {
        let inner = self.inner.iter().map(|arena| arena.live_bytes() / arena.node_bytes());
        (self.leaves.live_bytes() / self.leaves.node_bytes(), inner.sum())
    }

    pub(super) fn new_leaf<T: Trace>(&self, key: B, value: B) -> Result<Ref> {
        let place = self.leaves.allocate::<T>(UNIT)?;
        let words = self.leaves.words(place);
        T::write(words.as_ptr().cast(), size_of_val(words));
        words[0].store_relaxed(key);
        words[1].store_relaxed(value);
        Ok(Ref::leaf(place))
    }

    /// An inner node without children.
    pub(super) fn new_inner<T: Trace>(&self, kind: Kind, depth: usize) -> Result<Ref> {
        let place = self.allocate::<T>(kind)?;
        self.inner::<T>(kind, place).reset();
        Ok(Ref::inner(kind, depth, place))
    }

    fn allocate<T: Trace>(&self, kind: Kind) -> Result<NodeRef> {
        let arena = &self.inner[kind as usize];
        if let Some(place) = arena.reuse::<T>(UNIT) {
            return Ok(place);
        }
        self.allocate_fresh(arena).or_else(|refused| {
            arena.sweep::<T>();
            arena.reuse::<T>(UNIT).ok_or(refused)
        })
    }

    fn allocate_fresh(&self, arena: &UnitArena<Word>) -> Result<NodeRef> {
        self.leaves.charge(arena.node_bytes())?;
        arena.allocate_run(1).inspect_err(|_| self.leaves.discharge(arena.node_bytes()))
    }

    /// Frees a node that no thread can reach any more, or that was never reachable.
    pub(super) fn free<T: Trace>(&self, node: Ref) {
        match node.to() {
            To::Nothing => {}
            To::Leaf(place) => self.leaves.free::<T>(UNIT, place),
            To::Inner(kind, place) => self.inner[kind as usize].free::<T>(UNIT, place),
        }
    }

    #[inline(always)]
    pub(super) fn inner<T: Trace>(&self, kind: Kind, place: NodeRef) -> Node<'_, T> {
        Node::new(kind, self.inner[kind as usize].words(place))
    }

    /// Returns the likely address of a node, for prefetching.
    #[inline(always)]
    pub(super) fn inner_address(&self, kind: Kind, place: NodeRef) -> *const u8 {
        self.inner[kind as usize].address(place)
    }

    /// Returns the likely address of a leaf, and its size in bytes; see [`Pools::inner_address`].
    #[inline(always)]
    pub(super) fn leaf_address(&self, place: NodeRef) -> (*const u8, usize) {
        (self.leaves.address(place), 2 * B::BYTES)
    }

    /// The key and the value of a leaf.
    #[inline(always)]
    pub(super) fn leaf<T: Trace>(&self, place: NodeRef) -> (B, B) {
        let words = self.leaves.words(place);
        let [key, value] = [0, 1].map(|nth: usize| {
            T::read(core::ptr::from_ref(&words[nth]).cast(), B::BYTES);
            words[nth].load_relaxed()
        });
        (key, value)
    }

    /// Replaces the value of a leaf. For the holder of the latch of the node that leads to it.
    pub(super) fn set_value<T: Trace>(&self, place: NodeRef, value: B) {
        let words = self.leaves.words(place);
        T::write(core::ptr::from_ref(&words[1]).cast(), B::BYTES);
        words[1].store_relaxed(value);
    }
}

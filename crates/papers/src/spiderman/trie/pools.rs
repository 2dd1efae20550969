//! The memory of a trie: a vector of nodes of each kind, whose freed places are used again for the same
//! kind.

use super::node::{Direct, Indexed, Node, Sorted};
use super::reference::{Kind, Ref, To};
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::touch::Trace;

/// A key and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<B> {
    pub(super) key: B,
    pub(super) value: B,
}

#[derive(Debug)]
pub(super) struct Pool<N> {
    nodes: Vec<N>,
    free: Vec<u32>,
}

impl<N> Default for Pool<N> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new() }
    }
}

impl<N> Pool<N> {
    /// Bytes that one more node takes; none if a freed place is there.
    fn missing_bytes(&self) -> usize {
        if self.free.is_empty() { size_of::<N>() } else { 0 }
    }

    fn held_bytes(&self) -> usize {
        self.nodes.len() * size_of::<N>()
    }

    /// Makes sure of a place for one more node, of `most` at the most.
    fn reserve(&mut self, most: usize) -> Result<()> {
        if !self.free.is_empty() {
            return Ok(());
        }
        if self.nodes.len() >= most {
            return Err(Error::ReferencesExhausted { limit: most as u64 });
        }
        let refused = |_| Error::OutOfMemory { requested_bytes: size_of::<N>() };
        self.nodes.try_reserve(1).map_err(refused)?;
        // So that a place can always be given back.
        self.free.try_reserve(self.nodes.len() + 1).map_err(refused)
    }

    fn put(&mut self, node: N) -> usize {
        if let Some(place) = self.free.pop() {
            self.nodes[place as usize] = node;
            return place as usize;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn live(&self) -> usize {
        self.nodes.len() - self.free.len()
    }
}

/// All nodes of a trie.
#[derive(Debug)]
pub(super) struct Pools<B> {
    pub(super) leaves: Pool<Leaf<B>>,
    pub(super) four: Pool<Sorted<4>>,
    pub(super) sixteen: Pool<Sorted<16>>,
    pub(super) forty_eight: Pool<Indexed>,
    pub(super) all: Pool<Direct>,
    limit_bytes: Option<usize>,
}

/// Does the same to an inner node of any kind.
macro_rules! any_kind {
    ($pools:expr, $kind:expr, $pool:ident => $body:expr) => {
        match $kind {
            Kind::Four => {
                let $pool = &$pools.four;
                $body
            }
            Kind::Sixteen => {
                let $pool = &$pools.sixteen;
                $body
            }
            Kind::FortyEight => {
                let $pool = &$pools.forty_eight;
                $body
            }
            Kind::All => {
                let $pool = &$pools.all;
                $body
            }
        }
    };
    (mut $pools:expr, $kind:expr, $pool:ident => $body:expr) => {
        match $kind {
            Kind::Four => {
                let $pool = &mut $pools.four;
                $body
            }
            Kind::Sixteen => {
                let $pool = &mut $pools.sixteen;
                $body
            }
            Kind::FortyEight => {
                let $pool = &mut $pools.forty_eight;
                $body
            }
            Kind::All => {
                let $pool = &mut $pools.all;
                $body
            }
        }
    };
}

/// A kind of inner nodes, and where the nodes of that kind are.
pub(super) trait Kept<B>: Node {
    fn pool(pools: &mut Pools<B>) -> &mut Pool<Self>;
}

macro_rules! kept {
    ($($node:ty: $field:ident),*) => {$(
        impl<B> Kept<B> for $node {
            fn pool(pools: &mut Pools<B>) -> &mut Pool<Self> {
                &mut pools.$field
            }
        }
    )*};
}
kept! { Sorted<4>: four, Sorted<16>: sixteen, Indexed: forty_eight, Direct: all }

impl<B: Copy> Pools<B> {
    pub(super) fn new(limit_bytes: Option<usize>) -> Self {
        Self {
            leaves: Pool::default(),
            four: Pool::default(),
            sixteen: Pool::default(),
            forty_eight: Pool::default(),
            all: Pool::default(),
            limit_bytes,
        }
    }

    /// Forgets all nodes and gives their memory back.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limit_bytes);
    }

    /// Bytes of all nodes, freed ones included.
    pub(super) fn held_bytes(&self) -> usize {
        let inner = [Kind::Four, Kind::Sixteen, Kind::FortyEight, Kind::All];
        let of = |&kind: &Kind| any_kind!(self, kind, pool => pool.held_bytes());
        self.leaves.held_bytes() + inner.iter().map(of).sum::<usize>()
    }

    /// Leaves and inner nodes in use.
    pub(super) fn live(&self) -> (usize, usize) {
        let inner = [Kind::Four, Kind::Sixteen, Kind::FortyEight, Kind::All];
        (self.leaves.live(), inner.iter().map(|&kind| any_kind!(self, kind, pool => pool.live())).sum())
    }

    /// Makes sure of a leaf, and of an inner node of this kind.
    pub(super) fn reserve(&mut self, inner: Option<Kind>) -> Result<()> {
        let of_inner = inner.map_or(0, |kind| any_kind!(self, kind, pool => pool.missing_bytes()));
        let requested_bytes = self.held_bytes() + self.leaves.missing_bytes() + of_inner;
        if let Some(limit_bytes) = self.limit_bytes.filter(|&limit| requested_bytes > limit) {
            return Err(Error::MemoryLimit { requested_bytes, limit_bytes });
        }
        self.leaves.reserve(Ref::LEAVES_MAX)?;
        inner.map_or(Ok(()), |kind| any_kind!(mut self, kind, pool => pool.reserve(Ref::NODES_MAX)))
    }

    pub(super) fn put_leaf(&mut self, key: B, value: B) -> Ref {
        Ref::leaf(self.leaves.put(Leaf { key, value }))
    }

    pub(super) fn put_inner<N: Kept<B>>(&mut self, depth: usize, node: N) -> Ref {
        Ref::inner(N::KIND, depth, N::pool(self).put(node))
    }

    pub(super) fn leaf(&self, place: usize) -> &Leaf<B> {
        &self.leaves.nodes[place]
    }

    pub(super) fn leaf_mut(&mut self, place: usize) -> &mut Leaf<B> {
        &mut self.leaves.nodes[place]
    }

    /// Takes a node's place back.
    pub(super) fn free(&mut self, node: Ref) {
        match node.to() {
            To::Nothing => {}
            To::Leaf(place) => self.leaves.free.push(place as u32),
            To::Inner(kind, place) => any_kind!(mut self, kind, pool => pool.free.push(place as u32)),
        }
    }

    #[inline(always)]
    pub(super) fn child<T: Trace>(&self, (kind, place): (Kind, usize), byte: u8) -> Ref {
        any_kind!(self, kind, pool => pool.nodes[place].child::<T>(byte))
    }

    pub(super) fn ask<T: Trace>(&self, (kind, place): (Kind, usize), byte: u8) {
        any_kind!(self, kind, pool => pool.nodes[place].ask::<T>(byte));
    }

    pub(super) fn first_from(&self, (kind, place): (Kind, usize), from: usize) -> Option<(u8, Ref)> {
        any_kind!(self, kind, pool => pool.nodes[place].first_from(from))
    }

    pub(super) fn last_below(&self, (kind, place): (Kind, usize), end: usize) -> Option<(u8, Ref)> {
        any_kind!(self, kind, pool => pool.nodes[place].last_below(end))
    }

    /// Children that a node has, and those that it has room for.
    pub(super) fn filled(&self, (kind, place): (Kind, usize)) -> (usize, usize) {
        fn of<N: Node>(node: &N) -> (usize, usize) {
            (node.len(), N::PLACES)
        }
        any_kind!(self, kind, pool => of(&pool.nodes[place]))
    }

    pub(super) fn replace<T: Trace>(&mut self, (kind, place): (Kind, usize), byte: u8, child: Ref) {
        any_kind!(mut self, kind, pool => changed::<_, T>(&mut pool.nodes[place]).replace(byte, child));
    }

    pub(super) fn add<T: Trace>(&mut self, (kind, place): (Kind, usize), byte: u8, child: Ref) {
        any_kind!(mut self, kind, pool => changed::<_, T>(&mut pool.nodes[place]).add(byte, child));
    }

    pub(super) fn remove<T: Trace>(&mut self, (kind, place): (Kind, usize), byte: u8) {
        any_kind!(mut self, kind, pool => changed::<_, T>(&mut pool.nodes[place]).remove(byte));
    }

    /// Whether a smaller kind would do for a node.
    pub(super) fn is_thin(&self, (kind, place): (Kind, usize)) -> bool {
        fn of<N: Node>(node: &N) -> bool {
            node.len() <= N::THIN
        }
        any_kind!(self, kind, pool => of(&pool.nodes[place]))
    }

    /// The node of another kind with the same children; there is room for it. The old one's place is free.
    pub(super) fn changed_to<N: Kept<B>>(&mut self, old: Ref) -> Ref {
        let To::Inner(kind, place) = old.to() else { return old };
        let (mut new, mut from) = (N::empty(), 0);
        while let Some((byte, child)) = self.first_from((kind, place), from) {
            new.add(byte, child);
            from = usize::from(byte) + 1;
        }
        self.free(old);
        self.put_inner(old.depth(), new)
    }

    /// Makes sure of an inner node of this kind, if memory allows.
    pub(super) fn reserve_inner(&mut self, kind: Kind) -> bool {
        let needed = self.held_bytes() + any_kind!(self, kind, pool => pool.missing_bytes());
        self.limit_bytes.is_none_or(|limit| needed <= limit)
            && any_kind!(mut self, kind, pool => pool.reserve(Ref::NODES_MAX)).is_ok()
    }
}

/// Tells that a node is written.
fn changed<N, T: Trace>(node: &mut N) -> &mut N {
    T::write(core::ptr::from_ref(node).cast(), size_of::<N>());
    node
}

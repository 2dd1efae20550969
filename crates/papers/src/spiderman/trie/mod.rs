//! An adaptive radix tree (Leis, Kemper, Neumann: *The Adaptive Radix Tree: ARTful Indexing for Main-Memory
//! Databases*, ICDE 2013), as another index for the executor: the author's future work (§5.2) is request
//! multiplexing on indexes that aren't B+-Trees.
//!
//! A key is four or eight bytes, the most significant first. An inner node branches on one of them; bytes in
//! which all keys below a node agree have no node (path compression, the optimistic form: a lookup skips
//! them, and compares the whole key at its leaf). Nodes grow and shrink between four kinds
//! (`node.rs`).
//!
//! The trie is for one writer or many readers; it takes no latch. Doesn't care about key and value types;
//! that is the business of [`TrieMap`].
//!
//! # Invariants
//! 1. The depths of the nodes on a way from the root increase.
//! 2. All keys below a node agree in the bytes before its depth; those below its child under byte b have b
//!    at its depth.
//! 3. An inner node has at least two children, and no more than its kind has room for.
//! 4. The pools hold the nodes that the root leads to and no others.

mod map;
mod node;
mod pools;
mod reference;
mod walk;
mod way;

pub use map::TrieMap;
pub use reference::Ref;
pub use walk::TrieWalk;

use core::marker::PhantomData;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work};
use node::{Direct, Indexed, Node, Sorted};
use pools::{Kept, Pools};
use reference::{Kind, To};

/// A map from lanes to lanes. See the file's head.
#[derive(Debug)]
pub struct Trie<B: Bits, T> {
    pools: Pools<B>,
    root: Ref,
    len: usize,
    trace: PhantomData<T>,
}

/// Where a reference to a node is: in another one, under a byte, or the root.
type Holder = Option<((Kind, usize), u8)>;

/// The byte of a key that nodes of a depth branch on.
#[inline(always)]
fn byte_at<B: Bits>(key: B, depth: usize) -> u8 {
    (key.to_u64() >> (8 * (B::BYTES - 1 - depth))) as u8
}

/// The first byte in which two keys differ.
fn first_difference<B: Bits>(one: B, other: B) -> Option<usize> {
    (0..B::BYTES).find(|&depth| byte_at(one, depth) != byte_at(other, depth))
}

impl<B: Bits, T: Trace> Trie<B, T> {
    /// An empty trie, whose nodes take at most so many bytes.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        Self { pools: Pools::new(limit_bytes), root: Ref::NIL, len: 0, trace: PhantomData }
    }

    /// How many keys there are. O(1).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of all nodes, and of those that were freed.
    pub fn memory_bytes(&self) -> usize {
        self.pools.held_bytes()
    }

    /// Leaves and inner nodes in use.
    pub fn nodes(&self) -> (usize, usize) {
        self.pools.live()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pools.clear();
        (self.root, self.len) = (Ref::NIL, 0);
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: B) -> Option<B> {
        T::work(Work::Operation);
        let mut at = self.root;
        while let To::Inner(kind, place) = at.to() {
            T::work(Work::Visit);
            at = self.pools.child::<T>((kind, place), byte_at(key, at.depth()));
        }
        self.get_from(at, key)
    }

    /// As [`Trie::get`], from the leaf that a walk came out at.
    #[inline(always)]
    pub fn get_from(&self, leaf: Ref, key: B) -> Option<B> {
        let To::Leaf(place) = leaf.to() else { return None };
        let leaf = self.pools.leaf(place);
        T::read(core::ptr::from_ref(leaf).cast(), size_of_val(leaf));
        (leaf.key == key).then_some(leaf.value)
    }

    /// Some leaf that agrees with a key as far as any does; `None`: there is no leaf.
    fn nearest(&self, key: B) -> Option<usize> {
        let mut at = self.root;
        loop {
            match at.to() {
                To::Nothing => return None,
                To::Leaf(place) => return Some(place),
                To::Inner(kind, place) => {
                    T::work(Work::Visit);
                    let child = self.pools.child::<T>((kind, place), byte_at(key, at.depth()));
                    let any = || self.pools.first_from((kind, place), 0).map_or(Ref::NIL, |entry| entry.1);
                    at = if child == Ref::NIL { any() } else { child };
                }
            }
        }
    }

    /// The first node on a key's way that doesn't branch before `depth`, and where the reference to it is.
    fn reach(&self, key: B, depth: usize) -> (Holder, Ref) {
        let (mut holder, mut at) = (None, self.root);
        while let To::Inner(kind, place) = at.to()
            && at.depth() < depth
        {
            let byte = byte_at(key, at.depth());
            holder = Some(((kind, place), byte));
            at = self.pools.child::<T>((kind, place), byte);
        }
        (holder, at)
    }

    fn hang(&mut self, holder: Holder, node: Ref) {
        match holder {
            None => self.root = node,
            Some((above, byte)) => self.pools.replace::<T>(above, byte, node),
        }
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the trie is then as before.
    pub fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        T::work(Work::Operation);
        let Some(near) = self.nearest(key) else {
            self.pools.reserve(None)?;
            (self.root, self.len) = (self.pools.put_leaf(key, value), 1);
            return Ok(None);
        };
        let near_key = self.pools.leaf(near).key;
        let Some(depth) = first_difference(key, near_key) else {
            let leaf = self.pools.leaf_mut(near);
            T::write(core::ptr::from_ref(leaf).cast(), size_of_val(leaf));
            return Ok(Some(core::mem::replace(&mut leaf.value, value)));
        };
        let (holder, at) = self.reach(key, depth);
        match at.to() {
            To::Inner(kind, place) if at.depth() == depth => {
                self.add_child(holder, at, (kind, place), (key, value))?;
            }
            _ => {
                self.pools.reserve(Some(Kind::Four))?;
                let leaf = self.pools.put_leaf(key, value);
                let mut fork = Sorted::<4>::empty();
                fork.add(byte_at(near_key, depth), at);
                fork.add(byte_at(key, depth), leaf);
                let fork = self.pools.put_inner(depth, fork);
                self.hang(holder, fork);
            }
        }
        self.len += 1;
        Ok(None)
    }

    /// Puts a leaf into a node, which grows if it is full.
    fn add_child(
        &mut self,
        holder: Holder,
        node: Ref,
        at: (Kind, usize),
        (key, value): (B, B),
    ) -> Result<()> {
        let (children, room) = self.pools.filled(at);
        let larger = (children == room).then_some(match at.0 {
            Kind::Four => Kind::Sixteen,
            Kind::Sixteen => Kind::FortyEight,
            Kind::FortyEight | Kind::All => Kind::All,
        });
        self.pools.reserve(larger)?;
        let node = match larger {
            None => node,
            Some(kind) => {
                let larger = self.changed_to(node, kind);
                self.hang(holder, larger);
                larger
            }
        };
        let leaf = self.pools.put_leaf(key, value);
        if let To::Inner(kind, place) = node.to() {
            self.pools.add::<T>((kind, place), byte_at(key, node.depth()), leaf);
        }
        Ok(())
    }

    fn changed_to(&mut self, node: Ref, kind: Kind) -> Ref {
        fn to<B: Bits, N: Kept<B>>(pools: &mut Pools<B>, node: Ref) -> Ref {
            pools.changed_to::<N>(node)
        }
        T::work(Work::Allocate);
        match kind {
            Kind::Four => to::<B, Sorted<4>>(&mut self.pools, node),
            Kind::Sixteen => to::<B, Sorted<16>>(&mut self.pools, node),
            Kind::FortyEight => to::<B, Indexed>(&mut self.pools, node),
            Kind::All => to::<B, Direct>(&mut self.pools, node),
        }
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: B) -> Option<B> {
        T::work(Work::Operation);
        let (mut above, mut holder, mut at) = (None, None, self.root);
        while let To::Inner(kind, place) = at.to() {
            let byte = byte_at(key, at.depth());
            above = holder.replace((at, (kind, place), byte));
            at = self.pools.child::<T>((kind, place), byte);
        }
        let value = self.get_from(at, key)?;
        self.pools.free(at);
        self.len -= 1;
        match holder {
            None => self.clear(),
            Some((node, place, byte)) => {
                self.pools.remove::<T>(place, byte);
                self.make_thinner(above.map(|(_, place, byte)| (place, byte)), node, place);
            }
        }
        Some(value)
    }

    /// Replaces a node that has lost a child: by its only child, or by a smaller kind where that does and
    /// memory allows.
    fn make_thinner(&mut self, holder: Holder, node: Ref, at: (Kind, usize)) {
        if let (1, Some((_, only))) = (self.pools.filled(at).0, self.pools.first_from(at, 0)) {
            self.pools.free(node);
            return self.hang(holder, only);
        }
        let smaller = match at.0 {
            Kind::Four => return,
            Kind::Sixteen => Kind::Four,
            Kind::FortyEight => Kind::Sixteen,
            Kind::All => Kind::FortyEight,
        };
        if self.pools.is_thin(at) && self.pools.reserve_inner(smaller) {
            let node = self.changed_to(node, smaller);
            self.hang(holder, node);
        }
    }

    /// Checks the invariants of the file's head. O(n).
    ///
    /// # Errors
    /// The first broken one.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (mut leaves, mut inner) = (0, 0);
        let mut left = vec![(self.root, 0, 0u64)];
        while let Some((node, depth, prefix)) = left.pop() {
            match node.to() {
                To::Nothing if node == self.root => {}
                To::Nothing => return Err(Broken::new("a child that is no node")),
                To::Leaf(place) => {
                    leaves += 1;
                    let key = self.pools.leaf(place).key;
                    if self.get(key).is_none() {
                        return Err(Broken::new(format!(
                            "{key:?} is in a leaf that its way doesn't lead to"
                        )));
                    }
                }
                To::Inner(kind, place) => {
                    inner += 1;
                    let (children, room) = self.pools.filled((kind, place));
                    if node.depth() < depth || !(2..=room).contains(&children) {
                        return Err(Broken::new(format!("{node:?} at {prefix:x} has {children} children")));
                    }
                    let mut from = 0;
                    while let Some((byte, child)) = self.pools.first_from((kind, place), from) {
                        left.push((child, node.depth() + 1, prefix << 8 | u64::from(byte)));
                        from = usize::from(byte) + 1;
                    }
                }
            }
        }
        if (leaves, inner) != self.pools.live() || leaves != self.len {
            return Err(Broken::new(format!("{leaves} leaves and {inner} nodes can be reached")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

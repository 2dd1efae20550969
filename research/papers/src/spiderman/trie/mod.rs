//! An adaptive radix tree (Leis, Kemper, Neumann: *The Adaptive Radix Tree: ARTful Indexing for Main-Memory
//! Databases*, ICDE 2013) under optimistic lock coupling (Leis, Scheibner, Kemper, Neumann: *The ART of
//! Practical Synchronization*, DaMoN 2016), as another index for the executor: the author's future work
//! (§5.2) is request multiplexing on indexes that aren't B+-Trees.
//!
//! A key is four or eight bytes, the most significant first. An inner node branches on one of them; bytes
//! in which all keys below a node agree have no node (path compression, the optimistic form: a lookup
//! skips them, and compares the whole key at its leaf). Nodes grow and shrink between four kinds
//! (`node.rs`).
//!
//! This module doesn't depend on key and value types; [`TrieMap`] converts them.
//!
//! # Thread safety
//! Everything takes `&self`, except [`Trie::clear`]. A descending thread reads a node's version, finds the
//! child, reads the child's version and then validates the node's version: if it is unchanged, the child
//! was the right one when *its* version was read. An update latches, under the versions that it read, the
//! node that it changes; and, if it replaces that node, the one above first. It waits for no latch: if one
//! isn't free, or a version has changed, everything is released and the operation restarts. Nothing is
//! allocated while a latch is held.
//!
//! # Invariants
//! 1. The depths of the nodes on a path from the root increase.
//! 2. All keys below a node agree in the bytes before its depth, and those bytes are the same for as long as
//!    it is in the trie; keys below its child under byte b have b at its depth.
//! 3. An inner node has at least two children, and no more than its kind has room for.
//! 4. The pools have the nodes that are reachable from the root and no others.
//! 5. A node's version grows when its children change and when it leaves the trie, and continues to grow
//!    when its memory is reused; so a version also marks obsolete nodes. A leaf has none: its key never
//!    changes, its value does under the latch of the node that leads to it, and it is reused only after
//!    that node's version has grown. A new value isn't a change of that node: it is one word.

mod check;
mod descend;
mod hold;
mod insert;
mod map;
mod node;
mod options;
mod pools;
mod reference;
mod remove;
mod scan;
mod walk;
mod way;

pub use map::TrieMap;
pub use options::TrieOptions;
pub use walk::{Landed, Place, TrieWalk};

/// A paused scan over a map: see [`TrieMap::scanner`].
pub type Scan<'a, K, V, T> = crate::common::scan::Scan<'a, K, V, Trie<<K as Key>::Bits, T>>;

use crate::error;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::{Bits, Key};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::{Striped, Word};
use node::Node;
use pools::Pools;
use reference::{Kind, Ref};

/// The place above all nodes, in separate cache lines (processors fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Root {
    latch: Word,
    child: Word,
}

/// A map from lanes to lanes. See the file's head.
#[derive(Debug)]
pub struct Trie<B: Bits, T> {
    root: Root,
    pools: Pools<B>,
    len: Striped,
    restarts: Word,
    touch: PhantomData<T>,
}

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
    /// An empty trie.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new(options: TrieOptions) -> error::Result<Self> {
        Ok(Self {
            root: Root::default(),
            pools: Pools::new(options)?,
            len: Striped::default(),
            restarts: Word::new(0),
            touch: PhantomData,
        })
    }

    /// Returns the number of keys: exact while no other thread changes it.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Returns whether there is no key, as exact as [`Trie::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the nodes in use.
    pub fn live_bytes(&self) -> usize {
        self.pools.live_bytes()
    }

    /// Bytes of every node that was ever in use.
    pub fn held_bytes(&self) -> usize {
        self.pools.held_bytes()
    }

    /// Leaves and inner nodes in use.
    pub fn nodes(&self) -> (usize, usize) {
        self.pools.live()
    }

    /// Returns the number of operations that restarted because another thread interfered.
    pub fn restarts(&self) -> u64 {
        self.restarts.load_relaxed()
    }

    /// Removes everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When the memory of an empty trie is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.root = Root::default();
        self.len.set(0);
        self.pools.clear()
    }

    #[inline(always)]
    fn inner(&self, kind: Kind, place: NodeRef) -> Node<'_, T> {
        self.pools.inner(kind, place)
    }

    /// The child of the place above all nodes.
    #[inline(always)]
    fn top(&self) -> Ref {
        T::read(core::ptr::from_ref(&self.root.child).cast(), size_of::<u32>());
        Ref::from_word(self.root.child.load_relaxed() as u32)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_between;

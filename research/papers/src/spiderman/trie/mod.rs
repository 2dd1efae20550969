//! An adaptive radix tree (Leis, Kemper, Neumann: *The Adaptive Radix Tree: ARTful Indexing for Main-Memory
//! Databases*, ICDE 2013) under optimistic lock coupling (Leis, Scheibner, Kemper, Neumann: *The ART of
//! Practical Synchronization*, DaMoN 2016), as another index for the executor: the author's future work
//! (§5.2) is request multiplexing on indexes that aren't B+-Trees.
//!
//! A key is four or eight bytes, the most significant first. An inner node branches on one of them; bytes in
//! which all keys below a node agree have no node (path compression, the optimistic form: a lookup skips
//! them, and compares the whole key at its leaf). Nodes grow and shrink between four kinds
//! (`node.rs`).
//!
//! Doesn't care about key and value types; that is the business of [`TrieMap`].
//!
//! # Thread safety
//! Everything takes `&self`, but for [`Trie::clear`]. A thread that goes down reads a node's version, finds
//! the child, reads the child's version and then looks at the node's version again: if it is the same, the
//! child was the right one when *its* version was read. An update latches, under the versions that it saw,
//! the node that it changes; and, where it replaces that node, the one above first. It waits for no latch:
//! if one isn't free, or a version has changed, everything is released and the operation starts again.
//! Nothing is allocated while a latch is held.
//!
//! # Invariants
//! 1. The depths of the nodes on a way from the root increase.
//! 2. All keys below a node agree in the bytes before its depth, and those bytes are the same for as long as
//!    it is in the trie; keys below its child under byte b have b at its depth.
//! 3. An inner node has at least two children, and no more than its kind has room for.
//! 4. The pools hold the nodes that the root leads to and no others.
//! 5. A node's version grows when its children change and when it leaves the trie, and goes on growing when
//!    its memory is used again; so a version is a mark of being obsolete as well. A leaf has none: its key
//!    never changes, its value does under the latch of the node that leads to it, and it is used again only
//!    after that node's version has grown. A new value is no change of that node: it is one word.

mod check;
mod descend;
mod hold;
mod insert;
mod map;
mod node;
mod pools;
mod reference;
mod remove;
mod scan;
mod walk;
mod way;

pub use map::TrieMap;
pub use walk::{Landed, Place, TrieWalk};

/// A paused scan over a map: see [`TrieMap::scan`].
pub type Scan<'a, K, V, T> = crate::common::scan::Scan<'a, K, V, Trie<<K as Key>::Bits, T>>;

use crate::error;
use core::marker::PhantomData;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::{Bits, Key};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::{Backoff, Striped, Word};
use node::Node;
use pools::Pools;
use reference::{Kind, Ref, To};

/// What a trie is told when it is made.
#[derive(Debug, Clone, Copy)]
pub struct TrieOptions {
    /// The most bytes that nodes may take. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether to ask the system for huge pages.
    pub huge_pages: bool,
    /// How many nodes of a kind references can tell apart, if not fewer; tests make it tiny.
    pub references: u32,
}

impl Default for TrieOptions {
    fn default() -> Self {
        Self { limit_bytes: None, huge_pages: true, references: u32::MAX }
    }
}

/// The place above all nodes, in cache lines of its own (processors fetch them in pairs).
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

    /// How many keys there are: exact when nobody is changing that.
    pub fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// Whether there is no key, as exact as [`Trie::len`].
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

    /// How often operations started again because others were in the way.
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

//! The engine of an [`Index`](crate::Index) whose keys or values fit no word. Its operations are in the files
//! of this folder.

use crate::byte_tree::ByteTree;
use crate::index::Options;
use core::fmt;
use core::marker::PhantomData;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::{BytesValue, Form, Kind};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;

/// The form in which operations take a value and scans lend it: the value itself if it is `Copy`, `&[u8]`
/// for a `Vec<u8>`, `&str` for a `String`.
pub type Lent<'v, V> = <<V as BytesValue>::Form as Form<V>>::Lent<'v>;

/// The form of a type's values.
pub(super) const fn kind<V: BytesValue>() -> Kind {
    <V::Form as Form<V>>::KIND
}

/// The engine of byte strings. Programs have it as an [`Index`](crate::Index); only this crate's tests name
/// it.
pub struct ByteStrings<K: BytesKey, V: BytesValue> {
    pub(super) tree: ByteTree,
    pub(super) of: PhantomData<fn() -> (K, V)>,
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) when the system has none for a first node.
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with [`Options`] of the caller's choice; `group` makes no difference here.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`](crate::Error::KernelUnavailable), or memory for a first node is refused.
    pub fn with_options(options: Options) -> Result<Self> {
        let tree = ByteTree::with_keys(options.of_tree(), kind::<V>(), K::IS_VERSIONED)?;
        Ok(Self { tree, of: PhantomData })
    }

    /// How many keys there are. O(1). Exact when no thread is changing that.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether there is no key; as exact as [`ByteStrings::len`].
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Bytes that the index holds: of every node that was ever in use, those with long strings included,
    /// and of the tables for lookups. O(1). It is never more than
    /// [`Options::limit_bytes`](crate::index::Options::limit_bytes). The same things as in
    /// [`Index::memory_bytes`](crate::Index::memory_bytes) aren't counted, and eight bytes per node with
    /// long strings.
    pub fn memory_bytes(&self) -> usize {
        self.tree.held_bytes()
    }

    /// Bytes of the nodes in the tree, of long strings, and of the tables for lookups that are in use. O(1).
    pub fn live_bytes(&self) -> usize {
        self.tree.live_bytes()
    }

    /// Levels, nodes, fill, splits and restarts. O(nodes); about right while others change the index.
    pub fn stats(&self) -> Stats {
        self.tree.stats()
    }

    /// Checks the invariants of every node. O(n). For an index that no thread is changing.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    /// Removes all keys and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.tree.clear();
    }

    pub(crate) fn reset(&mut self) {
        self.tree.clear();
    }

    /// Implements [`Index::shrink`](crate::Index::shrink).
    pub(crate) fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.tree.shrink(fill)
    }
}

impl<K: BytesKey, V: BytesValue> fmt::Debug for ByteStrings<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("len", &self.tree.len()).finish_non_exhaustive()
    }
}

//! The index itself. Its operations are in the files of this folder.

use super::access::Access;
use super::engine::{Engine, KeyFor};
use crate::blink::Tries;
use crate::tree::Shared;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// An ordered map, one value per key, for many concurrent readers and writers: `BTreeMap` through `&self`.
///
/// Keys are numbers, strings and tuples of them ([`IndexKey`](crate::IndexKey)). Values are numbers and strings
/// ([`IndexValue`]), and of any other type `T` as `Arc<T>`; they are returned by value. The
/// types choose how entries are stored: [the module](crate::index#keys-and-values) has the table.
///
/// Every operation takes `&self`; an index can be shared by reference or by [`Arc`](std::sync::Arc). The
/// [module documentation](crate::index) lists the costs and the concurrency guarantees of all operations.
///
/// ```
/// use latchless::Index;
///
/// let prices = Index::<u64, u32>::new()?;
/// for (item, price) in [(101, 7), (99, 5), (105, 3), (250, 9)] {
///     prices.insert(item, price)?;
/// }
/// assert_eq!(prices.get(99), Some(5));
/// assert_eq!(prices.floor(104), Some((101, 7)));
/// assert_eq!(prices.range(100..200).collect::<Vec<_>>(), [(101, 7), (105, 3)]);
/// assert_eq!(prices.get_all(&[250, 251]), [Some(9), None]);
///
/// let titles = Index::<String, String>::new()?;
/// titles.insert("https://example.org/", "Example Domain")?;
/// assert_eq!(titles.get("https://example.org/").as_deref(), Some("Example Domain"));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Index<K: KeyFor<V>, V: IndexValue> {
    pub(super) engine: K::Engine,
}

impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns the tries of an operation with a closure on `key`.
    pub(crate) fn tries(&self, key: K::Probe<'_>) -> Tries<'_> {
        self.engine.tries(key)
    }

    /// Returns what stores the entries.
    #[inline(always)]
    pub(crate) fn engine(&self) -> &K::Engine {
        &self.engine
    }

    pub(crate) fn engine_mut(&mut self) -> &mut K::Engine {
        &mut self.engine
    }
}

/// Keys and values that fit words.
impl<K: Key, V: Value> Index<K, V> {
    /// Returns access to the tree, shared with other threads.
    #[inline(always)]
    pub(super) fn access(&self) -> Access<'_, K, V, Shared> {
        Access::new(&self.engine)
    }
}

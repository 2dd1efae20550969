//! What an index takes beyond what it counts, and what its values take.

use super::engine::KeyFor;
use super::order::Scanned;
use super::{Index, Storage};
use crate::frozen::{Frozen, NotFrozen};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index_value::IndexValue;

/// Memory.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Moves all entries to new nodes, each filled to this degree, and returns the memory of the old nodes
    /// and tables to the system: after many removals, since emptied nodes are kept for reuse. O(n). Entries,
    /// options and statistics stay as they are.
    ///
    /// Old and new nodes are held together for a moment, and count together towards limits. Nodes that were
    /// fuller than `fill` take more memory afterwards. Values in an [`Arc`](std::sync::Arc) or a
    /// [`Slot`](super::Slot) stay where they are, and so does a page of them as long as one value of it is
    /// left; those that were removed are dropped first, as by [`Index::flush`].
    ///
    /// # Errors
    /// Memory was refused: [`Error::MemoryLimit`](crate::Error::MemoryLimit),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory). The index is then unchanged.
    ///
    /// ```
    /// use latchless::{FillFactor, Index};
    ///
    /// let mut index: Index<u64, u64> = (0..100_000).map(|key| (key, 2 * key)).collect();
    /// let full = index.memory_bytes();
    /// index.retain(|key, _| key % 10 == 0);
    /// assert!(index.memory_bytes() >= full, "kept for reuse");
    /// index.shrink(FillFactor::default())?;
    /// assert!(index.memory_bytes() < full / 5);
    /// assert_eq!((index.len(), index.get(70)), (10_000, Some(140)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.engine.shrink(fill)
    }

    /// Packs the index as [`shrink`](Index::shrink) does, into nodes that are as full as they can be, and
    /// returns it for reading alone, with shared ownership: see [`Frozen`]. O(n).
    ///
    /// # Errors
    /// Memory for the packed nodes was refused, as by [`Index::shrink`]. [`NotFrozen`] has the reason, and
    /// the index as it was: [`Frozen::from`] freezes it without packing, in O(1).
    ///
    /// ```
    /// use latchless::Index;
    ///
    /// let table = Index::<u64, u64>::new()?;
    /// (0..100_000).try_for_each(|key: u64| table.insert(key * 7919 % 100_003, key).map(drop))?;
    /// let open_bytes = table.memory_bytes();
    /// let table = table.freeze()?;
    /// assert!(table.memory_bytes() < open_bytes * 9 / 10);
    /// let reader = { let table = table.clone(); std::thread::spawn(move || table.range(..10).count()) };
    /// assert_eq!((table.first(), reader.join().unwrap()), (Some((0, 0)), 10));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn freeze(self) -> Result<Frozen<Self>, NotFrozen<Self>> {
        Frozen::packed(self, Self::shrink)
    }

    /// Returns the bytes that the system has committed for the index: [`memory_bytes`](Index::memory_bytes),
    /// the memory ahead of the last node, which becomes resident when it is written, and the free lists.
    /// O(1).
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, key)).collect();
    /// assert!(index.mapped_bytes() >= index.memory_bytes());
    /// ```
    pub fn mapped_bytes(&self) -> usize {
        self.engine.mapped_bytes()
    }

    /// Returns the bytes of the values, and of what they own or point to as far as that is known: the size
    /// of a word, the length of a string, an `Arc` with its counts and its content
    /// ([`IndexValue::bytes_of`]). O(n).
    ///
    /// Words and strings are in the index's nodes, and so in [`memory_bytes`](Index::memory_bytes); of an
    /// `Arc` no more than the pointer is. An `Arc` that is the value of several keys counts for each.
    ///
    /// ```
    /// use latchless::Index;
    /// use std::sync::Arc;
    ///
    /// let names: Index<u64, String> = [(5, "five".to_owned()), (7, "seven".to_owned())].into();
    /// assert_eq!(names.value_bytes(), 9);
    /// let pages = Index::<u64, Arc<[u8]>>::new()?;
    /// pages.insert(1, vec![0; 4096].into())?;
    /// assert_eq!(pages.value_bytes(), 4096 + 16 + 16, "a wide pointer, and two counts");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn value_bytes(&self) -> usize {
        self.engine.fold(.., 0, |sum, _, value| sum + V::bytes_of(value))
    }
}

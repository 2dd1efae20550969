//! The indexes of this library, and the operations on a whole index, for any type of keys.

use engine::bytes::MultiIndex;
use engine::index::Options;
use engine::{Broken, FillFactor, Index, IndexValue, KeyFor, Result, Stats};

/// An index of any kind of words.
pub type Words = Index<u64, u64>;

/// An index of byte strings.
pub type Strings<V> = Index<Vec<u8>, V>;

/// An index of byte strings that have many rows.
pub type Rows = MultiIndex<Vec<u8>>;

/// An index.
pub trait Whole: Sized + Send + Sync {
    fn with_options(options: Options) -> Result<Self>;
    fn len(&self) -> usize;
    fn memory_bytes(&self) -> usize;
    fn live_bytes(&self) -> usize;
    fn stats(&self) -> Stats;
    fn check_invariants(&self) -> Result<(), Broken>;
    /// Removes all keys, concurrently with other threads.
    fn clear(&self);
    /// Moves all entries to new nodes, and returns the memory of the old ones to the system.
    fn shrink(&mut self, fill: FillFactor) -> Result<()>;
}

macro_rules! whole {
    ([$($parameter:tt)*] $index:ty; $clear:expr) => {
        impl<$($parameter)*> Whole for $index {
            fn with_options(options: Options) -> Result<Self> {
                <$index>::with_options(options)
            }

            fn len(&self) -> usize {
                <$index>::len(self)
            }

            fn memory_bytes(&self) -> usize {
                <$index>::memory_bytes(self)
            }

            fn live_bytes(&self) -> usize {
                <$index>::live_bytes(self)
            }

            fn stats(&self) -> Stats {
                <$index>::stats(self)
            }

            fn check_invariants(&self) -> Result<(), Broken> {
                <$index>::check_invariants(self)
            }

            fn clear(&self) {
                let clear: fn(&Self) = $clear;
                clear(self);
            }

            fn shrink(&mut self, fill: FillFactor) -> Result<()> {
                <$index>::shrink(self, fill)
            }
        }
    };
}

whole!([K: KeyFor<V>, V: IndexValue] Index<K, V>; |index| index.clear());
whole!([] Rows; |index| {
    index.remove_range::<[u8]>(..).expect("all keys are a range");
});

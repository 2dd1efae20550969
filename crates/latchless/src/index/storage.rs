//! Construction, size, memory and checks of a store of entries, whatever its keys are. An engine of an
//! [`Index`](crate::Index) and the index of handles below a [`Boxed`](super::boxed::Boxed) are such stores;
//! their operations on entries differ.

use super::Options;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;

/// See the module documentation.
pub trait Storage: Sized + Send + Sync {
    /// Creates an empty store.
    fn create(options: Options) -> Result<Self>;
    fn key_count(&self) -> usize;
    fn memory_bytes(&self) -> usize;
    fn live_bytes(&self) -> usize;
    fn mapped_bytes(&self) -> usize;
    /// Returns the counts of the statistics, and the levels. O(1).
    fn counted(&self) -> Stats;
    fn stats(&self) -> Stats;
    fn check_invariants(&self) -> Result<(), Broken>;
    /// Removes all keys and returns the memory to the system.
    fn reset(&mut self);
    /// Moves the keys to new nodes, each filled to this degree, and returns the memory of the old ones to the
    /// system.
    ///
    /// # Errors
    /// Memory was refused; nothing has changed then.
    fn shrink(&mut self, fill: FillFactor) -> Result<()>;
    /// Drops the values that were removed or replaced and that no reader can see any more.
    fn flush(&self) {}
}

/// Implements [`Storage`] for a public type by its methods, and by the field that stores its keys.
macro_rules! storage {
    ([$($parameter:tt)*] $type:ty, $keys:ident) => {
        impl<$($parameter)*> $crate::index::Storage for $type {
            fn create(options: $crate::index::Options) -> latchless_core::base::error::Result<Self> {
                Self::with_options(options)
            }

            #[inline]
            fn key_count(&self) -> usize {
                self.len()
            }

            fn memory_bytes(&self) -> usize {
                self.memory_bytes()
            }

            fn live_bytes(&self) -> usize {
                self.live_bytes()
            }

            fn mapped_bytes(&self) -> usize {
                self.$keys.mapped_bytes()
            }

            fn counted(&self) -> latchless_core::base::stats::Stats {
                self.$keys.counted()
            }

            fn stats(&self) -> latchless_core::base::stats::Stats {
                self.stats()
            }

            fn check_invariants(
                &self,
            ) -> latchless_core::base::error::Result<(), latchless_core::base::error::Broken> {
                self.check_invariants()
            }

            fn reset(&mut self) {
                self.reset();
            }

            fn shrink(
                &mut self,
                fill: latchless_core::base::fill::FillFactor,
            ) -> latchless_core::base::error::Result<()> {
                self.shrink(fill)
            }
        }
    };
}
pub(crate) use storage;

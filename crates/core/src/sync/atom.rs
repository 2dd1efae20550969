//! One trait for the atomics that latches can be built on: words of 32 and of 64 bits, the standard
//! library's or loom's.

use super::primitive::{AtomicU32, AtomicU64};
use core::fmt::Debug;
use core::sync::atomic::Ordering;

/// An atomic of 32 or 64 bits, with an interface of 64 bits.
pub trait Atom: Debug + Send + Sync + 'static {
    /// Its width in bytes.
    const BYTES: usize;
    /// Creates an atomic with this value, truncated to its width.
    fn new(value: u64) -> Self;
    /// Returns the value.
    fn load(&self, order: Ordering) -> u64;
    /// Sets the value, truncated to the width.
    fn store(&self, value: u64, order: Ordering);
    /// Replaces the value if it is the expected one; otherwise returns it.
    ///
    /// # Errors
    /// The value that was found instead.
    fn compare_exchange(&self, expected: u64, value: u64, won: Ordering, lost: Ordering) -> Result<u64, u64>;
    /// Adds to the value, modulo the width, and returns the old value.
    fn fetch_add(&self, amount: u64, order: Ordering) -> u64;
    /// Subtracts from the value, modulo the width, and returns the old value.
    fn fetch_sub(&self, amount: u64, order: Ordering) -> u64;
    /// Sets these bits and returns the old value.
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64;
}

macro_rules! atom {
    ($($atomic:ident: $bits:ty),*) => {$(
        impl Atom for $atomic {
            const BYTES: usize = <$bits>::BITS as usize / 8;

            #[inline(always)]
            fn new(value: u64) -> Self {
                $atomic::new(value as $bits)
            }

            #[inline(always)]
            fn load(&self, order: Ordering) -> u64 {
                u64::from($atomic::load(self, order))
            }

            #[inline(always)]
            fn store(&self, value: u64, order: Ordering) {
                $atomic::store(self, value as $bits, order);
            }

            #[inline(always)]
            fn compare_exchange(
                &self,
                expected: u64,
                value: u64,
                won: Ordering,
                lost: Ordering,
            ) -> Result<u64, u64> {
                $atomic::compare_exchange(self, expected as $bits, value as $bits, won, lost)
                    .map(u64::from)
                    .map_err(u64::from)
            }

            #[inline(always)]
            fn fetch_add(&self, amount: u64, order: Ordering) -> u64 {
                u64::from($atomic::fetch_add(self, amount as $bits, order))
            }

            #[inline(always)]
            fn fetch_sub(&self, amount: u64, order: Ordering) -> u64 {
                u64::from($atomic::fetch_sub(self, amount as $bits, order))
            }

            #[inline(always)]
            fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
                u64::from($atomic::fetch_or(self, bits as $bits, order))
            }
        }
    )*};
}
atom!(AtomicU32: u32, AtomicU64: u64);

//! Words of node memory that one thread may write while others read.
//!
//! These are always the standard library's atomics: they lie in mapped memory, where loom's can't. The few
//! orderings that node words need have names here, so no code above this module spells one out.

use super::{Atom, step};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Eight bytes that may be read while they are written: the reader gets the old or the new value.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    /// Creates a word with this value.
    pub const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// Returns the value, relaxed. It is meaningful only once the version that it was read under has been
    /// validated.
    #[inline(always)]
    pub fn load_relaxed(&self) -> u64 {
        step();
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the value, ordered after all earlier reads: it is at least as new as everything that was
    /// written before a published word that one of those reads saw.
    #[inline(always)]
    pub fn load_after_fence(&self) -> u64 {
        step();
        fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the value, relaxed. For the holder of a latch, or for memory that no other thread knows of yet.
    #[inline(always)]
    pub fn store_relaxed(&self, value: u64) {
        step();
        self.0.store(value, Ordering::Relaxed);
    }

    /// Sets a value that refers to something: a thread that [`Word::follow`]s it sees all earlier writes.
    #[inline(always)]
    pub fn publish(&self, value: u64) {
        step();
        self.0.store(value, Ordering::Release);
    }

    /// Returns a value that refers to something, with everything that was written before it was published.
    #[inline(always)]
    pub fn follow(&self) -> u64 {
        step();
        self.0.load(Ordering::Acquire)
    }

    /// Sets bits that refer to something, and leaves the others unchanged.
    #[inline(always)]
    pub fn publish_bits(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::Release);
    }

    /// Sets bits, relaxed, and leaves the others unchanged.
    #[inline(always)]
    pub fn set_bits(&self, bits: u64) {
        step();
        self.0.fetch_or(bits, Ordering::Relaxed);
    }

    /// Clears bits, relaxed, and returns those of them that were set.
    #[inline(always)]
    pub fn take_bits(&self, bits: u64) -> u64 {
        step();
        self.0.fetch_and(!bits, Ordering::Relaxed) & bits
    }

    /// Adds to the value, relaxed; for counters.
    #[inline(always)]
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Adds to the value by a load and a store, while no other thread writes the word. Not a scheduling
    /// point.
    #[inline(always)]
    pub fn add_alone(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }
}

/// A cache line of words.
pub type Line = [Word; 8];

/// Four bytes that may be read while they are written, like [`Word`].
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word32(AtomicU32);

mod sealed {
    /// Restricts [`super::BitsWord`] to the two words of this file, for which any bits are valid.
    pub trait Sealed {}
    impl Sealed for super::Word {}
    impl Sealed for super::Word32 {}
}

/// A word as wide as an encoded key, for nodes whose fields all have one width. Sealed: [`Word`] and
/// [`Word32`].
pub trait BitsWord: sealed::Sealed + Default + Debug + Send + Sync + 'static {
    /// The unsigned integer of this width.
    type Bits: Copy;
    /// The underlying atomic.
    type Atom: Atom;
    /// Returns the value, relaxed. See [`Word::load_relaxed`].
    fn load_relaxed(&self) -> Self::Bits;
    /// Sets the value, relaxed. See [`Word::store_relaxed`].
    fn store_relaxed(&self, value: Self::Bits);
    /// Sets a value that refers to something. See [`Word::publish`].
    fn publish(&self, value: Self::Bits);
    /// Sets the value unless the word has a larger one, so the value never decreases, whatever the order of
    /// calls by several threads. Orders as [`BitsWord::publish`] does.
    fn publish_max(&self, value: Self::Bits);
    /// Returns a value that refers to something. See [`Word::follow`].
    fn follow(&self) -> Self::Bits;
    /// Returns the underlying atomic, for a latch.
    fn atom(&self) -> &Self::Atom;
}

macro_rules! bits_word {
    ($($word:ident, $atomic:ident: $bits:ty),*) => {$(
        impl BitsWord for $word {
            type Bits = $bits;
            type Atom = $atomic;

            #[inline(always)]
            fn load_relaxed(&self) -> $bits {
                self.0.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn store_relaxed(&self, value: $bits) {
                self.0.store(value, Ordering::Relaxed);
            }

            #[inline(always)]
            fn publish(&self, value: $bits) {
                self.0.store(value, Ordering::Release);
            }

            #[inline(always)]
            fn publish_max(&self, value: $bits) {
                self.0.fetch_max(value, Ordering::Release);
            }

            #[inline(always)]
            fn follow(&self) -> $bits {
                self.0.load(Ordering::Acquire)
            }

            #[inline(always)]
            fn atom(&self) -> &$atomic {
                &self.0
            }
        }
    )*};
}
bits_word!(Word, AtomicU64: u64, Word32, AtomicU32: u32);

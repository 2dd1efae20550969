//! Words of node memory that one thread may write while others read.
//!
//! Always the standard library's atomics: they lie in mapped memory, where loom's can't. The few
//! orderings that node words need have names here, so no floor above spells one out.

use super::{Atom, step};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Eight bytes that may be read while they are written: the reader gets the old or the new value.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word(AtomicU64);

impl Word {
    /// A word of this value.
    pub const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// The value, in no order with anything else. What it is worth is settled by validating the
    /// version that it was read under.
    #[inline(always)]
    pub fn load_relaxed(&self) -> u64 {
        step();
        self.0.load(Ordering::Relaxed)
    }

    /// The value, read after everything that was read before: whatever was written before a published word
    /// that one of those reads saw is seen here.
    #[inline(always)]
    pub fn load_after_fence(&self) -> u64 {
        step();
        fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the value, in no order with anything else. For the holder of a latch, or for memory that
    /// no other thread knows of yet.
    #[inline(always)]
    pub fn store_relaxed(&self, value: u64) {
        step();
        self.0.store(value, Ordering::Relaxed);
    }

    /// Sets a value that leads to something: a thread that [`Word::follow`]s it sees what was written before.
    #[inline(always)]
    pub fn publish(&self, value: u64) {
        step();
        self.0.store(value, Ordering::Release);
    }

    /// A value that leads to something, and everything that was written before it was published.
    #[inline(always)]
    pub fn follow(&self) -> u64 {
        step();
        self.0.load(Ordering::Acquire)
    }

    /// Sets bits that lead to something, and leaves the others as they are.
    #[inline(always)]
    pub fn publish_bits(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::Release);
    }

    /// Sets bits, in no order with anything else, and leaves the others as they are.
    #[inline(always)]
    pub fn set_bits(&self, bits: u64) {
        step();
        self.0.fetch_or(bits, Ordering::Relaxed);
    }

    /// Clears bits, in no order with anything else, and says which of them were set.
    #[inline(always)]
    pub fn take_bits(&self, bits: u64) -> u64 {
        step();
        self.0.fetch_and(!bits, Ordering::Relaxed) & bits
    }

    /// Adds to the value, in no order with anything else; for counters.
    #[inline(always)]
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// As [`Word::add`], of a word that no other thread writes meanwhile: by a load and a store. No step at
    /// which others matter.
    #[inline(always)]
    pub fn add_alone(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }
}

/// A cache line of words.
pub type Line = [Word; 8];

/// Four bytes that may be read while they are written. As [`Word`].
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Word32(AtomicU32);

mod sealed {
    /// Keeps [`super::BitsWord`] to the two words of this file: any bits are one of them.
    pub trait Sealed {}
    impl Sealed for super::Word {}
    impl Sealed for super::Word32 {}
}

/// A word that is as wide as an encoded key: what nodes are made of whose fields all have one width.
/// Sealed: [`Word`] and [`Word32`].
pub trait BitsWord: sealed::Sealed + Default + Debug + Send + Sync + 'static {
    /// The unsigned integer of this width.
    type Bits: Copy;
    /// The atomic that the word is.
    type Atom: Atom;
    /// As [`Word::load_relaxed`].
    fn load_relaxed(&self) -> Self::Bits;
    /// As [`Word::store_relaxed`].
    fn store_relaxed(&self, value: Self::Bits);
    /// As [`Word::publish`].
    fn publish(&self, value: Self::Bits);
    /// As [`BitsWord::publish`], unless the word has a larger value: so the value never becomes
    /// smaller, in whatever order threads call this.
    fn publish_max(&self, value: Self::Bits);
    /// As [`Word::follow`].
    fn follow(&self) -> Self::Bits;
    /// The atomic, for a latch to be made of.
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

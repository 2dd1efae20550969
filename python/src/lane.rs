//! The words that an index stores: 32 or 64 bits. Keys of every dtype become words of the same order.

use latchless::{Bits, Key, Value};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// How the words of a caller's keys are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As unsigned integers.
    Unsigned,
    /// As signed integers.
    Signed,
    /// As signed integers, of which the smallest is NaT, which is no key.
    Time,
    /// As floats. NaN is no key, and −0.0 is 0.0.
    Float,
}

impl Order {
    /// Whether some words are no keys.
    pub fn is_partial(self) -> bool {
        matches!(self, Self::Time | Self::Float)
    }
}

/// A word of an array that other threads may write at any moment.
pub trait Shared: Sync {
    /// The type of its words.
    type Word: Copy + Send + Sync;
    /// The word.
    fn load(&self) -> Self::Word;
    /// Another word.
    fn store(&self, word: Self::Word);
}

/// A word of an index: the image of a key.
pub trait Lane: Bits + Key + Value + numpy::Element {
    /// A word in memory that Python's side may write at any moment.
    type Atomic: Shared<Word = Self> + 'static;
    /// The word whose order is the key's, or nothing where the word is no key.
    fn ordered(self, order: Order) -> Option<Self>;
    /// The key's own word.
    fn restored(self, order: Order) -> Self;
    /// The word that is restored to this one, be it a key or not.
    fn unrestored(self, order: Order) -> Self;
    /// How far the keys of two stored words are apart. Distances compare as integers; those of floats are the
    /// bits of a `f64`, whose order is the same.
    fn distance(self, other: Self, order: Order) -> u64;
    /// The next larger word.
    fn next(self) -> Option<Self>;
    /// The next smaller word.
    fn before(self) -> Option<Self>;
}

macro_rules! shared {
    ($atomic:ty, $word:ty, $from:expr, $into:expr) => {
        impl Shared for $atomic {
            type Word = $word;

            #[inline(always)]
            fn load(&self) -> $word {
                $from(<$atomic>::load(self, Relaxed))
            }

            #[inline(always)]
            fn store(&self, word: $word) {
                <$atomic>::store(self, $into(word), Relaxed);
            }
        }
    };
}

shared!(AtomicU32, u32, |word| word, |word| word);
shared!(AtomicU64, u64, |word| word, |word| word);
shared!(AtomicU8, bool, |byte| byte != 0, u8::from);

macro_rules! lane {
    ($word:ty, $signed:ty, $atomic:ty, $float:ty) => {
        impl Lane for $word {
            type Atomic = $atomic;

            #[inline(always)]
            fn ordered(self, order: Order) -> Option<Self> {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                match order {
                    Order::Time if self == SIGN => None,
                    Order::Float if self & !SIGN > <$float>::INFINITY.to_bits() => None,
                    Order::Float if self == SIGN => Some(SIGN),
                    _ => Some(self.unrestored(order)),
                }
            }

            #[inline(always)]
            fn restored(self, order: Order) -> Self {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                match order {
                    Order::Unsigned => self,
                    Order::Signed | Order::Time => self ^ SIGN,
                    Order::Float => self ^ ((self >> (<$word>::BITS - 1)).wrapping_sub(1) | SIGN),
                }
            }

            #[inline(always)]
            fn unrestored(self, order: Order) -> Self {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                match order {
                    Order::Unsigned => self,
                    Order::Signed | Order::Time => self ^ SIGN,
                    Order::Float => self ^ ((self as $signed >> (<$word>::BITS - 1)) as $word | SIGN),
                }
            }

            #[inline(always)]
            fn distance(self, other: Self, order: Order) -> u64 {
                if order != Order::Float {
                    return self.abs_diff(other).into();
                }
                let number = |word: Self| f64::from(<$float>::from_bits(word.restored(order)));
                // Two infinities have no difference.
                if self == other { 0 } else { (number(self) - number(other)).abs().to_bits() }
            }

            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            fn before(self) -> Option<Self> {
                self.checked_sub(1)
            }
        }
    };
}

lane!(u32, i32, AtomicU32, f32);
lane!(u64, i64, AtomicU64, f64);

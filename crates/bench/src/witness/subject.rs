//! The indexes that are measured, each called as its users call it, and their keys.
//!
//! Operations on values in slots pin once, batches too.

use latchless::index::{Exclusive, Slot};
use latchless::{Index, Result};
use std::hint::black_box;

/// A value of a boxed index: of the size of a small struct.
pub type Boxed = [u64; 4];
/// Entries of a range.
pub const RANGE: usize = 48;

/// An index with its operations. Those that return a number return how many keys were present.
pub trait Subject {
    /// A key, as the caller stores it.
    type Key;
    /// Inserts a key, or replaces its value.
    fn insert(&mut self, key: &Self::Key) -> Result<usize>;
    /// Removes a key.
    fn remove(&mut self, key: &Self::Key) -> usize;
    /// Looks a key up.
    fn get(&self, key: &Self::Key) -> usize;
    /// Finds the entry at a key or above it.
    fn ceiling(&self, key: &Self::Key) -> usize;
    /// Reads the first [`RANGE`] entries from a key on.
    fn range(&self, low: &Self::Key) -> usize;
    /// Looks a batch up.
    fn get_many(&self, keys: &[Self::Key]) -> Result<usize>;
    /// Inserts a batch.
    fn insert_many(&mut self, keys: &[Self::Key]) -> Result<usize>;
    /// Finds the newest version of a key; `None`: keys have no versions.
    fn newest(&self, _: &Self::Key) -> Option<usize> {
        None
    }
    /// Finds those of a batch.
    fn newest_many(&self, _: &[Self::Key]) -> Result<usize> {
        Ok(0)
    }
}

/// Returns the number of answers that are some; each is computed.
pub fn present<T>(answers: &[Option<T>]) -> usize {
    black_box(answers).iter().flatten().count()
}

/// [`Index`] and its exclusive form have the same methods.
macro_rules! words {
    ($($subject:ty),*) => {$(
        impl Subject for $subject {
            type Key = u64;

            fn insert(&mut self, &key: &u64) -> Result<usize> {
                Ok(usize::from(black_box(<$subject>::insert(self, key, key)?).is_some()))
            }

            fn remove(&mut self, &key: &u64) -> usize {
                usize::from(black_box(<$subject>::remove(self, key)).is_some())
            }

            fn get(&self, &key: &u64) -> usize {
                usize::from(black_box(<$subject>::get(self, key)).is_some())
            }

            fn ceiling(&self, &key: &u64) -> usize {
                usize::from(black_box(<$subject>::ceiling(self, key)).is_some())
            }

            fn range(&self, &low: &u64) -> usize {
                <$subject>::range(self, low..).take(RANGE).map(black_box).count()
            }

            fn get_many(&self, keys: &[u64]) -> Result<usize> {
                let mut answers = vec![None; keys.len()];
                <$subject>::get_many(self, keys, &mut answers)?;
                Ok(present(&answers))
            }

            fn insert_many(&mut self, keys: &[u64]) -> Result<usize> {
                let entries: Vec<(u64, u64)> = keys.iter().map(|&key| (key, key)).collect();
                let mut replaced = vec![None; keys.len()];
                <$subject>::insert_many(self, &entries, &mut replaced).map_err(|incomplete| incomplete.error)?;
                Ok(present(&replaced))
            }
        }
    )*};
}

words!(Index<u64, u64>, Exclusive<'_, u64, u64>);

impl Subject for Index<Vec<u8>, u64> {
    type Key = Vec<u8>;

    fn insert(&mut self, key: &Vec<u8>) -> Result<usize> {
        Ok(usize::from(black_box(Self::insert(self, key, 1)?).is_some()))
    }

    fn remove(&mut self, key: &Vec<u8>) -> usize {
        usize::from(black_box(Self::remove(self, key)).is_some())
    }

    fn get(&self, key: &Vec<u8>) -> usize {
        usize::from(black_box(Self::get(self, key)).is_some())
    }

    fn ceiling(&self, key: &Vec<u8>) -> usize {
        usize::from(black_box(Self::ceiling(self, key)).is_some())
    }

    fn range(&self, low: &Vec<u8>) -> usize {
        Self::range(self, &**low..).take(RANGE).map(black_box).count()
    }

    fn get_many(&self, keys: &[Vec<u8>]) -> Result<usize> {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut answers = vec![None; keys.len()];
        Self::get_many(self, &keys, &mut answers)?;
        Ok(present(&answers))
    }

    fn insert_many(&mut self, keys: &[Vec<u8>]) -> Result<usize> {
        let entries: Vec<(&[u8], u64)> = keys.iter().map(|key| (&**key, 1)).collect();
        let mut replaced = vec![None; keys.len()];
        Self::insert_many(self, &entries, &mut replaced).map_err(|incomplete| incomplete.error)?;
        Ok(present(&replaced))
    }
}

/// An index with values in slots, over either kind of key: its key type, the pattern of a stored key, and
/// the name there by which a request has it.
macro_rules! boxed {
    ($($key:ty, $stored:pat => $asked:expr;)*) => {$(
        impl Subject for Index<$key, Slot<Boxed>> {
            type Key = $key;

            fn insert(&mut self, $stored: &$key) -> Result<usize> {
                Ok(usize::from(black_box(Self::insert(self, $asked, [1; 4])?).is_some()))
            }

            fn remove(&mut self, $stored: &$key) -> usize {
                usize::from(black_box(Self::remove(self, $asked)).is_some())
            }

            fn get(&self, $stored: &$key) -> usize {
                usize::from(self.get_with($asked, |value| _ = black_box(value)).is_some())
            }

            fn ceiling(&self, $stored: &$key) -> usize {
                usize::from(self.ceiling_with($asked, |_, value| _ = black_box(value)).is_some())
            }

            fn range(&self, $stored: &$key) -> usize {
                Self::range(self, $asked..).take(RANGE).map(black_box).count()
            }

            fn get_many(&self, keys: &[$key]) -> Result<usize> {
                let (keys, mut found) = (keys.iter().map(|$stored| $asked).collect::<Vec<_>>(), 0);
                self.get_each(&keys, |_, value| found += usize::from(black_box(value).is_some()));
                Ok(found)
            }

            fn insert_many(&mut self, keys: &[$key]) -> Result<usize> {
                let mut replaced = vec![None; keys.len()];
                let entries: Vec<_> = keys.iter().map(|$stored| ($asked, Slot([1; 4]))).collect();
                Self::insert_many(self, &entries, &mut replaced).map_err(|incomplete| incomplete.error)?;
                Ok(present(&replaced))
            }
        }
    )*};
}

boxed! {
    u64, &key => key;
    Vec<u8>, key => &key[..];
}

/// Returns the `at`th of as many different numbers as there are, in no order.
pub fn number(at: usize) -> u64 {
    let mut key = (at as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    key = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key = (key ^ key >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ key >> 31
}

/// Returns the `at`th of as many different texts, with prefixes that several share.
pub fn text(at: usize) -> Vec<u8> {
    let number = number(at);
    format!("customer/{:05}/order/{:011x}", number % 65_536, number >> 20).into_bytes()
}

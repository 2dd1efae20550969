//! The order of a key's changes: a change holds its key's stripe from the append until it is in the index.

use std::sync::{Mutex, MutexGuard, PoisonError};

const STRIPES: usize = 64;

/// Sixty-four latches; each key has one of them.
#[derive(Debug)]
pub struct Stripes([Mutex<()>; STRIPES]);

/// Stripes that are held until this is dropped.
pub type Held<'a> = Vec<MutexGuard<'a, ()>>;

/// A set of stripes, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set(u64);

impl Set {
    /// All of them.
    pub const ALL: Self = Self(u64::MAX);

    /// Those of the keys of these cells.
    pub fn of(cells: impl IntoIterator<Item = u64>) -> Self {
        let mut set = 0;
        for cell in cells {
            // The upper bits of the product depend on all bits of the cell.
            set |= 1 << (cell.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - STRIPES.trailing_zeros()));
            if set == u64::MAX {
                break;
            }
        }
        Self(set)
    }

    /// Those of both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Default for Stripes {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Stripes {
    /// Holds these until the guards are dropped. All threads take them in one order, so none waits in a
    /// circle.
    pub fn hold(&self, set: Set) -> Held<'_> {
        let stripes = self.0.iter().enumerate().filter(|(at, _)| set.0 >> at & 1 == 1);
        // A thread that panicked left no data in them.
        stripes.map(|(_, stripe)| stripe.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

//! The two sides of a key: where a search begins on each, and the entries that one leaf has there.

use crate::node::operation::Search;
use crate::node::{Leaf, LeafReader};
use core::ops::Bound;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{next, previous};

/// The nearest entries on both sides of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside<B> {
    pub before: Option<(B, B)>,
    pub after: Option<(B, B)>,
}

/// Whether the entry of the key itself is a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// It is, on both sides: nothing is nearer.
    Counts,
    /// It isn't: the nearest other entries are.
    IsPassed,
}

impl Own {
    /// Returns where the neighbours of a key are looked for on both sides.
    pub fn of<K>(self, key: K) -> Bound<K> {
        match self {
            Self::Counts => Bound::Included(key),
            Self::IsPassed => Bound::Excluded(key),
        }
    }
}

/// The start of the search on each side. `None`: there is no key on that side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Starts<B> {
    pub(super) before: Option<B>,
    pub(super) after: Option<B>,
}

impl<B: Bits> Starts<B> {
    #[inline(always)]
    pub(super) fn of(key: B, own: Own) -> Self {
        match own {
            Own::Counts => Self { before: Some(key), after: Some(key) },
            Own::IsPassed => Self { before: previous(key), after: next(key) },
        }
    }

    /// Finds the entries of a leaf on both sides.
    #[inline(always)]
    pub(super) fn in_leaf<S: Search>(self, leaf: Leaf<'_, B>) -> Beside<B> {
        let (low, high) = (leaf.low(), leaf.high());
        let before = match self.before {
            Some(from) if from >= low => LeafReader(leaf).last_up_to::<S>(from.min(high)),
            _ => None,
        };
        let after = match self.after {
            Some(from) if from <= high => LeafReader(leaf).first_from::<S>(from.max(low)),
            _ => None,
        };
        Beside { before, after }
    }
}

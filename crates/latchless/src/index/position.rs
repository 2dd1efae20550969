//! The position of a cursor. Each kind of cursor finds entries in another way; the moves are the same.

use core::ops::Bound::{self, Excluded, Unbounded};
use latchless_core::base::index::Direction::{self, Forward, Reverse};

/// On an entry, of which `E` is kept, before the first one, or after the last one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position<E> {
    BeforeFirst,
    At(E),
    AfterLast,
}

impl<E> Position<E> {
    /// Returns the position after a search: on the entry that was found, or past the end in that direction.
    pub(super) fn after(found: Option<E>, direction: Direction) -> Self {
        match (found, direction) {
            (Some(entry), _) => Self::At(entry),
            (None, Forward) => Self::AfterLast,
            (None, Reverse) => Self::BeforeFirst,
        }
    }

    /// Returns the start of the search for the next entry in a direction; `None` past the end, where a cursor
    /// stays.
    pub(super) fn onward(&self, direction: Direction) -> Option<Bound<&E>> {
        match (self, direction) {
            (Self::At(entry), _) => Some(Excluded(entry)),
            (Self::BeforeFirst, Forward) | (Self::AfterLast, Reverse) => Some(Unbounded),
            (Self::BeforeFirst, Reverse) | (Self::AfterLast, Forward) => None,
        }
    }

    /// Returns the entry.
    pub(super) fn entry(&self) -> Option<&E> {
        match self {
            Self::At(entry) => Some(entry),
            Self::BeforeFirst | Self::AfterLast => None,
        }
    }
}

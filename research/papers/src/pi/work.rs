//! A batch's queries in lanes, and what they change.

use crate::pi::batch::partition::Piece;
use latchless_core::base::key::Bits;

/// A query (Definition 2), in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query<B> {
    Search,
    Insert(B),
    Delete,
    /// Up to this key, and at most that many entries. `usize::MAX` if the limit exceeds the size of the
    /// index.
    Range(B, usize),
}

/// The queries of a batch, by their numbers.
#[derive(Clone, Copy)]
pub(super) enum Work<'a, B> {
    Search,
    Delete,
    Insert(&'a (dyn Fn(usize) -> B + Sync)),
    Mixed {
        query_at: &'a (dyn Fn(usize) -> Query<B> + Sync),
        /// Whether some of them are ranges that a limit can end.
        limited: bool,
    },
}

impl<B: Bits> Work<'_, B> {
    #[inline(always)]
    pub(super) fn query(&self, number: u32) -> Query<B> {
        match self {
            Work::Search => Query::Search,
            Work::Delete => Query::Delete,
            Work::Insert(value_at) => Query::Insert(value_at(number as usize)),
            Work::Mixed { query_at, .. } => query_at(number as usize),
        }
    }

    /// The query as a range, if it is one.
    pub(super) fn range(&self, number: u32) -> Option<Piece<B>> {
        let Work::Mixed { query_at, .. } = self else { return None };
        match query_at(number as usize) {
            Query::Range(high, limit) => Some(Piece { number, high, limit }),
            _ => None,
        }
    }
}

/// A change to the list: the new value of a key, or its removal.
pub(super) type Update<B> = (B, Option<B>);

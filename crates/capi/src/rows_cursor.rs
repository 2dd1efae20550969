//! A cursor over pairs: a position that moves both ways, and owns the index together with others.
//!
//! It reads some pairs at a time, the more the further it goes in a direction, and sees them as they were
//! then.

use crate::whole::Rows;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use engine::Direction::{self, Forward, Reverse};
use std::sync::Arc;

/// The lengths of the first page and of the longest ones.
const PAGE: usize = 8;
const PAGE_MAX: usize = 256;

/// A pair as a cursor has it, and as it is looked for.
type Pair = (Vec<u8>, u64);
type Named<'a> = (&'a [u8], u64);

/// A position: on a pair, before the first one, or after the last one.
#[derive(Debug)]
pub struct RowsCursor {
    index: Arc<Rows>,
    /// Some pairs in the order of the index, and which one it is on.
    page: Vec<Pair>,
    at: Option<usize>,
    /// If it is on none, whether it is after the last one.
    is_after: bool,
    /// The length of the next page.
    len: usize,
}

impl RowsCursor {
    /// A cursor before the first pair.
    pub fn of(index: Arc<Rows>) -> Self {
        Self { index, page: Vec::new(), at: None, is_after: false, len: PAGE }
    }

    /// The pair that it is on.
    pub fn current(&self) -> Option<Named<'_>> {
        self.at.map(|at| (&*self.page[at].0, self.page[at].1))
    }

    /// Moves to the first pair in a direction, from there on.
    fn load(&mut self, from: Bound<Named<'_>>, direction: Direction) {
        let pairs = match direction {
            Forward => self.index.range_pairs((from, Unbounded)),
            Reverse => self.index.range_pairs((Unbounded, from)),
        };
        self.page = match direction {
            Forward => pairs.take(self.len).collect(),
            Reverse => pairs.rev().take(self.len).collect(),
        };
        self.at = if self.page.is_empty() { None } else { Some(0) };
        self.is_after = direction == Forward;
        if direction == Reverse {
            self.page.reverse();
            self.at = self.page.len().checked_sub(1);
        }
    }

    /// Moves to a pair, or to the first one in a direction; to an end if there is none.
    pub fn seek(&mut self, pair: Option<Named<'_>>, direction: Direction) {
        self.len = PAGE;
        self.load(pair.map_or(Unbounded, Included), direction);
    }

    /// Moves to the next pair in a direction, or to the end there.
    pub fn step(&mut self, direction: Direction) {
        let Some(at) = self.at else {
            // From the other end, and from this one nowhere.
            if self.is_after != (direction == Forward) {
                self.seek(None, direction);
            }
            return;
        };
        let next = if direction == Forward { at.checked_add(1) } else { at.checked_sub(1) };
        self.at = next.filter(|&next| next < self.page.len());
        if self.at.is_none() {
            let last = core::mem::take(&mut self.page[at]);
            self.len = (2 * self.len).min(PAGE_MAX);
            self.load(Excluded((&last.0, last.1)), direction);
        }
    }
}

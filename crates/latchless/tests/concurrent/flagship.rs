//! The flagship: the public index, and the tree below it with encoded keys of either width.

use crate::history::Edit;
use crate::subject::{Subject, updates_are_shared};
use latchless::tree::{self, BlinkOptions, BlinkTree, Group, LeafCopy, READ_TRIES, Shared, Sweep};
use latchless::{Direction, FillFactor, Index, Result, TryInsertError};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span, check_buffers, check_side_by_side};
use latchless_core::base::key::Bits;
use latchless_core::base::span::encoded_range;
use std::num::NonZeroUsize;

impl Subject for Index<u64, u64> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn offers(&self, _: Edit) -> bool {
        true
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        match edit {
            Edit::Put(value) => self.insert(key, value).expect("there is memory"),
            Edit::Add(value) => match self.try_insert(key, value) {
                Ok(()) => None,
                Err(TryInsertError::Present { present, .. }) => Some(present),
                Err(TryInsertError::Refused { error, .. }) => panic!("there is memory: {error}"),
            },
            Edit::Replace(value) => self.replace(key, value),
            Edit::Swap { expected, value } => {
                self.compare_exchange(key, expected, value).map_or_else(|found| found, Some)
            }
            Edit::Remove => self.remove(key),
            Edit::RemoveIf(expected) => self.compare_remove(key, expected).map_or_else(|found| found, Some),
        }
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Forward { self.ceiling(key) } else { self.floor(key) }
    }

    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Forward { self.higher(key) } else { self.lower(key) }
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Forward { self.first() } else { self.last() }
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        if direction == Direction::Forward { self.pop_first() } else { self.pop_last() }
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(Index::live_bytes(self))
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        Some((self.stats().restarts, u64::from(READ_TRIES) + 1))
    }
}

/// The tree, through the traits that tests use. Keys and values are below the largest encoded key.
pub struct Tree<B>(BlinkTree<B>);

impl<B: Bits> Tree<B> {
    pub fn new(options: BlinkOptions) -> Self {
        Self(BlinkTree::new(options).expect("one leaf finds room"))
    }
}

impl<B: Bits> Default for Tree<B> {
    fn default() -> Self {
        Self::new(BlinkOptions { huge_pages: false, ..BlinkOptions::default() })
    }
}

/// Returns both ends of a range, inclusive; inverted if it is empty.
fn ends<B: Bits>(span: Span<u64>) -> Result<(B, B)> {
    let most = B::MAX.to_u64();
    match encoded_range(&span)?.filter(|&(low, _)| low <= most) {
        Some((low, high)) => Ok((B::truncate(low), B::truncate(high.min(most)))),
        None => Ok((B::MAX, B::MIN)),
    }
}

fn lanes<B: Bits>(edit: Edit) -> tree::Edit<B> {
    let lane = B::truncate;
    match edit {
        Edit::Put(value) => tree::Edit::Put(lane(value)),
        Edit::Add(value) => tree::Edit::Add(lane(value)),
        Edit::Replace(value) => tree::Edit::Replace(lane(value)),
        Edit::Swap { expected, value } => tree::Edit::Swap { expected: lane(expected), value: lane(value) },
        Edit::Remove => tree::Edit::Remove,
        Edit::RemoveIf(expected) => tree::Edit::RemoveIf(lane(expected)),
    }
}

impl<B: Bits> OrderedIndex<u64, u64> for Tree<B> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get::<Shared>(B::truncate(key)).map(Bits::to_u64)
    }

    fn get_many(&self, keys: &[u64], answers: &mut [Option<u64>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let group = Group::Of(NonZeroUsize::new(3).expect("not zero"));
        let key_at = |at: usize| B::truncate(keys[at]);
        self.0.get_each::<Shared>(keys.len(), group, key_at, |at, answer| {
            answers[at] = answer.map(Bits::to_u64)
        });
        Ok(())
    }

    fn page(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        let ((low, high), mut filled) = (ends::<B>(span)?, 0);
        check_buffers(keys.len(), values.len())?;
        self.0.scan::<Shared>(low, high, direction, keys.len(), |found, their_values| {
            let part = found.len().min(keys.len() - filled);
            for i in 0..part {
                let at = if direction == Direction::Forward { i } else { found.len() - 1 - i };
                (keys[filled], values[filled]) = (found[at].to_u64(), their_values[at].to_u64());
                filled += 1;
            }
            filled < keys.len()
        });
        Ok(filled)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        let (low, high) = ends::<B>(span)?;
        let sweep = Sweep::new(low, high, direction, 100);
        Ok(Box::new(Paused { tree: &self.0, sweep, direction, leaf: LeafCopy::default(), passed: 0 }))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        let (low, high) = ends::<B>(span)?;
        Ok(self.0.count::<Shared>(low, high))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        let entry_at = |at: usize| (B::truncate(entries[at].0), B::truncate(entries[at].1));
        self.0.bulk_load(entries.len(), entry_at, fill, NonZeroUsize::MIN)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.held_bytes())
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.check_invariants()
    }

    updates_are_shared!();
}

impl<B: Bits> ConcurrentIndex<u64, u64> for Tree<B> {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        let edited = self.0.edit::<Shared>(B::truncate(key), tree::Edit::Put(B::truncate(value)))?;
        Ok(edited.before.map(Bits::to_u64))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        let edited = self.0.edit::<Shared>(B::truncate(key), tree::Edit::Remove);
        edited.expect("removing needs no memory").before.map(Bits::to_u64)
    }
}

impl<B: Bits> Subject for Tree<B> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn offers(&self, _: Edit) -> bool {
        true
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let edited = self.0.edit::<Shared>(B::truncate(key), lanes(edit)).expect("there is memory");
        edited.before.map(Bits::to_u64)
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(self.0.live_bytes())
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        let found = self.0.nearest::<Shared>(B::truncate(key), direction);
        found.map(|(key, value)| (key.to_u64(), value.to_u64()))
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        let start = if direction == Direction::Forward { B::MIN } else { B::MAX };
        let found = self.0.pop::<Shared>(start, direction);
        found.map(|(key, value)| (key.to_u64(), value.to_u64()))
    }

    fn leaf_end(&self, key: u64) -> Option<u64> {
        Some(self.0.leaf_end::<Shared>(B::truncate(key)).to_u64())
    }

    fn restarts(&self) -> Option<(u64, u64)> {
        Some((self.0.stats().restarts, u64::from(READ_TRIES) + 1))
    }
}

/// A scan that keeps the entries of its leaf that it hasn't returned yet.
struct Paused<'a, B: Bits> {
    tree: &'a BlinkTree<B>,
    sweep: Sweep<B>,
    direction: Direction,
    leaf: LeafCopy<B>,
    passed: usize,
}

impl<B: Bits> Scanner<u64, u64> for Paused<'_, B> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        let mut filled = 0;
        while filled < keys.len() {
            if self.passed == self.leaf.keys().len() {
                self.passed = 0;
                if !self.sweep.next_leaf::<Shared>(self.tree, &mut self.leaf) {
                    break;
                }
            }
            let forward = self.direction == Direction::Forward;
            let at = if forward { self.passed } else { self.leaf.keys().len() - 1 - self.passed };
            (keys[filled], values[filled]) = (self.leaf.keys()[at].to_u64(), self.leaf.values()[at].to_u64());
            (filled, self.passed) = (filled + 1, self.passed + 1);
        }
        Ok(filled)
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut keys = vec![0; values.len()];
        self.fill(&mut keys, values)
    }
}

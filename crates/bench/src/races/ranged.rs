//! Ranges as users write them: a loop over an index's iterator, and a loop over its leaves.
//!
//! Both add up values, so that answers can be compared; they differ in how the entries arrive.

use super::word::{Word, number};
use latchless::index::{Entries, ExclusiveIndex};
use latchless::{Index, Result};
use latchless_core::base::index::{OrderedIndex, Sum};
use latchless_rivals::{BTree, Driven};
use std::ops::{Bound, ControlFlow};

/// An index whose ranges can be raced.
pub trait Ranged<L>: OrderedIndex<L, L>
where
    L: Copy,
{
    /// Adds up the first `limit` entries from `from` upwards, one by one: `range(from..).take(limit)`.
    ///
    /// # Errors
    /// What the index refuses.
    fn by_iterator(&self, from: L, limit: usize) -> Result<Sum>;

    /// Adds up the same entries in slices, leaf by leaf.
    ///
    /// # Errors
    /// What the index refuses.
    fn by_leaf(&self, from: L, limit: usize) -> Result<Sum>;
}

/// Adds up the values of an iterator.
#[inline(always)]
fn added<L: Word>(entries: impl Iterator<Item = (L, L)>) -> Sum {
    let mut sum = Sum::default();
    for (_, value) in entries {
        sum.entries += 1;
        sum.total = sum.total.wrapping_add(number(value));
    }
    sum
}

/// Adds up the values of a slice, at most `limit` in total.
#[inline(always)]
fn add<L: Word>(sum: &mut Sum, values: &[L], limit: usize) -> ControlFlow<()> {
    let wanted = &values[..values.len().min(limit - sum.entries)];
    sum.entries += wanted.len();
    sum.total = wanted.iter().fold(sum.total, |total, &value| total.wrapping_add(number(value)));
    if sum.entries < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl<L: Word> Ranged<L> for Index<L, L> {
    #[inline(always)]
    fn by_iterator(&self, from: L, limit: usize) -> Result<Sum> {
        Ok(added(self.range(from..).take(limit)))
    }

    #[inline(always)]
    fn by_leaf(&self, from: L, limit: usize) -> Result<Sum> {
        let mut sum = Sum::default();
        let _ = self.scan_chunks(from.., |_, values| add(&mut sum, values, limit));
        Ok(sum)
    }
}

impl<L: Word> Ranged<L> for ExclusiveIndex<L, L> {
    #[inline(always)]
    fn by_iterator(&self, from: L, limit: usize) -> Result<Sum> {
        Ok(added(Entries::of(self, from..).take(limit)))
    }

    #[inline(always)]
    fn by_leaf(&self, from: L, limit: usize) -> Result<Sum> {
        let (mut sum, span) = (Sum::default(), (Bound::Included(from), Bound::Unbounded));
        self.for_each_chunk(span, limit, &mut |_, values| {
            let _ = add(&mut sum, values, limit);
        })?;
        Ok(sum)
    }
}

/// The standard library's map has an iterator and shows no leaves.
impl<L: Word> Ranged<L> for Driven<BTree<L>> {
    #[inline(always)]
    fn by_iterator(&self, from: L, limit: usize) -> Result<Sum> {
        Ok(added(self.inner().map().range(from..).map(|(&key, &value)| (key, value)).take(limit)))
    }

    #[inline(always)]
    fn by_leaf(&self, from: L, limit: usize) -> Result<Sum> {
        self.by_iterator(from, limit)
    }
}

/// Any other index. A rival's sum is a loop over its own iterator; the papers' structures have scans and
/// no iterator, and their sum is their scan.
impl<L: Word> Ranged<L> for dyn OrderedIndex<L, L> + '_ {
    fn by_iterator(&self, from: L, limit: usize) -> Result<Sum> {
        self.sum((Bound::Included(from), Bound::Unbounded), limit)
    }

    fn by_leaf(&self, from: L, limit: usize) -> Result<Sum> {
        self.by_iterator(from, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways end where they should: in a leaf, at its end, at the end of the index.
    #[test]
    fn every_way_sees_the_same_entries() {
        let mut index = Index::<u64, u64>::new().unwrap();
        let mut alone = ExclusiveIndex::from(Index::new().unwrap());
        let mut map = Driven::<BTree<u64>>::default();
        for key in 0..1000 {
            OrderedIndex::insert(&mut index, 2 * key, key).unwrap();
            alone.insert(2 * key, key).unwrap();
            OrderedIndex::<u64, u64>::insert(&mut map, 2 * key, key).unwrap();
        }
        for (from, limit) in [(0, 1), (7, 48), (100, 200), (1990, 48), (0, 5000), (2000, 3)] {
            let first = u64::div_ceil(from, 2);
            let entries = limit.min(1000u64.saturating_sub(first) as usize);
            let right = Sum { entries, total: (first..first + entries as u64).sum() };
            let all: [&dyn Fn() -> Result<Sum>; 8] = [
                &|| index.by_iterator(from, limit),
                &|| index.by_leaf(from, limit),
                &|| alone.by_iterator(from, limit),
                &|| alone.by_leaf(from, limit),
                &|| map.by_iterator(from, limit),
                &|| map.by_leaf(from, limit),
                &|| (&index as &dyn OrderedIndex<u64, u64>).by_iterator(from, limit),
                &|| (&map as &dyn OrderedIndex<u64, u64>).by_leaf(from, limit),
            ];
            for (at, way) in all.iter().enumerate() {
                assert_eq!(way().unwrap(), right, "way {at} from {from}, {limit}");
            }
        }
    }
}

//! The entries of a leaf that are nearest to a key.

use super::hints::Shape;
use super::leaf::{Leaf, Place};
use super::leaf_reader::LeafReader;
use crate::node::lines::Lines;
use latchless_core::base::key::Bits;

impl<B: Bits> LeafReader<'_, B> {
    /// Returns the first entry at or after `key`.
    #[inline(always)]
    pub fn first_from<S: Lines>(self, key: B) -> Option<(B, B)> {
        let (first, shape) = (self.first_block::<S>(key), self.shape());
        // Not by closures: they wouldn't be inlined.
        for at in first..Leaf::<B>::BLOCKS {
            let found = self.first_between::<S>(shape, at, key, B::MAX);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns the last entry at or before `key`.
    #[inline(always)]
    pub fn last_up_to<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let at = self.last_block::<S>(key);
        for at in (0..=at).rev() {
            if let Some((found, _)) = self.last_between::<S>(shape, at, B::MIN, key) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the first entry at or after `key`, if it is certainly in block `at`, which the hints named
    /// for `key`.
    #[inline(always)]
    pub fn first_from_in<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let found = self.first_between::<S>(shape, at, key, B::MAX)?;
        // Where hints alone aren't conclusive, an earlier block may also have an entry at or after `key`;
        // not if this one has an entry before `key`.
        let first = found.0 == self.first_of(at);
        (!first || shape.is_plain()).then_some(found)
    }

    /// Returns the last entry at or before `key`, if it is certainly in block `at`, which the hints named
    /// for `key`.
    #[inline(always)]
    pub fn last_up_to_in<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let (found, place) = self.last_between::<S>(shape, at, B::MIN, key)?;
        // Hints of two fields or picked bits may name a block too early for a key that isn't present.
        let last = place + 1 >= shape.count(at);
        (!last || shape.has_one_field()).then_some(found)
    }

    /// Returns the first entry at or after `key`, if it isn't in block `at`, which the hints named for
    /// `key`, and is certainly in the next block.
    #[inline(always)]
    pub fn first_behind<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let (shape, next) = (self.shape(), at + 1);
        let is_sure = shape.is_plain() && next < Leaf::<B>::BLOCKS;
        if is_sure { self.first_between::<S>(shape, next, key, B::MAX) } else { None }
    }

    /// Returns the last entry at or before `key`, if it isn't in block `at`, which the hints named for
    /// `key`, and is certainly in the block before.
    #[inline(always)]
    pub fn last_before<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let before = at.checked_sub(1).filter(|_| shape.is_plain())?;
        Some(self.last_between::<S>(shape, before, B::MIN, key)?.0)
    }

    #[inline(always)]
    fn first_between<S: Lines>(self, shape: Shape<B>, at: usize, low: B, high: B) -> Option<(B, B)> {
        let found = self.between::<S>(shape, at, low, high);
        (found != 0).then(|| self.entry_at(Place { block: at, at: found.trailing_zeros() as usize }))
    }

    /// Returns the entry, and its place in the block.
    #[inline(always)]
    fn last_between<S: Lines>(
        self,
        shape: Shape<B>,
        block: usize,
        low: B,
        high: B,
    ) -> Option<((B, B), usize)> {
        let at = self.between::<S>(shape, block, low, high).checked_ilog2()? as usize;
        Some((self.entry_at(Place { block, at }), at))
    }

    /// Returns one bit for each entry of block `at`: whether its key lies in the range.
    #[inline(always)]
    fn between<S: Lines>(self, shape: Shape<B>, at: usize, low: B, high: B) -> u32 {
        S::keys_between(self.line(at), low, high) & ((1 << shape.count(at)) - 1)
    }
}

//! Changing a leaf: the words of its places. The caller holds the latch, or the leaf is not yet reachable.
//!
//! In reading order: `leaf_seek.rs` finds the block of a key, `leaf_update.rs` inserts and lays out,
//! `leaf_ends.rs` inserts at an end.

use super::hints::{self, Shape};
use super::leaf::{Leaf, Place};
use super::{SHAPE, assert_held, header, set_lane};
use core::ops::Deref;
use latchless_core::base::key::Bits;

/// A leaf that is changed.
#[derive(Debug, Clone, Copy)]
pub struct LeafEditor<'a, B>(pub Leaf<'a, B>);

impl<'a, B> Deref for LeafEditor<'a, B> {
    type Target = Leaf<'a, B>;

    #[inline(always)]
    fn deref(&self) -> &Leaf<'a, B> {
        &self.0
    }
}

impl<B: Bits> LeafEditor<'_, B> {
    /// Those of the leaf.
    pub(super) const BLOCKS: usize = Leaf::<B>::BLOCKS;
    pub(super) const WIDTH: usize = Leaf::<B>::WIDTH;
    pub(super) const PER_BLOCK: usize = Leaf::<B>::PER_BLOCK;
    pub(super) const CAPACITY: usize = Leaf::<B>::CAPACITY;

    #[inline(always)]
    pub(super) fn set_shape(self, shape: Shape<B>) {
        header(self.node)[SHAPE].store_relaxed(shape.0);
    }

    /// Sets the hint of block `at`, which isn't the first.
    pub(super) fn set_block_hint(self, shape: Shape<B>, at: usize, hint: u16) {
        let places = hints::block_hint(self.node, at) & shape.place_bits();
        hints::set_block_hint(self.node, at, hint & !shape.place_bits() | places);
    }

    /// Sets the value at a place. For the holder of the latch.
    #[inline(always)]
    pub fn set_value(self, place: Place, value: B) {
        assert_held(self.node);
        set_lane(self.line(place.block), Self::WIDTH + place.at, value);
    }

    #[inline(always)]
    pub(super) fn put_at(self, place: Place, entry: (B, B)) {
        let line = self.line(place.block);
        set_lane(line, place.at, entry.0);
        set_lane(line, Self::WIDTH + place.at, entry.1);
    }
}

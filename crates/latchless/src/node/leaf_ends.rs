//! Inserts at the ends of a leaf, where most go if keys come in order.
//!
//! Such an entry needs no search: its block is the last one that isn't empty, or the first, or the one next
//! to that. Its hint has to satisfy the same conditions as in the middle (`leaf_update.rs`): it is in order
//! with that of the adjacent entry, and names no other block. If that can't be decided at once, nothing is
//! inserted.

use super::assert_held;
use super::hints::{HINT_MAX, Shape};
use super::leaf::Place;
use super::leaf_editor::LeafEditor;
use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;

impl<B: Bits> LeafEditor<'_, B> {
    /// Inserts an entry after all others, or before them. Returns `false` if it doesn't belong there, or
    /// needs the general insert; nothing has changed then.
    #[inline(always)]
    pub fn push_at_end(self, is_last: bool, entry: (B, B)) -> bool {
        if is_last { self.push_back(entry) } else { self.push_front(entry) }
    }

    /// Inserts an entry after all others. See [`LeafEditor::push_at_end`].
    #[inline(always)]
    fn push_back(self, entry: (B, B)) -> bool {
        assert_held(self.node);
        let (shape, key) = (self.shape(), entry.0);
        let Some((at, count)) = shape.last_taken() else { return false };
        let greatest = self.key(Place { block: at, at: count - 1 });
        let is_full = count == Self::PER_BLOCK;
        let (home, place) = if is_full { (at + 1, 0) } else { (at, count) };
        let (before, hint) = self.two_hints(shape, greatest, key);
        if key <= greatest || home >= Self::BLOCKS || !are_in_order(shape, before, hint, is_full) {
            return false;
        }
        // Blocks that were emptied keep their hints.
        if home + 1 < Self::BLOCKS && self.block_hint(shape, home + 1) <= hint {
            return false;
        }
        if is_full {
            self.set_block_hint(shape, home, hint);
        }
        self.put_at(Place { block: home, at: place }, entry);
        self.set_shape(shape.with_one_more(home));
        true
    }

    /// Inserts an entry before all others. See [`LeafEditor::push_at_end`].
    #[inline(always)]
    fn push_front(self, entry: (B, B)) -> bool {
        assert_held(self.node);
        let (shape, key) = (self.shape(), entry.0);
        let Some((at, count)) = shape.first_taken() else { return false };
        let smallest = self.first_of(at);
        if key >= smallest {
            return false;
        }
        if count < Self::PER_BLOCK {
            let named = at == 0 || self.block_hint(shape, at) == shape.place_bits();
            if !named || !self.keeps_order(shape, key, smallest) {
                return false;
            }
            (0..count).rev().for_each(|place| {
                let entry = self.entry_at(Place { block: at, at: place });
                self.put_at(Place { block: at, at: place + 1 }, entry);
            });
            self.put_at(Place { block: at, at: 0 }, entry);
            self.set_shape(shape.with_one_more(at));
            return true;
        }
        let (hint, behind) = self.two_hints(shape, key, smallest);
        let named = at > 0 && (at == 1 || self.block_hint(shape, at - 1) <= hint);
        if !named || !are_in_order(shape, hint, behind, true) {
            return false;
        }
        self.set_block_hint(shape, at, behind);
        self.put_at(Place { block: at - 1, at: 0 }, entry);
        self.set_shape(shape.with_one_more(at - 1));
        true
    }

    /// Returns whether the hints of two neighbours in one block are in order.
    #[inline(always)]
    fn keeps_order(self, shape: Shape<B>, first: B, second: B) -> bool {
        if shape.agree_above_fields(first, second) {
            return true;
        }
        let (first, second) = self.two_hints(shape, first, second);
        are_in_order(shape, first, second, false)
    }

    #[inline(always)]
    fn two_hints(self, shape: Shape<B>, first: B, second: B) -> (u16, u16) {
        let low = self.low().to_u64();
        let hint = |key: B| shape.hint_of_one(key.to_u64(), low);
        if shape.has_one_field() {
            return (hint(first), hint(second));
        }
        let maker = self.maker(shape);
        (maker.hint::<Scalar>(first), maker.hint::<Scalar>(second))
    }
}

/// Returns whether the hints of two keys that will be neighbours are in order, and reach as far.
/// `apart`: the keys are in two blocks, whose hints mustn't be tied, because ties of one field are
/// counted elsewhere.
#[inline(always)]
fn are_in_order<B: Bits>(shape: Shape<B>, first: u16, second: u16, apart: bool) -> bool {
    let may_tie = !apart || shape.is_tied() && !shape.has_one_field();
    u64::from(second) < HINT_MAX && first + u16::from(!may_tie) <= second
}

impl<B: Bits> Shape<B> {
    /// Returns the first block that isn't empty, and its number of entries.
    #[inline(always)]
    pub(super) fn first_taken(self) -> Option<(usize, usize)> {
        let counts = self.counts_from(0);
        let at = (counts.trailing_zeros() / Self::COUNT_BITS) as usize;
        (counts != 0).then(|| (at, self.count(at)))
    }

    /// Returns the last block that isn't empty, and its number of entries.
    #[inline(always)]
    fn last_taken(self) -> Option<(usize, usize)> {
        let counts = self.counts_from(0);
        let at = counts.checked_ilog2()? / Self::COUNT_BITS;
        Some((at as usize, (counts >> (at * Self::COUNT_BITS)) as usize))
    }
}

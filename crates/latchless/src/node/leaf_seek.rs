//! The search for the block of an insert.

use super::hints::{HINT_MAX, Shape, named_block};
use super::leaf::Place;
use super::leaf_editor::LeafEditor;
use super::lines::Lines;
use super::{lane, line_address};
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::search::Scalar;

/// The place of a key in a leaf, or the block for an insert of it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<B> {
    pub(super) shape: Shape<B>,
    /// The block for an insert.
    pub(super) block: usize,
    /// Whether its hint would be wrong: hints don't reach as far as the key, or it has other bits than hints
    /// of two fields, or of picked bits, assume.
    pub(super) far: bool,
    /// The key's place, if the leaf contains the key.
    pub place: Option<Place>,
}

impl<B: Bits> LeafEditor<'_, B> {
    /// Finds the place of `key`, or the block for an insert of it. For the holder of the latch.
    #[inline(always)]
    pub fn seek<S: Lines>(self, key: B) -> Seen<B> {
        let shape = self.shape();
        if !shape.is_plain() {
            return self.seek_beside::<S>(shape, key);
        }
        self.seek_named::<S>(shape, key)
    }

    /// Finds the place or block of `key` by hints of one field: on a tie the rightmost block. See
    /// [`LeafEditor::seek`].
    #[inline(always)]
    fn seek_named<S: Lines>(self, shape: Shape<B>, key: B) -> Seen<B> {
        let distance = shape.upper(key.to_u64(), self.low().to_u64());
        let block = named_block::<S>(self.node, distance.min(HINT_MAX) as u16);
        Seen { shape, block, far: distance > HINT_MAX, place: self.find_named::<S>(shape, block, key) }
    }

    /// Finds the place or block of `key` where hints alone aren't conclusive. See [`LeafEditor::seek`].
    #[inline(always)]
    fn seek_beside<S: Lines>(self, shape: Shape<B>, key: B) -> Seen<B> {
        if shape.has_one_field() {
            let seen = self.seek_named::<S>(shape, key);
            let begins_later = shape.count(seen.block) == 0 || self.first_of(seen.block) > key;
            return if begins_later { self.seek_slowly(seen, key) } else { seen };
        }
        let maker = self.maker(shape);
        let hint = maker.hint::<S>(key);
        let block = named_block::<S>(self.node, hint);
        let (line, count) = (self.line(block), shape.count(block));
        // Keys before or after this one may be in the adjacent lines.
        prefetch_read(line_address(self.node.as_ptr().cast(), block));
        prefetch_read(line_address(self.node.as_ptr().cast(), block + 2));
        let place = self.find_named::<S>(shape, block, key);
        let seen = Seen { shape, block, far: maker.is_far(key), place };
        let smaller = (S::keys_between(line, B::MIN, key) & ((1 << count) - 1)).count_ones() as usize;
        let in_order = match smaller {
            0 => {
                shape.is_empty_before(block) || self.last_of(shape, block - 1).is_some_and(|last| last < key)
            }
            _ => maker.hint::<S>(lane(line, smaller - 1)) <= hint,
        } && if smaller < count {
            hint <= maker.hint::<S>(lane(line, smaller))
        } else {
            let is_last = block + 1 == Self::BLOCKS || shape.counts_from(block + 1) == 0;
            is_last || shape.count(block + 1) > 0 && self.first_of(block + 1) > key
        };
        if place.is_some() || in_order { seen } else { self.seek_slowly(seen, key) }
    }

    /// Finds the block of `key` where the adjacent keys are further away. See [`LeafEditor::seek`].
    #[cold]
    #[inline(never)]
    fn seek_slowly(self, seen: Seen<B>, key: B) -> Seen<B> {
        let shape = seen.shape;
        let hint = self.maker(shape).hint::<Scalar>(key);
        let mut block = self.settle(shape, seen.block, key);
        let place = if shape.is_tied() { self.find_named::<Scalar>(shape, block, key) } else { None };
        // A later block that doesn't begin with a smaller key accepts this one if its hint isn't greater: a
        // block's hint is at least that of all keys before it.
        let takes = |at: usize| {
            let begins_later = shape.count(at) == 0 || self.first_of(at) > key;
            begins_later && self.block_hint(shape, at) <= hint
        };
        let ends_before = |at: usize| self.last_of(shape, at).is_none_or(|last| last < key);
        while block + 1 < Self::BLOCKS && ends_before(block) && takes(block + 1) {
            block += 1;
        }
        let far = seen.far || place.is_none() && !self.is_hint_in_order(shape, block, key);
        Seen { block, place, far, ..seen }
    }

    /// Returns whether the hint of `key`, which isn't present and belongs to block `block`, is in order with
    /// those of the keys before and after it, and of the blocks.
    fn is_hint_in_order(self, shape: Shape<B>, block: usize, key: B) -> bool {
        if shape.has_one_field() {
            return true;
        }
        let maker = self.maker(shape);
        let hint_of = |key: B| maker.hint::<Scalar>(key);
        let hint = hint_of(key);
        let own = || self.places(shape, block).map(|place| self.key(place));
        let earlier = || (0..block).rev().find_map(|block| self.last_of(shape, block));
        let later = || self.places_from(shape, block + 1).next().map(|place| self.key(place));
        let before = own().take_while(|&other| other < key).last().or_else(earlier);
        let after = own().find(|&other| other > key).or_else(later);
        before.is_none_or(|other| hint_of(other) <= hint)
            && after.is_none_or(|other| hint <= hint_of(other))
            && (block == 0 || self.block_hint(shape, block) <= hint)
            && (block + 1 == Self::BLOCKS
                || hint < self.block_hint(shape, block + 1).saturating_add(u16::from(shape.is_tied())))
    }
}

//! Changing leaves. The caller holds the latch, or the leaf is not yet reachable.

use super::copies::Entries;
use super::fields::form_for;
use super::hints::{Maker, NO_BLOCK, Shape, block, set_block_hint, set_block_hints};
use super::leaf::{Leaf, Place};
use super::leaf_editor::LeafEditor;
use super::leaf_reader::LeafReader;
use super::leaf_seek::Seen;
use super::lines::Lines;
use super::picks::form_for_leaf;
use super::{HIGH, LINES, LOW, assert_held, assert_held_or_new, header, link, set_link};
use core::ops::Range;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// Where a leaf has free places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Everywhere: the next keys may go anywhere.
    Spread,
    /// After the entries.
    AtEnd,
    /// Before the entries.
    AtStart,
}

/// The layout of a leaf's entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) room: Room,
    /// The minimum distance after the last key up to which hints distinguish keys.
    pub(super) reach: u64,
}

impl Layout {
    pub(super) const SPREAD: Self = Self { room: Room::Spread, reach: 0 };
}

impl<B: Bits> LeafEditor<'_, B> {
    /// Removes the entry at a place.
    #[inline(always)]
    pub fn remove<S: Lines>(self, place: Place) {
        assert_held(self.node);
        let shape = self.shape();
        let count = shape.count(place.block);
        debug_assert!(place.at < count, "an entry is removed that isn't there");
        S::take_out::<B>(self.line(place.block), place.at);
        self.set_shape(shape.with_one_less(place.block));
    }

    /// Replaces all entries by these.
    pub fn keep(self, entries: &Entries<B>) {
        assert_held(self.node);
        self.fill::<Scalar>(entries, 0..entries.keys().len(), Layout::SPREAD);
    }

    /// Inserts an entry whose key isn't present, at the place in `seen`. Returns `false` if the leaf is
    /// full.
    #[inline(always)]
    pub fn insert<S: Lines>(self, seen: Seen<B>, entry: (B, B)) -> bool {
        self.insert_in_block::<S>(seen, entry) || self.insert_beside::<S>(seen, entry)
    }

    /// Inserts an entry if its block has room. See [`LeafEditor::insert`].
    #[inline(always)]
    pub fn insert_in_block<S: Lines>(self, seen: Seen<B>, entry: (B, B)) -> bool {
        assert_held(self.node);
        debug_assert!(self.covers(entry.0), "a key is put into a leaf that it doesn't belong to");
        debug_assert_eq!(seen.shape.0, self.shape().0, "nothing came in since the key was sought");
        let Seen { shape, block: at, far, .. } = seen;
        let count = shape.count(at);
        if count < Self::PER_BLOCK && !far {
            self.sort_in::<S>(at, count, entry);
            self.set_shape(shape.with_one_more(at));
            return true;
        }
        false
    }

    /// Inserts an entry if its block has no room, or if hints don't determine the block. See
    /// [`LeafEditor::insert`].
    #[inline(always)]
    pub fn insert_beside<S: Lines>(self, seen: Seen<B>, entry: (B, B)) -> bool {
        let fits = seen.shape.total() < Self::CAPACITY;
        if fits {
            self.make_room::<S>(seen.shape, seen.block, seen.far, entry);
        }
        fits
    }

    /// Inserts an entry into a leaf that has room, but not in the entry's block.
    #[inline(always)]
    fn make_room<S: Lines>(self, shape: Shape<B>, at: usize, far: bool, entry: (B, B)) {
        let (left, right) = nearest_rooms(shape, at);
        let to = match (left, right) {
            // Its hint can't distinguish the key from others: all hints are rebuilt.
            _ if far => return self.rearrange(entry),
            (Some(left), Some(right)) if at - left < right - at => left,
            // If many were inserted before all others, more will probably follow: these find the beginning
            // of the leaf free.
            (None, Some(right)) if at == 0 && right > Self::BLOCKS / 2 && entry.0 < self.first_of(at) => {
                return self.rearrange(entry);
            }
            (_, Some(right)) => right,
            // Appended ones find the rest of the leaf free.
            (Some(_), None) if at + 1 == Self::BLOCKS && entry.0 > self.key(last_place::<B>(at)) => {
                return self.rearrange(entry);
            }
            (Some(left), None) => left,
            // A full block, named correctly by the hints, and no room elsewhere.
            (None, None) => return self.rearrange(entry),
        };
        // Keys of a tree that begins to grow fill one block after the other, whose entries are then passed on
        // again and again. Spread, they leave room around them.
        if at.abs_diff(to) > 1 && self.is_alone() && shape.total() <= Self::CAPACITY / 2 {
            return self.rearrange(entry);
        }
        // The block after it is empty in leaves of few entries only.
        let halves = to == at + 1 && shape.count(to) == 0 && entry.0 < self.key(last_place::<B>(at));
        // Two copies: hints of one field, which most leaves have, take fewer steps to compute.
        let has_ties = if halves {
            self.halve(shape, at, entry)
        } else if shape.has_one_field() {
            self.shift::<S, true>(shape, at, to, entry)
        } else {
            self.shift::<S, false>(shape, at, to, entry)
        };
        if has_ties && !self.bears_ties(shape) {
            self.make_hints_anew();
        }
    }

    /// Returns whether to keep the ties, one of which is new, in a leaf that had that shape. A few are
    /// acceptable with hints of one field.
    #[cold]
    #[inline(never)]
    fn bears_ties(self, shape: Shape<B>) -> bool {
        let bears = if shape.has_one_field() {
            shape.is_best_of_one() || self.ties() <= self.few_ties()
        } else {
            shape.is_picked() || shape.is_tied()
        };
        if bears {
            self.set_shape(self.shape().with_ties());
        }
        bears
    }

    /// Returns the number of ties that cost less than another form of hints. In the last leaf of all that
    /// form would be rebuilt repeatedly where keys come nearly in order.
    pub(super) fn few_ties(self) -> usize {
        if self.high() == B::MAX { 3 } else { 1 }
    }

    /// Returns how many blocks begin with a key of the same hint as the key before it, if hints have one
    /// field.
    pub(super) fn ties(self) -> usize {
        let shape = self.shape();
        let is_tied = |&at: &usize| {
            let before = self.last_of(shape, at - 1);
            shape.count(at) > 0 && before.is_some_and(|before| shape.are_close(before, self.first_of(at)))
        };
        (1..Self::BLOCKS).filter(is_tied).count()
    }

    /// Makes room in block `at` by passing entries on up to block `to`, or down to it. `ONE`: hints have one
    /// field. Returns whether one of these blocks begins with a key of the same hint as the key before it.
    #[inline(always)]
    fn shift<S: Lines, const ONE: bool>(self, shape: Shape<B>, at: usize, to: usize, entry: (B, B)) -> bool {
        if to < at {
            self.shift_left::<S, ONE>(shape, at, to, entry)
        } else {
            self.shift_right::<S, ONE>(shape, at, to, entry)
        }
    }

    /// Sets the hint of a block that begins with `first`. Returns whether the key before that has the same.
    #[inline(always)]
    fn hint_again<S: Lines, const ONE: bool>(
        self,
        shape: Shape<B>,
        block: usize,
        before: B,
        first: B,
    ) -> bool {
        if ONE {
            set_block_hint(self.node, block, shape.hint_of_one(first.to_u64(), self.low().to_u64()));
            return shape.are_close(before, first);
        }
        let maker = self.maker(shape);
        let hint = maker.hint::<S>(first);
        self.set_block_hint(shape, block, hint);
        maker.hint::<S>(before) == hint
    }

    /// Rebuilds the layout with the best form of hints. The free places stay where they are.
    #[cold]
    #[inline(never)]
    fn make_hints_anew(self) {
        let (mut entries, shape) = (Entries::default(), self.shape());
        LeafReader(*self).copy_out::<Scalar>(&mut entries);
        let room = match (shape.count(0), shape.count(Self::BLOCKS - 1)) {
            (0, 1..) => Room::AtStart,
            (1.., 0) => Room::AtEnd,
            _ => Room::Spread,
        };
        self.fill::<Scalar>(&entries, 0..entries.keys().len(), Layout { room, reach: 0 });
    }

    /// Makes room in block `at`, which is full, by moving its upper half to the block after it, which is
    /// empty: the next entries find room in either. Returns the same as [`LeafEditor::shift`].
    #[inline(never)]
    fn halve(self, mut shape: Shape<B>, at: usize, entry: (B, B)) -> bool {
        let (to, kept) = (at + 1, Self::PER_BLOCK / 2);
        let first = self.key(Place { block: at, at: kept });
        for place in (kept..Self::PER_BLOCK).rev() {
            Scalar::put_at(self.line(to), 0, self.entry_at(Place { block: at, at: place }));
        }
        let (block, count) = if entry.0 < first { (at, kept) } else { (to, Self::PER_BLOCK - kept) };
        self.sort_in::<Scalar>(block, count, entry);
        shape.set_count(at, kept);
        shape.set_count(to, Self::PER_BLOCK - kept);
        self.set_shape(shape.with_one_more(block));
        let last = self.key(Place { block: at, at: if block == at { kept } else { kept - 1 } });
        self.hint_again::<Scalar, false>(shape, to, last, first)
    }

    /// Makes room in block `at` by passing on the greatest entry of each block, up to block `to`. Returns
    /// the same as [`LeafEditor::shift`].
    #[inline(always)]
    fn shift_right<S: Lines, const ONE: bool>(
        self,
        shape: Shape<B>,
        at: usize,
        to: usize,
        entry: (B, B),
    ) -> bool {
        let (mut carried, mut has_ties) = (self.exchange_greatest::<S>(at, entry), false);
        for block in at + 1..=to {
            let before = self.key(last_place::<B>(block - 1));
            has_ties |= self.hint_again::<S, ONE>(shape, block, before, carried.0);
            let handed_on = self.entry_at(last_place::<B>(block));
            S::put_at(self.line(block), 0, carried);
            carried = handed_on;
        }
        self.set_shape(shape.with_one_more(to));
        has_ties
    }

    /// Makes room in block `at` by passing on the smallest entry of each block, down to block `to`. Returns
    /// the same as [`LeafEditor::shift`].
    #[inline(always)]
    fn shift_left<S: Lines, const ONE: bool>(
        self,
        shape: Shape<B>,
        at: usize,
        to: usize,
        entry: (B, B),
    ) -> bool {
        let mut carried = self.exchange_smallest::<S>(at, entry);
        let first = |block: usize| self.key(Place { block, at: 0 });
        let mut has_ties = self.hint_again::<S, ONE>(shape, at, carried.0, first(at));
        for block in (to + 1..at).rev() {
            let handed_on = self.entry_at(Place { block, at: 0 });
            S::take_out::<B>(self.line(block), 0);
            self.put_at(last_place::<B>(block), carried);
            has_ties |= self.hint_again::<S, ONE>(shape, block, handed_on.0, first(block));
            carried = handed_on;
        }
        self.put_at(Place { block: to, at: shape.count(to) }, carried);
        self.set_shape(shape.with_one_more(to));
        has_ties
    }

    /// Inserts an entry into a full block and removes its greatest one, or returns the entry if that is
    /// greater.
    #[inline(always)]
    fn exchange_greatest<S: Lines>(self, at: usize, entry: (B, B)) -> (B, B) {
        let last = last_place::<B>(at);
        let greatest = self.entry_at(last);
        if entry.0 > greatest.0 {
            return entry;
        }
        self.sort_in::<S>(at, last.at, entry);
        greatest
    }

    /// Inserts an entry into a full block and removes its smallest one, or returns the entry if that is
    /// smaller.
    #[inline(always)]
    fn exchange_smallest<S: Lines>(self, at: usize, entry: (B, B)) -> (B, B) {
        let smallest = self.entry_at(Place { block: at, at: 0 });
        if entry.0 < smallest.0 {
            return entry;
        }
        S::take_out::<B>(self.line(at), 0);
        self.sort_in::<S>(at, Self::PER_BLOCK - 1, entry);
        smallest
    }

    /// Inserts an entry at its place among the first `count` of a block.
    #[inline(always)]
    fn sort_in<S: Lines>(self, block: usize, count: usize, entry: (B, B)) {
        let line = self.line(block);
        let smaller = (S::keys_below(line, entry.0) & ((1 << count) - 1)).count_ones();
        S::put_at(line, smaller as usize, entry);
    }

    /// Redistributes the entries together with a new one.
    #[cold]
    #[inline(never)]
    fn rearrange(self, entry: (B, B)) {
        let mut entries = Entries::default();
        LeafReader(*self).copy_out::<Scalar>(&mut entries);
        entries.insert(entry.0, entry.1);
        let is_new = |key: Option<&B>| key == Some(&entry.0);
        let (first, last) = (is_new(entries.keys().first()), is_new(entries.keys().last()));
        let room = match (first, last) {
            // The only leaf: keys ascend at the end of all.
            (true, true) if !link(self.node).is_nil() => Room::AtStart,
            (_, true) => Room::AtEnd,
            (true, false) => Room::AtStart,
            (false, false) => Room::Spread,
        };
        self.fill::<Scalar>(&entries, 0..entries.keys().len(), Layout { room, reach: 0 });
    }

    /// Sets the fences and the link, and replaces all entries by these of `entries`.
    pub fn set(self, fences: (B, B), link: NodeRef, entries: &Entries<B>, range: Range<usize>) {
        assert_held_or_new(self.node);
        self.set_fences(fences.0, fences.1);
        self.fill::<Scalar>(entries, range, Layout::SPREAD);
        set_link(self.node, link);
    }

    /// Sets the fences and the link of a leaf without entries.
    pub fn set_empty(self, (low, high): (B, B), link: NodeRef) {
        assert_held_or_new(self.node);
        self.set_fences(low, high);
        set_block_hints(self.node, &[NO_BLOCK; LINES - 1], 0);
        self.set_shape(Shape::for_span(0));
        set_link(self.node, link);
    }

    pub(super) fn set_fences(self, low: B, high: B) {
        debug_assert!(low <= high, "a leaf's fences are in order");
        header(self.node)[LOW].store_relaxed(low.to_u64());
        header(self.node)[HIGH].store_relaxed(high.to_u64());
    }

    /// Replaces all entries by these of `entries`.
    #[inline(always)]
    pub(super) fn fill<S: Lines>(self, entries: &Entries<B>, range: Range<usize>, layout: Layout) {
        let (len, keys) = (range.len(), &entries.keys()[range.clone()]);
        debug_assert!(len <= Self::CAPACITY, "entries that fit a leaf");
        debug_assert!(
            keys.is_sorted_by(|a, b| a < b) && keys.iter().all(|&key| self.covers(key)),
            "a leaf's keys ascend between its fences"
        );
        let base = self.low().to_u64();
        let reach = keys.last().map_or(0, |&last| last.to_u64() - base);
        let span = reach.saturating_mul(2).max(reach.saturating_add(layout.reach));
        let span = span.min(self.high().to_u64() - base);
        let shape = Shape::<B>::for_span(span);
        // Rounded up, in one multiplication.
        let spread = |at: usize| (at * len + Self::BLOCKS - 1) as u32 / Self::BLOCKS as u32;
        let start = |at: usize| match layout.room {
            Room::Spread => spread(at) as usize,
            Room::AtEnd => len.min(at * Self::PER_BLOCK),
            Room::AtStart => len.saturating_sub((Self::BLOCKS - at) * Self::PER_BLOCK),
        };
        let (mut hints, mut hint, mut end, mut counts) = ([NO_BLOCK; LINES - 1], NO_BLOCK, len, 0);
        let mut ties = 0;
        for at in (0..Self::BLOCKS).rev() {
            let first = start(at);
            if first < end {
                self.set_block::<S>(at, entries, range.start + first);
                hint = shape.hint_of_one(keys[first].to_u64(), base);
                ties += usize::from(first > 0 && shape.are_close(keys[first - 1], keys[first]));
            }
            // An empty block has the hint of the next one. The block of the first entry accepts the keys
            // that are inserted before all others.
            hints[at] = if first == 0 && layout.room == Room::AtStart { 0 } else { hint };
            counts = counts << Shape::<B>::COUNT_BITS | (end - first) as u64;
            end = first;
        }
        set_block_hints(self.node, &hints, 0);
        self.set_shape(shape.with_counts(counts));
        if ties > self.few_ties() {
            self.tell_apart(keys, span, layout.room);
        } else if ties > 0 {
            self.set_shape(self.shape().with_ties());
        }
    }

    /// Changes the form of hints in a leaf that was just filled with these keys: with one field two blocks
    /// have the same hint.
    #[cold]
    #[inline(never)]
    fn tell_apart(self, keys: &[B], span: u64, room: Room) {
        let (old, low) = (self.shape(), self.low().to_u64());
        let mut start = 0;
        let starts: [usize; LINES - 1] = core::array::from_fn(|at| {
            let first = start;
            start += old.count(at);
            first
        });
        // Keys that grow arrive with bits that no earlier one had.
        let grows = room != Room::Spread || self.high() == B::MAX;
        let form = if grows { form_for } else { form_for_leaf }(keys, low, span, &starts);
        let maker = Maker::by_form(form, low);
        let hint = |&first: &usize| keys.get(first).map_or(NO_BLOCK, |&key| maker.hint::<Scalar>(key));
        let mut hints = starts.each_ref().map(hint);
        // The block of the first entry, after empty ones: see `fill`.
        if old.count(0) == 0 && !keys.is_empty() {
            let first = old.first_taken().map_or(0, |(at, _)| at);
            hints[..=first].fill(0);
        }
        set_block_hints(self.node, &hints, form.picked);
        self.set_shape(Shape::new(form).with_counts(old.counts_from(0)));
    }

    /// Replaces all entries by one, at the leaf's end. More are expected before it, as far apart as the
    /// ascending keys in `like`, which are after it.
    #[inline(always)]
    pub(super) fn fill_for_descent<S: Lines>(self, entry: (B, B), like: &[B]) {
        let mut only = Entries::default();
        only.push(entry.0, entry.1);
        self.fill::<S>(&only, 0..1, Layout { room: Room::AtStart, reach: 0 });
        let low = self.low().to_u64();
        let starts: [usize; LINES - 1] = core::array::from_fn(|at| at * Self::PER_BLOCK);
        let span = like.last().map_or(0, |last| last.to_u64() - low);
        let form = form_for(like, low, span, &starts[..Self::BLOCKS]);
        self.set_shape(Shape::new(form).with_counts(self.shape().counts_from(0)));
    }

    /// Fills a block with the entries from `first` on. Its unused places get the entries that follow.
    #[inline(always)]
    fn set_block<S: Lines>(self, at: usize, entries: &Entries<B>, first: usize) {
        let (keys, values) = entries.from(first);
        let line = block(self.node, at);
        S::set_half(line, 0, keys);
        S::set_half(line, 4, values);
    }

    /// Makes the leaf dead: no key lies between its fences.
    pub fn mark_dead(self) {
        assert_held(self.node);
        header(self.node)[LOW].store_relaxed(B::MAX.to_u64());
        header(self.node)[HIGH].store_relaxed(B::MIN.to_u64());
    }
}

/// Returns the nearest blocks with room to the left of block `at` and to the right.
#[inline(always)]
fn nearest_rooms<B: Bits>(shape: Shape<B>, at: usize) -> (Option<usize>, Option<usize>) {
    let right = shape.room_from(at, Leaf::<B>::PER_BLOCK);
    (shape.room_up_to(at, Leaf::<B>::PER_BLOCK), (right < Leaf::<B>::BLOCKS).then_some(right))
}

/// Returns the last place of a block.
fn last_place<B: Bits>(block: usize) -> Place {
    Place { block, at: Leaf::<B>::PER_BLOCK - 1 }
}

impl<B: Bits> LeafReader<'_, B> {
    /// Prefetches the further lines for an insert into block `at`: those up to the nearest room if the block
    /// is full. Returns whether the leaf is full: then it will be split.
    #[inline(always)]
    pub fn ask_for_room(self, at: usize) -> bool {
        let shape = self.shape();
        if at >= Leaf::<B>::BLOCKS || shape.count(at) < Leaf::<B>::PER_BLOCK {
            return false;
        }
        let (from, to) = match nearest_rooms(shape, at) {
            (Some(left), Some(right)) if at - left < right - at => (left, at),
            (_, Some(right)) => (at, right),
            (Some(left), None) => (left, at),
            (None, None) => return true,
        };
        (from..=to).for_each(|at| prefetch_read(self.block_address(at)));
        false
    }
}

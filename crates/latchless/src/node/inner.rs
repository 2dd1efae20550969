//! Inner nodes: blocks of separators and their children.

use super::copies::Children;
use super::fields::form_for;
use super::hints::{NO_BLOCK, Shape, block, block_hint, set_block_hint};
use super::lines::{Lines, children_in_line};
use super::{
    BASE, LINES, NodeLines, SHAPE, assert_held, assert_held_or_new, header, lane, line, link, or_few,
    set_lane, set_link,
};
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{before, next, previous};
use latchless_core::mem::node_ref::NodeRef;

/// An inner node. See the documentation of [`node`](super) for its layout.
#[derive(Debug, Clone, Copy)]
pub struct Inner<'a, B> {
    pub(super) node: &'a NodeLines,
    lanes: core::marker::PhantomData<B>,
}

impl<'a, B: Bits> Inner<'a, B> {
    /// Blocks in an inner node: the last line holds the fences.
    pub(super) const BLOCKS: usize = or_few(LINES - 2);
    /// The capacity of a block's line in children.
    pub(super) const WIDTH: usize = children_in_line::<B>();
    /// The blocks that a search without hints covers.
    pub(super) const NEAR: usize = if Self::BLOCKS < 8 { Self::BLOCKS } else { 8 };
    /// Children in a block.
    const PER_BLOCK: usize = or_few(Self::WIDTH);
    /// Children in a node: 70 below 64-bit separators, 112 below 32-bit ones.
    pub const CAPACITY: usize = Self::BLOCKS * Self::PER_BLOCK;
    /// The line of the fences. The high fence comes first, at the place of the first separator of a further
    /// block.
    pub const FENCES: usize = Self::BLOCKS + 1;

    /// Interprets these lines as an inner node.
    #[inline(always)]
    pub fn new(node: &'a NodeLines) -> Self {
        Self { node, lanes: core::marker::PhantomData }
    }

    /// Returns the smallest key of the subtree's range.
    pub fn low(self) -> B {
        B::truncate(line(self.node, Self::FENCES)[1].load_relaxed())
    }

    /// Returns the largest key of the subtree's range.
    pub fn high(self) -> B {
        B::truncate(line(self.node, Self::FENCES)[0].load_relaxed())
    }

    /// Returns the next inner node to the right, if there is one.
    pub fn link(self) -> NodeRef {
        link(self.node)
    }

    /// Returns the number of children; at least one, once the node is in use.
    pub fn children(self) -> usize {
        Shape::<B>::of(self.node).total()
    }

    /// Returns the child at a place of a block.
    #[inline(always)]
    pub(super) fn node_at(self, at: usize, place: usize) -> NodeRef {
        let line = block(self.node, at);
        // Children are four bytes wide, after the separators; the mask is only for the compiler.
        let lane = Self::WIDTH * B::BYTES / 4 + place;
        NodeRef::from_word((line[(lane / 2) & 7].follow() >> (lane % 2 * 32)) as u32)
    }

    /// Collects the child that `key` belongs to and those after it (in reverse, before it), up to the one
    /// that `limit` belongs to, as far as they fit in `to`. Returns their number, and the first key that
    /// remains (in reverse, the last one). Reads without validation: what is written meanwhile may be
    /// missing or occur twice.
    #[inline(always)]
    pub fn children_from<S: Lines>(
        self,
        key: B,
        direction: Direction,
        limit: B,
        to: &mut [NodeRef],
    ) -> (usize, Option<B>) {
        let shape = Shape::<B>::of(self.node);
        let mut at = self.block_for::<S>(key);
        let mut up_to = S::separators_up_to(block(self.node, at), key).min(shape.count(at));
        while up_to == 0 && at > 0 {
            at -= 1;
            up_to = S::separators_up_to(block(self.node, at), key).min(shape.count(at));
        }
        match direction {
            Direction::Forward => self.children_behind::<S>(shape, at, up_to.saturating_sub(1), limit, to),
            Direction::Reverse => self.children_before(shape, at, up_to, limit, to),
        }
    }

    #[inline(always)]
    fn children_behind<S: Lines>(
        self,
        shape: Shape<B>,
        first: usize,
        mut place: usize,
        limit: B,
        to: &mut [NodeRef],
    ) -> (usize, Option<B>) {
        let mut len = 0;
        for at in first..Self::BLOCKS {
            let line = block(self.node, at);
            let count = shape.count(at).min(Self::PER_BLOCK);
            // The first child is always included.
            let end = S::separators_up_to(line, limit).min(count).max(usize::from(len == 0) * (place + 1));
            // A whole block is copied, however much of it counts: no branch depends on that.
            for lane in 0..Self::PER_BLOCK {
                if let Some(to) = to.get_mut(len + lane) {
                    *to = self.node_at(at, (place + lane).min(Self::PER_BLOCK - 1));
                }
            }
            let wanted = end.saturating_sub(place);
            if len + wanted > to.len() {
                return (to.len(), Some(lane(line, place + to.len() - len)));
            }
            len += wanted;
            if end < count {
                return (len, None);
            }
            place = 0;
        }
        let high = self.high();
        (len, if high < limit { next(high) } else { None })
    }

    /// `end` is the block, and the place in it after the first child to collect.
    fn children_before(
        self,
        shape: Shape<B>,
        mut at: usize,
        mut end: usize,
        limit: B,
        to: &mut [NodeRef],
    ) -> (usize, Option<B>) {
        let (mut len, mut left) = (0, None);
        loop {
            while end == 0 {
                if at == 0 {
                    return (len, left);
                }
                at -= 1;
                end = shape.count(at).min(Self::PER_BLOCK);
            }
            let Some(to) = to.get_mut(len) else { return (len, left) };
            *to = self.node_at(at, end - 1);
            let separator: B = lane(block(self.node, at), end - 1);
            (len, end) = (len + 1, end - 1);
            if separator <= limit {
                return (len, None);
            }
            left = previous(separator);
        }
    }

    fn set_node_at(self, at: usize, place: usize, node: NodeRef) {
        let lane = Self::WIDTH * B::BYTES / 4 + place;
        let (word, shift) = (&block(self.node, at)[lane / 2], lane % 2 * 32);
        word.publish(word.load_relaxed() & !(0xFFFF_FFFF << shift) | u64::from(node.to_word()) << shift);
    }

    /// Adds a child with a new separator, if there is room in its block or in one to the right, and hints
    /// stay in order: each block up to there passes one child on. For the holder of the latch.
    pub fn insert_in_place<S: Lines>(self, separator: B, child: NodeRef) -> bool {
        assert_held(self.node);
        debug_assert!(self.low() <= separator && separator <= self.high(), "a child that belongs here");
        let mut shape = Shape::<B>::of(self.node);
        let (mut at, mut place) = self.place_up_to::<S>(shape, separator);
        let room = shape.room_from(at, Self::PER_BLOCK);
        if shape.count(at) == 0 || room >= Self::BLOCKS || !self.keeps_order(shape, at, place, separator) {
            return false;
        }
        if room > at {
            // From the far end: each child exists twice before it is removed, so a reader in between misses
            // none.
            for to in (at + 2..=room).rev() {
                self.hand_on(shape, to);
            }
            if place == Self::PER_BLOCK {
                (at, place) = (at + 1, 0);
            } else {
                self.hand_on(shape, at + 1);
            }
        }
        // One of them exists twice, or there is room.
        let last = if room > at { Self::PER_BLOCK - 1 } else { shape.count(at) };
        self.put_in(at, place, last, separator, child);
        if place == 0 && at > 0 {
            set_block_hint(self.node, at, self.hint(shape, separator));
        }
        shape.set_count(room, shape.count(room) + 1);
        header(self.node)[SHAPE].store_relaxed(shape.0);
        self.repeat_last(shape, room);
        true
    }

    /// Fills the empty blocks after a block with its last child.
    fn repeat_last(self, shape: Shape<B>, at: usize) {
        let last = shape.count(at) - 1;
        let (separator, node) = (lane(block(self.node, at), last), self.node_at(at, last));
        for empty in (at + 1..Self::BLOCKS).take_while(|&at| shape.count(at) == 0) {
            (0..Self::WIDTH).for_each(|place| self.set_node_at(empty, place, node));
            set_lane::<B>(block(self.node, empty), 0, separator);
        }
    }

    /// Moves the separator of a child down from `old`, still above the one before it. Returns `false` if
    /// there is no such child. For the holder of the latch.
    pub fn lower_separator<S: Lines>(self, old: B, new: B) -> bool {
        assert_held(self.node);
        let shape = Shape::<B>::of(self.node);
        let (mut at, end) = self.place_up_to::<S>(shape, old);
        if end == 0 || shape.count(at) == 0 || lane::<B>(block(self.node, at), end - 1) != old {
            return false;
        }
        let keeps_order = self.keeps_order(shape, at, end - 1, new);
        set_lane(block(self.node, at), end - 1, new);
        if !keeps_order {
            let mut children = Children::default();
            self.copy_out(&mut children);
            self.fill(children.separators(), children.nodes());
        } else if end == 1 && at > 0 {
            let hint = self.hint(shape, new);
            set_block_hint(self.node, at, hint);
            // Empty blocks before it have its hint.
            while at > 1 && shape.count(at - 1) == 0 {
                at -= 1;
                set_block_hint(self.node, at, hint);
            }
        }
        true
    }

    /// Returns the block that has the last separator up to this one, and the number of its separators up to
    /// it.
    fn place_up_to<S: Lines>(self, shape: Shape<B>, separator: B) -> (usize, usize) {
        let mut at = self.block_for::<S>(separator);
        while at > 0 && (shape.count(at) == 0 || S::separators_up_to(block(self.node, at), separator) == 0) {
            at -= 1;
        }
        (at, S::separators_up_to(block(self.node, at), separator).min(shape.count(at)))
    }

    /// Copies the last child of the block before block `to`, which is full, to its front as well.
    fn hand_on(self, shape: Shape<B>, to: usize) {
        let separator = lane(block(self.node, to - 1), Self::PER_BLOCK - 1);
        let last = shape.count(to).min(Self::PER_BLOCK - 1);
        self.put_in(to, 0, last, separator, self.node_at(to - 1, Self::PER_BLOCK - 1));
        set_block_hint(self.node, to, self.hint(shape, separator));
    }

    /// Inserts a child at a place of a block; the children from there on move up by one place, over place
    /// `last`.
    fn put_in(self, at: usize, place: usize, last: usize, separator: B, child: NodeRef) {
        let line = block(self.node, at);
        // A reader in between may find a child twice or miss the new one, and arrives at a neighbour.
        for to in (place + 1..=last).rev() {
            self.set_node_at(at, to, self.node_at(at, to - 1));
            set_lane::<B>(line, to, lane(line, to - 1));
        }
        self.set_node_at(at, place, child);
        set_lane(line, place, separator);
        self.pad(at, last + 1);
    }

    #[inline(always)]
    pub(super) fn hint(self, shape: Shape<B>, key: B) -> u16 {
        shape.hint_from(key.to_u64(), header(self.node)[BASE].load_relaxed())
    }

    /// Returns whether hints of two fields stay in order if this separator is put at a place, before the
    /// separator there or instead of it. Hints of one field always do.
    fn keeps_order(self, shape: Shape<B>, at: usize, place: usize, separator: B) -> bool {
        if shape.has_one_field() {
            return true;
        }
        let hint_at = |at: usize, place: usize| self.hint(shape, lane(block(self.node, at), place));
        let before = match (place, at) {
            (1.., _) => hint_at(at, place - 1),
            (0, 1..) => hint_at(at - 1, shape.count(at - 1).max(1) - 1),
            _ => 0,
        };
        let after = if place < shape.count(at) {
            hint_at(at, place)
        } else if at + 1 < Self::BLOCKS {
            block_hint(self.node, at + 1)
        } else {
            NO_BLOCK
        };
        (before..=after).contains(&self.hint(shape, separator))
    }

    /// Fills the places of a block after its `count` children with the last of them.
    fn pad(self, at: usize, count: usize) {
        let last = self.node_at(at, count - 1);
        for place in count..Self::WIDTH {
            self.set_node_at(at, place, last);
            set_lane(block(self.node, at), place, B::MAX);
        }
    }

    /// Copies all children.
    pub fn copy_out(self, into: &mut Children<B>) {
        let (shape, mut len) = (Shape::<B>::of(self.node), 0);
        for at in 0..Self::BLOCKS {
            for place in 0..shape.count(at).min(Self::PER_BLOCK) {
                into.separators[len] = lane(block(self.node, at), place);
                into.nodes[len] = self.node_at(at, place);
                len += 1;
            }
        }
        into.len = len;
    }

    /// Sets the fences and the link, and replaces all children by these, at least one. For the holder of the
    /// latch, or for a node that isn't reachable yet.
    pub fn set(self, fences: (B, B), link: NodeRef, separators: &[B], nodes: &[NodeRef]) {
        let (low, high) = fences;
        assert_held_or_new(self.node);
        debug_assert!(
            low <= high && separators[0] == low,
            "fences are in order, and children begin at the low one"
        );
        line(self.node, Self::FENCES)[0].store_relaxed(high.to_u64());
        line(self.node, Self::FENCES)[1].store_relaxed(low.to_u64());
        self.fill(separators, nodes);
        set_link(self.node, link);
    }

    /// Replaces all children by these, at least one, evenly distributed.
    pub fn fill(self, separators: &[B], nodes: &[NodeRef]) {
        assert_held_or_new(self.node);
        let len = separators.len();
        debug_assert!(1 <= len && len <= Self::CAPACITY && nodes.len() == len, "children that fit a node");
        debug_assert!(separators.is_sorted_by(|a, b| a < b), "separators ascend");
        // The first separator is the low fence, which may be far from all the others.
        let (mut shape, base) = Self::shape_for(&separators[1.min(len - 1)..]);
        for at in 0..Self::BLOCKS {
            let (from, to) = (Self::start(len, at), Self::start(len, at + 1));
            let line = block(self.node, at);
            for place in 0..Self::WIDTH {
                // An empty block repeats the child before it, so that all words name nodes.
                let entry = (from + place).min(to - 1);
                let separator = if place == 0 || from + place < to { separators[entry] } else { B::MAX };
                set_lane(line, place, separator);
                self.set_node_at(at, place, nodes[entry]);
            }
            shape.set_count(at, to - from);
            if at > 0 {
                let hint =
                    separators.get(from).map_or(NO_BLOCK, |first| shape.hint_from(first.to_u64(), base));
                set_block_hint(self.node, at, hint);
            }
        }
        // The last line isn't a block.
        (Self::BLOCKS..LINES - 1).for_each(|at| set_block_hint(self.node, at, NO_BLOCK));
        header(self.node)[BASE].store_relaxed(base);
        header(self.node)[SHAPE].store_relaxed(shape.0);
    }

    /// Returns which of `len` children block `at` begins with, if they are distributed evenly.
    fn start(len: usize, at: usize) -> usize {
        (at * len).div_ceil(Self::BLOCKS)
    }

    /// Returns the shape for these separators, which are all but the first one, and the base of hints.
    fn shape_for(separators: &[B]) -> (Shape<B>, u64) {
        let (second, last) = (separators[0].to_u64(), separators[separators.len() - 1].to_u64());
        let plain = Shape::<B>::for_span(last.saturating_sub(second));
        // One hint lower: keys before the second separator aren't tied with it.
        let base = second.saturating_sub(plain.step());
        let starts = (1..Self::BLOCKS).map(|at| Self::start(separators.len() + 1, at));
        let apart = |at: usize| {
            let hint = |at: usize| plain.hint_from(separators[at].to_u64(), base);
            hint(at - 2) < hint(at - 1)
        };
        // If blocks have at least two children each, none is empty.
        if B::BYTES < 8 || separators.len() < 2 * Self::BLOCKS || starts.clone().all(apart) {
            return (plain, base);
        }
        let mut borders = [0; LINES];
        starts.zip(&mut borders).for_each(|(start, border)| *border = start - 1);
        let form = form_for(separators, second, last - second, &borders);
        if form.width > 0 { (Shape::new(form), second) } else { (plain, base) }
    }

    /// Makes the node dead: no key lies between its fences. Its children stay readable.
    pub fn mark_dead(self) {
        assert_held(self.node);
        line(self.node, Self::FENCES)[0].store_relaxed(B::MIN.to_u64());
        line(self.node, Self::FENCES)[1].store_relaxed(B::MAX.to_u64());
    }

    /// Returns the first violated invariant, if there is one. The node must be at rest.
    #[inline(always)]
    pub fn fault<S: Lines>(self) -> Option<String> {
        let mut children = Children::default();
        self.copy_out(&mut children);
        let separators = children.separators();
        if separators.first() != Some(&self.low()) {
            return Some(format!("the first separator is {:?}, not the low fence", separators.first()));
        }
        if let Some(pair) = separators.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Some(format!("separator {:?} stands behind {:?}", pair[1], pair[0]));
        }
        if separators[separators.len() - 1] > self.high() {
            return Some("the last separator lies above the high fence".to_owned());
        }
        let shape = Shape::<B>::of(self.node);
        let hint = |separator: &&B| self.hint(shape, **separator);
        if !shape.has_one_field() && !separators[1..].iter().is_sorted_by_key(|separator| hint(&separator)) {
            return Some("hints of two fields are out of order".to_owned());
        }
        for (at, (&separator, &node)) in separators.iter().zip(children.nodes()).enumerate() {
            let last = separators.get(at + 1).map_or(self.high(), |&next| before(next));
            for key in [separator, last] {
                if self.child::<S>(key) != node {
                    return Some(format!("a search for {key:?} doesn't find child {at}"));
                }
            }
        }
        None
    }
}

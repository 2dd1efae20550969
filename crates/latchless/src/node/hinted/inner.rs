//! Inner nodes: blocks of separators and the children that start at them.

use super::*;
use crate::search::children_in_line;

/// An inner node. See the [module's head](super) for where things stand.
#[derive(Debug, Clone, Copy)]
pub struct Inner<'a, B> {
    node: &'a NodeLines,
    lanes: core::marker::PhantomData<B>,
}

/// The children of an inner node, copied out of it: each with the separator that it starts at,
/// which is its low fence.
#[derive(Debug, Clone)]
pub struct Children<B> {
    len: usize,
    separators: [B; PLACES_MAX],
    nodes: [NodeRef; PLACES_MAX],
}

impl<B: Bits> Default for Children<B> {
    fn default() -> Self {
        Self { len: 0, separators: [B::MIN; PLACES_MAX], nodes: [NodeRef::NIL; PLACES_MAX] }
    }
}

impl<B: Bits> Children<B> {
    /// The separators, ascending.
    pub fn separators(&self) -> &[B] {
        &self.separators[..self.len]
    }

    /// The children, in the order of their separators.
    pub fn nodes(&self) -> &[NodeRef] {
        &self.nodes[..self.len]
    }

    /// The place of the child that `key` belongs to.
    pub fn place_of(&self, key: B) -> usize {
        self.separators().partition_point(|&separator| separator <= key).saturating_sub(1)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a child behind all others.
    ///
    /// # Panics
    /// When more than [`PLACES_MAX`] come together.
    pub fn push(&mut self, separator: B, node: NodeRef) {
        (self.separators[self.len], self.nodes[self.len]) = (separator, node);
        self.len += 1;
    }

    /// Puts a child where it belongs, before the first greater separator.
    pub fn insert(&mut self, separator: B, node: NodeRef) {
        let at = self.separators().partition_point(|&other| other < separator);
        self.separators.copy_within(at..self.len, at + 1);
        self.nodes.copy_within(at..self.len, at + 1);
        (self.separators[at], self.nodes[at]) = (separator, node);
        self.len += 1;
    }

    /// Takes out the child at a place.
    pub fn remove(&mut self, at: usize) {
        self.separators.copy_within(at + 1..self.len, at);
        self.nodes.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}

impl<'a, B: Bits> Inner<'a, B> {
    /// Blocks in an inner node: the last line holds the fences.
    const BLOCKS: usize = 14;
    /// Children in a block.
    const PER_BLOCK: usize = children_in_line::<B>();
    /// Children in a node: 70 below 64-bit separators, 112 below 32-bit ones.
    pub const CAPACITY: usize = Self::BLOCKS * Self::PER_BLOCK;
    /// The line of the fences.
    const FENCES: usize = LINES - 1;

    /// The inner node that these lines are.
    #[inline(always)]
    pub fn new(node: &'a NodeLines) -> Self {
        Self { node, lanes: core::marker::PhantomData }
    }

    /// The smallest key that may be found below.
    pub fn low(self) -> B {
        B::truncate(self.node[Self::FENCES][0].peek())
    }

    /// The largest key that may be found below.
    pub fn high(self) -> B {
        B::truncate(self.node[Self::FENCES][1].peek())
    }

    /// The next inner node to the right, if there is one.
    pub fn link(self) -> NodeRef {
        link(self.node)
    }

    /// How many children there are.
    pub fn len(self) -> usize {
        Shape::of(self.node).total()
    }

    /// The child that `key` belongs to. Without validation it may be another one, of the same level.
    #[inline(always)]
    pub fn child<S: Lines>(self, key: B) -> NodeRef {
        self.child_in::<S>(self.named_block::<S>(key), key)
    }

    /// The block that has the child for `key`, unless its hint is tied with another's.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        named_block::<S, B>(self.node, Shape::of(self.node), key).0
    }

    /// Where a block begins: an address to prefetch.
    #[inline(always)]
    pub fn block_address(self, at: usize) -> *const u8 {
        core::ptr::from_ref(block(self.node, at)).cast()
    }

    /// The child that `key` belongs to, for which the hints named block `at`.
    #[inline(always)]
    pub fn child_in<S: Lines>(self, at: usize, key: B) -> NodeRef {
        let up_to = S::separators_up_to(block(self.node, at), key);
        if up_to == 0 { self.child_left::<S>(at, key) } else { self.node_at(at, up_to - 1) }
    }

    /// Looks for the child to the left of block `at`.
    #[cold]
    #[inline(never)]
    fn child_left<S: Lines>(self, mut at: usize, key: B) -> NodeRef {
        let shape = Shape::of(self.node);
        while at > 0 {
            at -= 1;
            let up_to = S::separators_up_to(block(self.node, at), key);
            if up_to > 0 && shape.count(at) > 0 {
                return self.node_at(at, up_to - 1);
            }
        }
        self.node_at(0, 0)
    }

    /// The child at a place of a block.
    #[inline(always)]
    fn node_at(self, at: usize, place: usize) -> NodeRef {
        let line = block(self.node, at);
        // Children are four bytes wide, behind the separators; the mask only tells the compiler.
        let lane = Self::PER_BLOCK * B::BYTES / 4 + place;
        NodeRef::from_word((line[lane / 2 & 7].follow() >> (lane % 2 * 32)) as u32)
    }

    fn set_node_at(self, at: usize, place: usize, node: NodeRef) {
        let lane = Self::PER_BLOCK * B::BYTES / 4 + place;
        let (word, shift) = (&block(self.node, at)[lane / 2], lane % 2 * 32);
        word.publish(word.peek() & !(0xFFFF_FFFF << shift) | u64::from(node.to_word()) << shift);
    }

    /// Adds a child whose separator isn't here, if there is room where it belongs without moving
    /// others to other blocks. For the holder of the latch.
    pub fn insert_in_place<S: Lines>(self, separator: B, child: NodeRef) -> bool {
        let mut shape = Shape::of(self.node);
        let (mut at, _) = named_block::<S, B>(self.node, shape, separator);
        while at > 0 && S::separators_up_to(block(self.node, at), separator) == 0 {
            at -= 1;
        }
        let (line, count) = (block(self.node, at), shape.count(at));
        if count == 0 || count == Self::PER_BLOCK {
            return false;
        }
        let place = S::separators_up_to(line, separator).min(count);
        // A reader in between may find a child twice or miss the new one, and is led to a neighbour.
        for to in (place + 1..=count).rev() {
            self.set_node_at(at, to, self.node_at(at, to - 1));
            set_lane::<B>(line, to, lane(line, to - 1));
        }
        self.set_node_at(at, place, child);
        set_lane(line, place, separator);
        self.pad(at, count + 1);
        shape.set_count(at, count + 1);
        self.node[0][SHAPE].poke(shape.0);
        true
    }

    /// Fills the places of a block behind its `count` children with the last of them.
    fn pad(self, at: usize, count: usize) {
        let last = self.node_at(at, count - 1);
        for place in count..Self::PER_BLOCK {
            self.set_node_at(at, place, last);
            set_lane(block(self.node, at), place, B::MAX);
        }
    }

    /// Copies all children.
    pub fn copy_out(self, into: &mut Children<B>) {
        let (shape, mut len) = (Shape::of(self.node), 0);
        for at in 0..Self::BLOCKS {
            for place in 0..shape.count(at).min(Self::PER_BLOCK) {
                into.separators[len] = lane(block(self.node, at), place);
                into.nodes[len] = self.node_at(at, place);
                len += 1;
            }
        }
        into.len = len;
    }

    /// Sets the fences and the link, and takes these children, at least one, in place of all others.
    /// For the holder of the latch, or for a node that nobody knows of yet.
    pub fn set(self, (low, high): (B, B), link: NodeRef, separators: &[B], nodes: &[NodeRef]) {
        self.node[Self::FENCES][0].poke(low.to_u64());
        self.node[Self::FENCES][1].poke(high.to_u64());
        self.fill(separators, nodes);
        set_link(self.node, link);
    }

    /// Takes these children, at least one, in place of all others, spread evenly.
    pub fn fill(self, separators: &[B], nodes: &[NodeRef]) {
        let len = separators.len();
        // The first separator is the low fence, which may be far from all the others.
        let base = separators[1.min(len - 1)].to_u64();
        let mut shape = Shape::for_span(separators[len - 1].to_u64().saturating_sub(base));
        for at in 0..Self::BLOCKS {
            let (from, to) = ((at * len).div_ceil(Self::BLOCKS), ((at + 1) * len).div_ceil(Self::BLOCKS));
            let line = block(self.node, at);
            for place in 0..Self::PER_BLOCK {
                // An empty block repeats the child before it, so that all words name nodes.
                let entry = (from + place).min(to - 1);
                let separator = if place == 0 || from + place < to { separators[entry] } else { B::MAX };
                set_lane(line, place, separator);
                self.set_node_at(at, place, nodes[entry]);
            }
            shape.set_count(at, to - from);
            if at > 0 {
                let hint = separators.get(from).map_or(NO_BLOCK, |first| shape.hint(first.to_u64(), base));
                set_block_hint(self.node, at, hint);
            }
        }
        // The last line isn't a block.
        set_block_hint(self.node, Self::BLOCKS, NO_BLOCK);
        self.node[0][BASE].poke(base);
        self.node[0][SHAPE].poke(shape.0);
    }

    /// Makes the node a dead one: no key lies between its fences. Its children stay readable.
    pub fn kill(self) {
        self.node[Self::FENCES][0].poke(B::MAX.to_u64());
        self.node[Self::FENCES][1].poke(B::MIN.to_u64());
    }

    /// What is wrong with the node, if anything is. Wants it at rest.
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
        for (at, (&separator, &node)) in separators.iter().zip(children.nodes()).enumerate() {
            let last = separators.get(at + 1).map_or(self.high(), |next| B::truncate(next.to_u64() - 1));
            for key in [separator, last] {
                if self.child::<S>(key) != node {
                    return Some(format!("a search for {key:?} doesn't find child {at}"));
                }
            }
        }
        None
    }
}

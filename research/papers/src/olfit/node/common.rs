//! The parts that leaves and inner nodes share: meta, fences, the way to the right.

use super::layout::{At, Fields, Kind, Layout, WordOf};
use super::scheme::Scheme;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::BitsWord;

/// A node: its words, and where in them things are.
#[derive(Debug)]
pub struct Node<'a, K: Kind> {
    pub(super) words: &'a [WordOf<K>],
    pub(super) layout: &'a Layout,
}

impl<K: Kind> Clone for Node<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Node<'_, K> {}

/// The flags of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// It has left the tree.
    Dead = 24,
    /// No key is too small for it: it is the leftmost node of its level.
    First = 25,
    /// It is the last one of its group: the next one is found by the group's link.
    Last = 26,
}

/// Size, level and flags, as of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta(u32);

impl Meta {
    /// Entries of a leaf, children of an inner node.
    #[inline(always)]
    pub fn size(self) -> usize {
        self.0 as usize & 0xFFFF
    }

    /// Levels between the node and the leaves; 0 for a leaf.
    pub fn level(self) -> usize {
        (self.0 >> 16 & 0xFF) as usize
    }

    /// Returns whether a flag is set.
    #[inline(always)]
    pub fn is(self, flag: Flag) -> bool {
        self.0 >> flag as u32 & 1 == 1
    }
}

/// The position of a key relative to a node of its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way<B> {
    /// To this node.
    Here,
    /// To the right of the node: the key with which the node ended, and the next node, unless the group's
    /// link names it.
    Right(B, Option<At>),
    /// Unknown: the node has left the tree, or covers other keys now.
    Lost,
}

impl<'a, K: Kind> Node<'a, K> {
    /// The node that these words are.
    #[inline(always)]
    pub fn new(words: &'a [WordOf<K>], layout: &'a Layout) -> Self {
        Self { words, layout }
    }

    /// The word of the node's latch.
    #[inline(always)]
    pub fn latch_word(self) -> &'a WordOf<K> {
        &self.words[Fields::<K>::LATCH_AT]
    }

    /// Returns the address of the latch, for the tracing hook.
    #[inline(always)]
    pub fn latch_address(self) -> *const u8 {
        self.address(Fields::<K>::LATCH_AT)
    }

    #[inline(always)]
    pub(super) fn address(self, at: usize) -> *const u8 {
        self.words.as_ptr().wrapping_add(at).cast()
    }

    /// Reports that words are about to be read.
    #[inline(always)]
    pub(super) fn tell_read(self, at: usize, words: usize) {
        K::Trace::read(self.address(at), words * K::Bits::BYTES);
    }

    /// Reports that words are about to be written.
    #[inline(always)]
    pub(super) fn tell_write(self, at: usize, words: usize) {
        if words > 0 {
            K::Trace::write(self.address(at), words * K::Bits::BYTES);
        }
    }

    #[inline(always)]
    pub(super) fn lane(self, at: usize) -> K::Bits {
        self.tell_read(at, 1);
        self.words[at].load_relaxed()
    }

    #[inline(always)]
    pub(super) fn set_lane(self, at: usize, to: K::Bits) {
        self.tell_write(at, 1);
        self.words[at].store_relaxed(to);
    }

    /// Size, level and flags.
    #[inline(always)]
    pub fn meta(self) -> Meta {
        Meta(self.lane(Fields::<K>::META_AT).to_u64() as u32)
    }

    /// Entries of a leaf, children of an inner node.
    #[inline(always)]
    pub fn size(self) -> usize {
        self.meta().size()
    }

    /// Sets the low half of meta and leaves the reference beside it unchanged.
    #[inline(always)]
    fn set_meta(self, meta: u32) {
        let at = Fields::<K>::META_AT;
        let beside = self.words[at].load_relaxed().to_u64() & !0xFFFF_FFFF;
        self.set_lane(at, K::Bits::truncate(beside | u64::from(meta)));
    }

    #[inline(always)]
    pub(super) fn set_size(self, size: usize) {
        let meta = self.words[Fields::<K>::META_AT].load_relaxed().to_u64() as u32;
        self.set_meta(meta & !0xFFFF | size as u32);
    }

    /// Sets or takes away a flag.
    pub fn set_flag(self, flag: Flag, to: bool) {
        let meta = self.words[Fields::<K>::META_AT].load_relaxed().to_u64() as u32;
        self.set_meta(meta & !(1 << flag as u32) | u32::from(to) << flag as u32);
    }

    /// Makes the node an empty one of this level, with no flags. Leaves its latch alone, and its key
    /// places.
    pub fn reset(self, level: usize) {
        self.set_meta((level as u32) << 16);
    }

    /// Removes the node from the tree: a thread that arrives at it restarts or moves on. Its reference
    /// stays.
    pub fn mark_dead(self) {
        if K::Scheme::LINKS || K::Scheme::COPIES {
            self.set_flag(Flag::Dead, true);
        }
    }

    /// The largest key that belongs here; only of nodes with links.
    #[inline(always)]
    pub fn high(self) -> K::Bits {
        self.lane(Fields::<K>::HIGH_AT)
    }

    /// Sets the high key, if nodes have one.
    pub fn set_high(self, high: K::Bits) {
        if K::Scheme::LINKS {
            self.set_lane(Fields::<K>::HIGH_AT, high);
        }
    }

    /// Returns the high key of the node to the left; meaningless if there is none.
    #[inline(always)]
    pub fn low(self) -> K::Bits {
        self.lane(Fields::<K>::LOW_AT)
    }

    /// Sets the key after which the node begins, if nodes store it; `None`: with the first of all keys.
    pub fn set_low(self, low: Option<K::Bits>) {
        if Fields::<K>::LOW_FENCES {
            self.set_lane(Fields::<K>::LOW_AT, low.unwrap_or(K::Bits::MIN));
            self.set_flag(Flag::First, low.is_none());
        }
    }

    /// Returns the key after which the node begins, as in [`Node::set_low`].
    pub fn begins(self) -> Option<K::Bits> {
        let low = self.low();
        (!self.meta().is(Flag::First)).then_some(low)
    }

    /// Returns where the reference is that the node has apart from its children.
    #[inline(always)]
    fn reference_at(self) -> usize {
        match (Fields::<K>::WIDE, Fields::<K>::LINK_IS_LAST) {
            (true, _) => Fields::<K>::META_AT,
            (false, true) => self.words.len() - 1,
            (false, false) => Fields::<K>::GROUP_AT,
        }
    }

    /// Returns the reference that the node has apart from its children: the node to the right, a group's
    /// link, or the group of children.
    #[inline(always)]
    pub(super) fn reference(self) -> NodeRef {
        let (wide, at) = (Fields::<K>::WIDE, self.reference_at());
        self.tell_read(at, 1);
        // It leads to a node that was written before it was published.
        let word = self.words[at].follow().to_u64();
        NodeRef::from_word((if wide { word >> 32 } else { word }) as u32)
    }

    /// Sets the reference; a thread that follows it sees everything that was written before.
    pub(super) fn set_reference(self, to: NodeRef) {
        let (wide, at, to) = (Fields::<K>::WIDE, self.reference_at(), u64::from(to.to_word()));
        let beside = if wide { self.words[at].load_relaxed().to_u64() & 0xFFFF_FFFF | to << 32 } else { to };
        self.tell_write(at, 1);
        self.words[at].publish(K::Bits::truncate(beside));
    }

    /// The node to the right, of a B+-Tree with links; or, of a group's head, the next group.
    #[inline(always)]
    pub fn link(self) -> NodeRef {
        self.reference()
    }

    /// Sets the link, if there is one: of a B+-Tree's node, or of a group's head.
    pub fn set_link(self, to: NodeRef) {
        if K::Scheme::LINKS {
            self.set_reference(to);
        }
    }

    /// Returns the position of `key` relative to this node, which is `at`. Without links no thread ever
    /// arrives at a node that doesn't cover its key.
    #[inline(always)]
    pub fn way(self, at: At, key: K::Bits) -> Way<K::Bits> {
        if !K::Scheme::LINKS {
            return Way::Here;
        }
        let meta = self.meta();
        if meta.is(Flag::Dead) {
            return Way::Lost;
        }
        let high = self.high();
        if key > high {
            return Way::Right(high, self.right(at, meta));
        }
        if Fields::<K>::LOW_FENCES && self.low() >= key && !meta.is(Flag::First) {
            return Way::Lost;
        }
        Way::Here
    }

    /// Returns the node to the right, unless the group's link names it.
    #[inline(always)]
    pub fn right(self, at: At, meta: Meta) -> Option<At> {
        match K::GROUPS {
            true if meta.is(Flag::Last) => None,
            true => Some(at.further(1)),
            false => Some(At::first(self.link())),
        }
    }

    /// Copies everything but the latch to another node.
    pub fn copy_to(self, to: Node<'_, K>) {
        let from = Fields::<K>::META_AT;
        self.tell_read(from, self.words.len() - from);
        to.tell_write(from, to.words.len() - from);
        for (to, from) in to.words[from..].iter().zip(&self.words[from..]) {
            to.store_relaxed(from.load_relaxed());
        }
    }

    /// Moves words within the node; the places may overlap.
    pub(super) fn shift(self, from: usize, to: usize, words: usize) {
        self.tell_read(from, words);
        self.tell_write(to, words);
        let step = |i: usize| self.words[to + i].store_relaxed(self.words[from + i].load_relaxed());
        if from < to { (0..words).rev().for_each(step) } else { (0..words).for_each(step) }
    }

    /// Copies words to another node.
    pub(super) fn copy_words(self, from: usize, other: Node<'_, K>, to: usize, words: usize) {
        self.tell_read(from, words);
        other.tell_write(to, words);
        for i in 0..words {
            other.words[to + i].store_relaxed(self.words[from + i].load_relaxed());
        }
    }
}

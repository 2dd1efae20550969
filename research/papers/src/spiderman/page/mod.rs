//! Pages: the nodes of the tree with optimistic lock coupling, as in the B+-Tree under Spiderman (Vu 2023,
//! §2.3.2). A page of 4096 bytes has a header of sixteen and 255 pairs.
//!
//! ```text
//! latch and version │ size, level, dead, link │ keys ………………… │ values or children …………………
//! ```
//! A leaf's pairs are keys and values, ascending. An inner page of `n` children has `n − 1` separators,
//! each the largest key that belongs to the child in its place; the last child covers all keys after
//! these. Ours stores the link to the page on the right in four bytes of the header that the paper leaves
//! free. [`CodeBase`] has an inner page's children before its keys.
//!
//! # Thread safety
//! Words are atomics. A thread that writes holds the latch; a thread that reads validates the version. A
//! word of a page that is being written has one of the values that were stored in it, and sizes never
//! exceed the page's capacity, so a reader never accesses memory outside of it.
//!
//! # Invariants
//! 1. A page is reused for its own level only: a word that once was a child's reference always refers to a
//!    page of the level below.
//! 2. A page that isn't part of the tree is marked as dead, or is empty.

mod form;
mod pairs;
mod search;

pub use form::{CodeBase, Form};
pub use search::Probes;

use crate::error::{Error, Result};
use core::marker::PhantomData;
use core::ops::RangeInclusive;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// Words before the first key: latch and version; size, level, dead, link.
const HEADER_WORDS: usize = 2;
const META_AT: usize = 1;
const DEAD: u64 = 1 << 24;

/// The smallest and the largest page, in bytes.
pub const PAGE_BYTES: RangeInclusive<usize> = 2 * LINE_BYTES..=64 * LINE_BYTES;

/// The number of pairs that pages of one size have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    /// Pairs: a leaf's entries, an inner page's children.
    pub places: usize,
}

impl PageLayout {
    /// The layout of pages of this size: 255 pairs in the paper's 4096 bytes.
    ///
    /// # Errors
    /// [`Error::PageSize`] unless that is a number of whole cache lines, from two to sixty-four.
    pub fn of(page_bytes: usize) -> Result<Self> {
        if !PAGE_BYTES.contains(&page_bytes) || !page_bytes.is_multiple_of(LINE_BYTES) {
            return Err(Error::PageSize { given: page_bytes });
        }
        Ok(Self { places: (page_bytes / size_of::<u64>() - HEADER_WORDS) / 2 })
    }

    /// Returns the part of a page at an offset in bytes; `first` is the part after its header. `None`: the
    /// offset is after its end, or in the padding of its last line.
    fn part_at(self, bytes: usize, first: PagePart) -> Option<PagePart> {
        let second = if first == PagePart::Keys { PagePart::Seconds } else { PagePart::Keys };
        match (bytes / size_of::<u64>()).checked_sub(HEADER_WORDS) {
            None => Some(PagePart::Header),
            Some(word) if word < self.places => Some(first),
            Some(word) if word < 2 * self.places => Some(second),
            Some(_) => None,
        }
    }
}

/// The parts of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagePart {
    /// Latch, version, size, level, link.
    Header,
    /// Keys or separators.
    Keys,
    /// A leaf's values, an inner page's children.
    Seconds,
}

/// A page: its words, and the number of pairs that it has room for.
#[derive(Debug)]
pub struct Page<'a, T> {
    words: &'a [Word],
    layout: PageLayout,
    touch: PhantomData<T>,
}

impl<T> Clone for Page<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Page<'_, T> {}

/// The meta word of a page, as of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta(u64);

impl Meta {
    /// Entries of a leaf, children of an inner page.
    #[inline(always)]
    pub fn size(self) -> usize {
        self.0 as usize & 0xFFFF
    }

    /// Levels between the page and the leaves; 0 for a leaf.
    #[inline(always)]
    pub fn level(self) -> usize {
        (self.0 >> 16) as usize & 0xFF
    }

    /// Returns whether the page has left the tree, or isn't part of it yet.
    #[inline(always)]
    pub fn is_dead(self) -> bool {
        self.0 & DEAD != 0
    }

    /// The leaf to the right.
    #[inline(always)]
    pub fn link(self) -> NodeRef {
        NodeRef::from_word((self.0 >> 32) as u32)
    }
}

impl<'a, T: Form> Page<'a, T> {
    /// The page that these words are.
    #[inline(always)]
    pub fn new(words: &'a [Word], layout: PageLayout) -> Self {
        Self { words, layout, touch: PhantomData }
    }

    /// The latch.
    #[inline(always)]
    pub fn latch(self) -> &'a OptimisticLatch {
        OptimisticLatch::of(&self.words[0])
    }

    /// Returns the part of a page of this level at an offset in bytes; `None`: the offset is after its end,
    /// or in the padding of its last line.
    pub fn part_at(layout: PageLayout, level: usize, bytes: usize) -> Option<PagePart> {
        let swapped = T::CHILDREN_FIRST && level > 0;
        layout.part_at(bytes, if swapped { PagePart::Seconds } else { PagePart::Keys })
    }

    /// Returns whether its children are before its keys. Its level never changes.
    #[inline(always)]
    fn is_swapped(self) -> bool {
        T::CHILDREN_FIRST && Meta(self.words[META_AT].load_relaxed()).level() > 0
    }

    /// Returns the position of a key, in words.
    #[inline(always)]
    fn key_at(self, place: usize) -> usize {
        HEADER_WORDS + if self.is_swapped() { self.layout.places } else { 0 } + place
    }

    /// Returns the position of a value or child, in words.
    #[inline(always)]
    fn second_at(self, place: usize) -> usize {
        HEADER_WORDS + if self.is_swapped() { 0 } else { self.layout.places } + place
    }

    /// Returns the address of a word, for the tracing hook and for prefetching.
    #[inline(always)]
    fn address(self, at: usize) -> *const u8 {
        self.words.as_ptr().wrapping_add(at).cast()
    }

    /// Returns the address of the header.
    #[inline(always)]
    pub fn header_address(self) -> *const u8 {
        self.address(0)
    }

    /// Returns the address after the last pair.
    #[inline(always)]
    pub fn end_address(self) -> *const u8 {
        self.address(HEADER_WORDS + 2 * self.layout.places)
    }

    /// Returns the address of the key at a place.
    #[inline(always)]
    pub fn key_address(self, place: usize) -> *const u8 {
        self.address(self.key_at(place))
    }

    /// Returns the address of the value or child at a place.
    #[inline(always)]
    pub fn second_address(self, place: usize) -> *const u8 {
        self.address(self.second_at(place))
    }

    #[inline(always)]
    fn tell_read(self, at: usize, words: usize) {
        T::read(self.address(at), words * size_of::<u64>());
    }

    #[inline(always)]
    fn tell_write(self, at: usize, words: usize) {
        if words > 0 {
            T::write(self.address(at), words * size_of::<u64>());
        }
    }

    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self.tell_read(at, 1);
        self.words[at].load_relaxed()
    }

    #[inline(always)]
    fn set_word(self, at: usize, to: u64) {
        self.tell_write(at, 1);
        self.words[at].store_relaxed(to);
    }

    /// Size, level, dead, link.
    #[inline(always)]
    pub fn meta(self) -> Meta {
        self.tell_read(META_AT, 1);
        // The link leads to a page that was written before it was set.
        Meta(self.words[META_AT].follow())
    }

    /// Returns the number of pairs, within the page's capacity even while it changes.
    #[inline(always)]
    pub fn size(self) -> usize {
        self.meta().size().min(self.layout.places)
    }

    /// Returns whether there is no room for another pair.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        self.meta().size() >= self.layout.places
    }

    #[inline(always)]
    fn set_size(self, size: usize) {
        let meta = self.words[META_AT].load_relaxed();
        self.set_meta(meta & !0xFFFF | size as u64);
    }

    /// Sets the whole word; a thread that follows the link sees what was written before.
    #[inline(always)]
    fn set_meta(self, meta: u64) {
        self.tell_write(META_AT, 1);
        self.words[META_AT].publish(meta);
    }

    /// Makes the page an empty one of this level, without a link.
    pub fn reset(self, level: usize) {
        self.set_meta(u64::from(NodeRef::NIL.to_word()) << 32 | (level as u64) << 16);
    }

    /// Removes the page from the tree: a thread that arrives at it moves on or restarts.
    pub fn mark_dead(self) {
        let meta = self.words[META_AT].load_relaxed();
        self.set_meta(meta & !0xFFFF | DEAD);
    }

    /// Sets the link to the leaf on the right; a thread that follows it sees what was written before.
    pub fn set_link(self, to: NodeRef) {
        let meta = self.words[META_AT].load_relaxed();
        self.set_meta(meta & 0xFFFF_FFFF | u64::from(to.to_word()) << 32);
    }

    /// The key or separator at a place.
    #[inline(always)]
    pub fn key(self, place: usize) -> u64 {
        self.word(self.key_at(place))
    }

    /// Sets the key or separator at a place.
    #[inline(always)]
    pub fn set_key(self, place: usize, key: u64) {
        self.set_word(self.key_at(place), key);
    }

    /// The value at a place of a leaf.
    #[inline(always)]
    pub fn value(self, place: usize) -> u64 {
        self.word(self.second_at(place))
    }

    /// Sets the value at a place of a leaf.
    #[inline(always)]
    pub fn set_value(self, place: usize, value: u64) {
        self.set_word(self.second_at(place), value);
    }

    /// The child at a place of an inner page.
    #[inline(always)]
    pub fn child(self, place: usize) -> NodeRef {
        let at = self.second_at(place);
        self.tell_read(at, 1);
        // It leads to a page that was written before it was set.
        NodeRef::from_word(self.words[at].follow() as u32)
    }

    /// Sets the child at a place; a thread that follows it sees what was written before.
    #[inline(always)]
    pub fn set_child(self, place: usize, child: NodeRef) {
        let at = self.second_at(place);
        self.tell_write(at, 1);
        self.words[at].publish(u64::from(child.to_word()));
    }
}

#[cfg(test)]
mod tests;

//! What the index layer leads to, in a word.

/// Bits of an anchor for the place in a segment.
const PLACE_BITS: u32 = 8;
/// Places in a segment that anchors can name.
pub const PLACES_MAX: usize = 1 << PLACE_BITS;

/// The number of segments that anchors can distinguish.
pub const SEGMENTS_MAX: usize = 1 << (32 - PLACE_BITS);

/// A data node that the index layer leads to: its segment, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Anchor(u32);

impl Anchor {
    /// The list's head.
    pub const HEAD: Self = Self(0);

    pub(super) fn new(segment: usize, place: usize) -> Self {
        debug_assert!(place < PLACES_MAX && segment < SEGMENTS_MAX);
        Self((segment << PLACE_BITS | place) as u32)
    }

    /// Returns the same place in the segment that is that many further on.
    #[inline(always)]
    pub fn further_on(self, segments: usize) -> Self {
        debug_assert!(self.segment() + segments < SEGMENTS_MAX);
        Self(self.0 + (segments << PLACE_BITS) as u32)
    }

    /// The anchor as an index layer's routing table holds it.
    #[inline(always)]
    pub fn to_word(self) -> u32 {
        self.0
    }

    /// The anchor that a word of a routing table represents.
    #[inline(always)]
    pub fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// The number of its segment.
    #[inline(always)]
    pub fn segment(self) -> usize {
        (self.0 >> PLACE_BITS) as usize
    }

    /// Its place in the segment.
    #[inline(always)]
    pub(super) fn place(self) -> u32 {
        self.0 & (PLACES_MAX as u32 - 1)
    }
}

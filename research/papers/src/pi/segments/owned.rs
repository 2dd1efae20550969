//! A run of segments that one thread owns: the list on which Algorithm 4 executes.

use super::anchor::Anchor;
use super::segment::{Change, END, Segment, seek};
use crate::pi::ask::ask;
use crate::pi::mem::budget::Budget;
use crate::pi::routed::Heights;
use core::ops::{AddAssign, Range};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// Adjacent segments, which their one owner may change.
#[derive(Debug)]
pub struct SegmentsMut<'a, B: Bits> {
    /// The number of the first one.
    first: usize,
    segments: &'a mut [Segment<B>],
    heights: Heights,
}

/// The place of the last query of an ascending run: the next one starts there if it is further on than its
/// anchor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Finger {
    segment: usize,
    place: u32,
    set: bool,
}

/// The change of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drift {
    /// Inserted keys.
    pub inserted: usize,
    /// Keys that went.
    pub removed: usize,
    /// Nodes that were inserted or flagged.
    pub drifted: usize,
    /// The place farthest from its segment's beginning at which a key was put.
    pub farthest: usize,
}

impl AddAssign for Drift {
    fn add_assign(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.removed += other.removed;
        self.drifted += other.drifted;
        self.farthest = self.farthest.max(other.farthest);
    }
}

impl<'a, B: Bits> SegmentsMut<'a, B> {
    pub(super) fn new(segments: &'a mut [Segment<B>], heights: Heights) -> Self {
        Self { first: 0, segments, heights }
    }

    /// The numbers of the segments.
    pub fn numbers(&self) -> Range<usize> {
        self.first..self.first + self.segments.len()
    }

    /// Cuts the run in front of the segment of that number.
    ///
    /// # Panics
    /// If there is no such segment.
    pub fn split(self, number: usize) -> (Self, Self) {
        let (left, right) = self.segments.split_at_mut(number - self.first);
        (Self { first: self.first, segments: left, ..self }, Self { first: number, segments: right, ..self })
    }

    /// Returns the key of the run's first node: a range from the left continues there.
    pub fn first_key(&self) -> Option<B> {
        self.segments.first().map(|segment| segment.nodes()[0].key)
    }

    /// The run's first node.
    pub fn first_anchor(&self) -> Anchor {
        Anchor::new(self.first, 0)
    }

    /// Prefetches the entry of the table that leads to an anchor's segment.
    #[inline(always)]
    pub fn ask_for_segment<T: Trace>(&self, anchor: Anchor) {
        ask::<T, _>(self.segments.as_ptr().wrapping_add(anchor.segment().wrapping_sub(self.first)));
    }

    /// Prefetches an anchor's node and the line after it. Reads the table.
    #[inline(always)]
    pub fn ask_for_node<T: Trace>(&self, anchor: Anchor) {
        if let Some(segment) = self.segments.get(anchor.segment().wrapping_sub(self.first)) {
            segment.ask_for_node::<T>(anchor.place());
        }
    }

    /// The anchor's segment.
    ///
    /// # Panics
    /// If it isn't one of these: another thread's query was passed here.
    #[inline(always)]
    fn at(&mut self, anchor: Anchor) -> &mut Segment<B> {
        let position = anchor.segment().wrapping_sub(self.first);
        assert!(position < self.segments.len(), "an interception in a segment that another thread owns");
        &mut self.segments[position]
    }

    /// Returns the start: the anchor, or the finger if that is further on in the same segment. Since keys
    /// ascend, the finger's key isn't after this one.
    #[inline(always)]
    fn begin(segment: &Segment<B>, anchor: Anchor, finger: &Finger) -> u32 {
        let place = anchor.place();
        if finger.set && finger.segment == anchor.segment() {
            let nodes = segment.nodes();
            if nodes[finger.place as usize].key > nodes[place as usize].key {
                return finger.place;
            }
        }
        place
    }

    #[inline(always)]
    fn settle(finger: &mut Finger, anchor: Anchor, place: u32) {
        *finger = Finger { segment: anchor.segment(), place, set: true };
    }

    /// The value under a key. Along one finger keys ascend, or are equal.
    #[inline(always)]
    pub fn get<T: Trace>(&mut self, anchor: Anchor, finger: &mut Finger, key: B) -> Option<B> {
        let segment = self.at(anchor);
        T::read(core::ptr::from_ref(segment).cast(), size_of::<Segment<B>>());
        let from = Self::begin(segment, anchor, finger);
        let nodes = segment.nodes();
        let place = seek::<B, T>(nodes, from, key);
        Self::settle(finger, anchor, place);
        nodes[place as usize].value_of(key)
    }

    /// Inserts a value under a key; returns the previous value and the change of the list.
    ///
    /// # Errors
    /// When memory is refused; the list is then as before.
    #[inline(always)]
    pub fn put<T: Trace>(
        &mut self,
        anchor: Anchor,
        finger: &mut Finger,
        (key, value): (B, B),
        budget: &Budget,
    ) -> Result<(Option<B>, Drift)> {
        let height = self.heights.of(key) as u16;
        let segment = self.at(anchor);
        T::read(core::ptr::from_ref(segment).cast(), size_of::<Segment<B>>());
        let from = Self::begin(segment, anchor, finger);
        let Change { before, place, drifts } = segment.put::<T>(from, (key, value), height, budget)?;
        Self::settle(finger, anchor, place);
        let inserted = usize::from(before.is_none());
        Ok((before, Drift { inserted, removed: 0, drifted: usize::from(drifts), farthest: place as usize }))
    }

    /// Removes a key; returns the previous value and the change of the list.
    #[inline(always)]
    pub fn take<T: Trace>(&mut self, anchor: Anchor, finger: &mut Finger, key: B) -> (Option<B>, Drift) {
        let segment = self.at(anchor);
        T::read(core::ptr::from_ref(segment).cast(), size_of::<Segment<B>>());
        let from = Self::begin(segment, anchor, finger);
        let Change { before, place, .. } = segment.take::<T>(from, key);
        Self::settle(finger, anchor, place);
        let removed = usize::from(before.is_some());
        (before, Drift { inserted: 0, removed, drifted: removed, farthest: 0 })
    }

    /// Appends the entries from `low` to `high`, both included, to `found`, until that has `limit` entries
    /// or the run ends. The anchor isn't after `low`. Returns whether the run ended, so that more entries
    /// may be in the next one.
    pub fn range<T: Trace>(
        &self,
        anchor: Anchor,
        (low, high): (B, B),
        limit: usize,
        found: &mut Vec<(B, B)>,
    ) -> bool {
        let mut from = anchor.place();
        for segment in self.segments.iter().skip(anchor.segment().wrapping_sub(self.first)) {
            let nodes = segment.nodes();
            let mut at = from;
            while at != END {
                let node = &nodes[at as usize];
                T::read(core::ptr::from_ref(node).cast(), size_of_val(node));
                if node.key > high || found.len() >= limit {
                    return false;
                }
                if node.key >= low && !node.is_flagged() {
                    found.push((node.key, node.value()));
                }
                at = node.next();
            }
            from = 0;
        }
        found.len() < limit
    }
}

//! PI's storage layer (§4.1): a sorted linked list of data nodes, each with its key, its value, its height
//! and a flag for deleted nodes.
//!
//! The list is divided into *segments*: runs of nodes in separate memory, linked by their places there. A
//! thread that owns a run of segments through `&mut` ([`SegmentsMut`]) may change everything in it,
//! without any latch, while others change other runs; the compiler proves that no node has two owners.
//! Segments are cut in front of nodes that appear in the index layer, so the search for a key never has to
//! leave the segment of its interception.
//!
//! # Invariants
//! 1. Keys ascend along the list. The list's first node, the *head*, has the smallest possible key and is
//!    always present, flagged if the key isn't.
//! 2. A segment other than the first begins with a node of height 2 or more at place 0. Every node that
//!    was higher than 1 when its segment was laid out is at a place below [`PLACES_MAX`] and is never
//!    moved or unlinked before the segment is laid out again.
//! 3. A deleted node is only flagged (§3.2.3); inserting its key again clears the flag. Flagged nodes are
//!    dropped when their segment is laid out again.
//!
//! # Snapshots
//! [`Segments::lend`] shares all segments with a second list in O(segments). A segment that is changed
//! while it is shared is copied first, by its owner; so an index layer can be rebuilt in the background
//! from a list that is quiescent.

mod anchor;
mod footing;
mod form;
mod layout;
mod owned;
mod parts;
mod scan;
mod segment;
mod tall;
#[cfg(test)]
mod tests;

pub use anchor::{Anchor, PLACES_MAX, SEGMENTS_MAX};
pub use footing::Footing;
pub use form::{Form, ROOM_PERCENT_MAX};
pub(in crate::pi) use layout::ranges;
pub use owned::{Drift, Finger, SegmentsMut};
pub use parts::Parts;

use crate::pi::ask::ask;
use crate::pi::crew::one_by_one;
use core::ops::Range;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::refusal::reserve;
use latchless_core::mem::touch::Trace;
use segment::{END, Segment, seek};
use std::sync::Arc;
use tall::Tall;

/// The whole list. See the module's head.
#[derive(Debug)]
pub struct Segments<B: Bits> {
    segments: Vec<Segment<B>>,
    /// Each segment's tall nodes, as of its layout.
    talls: Vec<Arc<[Tall<B>]>>,
    /// Nodes without a flag.
    len: usize,
    /// Nodes that were inserted or flagged since they were laid out.
    drift: usize,
    /// The farthest place of all inserted nodes.
    farthest: usize,
    form: Form,
}

impl<B: Bits> Segments<B> {
    /// A list of nothing but its head.
    ///
    /// # Errors
    /// Those of [`Segments::from_sorted`].
    pub fn new(form: Form) -> Result<Self> {
        let none = |_| (B::MIN, B::MIN);
        Self::from_sorted(0, &none, form, (1, &one_by_one))
    }

    /// Returns the form of the list.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Nodes that were inserted or deleted since they were last laid out.
    pub fn drift(&self) -> usize {
        self.drift
    }

    /// Nodes of the longest segment. O(segments).
    pub fn longest(&self) -> usize {
        self.segments.iter().map(|segment| segment.nodes().len()).max().unwrap_or(0)
    }

    /// Returns the bytes of the nodes, including the room for further ones and the places that moved
    /// segments have left, and of the table of segments. O(segments).
    pub fn memory_bytes(&self) -> usize {
        let nodes: usize = self.segments.iter().map(|segment| segment.slab().held_bytes()).sum();
        let talls: usize = self.talls.iter().map(|talls| size_of_val(&**talls)).sum();
        nodes + talls + self.segments.len() * (size_of::<Segment<B>>() + size_of::<Arc<[Tall<B>]>>())
    }

    /// Returns the addresses of each segment's nodes and room, for a memory model to place.
    pub fn addresses(&self) -> impl Iterator<Item = Range<usize>> {
        self.segments.iter().map(|segment| {
            let start = segment.nodes().as_ptr().addr();
            start..start + segment.slab().own_bytes()
        })
    }

    /// The value under a key, given its anchor.
    #[inline(always)]
    pub fn get<T: Trace>(&self, anchor: Anchor, key: B) -> Option<B> {
        let segment = &self.segments[anchor.segment()];
        T::read(core::ptr::from_ref(segment).cast(), size_of::<Segment<B>>());
        let nodes = segment.nodes();
        nodes[seek::<B, T>(nodes, anchor.place(), key) as usize].value_of(key)
    }

    /// Prefetches the entry of the table that leads to an anchor's segment.
    #[inline(always)]
    pub fn ask_for_segment<T: Trace>(&self, anchor: Anchor) {
        ask::<T, _>(self.segments.as_ptr().wrapping_add(anchor.segment()));
    }

    /// Prefetches an anchor's node and the line after it. Reads the table.
    #[inline(always)]
    pub fn ask_for_node<T: Trace>(&self, anchor: Anchor) {
        self.segments[anchor.segment()].ask_for_node::<T>(anchor.place());
    }

    /// The whole list, to be changed.
    pub fn all(&mut self) -> SegmentsMut<'_, B> {
        SegmentsMut::new(&mut self.segments, self.form.heights)
    }

    /// Takes note of what became of the list since it was lent out through [`Segments::all`].
    pub fn changed(&mut self, by: Drift) {
        self.len = self.len + by.inserted - by.removed;
        self.drift += by.drifted;
        self.farthest = self.farthest.max(by.farthest);
    }

    /// Returns whether inserts were so close together that some segment has grown long: every search in it
    /// passes all of its nodes since the one that the index layer knows.
    pub fn has_long_segment(&self) -> bool {
        const TIMES: usize = 16;
        self.farthest > TIMES * self.form.nodes.max(16)
    }

    /// A second list that shares all segments with this one.
    ///
    /// # Errors
    /// [`OutOfMemory`](latchless_core::Error::OutOfMemory); nothing has changed then.
    pub fn lend(&mut self) -> Result<Self> {
        let (mut segments, mut talls) = (Vec::new(), Vec::new());
        reserve(&mut segments, self.segments.len())?;
        reserve(&mut talls, self.talls.len())?;
        segments.extend(self.segments.iter_mut().map(Segment::lend));
        talls.extend_from_slice(&self.talls);
        Ok(Self { segments, talls, ..*self })
    }

    /// Checks every node, and reports the first violation. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), Broken> {
        let (mut live, mut before) = (0, None);
        for (nth, segment) in self.segments.iter().enumerate() {
            let (nodes, talls) = (segment.nodes(), &self.talls[nth]);
            let broken = |what: &str| Err(Broken::new(format!("segment {nth}: {what}")));
            let (mut at, mut seen, mut next_tall) = (0, 0, talls.iter().peekable());
            while at != END {
                let node = &nodes[at as usize];
                if before.is_some_and(|before| before >= node.key) {
                    return broken(&format!("{:?} stands behind {before:?}", node.key));
                }
                if next_tall.peek().is_some_and(|tall| u32::from(tall.place) == at) {
                    let tall = next_tall.next();
                    if tall.is_none_or(|tall| tall.key != node.key || tall.height != node.height()) {
                        return broken(&format!("{:?} isn't what the index layer was told", node.key));
                    }
                }
                before = Some(node.key);
                seen += 1;
                live += usize::from(!node.is_flagged());
                at = node.next();
            }
            if seen != nodes.len() {
                return broken(&format!("{seen} of {} nodes are linked", nodes.len()));
            }
            if next_tall.next().is_some() || (nth > 0 && talls.first().is_none_or(|tall| tall.place != 0)) {
                return broken("it doesn't begin with a tall node, or a tall node isn't linked");
            }
        }
        match self.segments.first().map(|first| first.nodes()[0].key) {
            Some(key) if key == B::MIN && live == self.len => Ok(()),
            head => Err(Broken::new(format!("the head is {head:?}, {live} of {} keys are there", self.len))),
        }
    }
}

//! Laying the list out: from sorted entries, or again from a list that has drifted. Flagged nodes are
//! dropped, inserted ones are placed between their neighbours, and segments get their intended size.

use super::Segments;
use super::form::Form;
use super::segment::{END, Node, Segment};
use super::tall::Tall;
use crate::pi::crew::{Run, ScopedTask};
use crate::pi::mem::slabs::{ChunkUsage, SlabAllocator};
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::refusal::reserve;
use std::sync::Arc;

/// Takes nodes in ascending order and makes segments of them.
struct Layout<B: Bits> {
    form: Form,
    allocator: SlabAllocator,
    segments: Vec<Segment<B>>,
    talls: Vec<Arc<[Tall<B>]>>,
    /// The segment in work.
    nodes: Vec<Node<B>>,
    tall: Vec<Tall<B>>,
    /// Nodes that aren't flagged.
    live: usize,
    /// The result: after a refusal of memory nothing more is laid out.
    outcome: Result<()>,
}

impl<B: Bits> Layout<B> {
    /// Creates a layout for an estimated number of nodes that aren't shared.
    fn new(form: Form, nodes: usize) -> Self {
        let places = nodes.saturating_add(room_of(nodes, form));
        let expected_bytes = places.saturating_mul(size_of::<Node<B>>());
        Self {
            form,
            allocator: SlabAllocator::new(expected_bytes, form.paper),
            segments: Vec::new(),
            talls: Vec::new(),
            nodes: Vec::new(),
            tall: Vec::new(),
            live: 0,
            outcome: Ok(()),
        }
    }

    fn push(&mut self, key: B, value: B, height: u16, flagged: bool) -> Result<()> {
        if height > 1 && self.nodes.len() >= self.form.nodes {
            self.flush()?;
        }
        let place = self.nodes.len();
        let node = Node::new(key, value, height, flagged, place as u32 + 1);
        if height > 1 {
            // At most as many as there are places that anchors can distinguish.
            self.tall.push(Tall::of(&node, place));
        }
        reserve(&mut self.nodes, 1)?;
        self.nodes.push(node);
        self.live += usize::from(!flagged);
        Ok(())
    }

    /// The list's first node: it belongs to no level, since every search begins with it.
    fn push_head(&mut self, value: B, flagged: bool) -> Result<()> {
        self.push(B::MIN, value, 1, flagged)
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(last) = self.nodes.last_mut() {
            *last = Node::new(last.key, last.value(), last.height(), last.is_flagged(), END);
            let room = room_of(self.nodes.len(), self.form);
            let segment = Segment::cut(&mut self.allocator, &self.nodes, room)?;
            self.add(segment, self.tall.as_slice().into())?;
            self.nodes.clear();
            self.tall.clear();
        }
        Ok(())
    }

    fn add(&mut self, segment: Segment<B>, talls: Arc<[Tall<B>]>) -> Result<()> {
        reserve(&mut self.segments, 1)?;
        reserve(&mut self.talls, 1)?;
        self.segments.push(segment);
        self.talls.push(talls);
        Ok(())
    }

    /// Lays out a segment of a list that is quiescent.
    fn take_over(
        &mut self,
        segment: &Segment<B>,
        talls: &Arc<[Tall<B>]>,
        (is_first, stays): (bool, bool),
    ) -> Result<()> {
        let small = self.nodes.len() < self.form.nodes / 4 && !self.nodes.is_empty();
        if stays
            && !small
            && let Some(shared) = segment.share()
        {
            self.flush()?;
            let flagged = shared.nodes().iter().filter(|node| node.is_flagged()).count();
            self.live += shared.nodes().len() - flagged;
            return self.add(shared, talls.clone());
        }
        let nodes = segment.nodes();
        let alive = is_first || nodes.iter().any(|node| !node.is_flagged());
        let mut at = if alive { 0 } else { END };
        while at != END {
            let node = &nodes[at as usize];
            if is_first && at == 0 {
                self.push_head(node.value(), node.is_flagged())?;
            } else if !node.is_flagged() || self.nodes.is_empty() {
                // The first node of a segment stays: keys after it are searched from here.
                self.push(node.key, node.value(), node.height(), node.is_flagged())?;
            }
            at = node.next();
        }
        Ok(())
    }
}

/// Returns the room beyond that many nodes.
fn room_of(nodes: usize, form: Form) -> usize {
    nodes.saturating_mul(form.room_percent) / 100
}

impl<B: Bits> Segments<B> {
    /// The list of `len` entries with strictly ascending keys, in `parts` pieces of work. O(n).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](latchless_core::base::error::Error::OutOfMemory).
    pub fn from_sorted(
        len: usize,
        entry_at: &(dyn Fn(usize) -> (B, B) + Sync),
        form: Form,
        (parts, run): (usize, Run<'_>),
    ) -> Result<Self> {
        let height_of = |key: B| form.heights.of(key) as u16;
        let has_head = len > 0 && entry_at(0).0 == B::MIN;
        // A part begins where a segment can begin.
        let tall_from = |at: usize| (at..len).find(|&at| height_of(entry_at(at).0) > 1).unwrap_or(len);
        let mut starts: Vec<usize> = ranges(len, parts).iter().map(|range| tall_from(range.start)).collect();
        starts[0] = usize::from(has_head);
        let end_of = |part: usize| starts.get(part + 1).copied().unwrap_or(len);
        let mut layouts: Vec<Layout<B>> =
            starts.iter().map(|_| Layout::new(form, len / parts.max(1))).collect();
        let lay_out = &|part: usize, layout: &'_ mut Layout<B>| {
            if part == 0 {
                let value = if has_head { entry_at(0).1 } else { B::MIN };
                layout.push_head(value, !has_head)?;
            }
            for at in starts[part]..end_of(part) {
                let (key, value) = entry_at(at);
                layout.push(key, value, height_of(key), false)?;
            }
            layout.flush()
        };
        let job = |(part, layout): (usize, _)| -> ScopedTask<'_> {
            let layout: &mut Layout<B> = layout;
            Box::new(move || layout.outcome = lay_out(part, layout))
        };
        run(layouts.iter_mut().enumerate().map(job).collect());
        Self::assembled(layouts, form)
    }

    /// Lays the same list out again, from one that is quiescent ([`Segments::lend`]). Segments that
    /// haven't drifted are shared, unless they are the last of many that were laid out together; the
    /// others lose their flagged nodes. In `parts` pieces of work. O(n) in the nodes of segments that
    /// aren't shared.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](latchless_core::base::error::Error::OutOfMemory).
    pub fn laid_out(&self, parts: usize, run: Run<'_>) -> Result<Self> {
        let ranges = ranges(self.segments.len(), parts);
        let mut usage = ChunkUsage::default();
        let could = self.segments.iter().filter(|segment| segment.can_stay());
        could.for_each(|segment| usage.count(segment.slab()));
        let stays = |segment: &Segment<B>| segment.can_stay() && usage.stays(segment.slab());
        let stays: Vec<bool> = self.segments.iter().map(stays).collect();
        let moving = |range: &Range<usize>| -> usize {
            range.clone().filter(|&nth| !stays[nth]).map(|nth| self.segments[nth].nodes().len()).sum()
        };
        let mut layouts: Vec<Layout<B>> =
            ranges.iter().map(|range| Layout::new(self.form, moving(range))).collect();
        let lay_out = &|range: &Range<usize>, layout: &'_ mut Layout<B>| {
            for nth in range.clone() {
                layout.take_over(&self.segments[nth], &self.talls[nth], (nth == 0, stays[nth]))?;
            }
            layout.flush()
        };
        let job = |(layout, range)| -> ScopedTask<'_> {
            let layout: &mut Layout<B> = layout;
            Box::new(move || layout.outcome = lay_out(range, layout))
        };
        run(layouts.iter_mut().zip(&ranges).map(job).collect());
        Self::assembled(layouts, self.form)
    }

    fn assembled(layouts: Vec<Layout<B>>, form: Form) -> Result<Self> {
        let mut list = Self { segments: Vec::new(), talls: Vec::new(), len: 0, drift: 0, farthest: 0, form };
        for mut layout in layouts {
            layout.outcome?;
            reserve(&mut list.segments, layout.segments.len())?;
            reserve(&mut list.talls, layout.talls.len())?;
            list.segments.append(&mut layout.segments);
            list.talls.append(&mut layout.talls);
            list.len += layout.live;
        }
        Ok(list)
    }
}

/// `len` things in `parts` runs of about equal length, none of them empty; one if there is nothing.
pub(in crate::pi) fn ranges(len: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, len.max(1));
    (0..parts).map(|part| len * part / parts..len * (part + 1) / parts).collect()
}

//! The index layer in parts, so that a rebuild writes only those under which something has changed (PI's
//! future work: "finer-grained rebuilding of the index layer").
//!
//! A *part* is a whole index layer ([`Routed`]) over a run of the list's segments. It refers to data nodes
//! by their segments' places in the run, so it stays valid when its run moves along the list; the table of
//! parts has the start of each run. Above the parts is the *top*: one more index layer, over the first
//! keys of the parts, which leads to a part as other layers lead to a data node.
//!
//! A rebuild shares each part whose run the new list still has ([`Footing`]), builds the others, and the
//! top and the table of parts, which are short.
//!
//! # Invariants
//! 1. The runs of the parts are the list's segments, one after the other; none is empty.
//! 2. A part begins with its run's first key, except the first one, which begins with the head: keys that
//!    are smaller than all of a part's never arrive there, or have its first node as their interception.
//! 3. A run has at least half of the intended number of segments, and less than twice as many, unless the
//!    whole list has fewer.
//! 4. Parts never change. Layers share them.

mod build;
mod descend;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use build::Planned;
pub(super) use walk::PartedPlace;

use crate::pi::routed::{LEVELS_MAX, Routed, Source};
use crate::pi::segments::{Anchor, Footing, Segments};
use core::ops::Range;
use latchless_core::base::error::Broken;
use latchless_core::base::key::Bits;
use std::sync::Arc;

/// An index layer over a run of segments.
#[derive(Debug)]
struct Part<B: Bits, const M: usize> {
    routed: Routed<B, M>,
    footing: Footing<B>,
}

/// A part's place in the table of parts.
#[derive(Debug, Clone)]
struct Slot<B: Bits, const M: usize> {
    part: Arc<Part<B, M>>,
    /// Its run's first segment.
    first: u32,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Parted<B: Bits, const M: usize> {
    top: Routed<B, M>,
    slots: Vec<Slot<B, M>>,
    /// The intended number of segments per part.
    part_segments: usize,
    /// Parts that were built for this layer, and not shared with an earlier one.
    built_parts: usize,
    /// Bytes that were written for this layer.
    built_bytes: usize,
}

impl<B: Bits, const M: usize> Slot<B, M> {
    /// Returns the anchor that a word of the part's routing tables represents.
    #[inline(always)]
    fn anchor(&self, word: u32) -> u32 {
        Anchor::from_word(word).further_on(self.first as usize).to_word()
    }

    /// The segments of its run.
    fn segments(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.part.footing.segments()
    }
}

/// The first keys of all parts but the first, over which the top is built. Their heights make every level
/// M times shorter than the one below.
struct FirstKeys<'a, B: Bits, const M: usize>(&'a [Slot<B, M>]);

impl<B: Bits, const M: usize> Source<B> for FirstKeys<'_, B, M> {
    fn parts(&self) -> usize {
        1
    }

    fn each(&self, _: usize, mut visit: impl FnMut(B, usize, u32)) {
        for (nth, slot) in self.0.iter().enumerate().skip(1) {
            if let Some(key) = slot.part.footing.first_key() {
                visit(key, height_of(nth - 1, M), nth as u32);
            }
        }
    }
}

/// The height of the first key of this number: 2, and one more for each time that m divides it.
fn height_of(nth: usize, m: usize) -> usize {
    let times = (1..LEVELS_MAX as u32).take_while(|&power| {
        let divisor = m.checked_pow(power);
        nth == 0 || divisor.is_some_and(|divisor| nth.is_multiple_of(divisor))
    });
    2 + times.count()
}

impl<B: Bits, const M: usize> Parted<B, M> {
    /// Levels on the longest way.
    pub(super) fn levels(&self) -> usize {
        self.top.levels() + self.layers().map(Routed::levels).max().unwrap_or(0)
    }

    /// Entries of the top and of all parts.
    pub(super) fn entries(&self) -> usize {
        self.top.entries() + self.layers().map(Routed::entries).sum::<usize>()
    }

    pub(super) fn parts(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn built_parts(&self) -> usize {
        self.built_parts
    }

    pub(super) fn built_bytes(&self) -> usize {
        self.built_bytes
    }

    fn layers(&self) -> impl Iterator<Item = &Routed<B, M>> {
        self.slots.iter().map(|slot| &slot.part.routed)
    }

    /// Returns the bytes of the top, the table of parts, and the parts, including unused places in their
    /// chunks.
    pub(super) fn memory_bytes(&self) -> usize {
        let part_bytes = |part: &Part<B, M>| {
            size_of::<Part<B, M>>() + part.routed.memory_bytes() + part.footing.memory_bytes()
        };
        let parts: usize = self.slots.iter().map(|slot| part_bytes(&slot.part)).sum();
        self.top.memory_bytes() + size_of_val(&*self.slots) + parts
    }

    /// Returns the addresses of everything.
    pub(super) fn addresses(&self) -> Vec<Range<usize>> {
        let of = |start: usize, bytes: usize| start..start + bytes;
        let table = of(self.slots.as_ptr().addr(), size_of_val(&*self.slots));
        let part = |slot: &Slot<B, M>| of(Arc::as_ptr(&slot.part).addr(), size_of::<Part<B, M>>());
        let parts = self.slots.iter().flat_map(|slot| [part(slot), slot.part.routed.addresses()]);
        [self.top.addresses(), table].into_iter().chain(parts).collect()
    }

    /// Holds the layer against the list that it was built over.
    ///
    /// # Errors
    /// The first broken invariant.
    pub(super) fn check(&self, list: &Segments<B>) -> Result<(), Broken> {
        let broken = |nth: usize, what: &str| Err(Broken::new(format!("part {nth} of the layer {what}")));
        let mut end = 0;
        for (nth, slot) in self.slots.iter().enumerate() {
            let run = slot.segments();
            if run.start != end || !list.stands_at(run.start, &slot.part.footing) {
                return broken(nth, "isn't over the segments after those of the one before it");
            }
            let sizes = self.part_segments.div_ceil(2)..self.part_segments.saturating_mul(2);
            if run.is_empty() || self.slots.len() > 1 && !sizes.contains(&run.len()) {
                return broken(nth, &format!("is over {} segments", run.len()));
            }
            slot.part.routed.check(&list.run(run.clone()))?;
            end = run.end;
        }
        if end != list.segments() {
            return Err(Broken::new(format!("the parts of the layer end at segment {end}")));
        }
        self.top.check(&FirstKeys(&self.slots))
    }
}

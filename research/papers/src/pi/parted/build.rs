//! Building a layer in parts: those that an earlier layer has are shared, the others are built in
//! parallel.

use super::{FirstKeys, Part, Parted, Slot};
use crate::pi::crew::{Run, ScopedTask, one_by_one};
use crate::pi::mem::placement::Placement;
use crate::pi::mem::slabs::{ChunkUsage, SlabAllocator};
use crate::pi::routed::{Routed, RoutedOptions};
use crate::pi::segments::{Anchor, Segments, ranges};
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::refusal::reserve;
use std::sync::Arc;

/// The parameters of a build.
#[derive(Debug, Clone, Copy)]
pub(in crate::pi) struct Planned {
    /// The intended number of segments per part.
    pub(in crate::pi) part_segments: usize,
    /// The placement of entries.
    pub(in crate::pi) paper: Placement,
    /// Pieces of work.
    pub(in crate::pi) pieces: usize,
}

/// The origin of the part over a run of segments.
enum Piece<B: Bits, const M: usize> {
    Shared(Slot<B, M>),
    Fresh(Range<usize>),
}

impl<B: Bits, const M: usize> Parted<B, M> {
    /// The index layer over this list; parts of the earlier one that are still right are shared. O(n) in the
    /// nodes of the others, and O(segments).
    ///
    /// # Errors
    /// When memory is refused.
    pub(in crate::pi) fn build(
        list: &Segments<B>,
        planned: Planned,
        earlier: Option<&Self>,
        run: Run<'_>,
    ) -> Result<Self> {
        let staying = earlier.map_or(Vec::new(), |earlier| earlier.staying(list));
        let pieces = arranged(list.segments(), staying, planned.part_segments);
        let fresh = |piece: &Piece<B, M>| match piece {
            Piece::Fresh(run) => Some(run.clone()),
            Piece::Shared(_) => None,
        };
        let runs: Vec<Range<usize>> = pieces.iter().filter_map(fresh).collect();
        let built = build_all::<B, M>(list, &runs, planned, run)?;
        let built_bytes = |part: &Part<B, M>| part.routed.entry_bytes() + part.footing.memory_bytes();
        let (built_parts, written) = (built.len(), built.iter().map(built_bytes).sum::<usize>());
        let mut built = built.into_iter();
        let mut slots = Vec::new();
        reserve(&mut slots, pieces.len())?;
        slots.extend(pieces.into_iter().filter_map(|piece| match piece {
            Piece::Shared(slot) => Some(slot),
            Piece::Fresh(run) => {
                built.next().map(|part| Slot { part: Arc::new(part), first: run.start as u32 })
            }
        }));
        let options = RoutedOptions { head: 0, paper: planned.paper };
        let top = Routed::build(&FirstKeys(&slots), options, &one_by_one)?;
        let built_bytes = written + top.entry_bytes() + size_of_val(&*slots);
        Ok(Self { top, slots, part_segments: planned.part_segments, built_parts, built_bytes })
    }

    /// Returns the parts whose runs a later list still has, with their places there. Parts that are the
    /// last of many that were built together are left out, so that their shared memory can be freed.
    fn staying(&self, list: &Segments<B>) -> Vec<Slot<B, M>> {
        let find = |slot: &Slot<B, M>| {
            let first = list.find(&slot.part.footing)? as u32;
            Some(Slot { part: slot.part.clone(), first })
        };
        let mut staying: Vec<Slot<B, M>> = self.slots.iter().filter_map(find).collect();
        let mut usage = ChunkUsage::default();
        staying.iter().for_each(|slot| slot.part.routed.count_in(&mut usage));
        staying.retain(|slot| slot.part.routed.stays(&usage));
        staying
    }
}

/// Divides a list of that many segments. Gaps between parts that stay are divided into runs of about
/// `part_segments`; if a gap is too short for one, a neighbour doesn't stay either. (A part of a list that
/// was too short for more has all of the list's segments: it stays only as long as nothing changes.)
fn arranged<B: Bits, const M: usize>(
    segments: usize,
    staying: Vec<Slot<B, M>>,
    part_segments: usize,
) -> Vec<Piece<B, M>> {
    let mut pieces = Vec::new();
    let mut staying = staying.into_iter();
    let mut from = 0;
    loop {
        let next = staying.next();
        let to = next.as_ref().map_or(segments, |slot| slot.segments().start);
        let is_short = |from: usize| from < to && to - from < part_segments.div_ceil(2);
        while is_short(from)
            && let Some(Piece::Shared(before)) = pieces.pop_if(|piece| matches!(piece, Piece::Shared(_)))
        {
            from = before.segments().start;
        }
        if is_short(from) && next.is_some() {
            continue;
        }
        let gap = to - from;
        if gap > 0 {
            let runs = ranges(gap, gap / part_segments);
            pieces.extend(runs.into_iter().map(|run| Piece::Fresh(from + run.start..from + run.end)));
        }
        let Some(slot) = next else { return pieces };
        from = slot.segments().end;
        pieces.push(Piece::Shared(slot));
    }
}

/// The parts over these runs.
fn build_all<B: Bits, const M: usize>(
    list: &Segments<B>,
    runs: &[Range<usize>],
    planned: Planned,
    run: Run<'_>,
) -> Result<Vec<Part<B, M>>> {
    let shares = ranges(runs.len(), planned.pieces);
    let mut outcomes: Vec<Result<Vec<Part<B, M>>>> = shares.iter().map(|_| Ok(Vec::new())).collect();
    let build = |runs: &[Range<usize>]| {
        let mut allocator = SlabAllocator::of_lines(expected_bytes::<B, M>(list, runs), planned.paper);
        let mut parts = Vec::new();
        reserve(&mut parts, runs.len())?;
        for run in runs {
            let source = list.run(run.clone());
            let routed = Routed::build_cut(&source, Anchor::HEAD.to_word(), &mut allocator)?;
            parts.push(Part { routed, footing: list.footing(run.clone())? });
        }
        Ok(parts)
    };
    let build = &build;
    let job = |(share, outcome): (Range<usize>, _)| -> ScopedTask<'_> {
        let outcome: &mut Result<Vec<Part<B, M>>> = outcome;
        Box::new(move || *outcome = build(&runs[share]))
    };
    run(shares.into_iter().zip(&mut outcomes).map(job).collect());
    let mut parts = Vec::new();
    reserve(&mut parts, runs.len())?;
    for outcome in outcomes {
        parts.append(&mut outcome?);
    }
    Ok(parts)
}

/// Estimates the size of the entries of parts over these runs: a quarter of the keys of a level is in the
/// next one, and a level ends with a separate entry.
fn expected_bytes<B: Bits, const M: usize>(list: &Segments<B>, runs: &[Range<usize>]) -> usize {
    let talls: usize = runs.iter().map(|run| list.talls_of(run.clone())).sum();
    let entries = (talls + talls / 3) / M + 8 * runs.len();
    entries * M * (B::BYTES + size_of::<u32>())
}

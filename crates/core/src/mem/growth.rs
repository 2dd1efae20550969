//! Growth of a space of nodes: piece by piece, each as long as all earlier pieces together.
//!
//! A piece is reserved when its first node is needed, so a space takes at most about twice the address space
//! of its nodes; it is committed in steps. The first pieces come from the allocator. From
//! [`HUGE_PAGE_BYTES`] on they are mappings, on huge pages if these are enabled.
//!
//! Under a limit on address space a piece takes at most a quarter of what is left of it ([`Plan::largest`]),
//! so it may be shorter; the pieces after it are then looked up in a list. Pieces below
//! [`SMALLEST_PIECE_BYTES`] are never shorter: the limit isn't looked up for them.
//!
//! Usable nodes are entered in the [`Reach`], through which they are accessed.

use super::machine_bytes;
use super::mapping::HUGE_PAGE_BYTES;
use super::memory::Memory;
use super::reach::{FAR_MAX, PieceSlot, Reach};
use crate::base::error::{Error, Result};

/// The minimum number of bytes to commit at a time.
const SMALLEST_STEP_BYTES: usize = HUGE_PAGE_BYTES;
/// The maximum number of bytes to commit at a time.
const LARGEST_STEP_BYTES: usize = 64 << 20;
/// The minimum length of a piece, unless less is needed. Tests have many short ones.
const SMALLEST_PIECE_BYTES: usize = if cfg!(miri) { 1 << 10 } else { 64 << 10 };

/// The options of a growing region.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) node_bytes: usize,
    /// The maximum length of a piece: the bytes that nodes may take. The [`Budget`](super::budget::Budget)
    /// enforces the limit.
    pub(super) limit_bytes: Option<usize>,
    /// Whether to request huge pages.
    pub(super) huge_pages: bool,
    /// The number of nodes that references can distinguish.
    pub(super) references: u32,
    /// The minimum length of the first piece, in bytes.
    pub(super) first_bytes: usize,
    /// The alignment of pieces, a power of two.
    pub(super) align: usize,
    /// Returns the maximum length of a piece, in bytes.
    pub(super) largest: fn() -> Option<usize>,
}

/// The pieces, and how much of them is usable.
#[derive(Debug)]
pub(super) struct ReservedRegion {
    plan: Plan,
    pieces: Vec<Piece>,
    /// The number of usable nodes.
    usable: usize,
}

/// The memory of a run of nodes.
#[derive(Debug)]
struct Piece {
    memory: Memory,
    slot: PieceSlot,
    /// The number of its first node.
    first: usize,
    end: usize,
    /// The number of usable bytes, from its start.
    committed_bytes: usize,
    /// The bytes that another thread was requested to prefault, from its start.
    prefaulted_bytes: usize,
}

impl Plan {
    /// Returns the maximum number of nodes: what limit, machine and references all allow.
    pub(super) fn capacity(&self) -> usize {
        let bytes = self.limit_bytes.unwrap_or(usize::MAX).min(machine_bytes());
        (bytes / self.node_bytes).min(self.references as usize)
    }

    /// Returns the end of the piece that starts with node `first`, and how its nodes are found. `far` is the
    /// number of pieces that are found by the list already; `broken`: the piece before this one was too
    /// short.
    fn next(&self, first: usize, far: usize, broken: bool) -> (usize, PieceSlot) {
        if first == 0 {
            let nodes = self.first_bytes.div_ceil(self.node_bytes).next_power_of_two();
            return (nodes, PieceSlot::Near { bits: 0..nodes.ilog2() as usize + 1 });
        }
        let end = first.saturating_mul(2);
        if far > 0 || broken {
            return (end, PieceSlot::Far(far));
        }
        let bits = first.ilog2() as usize + 1;
        (end, PieceSlot::Near { bits: bits..bits + 1 })
    }
}

impl Piece {
    /// Returns the number after the last usable node.
    fn usable_end(&self, node_bytes: usize) -> usize {
        (self.first + self.committed_bytes / node_bytes).min(self.end)
    }
}

impl ReservedRegion {
    /// Creates a region without pieces.
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, pieces: Vec::new(), usable: 0 }
    }

    /// Creates a region without pieces, with the same options.
    pub(super) fn alike(&self) -> Self {
        Self::new(self.plan)
    }

    #[cfg(test)]
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of usable nodes.
    pub(super) fn usable(&self) -> usize {
        self.usable
    }

    /// Returns the number of bytes that are committed.
    pub(super) fn committed_bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.committed_bytes).sum()
    }

    /// Makes `needed` nodes usable, which are more than before, and some in advance.
    ///
    /// # Errors
    /// [`Error::ReferencesExhausted`] or [`Error::OutOfMemory`]; the region is then unchanged.
    #[cold]
    pub(super) fn grow(&mut self, needed: usize, reach: &Reach) -> Result<()> {
        let requested_bytes = needed.saturating_mul(self.plan.node_bytes);
        if needed > self.plan.references as usize {
            return Err(Error::ReferencesExhausted { limit: u64::from(self.plan.references) });
        }
        let refused = Error::OutOfMemory { requested_bytes };
        if needed > self.plan.capacity() {
            return Err(refused);
        }
        let pieces = self.pieces.len();
        while self.end() < needed {
            if let Err(error) = self.reserve_piece(needed, reach) {
                // Nothing of these was usable yet.
                self.pieces.truncate(pieces);
                return Err(error);
            }
        }
        self.commit(needed, reach).map_err(|_| refused)
    }

    /// Returns the number after the last node of all pieces.
    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// Reserves one more piece, towards `needed` nodes.
    fn reserve_piece(&mut self, needed: usize, reach: &Reach) -> Result<()> {
        let Plan { node_bytes, huge_pages, align, largest, .. } = self.plan;
        let refused = Error::OutOfMemory { requested_bytes: needed.saturating_mul(node_bytes) };
        let first = self.end();
        let far = self.pieces.iter().filter(|piece| matches!(piece.slot, PieceSlot::Far(_))).count();
        let (end, slot) = self.plan.next(first, far, !(first.is_power_of_two() || first == 0));
        if far == FAR_MAX {
            return Err(refused);
        }
        // Most spaces have one piece.
        let has_room = if first == 0 { self.pieces.try_reserve_exact(1) } else { self.pieces.try_reserve(1) };
        has_room.map_err(|_| refused.clone())?;
        let wanted = end.min(self.plan.capacity()) - first;
        // Small pieces are those that the allocator mostly has already.
        let most = if wanted * node_bytes < SMALLEST_PIECE_BYTES { None } else { largest() };
        let mut bytes = fitting(wanted * node_bytes, most.unwrap_or(usize::MAX));
        let memory = loop {
            if bytes < node_bytes || (bytes < wanted * node_bytes && bytes < SMALLEST_PIECE_BYTES) {
                return Err(refused);
            }
            match Memory::reserve(bytes, align, huge_pages) {
                Ok(memory) => break memory,
                Err(_) => bytes = fitting(bytes, bytes / 2),
            }
        };
        let end = first + wanted.min(bytes / node_bytes);
        let base = memory.start().as_ptr().wrapping_sub(first.wrapping_mul(node_bytes));
        reach.place(slot.clone(), base);
        self.pieces.push(Piece { memory, slot, first, end, committed_bytes: 0, prefaulted_bytes: 0 });
        Ok(())
    }

    /// Commits pieces until `needed` nodes are usable, and one step more in the last of these.
    fn commit(&mut self, needed: usize, reach: &Reach) -> Result<()> {
        let node_bytes = self.plan.node_bytes;
        for piece in &mut self.pieces {
            if piece.first >= needed {
                break;
            }
            if piece.usable_end(node_bytes) < piece.end {
                let from = piece.committed_bytes;
                let in_use = piece.first * node_bytes + from;
                let step = in_use.clamp(SMALLEST_STEP_BYTES, LARGEST_STEP_BYTES);
                let wanted = (needed.min(piece.end) - piece.first) * node_bytes;
                piece.committed_bytes = piece.memory.commit(from, wanted.max(from + step))?;
                self.usable = piece.usable_end(node_bytes);
                // References to the new nodes are published after this; a reader that follows one sees it.
                reach.open(&piece.slot, self.usable);
            }
        }
        Ok(())
    }

    /// Makes `needed` nodes usable before they are needed, unless another thread is prefaulting: while the
    /// system populates a page, it blocks all commits. See [`ReservedRegion::grow`].
    ///
    /// # Errors
    /// [`Error::ReferencesExhausted`] or [`Error::OutOfMemory`]; the region is then unchanged.
    pub(super) fn grow_ahead(&mut self, needed: usize, reach: &Reach) -> Result<()> {
        if self.pieces.iter().any(|piece| piece.memory.is_unready()) {
            return Ok(());
        }
        self.grow(needed, reach)
    }

    /// Has another thread prefault the memory of the nodes below `end`, as far as it is usable.
    pub(super) fn prefault(&mut self, end: usize) {
        let node_bytes = self.plan.node_bytes;
        for piece in &mut self.pieces {
            let wanted = (end.clamp(piece.first, piece.end) - piece.first) * node_bytes;
            let to = wanted.next_multiple_of(HUGE_PAGE_BYTES).min(piece.committed_bytes);
            if to > piece.prefaulted_bytes {
                piece.memory.prefault(piece.prefaulted_bytes, to);
                piece.prefaulted_bytes = to;
            }
        }
    }

    /// Returns all pieces to the system. No node may be accessed any more.
    pub(super) fn free(&mut self) {
        self.pieces.clear();
        self.usable = 0;
    }

    /// Returns all pieces but the first to the system. The first one stays usable, and is zeroed.
    pub(super) fn clear(&mut self, reach: &mut Reach) {
        self.pieces.truncate(1);
        self.usable = 0;
        reach.clear();
        if let Some(first) = self.pieces.first_mut() {
            first.memory.clear(first.committed_bytes);
            self.usable = first.usable_end(self.plan.node_bytes);
            reach.place(first.slot.clone(), first.memory.start().as_ptr());
            reach.open(&first.slot, self.usable);
        }
    }
}

/// Returns the part of `wanted` bytes that `most` allows: whole huge pages, if at least one fits.
fn fitting(wanted: usize, most: usize) -> usize {
    if wanted < HUGE_PAGE_BYTES {
        wanted.min(most)
    } else if most < HUGE_PAGE_BYTES {
        most
    } else {
        wanted.min(most - most % HUGE_PAGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::node_ref::NodeRef;
    use core::cell::Cell;

    const NODE_BYTES: usize = 128;

    fn plan(largest: fn() -> Option<usize>) -> Plan {
        let (limit_bytes, huge_pages, references) = (None, true, u32::MAX);
        let (node_bytes, first_bytes, align) = (NODE_BYTES, 1 << 10, 64);
        Plan { node_bytes, limit_bytes, huge_pages, references, first_bytes, align, largest }
    }

    #[test]
    fn pieces_double_up_to_the_last_reference() {
        for (first_bytes, node_bytes) in [(2 << 10, 1 << 10), (64 << 10, 192), (1, 64), (1, 1 << 22)] {
            let plan = Plan { first_bytes, node_bytes, ..plan(|| None) };
            let (mut first, mut bits) = (0, 0);
            while first < u32::MAX as usize {
                let (end, PieceSlot::Near { bits: found }) = plan.next(first, 0, false) else {
                    panic!("far")
                };
                assert_eq!(found.start, bits);
                // The number of bits of each of the piece's numbers.
                let all = [first, end - 1].map(|number| (usize::BITS - number.leading_zeros()) as usize);
                assert_eq!((all[0].max(bits), all[1] + 1), (found.start, found.end));
                assert!(first == 0 || end == first.saturating_mul(2), "as long as all before it");
                (first, bits) = (end, found.end);
            }
            assert_eq!(bits, 33, "every reference is in a piece");
            assert_eq!(plan.capacity(), (machine_bytes() / node_bytes).min(u32::MAX as usize));
        }
    }

    /// Writes each node's number into it when it is new, and verifies all of them.
    fn grow_one_by_one(growth: &mut ReservedRegion, reach: &Reach, nodes: usize) -> Result<()> {
        let at = |node: usize| reach.at(NodeRef::from_word(node as u32), NODE_BYTES).cast::<u64>();
        for node in 0..nodes {
            if node >= growth.usable() {
                growth.grow(node + 1, reach)?;
            }
            // SAFETY: the node is usable, and no other thread knows of it.
            unsafe { at(node).write(node as u64) };
        }
        // SAFETY: as above.
        let wrong = (0..nodes).find(|&node| unsafe { at(node).read() } != node as u64);
        assert_eq!(wrong, None);
        assert!(reach.find(NodeRef::from_word(growth.usable() as u32), NODE_BYTES).is_none());
        Ok(())
    }

    #[test]
    fn nodes_keep_content_and_place_across_pieces() {
        let (mut growth, mut reach) = (ReservedRegion::new(plan(|| None)), Reach::none());
        let nodes = if cfg!(miri) { 100 } else { 100_000 };
        grow_one_by_one(&mut growth, &reach, nodes).unwrap();
        assert!(growth.pieces.len() > 3 && reach.find(NodeRef::NIL, NODE_BYTES).is_none());
        let bytes: usize = growth.pieces.iter().map(|piece| (piece.end - piece.first) * NODE_BYTES).sum();
        assert!(bytes <= 2 * nodes * NODE_BYTES, "address space is at most twice what is used");
        growth.clear(&mut reach);
        assert_eq!((growth.pieces.len(), growth.usable()), (1, 8));
        let zeroed = reach.at(NodeRef::from_word(7), NODE_BYTES).cast::<u64>();
        // SAFETY: the node is usable, and no other thread knows of it.
        assert_eq!(unsafe { zeroed.read() }, 0);
        assert!(reach.find(NodeRef::from_word(8), NODE_BYTES).is_none());
        grow_one_by_one(&mut growth, &reach, nodes / 2).unwrap();
    }

    /// A region with nodes of a megabyte, of which 130 were requested.
    #[cfg(not(miri))]
    fn of_megabytes() -> (ReservedRegion, Reach) {
        let plan = Plan { node_bytes: 1 << 20, first_bytes: 1 << 20, ..plan(|| None) };
        let (mut growth, reach) = (ReservedRegion::new(plan), Reach::none());
        growth.grow(130, &reach).unwrap();
        (growth, reach)
    }

    #[test]
    #[cfg(not(miri))]
    fn what_is_not_committed_is_not_usable() {
        let (growth, reach) = of_megabytes();
        let last = growth.pieces.last().expect("there are nodes");
        assert_eq!((last.first, last.end, last.committed_bytes), (128, 256, LARGEST_STEP_BYTES));
        assert_eq!(growth.usable(), 192);
        assert!(reach.find(NodeRef::from_word(192), 1 << 20).is_none());
    }

    #[test]
    #[cfg(not(miri))]
    fn nothing_is_committed_ahead_while_a_page_is_made_ready() {
        let (mut growth, reach) = of_megabytes();
        let usable = growth.usable();
        let unready = |growth: &ReservedRegion, now| {
            let Memory::Mapped(mapping) = &growth.pieces[5].memory else { panic!("it is large") };
            mapping.unready.pretend(now);
        };
        unready(&growth, true);
        growth.grow_ahead(usable + 1, &reach).unwrap();
        assert_eq!(growth.usable(), usable);
        growth.grow(usable + 1, &reach).unwrap();
        assert!(growth.usable() > usable, "what is needed doesn't wait");
        let usable = growth.usable();
        unready(&growth, false);
        growth.grow_ahead(usable + 1, &reach).unwrap();
        assert!(growth.usable() > usable);
    }

    thread_local! {
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn short_pieces_are_looked_up_in_a_list_and_end_when_nothing_is_left() {
        let mib = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
        LEFT.set(100 * mib);
        // A quarter of what is left, which the piece takes.
        let share = || {
            let share = LEFT.get() / 4;
            LEFT.set(LEFT.get() - share);
            Some(share)
        };
        let (mut growth, mut reach) = (ReservedRegion::new(plan(share)), Reach::none());
        let mut nodes = 1;
        while grow_one_by_one(&mut growth, &reach, nodes).is_ok() {
            nodes = nodes * 5 / 4 + 1;
        }
        let far = growth.pieces.iter().filter(|piece| matches!(piece.slot, PieceSlot::Far(_))).count();
        assert!(far > 2, "{far} of {}", growth.pieces.len());
        let (usable, pieces) = (growth.usable(), growth.pieces.len());
        let refused = growth.grow(usable + 1000, &reach);
        let requested_bytes = (usable + 1000) * NODE_BYTES;
        assert_eq!(refused, Err(Error::OutOfMemory { requested_bytes }));
        assert_eq!((growth.usable(), growth.pieces.len()), (usable, pieces), "nothing has changed");
        grow_one_by_one(&mut growth, &reach, usable).unwrap();
        growth.clear(&mut reach);
        LEFT.set(100 * mib);
        grow_one_by_one(&mut growth, &reach, usable / 2).unwrap();
    }

    #[test]
    fn a_run_that_is_refused_midway_takes_nothing() {
        LEFT.set(3);
        let (mut growth, reach) = (ReservedRegion::new(plan(|| None)), Reach::none());
        growth.grow(1, &reach).unwrap();
        // Two large pieces are granted, then none.
        growth.plan.largest = || {
            LEFT.set(LEFT.get().saturating_sub(1));
            Some(if LEFT.get() == 0 { 0 } else { usize::MAX })
        };
        // So many nodes take one of these at least.
        let many = 16 * SMALLEST_PIECE_BYTES / NODE_BYTES;
        assert!(matches!(growth.grow(many, &reach), Err(Error::OutOfMemory { .. })));
        assert_eq!((growth.pieces.len(), growth.usable()), (1, 8));
        LEFT.set(100);
        grow_one_by_one(&mut growth, &reach, many).unwrap();
    }
}

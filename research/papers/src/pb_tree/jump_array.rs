//! The external jump-pointer array (§3.2): all leaf references in key order, in a linked list of
//! chunks with empty slots between them.
//!
//! A leaf's *hint* names its chunk exactly and its slot approximately. Moving references within a chunk
//! leaves the hints unchanged; a hint is repaired when the exact slot is searched, for an update or a
//! scan, or when a chunk splits. Scans share the tree, so the hint is a word that readers may write:
//! readers that repair it concurrently write the same value.
//!
//! # Invariants
//! 1. Read in list order and skipping empty slots, the chunks name every leaf once, in key order.
//! 2. Every leaf's hint names the chunk that its reference is in.
//! 3. No chunk is wholly empty, except a single one.

use crate::pb_tree::arena::{Arena, ArenaOptions, Block};
use crate::pb_tree::node::{NodeOptions, Nodes, Shape};
use core::marker::PhantomData;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// The share of a chunk's slots that a bulk load leaves empty for inserts: at least one in this many.
const EMPTY_OF: usize = 8;

/// A place in the array: a chunk and a slot in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpCursor {
    chunk: NodeRef,
    slot: usize,
}

/// The external jump-pointer array of a tree with shape `S`.
#[derive(Debug)]
pub struct JumpArray<S: Shape> {
    chunks: Arena<S::Chunk>,
    first: NodeRef,
    shape: PhantomData<S>,
}

impl<S: Shape> JumpArray<S> {
    const CHUNK_BYTES: usize = S::Chunk::BYTES;
    /// Leaf references in a chunk: 126 in eight lines, as in §4.1. The last two words link the chunks.
    const SLOTS: usize = Self::CHUNK_BYTES / 4 - 2;
    const NEXT_AT: usize = Self::SLOTS * 4;
    const PREVIOUS_AT: usize = Self::NEXT_AT + 4;
    /// A hint is `chunk × HINT_STRIDE + slot`.
    const HINT_STRIDE: u32 = Self::SLOTS.next_power_of_two() as u32;

    /// The array of a tree whose only leaf is `leaf`.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new(options: NodeOptions, nodes: &mut Nodes<S>, leaf: NodeRef) -> Result<Self> {
        let chunks = Arena::new(ArenaOptions {
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            // With eight lines, a hint has room for 2^25 chunks of 126 slots: a leaf for every reference.
            references: u32::MAX / Self::HINT_STRIDE,
            ..ArenaOptions::default()
        })?;
        let mut array = Self { chunks, first: NodeRef::NIL, shape: PhantomData };
        array.rebuild(nodes, &[leaf], FillFactor::FULL)?;
        Ok(array)
    }

    /// Makes sure that the next [`JumpArray::insert_after`] succeeds.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn reserve(&mut self) -> Result<()> {
        self.chunks.reserve(1)
    }

    /// Bytes that the chunks hold.
    pub fn held_bytes(&self) -> usize {
        self.chunks.held_bytes()
    }

    /// Names `leaves` and nothing else. Each chunk is filled to `fill`, its empty slots spread
    /// evenly; some are left even if nodes are filled whole (§3.2), or else the first split of nearly every
    /// leaf would split a chunk.
    ///
    /// # Errors
    /// When memory is refused; the array is then as before.
    pub fn rebuild(&mut self, nodes: &mut Nodes<S>, leaves: &[NodeRef], fill: FillFactor) -> Result<()> {
        let a_chunk = fill.of(Self::SLOTS).min(Self::SLOTS - Self::SLOTS.div_ceil(EMPTY_OF)).max(1);
        let chunks_needed = leaves.len().div_ceil(a_chunk).max(1);
        // Before anything is cleared: the cleared array keeps at least its previous capacity.
        self.chunks.reserve(chunks_needed)?;
        self.chunks.clear();
        let mut previous = NodeRef::NIL;
        self.first = NodeRef::NIL;
        let mut rest = leaves;
        for left in (1..=chunks_needed).rev() {
            let (now, later) = rest.split_at(rest.len().div_ceil(left));
            let chunk = self.chunks.allocate()?;
            self.spread(nodes, chunk, now);
            self.set_word(chunk, Self::PREVIOUS_AT, previous);
            self.set_word(chunk, Self::NEXT_AT, NodeRef::NIL);
            if previous.is_nil() {
                self.first = chunk;
            } else {
                self.set_word(previous, Self::NEXT_AT, chunk);
            }
            (previous, rest) = (chunk, later);
        }
        Ok(())
    }

    /// Puts `leaf` after the leaf `before`.
    ///
    /// # Errors
    /// When memory for a chunk's split is refused; reserve it before.
    pub fn insert_after(&mut self, nodes: &mut Nodes<S>, before: NodeRef, leaf: NodeRef) -> Result<()> {
        let mut at = self.find(nodes, before);
        if self.nearest_empty(at).is_none() {
            self.split_chunk(nodes, at.chunk)?;
            at = self.find(nodes, before);
        }
        // After a split both halves have empty slots.
        let empty = self.nearest_empty(at).unwrap_or(at.slot);
        let slot = if empty > at.slot {
            self.move_slots(at.chunk, at.slot + 1, at.slot + 2, empty - at.slot - 1);
            at.slot + 1
        } else {
            self.move_slots(at.chunk, empty + 1, empty, at.slot - empty);
            nodes.set_hint(before, Self::hint(at.chunk, at.slot - 1));
            at.slot
        };
        self.set_slot(at.chunk, slot, leaf);
        nodes.set_hint(leaf, Self::hint(at.chunk, slot));
        Ok(())
    }

    /// Takes `leaf` out: leaves an empty slot, and unlinks the chunk if nothing else is in it.
    pub fn remove(&mut self, nodes: &mut Nodes<S>, leaf: NodeRef) {
        let at = self.find(nodes, leaf);
        self.set_slot(at.chunk, at.slot, NodeRef::NIL);
        let (previous, next) = (self.word(at.chunk, Self::PREVIOUS_AT), self.word(at.chunk, Self::NEXT_AT));
        let only = previous.is_nil() && next.is_nil();
        if only || self.slots(at.chunk).iter().any(|&slot| !NodeRef::from_word(slot).is_nil()) {
            return;
        }
        if previous.is_nil() {
            self.first = next;
        } else {
            self.set_word(previous, Self::NEXT_AT, next);
        }
        if !next.is_nil() {
            self.set_word(next, Self::PREVIOUS_AT, previous);
        }
        self.chunks.free(at.chunk);
    }

    /// The place after `leaf`, for a scan that starts there. Prefetches the leaf's chunk and the one
    /// after it, and repairs the leaf's hint (§3.2).
    pub fn cursor_behind(&self, nodes: &Nodes<S>, leaf: NodeRef) -> JumpCursor {
        let chunk = NodeRef::from_word(nodes.hint(leaf) / Self::HINT_STRIDE);
        self.prefetch(chunk);
        let at = self.find(nodes, leaf);
        self.prefetch(self.word(chunk, Self::NEXT_AT));
        JumpCursor { chunk, slot: at.slot + 1 }
    }

    /// The first leaf at or after the cursor, which then is after it; `None` at the end.
    pub fn advance(&self, cursor: &mut JumpCursor) -> Option<NodeRef> {
        loop {
            let slots = self.slots(cursor.chunk);
            let ahead = &slots[cursor.slot..];
            let step = ahead.iter().position(|&slot| !NodeRef::from_word(slot).is_nil());
            self.tell_read(cursor.chunk, cursor.slot, step.map_or(ahead.len(), |step| step + 1));
            if let Some(step) = step {
                cursor.slot += step + 1;
                return Some(NodeRef::from_word(ahead[step]));
            }
            let next = self.word(cursor.chunk, Self::NEXT_AT);
            if next.is_nil() {
                return None;
            }
            // One chunk is always prefetched before the leaves of this one are (§3.3).
            self.prefetch(self.word(next, Self::NEXT_AT));
            *cursor = JumpCursor { chunk: next, slot: 0 };
        }
    }

    /// Checks invariants 1 to 3 against the leaves in key order.
    ///
    /// # Errors
    /// The first broken one.
    pub fn check(&self, nodes: &Nodes<S>, leaves: &[NodeRef]) -> Result<(), Broken> {
        let (mut chunk, mut previous, mut named) = (self.first, NodeRef::NIL, Vec::new());
        let mut chunks = 0;
        while !chunk.is_nil() {
            if self.word(chunk, Self::PREVIOUS_AT) != previous {
                return Err(Broken::new(format!("chunk {chunk:?} doesn't know the one before it")));
            }
            let before = named.len();
            for &slot in self.slots(chunk) {
                let leaf = NodeRef::from_word(slot);
                if leaf.is_nil() {
                    continue;
                }
                if nodes.hint(leaf) / Self::HINT_STRIDE != chunk.to_word() {
                    return Err(Broken::new(format!("leaf {leaf:?} hints at another chunk than its own")));
                }
                named.push(leaf);
            }
            if named.len() == before && leaves.len() > 1 {
                return Err(Broken::new(format!("chunk {chunk:?} names no leaf")));
            }
            chunks += 1;
            (previous, chunk) = (chunk, self.word(chunk, Self::NEXT_AT));
        }
        if named != leaves {
            return Err(Broken::new("the jump-pointer array doesn't name the leaves in key order"));
        }
        if chunks != self.chunks.live_runs() {
            return Err(Broken::new("a chunk is in use but not in the list"));
        }
        Ok(())
    }

    /// The precise place of `leaf`, with its hint repaired.
    fn find(&self, nodes: &Nodes<S>, leaf: NodeRef) -> JumpCursor {
        let at = self.locate(nodes, leaf);
        let precise = Self::hint(at.chunk, at.slot);
        if nodes.hint(leaf) != precise {
            nodes.set_hint(leaf, precise);
        }
        at
    }

    /// Finds the exact place of `leaf`, by a search on both sides of its hint.
    fn locate(&self, nodes: &Nodes<S>, leaf: NodeRef) -> JumpCursor {
        let hinted = nodes.hint(leaf);
        let chunk = NodeRef::from_word(hinted / Self::HINT_STRIDE);
        let guess = (hinted % Self::HINT_STRIDE) as usize;
        let slots = self.slots(chunk);
        let is_here = |slot: usize| slots.get(slot) == Some(&leaf.to_word());
        let distance = (0..Self::SLOTS).find(|&d| is_here(guess + d) || (guess >= d && is_here(guess - d)));
        let distance = distance.unwrap_or_default();
        self.tell_read(chunk, guess.saturating_sub(distance), 2 * distance + 1);
        let slot = if is_here(guess + distance) { guess + distance } else { guess.saturating_sub(distance) };
        debug_assert!(is_here(slot), "invariant 2");
        JumpCursor { chunk, slot }
    }

    fn nearest_empty(&self, at: JumpCursor) -> Option<usize> {
        let slots = self.slots(at.chunk);
        let empty = |slot: usize| slots.get(slot) == Some(&NodeRef::NIL.to_word());
        let distance =
            (1..Self::SLOTS).find(|&d| empty(at.slot + d) || (at.slot >= d && empty(at.slot - d)))?;
        self.tell_read(at.chunk, at.slot.saturating_sub(distance), 2 * distance + 1);
        Some(if empty(at.slot + distance) { at.slot + distance } else { at.slot - distance })
    }

    /// Splits a full chunk; the references of both halves are spread evenly and all hints set.
    #[cold]
    fn split_chunk(&mut self, nodes: &mut Nodes<S>, chunk: NodeRef) -> Result<()> {
        let right = self.chunks.allocate()?;
        S::Trace::work(Work::Allocate);
        self.prefetch(right);
        let leaves: Vec<_> = self.slots(chunk).iter().map(|&slot| NodeRef::from_word(slot)).collect();
        let (lower, upper) = leaves.split_at(Self::SLOTS / 2);
        self.spread(nodes, chunk, lower);
        self.spread(nodes, right, upper);
        let next = self.word(chunk, Self::NEXT_AT);
        self.set_word(right, Self::PREVIOUS_AT, chunk);
        self.set_word(right, Self::NEXT_AT, next);
        self.set_word(chunk, Self::NEXT_AT, right);
        if !next.is_nil() {
            self.set_word(next, Self::PREVIOUS_AT, right);
        }
        Ok(())
    }

    /// Fills a chunk with `leaves` and evenly spread empty slots between them, and sets their hints.
    fn spread(&mut self, nodes: &mut Nodes<S>, chunk: NodeRef, leaves: &[NodeRef]) {
        S::Trace::work(Work::Jump(Self::SLOTS));
        S::Trace::write(self.chunks.address(chunk), Self::CHUNK_BYTES);
        self.chunks.lanes_mut::<u32>(chunk, 0, Self::SLOTS).fill(NodeRef::NIL.to_word());
        for (i, &leaf) in leaves.iter().enumerate() {
            let slot = i * Self::SLOTS / leaves.len();
            self.chunks.lanes_mut::<u32>(chunk, 0, Self::SLOTS)[slot] = leaf.to_word();
            nodes.set_hint(leaf, Self::hint(chunk, slot));
        }
    }

    fn move_slots(&mut self, chunk: NodeRef, from: usize, to: usize, count: usize) {
        if count > 0 {
            S::Trace::work(Work::Shift(count));
            S::Trace::write(self.chunks.address(chunk).wrapping_add(to * 4), count * 4);
            self.chunks.copy::<u32>((chunk, from * 4), (chunk, to * 4), count);
        }
    }

    fn slots(&self, chunk: NodeRef) -> &[u32] {
        self.chunks.lanes(chunk, 0, Self::SLOTS)
    }

    fn set_slot(&mut self, chunk: NodeRef, slot: usize, leaf: NodeRef) {
        self.set_word(chunk, slot * 4, leaf);
    }

    fn word(&self, chunk: NodeRef, at_bytes: usize) -> NodeRef {
        S::Trace::read(self.chunks.address(chunk).wrapping_add(at_bytes), 4);
        NodeRef::from_word(self.chunks.lanes::<u32>(chunk, at_bytes, 1)[0])
    }

    fn set_word(&mut self, chunk: NodeRef, at_bytes: usize, word: NodeRef) {
        S::Trace::write(self.chunks.address(chunk).wrapping_add(at_bytes), 4);
        self.chunks.lanes_mut::<u32>(chunk, at_bytes, 1)[0] = word.to_word();
    }

    fn prefetch(&self, chunk: NodeRef) {
        if S::PREFETCH && !chunk.is_nil() {
            self.chunks.prefetch(chunk);
            S::Trace::prefetch(self.chunks.address(chunk), Self::CHUNK_BYTES);
        }
    }

    fn hint(chunk: NodeRef, slot: usize) -> u32 {
        chunk.to_word() * Self::HINT_STRIDE + slot as u32
    }

    fn tell_read(&self, chunk: NodeRef, slot: usize, count: usize) {
        S::Trace::work(Work::Jump(count));
        let count = count.min(Self::SLOTS - slot.min(Self::SLOTS));
        S::Trace::read(self.chunks.address(chunk).wrapping_add(slot * 4), count * 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb_tree::node::{External, Shaped};
    use latchless_core::mem::touch::NoTrace;

    /// Chunks of one line: fourteen slots.
    type Small = Shaped<u32, External<2, 1>, NoTrace>;

    /// Two leaves far apart in one chunk, and five that were put after the first since: they have pushed each
    /// other on, so some hints are of places where other leaves are by now.
    fn with_stale_hints() -> (Nodes<Small>, JumpArray<Small>, Vec<NodeRef>) {
        let mut nodes = Nodes::<Small>::new(NodeOptions::default()).unwrap();
        let mut leaves: Vec<NodeRef> = (0..7).map(|_| nodes.allocate().unwrap()).collect();
        let mut array = JumpArray::new(NodeOptions::default(), &mut nodes, leaves[0]).unwrap();
        let later = leaves.split_off(2);
        array.rebuild(&mut nodes, &leaves, FillFactor::FULL).unwrap();
        for &leaf in &later {
            array.insert_after(&mut nodes, leaves[0], leaf).unwrap();
            leaves.insert(1, leaf);
        }
        array.check(&nodes, &leaves).unwrap();
        (nodes, array, leaves)
    }

    fn is_precise(array: &JumpArray<Small>, nodes: &Nodes<Small>, leaf: NodeRef) -> bool {
        let at = array.locate(nodes, leaf);
        nodes.hint(leaf) == JumpArray::<Small>::hint(at.chunk, at.slot)
    }

    #[test]
    fn scans_repair_the_hints_of_the_leaves_that_they_start_at() {
        let (nodes, array, leaves) = with_stale_hints();
        let stale: Vec<NodeRef> =
            leaves.iter().copied().filter(|&leaf| !is_precise(&array, &nodes, leaf)).collect();
        assert!(stale.len() >= 2, "the test is about hints that aren't precise");
        for (place, &leaf) in leaves.iter().enumerate() {
            let mut cursor = array.cursor_behind(&nodes, leaf);
            assert!(is_precise(&array, &nodes, leaf));
            let named: Vec<NodeRef> = core::iter::from_fn(|| array.advance(&mut cursor)).collect();
            assert_eq!(named, leaves[place + 1..]);
        }
        array.check(&nodes, &leaves).unwrap();
    }

    #[test]
    fn readers_repair_hints_side_by_side() {
        let (nodes, array, leaves) = with_stale_hints();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| leaves.iter().for_each(|&leaf| _ = array.cursor_behind(&nodes, leaf)));
            }
        });
        assert!(leaves.iter().all(|&leaf| is_precise(&array, &nodes, leaf)));
    }
}

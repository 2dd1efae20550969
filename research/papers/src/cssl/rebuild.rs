//! Rebuilding lanes from the data list, concurrently with readers and writers (beyond the paper, whose
//! rebuild is exclusive); and the first lanes over a sorted load.
//!
//! One thread rebuilds at a time. It
//! 1. starts counting changes for the parts' successors as well, and waits until every pinned thread has
//!    entered after that: from then on the count misses no change;
//! 2. walks over the list and places every living node of the parts;
//! 3. builds lanes over them and publishes them, with the other parts unchanged;
//! 4. retires the nodes that the old lanes referred to and that are dead and not in the new ones.
//!
//! No thread waits for it. If the wait in step 1 can't succeed (the caller itself may be pinned), the new
//! lanes never count as settled, which only costs counts their shortcut.

use super::parts::{Part, Parts};
use super::skip_list::SkipList;
use crate::common::units::UnitArena;
use crate::cssl::drift::Drift;
use crate::cssl::lanes::Lanes;
use crate::cssl::list::List;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::NoTrace;
use latchless_core::sync::{Backoff, BitsWord};
use std::sync::{Arc, MutexGuard};

/// The maximum number of checks whether every pinned thread has entered again.
const LOOKS_MAX: usize = 200;

/// Entries that may come into a part while it is rebuilt, beyond those that were counted before.
const ROOM_BESIDE: usize = 64;

/// Entries in order: keys and nodes.
type Taken<B> = Vec<(B, NodeRef)>;
/// The parts that are rebuilt, in their order, and what counts for their successors.
type Chosen = Vec<(usize, Arc<Drift>)>;
/// Parts with the smallest key of each.
type Keyed<B> = Vec<(B, Arc<Part<B>>)>;

/// Memory that was granted for new lanes.
#[derive(Debug, Default)]
struct Grant {
    bytes: usize,
}

impl Grant {
    fn more<W: BitsWord>(&mut self, arena: &UnitArena<W>, bytes: usize) -> Result<()> {
        arena.charge(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl<B: Bits> SkipList<B> {
    /// Rebuilds the parts that have changed, or all. Returns their number.
    pub(super) fn rebuild(&self, all: bool) -> Result<usize> {
        let turn = self.rebuilding.lock();
        let wanted = |part: &Part<B>| all || !part.is_settled();
        let at_once = self.rebuild_some(&turn, |_, part| wanted(part));
        if at_once.is_ok() {
            return at_once;
        }
        // Old and new lanes of one part at a time take less memory than those of all parts together. Parts
        // are remade from the last to the first, so that the numbers of those to come stay.
        let mut rebuilt = 0;
        for number in (0..self.enter().published().len()).rev() {
            rebuilt += self.rebuild_some(&turn, |other, part| other == number && wanted(part))?;
        }
        Ok(rebuilt)
    }

    /// Rebuilds the part of a key, unless somebody else is rebuilding.
    pub(super) fn rebuild_around(&self, key: B) -> Result<usize> {
        let Some(turn) = self.rebuilding.try_lock() else { return Ok(0) };
        let number = self.enter().published().of(key);
        // Somebody else may just have done it.
        self.rebuild_some(&turn, |other, part| other == number && !part.is_settled())
    }

    fn rebuild_some(
        &self,
        _turn: &MutexGuard<'_, ()>,
        wanted: impl Fn(usize, &Part<B>) -> bool,
    ) -> Result<usize> {
        let chosen = self.begin_successors(wanted);
        if chosen.is_empty() {
            return Ok(0);
        }
        if !self.wait_for_those_inside() {
            chosen.iter().for_each(|(_, drift)| drift.insert());
        }
        let inside = self.enter();
        let old = inside.published();
        let mut grant = Grant::default();
        let mut taken = Vec::with_capacity(chosen.len());
        for (number, _) in &chosen {
            let mut of_part = Taken::new();
            let granted = self.take_part_in_hand(old, *number, &mut of_part, &mut grant);
            taken.push(of_part);
            granted.or_else(|refused| self.let_go(old, &chosen, &taken, &grant, refused))?;
        }
        let new = self.build_all(old, &chosen, &taken);
        let new = new.or_else(|refused| self.let_go(old, &chosen, &taken, &grant, refused))?;
        let mut given_up = Vec::new();
        for ((number, _), taken) in chosen.iter().zip(&taken) {
            self.left_out(old.part(*number), taken, |node| given_up.push(node));
        }
        let freed: usize = chosen.iter().map(|(number, _)| Self::bytes_of(old.part(*number))).sum();
        let used: usize = new.iter().flatten().map(|(_, part)| Self::bytes_of(part)).sum();
        let mut parts = Vec::with_capacity(old.len());
        let mut new = chosen.iter().zip(new).peekable();
        for (number, part) in old.iter().enumerate() {
            match new.next_if(|((chosen, _), _)| *chosen == number) {
                Some((_, new)) => parts.extend(new),
                None => parts.push((old.keys_of(number).0, Arc::clone(part))),
            }
        }
        self.publish(old, parts);
        self.guarded.arena().discharge(freed + grant.bytes.saturating_sub(used));
        given_up.into_iter().for_each(|node| self.list().retire(node));
        self.rebuilt.add(chosen.len() as u64);
        drop(inside);
        self.guarded.collect();
        Ok(chosen.len())
    }

    /// Undoes the preparations of a rebuild that is refused memory.
    fn let_go<R>(
        &self,
        parts: &Parts<B>,
        chosen: &Chosen,
        taken: &[Taken<B>],
        grant: &Grant,
        refused: Error,
    ) -> Result<R> {
        for ((number, _), taken) in chosen.iter().zip(taken) {
            let lanes = &parts.part(*number).lanes;
            let mut positions = (0..lanes.len()).peekable();
            for &(key, node) in taken {
                let reference = |at: usize| NodeRef::from_word(lanes.reference(at));
                while positions.next_if(|&at| self.list().key(reference(at)) < key).is_some() {}
                if positions.peek().is_some_and(|&at| reference(at) == node) {
                    continue;
                }
                let [spot] = self.locate(parts, [key]);
                let spot = self.before(parts, spot, key);
                self.at_living_anchor(parts, spot, |anchor| self.list().let_go(anchor, node));
            }
        }
        self.guarded.arena().discharge(grant.bytes);
        Err(refused)
    }

    /// Step 1: the parts that are wanted, and what counts for their successors.
    fn begin_successors(&self, wanted: impl Fn(usize, &Part<B>) -> bool) -> Chosen {
        let inside = self.enter();
        let parts = inside.published().iter().enumerate();
        let wanted = parts.filter(|(number, part)| wanted(*number, part));
        wanted.map(|(number, part)| (number, part.begin_successor())).collect()
    }

    /// Waits until every pinned thread has entered since the call; `false` if that takes too long.
    fn wait_for_those_inside(&self) -> bool {
        let (stamp, mut backoff) = (self.guarded.stamp(), Backoff::default());
        for _ in 0..LOOKS_MAX {
            if self.guarded.is_past(stamp) {
                return true;
            }
            backoff.wait();
        }
        false
    }

    /// Step 2: the living entries of a part. Memory for their lanes is granted before they are taken in
    /// hand.
    ///
    /// # Errors
    /// When memory is refused; the nodes in `taken` are placed all the same.
    fn take_part_in_hand(
        &self,
        parts: &Parts<B>,
        number: usize,
        taken: &mut Taken<B>,
        grant: &mut Grant,
    ) -> Result<()> {
        let ((first, last), part) = (parts.keys_of(number), parts.part(number));
        let mut most = part.lanes.len() + part.changes().0 + ROOM_BESIDE;
        grant.more(self.guarded.arena(), self.bytes_for(most))?;
        let mut from = Some(first);
        while let Some(low) = from {
            let [spot] = self.locate(parts, [low]);
            let whole = self.at_living_anchor(parts, self.before(parts, spot, low), |anchor| {
                self.list().take_in_hand(anchor, low, last, |key, node| {
                    debug_assert!(
                        first <= key && taken.last().is_none_or(|last| last.0 < key),
                        "{key:?} is out of order"
                    );
                    taken.push((key, node));
                    taken.len() < most
                })
            });
            if taken.len() == most {
                // More were inserted meanwhile than there was room for.
                let before = self.bytes_for(most);
                most += most / 4;
                grant.more(self.guarded.arena(), self.bytes_for(most) - before)?;
            } else if whole {
                return Ok(());
            }
            // A walk that was at a node that died continues from another anchor.
            from = match taken.last() {
                Some(&(key, _)) => next(key),
                None => Some(first),
            };
        }
        Ok(())
    }

    /// The nodes that a part's lanes refer to and that aren't among those taken in hand. They are dead and
    /// out of the chain.
    fn left_out(&self, part: &Part<B>, taken: &Taken<B>, mut each: impl FnMut(NodeRef)) {
        let list = self.list();
        let mut taken = taken.iter().peekable();
        for at in 0..part.lanes.len() {
            let node = NodeRef::from_word(part.lanes.reference(at));
            let key = list.key(node);
            while taken.next_if(|other| other.0 < key).is_some() {}
            if taken.peek().is_none_or(|other| other.1 != node) {
                each(node);
            }
        }
    }

    /// Returns the number of parts into which that many entries of one part are rebuilt.
    fn pieces(&self, len: usize) -> usize {
        let most = self.options.part_keys.unwrap_or(usize::MAX);
        if len / 2 > most { len.div_ceil(most) } else { 1 }
    }

    /// Returns the maximum size in bytes of lanes over at most that many entries of one part.
    fn bytes_for(&self, len: usize) -> usize {
        let pieces = self.pieces(len);
        let of_pieces = len.div_ceil(pieces);
        // Fewer entries may be in fewer and longer pieces.
        let longest =
            self.options.part_keys.map_or(len, |most| len.min(most.saturating_mul(2).saturating_add(1)));
        let bytes = |len| Lanes::<B>::bytes_for(len, &self.lane_options(len));
        (pieces * bytes(of_pieces)).max(bytes(longest)) + pieces * LINE_BYTES
    }

    /// Step 3: builds the parts that replace each chosen one.
    fn build_all(&self, old: &Parts<B>, chosen: &Chosen, taken: &[Taken<B>]) -> Result<Vec<Keyed<B>>> {
        let chosen = chosen.iter().zip(taken);
        let built = chosen.map(|((number, drift), taken)| self.build(taken, old.keys_of(*number).0, drift));
        built.collect()
    }

    /// Lanes over entries of one part, which may have become several. Their bytes are granted.
    fn build(&self, taken: &Taken<B>, first: B, drift: &Arc<Drift>) -> Result<Keyed<B>> {
        let pieces = self.pieces(taken.len());
        let of_piece = |number: usize| {
            let piece = &taken[taken.len() * number / pieces..taken.len() * (number + 1) / pieces];
            let entries = piece.iter().map(|&(key, node)| (key, node.to_word()));
            let first = if number == 0 { first } else { piece[0].0 };
            let part = self.part_of(piece.len(), entries, Arc::clone(drift))?;
            Ok((first, Arc::new(part)))
        };
        (0..pieces).map(of_piece).collect()
    }

    /// A part over entries. Its bytes are granted.
    fn part_of(
        &self,
        len: usize,
        entries: impl Iterator<Item = (B, u32)>,
        drift: Arc<Drift>,
    ) -> Result<Part<B>> {
        let lanes = Lanes::build(len, entries, &self.lane_options(len))?;
        Ok(Part::new(lanes, self.options.room(len), drift))
    }

    /// Publishes parts. Those without keys go, and their keys belong to their left neighbours then, which
    /// haven't counted changes among them.
    fn publish(&self, old: &Parts<B>, parts: Keyed<B>) {
        let mut kept: Keyed<B> = Vec::with_capacity(parts.len());
        for (first, part) in parts {
            match kept.last() {
                Some((_, left)) if part.lanes.is_empty() => left.insert(),
                _ => kept.push((first, part)),
            }
        }
        // An empty first part gives way to the second.
        if kept.len() > 1 && kept[0].1.lanes.is_empty() {
            kept.remove(0);
            kept[0].1.insert();
        }
        old.give_way();
        self.guarded.publish(Parts::new(kept));
        // One thread publishes at a time, so this is the current table.
        let inside = self.enter();
        inside.published().published_before(self.guarded.stamp());
    }

    /// Bytes of a part's lanes.
    pub(super) fn bytes_of(part: &Part<B>) -> usize {
        part.lanes.bytes()
    }

    /// Fills an empty list, with exclusive access, with ascending entries.
    pub(super) fn load(&mut self, len: usize, entries: impl Fn(usize) -> (B, B)) -> Result<()> {
        self.clear()?;
        if len == 0 {
            return Ok(());
        }
        let loaded = self.load_cleared(len, entries);
        if loaded.is_err() {
            self.clear()?;
        }
        loaded
    }

    fn load_cleared(&mut self, len: usize, entries: impl Fn(usize) -> (B, B)) -> Result<()> {
        let first = self.list().load((0..len).map(&entries))?;
        let most = self.options.part_keys.unwrap_or(usize::MAX);
        let pieces = len.div_ceil(most);
        let mut parts = Vec::with_capacity(pieces);
        for number in 0..pieces {
            let piece = len * number / pieces..len * (number + 1) / pieces;
            let lowest = entries(piece.start).0;
            let of_piece = piece.clone().map(|at| (entries(at).0, first.offset(at).to_word()));
            let bytes = Lanes::<B>::bytes_for(piece.len(), &self.lane_options(piece.len()));
            self.guarded.arena().charge(bytes)?;
            parts.push((lowest, Arc::new(self.part_of(piece.len(), of_piece, Arc::default())?)));
        }
        self.guarded.set(Parts::new(parts).at_rest());
        self.len.set(len as i64);
        Ok(())
    }

    /// Removes every entry. Needs exclusive access.
    pub(super) fn clear(&mut self) -> Result<()> {
        let none = Self::no_parts(&self.options)?;
        self.guarded.set(none);
        self.guarded.arena_mut().clear()?;
        self.head = List::<B>::begin(self.guarded.arena())?;
        self.len.set(0);
        Ok(())
    }

    /// Frees memory that no thread can read any more.
    pub(super) fn collect(&self) {
        self.guarded.collect();
        self.guarded.arena().sweep::<NoTrace>();
    }

    /// Returns the number of parts that were rebuilt so far.
    pub(super) fn rebuilt(&self) -> u64 {
        BitsWord::load_relaxed(&self.rebuilt)
    }
}

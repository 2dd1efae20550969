//! Inserts and removals of entries (CSSL §3.2), and the placing of all living nodes of a stretch for
//! layers to be built over them.

use super::{DeadAnchor, List};
use crate::cssl::link::Seen;
use latchless_core::base::error::Result as Fallible;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::NoTrace;

/// The place of a key, or the place where it would be inserted.
pub(super) struct InsertionPoint {
    /// The last node before it.
    before: NodeRef,
    /// The link of that node when its successor was read.
    seen: Seen,
    /// The node that bears the key, if one does.
    found: Option<NodeRef>,
    /// The number of nodes that were passed.
    passed: usize,
}

/// The result of an insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<B> {
    /// The value that was there before.
    pub before: Option<B>,
    /// The number of nodes that were passed on the way from the anchor.
    pub passed: usize,
}

/// An entry that was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed<B> {
    /// Its value.
    pub value: B,
    /// The number of nodes that were passed on the way from the anchor.
    pub passed: usize,
}

impl<B: Bits> List<'_, B> {
    /// Finds a key's place from an anchor on, the head or a node with a smaller key, and takes dead nodes
    /// out of the chain on the way.
    pub(super) fn place(&self, anchor: NodeRef, key: B) -> Result<InsertionPoint, DeadAnchor> {
        'again: loop {
            let (mut before, mut passed) = (anchor, 0);
            let mut seen = self.node(before).link().follow();
            if seen.is_dead() {
                return Err(DeadAnchor);
            }
            loop {
                let Some(next) = seen.next().map(NodeRef::from_word) else {
                    return Ok(InsertionPoint { before, seen, found: None, passed });
                };
                let node = self.node(next);
                let behind = node.link().follow();
                if behind.is_dead() {
                    match self.take_out(before, seen, next, behind) {
                        Ok(now) => seen = now,
                        Err(now) if now.is_dead() => continue 'again,
                        Err(now) => seen = now,
                    }
                    continue;
                }
                let own = node.key();
                if own >= key {
                    let found = (own == key).then_some(next);
                    return Ok(InsertionPoint { before, seen, found, passed });
                }
                (before, seen, passed) = (next, behind, passed + 1);
            }
        }
    }

    /// Unlinks a dead node. Returns the new state of its predecessor's link.
    fn take_out(&self, before: NodeRef, seen: Seen, dead: NodeRef, behind: Seen) -> Result<Seen, Seen> {
        let now = self.node(before).link().lead_to(seen, behind.next())?;
        if !behind.is_placed() {
            self.arena.retire::<NoTrace>(0, dead);
        }
        Ok(now)
    }

    /// Inserts a value under a key, starting at an anchor: the head, or a node with a smaller key.
    /// `coming` is called before a new entry is inserted, perhaps more than once.
    ///
    /// # Errors
    /// [`DeadAnchor`]; or, inside, refused memory. Nothing has changed then.
    #[inline]
    pub fn insert(
        &self,
        anchor: NodeRef,
        key: B,
        value: B,
        coming: impl Fn(),
    ) -> Result<Fallible<Outcome<B>>, DeadAnchor> {
        let mut spare = None;
        let outcome = loop {
            let place = match self.place(anchor, key) {
                Ok(place) => place,
                Err(dead) => break Err(dead),
            };
            let passed = place.passed;
            if let Some(found) = place.found {
                let node = self.node(found);
                // Dead by now: it is no longer there.
                let Some(claim) = node.link().claim(self.arena.origin()) else { continue };
                let before = node.value();
                node.set_value(value);
                drop(claim);
                break Ok(Ok(Outcome { before: Some(before), passed }));
            }
            let new = match spare {
                Some(new) => new,
                None => match self.arena.allocate::<NoTrace>(0) {
                    Ok(new) => new,
                    Err(refused) => return Ok(Err(refused)),
                },
            };
            self.node(new).begin(key, value, place.seen.next(), false);
            coming();
            if self.node(place.before).link().lead_to(place.seen, Some(new.to_word())).is_ok() {
                return Ok(Ok(Outcome { before: None, passed }));
            }
            spare = Some(new);
        };
        // It isn't reachable yet.
        spare.into_iter().for_each(|unused| self.arena.free::<NoTrace>(0, unused));
        outcome
    }

    /// Removes a key, starting at an anchor: the head, or a node with a smaller key. `going` is called
    /// before the removal, with the node: layers that name it must name it no longer.
    ///
    /// # Errors
    /// [`DeadAnchor`]; nothing has changed then.
    #[inline]
    pub fn remove(
        &self,
        anchor: NodeRef,
        key: B,
        going: impl Fn(NodeRef),
    ) -> Result<Option<Removed<B>>, DeadAnchor> {
        loop {
            let place = self.place(anchor, key)?;
            let Some(found) = place.found else { return Ok(None) };
            let node = self.node(found);
            let Some(claim) = node.link().claim(self.arena.origin()) else { continue };
            going(found);
            let value = node.value();
            let behind = claim.mark_dead();
            // If another node was inserted in between, a thread that passes next unlinks it.
            let _ = self.take_out(place.before, place.seen, found, behind);
            return Ok(Some(Removed { value, passed: place.passed }));
        }
    }

    /// Unlinks dead nodes from an anchor on up to `high`, included, and passes every living one from `low`
    /// on to `each`, in order, after placing it, until `each` returns `false`. `Ok(false)`: the walk was
    /// at a node that died; all nodes passed to `each` are valid, and the walk can continue after the last
    /// of them.
    ///
    /// # Errors
    /// [`DeadAnchor`]; nothing was handed on.
    pub fn take_in_hand(
        &self,
        anchor: NodeRef,
        low: B,
        high: B,
        each: impl FnMut(B, NodeRef) -> bool,
    ) -> Result<bool, DeadAnchor> {
        Ok(self.take_from(self.place(anchor, low)?, low, high, each))
    }

    /// Does the same from the place of `low` on; see [`List::take_in_hand`].
    pub(super) fn take_from(
        &self,
        place: InsertionPoint,
        low: B,
        high: B,
        mut each: impl FnMut(B, NodeRef) -> bool,
    ) -> bool {
        let InsertionPoint { mut before, mut seen, .. } = place;
        while let Some(next) = seen.next().map(NodeRef::from_word) {
            let node = self.node(next);
            let behind = node.link().follow();
            if !behind.is_dead() && node.key() > high {
                break;
            }
            if !behind.is_dead() && node.key() < low {
                // It was inserted since the place was found. Its key belongs to the stretch before this
                // one, or before the nodes that were passed on already.
                (before, seen) = (next, behind);
                continue;
            }
            if behind.is_dead() || !node.link().place() {
                // Dead nodes' links don't change: this is the state in which it died.
                match self.take_out(before, seen, next, node.link().follow()) {
                    Ok(now) => seen = now,
                    Err(now) if now.is_dead() => return false,
                    Err(now) => seen = now,
                }
                continue;
            }
            if !each(node.key(), next) {
                break;
            }
            (before, seen) = (next, node.link().follow());
            if seen.is_dead() {
                return false;
            }
        }
        true
    }

    /// Gives a node up that was taken in hand for layers that weren't made, from an anchor on: the head, or
    /// a node with a smaller key.
    ///
    /// # Errors
    /// [`DeadAnchor`]; nothing has changed then.
    pub fn let_go(&self, anchor: NodeRef, node: NodeRef) -> Result<(), DeadAnchor> {
        if !self.node(node).link().displace() {
            // It has died meanwhile, and the thread that unlinked it left it to the layers. A thread that
            // passes its place finds it unlinked, or unlinks it.
            self.place(anchor, self.node(node).key())?;
            self.retire(node);
        }
        Ok(())
    }

    /// Frees a dead node that layers no longer refer to, for reuse once no thread can read it.
    pub fn retire(&self, node: NodeRef) {
        debug_assert!(!self.is_alive(node), "a living node was given up");
        self.arena.retire::<NoTrace>(0, node);
    }
}

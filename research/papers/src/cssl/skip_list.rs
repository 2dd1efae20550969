//! The skip list: the data list and the lanes above it, over lanes of keys and values. Lookups and single
//! updates.
//!
//! # Thread safety
//! Everything takes `&self`. A thread that works on the list is pinned in the epoch that guards its nodes
//! and its parts.
//!
//! # Invariants
//! 1. The data list has every entry; lanes only lead to places in it. So lanes that are out of date lose
//!    nothing, and a rebuild stops no thread.
//! 2. A node is placed from before its part is published until its part is replaced. It is retired by the
//!    thread that replaces the part, if it is dead then and not in the new one.
//! 3. A part counts each change of its keys before it is made, by the threads that saw the part; its
//!    successor, once begun, those of every thread that entered since then.

use super::options::Options;
use super::parts::{Locate, Part, Parts, Spot};
use crate::common::operation::Run;
use crate::common::units::NodePoolOptions;
use crate::cssl::guarded::{Guarded, Inside};
use crate::cssl::lanes::{LaneOptions, Lanes};
use crate::cssl::link::LINKED_NODES_MAX;
use crate::cssl::list::{DeadAnchor, List, node_bytes};
use crate::error;
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{NoTrace, Trace, Work};
use latchless_core::search::Dispatch;
use latchless_core::sync::{Mutex, Striped, Word};
use std::sync::Arc;

/// Dead anchors that a search may step over before it has the lanes pass over them.
const DEAD_ANCHORS_MAX: usize = 4;
/// Nodes after its anchor that an update may pass before lanes are rebuilt, if they are rebuilt in parts.
const PASSED_MAX: usize = 128;

/// Inside of a skip list: its parts stay, and its nodes.
pub(super) type In<'a, B> = Inside<'a, <B as Bits>::Word, Parts<B>>;

/// See the file's head.
#[derive(Debug)]
pub struct SkipList<B: Bits> {
    pub(super) guarded: Guarded<B::Word, Parts<B>>,
    pub(super) head: NodeRef,
    pub(super) len: Striped,
    pub(super) options: Options,
    pub(super) dispatch: Dispatch,
    /// Held by the thread that rebuilds.
    pub(super) rebuilding: Mutex<()>,
    /// Parts that were rebuilt.
    pub(super) rebuilt: Word,
}

/// Work that an update leaves for after its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// The part of the key must be rebuilt.
    Rebuild,
}

impl<B: Bits> SkipList<B> {
    pub(super) fn new(options: &Options) -> error::Result<Self> {
        let dispatch = options.kernel.map_or(Ok(Dispatch::best()), Dispatch::of)?;
        options.check()?;
        let space = NodePoolOptions {
            node_bytes: node_bytes::<B>(),
            unit_nodes: 1,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.node_references.unwrap_or(LINKED_NODES_MAX),
        };
        let options = options.clone();
        let guarded = Guarded::new(space, Self::no_parts(&options)?)?;
        let head = List::<B>::begin(guarded.arena())?;
        Ok(Self {
            guarded,
            head,
            len: Striped::default(),
            options,
            dispatch,
            rebuilding: Mutex::default(),
            rebuilt: Word::default(),
        })
    }

    /// The parts of an empty list.
    pub(super) fn no_parts(options: &Options) -> Result<Parts<B>> {
        let lanes = Lanes::build(0, core::iter::empty(), &options.lanes(0))?;
        let part = Part::new(lanes, options.room(0), Arc::default());
        Ok(Parts::new(vec![(B::MIN, Arc::new(part))]).at_rest())
    }

    #[inline(always)]
    pub(super) fn enter(&self) -> In<'_, B> {
        self.guarded.enter()
    }

    #[inline(always)]
    pub(super) fn list(&self) -> List<'_, B> {
        List::of(self.guarded.arena(), self.head)
    }

    pub(super) fn len(&self) -> usize {
        self.len.sum().max(0) as usize
    }

    /// The last spots whose keys are at most these.
    #[inline(always)]
    pub(super) fn locate<const N: usize>(&self, parts: &Parts<B>, keys: [B; N]) -> [Spot; N] {
        self.locate_told::<NoTrace, N>(parts, keys)
    }

    /// Locates keys and reports the accesses; see [`SkipList::locate`].
    #[inline(always)]
    pub(super) fn locate_told<T: Trace, const N: usize>(&self, parts: &Parts<B>, keys: [B; N]) -> [Spot; N] {
        self.dispatch.run(Locate { parts, list: None, keys, touch: PhantomData::<T> })
    }

    /// Locates keys for a thread that will read the nodes there; see [`SkipList::locate`].
    #[inline(always)]
    pub(super) fn locate_nodes<T: Trace, const N: usize>(&self, parts: &Parts<B>, keys: [B; N]) -> [Spot; N] {
        self.dispatch.run(Locate { parts, list: Some(self.list()), keys, touch: PhantomData::<T> })
    }

    /// Returns the first of the parts `from..=to` that isn't settled; to be called after reading their
    /// lanes.
    #[inline(always)]
    pub(super) fn first_unsettled(&self, parts: &Parts<B>, from: usize, to: usize) -> Option<usize> {
        parts.first_unsettled((from, to), |stamp| self.guarded.is_past(stamp))
    }

    /// The node at a spot.
    #[inline(always)]
    pub(super) fn node(&self, parts: &Parts<B>, spot: Spot) -> NodeRef {
        match parts.node(spot) {
            Some(node) => node,
            None => self.head,
        }
    }

    /// Does something from an anchor on that is alive: the node at the spot or, if that is dead, one
    /// further left.
    #[inline(always)]
    pub(super) fn at_living_anchor<R>(
        &self,
        parts: &Parts<B>,
        spot: Spot,
        mut work: impl FnMut(NodeRef) -> Result<R, DeadAnchor>,
    ) -> R {
        let (mut at, mut dead) = (spot, 0);
        loop {
            if let Ok(done) = work(self.node(parts, at)) {
                if dead > DEAD_ANCHORS_MAX {
                    parts.pass_over(at, spot);
                }
                return done;
            }
            at = parts.left_of(at);
            dead += 1;
        }
    }

    /// The spot at or left of this one whose node has a smaller key.
    #[inline(always)]
    pub(super) fn before(&self, parts: &Parts<B>, spot: Spot, key: B) -> Spot {
        match parts.node(spot) {
            Some(node) if self.list().key(node) == key => parts.left_of(spot),
            _ => spot,
        }
    }

    /// The value under a key (Algorithm 1; and on through the list, §3.2).
    #[inline(always)]
    pub(super) fn get<T: Trace>(&self, inside: &In<'_, B>, key: B) -> Option<B> {
        T::work(Work::Operation);
        let parts = inside.published();
        let [spot] = self.locate_nodes::<T, 1>(parts, [key]);
        self.get_at::<T>(parts, spot, key)
    }

    /// Returns whether a key is present: by the lanes alone if nothing has changed since they were built,
    /// as in Algorithm 1, which returns the key itself.
    #[inline(always)]
    pub(super) fn contains<T: Trace>(&self, inside: &In<'_, B>, key: B) -> bool {
        T::work(Work::Operation);
        let parts = inside.published();
        let [spot] = self.locate_told::<T, 1>(parts, [key]);
        let in_lanes = spot.at.is_some_and(|at| parts.part(spot.part).lanes.key(at) == key);
        // After all reading of the lanes.
        let settled = self.first_unsettled(parts, spot.part, spot.part).is_none();
        if in_lanes && settled { true } else { self.get_at::<T>(parts, spot, key).is_some() }
    }

    /// The value under a key whose spot is known.
    #[inline(always)]
    pub(super) fn get_at<T: Trace>(&self, parts: &Parts<B>, spot: Spot, key: B) -> Option<B> {
        let list = self.list();
        if let Some(node) = parts.node(spot) {
            list.tell_read::<T>(node);
            if list.key(node) == key
                && let Some(value) = list.living_value(node)
            {
                return Some(value);
            }
        }
        self.find_behind(parts, spot, key)
    }

    /// Looks up a key that isn't at the spot but to the right of it; see [`SkipList::get_at`].
    fn find_behind(&self, parts: &Parts<B>, spot: Spot, key: B) -> Option<B> {
        let spot = self.before(parts, spot, key);
        self.at_living_anchor(parts, spot, |anchor| self.list().find(anchor, key)).0
    }

    pub(super) fn insert(&self, key: B, value: B) -> Result<Option<B>> {
        let inside = self.enter();
        let parts = inside.published();
        let [spot] = self.locate_nodes::<NoTrace, 1>(parts, [key]);
        let number = parts.of(key);
        let part = parts.part(number);
        let coming = || {
            part.insert();
            parts.mark(number);
        };
        let put = |anchor| self.list().insert(anchor, key, value, coming);
        let outcome = self.at_living_anchor(parts, self.before(parts, spot, key), put)?;
        let mut left = Left::Nothing;
        if outcome.before.is_none() {
            self.len.add(1);
            left = self.left_to_do(part, outcome.passed);
        }
        drop(inside);
        self.follow_up(left, key);
        Ok(outcome.before)
    }

    pub(super) fn remove(&self, key: B) -> Option<B> {
        let inside = self.enter();
        let parts = inside.published();
        let [spot] = self.locate_nodes::<NoTrace, 1>(parts, [key]);
        let number = parts.of(key);
        let part = parts.part(number);
        let going = |node: NodeRef| {
            part.remove();
            parts.mark(number);
            if parts.node(spot) == Some(node) {
                parts.pass_over(parts.left_of(spot), spot);
            }
        };
        let take = |anchor| self.list().remove(anchor, key, going);
        let removed = self.at_living_anchor(parts, self.before(parts, spot, key), take)?;
        self.len.add(-1);
        let left = self.left_to_do(part, removed.passed);
        drop(inside);
        self.follow_up(left, key);
        Some(removed.value)
    }

    /// Returns whether a part must be rebuilt after a change that passed that many nodes.
    fn left_to_do(&self, part: &Part<B>, passed: usize) -> Left {
        let (inserted, removed) = part.changes();
        let is_due = inserted > part.room
            || (passed > PASSED_MAX && self.options.part_keys.is_some())
            || removed > part.room.max(part.lanes.len() / 2);
        if is_due { Left::Rebuild } else { Left::Nothing }
    }

    fn follow_up(&self, left: Left, key: B) {
        if left == Left::Rebuild && self.options.rebuild_automatically {
            // Lanes that are out of date cost time, nothing else: without memory for others they stay.
            let _ = self.rebuild_around(key);
        }
    }

    /// Bytes of the nodes that were ever in use, and of the lanes.
    pub(super) fn held_bytes(&self) -> usize {
        self.guarded.arena().held_bytes()
    }

    /// Returns the options of lanes over `len` entries.
    pub(super) fn lane_options(&self, len: usize) -> LaneOptions {
        self.options.lanes(len)
    }
}

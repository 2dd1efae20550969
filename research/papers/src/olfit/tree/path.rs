//! The record of a descent: its path and the latches that it holds.

use super::LEVELS_MAX;
use super::guard::{Guard, NodeGuard};
use crate::olfit::node::{At, Kind, Layout};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::AtomicU64;

/// A node on the path, and the child through which the path continues.
#[derive(Debug, Clone, Copy)]
struct Step {
    unit: NodeRef,
    index: u16,
    place: u16,
}

/// How a descent latches nodes, under LC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coupling {
    /// Together with others; a node is released when its child is held.
    Reading,
    /// The same, but the leaf exclusively: the optimistic descent.
    Writing,
    /// All exclusively; nodes above one that can't change, whatever happens below, are released.
    Adding,
    /// The same, for removals.
    Removing,
    /// All of them shared, and none is released: for going from leaf to leaf.
    ReadingOn,
    /// All of them exclusively, and none is released.
    WritingOn,
}

impl Coupling {
    /// Returns whether more than the last node stays latched.
    fn keeps(self) -> bool {
        !matches!(self, Self::Reading | Self::Writing)
    }

    /// Returns whether a node of this level is held exclusively.
    pub(super) fn alone(self, level: usize) -> bool {
        match self {
            Self::Reading | Self::ReadingOn => false,
            Self::Writing => level == 0,
            Self::Adding | Self::Removing | Self::WritingOn => true,
        }
    }
}

/// The observer of a descent.
pub(super) trait PathRecorder<'a, K: Kind> {
    /// Whether more than the end is needed.
    const KEPT: bool;
    /// Returns how nodes are latched, under LC.
    fn coupling(&self) -> Coupling;
    /// The descent starts, at the root of that many levels.
    fn start(&mut self, levels: usize);
    /// It goes down from a node to the child at a place, and the key after which that begins.
    fn down(&mut self, level: usize, at: At, place: usize, low: Option<K::Bits>);
    /// It goes right from a node that ends with a key.
    fn right(&mut self, high: K::Bits);
    /// It ends at a node.
    fn land(&mut self, level: usize, at: At);
    /// A node is latched, or none if the scheme latches none.
    fn hold(&mut self, guard: Option<NodeGuard<'a, K>>);
    /// Only the last latch is needed.
    fn let_go_above(&mut self);
}

/// Only the last latch is kept.
#[derive(Debug)]
pub(super) struct NoPath<'a, K: Kind>(Option<NodeGuard<'a, K>>);

impl<K: Kind> NoPath<'_, K> {
    pub(super) fn new() -> Self {
        Self(None)
    }
}

impl<'a, K: Kind> PathRecorder<'a, K> for NoPath<'a, K> {
    const KEPT: bool = false;

    #[inline]
    fn coupling(&self) -> Coupling {
        Coupling::Reading
    }

    #[inline]
    fn start(&mut self, _: usize) {
        // A thread that restarts must not keep the latch of its previous end.
        self.0 = None;
    }

    #[inline]
    fn down(&mut self, _: usize, _: At, _: usize, _: Option<K::Bits>) {}

    #[inline]
    fn right(&mut self, _: K::Bits) {}

    #[inline]
    fn land(&mut self, _: usize, _: At) {}

    #[inline]
    fn hold(&mut self, guard: Option<NodeGuard<'a, K>>) {
        self.0 = guard;
    }

    fn let_go_above(&mut self) {}
}

/// The number of latches that are stored without an allocation.
const FEW: usize = 3;

/// The way from the root to a leaf, level by level, and the latches that are held along it.
#[derive(Debug)]
pub(super) struct Path<'a, K: Kind> {
    steps: [Step; LEVELS_MAX],
    pub(super) levels: usize,
    /// The key after which the node at the end begins; `None`: it is the leftmost. It may begin earlier by
    /// now, if its left neighbour was removed.
    pub(super) low: Option<K::Bits>,
    coupling: Coupling,
    few: [Option<NodeGuard<'a, K>>; FEW],
    held: usize,
    more: Vec<NodeGuard<'a, K>>,
    /// The latch of the reference to the root.
    pub(super) root: Option<Guard<'a, AtomicU64, K::Trace>>,
}

impl<'a, K: Kind> Path<'a, K> {
    /// No way yet. `latches`: how many will be held, if they may be more than a few.
    pub(super) fn new(coupling: Coupling, latches: usize) -> Self {
        Self {
            steps: [Step { unit: NodeRef::NIL, index: 0, place: 0 }; LEVELS_MAX],
            levels: 0,
            low: None,
            coupling,
            few: [const { None }; FEW],
            held: 0,
            more: Vec::with_capacity(latches),
            root: None,
        }
    }

    /// The node of a level.
    #[inline]
    pub(super) fn at(&self, level: usize) -> At {
        At { unit: self.steps[level].unit, index: u32::from(self.steps[level].index) }
    }

    pub(super) fn set(&mut self, level: usize, at: At) {
        self.steps[level].unit = at.unit;
        self.steps[level].index = at.index as u16;
    }

    /// Returns the child through which the path continues from the node of a level.
    #[inline]
    pub(super) fn place(&self, level: usize) -> usize {
        usize::from(self.steps[level].place)
    }

    pub(super) fn set_place(&mut self, level: usize, place: usize) {
        self.steps[level].place = place as u16;
    }

    /// Takes over the nodes of the levels from `level` on.
    pub(super) fn adopt(&mut self, above: &Path<'_, K>, level: usize) {
        self.levels = above.levels;
        self.steps[level..above.levels].copy_from_slice(&above.steps[level..above.levels]);
    }

    /// Keeps a latch.
    #[inline]
    pub(super) fn keep(&mut self, guard: NodeGuard<'a, K>) {
        if self.held < FEW {
            self.few[self.held] = Some(guard);
        } else {
            self.more.push(guard);
        }
        self.held += 1;
    }

    fn last(&mut self) -> Option<NodeGuard<'a, K>> {
        self.held = self.held.checked_sub(1)?;
        if self.held < FEW { self.few[self.held].take() } else { self.more.pop() }
    }

    /// Lets go of every latch, the last one first.
    pub(super) fn let_go(&mut self) {
        self.root = None;
        while self.last().is_some() {}
    }

    /// Releases latches until that many are left.
    pub(super) fn let_go_down_to(&mut self, latches: usize) {
        while self.held > latches {
            self.last();
        }
    }

    /// Returns whether the latch of a node is held.
    pub(super) fn holds(&self, address: *const u8) -> bool {
        self.few.iter().flatten().chain(&self.more).any(|guard| guard.is_at(address))
    }

    /// Marks the latched nodes as changed.
    #[inline]
    pub(super) fn changed(&mut self) {
        for guard in self.few.iter_mut().flatten().chain(&mut self.more) {
            guard.changing();
        }
    }
}

impl<'a, K: Kind> PathRecorder<'a, K> for Path<'a, K> {
    const KEPT: bool = true;

    #[inline]
    fn coupling(&self) -> Coupling {
        self.coupling
    }

    #[inline]
    fn start(&mut self, levels: usize) {
        self.let_go();
        (self.levels, self.low) = (levels, None);
    }

    #[inline]
    fn down(&mut self, level: usize, at: At, place: usize, low: Option<K::Bits>) {
        self.set(level, at);
        self.set_place(level, place);
        self.low = low.or(self.low);
    }

    #[inline]
    fn right(&mut self, high: K::Bits) {
        self.low = Some(high);
    }

    #[inline]
    fn land(&mut self, level: usize, at: At) {
        self.set(level, at);
    }

    #[inline]
    fn hold(&mut self, guard: Option<NodeGuard<'a, K>>) {
        let Some(guard) = guard else { return };
        if self.coupling.keeps() {
            return self.keep(guard);
        }
        // The child's latch is held before the parent's is released.
        let above = self.last();
        self.keep(guard);
        drop(above);
    }

    fn let_go_above(&mut self) {
        let last = self.last();
        self.let_go();
        last.into_iter().for_each(|guard| self.keep(guard));
    }
}

/// Returns the maximum number of latches of an update on a path of that many levels.
pub(super) fn latches_max<K: Kind>(layout: &Layout, levels: usize) -> usize {
    // For each level the path's node and one on either side; for a group all nodes, those of the group
    // that it splits into, and two heads.
    (levels + 1) * if K::GROUPS { 2 * layout.unit_nodes + 2 } else { 4 }
}

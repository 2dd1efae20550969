//! Descents from the root to the node of a level that a key belongs to (the paper's `traverse`, Fig. 5).

use super::OlfitTree;
use super::path::{Coupling, NoPath, Path, PathRecorder};
use crate::olfit::node::{At, Flag, Kind, Node, NodeLatch, Scheme, Way};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::Backoff;

/// The end of a descent.
enum Came<R> {
    /// The node, with the result of the look.
    Here(R),
    /// Nowhere: the tree has fewer levels.
    TooHigh,
    /// A node that has left the tree, or covers other keys: the descent restarts.
    Lost,
}

/// The result of reading a node on the way.
enum Next<B, R> {
    Here(R),
    Down { place: usize, child: At, low: Option<B> },
    Right { high: B, to: Option<At> },
    Lost,
}

impl<K: Kind> OlfitTree<K> {
    /// Returns the result of `look` in the leaf that `key` belongs to: if there are several, the first
    /// one.
    #[inline(always)]
    pub(super) fn look_at_leaf<R>(&self, key: K::Bits, mut look: impl FnMut(Node<'_, K>) -> R) -> R {
        loop {
            if let Some(found) = self.find(0, key, &mut NoPath::new(), |node, _| look(node)) {
                return found;
            }
        }
    }

    /// Leads the path to the node of a level that `key` belongs to (of several, the first), if the tree has
    /// that level. Under LC it is latched then; otherwise it may change at once.
    #[inline(never)]
    pub(super) fn descend<'a>(&'a self, level: usize, key: K::Bits, path: &mut Path<'a, K>) -> bool {
        self.find(level, key, path, |_, _| ()).is_some()
    }

    /// Returns the result of `look` in the node of a level that `key` belongs to, if the tree has that
    /// level. `look` may run several times; only its last result counts.
    #[inline(always)]
    pub(super) fn find<'a, R, P: PathRecorder<'a, K>>(
        &'a self,
        level: usize,
        key: K::Bits,
        trail: &mut P,
        mut look: impl FnMut(Node<'_, K>, At) -> R,
    ) -> Option<R> {
        let mut backoff = Backoff::default();
        loop {
            match self.try_find(level, key, trail, &mut look) {
                Came::Here(found) => return Some(found),
                Came::TooHigh => return None,
                Came::Lost => {
                    self.restarts.add(1);
                    if !K::Trace::LISTENING {
                        backoff.wait_at(self.arena.origin());
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn try_find<'a, R, P: PathRecorder<'a, K>>(
        &'a self,
        target: usize,
        key: K::Bits,
        trail: &mut P,
        look: &mut impl FnMut(Node<'_, K>, At) -> R,
    ) -> Came<R> {
        let (root, levels) = self.root();
        if target >= levels {
            return Came::TooHigh;
        }
        let (mut at, mut level) = (At::first(root), levels - 1);
        trail.start(levels);
        if K::Scheme::NODE_LATCH == NodeLatch::Shared {
            self.couple(at, level, trail);
            if self.root() != (root, levels) {
                // The root was replaced before this one was latched; the wait for its latch ends soon.
                trail.start(levels);
                return Came::Lost;
            }
        }
        loop {
            let next = self.look(at.node::<K>(), |node| match node.way(at, key) {
                Way::Right(high, to) => Next::Right { high, to },
                Way::Lost => Next::Lost,
                Way::Here if level == target => Next::Here(look(node, at)),
                Way::Here => {
                    let place = node.child_place(key);
                    let low =
                        if P::KEPT { place.checked_sub(1).map(|left| node.separator(left)) } else { None };
                    Next::Down { place, child: node.child(place), low }
                }
            });
            match next {
                Next::Here(found) => {
                    trail.land(level, at);
                    return Came::Here(found);
                }
                Next::Down { place, child, low } => {
                    if K::Scheme::PREFETCHES {
                        self.prefetch(child);
                    }
                    trail.down(level, at, place, low);
                    (at, level) = (child, level - 1);
                    if K::Scheme::NODE_LATCH == NodeLatch::Shared {
                        self.couple(at, level, trail);
                    }
                }
                Next::Right { high, to } => {
                    let Some(right) = to.or_else(|| self.next_group(at.unit)) else { return Came::Lost };
                    trail.right(high);
                    at = right;
                }
                Next::Lost => return Came::Lost,
            }
        }
    }

    /// Latches a node that the descent has arrived at, and releases latches that aren't needed any more.
    #[inline(always)]
    pub(super) fn couple<'a, P: PathRecorder<'a, K>>(&'a self, at: At, level: usize, trail: &mut P) {
        let node = at.node::<K>();
        let coupling = trail.coupling();
        trail.hold(Some(if coupling.alone(level) { self.latch(node) } else { self.latch_together(node) }));
        let stays = match coupling {
            Coupling::Adding if level > 0 => !self.node(at).is_full_inner(),
            Coupling::Adding => !self.node(at).is_full_leaf(),
            // A node that loses a child or an entry and has another stays.
            Coupling::Removing => self.node(at).size() > 1,
            _ => false,
        };
        if stays {
            trail.let_go_above();
        }
    }

    /// The first node of the group to the right of this one, if there is one.
    pub(super) fn next_group(&self, unit: NodeRef) -> Option<At> {
        if !K::GROUPS {
            return None;
        }
        let link = self.look(unit, |head| head.link());
        (!link.is_nil()).then(|| At::first(link))
    }

    /// Returns the node to the right of one that is `at`. `in_group`: the node's own link, if it has one.
    pub(super) fn right_beside(&self, at: At, in_group: Option<At>) -> Option<At> {
        in_group.or_else(|| self.next_group(at.unit)).filter(|right| !right.unit.is_nil())
    }

    /// Returns the node to the right of one that no other thread can change, if there is one.
    pub(super) fn right_of(&self, at: At) -> Option<At> {
        let node = self.node(at);
        let meta = node.meta();
        match node.right(at, meta) {
            Some(right) if K::GROUPS && !meta.is(Flag::Last) => Some(right),
            Some(right) => (!right.unit.is_nil()).then_some(right),
            None => self.next_group(at.unit),
        }
    }
}

//! Removal of a leaf without entries from a tree with links (§5.3): "when a node becomes empty, the
//! updater only removes links directed to the node". These are the reference of its parent and the link of
//! the node to its left. If the parent has no other child, it is removed as well, and so on: a *chain* of
//! nodes, one per level, all of which begin and end with the same keys.
//!
//! Latches are taken bottom-up, and from left to right within a level: the left neighbour's, the node's
//! own, and, if nodes store the key after which they begin, the right neighbour's. The left neighbour is
//! found by another descent, to the key with which the chain begins. Everything that was read before the
//! latches were taken is read again; if it has changed, everything starts again.

use super::climb::Again;
use super::guard::Access;
use super::path::{Coupling, Path, latches_max};
use super::spares::Gone;
use super::{LEVELS_MAX, OlfitTree};
use crate::olfit::node::{At, Fields, Flag, Kind, Node, Way};
use latchless_core::base::error::Result;
use latchless_core::sync::Backoff;

/// A node of the chain and its neighbours, all of them latched.
#[derive(Debug, Clone, Copy)]
struct Link {
    left: Option<At>,
    own: At,
    /// Only if nodes store the key after which they begin.
    right: Option<At>,
}

impl<K: Kind> OlfitTree<K> {
    /// Removes the leaf from the tree from which `key` was removed, if it is still empty. If entries of
    /// one key are in several leaves, removes every empty one of these: which of them it was can't be
    /// determined, and a thread that empties another one may find this one in its place.
    #[cold]
    pub(super) fn unlink(&self, key: K::Bits) {
        let mut backoff = Backoff::default();
        loop {
            let latches = latches_max::<K>(&self.layout, self.root().1);
            let mut gone = Gone::none(latches);
            let inside = self.enter(Access::Write);
            let mut path = Path::new(Coupling::Writing, latches);
            let outcome = self.try_unlink(key, &mut path, &mut gone);
            path.let_go();
            drop(inside);
            match outcome {
                Ok(found) => {
                    gone.retire(self);
                    self.give_up_roots();
                    if !(found && self.duplicates) {
                        return;
                    }
                }
                Err(Again::Disturbed(address)) => {
                    self.give_up_roots();
                    self.step_back(address, &mut backoff);
                }
                Err(_) => {}
            }
        }
    }

    /// Returns whether there was an empty leaf.
    fn try_unlink<'a>(
        &'a self,
        key: K::Bits,
        path: &mut Path<'a, K>,
        gone: &mut Gone,
    ) -> Result<bool, Again> {
        match self.find_empty_leaf(key, path)? {
            None => return Ok(false),
            Some(0) => {}
            Some(_) => self.find_parents(key, path)?,
        }
        let only_child = |level: &usize| self.look(path.at(*level).node::<K>(), |node| node.children()) == 1;
        let top = (1..path.levels).take_while(only_child).count() + 1;
        if top >= path.levels {
            // Apparently the only leaf, which stays; if the root isn't that leaf, the root must be removed
            // first.
            let only = self.root() == (path.at(0).unit, 1);
            return if only { Ok(false) } else { Err(Again::DISTURBED) };
        }
        let mut chain = [Link { left: None, own: path.at(0), right: None }; LEVELS_MAX];
        for (level, link) in chain[..top].iter_mut().enumerate() {
            *link = self.hold_link(level, key, path)?;
        }
        self.hold_top(top, key, path)?;
        let (size, place) = (self.node(path.at(top)).children(), path.place(top));
        if size == 1 {
            return Err(Again::DISTURBED);
        }
        if K::GROUPS {
            self.hold_nodes(path.at(top - 1).unit, place + 1..size, path)?;
            for link in &chain[..top - 1] {
                link.left.map_or(Ok(()), |left| self.hold_head(left.unit, path))?;
                self.hold_head(link.own.unit, path)?;
            }
        }
        path.changed();
        for (level, &link) in chain[..top].iter().enumerate() {
            self.bypass(link, place + 1 == size, level + 1 == top);
            if !K::GROUPS || level + 1 < top {
                self.node(link.own).mark_dead();
                gone.add(link.own.unit, level);
            }
        }
        if K::GROUPS {
            self.close_gap(path.at(top - 1).unit, place, size);
        }
        self.node(path.at(top)).remove_child(place);
        Ok(true)
    }

    /// Leads the path to the empty leaf from which `key` may have been removed, if there is one, and
    /// returns its distance from the first leaf. A leaf is checked together with its identity: within a
    /// group another one may be in its place a moment later.
    fn find_empty_leaf<'a>(&'a self, key: K::Bits, path: &mut Path<'a, K>) -> Result<Option<usize>, Again> {
        let look = |leaf: Node<'_, K>, at: At| (leaf.size() == 0, Self::edge_of(leaf, at));
        let (mut empty, mut edge) = self.find(0, key, path, look).ok_or(Again::DISTURBED)?;
        let mut passed = 0;
        // Entries of one key may be in several leaves.
        while !empty && self.duplicates && edge.upper == key {
            let at = path.at(0);
            let Some(right) = self.right_beside(at, edge.right) else { break };
            let next = self.look(right.node::<K>(), |leaf| look(leaf, right));
            if !self.still_before(right, at, edge) {
                return Err(Again::DISTURBED);
            }
            (empty, edge) = next;
            path.set(0, right);
            path.low = Some(key);
            passed += 1;
        }
        Ok(empty.then_some(passed))
    }

    /// Leads the path's upper nodes to those above its leaf, which lies to the right of where they led.
    fn find_parents<'a>(&'a self, key: K::Bits, path: &mut Path<'a, K>) -> Result<(), Again> {
        for level in 1..path.levels {
            let child = path.at(level - 1);
            loop {
                let at = path.at(level);
                let look = |node: Node<'_, K>| {
                    let named = (0..node.children()).any(|place| node.child(place) == child);
                    (named, node.high(), node.right(at, node.meta()))
                };
                let (named, high, right) = self.look(at.node::<K>(), look);
                if named {
                    break;
                }
                let right = self.right_beside(at, right);
                path.set(level, right.filter(|_| high == key).ok_or(Again::DISTURBED)?);
            }
        }
        Ok(())
    }

    /// Latches the path's node of a level below the top, and its neighbours.
    fn hold_link<'a>(&'a self, level: usize, key: K::Bits, path: &mut Path<'a, K>) -> Result<Link, Again> {
        let own = path.at(level);
        let left = match path.low {
            Some(low) => Some(self.latch_left_of(level, own, low, path)?),
            None => None,
        };
        path.keep(self.latch(own.node::<K>()));
        let node = self.node(own);
        let meta = node.meta();
        let alone = if level == 0 {
            meta.size() == 0
        } else {
            meta.size() == 1 && node.child(0) == path.at(level - 1)
        };
        let same = !meta.is(Flag::Dead)
            && meta.level() == level
            && node.high() >= key
            && (!Fields::<K>::LOW_FENCES || node.begins() == path.low);
        if !alone || !same {
            return Err(Again::DISTURBED);
        }
        let right = if Fields::<K>::LOW_FENCES { self.right_of(own) } else { None };
        if let Some(right) = right {
            path.keep(self.latch(right.node::<K>()));
        }
        Ok(Link { left, own, right })
    }

    /// Latches the node to the left of this one, which begins after `low`.
    fn latch_left_of<'a>(
        &'a self,
        level: usize,
        own: At,
        low: K::Bits,
        path: &mut Path<'a, K>,
    ) -> Result<At, Again> {
        let mut way = Path::new(Coupling::Reading, 0);
        if !self.descend(level, low, &mut way) {
            return Err(Again::DISTURBED);
        }
        let mut at = way.at(level);
        let mut guard = self.latch(at.node::<K>());
        loop {
            let node = self.node(at);
            // Several adjacent nodes may end with the same key.
            if node.meta().is(Flag::Dead) || node.high() > low {
                return Err(Again::DISTURBED);
            }
            let right = self.right_of(at).ok_or(Again::DISTURBED)?;
            if right == own {
                path.keep(guard);
                return Ok(at);
            }
            let next = self.latch(right.node::<K>());
            drop(core::mem::replace(&mut guard, next));
            at = right;
        }
    }

    /// Latches the node of level `top`, the parent of the path's node below.
    fn hold_top<'a>(&'a self, top: usize, key: K::Bits, path: &mut Path<'a, K>) -> Result<(), Again> {
        let child = path.at(top - 1);
        let mut at = path.at(top);
        let mut guard = self.latch(at.node::<K>());
        loop {
            let node = self.node(at);
            // Entries of one key may be after a node that ends with it, too.
            let behind = self.duplicates && !node.meta().is(Flag::Dead) && node.begins() == Some(key);
            let to = match node.way(at, key) {
                Way::Lost if !behind => return Err(Again::DISTURBED),
                Way::Right(_, to) => to,
                Way::Lost | Way::Here => {
                    let first = node.child_place(key);
                    if let Some(place) = (first..node.children()).find(|&place| node.child(place) == child) {
                        path.set(top, at);
                        path.set_place(top, place);
                        path.keep(guard);
                        return Ok(());
                    }
                    if !self.duplicates || node.high() > key {
                        return Err(Again::DISTURBED);
                    }
                    node.right(at, node.meta())
                }
            };
            at = self.right_beside(at, to).ok_or(Again::DISTURBED)?;
            let next = self.latch(at.node::<K>());
            drop(core::mem::replace(&mut guard, next));
        }
    }

    /// Takes a node of the chain out of its level. `to_left`: what belonged to it belongs to the left
    /// neighbour from now on, otherwise to the right one. `in_group`: its group stays.
    fn bypass(&self, link: Link, to_left: bool, in_group: bool) {
        let node = self.node(link.own);
        if let (true, Some(left)) = (to_left, link.left) {
            self.node(left).set_high(node.high());
        }
        if let (false, Some(right)) = (to_left, link.right) {
            self.node(right).set_low(node.begins());
        }
        let Some(left) = link.left else { return };
        if !K::GROUPS {
            self.node(left).set_link(node.link());
        } else if !in_group {
            self.set_group_link(left.unit, self.node_of(link.own.unit).link());
        }
    }

    /// Removes the root as long as it has a single child, which takes its place.
    fn give_up_roots(&self) {
        loop {
            let inside = self.enter(Access::Write);
            let (root, levels) = self.root();
            let at = At::first(root);
            if levels == 1 || self.look(at.node::<K>(), |node| node.children()) > 1 {
                return;
            }
            let mut guard = self.latch(at.node::<K>());
            let node = self.node(at);
            if self.root() != (root, levels) || node.children() > 1 {
                continue;
            }
            guard.changing();
            self.set_root(node.child(0).unit, levels - 1);
            node.mark_dead();
            drop(guard);
            drop(inside);
            let mut gone = Gone::none(0);
            gone.add(root, levels - 1);
            gone.retire(self);
        }
    }
}

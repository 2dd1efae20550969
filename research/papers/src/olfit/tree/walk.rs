//! Descents step by step, for batches that lead many keys down together.
//!
//! Under OL a step reads a node as any descent does, so the leaf at the end is the right one or is to its
//! left, and a lookup is served there. Under the other schemes a step latches nothing and its results
//! aren't relied on: it loads the path into caches.

use super::OlfitTree;
use crate::common::units::Pin;
use crate::common::walk::{Aim, Step, Walk};
use crate::olfit::node::{At, Kind, Scheme, TreeLatch, Way};
use latchless_core::mem::touch::{Trace, Work};

/// The maximum number of steps to the right of its hint in the search for a key.
const MOVES_MAX: usize = 3;

/// The walks of a tree. While they exist, no node that leaves the tree is reused for another level.
#[derive(Debug)]
pub struct OlfitWalk<'a, K: Kind> {
    tree: &'a OlfitTree<K>,
    _pin: Option<Pin<'a, K::Trace>>,
}

/// The position of a walk.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    at: At,
    level: u8,
}

impl<K: Kind> OlfitTree<K> {
    /// Walks down this tree.
    pub fn walk(&self) -> OlfitWalk<'_, K> {
        OlfitWalk { tree: self, _pin: self.arena.pin::<K::Trace>() }
    }

    /// Levels from the root to the leaves, both counted.
    pub fn levels(&self) -> usize {
        self.root().1
    }
}

impl<K: Kind> OlfitWalk<'_, K> {
    /// Looks up a key at the end of a walk, if it has one; see [`OlfitTree::get`].
    #[inline]
    pub fn get(&self, leaf: Option<At>, key: K::Bits) -> Option<K::Bits> {
        let tree = self.tree;
        if tree.duplicates || K::Scheme::TREE_LATCH == TreeLatch::Everybody {
            return tree.get(key);
        }
        K::Trace::work(Work::Operation);
        let mut at = leaf;
        for _ in 0..=MOVES_MAX {
            let Some(here) = at else { break };
            let found = tree.look(here.node::<K>(), |leaf| match leaf.way(here, key) {
                Way::Here => Ok(leaf.find(key).map(|place| leaf.value(place))),
                Way::Right(_, to) => Err(to.or_else(|| tree.next_group(here.unit))),
                Way::Lost => Err(None),
            });
            match found {
                Ok(value) => return value,
                Err(right) => at = right,
            }
        }
        // The walk is inside already.
        tree.look_at_leaf(key, |leaf| leaf.find(key).map(|place| leaf.value(place)))
    }
}

impl<K: Kind> Walk for OlfitWalk<'_, K> {
    type Key = K::Bits;
    type Place = Place;
    type Anchor = At;

    #[inline(always)]
    fn enter(&self, _: K::Bits, _: Aim) -> Place {
        let (root, levels) = self.tree.root();
        Place { at: At::first(root), level: (levels - 1) as u8 }
    }

    #[inline(always)]
    fn step(&self, place: &mut Place, key: K::Bits) -> Step<At> {
        let (tree, at) = (self.tree, place.at);
        // A node that is just becoming another one may name anything.
        if !tree.arena.holds(at.node::<K>()) {
            return Step::Landed(None);
        }
        let next = tree.look(at.node::<K>(), |node| match node.way(at, key) {
            _ if node.meta().level() != usize::from(place.level) => Err(None),
            Way::Here if place.level == 0 => Ok(at),
            Way::Here => Err(Some((node.child(node.child_place(key)), place.level - 1))),
            Way::Right(_, to) => Err(to.or_else(|| tree.next_group(at.unit)).map(|to| (to, place.level))),
            Way::Lost => Err(None),
        });
        match next {
            Ok(leaf) => Step::Landed(K::Scheme::LINKS.then_some(leaf)),
            Err(None) => Step::Landed(None),
            Err(Some((child, level))) => {
                tree.prefetch(child);
                *place = Place { at: child, level };
                Step::On
            }
        }
    }
}

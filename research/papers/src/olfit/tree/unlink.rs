//! Removal of a leaf without entries from a tree without links, with every node above that has no other
//! child: only the path leads to it. Its keys belong to a neighbour below the same parent from then on.

use super::OlfitTree;
use super::climb::Again;
use super::path::Path;
use super::spares::{Gone, Need, Reserve};
use crate::olfit::node::{At, Kind, NodeLatch, Scheme};
use latchless_core::base::error::Result;

impl<K: Kind> OlfitTree<K> {
    /// Removes the path's leaf, which has one entry.
    pub(super) fn remove_leaf<'a>(
        &'a self,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) -> Result<(), Again> {
        match (1..path.levels).find(|&level| self.node(path.at(level)).children() > 1) {
            Some(top) => self.remove_below(top, path, spares, gone),
            None => self.empty_tree(path, spares, gone),
        }
    }

    /// Takes the path's child out of its node at level `top`, which has others.
    fn remove_below<'a>(
        &'a self,
        top: usize,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) -> Result<(), Again> {
        let (size, place) = (self.node(path.at(top)).children(), path.place(top));
        // A root with one child is replaced by the child.
        let gives_up_root = top + 1 == path.levels && size == 2;
        let copies = usize::from(K::GROUPS) + usize::from(!gives_up_root);
        if K::Scheme::COPIES && !spares.suffice(Need { levels: 0, copies }) {
            return Err(Again::Needs(Need { levels: 0, copies }));
        }
        self.hold_versions(top, path)?;
        if K::GROUPS && K::Scheme::NODE_LATCH == NodeLatch::Shared {
            self.hold_nodes(path.at(top - 1).unit, place + 1..size, path)?;
        }
        // Units of the nodes below the child; the child's own, too, if it has one.
        for level in 0..top - usize::from(K::GROUPS) {
            self.kill_unit(level, path.at(level).unit, 1);
            gone.add(path.at(level).unit, level);
        }
        let take_out = |path: &mut Path<'a, K>| {
            if K::GROUPS {
                self.close_gap(path.at(top - 1).unit, place, size);
            }
            self.node(path.at(top)).remove_child(place);
        };
        if gives_up_root {
            self.collapse_root(top, path, spares, gone);
        } else {
            let first = top - usize::from(K::GROUPS);
            self.change(first..=top, path, spares, gone, |path, _| take_out(path));
        }
        Ok(())
    }

    /// Makes the other child of the root the root.
    fn collapse_root<'a>(
        &'a self,
        top: usize,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) {
        let (root, place) = (path.at(top), path.place(top));
        let group = path.at(top - 1).unit;
        let mut other = self.node(root).child(1 - place).unit;
        if K::GROUPS && K::Scheme::COPIES {
            other = spares.take(top - 1);
            (0..2).for_each(|index| {
                self.node(At::first(group).further(index))
                    .copy_to(self.node(At::first(other).further(index)));
            });
        }
        if K::GROUPS {
            self.close_gap(other, place, 2);
        }
        if other != group && K::GROUPS {
            self.kill_unit(top - 1, group, 2);
            gone.add(group, top - 1);
        }
        self.kill_unit(top, root.unit, 1);
        gone.add(root.unit, top);
        self.set_root(other, top);
    }

    /// The path's leaf is the only one, and has one entry: it becomes the root, without it.
    fn empty_tree<'a>(
        &'a self,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
        gone: &mut Gone,
    ) -> Result<(), Again> {
        let levels = path.levels;
        self.hold_versions(levels - 1, path)?;
        let mut leaf = path.at(0).unit;
        if K::Scheme::COPIES {
            leaf = spares.take(0);
            self.node(path.at(0)).copy_to(self.node(At::first(leaf)));
        }
        self.node(At::first(leaf)).remove_entry(0);
        for level in usize::from(!K::Scheme::COPIES)..levels {
            self.kill_unit(level, path.at(level).unit, 1);
            gone.add(path.at(level).unit, level);
        }
        self.set_root(leaf, 1);
        Ok(())
    }
}

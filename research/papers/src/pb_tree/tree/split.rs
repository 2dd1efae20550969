//! Splitting full nodes to make room for a pair.
//!
//! All memory that the splits need is reserved before anything changes, so that a refusal leaves the tree
//! unchanged. The full nodes at the end of the path are then split from the uppermost down, so each split
//! finds room in its parent; that order works for node groups as well, where a new sibling can only be
//! placed in a group that has room.

use super::Tree;
use super::descend::Found;
use crate::pb_tree::node::{Children, Jump, Layout, Shape};
use crate::pb_tree::path::Path;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;

impl<S: Shape> Tree<S> {
    /// Splits the full leaf in which a key belongs, and the full nodes above it, and inserts the pair.
    pub(super) fn split_and_insert(
        &mut self,
        path: &mut Path,
        found: Found,
        pair: (S::Bits, S::Bits),
    ) -> Result<()> {
        let full_inner = self.full_levels_above(path);
        let grows = full_inner == path.len();
        self.reserve_splits(full_inner, grows)?;
        if grows {
            self.grow_root(path)?;
        }
        let first = path.len() - full_inner;
        for depth in first..path.len() {
            self.split_inner_at(path, depth)?;
        }
        self.split_leaf_at(path, found, pair)
    }

    /// Returns how many inner nodes, from the bottom of the path upwards, are full.
    fn full_levels_above(&self, path: &Path) -> usize {
        let is_full = |level: usize| {
            let inner = path.step(path.len() - level).0;
            self.nodes.count(inner) == Layout::<S>::inner_keys(level)
        };
        (1..=path.len()).take_while(|&level| is_full(level)).count()
    }

    fn reserve_splits(&mut self, full_inner: usize, grows: bool) -> Result<()> {
        let runs = match S::CHILDREN {
            // A new node for the leaf, for each full inner node and for the root.
            Children::References => 1 + full_inner + usize::from(grows),
            // A new group for the children of each split inner node, and one that holds the root.
            Children::Group => full_inner + usize::from(grows),
        };
        self.nodes.reserve(runs)?;
        self.jumps.as_mut().map_or(Ok(()), |jumps| jumps.reserve())
    }

    fn grow_root(&mut self, path: &mut Path) -> Result<()> {
        let root = self.nodes.allocate()?;
        self.nodes.adopt_only(root, self.root);
        if S::JUMP == Jump::Internal && self.levels == 1 {
            self.nodes.set_sibling(root, NodeRef::NIL);
        }
        path.push_root(root);
        self.root = root;
        self.levels += 1;
        self.inner_nodes += 1;
        Ok(())
    }

    /// Splits the full inner node at `depth` of the path, whose parent has room, and moves the path to the
    /// half that it now leads through.
    fn split_inner_at(&mut self, path: &mut Path, depth: usize) -> Result<()> {
        let (parent, at) = path.step(depth - 1);
        // The split above may have moved the node to another node of another group.
        let left = self.nodes.child(parent, at);
        let below = path.step(depth).1;
        path.set_step(depth, left, below);
        let on_leaves = depth + 1 == path.len();
        let count = self.nodes.count(left);
        // At the right edge keys arrive in ascending order: leave the left node full.
        let appends = below == count && self.is_rightmost(path, depth);
        let middle = if appends { count - 2 } else { count / 2 };
        let separator = self.nodes.key(left, middle);
        let right = self.nodes.open_child(parent, at + 1, separator, false)?;
        self.nodes.split_inner(left, right, middle, on_leaves)?;
        if S::JUMP == Jump::Internal && on_leaves {
            let sibling = self.nodes.sibling(left);
            self.nodes.set_sibling(right, sibling);
            self.nodes.set_sibling(left, right);
        }
        self.inner_nodes += 1;
        self.splits += 1;
        if below > middle {
            path.set_step(depth - 1, parent, at + 1);
            path.set_step(depth, right, below - middle - 1);
        }
        Ok(())
    }

    fn split_leaf_at(&mut self, path: &Path, found: Found, pair: (S::Bits, S::Bits)) -> Result<()> {
        let (parent, position) = path.step(path.len() - 1);
        // Splits above may have moved the leaf as well.
        let left = self.nodes.child(parent, position);
        let count = found.count;
        let appends = found.at == count && self.nodes.next(left).is_nil();
        let goes_right = found.at > count / 2;
        let middle = match goes_right {
            _ if appends => count,
            true => count - count / 2,
            false => count / 2,
        };
        let leads_right = goes_right && found.at == middle;
        let separator = if leads_right { pair.0 } else { self.nodes.key(left, middle) };
        let right = self.nodes.open_child(parent, position + 1, separator, true)?;
        self.nodes.move_pairs((left, middle), (right, 0), count - middle);
        self.nodes.set_pairs(left, middle);
        self.nodes.set_pairs(right, count - middle);
        if S::CHILDREN == Children::References {
            let next = self.nodes.next(left);
            self.nodes.set_next(right, next);
            self.nodes.set_next(left, right);
        }
        if let Some(jumps) = &mut self.jumps {
            jumps.insert_after(&mut self.nodes, left, right)?;
        }
        if goes_right {
            self.nodes.insert_pair(right, count - middle, found.at - middle, pair);
        } else {
            self.nodes.insert_pair(left, middle, found.at, pair);
        }
        self.leaves += 1;
        self.splits += 1;
        Ok(())
    }

    fn is_rightmost(&self, path: &Path, depth: usize) -> bool {
        (0..depth).all(|above| {
            let (inner, at) = path.step(above);
            at == self.nodes.count(inner)
        })
    }
}

//! Merging nodes that have become nearly empty, so that their memory can be reused.
//!
//! A removal never merges under its own latch: it starts a merge around its key afterwards. Two neighbours
//! below one parent are latched from left to right, then their parent. Whether they become one is decided
//! before anything changes: they may not fit in one node, and stay as they are then.

use super::covering::latch_covering;
use super::levels::{Latched, Levels};
use super::mode::{Held, Mode};
use latchless_core::mem::node_ref::NodeRef;

/// How often a merge is tried when other threads interfere.
const TRIES: usize = 4;

/// The outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing is to be done.
    Done,
    /// Two nodes became one, or share what they have. Their parent may now be too empty itself.
    Merged { shrank: bool },
    /// Both together don't fit.
    Refused,
    /// The parent has no other child on that side.
    LastChild,
    /// Other threads changed the tree meanwhile.
    Disturbed,
}

/// A node of a tree.
type Node<'a, T> = <<T as Merge>::Nodes as Levels>::At<'a>;
/// A key of a tree.
type Key<T> = <<T as Merge>::Nodes as Levels>::Key;

/// Two latched neighbours of a level and their latched parent.
pub(crate) struct Family<'a, T: Merge + 'a> {
    pub(crate) level: usize,
    pub(crate) left: Node<'a, T>,
    pub(crate) right: Node<'a, T>,
    pub(crate) parent: Node<'a, T>,
}

/// A tree whose nodes are merged.
pub(crate) trait Merge: Sized {
    type Nodes: Levels;
    /// Room for fences. Strings get theirs before latches are taken.
    type Room: Default;
    /// How two nodes become one.
    type Plan;

    fn nodes(&self) -> &Self::Nodes;
    /// Calls `merge` with room for fences: the caller's own, if that can be had.
    #[inline(always)]
    fn with_room(&self, own: &mut Self::Room, merge: impl FnOnce(&mut Self::Room) -> Outcome) -> Outcome {
        merge(own)
    }
    fn is_nearly_empty(at: Node<'_, Self>, level: usize) -> bool;
    /// Returns the child of an inner node that has no other.
    fn only_child(at: Node<'_, Self>) -> Option<NodeRef>;
    fn mark_dead(at: Node<'_, Self>, level: usize);
    /// Copies the low fence of a latched node.
    fn low<'r>(at: Node<'_, Self>, level: usize, room: &'r mut Self::Room) -> &'r Key<Self>;
    /// Latches the node that ends where another begins, whose low fence was copied last. `None`: it isn't
    /// found at once.
    fn latch_before<M: Mode>(&self, level: usize, room: &Self::Room) -> Option<Latched<'_, Self::Nodes, M>>;
    /// Decides how two neighbours become one. The low fence of the right one was copied last.
    ///
    /// # Errors
    /// Why they don't.
    fn plan(&self, of: &Family<'_, Self>, room: &mut Self::Room) -> Result<Self::Plan, Outcome>;
    /// Writes the left node and the parent. Returns whether all went to the left one; otherwise the right
    /// one was written as well.
    fn write<M: Mode>(
        &self,
        of: &Family<'_, Self>,
        plan: &mut Self::Plan,
        held: [&mut M::Held<'_>; 2],
    ) -> bool;
    /// Frees a node that has left the tree, and what only a merge's old nodes named.
    fn free(&self, level: usize, node: NodeRef, plan: Option<Self::Plan>);
}

/// Merges the node of this level that covers `key` with a neighbour, if it is nearly empty. Returns whether
/// it did.
#[cold]
#[inline(never)]
pub(crate) fn merge_around<T: Merge, M: Mode>(tree: &T, level: usize, key: &Key<T>) -> bool {
    let (mut own, mut has_merged, mut tries) = (T::Room::default(), false, 0);
    while tries < TRIES {
        let outcome = tree.with_room(&mut own, |room| match merge_right::<T, M>(tree, level, key, room) {
            Outcome::LastChild | Outcome::Refused => merge_left::<T, M>(tree, level, key, room),
            outcome => outcome,
        });
        match outcome {
            Outcome::Done | Outcome::Refused => break,
            Outcome::Disturbed => tries += 1,
            Outcome::Merged { shrank } => {
                has_merged = true;
                if shrank {
                    merge_around::<T, M>(tree, level + 1, key);
                }
            }
            // An only child gets neighbours when its parent does.
            Outcome::LastChild => {
                if !merge_around::<T, M>(tree, level + 1, key) {
                    break;
                }
            }
        }
    }
    has_merged
}

/// Latches the node of a level that covers a key, by a descent.
fn latch<'a, T: Merge, M: Mode>(tree: &'a T, level: usize, key: &Key<T>) -> Option<Latched<'a, T::Nodes, M>> {
    let nodes = tree.nodes();
    latch_covering::<_, M>(nodes, nodes.descend_to(level, key)?, level, key)
}

/// Merges the node that `key` belongs to with its right neighbour.
fn merge_right<T: Merge, M: Mode>(tree: &T, level: usize, key: &Key<T>, room: &mut T::Room) -> Outcome {
    let Some((at, held)) = latch::<T, M>(tree, level, key) else { return Outcome::Done };
    if !T::is_nearly_empty(at, level) {
        return Outcome::Done;
    }
    if tree.nodes().root().get() == (T::Nodes::name(at), level + 1) {
        return collapse_root::<T, M>(tree, level, (at, held));
    }
    let right = T::Nodes::link(at);
    if right.is_nil() { Outcome::LastChild } else { merge::<T, M>(tree, level, (at, held), right, room) }
}

/// Merges the node that `key` belongs to with its left neighbour.
fn merge_left<T: Merge, M: Mode>(tree: &T, level: usize, key: &Key<T>, room: &mut T::Room) -> Outcome {
    let Some((at, held)) = latch::<T, M>(tree, level, key) else { return Outcome::Done };
    let (node, is_empty) = (T::Nodes::name(at), T::is_nearly_empty(at, level));
    T::low(at, level, room);
    // Latches are taken from left to right: this one has to be released first.
    drop(held);
    if !is_empty || tree.nodes().first(level) == Some(node) {
        return if is_empty { Outcome::LastChild } else { Outcome::Done };
    }
    match tree.latch_before::<M>(level, room) {
        Some(left) if T::Nodes::link(left.0) == node => merge::<T, M>(tree, level, left, node, room),
        _ => Outcome::Disturbed,
    }
}

/// Replaces a root that has one child by that child.
fn collapse_root<T: Merge, M: Mode>(tree: &T, level: usize, root: Latched<'_, T::Nodes, M>) -> Outcome {
    let (at, mut held) = root;
    if level > 0
        && let Some(child) = T::only_child(at)
    {
        held.changing();
        tree.nodes().root().set(child, level);
        T::mark_dead(at, level);
        drop(held);
        tree.free(level, T::Nodes::name(at), None);
    }
    Outcome::Done
}

/// Merges a latched node and its right neighbour, if they have the same parent and fit in one node.
fn merge<'a, T: Merge, M: Mode>(
    tree: &'a T,
    level: usize,
    left: Latched<'a, T::Nodes, M>,
    right: NodeRef,
    room: &mut T::Room,
) -> Outcome {
    let (left, mut left_held) = left;
    let right = tree.nodes().at(right);
    let mut right_held = tree.nodes().latch::<M>(right);
    let separator = T::low(right, level, room);
    let Some((parent, mut parent_held)) = latch::<T, M>(tree, level + 1, separator) else {
        return Outcome::Disturbed;
    };
    let family = Family { level, left, right, parent };
    let mut plan = match tree.plan(&family, room) {
        Ok(plan) => plan,
        Err(outcome) => return outcome,
    };
    [&mut left_held, &mut right_held, &mut parent_held].into_iter().for_each(Held::changing);
    let is_one = tree.write::<M>(&family, &mut plan, [&mut left_held, &mut right_held]);
    if is_one {
        T::mark_dead(right, level);
    }
    let shrank = is_one && T::is_nearly_empty(parent, level + 1);
    drop((left_held, right_held, parent_held));
    if is_one {
        tree.free(level, T::Nodes::name(right), Some(plan));
    }
    Outcome::Merged { shrank }
}

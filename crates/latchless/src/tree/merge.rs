//! Merging nodes that have become nearly empty, so that their memory can be reused.
//!
//! A removal never merges under its own latch: it starts a merge around its key afterwards. Two neighbours
//! below one parent are latched from left to right, then their parent. If the left one has no room for both,
//! the children of inner nodes are redistributed, and leaves stay as they are.

use super::blink::BlinkTree;
use super::store::{Latched, Store};
use crate::blink::{Held, Levels, Mode};
use crate::node::{Children, Entries, Inner, Leaf, LeafEditor, LeafReader};
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// How often a merge is tried when other threads interfere.
const TRIES: usize = 4;

/// The outcome of a merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing had to be done, or it was done.
    Done,
    /// It was done, and the parent may now be too empty itself.
    Shrank,
    /// The parent has no other child.
    OnlyChild,
    /// Other threads changed the tree meanwhile.
    Disturbed,
}

/// Two neighbours, the right one of which may be merged into the left one.
#[derive(Clone, Copy)]
struct Pair {
    left: NodeRef,
    right: NodeRef,
}

/// How to combine two neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One node.
    IntoOne,
    /// Two nodes with about as many children each.
    Evenly,
}

/// Returns whether a leaf in which a removal left this many entries is worth a check of its neighbours: not
/// after each removal, because the neighbours may be full.
#[inline(always)]
pub(super) fn invites_a_merge<B: Bits>(left: usize) -> bool {
    left == 0 || left == Leaf::<B>::CAPACITY / 4 || left == Leaf::<B>::CAPACITY / 8
}

/// Merges the node of this level that `key` belongs to with a neighbour, if it is nearly empty.
#[inline(never)]
pub(super) fn merge_around<B: Bits, M: Mode>(tree: &BlinkTree<B>, level: usize, key: B) {
    for _ in 0..TRIES {
        let mut outcome = merge_right::<_, M>(tree, level, key);
        if outcome == Outcome::OnlyChild {
            outcome = merge_left::<_, M>(tree, level, key);
        }
        match outcome {
            Outcome::Done => return,
            Outcome::Shrank => return merge_around::<_, M>(tree, level + 1, key),
            Outcome::OnlyChild => merge_around::<_, M>(tree, level + 1, key),
            Outcome::Disturbed => {}
        }
    }
}

/// Merges the node that `key` belongs to with its right neighbour.
fn merge_right<B: Bits, M: Mode>(tree: &BlinkTree<B>, level: usize, key: B) -> Outcome {
    let store = tree.store();
    let Some((at, held)) = tree.finder().latch_covering::<M>(level, key) else { return Outcome::Done };
    let left = at.node;
    if !is_nearly_empty(store, level, left) {
        return Outcome::Done;
    }
    let (root, levels) = store.root().get();
    if levels == level + 1 && root == left {
        return collapse_root::<_, M>(store, level, (at, held));
    }
    let right = store.leaf(left).link();
    if right.is_nil() { Outcome::OnlyChild } else { merge::<_, M>(tree, level, (at, held), right) }
}

/// Merges the node that `key` belongs to with its left neighbour.
fn merge_left<B: Bits, M: Mode>(tree: &BlinkTree<B>, level: usize, key: B) -> Outcome {
    let (store, finder) = (tree.store(), tree.finder());
    let Some((at, held)) = finder.latch_covering::<M>(level, key) else { return Outcome::Done };
    let node = at.node;
    let (low, _) = at.fences::<B>(level);
    let still = is_nearly_empty(store, level, node);
    // Latches are taken from left to right: this one has to be released first.
    drop(held);
    if low == B::MIN || !still {
        return if still { Outcome::OnlyChild } else { Outcome::Done };
    }
    let Some(left) = finder.latch_covering::<M>(level, before(low)) else { return Outcome::Done };
    let right = store.leaf(left.0.node).link();
    if right != node { Outcome::Disturbed } else { merge::<_, M>(tree, level, left, right) }
}

/// Replaces a root that has one child by that child.
fn collapse_root<B: Bits, M: Mode>(store: &Store<B>, level: usize, latched: Latched<'_, M>) -> Outcome {
    let (at, mut held) = latched;
    let root = at.node;
    if level == 0 || store.inner(root).children() > 1 {
        return Outcome::Done;
    }
    held.changing();
    store.root().set(store.leftmost_child(root), level);
    store.inner(root).mark_dead();
    drop(held);
    store.arena().free(level, root);
    Outcome::Done
}

/// Merges a latched node and its right neighbour, if they have the same parent and fit in one node.
fn merge<'a, B: Bits, M: Mode>(
    tree: &'a BlinkTree<B>,
    level: usize,
    latched: Latched<'a, M>,
    right: NodeRef,
) -> Outcome {
    let (store, finder) = (tree.store(), tree.finder());
    let (at, mut left_held) = latched;
    let left = at.node;
    let (_, mut right_held) = store.latch::<M>(right);
    let ((low, _), (separator, high)) = (store.fences(level, left), store.fences(level, right));
    let Some((parent, mut parent_held)) = finder.latch_covering::<M>(level + 1, low) else {
        return Outcome::Disturbed;
    };
    let parent = parent.node;
    if store.fences(level + 1, parent).1 < high {
        return Outcome::OnlyChild;
    }
    let pair = Pair { left, right };
    let Some(way) = way_to_merge(store, level, pair) else { return Outcome::Done };
    left_held.changing();
    right_held.changing();
    parent_held.changing();
    if level == 0 {
        let leaves = [store.leaf(left), store.leaf(right)];
        tree.ranks().outdate_both(leaves, [&mut left_held, &mut right_held]);
    }
    let names = store.inner(parent);
    let mut children = Children::default();
    names.copy_out(&mut children);
    children.remove(children.place_of(separator));
    match way {
        Way::IntoOne if level == 0 => merge_leaves(store, pair),
        Way::IntoOne => merge_inner_nodes(store, pair),
        Way::Evenly => children.insert(even_out(store, pair), right),
    }
    names.fill(children.separators(), children.nodes());
    if level == 0 {
        finder.name_leaf(left, low, high);
    }
    drop((left_held, right_held, parent_held));
    if way == Way::Evenly {
        return Outcome::Done;
    }
    store.arena().free(level, right);
    if is_nearly_empty(store, level + 1, parent) { Outcome::Shrank } else { Outcome::Done }
}

fn is_nearly_empty<B: Bits>(store: &Store<B>, level: usize, node: NodeRef) -> bool {
    if level == 0 {
        store.leaf(node).len() <= Leaf::<B>::CAPACITY / 4
    } else {
        store.inner(node).children() <= Inner::<B>::CAPACITY / 4
    }
}

/// Decides whether to combine two neighbours: into one if there is room to spare; inner nodes evenly if
/// one of them has a single child, which could otherwise never be merged.
fn way_to_merge<B: Bits>(store: &Store<B>, level: usize, Pair { left, right }: Pair) -> Option<Way> {
    if level == 0 {
        let (left, right) = (store.leaf(left).len(), store.leaf(right).len());
        return fits(left, right, Leaf::<B>::CAPACITY).then_some(Way::IntoOne);
    }
    let (left, right) = (store.inner(left).children(), store.inner(right).children());
    if fits(left, right, Inner::<B>::CAPACITY) {
        return Some(Way::IntoOne);
    }
    (left == 1 || right == 1).then_some(Way::Evenly)
}

/// Moves everything to the left leaf.
fn merge_leaves<B: Bits>(store: &Store<B>, Pair { left, right }: Pair) {
    let (into, from) = (LeafEditor(store.leaf(left)), LeafEditor(store.leaf(right)));
    let (mut entries, mut more) = (Entries::default(), Entries::default());
    LeafReader(*into).copy_out::<Scalar>(&mut entries);
    LeafReader(*from).copy_out::<Scalar>(&mut more);
    entries.append(&more, 0);
    into.set((into.low(), from.high()), from.link(), &entries, 0..entries.keys().len());
    from.mark_dead();
}

/// Moves everything to the left node.
fn merge_inner_nodes<B: Bits>(store: &Store<B>, pair: Pair) {
    let (into, from) = (store.inner(pair.left), store.inner(pair.right));
    let all = children_of_both(store, pair);
    into.set((into.low(), from.high()), from.link(), all.separators(), all.nodes());
    from.mark_dead();
}

/// Gives both nodes half of the children. Returns the new low fence of the right one.
fn even_out<B: Bits>(store: &Store<B>, pair: Pair) -> B {
    let (into, from) = (store.inner(pair.left), store.inner(pair.right));
    let all = children_of_both(store, pair);
    let (separators, nodes) = (all.separators(), all.nodes());
    let cut = separators.len() / 2;
    from.set((separators[cut], from.high()), from.link(), &separators[cut..], &nodes[cut..]);
    into.set((into.low(), before(separators[cut])), pair.right, &separators[..cut], &nodes[..cut]);
    separators[cut]
}

fn children_of_both<B: Bits>(store: &Store<B>, pair: Pair) -> Children<B> {
    let (mut all, mut more) = (Children::default(), Children::default());
    store.inner(pair.left).copy_out(&mut all);
    store.inner(pair.right).copy_out(&mut more);
    more.separators().iter().zip(more.nodes()).for_each(|(&separator, &node)| all.push(separator, node));
    all
}

/// Returns whether two nodes fit in one, with room to spare. An empty one always does.
fn fits(left: usize, right: usize, capacity: usize) -> bool {
    left + right <= capacity * 4 / 5 || left == 0 || right == 0
}

//! Which nodes of words are merged, and how.
//!
//! If the left one has no room for both, leaves stay as they are. So do inner nodes, unless one of them has a
//! single child, which could otherwise never be merged: then each gets half of the children.

use super::blink::BlinkTree;
use super::store::{At, Latched, Store};
use crate::blink::{Family, Levels, Merge, Mode, Outcome, latch_covering};
use crate::node::{Children, Entries, Inner, Leaf, LeafEditor, LeafReader};
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// How to combine two neighbours.
pub(crate) struct Plan<B: Bits> {
    /// The children of the parent without the right one.
    children: Children<B>,
    /// Two nodes with about as many children each, in place of one.
    is_evened: bool,
}

/// Returns whether a leaf in which a removal left this many entries is worth a check of its neighbours: not
/// after each removal, because the neighbours may be full.
#[inline(always)]
pub(super) fn invites_a_merge<B: Bits>(left: usize) -> bool {
    left == 0 || left == Leaf::<B>::CAPACITY / 4 || left == Leaf::<B>::CAPACITY / 8
}

/// Returns how many entries or children a node of this level has, and how many it has room for.
fn taken<B: Bits>(at: At<'_>, level: usize) -> (usize, usize) {
    if level == 0 {
        (at.leaf::<B>().len(), Leaf::<B>::CAPACITY)
    } else {
        (at.inner::<B>().children(), Inner::<B>::CAPACITY)
    }
}

impl<B: Bits> Merge for BlinkTree<B> {
    type Nodes = Store<B>;
    type Room = B;
    type Plan = Plan<B>;

    fn nodes(&self) -> &Store<B> {
        self.store()
    }

    fn is_nearly_empty(at: At<'_>, level: usize) -> bool {
        let (len, room) = taken::<B>(at, level);
        len <= room / 4
    }

    fn only_child(at: At<'_>) -> Option<NodeRef> {
        (at.inner::<B>().children() == 1).then(|| at.inner().child::<Scalar>(B::MIN))
    }

    fn mark_dead(at: At<'_>, level: usize) {
        if level == 0 { LeafEditor(at.leaf::<B>()).mark_dead() } else { at.inner::<B>().mark_dead() }
    }

    fn low<'r>(at: At<'_>, level: usize, room: &'r mut B) -> &'r B {
        *room = at.fences(level).0;
        room
    }

    fn latch_before<M: Mode>(&self, level: usize, low: &B) -> Option<Latched<'_, M>> {
        let last = before(*low);
        latch_covering::<_, M>(self.store(), self.store().descend_to(level, &last)?, level, &last)
    }

    fn plan(&self, of: &Family<'_, Self>, separator: &mut B) -> Result<Plan<B>, Outcome> {
        let (first, _) = of.parent.fences(of.level + 1);
        if *separator == first {
            return Err(Outcome::LastChild);
        }
        let [(left, room), (right, _)] = [of.left, of.right].map(|at| taken::<B>(at, of.level));
        // With room to spare. An empty node always fits.
        let fits = left + right <= room * 4 / 5 || left == 0 || right == 0;
        let is_evened = !fits && of.level > 0 && (left == 1 || right == 1);
        if !fits && !is_evened {
            return Err(Outcome::Done);
        }
        let mut children = Children::default();
        of.parent.inner().copy_out(&mut children);
        children.remove(children.place_of(*separator));
        Ok(Plan { children, is_evened })
    }

    fn write<M: Mode>(&self, of: &Family<'_, Self>, plan: &mut Plan<B>, held: [&mut M::Held<'_>; 2]) -> bool {
        let Family { level, left, right, parent } = *of;
        let ((low, _), (_, high)) = (left.fences(level), right.fences(level));
        let children = &mut plan.children;
        if level == 0 {
            let leaves = [left.leaf(), right.leaf()];
            self.ranks().outdate_both(leaves, held);
            join_leaves::<B>(leaves.map(LeafEditor));
            self.finder().name_leaf(left.node, low, high);
        } else if let Some(separator) = join_inner_nodes::<B>(left, right, plan.is_evened) {
            children.insert(separator, right.node);
        }
        parent.inner().fill(children.separators(), children.nodes());
        !plan.is_evened
    }

    fn free(&self, level: usize, node: NodeRef, _: Option<Plan<B>>) {
        self.store().arena().free(level, node);
    }
}

/// Moves everything to the left leaf.
fn join_leaves<B: Bits>([into, from]: [LeafEditor<'_, B>; 2]) {
    let (mut entries, mut more) = (Entries::default(), Entries::default());
    LeafReader(*into).copy_out::<Scalar>(&mut entries);
    LeafReader(*from).copy_out::<Scalar>(&mut more);
    entries.append(&more, 0);
    into.set((into.low(), from.high()), from.link(), &entries, 0..entries.keys().len());
}

/// Moves everything to the left node, or gives both half of the children: returns the new low fence of the
/// right one then.
fn join_inner_nodes<B: Bits>(left: At<'_>, right: At<'_>, evenly: bool) -> Option<B> {
    let (into, from) = (left.inner::<B>(), right.inner::<B>());
    let (mut all, mut more) = (Children::default(), Children::default());
    into.copy_out(&mut all);
    from.copy_out(&mut more);
    more.separators().iter().zip(more.nodes()).for_each(|(&separator, &node)| all.push(separator, node));
    let (low, high, separators, nodes) = (into.low(), from.high(), all.separators(), all.nodes());
    if !evenly {
        into.set((low, high), from.link(), separators, nodes);
        return None;
    }
    let cut = separators.len() / 2;
    from.set((separators[cut], high), from.link(), &separators[cut..], &nodes[cut..]);
    into.set((low, before(separators[cut])), right.node, &separators[..cut], &nodes[..cut]);
    Some(separators[cut])
}

//! The check of a tree: every invariant that the code above relies on.

use super::Tree;
use crate::pb_tree::node::{Children, Jump, Layout, Shape};
use latchless_core::base::error::Broken;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;

/// The findings of a walk over the whole tree, in key order.
#[derive(Default)]
struct Seen {
    leaves: Vec<NodeRef>,
    bottoms: Vec<NodeRef>,
    inner_nodes: usize,
    keys: usize,
}

impl<S: Shape> Tree<S> {
    /// Checks every node. O(n); for tests and debugging.
    ///
    /// # Errors
    /// The first broken invariant (see the module's head), and where.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let mut seen = Seen::default();
        self.check_node(self.root, self.levels - 1, (S::Bits::MIN, None), &mut seen)?;
        let counts = [
            ("keys", seen.keys, self.len),
            ("leaves", seen.leaves.len(), self.leaves),
            ("inner nodes", seen.inner_nodes, self.inner_nodes),
            ("runs in use", self.nodes.live_runs(), self.expected_runs(&seen)),
        ];
        for (what, found, expected) in counts {
            if found != expected {
                return Err(Broken::new(format!("found {found} {what}, expected {expected}")));
            }
        }
        check_chain("leaf", &seen.leaves, |leaf| self.nodes.next(leaf))?;
        if S::JUMP == Jump::Internal {
            check_chain("bottom node", &seen.bottoms, |bottom| self.nodes.sibling(bottom))?;
        }
        self.jumps.as_ref().map_or(Ok(()), |jumps| jumps.check(&self.nodes, &seen.leaves))
    }

    fn expected_runs(&self, seen: &Seen) -> usize {
        match S::CHILDREN {
            Children::References => seen.leaves.len() + seen.inner_nodes,
            // One group for the children of each inner node, and one for the root.
            Children::Group => seen.inner_nodes + 1,
        }
    }

    /// Checks a node on `level` whose keys must lie in `low..high`.
    fn check_node(
        &self,
        node: NodeRef,
        level: usize,
        (low, high): (S::Bits, Option<S::Bits>),
        seen: &mut Seen,
    ) -> Result<(), Broken> {
        let broken = |what: String| Err(Broken::new(format!("node {node:?} on level {level}: {what}")));
        let count = self.nodes.count(node);
        let room = if level == 0 { Layout::<S>::LEAF_PAIRS } else { Layout::<S>::inner_keys(level) };
        if count > room {
            return broken(format!("{count} keys where {room} have room"));
        }
        if count == 0 && (node != self.root || level > 0) {
            return broken("no key".into());
        }
        let places = if level == 0 { Layout::<S>::LEAF_PAIRS } else { Layout::<S>::INNER_KEYS };
        let (keys, pads) = self.nodes.keys(node, places).split_at(count);
        if pads.iter().any(|&pad| pad != S::Bits::MAX) {
            return broken("a place behind the keys isn't padded".into());
        }
        if !keys.is_sorted_by(|a, b| a < b) {
            return broken("keys don't ascend".into());
        }
        if keys.first().is_some_and(|&key| key < low) {
            return broken(format!("first key below {low:?}"));
        }
        if keys.last().is_some_and(|&key| high.is_some_and(|high| key >= high)) {
            return broken(format!("last key not below {high:?}"));
        }
        if level == 0 {
            seen.leaves.push(node);
            seen.keys += count;
            return Ok(());
        }
        seen.inner_nodes += 1;
        if level == 1 {
            seen.bottoms.push(node);
        }
        for at in 0..=count {
            let low = if at == 0 { low } else { keys[at - 1] };
            let high = if at == count { high } else { Some(keys[at]) };
            self.check_node(self.nodes.child(node, at), level - 1, (low, high), seen)?;
        }
        Ok(())
    }
}

fn check_chain(what: &str, in_order: &[NodeRef], next: impl Fn(NodeRef) -> NodeRef) -> Result<(), Broken> {
    for (i, &node) in in_order.iter().enumerate() {
        let expected = in_order.get(i + 1).copied().unwrap_or(NodeRef::NIL);
        if next(node) != expected {
            return Err(Broken::new(format!(
                "{what} {node:?} links to {:?}, expected {expected:?}",
                next(node)
            )));
        }
    }
    Ok(())
}

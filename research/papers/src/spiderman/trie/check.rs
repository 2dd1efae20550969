//! The check of the whole trie at rest.

use super::Trie;
use super::reference::To;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Checks the invariants of the module's head. The trie must be at rest: concurrent changes may look
    /// like violations. O(n).
    ///
    /// # Errors
    /// The first broken one.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (mut leaves, mut inner) = (0, 0);
        let mut left = vec![(self.top(), 0)];
        while let Some((node, depth)) = left.pop() {
            match node.to() {
                To::Nothing if node == self.top() => {}
                To::Nothing => return Err(Broken::new("a child that is no node")),
                To::Leaf(place) => {
                    leaves += 1;
                    let key = self.leaf_at(place).key;
                    if self.get(key).is_none() {
                        return Err(Broken::new(format!(
                            "{key:?} is in a leaf that its way doesn't lead to"
                        )));
                    }
                }
                To::Inner(kind, place) => {
                    inner += 1;
                    let Ok(_) = self.see(node) else {
                        return Err(Broken::new(format!("{node:?} is latched")));
                    };
                    let node_of = self.inner(kind, place);
                    let before = left.len();
                    left.extend(node_of.children().map(|(_, child)| (child, node.depth() + 1)));
                    let (found, said) = (left.len() - before, node_of.len());
                    if node.depth() < depth || found != said || !(2..=kind.places()).contains(&found) {
                        return Err(Broken::new(format!("{node:?} has {found} children, {said} it says")));
                    }
                }
            }
        }
        if (leaves, inner) != self.nodes() || leaves != self.len() {
            return Err(Broken::new(format!("{leaves} leaves and {inner} nodes can be reached")));
        }
        Ok(())
    }
}

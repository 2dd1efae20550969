//! Walks to the right that change nothing.

use super::{DeadAnchor, List};
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::perturb;

impl<B: Bits> List<'_, B> {
    /// Looks up `key`, starting at an anchor: the head, or a node with a smaller key. Also returns the
    /// number of nodes that were passed.
    ///
    /// # Errors
    /// [`DeadAnchor`].
    #[inline(always)]
    pub fn find(&self, anchor: NodeRef, key: B) -> Result<(Option<B>, usize), DeadAnchor> {
        let mut seen = self.node(anchor).link().follow();
        if seen.is_dead() {
            return Err(DeadAnchor);
        }
        let mut passed = 0;
        while let Some(next) = seen.next() {
            let node = self.node(NodeRef::from_word(next));
            let own = node.key();
            if own > key {
                break;
            }
            seen = node.link().follow();
            if own == key && !seen.is_dead() {
                perturb();
                return Ok((Some(node.value()), passed));
            }
            passed += 1;
        }
        Ok((None, passed))
    }

    /// Shows the living entries from `low` to `high`, both included, in ascending order until `visit`
    /// has seen enough (`false`), from an anchor on: the head, or a node whose key isn't larger than
    /// `low`.
    ///
    /// # Errors
    /// [`DeadAnchor`]; nothing was shown then.
    #[inline(always)]
    pub fn visit(
        &self,
        anchor: NodeRef,
        low: B,
        high: B,
        visit: impl FnMut(NodeRef, B, B) -> bool,
    ) -> Result<(), DeadAnchor> {
        if !self.is_alive(anchor) {
            return Err(DeadAnchor);
        }
        self.visit_on(anchor, low, high, visit);
        Ok(())
    }

    /// Visits the entries from a node on that has been seen alive: those present since then are shown,
    /// even if that node has died. See [`List::visit`].
    #[inline(always)]
    pub fn visit_on(&self, from: NodeRef, low: B, high: B, mut visit: impl FnMut(NodeRef, B, B) -> bool) {
        let mut next = Some(from);
        if from == self.head {
            next = self.node(from).link().follow().next().map(NodeRef::from_word);
        }
        while let Some(at) = next {
            let node = self.node(at);
            let key = node.key();
            if key > high {
                break;
            }
            let seen = node.link().follow();
            if key >= low && !seen.is_dead() {
                perturb();
                if !visit(at, key, node.value()) {
                    break;
                }
            }
            next = seen.next().map(NodeRef::from_word);
        }
    }
}

//! Reading a node, as its scheme requires.

use super::guard::wait_for;
use super::{OlfitTree, READ_TRIES};
use crate::olfit::node::{Kind, Node, NodeLatch, Scheme};
use latchless_core::base::key::Bits;
use latchless_core::latch::OptimisticLatch;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::sync::Backoff;

impl<K: Kind> OlfitTree<K> {
    /// Returns the result of `look` in a node. Under OL it may run several times, on a node that is being
    /// changed; only its last result, in a node at rest, counts (the paper's `read_node`, Fig. 4).
    #[inline(always)]
    pub(super) fn look<R>(&self, node: NodeRef, mut look: impl FnMut(Node<'_, K>) -> R) -> R {
        K::Trace::work(Work::Visit);
        let node_ref = node;
        let node = self.node_of(node);
        if K::Scheme::NODE_LATCH != NodeLatch::Optimistic {
            return look(node);
        }
        match self.look_once(node, &mut look) {
            Some(found) => found,
            None => self.look_again(node_ref, look),
        }
    }

    #[inline(always)]
    fn look_once<R>(&self, node: Node<'_, K>, look: &mut impl FnMut(Node<'_, K>) -> R) -> Option<R> {
        let (latch, address) = (OptimisticLatch::of(node.latch_word()), node.latch_address());
        K::Trace::read(address, K::Bits::BYTES);
        let version = latch.stable_version()?;
        let found = look(node);
        K::Trace::read(address, K::Bits::BYTES);
        latch.validate(version).then_some(found)
    }

    #[cold]
    fn look_again<R>(&self, node_ref: NodeRef, mut look: impl FnMut(Node<'_, K>) -> R) -> R {
        let node = self.node_of(node_ref);
        let mut backoff = Backoff::default();
        for _ in 1..READ_TRIES {
            self.restarts.add(1);
            wait_for::<K::Trace>(node.latch_address(), &mut backoff, self.arena.origin());
            if let Some(found) = self.look_once(node, &mut look) {
                return found;
            }
        }
        self.restarts.add(1);
        let _latched = self.latch(node_ref);
        look(node)
    }
}

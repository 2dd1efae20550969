//! Inserts at either end of the tree.
//!
//! Keys that arrive in order all go to the end of the first or of the last leaf. A thread remembers the
//! tree in which it last put a key there. Its next edit in that tree begins at that leaf, and goes down
//! from the root only if the leaf doesn't cover the key.
//!
//! # Thread safety
//! The memory of a thread is its own, so keys in any other order write nothing shared. A shared word of the
//! tree, which any thread may write, names that leaf; its fences, read under its latch, confirm it.

use crate::byte_tree::change::Shared;
use crate::byte_tree::node::{Node, Probe, Words};
use crate::byte_tree::shape::Shape;
use crate::byte_tree::store::Store;
use core::cell::Cell;
use core::cmp::Ordering;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

thread_local! {
    /// The address of the nodes of the tree in which this thread last inserted a key before or after all
    /// others, plus one if after. The tree may be gone, and another one may be there.
    static AT_END: Cell<usize> = const { Cell::new(0) };
}

/// The first and the last leaf, as far as known. In a line of their own: they change more often than the
/// adjacent words.
#[derive(Debug)]
#[repr(align(64))]
pub struct Ends([Word; 2]);

impl Ends {
    pub fn unknown() -> Self {
        Self([const { NodeRef::NIL }; 2].map(|leaf| Word::new(u64::from(leaf.to_word()))))
    }

    /// The leaf where this thread's next edit begins, if its last one was an insert at an end of this tree.
    #[inline(always)]
    pub fn of_thread(&self, store: &Store) -> Option<NodeRef> {
        let noted = AT_END.get();
        if noted & !1 != address(store) {
            return None;
        }
        self.leaf(noted & 1 == 1)
    }

    /// This thread's keys go elsewhere.
    #[inline(always)]
    pub fn leave(&self) {
        AT_END.set(0);
    }

    /// Notes that a key was inserted before the one at `at` into a leaf with this shape: perhaps at an end
    /// of the tree.
    #[inline(always)]
    pub fn note(&self, store: &Store, leaf: NodeRef, view: Shared<'_>, shape: Shape, at: usize) {
        let is_last = at == shape.len() && shape.has(Shape::NO_HIGH);
        if is_last || at == 0 && view.is_first() {
            self.is_end(store, leaf, is_last);
        }
    }

    #[inline(never)]
    fn is_end(&self, store: &Store, leaf: NodeRef, is_last: bool) {
        self.learn(leaf, is_last);
        AT_END.set(address(store) | usize::from(is_last));
    }

    /// The first or the last leaf, as far as known: its fences decide.
    #[inline(always)]
    pub fn leaf(&self, is_last: bool) -> Option<NodeRef> {
        let leaf = NodeRef::from_word(self.0[usize::from(is_last)].follow() as u32);
        (!leaf.is_nil()).then_some(leaf)
    }

    /// Remembers the first or the last leaf.
    pub fn learn(&self, leaf: NodeRef, is_last: bool) {
        let (word, leaf) = (&self.0[usize::from(is_last)], u64::from(leaf.to_word()));
        // An unwritten line stays in every processor's cache.
        if word.load_relaxed() != leaf {
            word.publish(leaf);
        }
    }
}

#[inline(always)]
fn address(store: &Store) -> usize {
    core::ptr::from_ref(store).addr()
}

impl<W: Words> Node<'_, W> {
    /// Whether the node is the first of its level.
    #[inline(always)]
    pub(in crate::byte_tree) fn is_first(self) -> bool {
        self.low_len() == 0 && !self.shape().has(Shape::LOW_LONG)
    }

    /// How many entries come before a key with this head that the node covers: all or none, if the last
    /// entry (in the first leaf, the first one) decides it. The node doesn't have the key then. Where keys
    /// grow, in any leaf, each comes after all others of its leaf and begins as they do.
    #[inline(always)]
    pub(in crate::byte_tree) fn rank_at_end(self, shape: Shape, own: Probe<'_>) -> Option<usize> {
        let len = shape.len();
        if len == 0 {
            return None;
        }
        if self.compare_entry(shape, len - 1, own) == Ordering::Less {
            return Some(len);
        }
        (self.is_first() && self.compare_entry(shape, 0, own) == Ordering::Greater).then_some(0)
    }
}

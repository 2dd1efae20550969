//! A held latch that notices, in debug builds, what would otherwise take a reader that is stopped within some
//! nanoseconds: a node that is changed without a word, or before the word is said.
//!
//! When the latch is taken, a checksum of the node's words (without the latch's own) is taken as well. The
//! holder says [`Held::changing`] before its first change, and says it if there is one: so the checksum
//! is the same when it says so, and, if it never does, when the latch is released. Anything else panics.
//! In release builds nothing of this is left.

use super::mode::Held;
#[cfg(debug_assertions)]
use crate::node;
use crate::node::NodeLines;
use core::marker::PhantomData;
#[cfg(debug_assertions)]
use latchless_core::sync::unseen;

/// A latch of a node, which is watched in debug builds. See the file's head.
#[derive(Debug)]
pub struct Watched<'a, H: Held> {
    // First, so that it looks before the latch is released.
    #[cfg(debug_assertions)]
    watch: Watch<'a>,
    held: H,
    node: PhantomData<&'a NodeLines>,
}

impl<'a, H: Held> Watched<'a, H> {
    /// Watches a node whose latch was just taken.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "nothing is watched"))]
    pub(super) fn new(node: &'a NodeLines, held: H) -> Self {
        Self {
            #[cfg(debug_assertions)]
            watch: Watch::new(node),
            held,
            node: PhantomData,
        }
    }
}

impl<H: Held> Held for Watched<'_, H> {
    #[inline(always)]
    fn changing(&mut self) {
        #[cfg(debug_assertions)]
        self.watch.announce();
        self.held.changing();
    }

    #[inline(always)]
    fn is_marked(&self) -> bool {
        self.held.is_marked()
    }

    #[inline(always)]
    fn set_mark(&mut self, marked: bool) {
        self.held.set_mark(marked);
    }
}

/// What a node was when its latch was taken.
#[cfg(debug_assertions)]
#[derive(Debug)]
struct Watch<'a> {
    node: &'a NodeLines,
    found: u64,
    announced: bool,
}

#[cfg(debug_assertions)]
impl<'a> Watch<'a> {
    fn new(node: &'a NodeLines) -> Self {
        Self { node, found: unseen(|| node::checksum(node)), announced: false }
    }

    fn is_as_it_was(&self) -> bool {
        unseen(|| node::checksum(self.node)) == self.found
    }

    fn announce(&mut self) {
        assert!(self.announced || self.is_as_it_was(), "a node was changed before its holder said so");
        self.announced = true;
    }
}

#[cfg(debug_assertions)]
impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // A panic on its way is about something else.
        if !self.announced && !std::thread::panicking() {
            assert!(self.is_as_it_was(), "a node was changed and its version stays the same");
        }
    }
}

#[cfg(all(test, debug_assertions, not(miri)))]
mod tests {
    use super::*;
    use crate::node::{Entries, Leaf};
    use crate::tree::{Mode, Shared};
    use core::array::from_fn;
    use latchless_core::search::Scalar;
    use latchless_core::sync::Origin;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// An empty leaf of all keys.
    fn leaf() -> Box<NodeLines> {
        let node = Box::new(from_fn(|_| from_fn(|_| latchless_core::sync::Word::new(0))));
        Leaf::new(&node).set(
            (0, u64::MAX),
            latchless_core::mem::node_ref::NodeRef::NIL,
            &Entries::default(),
            0..0,
        );
        node
    }

    fn insert(node: &NodeLines, key: u64) {
        let leaf = Leaf::new(node);
        assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key)));
    }

    #[test]
    #[should_panic(expected = "its version stays the same")]
    fn a_change_without_a_word_is_caught() {
        let node = leaf();
        let _held = Shared::latch(&node, &Origin::here());
        insert(&node, 7);
    }

    #[test]
    #[should_panic(expected = "before its holder said so")]
    fn a_change_before_the_word_is_caught() {
        let node = leaf();
        let mut held = Shared::latch(&node, &Origin::here());
        insert(&node, 7);
        held.changing();
    }

    #[test]
    #[should_panic(expected = "whose latch nobody holds")]
    fn a_change_without_the_latch_is_caught() {
        insert(&leaf(), 7);
    }

    #[test]
    fn a_panic_amid_a_change_leaves_another_version() {
        let node = leaf();
        let before = node::latch(&node).stable_version();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut held = Shared::latch(&node, &Origin::here());
            held.changing();
            insert(&node, 7);
            panic!("amid a change");
        }));
        let after = node::latch(&node).stable_version();
        assert!(unwound.is_err() && after.is_some() && after != before);
        // A latch that is held and announces no change leaves the version that was there.
        drop(Shared::latch(&node, &Origin::here()));
        assert_eq!(node::latch(&node).stable_version(), after);
    }
}

//! Debug builds check that a latched node is changed only after [`changing()`](Watched::changing). Without
//! this check only a reader preempted within nanoseconds could observe the mistake.
//!
//! When the latch is taken, a checksum of the node's other words is taken as well. The holder announces a
//! change ([`Watched::announce`]) before its first change, and only if there is one. So the checksum must be
//! the same at the announcement, or, without one, when the latch is released. Otherwise the check panics. In
//! release builds this file is empty.
//!
//! The nodes of numbers and those of byte strings are checked in the same way: the latch is the first word
//! of both.

use core::marker::PhantomData;
use latchless_core::latch::Latched;
use latchless_core::sync::Word;
#[cfg(debug_assertions)]
use latchless_core::sync::unseen;

/// A latch of a node, which is checked in debug builds. See the module documentation.
#[derive(Debug)]
pub struct Watched<'a, H> {
    // First, so that it checks before the latch is released.
    #[cfg(debug_assertions)]
    watch: Watch<'a>,
    held: H,
    words: PhantomData<&'a [Word]>,
}

impl<'a, H> Watched<'a, H> {
    /// Starts the check of a node whose latch was just taken. `words` are the node's; the first one is the
    /// latch.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "nothing is watched"))]
    pub fn new(words: &'a [Word], held: H) -> Self {
        Self {
            #[cfg(debug_assertions)]
            watch: Watch::new(words),
            held,
            words: PhantomData,
        }
    }

    /// Announces a change of the node. Returns the latch, on which the caller announces it as well.
    #[inline(always)]
    pub fn announce(&mut self) -> &mut H {
        #[cfg(debug_assertions)]
        self.watch.announce();
        &mut self.held
    }

    /// Returns the latch.
    #[inline(always)]
    pub fn held(&self) -> &H {
        &self.held
    }

    /// Returns the latch, for operations that don't change the node.
    #[inline(always)]
    pub fn held_mut(&mut self) -> &mut H {
        &mut self.held
    }
}

impl Watched<'_, Latched<'_>> {
    /// Announces that content changes from here on. Call it before the first change.
    #[inline(always)]
    pub fn changing(&mut self) {
        self.announce().changing();
    }
}

/// The state of a node when its latch was taken.
#[cfg(debug_assertions)]
#[derive(Debug)]
struct Watch<'a> {
    words: &'a [Word],
    found: u64,
    announced: bool,
}

#[cfg(debug_assertions)]
impl<'a> Watch<'a> {
    fn new(words: &'a [Word]) -> Self {
        Self { words, found: unseen(|| checksum(words)), announced: false }
    }

    fn is_as_it_was(&self) -> bool {
        unseen(|| checksum(self.words)) == self.found
    }

    fn announce(&mut self) {
        assert!(self.announced || self.is_as_it_was(), "a node was changed before its holder said so");
        self.announced = true;
    }
}

#[cfg(debug_assertions)]
impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // A panic that is under way has another cause.
        if !self.announced && !std::thread::panicking() {
            assert!(self.is_as_it_was(), "a node was changed and its version stays the same");
        }
    }
}

/// Returns a checksum of all words of a node but its latch, which changes with any single word.
#[cfg(debug_assertions)]
fn checksum(words: &[Word]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    // Skipped under Miri, which would take long.
    let words = if cfg!(miri) { &[] } else { &words[1..] };
    let (mut sum, mut factor) = (0u64, 1);
    for word in words {
        // An odd factor: every change of one word changes the sum.
        sum = sum.wrapping_add(word.load_relaxed().wrapping_mul(factor));
        factor = factor.wrapping_add(FACTOR << 1);
    }
    sum
}

#[cfg(all(test, debug_assertions, not(miri)))]
mod tests {
    use super::*;
    use crate::node::{Entries, Leaf, LeafEditor, NodeLines, latch};
    use core::array::from_fn;
    use latchless_core::search::Scalar;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Returns an empty leaf of all keys.
    fn leaf() -> Box<NodeLines> {
        let node = Box::new(from_fn(|_| from_fn(|_| latchless_core::sync::Word::new(0))));
        LeafEditor(Leaf::new(&node)).set(
            (0, u64::MAX),
            latchless_core::mem::node_ref::NodeRef::NIL,
            &Entries::default(),
            0..0,
        );
        node
    }

    fn latched(node: &NodeLines) -> Watched<'_, Latched<'_>> {
        Watched::new(node.as_flattened(), latch(node).try_latch().expect("nobody holds it"))
    }

    fn insert(node: &NodeLines, key: u64) {
        let leaf = LeafEditor(Leaf::new(node));
        assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key)));
    }

    #[test]
    #[should_panic(expected = "its version stays the same")]
    fn a_change_without_a_word_is_caught() {
        let node = leaf();
        let _held = latched(&node);
        insert(&node, 7);
    }

    #[test]
    #[should_panic(expected = "before its holder said so")]
    fn a_change_before_the_word_is_caught() {
        let node = leaf();
        let mut held = latched(&node);
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
        let before = latch(&node).stable_version();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut held = latched(&node);
            held.changing();
            insert(&node, 7);
            panic!("amid a change");
        }));
        let after = latch(&node).stable_version();
        assert!(unwound.is_err() && after.is_some() && after != before);
        // A latch that is held and announces no change leaves the version unchanged.
        drop(latched(&node));
        assert_eq!(latch(&node).stable_version(), after);
    }
}

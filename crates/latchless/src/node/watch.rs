//! A held latch that notices, in debug builds, what would otherwise take a reader that is stopped within some
//! nanoseconds: a node that is changed without a word, or before the word is said.
//!
//! When the latch is taken, a checksum of the node's words (without the latch's own) is taken as well. The
//! holder says that it is changing the node ([`Watched::announce`]) before its first change, and says it if
//! there is one: so the checksum is the same when it says so, and, if it never does, when the latch is
//! released. Anything else panics. In release builds nothing of this is left.
//!
//! The nodes of numbers and those of byte strings are watched alike: the latch is the first word of both.

use core::marker::PhantomData;
use latchless_core::latch::Latched;
use latchless_core::sync::Word;
#[cfg(debug_assertions)]
use latchless_core::sync::unseen;

/// A latch of a node, which is watched in debug builds. See the module documentation.
#[derive(Debug)]
pub struct Watched<'a, H> {
    // First, so that it looks before the latch is released.
    #[cfg(debug_assertions)]
    watch: Watch<'a>,
    held: H,
    words: PhantomData<&'a [Word]>,
}

impl<'a, H> Watched<'a, H> {
    /// Watches a node whose latch was just taken. `words`: the node's, of which the first is the latch.
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

    /// The holder is about to change the node. Gives the latch, for it to be told as well.
    #[inline(always)]
    pub fn announce(&mut self) -> &mut H {
        #[cfg(debug_assertions)]
        self.watch.announce();
        &mut self.held
    }

    /// The latch.
    #[inline(always)]
    pub fn held(&self) -> &H {
        &self.held
    }

    /// The latch, for what is no change of the node.
    #[inline(always)]
    pub fn held_mut(&mut self) -> &mut H {
        &mut self.held
    }
}

impl Watched<'_, Latched<'_>> {
    /// From here on content changes. To be said before the first change.
    #[inline(always)]
    pub fn changing(&mut self) {
        self.announce().changing();
    }
}

/// What a node was when its latch was taken.
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
        // A panic on its way is about something else.
        if !self.announced && !std::thread::panicking() {
            assert!(self.is_as_it_was(), "a node was changed and its version stays the same");
        }
    }
}

/// What all words of a node but its latch come to: another number when one of them changes.
#[cfg(debug_assertions)]
fn checksum(words: &[Word]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    // Interpreters have other things to find, and take long for this one.
    let words = if cfg!(miri) { &[] } else { &words[1..] };
    let (mut sum, mut factor) = (0u64, 1);
    for word in words {
        // An odd factor: no change of one word goes unseen.
        sum = sum.wrapping_add(word.load_relaxed().wrapping_mul(factor));
        factor = factor.wrapping_add(FACTOR << 1);
    }
    sum
}

#[cfg(all(test, debug_assertions, not(miri)))]
mod tests {
    use super::*;
    use crate::node::{Entries, Leaf, NodeLines, latch};
    use core::array::from_fn;
    use latchless_core::search::Scalar;
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

    fn latched(node: &NodeLines) -> Watched<'_, Latched<'_>> {
        Watched::new(node.as_flattened(), latch(node).try_latch().expect("nobody holds it"))
    }

    fn insert(node: &NodeLines, key: u64) {
        let leaf = Leaf::new(node);
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
        // A latch that is held and announces no change leaves the version that was there.
        drop(latched(&node));
        assert_eq!(latch(&node).stable_version(), after);
    }
}

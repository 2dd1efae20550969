//! A held latch that notices, in debug builds, what would otherwise take a reader that is stopped within some
//! nanoseconds: a node that is changed without a word, or before the word is said.
//!
//! When the latch is taken, a checksum of the node's words (without the latch's own) is taken as well. The
//! holder says [`Held::changing`] before its first change, and says it if there is one: so the checksum
//! is the same when it says so, and, if it never does, when the latch is released. Anything else panics.
//! In release builds nothing of this is left.

use super::mode::Held;
use crate::node::hinted::NodeLines;
use core::marker::PhantomData;

/// A latch of a node, which is watched in debug builds. See the file's head.
#[derive(Debug)]
pub struct Watched<'a, H: Held> {
    held: H,
    #[cfg(debug_assertions)]
    watch: Watch<'a>,
    node: PhantomData<&'a NodeLines>,
}

impl<'a, H: Held> Watched<'a, H> {
    /// Watches a node whose latch was just taken.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "nothing is watched"))]
    pub(super) fn new(node: &'a NodeLines, held: H) -> Self {
        Self {
            held,
            #[cfg(debug_assertions)]
            watch: Watch::new(node),
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
        Self { node, found: hinted::checksum(node), announced: false }
    }

    fn is_as_it_was(&self) -> bool {
        hinted::checksum(self.node) == self.found
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

//! The nearest entries on both sides of a key, as of one moment.
//!
//! Usually the key's leaf has both, and is read in one version. If it lacks one, leaves on that side are
//! passed, as in the search for one entry (`near.rs`), with the same rule: when the last leaf has been read,
//! all others must still have the version that was read. At the first read of the last leaf all of them were
//! at rest, and together they covered everything from the one answer to the other.

use super::key_room::{Few, KeyRoom};
use super::near::{Border, Seen, look};
use super::node::{Target, Toward};
use super::take::Take;
use super::tree::ByteTree;
use crate::blink::Levels;
use core::ops::Bound;
use latchless_core::base::index::Direction::{Forward, Reverse};
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

/// The nearest entry on one side of a key.
pub struct OnSide<T: Take> {
    pub key: KeyRoom,
    pub take: T,
    /// `None`: there is no entry on that side.
    pub value: Option<T::Value>,
}

impl<T: Take> OnSide<T> {
    /// An entry that isn't known yet, whose value will be taken so.
    pub fn new(take: T) -> Self {
        Self { key: KeyRoom::default(), take, value: None }
    }
}

/// The leaves that a search has read, each with its version: `None`, if it was read under its latch.
type Read = Few<(NodeRef, Option<Version>)>;

impl ByteTree {
    /// Finds the nearest entries before and after a key, as of one moment. The entry of the key itself is
    /// both, if it isn't excluded by the bound.
    pub fn beside<T: Take>(&self, from: Bound<&[u8]>, [before, after]: [&mut OnSide<T>; 2]) {
        let (Bound::Included(key) | Bound::Excluded(key)) = from else { return };
        let mut backoff = Backoff::default();
        while !self.try_beside(key, from, [&mut *before, &mut *after]) {
            self.store.counts().count_restart();
            backoff.wait_at(self.store.nodes().origin());
        }
    }

    /// Returns `false` if a leaf has changed before the last one was read.
    fn try_beside<T: Take>(
        &self,
        key: &[u8],
        from: Bound<&[u8]>,
        [before, after]: [&mut OnSide<T>; 2],
    ) -> bool {
        let (down, up) = (Border { from, direction: Reverse }, Border { from, direction: Forward });
        let [mut low, mut high] = [(); 2].map(|()| KeyRoom::default());
        let start = self.finder.start_near(&self.store, key, Toward::Key).leaf;
        let ([lower, higher], node, version) = self.store.read_leaf(start, Target::key(key), |(_, leaf)| {
            [
                look(leaf, down, &mut before.key, &mut low, &mut before.take),
                look(leaf, up, &mut after.key, &mut high, &mut after.take),
            ]
        });
        let mut read = Read::default();
        read.push((node, version));
        before.value = self.go_on(down, lower, before, low, &mut read);
        after.value = self.go_on(up, higher, after, high, &mut read);
        let others = read.iter().count() - 1;
        read.iter().take(others).all(|&(node, version)| {
            version.is_some_and(|version| self.store.at(node).1.latch().validate(version))
        })
    }

    /// Passes leaves from a fence on, until one has an entry.
    fn go_on<T: Take>(
        &self,
        border: Border<'_>,
        mut seen: Seen<T::Value>,
        side: &mut OnSide<T>,
        mut fence: KeyRoom,
        read: &mut Read,
    ) -> Option<T::Value> {
        let mut next = KeyRoom::default();
        while seen.value.is_none() && seen.goes_on {
            let (start, toward) = match border.direction {
                Forward => (seen.link, Toward::Key),
                Reverse => {
                    (self.finder.start_near(&self.store, fence.bytes(), Toward::Before).leaf, Toward::Before)
                }
            };
            let target = Target { key: fence.bytes(), toward };
            let (there, node, version) = self.store.read_leaf(start, target, |(_, leaf)| {
                look(leaf, border, &mut side.key, &mut next, &mut side.take)
            });
            read.push((node, version));
            core::mem::swap(&mut fence, &mut next);
            seen = there;
        }
        seen.value
    }
}

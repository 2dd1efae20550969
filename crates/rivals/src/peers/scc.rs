//! `scc`: its concurrent B+-Tree, read without locks.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared, walk};
use core::ops::Bound;
use latchless_core::Result;
use latchless_core::base::key::Bits;
use scc::{Guard, TreeIndex};

/// `scc::TreeIndex`.
pub struct Tree<B: Bits>(TreeIndex<B, B>);

impl<B: Bits> Default for Tree<B> {
    fn default() -> Self {
        Self(TreeIndex::new())
    }
}

impl<B: Bits> Peer<B> for Tree<B> {
    const NAME: &'static str = "scc";
    type Pin<'a> = Guard;

    fn pin(&self) -> Guard {
        Guard::new()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, key: B, pin: &Guard) -> Option<B> {
        self.0.peek(&key, pin).copied()
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = Guard::new();
        // Given a start below its smallest key it searches all of its leaves (3.8.8), so the least key is
        // passed as no start.
        let low = if ask.low == B::MIN { Bound::Unbounded } else { Bound::Included(ask.low) };
        let high = if ask.is_open() { Bound::Unbounded } else { Bound::Included(ask.high) };
        let range = self.0.range::<B, _>((low, high), &pin);
        walk(range, ask.direction, |(&key, &value)| each(key, value))
    }

    updates_are_shared!();
}

impl<B: Bits> SharedPeer<B> for Tree<B> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        // A new key takes one walk. One that is there takes a second for its old value and a third
        // to replace it, because the map's own upsert doesn't give the old value back.
        let Err((key, value)) = self.0.insert_sync(key, value) else { return Ok(None) };
        let old = self.0.peek(&key, &Guard::new()).copied();
        self.0.upsert_sync(key, value);
        Ok(old)
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        let mut old = None;
        self.0.remove_if_sync(&key, |&value| {
            old = Some(value);
            true
        });
        old
    }
}

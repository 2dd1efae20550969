//! `scc`: its concurrent B+-Tree, read without locks.

use crate::driven::Driven;
use crate::peer::{Ask, Peer, SharedPeer};
use latchless::base::index::ConcurrentIndex;
use latchless::base::key::Bits;
use latchless::{Direction, Fits, Key, Result};
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

    fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        self.insert_shared(key, value)
    }

    fn remove(&mut self, key: B) -> Option<B> {
        self.remove_shared(key)
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = Guard::new();
        let mut range = self.0.range(ask.low..=ask.high, &pin);
        let _ = match ask.direction {
            Direction::Forward => range.all(|(&key, &value)| each(key, value)),
            Direction::Reverse => range.rev().all(|(&key, &value)| each(key, value)),
        };
        Ok(())
    }

    fn as_concurrent<K, V>(driven: &Driven<Self>) -> Option<&dyn ConcurrentIndex<K, V>>
    where
        K: Key<Bits = B>,
        V: Fits<B>,
    {
        Some(driven)
    }
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

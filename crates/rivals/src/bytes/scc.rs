//! `scc`: its concurrent B+-Tree, read without locks.

use super::peer::{Peer, Reach, Session, Way, upwards};
use latchless_core::Result;
use scc::{Guard, TreeIndex};

/// `scc::TreeIndex`.
#[derive(Default)]
pub struct Tree(TreeIndex<Box<[u8]>, u64>);

impl Reach for Tree {
    fn session(&mut self) -> impl Session {
        Requests { tree: &self.0, pin: Guard::new() }
    }
}

impl Peer for Tree {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests { tree: &self.0, pin: Guard::new() })
    }
}

struct Requests<'a> {
    tree: &'a TreeIndex<Box<[u8]>, u64>,
    pin: Guard,
}

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.tree.peek(key, &self.pin).copied()
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        // A new key takes one walk. One that is there takes a second for its old value and a third
        // to replace it, because the map's own upsert doesn't give the old value back.
        let Err((key, value)) = self.tree.insert_sync(Box::from(key), value) else { return Ok(None) };
        let old = self.tree.peek(&*key, &self.pin).copied();
        self.tree.upsert_sync(key, value);
        Ok(old)
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        let mut old = None;
        self.tree.remove_if_sync(key, |&value| {
            old = Some(value);
            true
        });
        old
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let mut range = self.tree.range::<[u8], _>(upwards(from), &self.pin);
        let _ = range.all(|(key, &value)| each(key, value));
        Ok(())
    }
}

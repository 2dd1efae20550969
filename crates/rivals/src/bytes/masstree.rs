//! `masstree`: a concurrent trie of B+-Trees.
//!
//! Version 0.9.5 returns wrong answers for keys that are longer than 8 bytes or differ by trailing zeros,
//! so a race may exclude it. After inserts of some twenty keys with the same first eight bytes a present
//! key may not be found. Scans from such a key leave out entries or show earlier ones, with each of its
//! calls.

use super::peer::{Peer, Reach, Session, Way};
use latchless_core::{Error, Result};
use masstree::{MassTree, RangeBound};
use seize::LocalGuard;

/// The longest key that it takes; a longer one makes it panic.
const KEY_BYTES_MAX: usize = 256;

const TOO_LONG: Error = Error::Unsupported { index: "masstree", operation: "keys of more than 256 bytes" };

/// `masstree::MassTree`, values inline.
#[derive(Default)]
pub struct Mass(MassTree<u64>);

impl Reach for Mass {
    fn session(&mut self) -> impl Session {
        Requests { tree: &self.0, pin: self.0.guard() }
    }
}

impl Peer for Mass {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests { tree: &self.0, pin: self.0.guard() })
    }
}

struct Requests<'a> {
    tree: &'a MassTree<u64>,
    pin: LocalGuard<'a>,
}

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        if key.len() > KEY_BYTES_MAX { None } else { self.tree.get_with_guard(key, &self.pin) }
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        if key.len() > KEY_BYTES_MAX {
            return Err(TOO_LONG);
        }
        Ok(self.tree.insert_with_guard(key, value, &self.pin))
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        if key.len() > KEY_BYTES_MAX {
            return None;
        }
        self.tree.remove_with_guard(key, &self.pin).ok().flatten()
    }

    fn scan(&self, from: &[u8], each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        if from.len() > KEY_BYTES_MAX {
            return Err(TOO_LONG);
        }
        let from = if from.is_empty() { RangeBound::Unbounded } else { RangeBound::Included(from) };
        self.tree.scan_intra_leaf_batch(from, RangeBound::Unbounded, each, &self.pin);
        Ok(())
    }
}

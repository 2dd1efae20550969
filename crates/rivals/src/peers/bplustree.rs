//! `bplustree`: a concurrent B+-Tree with optimistic lock coupling.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared};
use bplustree::BPlusTree;
use crossbeam_epoch::Guard;
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Error, Result};

/// `bplustree::BPlusTree` with its preset node sizes.
pub struct OptimisticBPlusTree<B: Bits>(BPlusTree<B, B>);

impl<B: Bits> Default for OptimisticBPlusTree<B> {
    fn default() -> Self {
        Self(BPlusTree::new())
    }
}

impl<B: Bits> Peer<B> for OptimisticBPlusTree<B> {
    const NAME: &'static str = "bplustree";
    /// The map pins the default collector itself; an outer pin makes that cheap.
    type Pin<'a> = Guard;

    fn pin(&self) -> Guard {
        crossbeam_epoch::pin()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: B, _: &Guard) -> Option<B> {
        self.get_alone(key)
    }

    fn get_alone(&self, key: B) -> Option<B> {
        self.0.lookup(&key, |&value| value)
    }

    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        // Its documentation recommends this for sorted data.
        let mut cursor = self.0.raw_iter_mut();
        for (key, value) in entries {
            cursor.insert(key, value);
        }
        Ok(())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        // Its cursor loses entries when it walks backwards from where another walk has ended
        // (0.1.0), so it isn't asked to.
        if ask.direction == Direction::Reverse {
            return Err(Error::Unsupported { index: Self::NAME, operation: "reverse scans" });
        }
        let mut cursor = self.0.raw_iter();
        cursor.seek(&ask.low);
        while let Some((&key, &value)) = cursor.next() {
            if key > ask.high || !each(key, value) {
                break;
            }
        }
        Ok(())
    }

    updates_are_shared!();
}

impl<B: Bits> SharedPeer<B> for OptimisticBPlusTree<B> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.0.insert(key, value))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.0.remove(&key)
    }
}

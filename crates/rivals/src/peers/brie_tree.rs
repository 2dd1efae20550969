//! `brie-tree`: a single-threaded B+-Tree with SIMD search inside its nodes.
//!
//! It reserves the largest integer, so that key can't be inserted; it has no length and scans forwards
//! only. Its SIMD search is the one that the build's target features allow.

use crate::peer::{Ask, Peer};
use brie_tree::{BTree, BTreeKey};
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Error, Result};
use nonmax::{NonMaxU32, NonMaxU64};

/// An integer type without its largest value, as the map's keys are.
pub trait Narrow: BTreeKey + Copy + Send + Sync + 'static {
    /// The key for a lane, unless it is the largest one.
    fn new(lane: u64) -> Option<Self>;
    /// The lane.
    fn lane(self) -> u64;
}

impl Narrow for NonMaxU32 {
    fn new(lane: u64) -> Option<Self> {
        Self::new(u32::truncate(lane))
    }

    fn lane(self) -> u64 {
        u64::from(self.get())
    }
}

impl Narrow for NonMaxU64 {
    fn new(lane: u64) -> Option<Self> {
        Self::new(lane)
    }

    fn lane(self) -> u64 {
        self.get()
    }
}

/// `brie_tree::BTree` over keys `N`, and the length that it doesn't count.
pub struct Brie<B, N: Narrow> {
    map: BTree<N, B>,
    len: usize,
}

impl<B, N: Narrow> Default for Brie<B, N> {
    fn default() -> Self {
        Self { map: BTree::new(), len: 0 }
    }
}

impl<B: Bits, N: Narrow> Peer<B> for Brie<B, N> {
    const NAME: &'static str = "brie-tree";
    type Pin<'a> = ();

    fn pin(&self) -> Self::Pin<'_> {}

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, key: B, (): &()) -> Option<B> {
        self.map.get(N::new(key.to_u64())?).copied()
    }

    fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        let Some(key) = N::new(key.to_u64()) else {
            return Err(Error::Unsupported {
                index: <Self as Peer<B>>::NAME,
                operation: "the largest key there is",
            });
        };
        let old = self.map.insert(key, value);
        self.len += usize::from(old.is_none());
        Ok(old)
    }

    fn remove(&mut self, key: B) -> Option<B> {
        let old = self.map.remove(N::new(key.to_u64())?);
        self.len -= usize::from(old.is_some());
        old
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        if ask.direction == Direction::Reverse {
            return Err(Error::Unsupported { index: <Self as Peer<B>>::NAME, operation: "reverse scans" });
        }
        let Some(low) = N::new(ask.low.to_u64()) else { return Ok(()) };
        let lane = |key: N| B::truncate(key.lane());
        let _ = match N::new(ask.high.to_u64()) {
            Some(high) => self.map.range(low..=high).all(|(key, &value)| each(lane(key), value)),
            None => self.map.range(low..).all(|(key, &value)| each(lane(key), value)),
        };
        Ok(())
    }
}

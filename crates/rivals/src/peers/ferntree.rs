//! `ferntree`: a concurrent B+-Tree with optimistic lock coupling.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared};
use core::ops::Bound;
use crossbeam_epoch::Guard;
use ferntree::{OptimisticRead, Tree};
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Result};

/// `ferntree::Tree` over lanes `L`, with its preset node sizes.
pub struct Fern<L: Bits + OptimisticRead>(Tree<L, L>);

impl<L: Bits + OptimisticRead> Default for Fern<L> {
    fn default() -> Self {
        Self(Tree::new())
    }
}

fn to<A: Bits, B: Bits>(lane: A) -> B {
    B::truncate(lane.to_u64())
}

impl<B: Bits, L: Bits + OptimisticRead> Peer<B> for Fern<L> {
    const NAME: &'static str = "ferntree";
    /// The map pins the default collector itself; an outer pin makes that cheap.
    type Pin<'a> = Guard;

    fn pin(&self) -> Guard {
        crossbeam_epoch::pin()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, key: B, _: &Guard) -> Option<B> {
        self.get_alone(key)
    }

    fn get_alone(&self, key: B) -> Option<B> {
        self.0.get_optimistic(&to::<B, L>(key)).map(to)
    }

    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        let mut cursor = self.0.raw_iter_mut();
        for (key, value) in entries {
            cursor.insert(to(key), to(value));
        }
        Ok(())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let (low, high) = (to::<B, L>(ask.low), to::<B, L>(ask.high));
        let high = if ask.is_open() { Bound::Unbounded } else { Bound::Included(&high) };
        match ask.direction {
            Direction::Forward => {
                let mut range = self.0.range(Bound::Included(&low), high);
                while let Some((&key, &value)) = range.next() {
                    if !each(to(key), to(value)) {
                        break;
                    }
                }
            }
            Direction::Reverse => {
                let mut range = self.0.range_rev(Bound::Included(&low), high);
                while let Some((&key, &value)) = range.next() {
                    // Backwards, its first entry may be below an empty range (0.7.0).
                    if key < low || !each(to(key), to(value)) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    updates_are_shared!();
}

impl<B: Bits, L: Bits + OptimisticRead> SharedPeer<B> for Fern<L> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.0.insert(to(key), to(value)).map(to))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.0.remove(&to::<B, L>(key)).map(to)
    }
}

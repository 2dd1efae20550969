//! `congee`: a concurrent adaptive radix tree over 8-byte keys. Narrower keys are widened.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared};
use congee::Congee;
use crossbeam_epoch::Guard;
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Error, Result};

/// `congee::Congee`.
#[derive(Default)]
pub struct RadixTree(Congee<usize, usize>);

/// Entries requested at once if the caller gives no limit.
const CHUNK_ENTRIES: usize = 1024;

fn word<B: Bits>(lane: B) -> usize {
    lane.to_u64() as usize
}

fn lane<B: Bits>(word: usize) -> B {
    B::truncate(word as u64)
}

impl<B: Bits> Peer<B> for RadixTree {
    const NAME: &'static str = "congee";
    type Pin<'a> = Guard;

    fn pin(&self) -> Guard {
        self.0.pin()
    }

    /// The map doesn't count its keys: this walks all of them.
    fn len(&self) -> usize {
        self.0.keys().len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty(&self.0.pin())
    }

    fn get(&self, key: B, pin: &Guard) -> Option<B> {
        self.0.get(&word(key), pin).map(lane)
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        if ask.direction == Direction::Reverse {
            return Err(Error::Unsupported { index: <Self as Peer<B>>::NAME, operation: "reverse scans" });
        }
        let pin = self.0.pin();
        let (mut low, high) = (word(ask.low), word(ask.high));
        // Its upper end is exclusive, so the largest word of all needs a lookup of its own.
        let end = high.saturating_add(1);
        let mut chunk = vec![(0, 0); ask.limit.min(CHUNK_ENTRIES)];
        loop {
            let found = self.0.range(&low, &end, &mut chunk, &pin);
            if !chunk[..found].iter().all(|&(key, value)| each(lane(key), lane(value))) {
                return Ok(());
            }
            if found < chunk.len() {
                break;
            }
            low = chunk[found - 1].0 + 1;
        }
        if let (usize::MAX, Some(value)) = (high, self.0.get(&usize::MAX, &pin)) {
            each(lane(usize::MAX), lane(value));
        }
        Ok(())
    }

    updates_are_shared!();
}

impl<B: Bits> SharedPeer<B> for RadixTree {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        let old = self.0.insert(word(key), word(value), &self.0.pin());
        Ok(old.map_err(|_| Error::OutOfMemory { requested_bytes: B::BYTES })?.map(lane))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.0.remove(&word(key), &self.0.pin()).map(lane)
    }
}

//! `artmap`: a concurrent adaptive radix tree over byte strings. Keys go in big-endian, which
//! keeps their order.

use crate::driven::Driven;
use crate::peer::{Ask, Peer, SharedPeer};
use artmap::{ArtMap, Guard};
use latchless::base::index::ConcurrentIndex;
use latchless::base::key::Bits;
use latchless::{Direction, Fits, Key, Result};

/// `artmap::ArtMap`. `N` is the lane's width in bytes.
pub struct Art<B, const N: usize>(ArtMap<[u8; N], B>);

impl<B, const N: usize> Default for Art<B, N> {
    fn default() -> Self {
        Self(ArtMap::new())
    }
}

fn bytes<B: Bits, const N: usize>(key: B) -> [u8; N] {
    let wide = key.to_u64().to_be_bytes();
    core::array::from_fn(|at| wide[8 - N + at])
}

fn lane<B: Bits, const N: usize>(bytes: &[u8; N]) -> B {
    let mut wide = [0; 8];
    wide[8 - N..].copy_from_slice(bytes);
    B::truncate(u64::from_be_bytes(wide))
}

impl<B: Bits, const N: usize> Peer<B> for Art<B, N> {
    const NAME: &'static str = "artmap";
    type Pin<'a> = Guard<'a>;

    fn pin(&self) -> Guard<'_> {
        self.0.pin()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: B, pin: &Guard<'_>) -> Option<B> {
        self.0.get_with_guard(&bytes::<B, N>(key), pin).map(|entry| *entry.value())
    }

    fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        self.insert_shared(key, value)
    }

    fn remove(&mut self, key: B) -> Option<B> {
        self.remove_shared(key)
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = self.0.pin();
        let range = bytes::<B, N>(ask.low)..=bytes::<B, N>(ask.high);
        let mut range = self.0.range_with_guard::<_, [u8; N]>(range, &pin);
        let _ = match ask.direction {
            Direction::Forward => range.all(|entry| each(lane(entry.key()), *entry.value())),
            Direction::Reverse => range.rev().all(|entry| each(lane(entry.key()), *entry.value())),
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

impl<B: Bits, const N: usize> SharedPeer<B> for Art<B, N> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.0.insert(bytes(key), value).map(|old| *old.value()))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.0.remove(&bytes::<B, N>(key)).map(|old| *old.value())
    }
}

//! `artmap`: a concurrent adaptive radix tree over byte strings. Keys are stored in big-endian order, which
//! keeps their order.

use super::big_endian::{bytes, lane};
use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared, walk};
use artmap::{ArtMap, Guard};
use latchless_core::Result;
use latchless_core::base::key::Bits;

/// `artmap::ArtMap`. `N` is the lane's width in bytes.
pub struct Art<B, const N: usize>(ArtMap<[u8; N], B>);

impl<B, const N: usize> Default for Art<B, N> {
    fn default() -> Self {
        Self(ArtMap::new())
    }
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

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = self.0.pin();
        let range = bytes::<B, N>(ask.low)..=bytes::<B, N>(ask.high);
        let range = self.0.range_with_guard::<_, [u8; N]>(range, &pin);
        walk(range, ask.direction, |entry| each(lane(entry.key()), *entry.value()))
    }

    updates_are_shared!();
}

impl<B: Bits, const N: usize> SharedPeer<B> for Art<B, N> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.0.insert(bytes(key), value).map(|old| *old.value()))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        self.0.remove(&bytes::<B, N>(key)).map(|old| *old.value())
    }
}

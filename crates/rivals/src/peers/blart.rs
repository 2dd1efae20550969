//! `blart`: a single-threaded adaptive radix tree over byte strings.

use super::big_endian::{bytes, lane};
use crate::peer::{Ask, Peer, walk};
use blart::TreeMap;
use latchless_core::Result;
use latchless_core::base::key::Bits;

/// `blart::TreeMap`. `N` is the lane's width in bytes.
pub struct Radix<B, const N: usize>(TreeMap<[u8; N], B>);

impl<B, const N: usize> Default for Radix<B, N> {
    fn default() -> Self {
        Self(TreeMap::new())
    }
}

impl<B: Bits, const N: usize> Peer<B> for Radix<B, N> {
    const NAME: &'static str = "blart";
    type Pin<'a> = ();

    fn pin(&self) -> Self::Pin<'_> {}

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: B, (): &()) -> Option<B> {
        self.0.get(&bytes::<B, N>(key)).copied()
    }

    fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        Ok(self.0.insert(bytes(key), value))
    }

    fn remove(&mut self, key: B) -> Option<B> {
        self.0.remove(&bytes::<B, N>(key))
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let range = self.0.range(bytes::<B, N>(ask.low)..=bytes::<B, N>(ask.high));
        walk(range, ask.direction, |(key, &value)| each(lane(key), value))
    }
}

//! `masstree`: a concurrent trie of B+-Trees over byte strings. Keys are stored in big-endian order, which
//! keeps their order.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared};
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Result};
use masstree::{MassTree, RangeBound};

/// `masstree::MassTree`, values inline.
#[derive(Default)]
pub struct Mass(MassTree<u64>);

/// A key in big-endian bytes, as wide as its lane.
struct Bytes([u8; 8], usize);

impl Bytes {
    fn new<B: Bits>(key: B) -> Self {
        Self(key.to_u64().to_be_bytes(), 8 - B::BYTES)
    }

    fn as_slice(&self) -> &[u8] {
        &self.0[self.1..]
    }
}

fn lane<B: Bits>(bytes: &[u8]) -> B {
    B::truncate(bytes.iter().fold(0, |lane, &byte| lane << 8 | u64::from(byte)))
}

/// The range's ends in the map's form.
fn ends<'a, B: Bits>(ask: &Ask<B>, low: &'a Bytes, high: &'a Bytes) -> (RangeBound<'a>, RangeBound<'a>) {
    let end = if ask.is_open() { RangeBound::Unbounded } else { RangeBound::Included(high.as_slice()) };
    (RangeBound::Included(low.as_slice()), end)
}

impl<B: Bits> Peer<B> for Mass {
    const NAME: &'static str = "masstree";
    type Pin<'a> = seize::LocalGuard<'a>;

    fn pin(&self) -> Self::Pin<'_> {
        self.0.guard()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: B, pin: &Self::Pin<'_>) -> Option<B> {
        self.0.get_with_guard(Bytes::new(key).as_slice(), pin).map(B::truncate)
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = self.0.guard();
        let (low, high) = (Bytes::new(ask.low), Bytes::new(ask.high));
        let (start, end) = ends(&ask, &low, &high);
        let show = |key: &[u8], value| each(lane(key), B::truncate(value));
        match ask.direction {
            Direction::Forward => self.0.scan_intra_leaf_batch(start, end, show, &pin),
            Direction::Reverse => self.0.scan_rev_batch(start, end, show, &pin),
        };
        Ok(())
    }

    fn visit_values(&self, ask: Ask<B>, mut each: impl FnMut(B) -> bool) -> Result<()> {
        if ask.direction == Direction::Reverse {
            return self.visit(ask, |_, value| each(value));
        }
        let pin = self.0.guard();
        let (low, high) = (Bytes::new(ask.low), Bytes::new(ask.high));
        let (start, end) = ends(&ask, &low, &high);
        // Ends are compared by eight bytes of the key, and ours have no more.
        self.0.scan_values(start, end, |value| each(B::truncate(value)), &pin);
        Ok(())
    }

    updates_are_shared!();
}

impl<B: Bits> SharedPeer<B> for Mass {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        let pin = self.0.guard();
        Ok(self.0.insert_with_guard(Bytes::new(key).as_slice(), value.to_u64(), &pin).map(B::truncate))
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        let pin = self.0.guard();
        self.0.remove_with_guard(Bytes::new(key).as_slice(), &pin).ok().flatten().map(B::truncate)
    }
}

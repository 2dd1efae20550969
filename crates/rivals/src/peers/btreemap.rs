//! `std::collections::BTreeMap`.

use crate::peer::{Ask, Peer, methods_are_std, walk};
use latchless_core::Result;
use latchless_core::base::key::Bits;
use std::collections::BTreeMap;

/// The standard library's map.
#[derive(Debug, Default)]
pub struct BTree<B>(BTreeMap<B, B>);

impl<B> BTree<B> {
    /// The map itself.
    pub fn map(&self) -> &BTreeMap<B, B> {
        &self.0
    }
}

impl<B: Bits> Peer<B> for BTree<B> {
    const NAME: &'static str = "btreemap";

    methods_are_std!();

    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        self.0 = BTreeMap::from_iter(entries);
        Ok(())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        // An open end spares the search for the upper bound.
        let range = if ask.is_open() { self.0.range(ask.low..) } else { self.0.range(ask.low..=ask.high) };
        walk(range, ask.direction, |(&key, &value)| each(key, value))
    }
}

//! Batches of lookups, and of ranges, whose cache misses overlap.

use super::parts::{Parts, Spot};
use super::range::{Ends, Way};
use super::skip_list::{In, SkipList};
use crate::cssl::list::List;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::NoTrace;

/// The number of keys per group.
const GROUP: usize = 16;

impl<B: Bits> SkipList<B> {
    /// Looks up `len` keys, and passes the values with the keys' numbers to `answer`, in their order.
    #[inline(always)]
    pub(super) fn get_many(
        &self,
        inside: &In<'_, B>,
        len: usize,
        key_at: impl Fn(usize) -> B,
        mut answer: impl FnMut(usize, Option<B>),
    ) {
        let (parts, list) = (inside.published(), self.list());
        let mut start = 0;
        while start + GROUP <= len {
            let mut keys = [B::MIN; GROUP];
            for (i, key) in keys.iter_mut().enumerate() {
                *key = key_at(start + i);
            }
            let spots = self.located_and_asked(parts, list, keys);
            for (i, spot) in spots.into_iter().enumerate() {
                answer(start + i, self.get_at::<NoTrace>(parts, spot, keys[i]));
            }
            start += GROUP;
        }
        for at in start..len {
            answer(at, self.get::<NoTrace>(inside, key_at(at)));
        }
    }

    /// Finds the spots of a group of keys and prefetches their nodes.
    #[inline(always)]
    fn located_and_asked(&self, parts: &Parts<B>, list: List<'_, B>, keys: [B; GROUP]) -> [Spot; GROUP] {
        let spots = self.locate_nodes::<NoTrace, GROUP>(parts, keys);
        for &spot in &spots {
            if let Some(node) = parts.node(spot) {
                list.ask::<NoTrace>(node);
            }
        }
        spots
    }

    /// Finds the ends of `len` ranges, and passes them with the ranges' numbers to `answer`, in their
    /// order; `None` for an empty range.
    #[inline(always)]
    pub(super) fn ends_many(
        &self,
        inside: &In<'_, B>,
        len: usize,
        range_at: impl Fn(usize) -> Option<(B, B)>,
        mut answer: impl FnMut(usize, Option<Ends>),
    ) {
        const RANGES: usize = GROUP / 2;
        let parts = inside.published();
        let mut start = 0;
        while start + RANGES <= len {
            let mut keys = [B::MIN; GROUP];
            for i in 0..RANGES {
                if let Some((low, high)) = range_at(start + i) {
                    (keys[2 * i], keys[2 * i + 1]) = (low, high);
                }
            }
            let spots = self.locate(parts, keys);
            for i in 0..RANGES {
                let ends = match range_at(start + i) {
                    Some((low, high)) => self.ends_at(parts, low, high, [spots[2 * i], spots[2 * i + 1]]),
                    None => None,
                };
                answer(start + i, ends);
            }
            start += RANGES;
        }
        for at in start..len {
            let ends = match range_at(at) {
                Some((low, high)) => self.ends::<NoTrace>(inside, low, high, Way::Descend),
                None => None,
            };
            answer(at, ends);
        }
    }
}

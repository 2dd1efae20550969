//! An index layer step by step, for batches that lead many keys down together: one comparison per step.

use super::Routed;
use super::descend::probe_of;
use crate::common::operation::Search;
use crate::common::walk::{Aim, Rounds, Step, Walk, WalksOf};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;

/// The walks of a layer, with a kernel that is known. They come out at interceptions: data nodes
/// (Definition 4).
#[derive(Debug)]
pub struct RoutedWalk<'a, B: Bits, S, T, const M: usize> {
    layer: &'a Routed<B, M>,
    kernel: PhantomData<(S, T)>,
}

/// An entry on a search's way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Levels between this one and the data nodes, this one counted; 0: `entry` is a data node.
    level: u32,
    entry: u32,
}

impl<B: Bits, const M: usize> Routed<B, M> {
    /// Walks down this layer.
    #[inline(always)]
    pub fn walk<S: Search, T: Trace>(&self) -> RoutedWalk<'_, B, S, T, M> {
        RoutedWalk { layer: self, kernel: PhantomData }
    }
}

impl<B: Bits, S: Search, T: Trace, const M: usize> Walk for RoutedWalk<'_, B, S, T, M> {
    type Key = B;
    type Place = Place;
    type Anchor = u32;

    #[inline(always)]
    fn enter(&self, _: B, _: Aim) -> Place {
        match self.layer.levels.len() {
            0 => Place { level: 0, entry: self.layer.head },
            levels => Place { level: levels as u32, entry: 0 },
        }
    }

    /// Compares the key with one entry: one vector instruction, one read of the routing table.
    #[inline(always)]
    fn step(&self, place: &mut Place, key: B) -> Step<u32> {
        if place.level == 0 {
            return Step::Landed(Some(place.entry));
        }
        match self.layer.to_search().pass::<S, T>(place.entry as usize, probe_of(key)) {
            None => place.entry += 1,
            Some(route) if place.level == 1 => return Step::Landed(Some(route)),
            Some(route) => *place = Place { level: place.level - 1, entry: route },
        }
        self.layer.to_search().ask::<T>(place.entry as usize);
        Step::On
    }

    #[inline(always)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}

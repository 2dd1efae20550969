//! Lanes step by step, for batches that lead many keys down together: one lane per step.

use super::Lanes;
use crate::common::operation::Search;
use crate::common::walk::{Aim, Rounds, Step, Walk, WalksOf};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::NoTrace;

/// The walks of lanes, with a kernel that is known. They come out at positions: the last one whose key is
/// at most the walk's, or nothing if all keys are larger.
#[derive(Debug)]
pub struct LanesWalk<'a, B: Bits, S> {
    lanes: &'a Lanes<B>,
    kernel: PhantomData<S>,
}

/// The position of a walk: an element of a lane.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    at: u32,
    /// The lane's number, from 0; nothing above the highest one.
    lane: Option<u8>,
}

impl<B: Bits> Lanes<B> {
    /// Walks down these lanes.
    #[inline(always)]
    pub fn walk<S: Search>(&self) -> LanesWalk<'_, B, S> {
        LanesWalk { lanes: self, kernel: PhantomData }
    }
}

impl<B: Bits, S: Search> Walk for LanesWalk<'_, B, S> {
    type Key = B;
    type Place = Place;
    type Anchor = Option<usize>;

    #[inline(always)]
    fn enter(&self, _: B, _: Aim) -> Place {
        Place { at: 0, lane: None }
    }

    #[inline(always)]
    fn step(&self, place: &mut Place, key: B) -> Step<Option<usize>> {
        let Self { lanes, .. } = *self;
        match place.lane {
            None => {
                let count = lanes.in_top_lane::<S, NoTrace>(key);
                if count == 0 {
                    return Step::Landed(Some(None));
                }
                *place = Place { at: count as u32 - 1, lane: Some(lanes.depth as u8 - 1) };
            }
            Some(0) => return Step::Landed(Some(Some(lanes.in_proxy::<S, NoTrace>(place.at as usize, key)))),
            Some(lane) => {
                let below = lanes.levels[usize::from(lane) - 1];
                let at = lanes.down::<S, NoTrace>(below, place.at as usize, key);
                *place = Place { at: at as u32, lane: Some(lane - 1) };
            }
        }
        lanes.ask_below::<NoTrace>(usize::from(place.lane.unwrap_or(0)), place.at as usize);
        Step::On
    }

    #[inline(always)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}

//! A layer in parts step by step: through the top, to the part, down the part.

use super::Parted;
use crate::common::operation::Search;
use crate::common::walk::{Aim, Step, Walk};
use crate::pi::routed::Place;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::Scalar;

/// The position of a walk.
#[derive(Debug, Clone, Copy)]
pub(in crate::pi) enum PartedPlace {
    /// In the top.
    Top(Place),
    /// At a part's place in the table of parts.
    Slot(u32),
    /// At a part's description of its entries.
    Part(u32),
    /// In a part.
    Within(u32, Place),
}

impl<B: Bits, const M: usize> Parted<B, M> {
    /// Returns the start of a walk, which is the same for every kernel.
    #[inline(always)]
    pub(in crate::pi) fn begin<T: Trace>(&self, key: B, aim: Aim) -> PartedPlace {
        PartedPlace::Top(self.top.walk::<Scalar, T>().enter(key, aim))
    }

    /// Takes one step, and prefetches the memory of the next one. Lands at a word that represents an
    /// anchor.
    #[inline(always)]
    pub(in crate::pi) fn step<S: Search, T: Trace>(&self, place: &mut PartedPlace, key: B) -> Step<u32> {
        match place {
            PartedPlace::Top(at) => {
                if let Step::Landed(Some(nth)) = self.top.walk::<S, T>().step(at, key) {
                    self.ask_for_slot::<T>(nth);
                    *place = PartedPlace::Slot(nth);
                }
            }
            &mut PartedPlace::Slot(nth) => {
                self.slot::<T>(nth).ask_for_part::<T>();
                *place = PartedPlace::Part(nth);
            }
            &mut PartedPlace::Part(nth) => {
                let slot = &self.slots[nth as usize];
                let at = slot.enter::<T>();
                slot.part.routed.to_search().ask::<T>(at as usize);
                *place = PartedPlace::Within(nth, slot.part.routed.walk::<S, T>().enter(key, Aim::Look));
            }
            PartedPlace::Within(nth, at) => {
                let slot = &self.slots[*nth as usize];
                if let Step::Landed(word) = slot.part.routed.walk::<S, T>().step(at, key) {
                    return Step::Landed(word.map(|word| slot.anchor(word)));
                }
            }
        }
        Step::On
    }
}

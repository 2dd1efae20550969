//! Descents through a layer in parts: a group of searches together through the top, then together level by
//! level, each in its own part.

use super::{Parted, Slot};
use crate::common::operation::Search;
use crate::pi::ask::ask;
use crate::pi::routed::{Entries, Groups, descend_in_groups};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::Dispatch;

impl<B: Bits, const M: usize> Parted<B, M> {
    /// The interceptions of many keys: as [`Routed::anchors`](crate::pi::routed::Routed::anchors).
    ///
    /// # Panics
    /// When there isn't a place for each interception.
    pub(in crate::pi) fn anchors<T: Trace>(
        &self,
        dispatch: Dispatch,
        keys: &[B],
        anchors: &mut [u32],
        group: usize,
        prefetch: bool,
    ) {
        descend_in_groups::<T, _>(self, dispatch, keys, anchors, (group, prefetch));
    }

    /// The part of this number.
    #[inline(always)]
    pub(super) fn slot<T: Trace>(&self, nth: u32) -> &Slot<B, M> {
        let slot = &self.slots[nth as usize];
        T::read(core::ptr::from_ref(slot).cast(), size_of::<Slot<B, M>>());
        slot
    }

    /// Prefetches a part's place in the table of parts.
    #[inline(always)]
    pub(super) fn ask_for_slot<T: Trace>(&self, nth: u32) {
        ask::<T, _>(self.slots.as_ptr().wrapping_add(nth as usize));
    }
}

impl<B: Bits, const M: usize> Slot<B, M> {
    /// Prefetches a part's description of its entries. Reads the table of parts.
    #[inline(always)]
    pub(super) fn ask_for_part<T: Trace>(&self) {
        ask::<T, _>(core::ptr::from_ref(&self.part.routed));
    }

    /// Returns the start of searches in the part.
    #[inline(always)]
    pub(super) fn enter<T: Trace>(&self) -> u32 {
        T::read(core::ptr::from_ref(&self.part.routed).cast(), size_of_val(&self.part.routed));
        self.part.routed.enter()
    }
}

impl<B: Bits, const M: usize> Groups for Parted<B, M> {
    type Key = B;

    #[inline(always)]
    fn descend_all<S: Search, T: Trace, const PREFETCH: bool>(
        &self,
        keys: &[B],
        anchors: &mut [u32],
        group: usize,
    ) {
        if group <= 1 {
            return keys.iter().zip(anchors).for_each(|(&key, anchor)| *anchor = self.one::<S, T>(key));
        }
        let mut ways = Vec::with_capacity(group.min(keys.len()));
        for (keys, anchors) in keys.chunks(group).zip(anchors.chunks_mut(group)) {
            self.together::<S, T, PREFETCH>(keys, anchors, &mut ways);
        }
    }
}

impl<B: Bits, const M: usize> Parted<B, M> {
    /// Searches one key.
    #[inline(always)]
    fn one<S: Search, T: Trace>(&self, key: B) -> u32 {
        let mut at = [0];
        self.top.descend::<S, T, false>(&[key], &mut at);
        let slot = self.slot::<T>(at[0]);
        let mut at = slot.enter::<T>();
        for _ in 0..slot.part.routed.levels() {
            at = slot.part.routed.to_search().lower::<S, T>(at, key);
        }
        slot.anchor(at)
    }

    /// Searches a group of keys. `ways` is room for the description of each one's part.
    #[inline(always)]
    fn together<'a, S: Search, T: Trace, const PREFETCH: bool>(
        &'a self,
        keys: &[B],
        anchors: &mut [u32],
        ways: &mut Vec<Way<'a, B, M>>,
    ) {
        // On the way `anchors` holds each search's part, and then its next entry.
        self.top.descend::<S, T, PREFETCH>(keys, anchors);
        if PREFETCH {
            anchors.iter().for_each(|&nth| self.ask_for_slot::<T>(nth));
            anchors.iter().for_each(|&nth| self.slots[nth as usize].ask_for_part::<T>());
        }
        ways.clear();
        let mut deepest = 0;
        for at in &mut *anchors {
            let slot = self.slot::<T>(*at);
            *at = slot.enter::<T>();
            let (entries, levels) = (slot.part.routed.to_search(), slot.part.routed.levels());
            ways.push(Way { entries, levels, slot });
            deepest = deepest.max(levels);
            if PREFETCH {
                entries.ask::<T>(0);
            }
        }
        for above in (0..deepest).rev() {
            for ((at, &key), way) in anchors.iter_mut().zip(keys).zip(&*ways) {
                // Parts needn't be equally high.
                if above < way.levels {
                    *at = way.entries.lower::<S, T>(*at, key);
                    if PREFETCH && above > 0 {
                        way.entries.ask::<T>(*at as usize);
                    }
                }
            }
        }
        anchors.iter_mut().zip(&*ways).for_each(|(at, way)| *at = way.slot.anchor(*at));
    }
}

/// The description of a part that a search keeps at hand.
struct Way<'a, B: Bits, const M: usize> {
    entries: Entries<'a, B, M>,
    levels: usize,
    slot: &'a Slot<B, M>,
}

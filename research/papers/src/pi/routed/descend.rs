//! Descents through an index layer (Algorithm 2): a group of searches level by level (§4.3.4).

use super::{Entry, Routed};
use crate::common::operation::{Operation, Run, Search};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::touch::{NoTrace, Trace, Work};
use latchless_core::search::{Dispatch, Scalar};

/// A layer's entries, to be searched.
#[derive(Debug)]
pub(in crate::pi) struct Entries<'a, B, const M: usize>(&'a [Entry<B, M>]);

impl<B, const M: usize> Clone for Entries<'_, B, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, const M: usize> Copy for Entries<'_, B, M> {}

impl<B: Bits, const M: usize> Entries<'_, B, M> {
    /// Compares `probe` with an entry; `None`: all of its keys are below it.
    #[inline(always)]
    pub(super) fn pass<S: Search, T: Trace>(self, entry: usize, probe: B) -> Option<u32> {
        let entry = &self.0[entry];
        T::work(Work::Visit);
        T::read(entry.keys.as_ptr().cast(), size_of_val(&entry.keys));
        T::work(Work::Probe);
        // One vector comparison was reported to the tracing hook, whatever the kernel does.
        let below = S::below::<B, NoTrace>(&entry.keys, probe);
        match entry.routes.get(below) {
            Some(route) => {
                T::read(core::ptr::from_ref(route).cast(), size_of::<u32>());
                Some(*route)
            }
            None => None,
        }
    }

    /// Prefetches an entry.
    #[inline(always)]
    pub(in crate::pi) fn ask<T: Trace>(self, entry: usize) {
        let at = self.0.as_ptr().wrapping_add(entry).cast::<u8>();
        let bytes = const { M * (B::BYTES + size_of::<u32>()) };
        T::prefetch(at, bytes);
        if T::LISTENING {
            return;
        }
        prefetch_read(at);
        if !LINE_BYTES.is_multiple_of(bytes) {
            prefetch_read(at.wrapping_add(bytes - 1));
        }
        if bytes > 2 * LINE_BYTES {
            prefetch_read(at.wrapping_add(LINE_BYTES));
        }
    }

    /// Descends from an entry of a level: along it up to the key, then to the level below.
    #[inline(always)]
    pub(in crate::pi) fn lower<S: Search, T: Trace>(self, entry: u32, key: B) -> u32 {
        let (probe, mut entry) = (probe_of(key), entry as usize);
        loop {
            match self.pass::<S, T>(entry, probe) {
                Some(route) => return route,
                None => entry += 1,
            }
        }
    }
}

/// Returns the number that entries are compared with: keys up to the key are those below the next one. The
/// largest key has no next and is in no entry.
#[inline(always)]
pub(super) fn probe_of<B: Bits>(key: B) -> B {
    match next(key) {
        Some(next) => next,
        None => key,
    }
}

impl<B: Bits, const M: usize> Routed<B, M> {
    /// The entries of all levels.
    #[inline(always)]
    pub(in crate::pi) fn to_search(&self) -> Entries<'_, B, M> {
        Entries(&self.entries)
    }

    /// Finds the interception of each key, by groups of at most `group` searches that descend together,
    /// level by level. With `prefetch`, each prefetches its next entry before it yields to the others. O(n
    /// · levels).
    ///
    /// # Panics
    /// When there isn't a place for each interception.
    pub fn anchors<T: Trace>(
        &self,
        dispatch: Dispatch,
        keys: &[B],
        anchors: &mut [u32],
        group: usize,
        prefetch: bool,
    ) {
        descend_in_groups::<T, _>(self, dispatch, keys, anchors, (group, prefetch));
    }

    /// Returns the start of a descent: the first entry, or the data node if there are no entries.
    #[inline(always)]
    pub(in crate::pi) fn enter(&self) -> u32 {
        if self.levels.is_empty() { self.head } else { 0 }
    }

    /// The interception of the largest key below `probe`, without vectors: for checks.
    pub(super) fn anchor_below(&self, probe: B) -> u32 {
        let entries = self.to_search();
        let (mut at, mut landed) = (0, self.head);
        for _ in &self.levels {
            landed = loop {
                match entries.pass::<Scalar, NoTrace>(at, probe) {
                    Some(route) => break route,
                    None => at += 1,
                }
            };
            at = landed as usize;
        }
        landed
    }
}

/// A layer that leads keys down in groups.
pub(in crate::pi) trait Groups {
    /// Its keys.
    type Key: Bits;

    /// Leads keys down, at most `group` of them together, and returns the ends.
    fn descend_all<S: Search, T: Trace, const PREFETCH: bool>(
        &self,
        keys: &[Self::Key],
        anchors: &mut [u32],
        group: usize,
    );
}

/// The interception of each key: see [`Routed::anchors`].
///
/// # Panics
/// When there isn't a place for each interception.
pub(in crate::pi) fn descend_in_groups<T: Trace, L: Groups>(
    layer: &L,
    dispatch: Dispatch,
    keys: &[L::Key],
    anchors: &mut [u32],
    (group, prefetch): (usize, bool),
) {
    assert_eq!(keys.len(), anchors.len(), "a place for each interception");
    match prefetch {
        true => dispatch.run(Descend::<_, T, true> { layer, keys, anchors, group, touch: [] }),
        false => dispatch.run(Descend::<_, T, false> { layer, keys, anchors, group, touch: [] }),
    }
}

/// [`descend_in_groups`] as one operation, compiled for each kernel.
struct Descend<'a, L: Groups, T, const PREFETCH: bool> {
    layer: &'a L,
    keys: &'a [L::Key],
    anchors: &'a mut [u32],
    group: usize,
    touch: [T; 0],
}

impl<L: Groups, T: Trace, const PREFETCH: bool> Operation for Descend<'_, L, T, PREFETCH> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { layer, keys, anchors, group, touch: [] } = self;
        layer.descend_all::<S, T, PREFETCH>(keys, anchors, group);
    }
}

impl<B: Bits, const M: usize> Groups for Routed<B, M> {
    type Key = B;

    #[inline(always)]
    fn descend_all<S: Search, T: Trace, const PREFETCH: bool>(
        &self,
        keys: &[B],
        anchors: &mut [u32],
        group: usize,
    ) {
        let group = group.max(1);
        for (keys, anchors) in keys.chunks(group).zip(anchors.chunks_mut(group)) {
            self.descend::<S, T, PREFETCH>(keys, anchors);
        }
    }
}

impl<B: Bits, const M: usize> Routed<B, M> {
    /// Leads keys down, level by level.
    #[inline(always)]
    pub(in crate::pi) fn descend<S: Search, T: Trace, const PREFETCH: bool>(
        &self,
        keys: &[B],
        anchors: &mut [u32],
    ) {
        // On the way `anchors` holds each search's next entry.
        let (entries, levels) = (self.to_search(), self.levels.len());
        anchors.fill(self.enter());
        for above in (0..levels).rev() {
            for (at, &key) in anchors.iter_mut().zip(keys) {
                *at = entries.lower::<S, T>(*at, key);
                if PREFETCH && above > 0 {
                    entries.ask::<T>(*at as usize);
                }
            }
        }
    }
}

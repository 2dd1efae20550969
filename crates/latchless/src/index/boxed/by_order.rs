//! Positions in the order of keys, and what a [`Boxed`] can do by that order as the engine of an
//! [`Index`](crate::Index).

use super::engine::Clones;
use super::{Boxed, Handles, KeyForm, Pins, TOGETHER};
use crate::index::Index;
use crate::index::engine::Engine;
use crate::index::order::{Neighbours, Ranked, Scanned, Side, nearer, span};
use crate::index::prefix::{Prefixed, WordPrefix};
use crate::slot_map::{Pinned, SlotId};
use crate::tree::Own;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Returns the entry that `find` finds, with its value. A handle names one value only, so that is the
    /// entry of the moment in which `find` took effect; if the value was retired since, it starts again.
    pub(super) fn found<'p>(
        &'p self,
        pin: &'p Pinned,
        find: impl Fn(&I) -> Option<(I::Key, SlotId)>,
    ) -> Option<(I::Key, &'p T)> {
        loop {
            let (key, handle) = find(&self.index)?;
            if let Some(value) = self.slots.read(handle, pin) {
                return Some((key, value));
            }
        }
    }
}

impl<K, I, V: IndexValue> Ranked<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    fn nth(&self, position: usize) -> Option<(K, V)> {
        self.found(&self.pin(), |index| index.entry_at(position)).map(|(key, value)| (key, value.clone()))
    }

    fn split_points(&self, parts: usize) -> Vec<K> {
        self.index.part_starts(parts)
    }

    fn count_many<'q, R: RangeBounds<K::Probe<'q>>>(&self, ranges: &[R], counts: &mut [usize]) {
        let each = counts.iter_mut().zip(ranges);
        each.for_each(|(count, range)| *count = Engine::count(self, span(range)));
    }
}

impl<K, I, V: IndexValue> Neighbours<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    fn near_many(&self, side: Side, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) {
        let pin = self.pin();
        let mut found: [Option<(K, SlotId)>; TOGETHER] = [const { None }; TOGETHER];
        for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            let found = &mut found[..keys.len()];
            self.index.near_many(side, keys, found);
            found.iter().flatten().for_each(|&(_, handle)| self.slots.prefetch(handle));
            for ((answer, found), &key) in answers.iter_mut().zip(found).zip(keys) {
                *answer = found.take().and_then(|(own, handle)| match self.slots.read(handle, &pin) {
                    Some(value) => Some((own, value.clone())),
                    // Retired meanwhile.
                    None => Engine::near(self, side.of(key), side.direction),
                });
            }
        }
    }

    fn nearest_by<D: Ord>(
        &self,
        key: K::Probe<'_>,
        own: Own,
        distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
    ) -> Option<(K, V)> {
        let find = |index: &I| {
            let beside = I::with_key(&key, |key| index.beside(own.of(key)));
            nearer(key, beside, &distance)
        };
        self.found(&self.pin(), find).map(|(key, value)| (key, value.clone()))
    }
}

impl<K, I, V: IndexValue> Scanned<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    type KeyRef<'k> = I::KeyRef<'k>;

    #[inline]
    fn own_key(key: I::KeyRef<'_>) -> K {
        I::own(key)
    }

    fn near_with<R>(
        &self,
        from: Bound<K::Probe<'_>>,
        direction: Direction,
        see: impl FnOnce(I::KeyRef<'_>, V::Lent<'_>) -> R,
    ) -> Option<R> {
        let near = |from: Bound<I::KeyRef<'_>>| {
            Self::near(self, from, direction, &self.pin(), |key, value| see(key, value.lend()))
        };
        match from {
            Included(key) => I::with_key(&key, |key| near(Included(key))),
            Excluded(key) => I::with_key(&key, |key| near(Excluded(key))),
            Unbounded => near(Unbounded),
        }
    }

    fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        see: impl FnMut(I::KeyRef<'_>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        I::with_span(&range, |span| self.index.scan_span(span, direction, self.showing(see)))
    }
}

impl<I: Handles, V: IndexValue> Boxed<I, V> {
    /// Calls `scan` with a function that calls `see` with the values of handles.
    #[inline]
    pub(crate) fn show<R>(
        &self,
        see: impl FnMut(I::KeyRef<'_>, V::Lent<'_>) -> ControlFlow<()>,
        scan: impl FnOnce(&I, &mut dyn FnMut(I::KeyRef<'_>, SlotId) -> ControlFlow<()>) -> R,
    ) -> R {
        scan(&self.index, &mut self.showing(see))
    }

    fn showing(
        &self,
        mut see: impl FnMut(I::KeyRef<'_>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> impl FnMut(I::KeyRef<'_>, SlotId) -> ControlFlow<()> {
        let mut pins = Pins::default();
        move |key, handle| match self.value_of(handle, key, pins.next()) {
            Some(value) => see(key, value.lend()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl<K: WordPrefix, V: IndexValue> Prefixed<K, V> for Boxed<Index<K, SlotId>, V> {
    fn between(&self, low: Bound<K::Prefix<'_>>, high: Bound<K::Prefix<'_>>) -> Self::Entries<'_> {
        Clones::of(self, |index| index.engine.between(low, high))
    }

    fn scan_beginning(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.show(see, |index, show| index.engine.scan_beginning(prefix, direction, show))
    }
}

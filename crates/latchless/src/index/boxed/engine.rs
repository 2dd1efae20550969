//! A [`Boxed`] as the engine of an [`Index`](crate::Index): it returns clones of the values, each read under
//! a pin for this one read.

use super::{Boxed, Handles, IntoEntries, KeyForm, TOGETHER};
use crate::blink::Tries;
use crate::index::ahead::Ahead;
use crate::index::bulk::Bulk;
use crate::index::changes::{Action, Changes};
use crate::index::engine::{Choice, Engine};
use crate::index::slot::ByReference;
use crate::index::traits::sort_and_dedup;
use crate::index::{Incomplete, Index, Options, Storage, TryInsertError};
use crate::slot_map::{Pinned, SlotId};
use core::cmp::Ordering;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::index_key::{InWord, IndexKey};
use latchless_core::base::index_value::{InBox, IndexValue};
use latchless_core::base::key::{Bits, Key};

impl<B: Bits, K: Key<Bits = B>, V: IndexValue> Choice<K, V, InBox> for InWord<B> {
    type Engine = Boxed<Index<K, SlotId>, V>;
}

impl<K, I, V: IndexValue> Engine<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    type Entries<'i>
        = Clones<'i, I, V>
    where
        Self: 'i;

    fn collect(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let mut entries: Vec<(K, V)> = entries.into_iter().collect();
        sort_and_dedup(&mut entries, <I as KeyForm<K>>::compare);
        let mut index = Self::create(Options::default())?;
        index.fill(entries, FillFactor::default())?;
        Ok(index)
    }

    fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()> {
        let mut entries = entries.into_iter();
        loop {
            let batch: Vec<(K, V)> = entries.by_ref().take(TOGETHER).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let replaced = &mut [None; TOGETHER][..batch.len()];
            let inserted = self.insert_each(batch.into_iter(), replaced, &self.pin(), |_| ());
            inserted.map_err(|Incomplete { error, .. }| error)?;
        }
    }

    fn order(one: &K, other: &K) -> Ordering {
        <I as KeyForm<K>>::compare(one, other)
    }

    fn get(&self, key: K::Probe<'_>) -> Option<V> {
        I::with_key(&key, |key| self.find(key, &self.pin()).cloned())
    }

    fn see<R>(&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R> {
        I::with_key(&key, |key| self.find(key, &self.pin()).map(|value| see(value.lend())))
    }

    fn contains(&self, key: K::Probe<'_>) -> bool {
        I::with_key(&key, |key| self.index.find(key)).is_some()
    }

    fn insert(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>> {
        let (pin, own) = (self.pin(), self.put(V::given(value))?);
        let put = I::with_key(&key, |key| self.index.put(key, own));
        Ok(self.replaced(put, own, &pin)?.cloned())
    }

    fn remove(&self, key: K::Probe<'_>) -> Option<V> {
        let handle = I::with_key(&key, |key| self.index.take_out(key))?;
        self.retire(handle, &self.pin()).cloned()
    }

    fn tries(&self, key: K::Probe<'_>) -> Tries<'_> {
        I::with_key(&key, |key| self.index.tries(key))
    }

    fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.read_each(keys, answers, &self.pin(), V::clone)
    }

    fn get_each(&self, keys: &[K::Probe<'_>], mut see: impl FnMut(usize, Option<V::Lent<'_>>)) {
        let pin = self.pin();
        for (start, keys) in (0..).step_by(TOGETHER).zip(keys.chunks(TOGETHER)) {
            let mut answers = [None; TOGETHER];
            let answers = &mut answers[..keys.len()];
            let lengths = self.read_each(keys, answers, &pin, |value| value);
            debug_assert_eq!(lengths, Ok(()));
            answers.iter().enumerate().for_each(|(at, value)| see(start + at, value.map(V::lend)));
        }
    }

    fn near(&self, from: Bound<K::Probe<'_>>, direction: Direction) -> Option<(K, V)> {
        let near =
            |from: Bound<I::KeyRef<'_>>| Self::near(self, from, direction, &self.pin(), cloned::<I, V>);
        match from {
            Bound::Included(key) => I::with_key(&key, |key| near(Bound::Included(key))),
            Bound::Excluded(key) => I::with_key(&key, |key| near(Bound::Excluded(key))),
            Bound::Unbounded => near(Bound::Unbounded),
        }
    }

    fn pop(&self, direction: Direction) -> Option<(K, V)> {
        Self::pop(self, direction, &self.pin()).map(|(key, value)| (key, value.clone()))
    }

    fn all(&self) -> Clones<'_, I, V> {
        Clones::of(self, |index| index.entries((Bound::Unbounded, Bound::Unbounded)))
    }

    fn page(
        entries: &mut Clones<'_, I, V>,
        direction: Direction,
        most: usize,
        each: impl FnMut(K, V),
    ) -> bool {
        entries.handles.steps(direction, most, |value| Some(value.clone()), each)
    }

    fn steps<R>(
        entries: &mut Clones<'_, I, V>,
        direction: Direction,
        most: usize,
        show: impl Fn(V::Lent<'_>) -> Option<R>,
        each: impl FnMut(K, R),
    ) -> bool {
        entries.handles.steps(direction, most, |value| show(value.lend()), each)
    }

    fn entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Clones<'_, I, V> {
        Clones::of(self, |index| I::with_span(&range, |span| index.entries(span)))
    }

    fn try_entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Clones<'_, I, V>> {
        let entries = I::with_span(&range, |span| self.index.try_entries(span))?;
        Ok(Clones::of(self, |_| entries))
    }

    fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        I::with_span(&range, |span| self.index.count_span(span))
    }

    fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        I::with_span(&range, |span| self.index.remove_span(span, self.retiring()))
    }

    fn clear(&self) {
        let all = self.index.remove_span((Bound::Unbounded, Bound::Unbounded), self.retiring());
        debug_assert!(all.is_ok(), "the range of all keys is none that is inverted");
        self.slots.flush();
    }
}

#[diagnostic::do_not_recommend]
impl<K, I, V: IndexValue> ByReference<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + for<'q> KeyForm<K::Probe<'q>>,
{
    #[inline]
    fn get_ref<'p>(&'p self, key: K::Probe<'_>, pin: &'p Pinned) -> Option<V::Lent<'p>> {
        I::with_key(&key, |key| self.find(key, pin)).map(V::lend)
    }
}

impl<K, I, V: IndexValue> Changes<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    fn try_insert(&self, key: K::Probe<'_>, value: V) -> Result<(), TryInsertError<V>> {
        let pin = self.pin();
        let present = I::with_key(&key, |key| match self.find(key, &pin) {
            None => self.add(key, self.put(value.clone())?, &pin),
            present => Ok(present),
        });
        match present {
            Ok(None) => Ok(()),
            Ok(Some(present)) => Err(TryInsertError::Present { present: present.clone(), value }),
            Err(error) => Err(TryInsertError::Refused { error, value }),
        }
    }

    fn replace(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>> {
        let pin = self.pin();
        Ok(I::with_key(&key, |key| self.put_instead(key, V::given(value), &pin))?.cloned())
    }

    fn exchange<'v>(
        &self,
        key: K::Probe<'_>,
        expected: V::Lent<'v>,
        value: Option<V::Given<'v>>,
        is: fn(&V, V::Lent<'_>) -> bool,
    ) -> Result<Result<V, Option<V>>> {
        let (pin, value, mut met) = (self.pin(), value.map(V::given), false);
        let ask = |present: Option<&V>| {
            met = present.is_some_and(|present| is(present, expected));
            match &value {
                _ if !met => Action::Keep,
                Some(value) => Action::Set(value.clone()),
                None => Action::Remove,
            }
        };
        let before = I::with_key(&key, |key| self.compare_and_update(key, &pin, ask))?.cloned();
        Ok(if met { before.ok_or(None) } else { Err(before) })
    }

    fn change(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<V::Lent<'_>>) -> Action<V>,
    ) -> Result<Option<V>> {
        let (pin, ask) = (self.pin(), |value: Option<&V>| change(value.map(V::lend)));
        Ok(I::with_key(&key, |key| self.compare_and_update(key, &pin, ask))?.cloned())
    }

    fn get_or_insert_with(&self, key: K::Probe<'_>, value: impl FnOnce() -> V) -> Result<V> {
        let pin = self.pin();
        I::with_key(&key, |key| self.find_or_add(key, value, &pin)).cloned()
    }

    fn retain(&self, mut keep: impl FnMut(K, V::Lent<'_>) -> bool) -> usize {
        self.keep_only(|key, value| keep(I::own(key), value.lend()))
    }
}

impl<K, I, V: IndexValue> Bulk<K, V> for Boxed<I, V>
where
    K: IndexKey,
    I: Handles<Key = K> + KeyForm<K> + for<'q> KeyForm<K::Probe<'q>>,
{
    type IntoEntries = IntoEntries<I, V>;

    fn insert_many(
        &self,
        entries: &[(K::Probe<'_>, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        self.insert_each(entries.iter().cloned(), replaced, &self.pin(), V::clone)
    }

    fn remove_many(&self, keys: &[K::Probe<'_>], removed: &mut [Option<V>]) -> Result<()> {
        self.remove_each(keys, removed, &self.pin(), V::clone)
    }

    fn load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.fill(entries.iter().map(|(key, value)| (key.probe(), value.clone())), fill)
    }

    fn into_entries(self) -> IntoEntries<I, V> {
        self.into_owned()
    }
}

/// Returns an entry with its key in owned form and a clone of its value.
fn cloned<I: Handles, V: Clone>(key: I::KeyRef<'_>, value: &V) -> (I::Key, V) {
    (I::own(key), value.clone())
}

/// The handles of a range, from both ends, and where their values are.
struct Handled<'i, I: Handles + 'i, V: IndexValue> {
    entries: I::Entries<'i>,
    boxed: &'i Boxed<I, V>,
}

impl<I: Handles, V: IndexValue> Handled<'_, I, V> {
    /// Implements [`Engine::steps`]. One pin serves all entries: to pin is to wait for the loads before, and
    /// the misses of several values can overlap.
    #[inline]
    fn steps<R>(
        &mut self,
        direction: Direction,
        most: usize,
        show: impl Fn(&V) -> Option<R>,
        mut each: impl FnMut(I::Key, R),
    ) -> bool {
        let (boxed, pin) = (self.boxed, Pinned::new());
        (0..most).all(|_| {
            let step = I::step(&mut self.entries, direction, |key, handle| {
                let shown = boxed.value_of(handle, key, &pin).and_then(&show);
                if let Some(shown) = shown {
                    each(I::own(key), shown);
                }
            });
            step.is_some()
        })
    }
}

impl<I: Handles, V: IndexValue> Clone for Handled<'_, I, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), boxed: self.boxed }
    }
}

/// The most values that are cloned under one pin.
const CLONED: usize = 32;

/// The entries of a range, with clones of their values, from both ends. Weakly consistent, like the
/// [`Entries`](crate::index::Entries) of words, and as far ahead as these: the first value is cloned alone,
/// later ones up to [`CLONED`] together. Nothing is pinned between two steps.
pub struct Clones<'i, I: Handles + 'i, V: IndexValue> {
    handles: Handled<'i, I, V>,
    ahead: Ahead<I::Key, V>,
}

impl<'i, I: Handles, V: IndexValue> Clones<'i, I, V> {
    pub(crate) fn of(boxed: &'i Boxed<I, V>, entries: impl FnOnce(&'i I) -> I::Entries<'i>) -> Self {
        let handles = Handled { entries: entries(&boxed.index), boxed };
        Self { handles, ahead: Ahead::new(1, 4, CLONED) }
    }

    #[inline]
    fn take(&mut self, direction: Direction) -> Option<(I::Key, V)> {
        let Self { handles, ahead } = self;
        let cloned = |value: &V| Some(value.clone());
        ahead.take(direction, |most, each| handles.steps(direction, most, cloned, each))
    }
}

impl<I: Handles, V: IndexValue> Iterator for Clones<'_, I, V> {
    type Item = (I::Key, V);

    fn next(&mut self) -> Option<Self::Item> {
        self.take(Direction::Forward)
    }
}

impl<I: Handles, V: IndexValue> DoubleEndedIterator for Clones<'_, I, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.take(Direction::Reverse)
    }
}

impl<I: Handles, V: IndexValue> FusedIterator for Clones<'_, I, V> {}

impl<I: Handles<Key: IndexKey>, V: IndexValue> Clone for Clones<'_, I, V> {
    fn clone(&self) -> Self {
        Self { handles: self.handles.clone(), ahead: self.ahead.clone() }
    }
}

impl<I: Handles, V: IndexValue> fmt::Debug for Clones<'_, I, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handles.entries.fmt(f)
    }
}

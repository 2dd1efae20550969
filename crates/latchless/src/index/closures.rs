//! Changes that the caller computes.
//!
//! A closure never runs under a latch. The entry is read, the closure is asked, and its answer is
//! put in place if the entry still is what the closure was shown (a compare-and-swap of the value's
//! bits). If another thread changed the entry meanwhile, the closure is asked again with what is
//! stored now. So it may run several times; its last answer counts, and that was computed from the
//! value that it replaced. A closure that panics or uses the index itself does no harm: nothing is
//! held while it runs, and nothing has changed. One that changes its own key each time that it is asked
//! would be asked without end; `tree/tries.rs` finds that out.

use super::Index;
use super::access::{
    Access, Encoded, decode_key, decode_value, encode_key, encode_value, expect_infallible, full_range,
};
use super::operations::operations;
use crate::tree::{Edit, Mode};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The outcome of an operation that can't return an error. It adds no key, so no memory can be refused to it.
///
/// # Panics
/// When its closure changes its own key each time.
pub(crate) fn settled<T>(outcome: Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// What becomes of an entry.
pub(super) enum Action<V> {
    Keep,
    Set(V),
    Remove,
}

/// What was stored when an entry was revised, or else what is stored now that it has changed meanwhile.
type Tried<K, V> = Result<Option<V>, Option<Encoded<K, V>>>;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    /// Asks what is to become of an entry until the answer is to what is stored there. Returns what was
    /// stored there.
    ///
    /// # Errors
    /// When memory for a new key is refused, or `ask` itself changes the entry each time.
    pub(super) fn compare_and_update(
        self,
        key: K,
        mut ask: impl FnMut(Option<V>) -> Action<V>,
    ) -> Result<Option<V>> {
        let key = encode_key::<K, V>(key);
        let before = self.tree.get::<M>(key);
        match self.try_to_revise(key, before, &mut ask)? {
            Ok(seen) => Ok(seen),
            Err(now) => self.revise_again(key, now, ask),
        }
    }

    /// Asks once what is to become of an entry that was `before`. Says what it is if it changed meanwhile.
    #[inline(always)]
    fn try_to_revise(
        self,
        key: Encoded<K, V>,
        before: Option<Encoded<K, V>>,
        ask: &mut impl FnMut(Option<V>) -> Action<V>,
    ) -> Result<Tried<K, V>> {
        let seen = before.map(decode_value::<K, V>);
        let edit = match (ask(seen), before) {
            (Action::Keep, _) | (Action::Remove, None) => return Ok(Ok(seen)),
            (Action::Set(value), None) => Edit::Add(encode_value::<K, V>(value)),
            (Action::Set(value), Some(expected)) => {
                Edit::Swap { expected, value: encode_value::<K, V>(value) }
            }
            (Action::Remove, Some(expected)) => Edit::RemoveIf(expected),
        };
        let edited = self.tree.edit::<M>(key, edit)?;
        Ok(if edited.applied { Ok(seen) } else { Err(edited.before) })
    }

    /// As [`Access::compare_and_update`], after the first try has failed: `now` is what was found then.
    #[cold]
    #[inline(never)]
    fn revise_again(
        self,
        key: Encoded<K, V>,
        mut now: Option<Encoded<K, V>>,
        mut ask: impl FnMut(Option<V>) -> Action<V>,
    ) -> Result<Option<V>> {
        let mut tries = self.tree.tries(key);
        loop {
            tries.failed()?;
            now = match self.try_to_revise(key, now, &mut ask)? {
                Ok(seen) => return Ok(seen),
                Err(now) => now,
            };
        }
    }

    pub(super) fn update(self, key: K, mut change: impl FnMut(V) -> V) -> Option<V> {
        settled(
            self.compare_and_update(key, |value| {
                value.map_or(Action::Keep, |value| Action::Set(change(value)))
            }),
        )
    }

    pub(super) fn upsert(self, key: K, mut value: impl FnMut(Option<V>) -> V) -> Result<Option<V>> {
        self.compare_and_update(key, |before| Action::Set(value(before)))
    }

    pub(super) fn compute(self, key: K, mut value: impl FnMut(Option<V>) -> Option<V>) -> Result<Option<V>> {
        self.compare_and_update(key, |before| value(before).map_or(Action::Remove, Action::Set))
    }

    pub(super) fn remove_if(self, key: K, mut condition: impl FnMut(V) -> bool) -> Option<V> {
        let mut met = false;
        let before = self.compare_and_update(key, |value| {
            met = value.is_some_and(&mut condition);
            if met { Action::Remove } else { Action::Keep }
        });
        settled(before).filter(|_| met)
    }

    pub(super) fn get_or_insert_with(self, key: K, value: impl FnOnce() -> V) -> Result<V> {
        let key = encode_key::<K, V>(key);
        if let Some(present) = self.tree.get::<M>(key) {
            return Ok(decode_value::<K, V>(present));
        }
        let value = value();
        let edited = self.tree.edit::<M>(key, Edit::Add(encode_value::<K, V>(value)))?;
        Ok(edited.before.map_or(value, decode_value::<K, V>))
    }

    /// Removes the entries of which `keep` says no. Returns how many.
    pub(super) fn retain(self, keep: impl FnMut(K, V) -> bool) -> usize {
        self.retain_each(keep, |_| {})
    }

    /// As [`Access::retain`]; `gone` is shown each value that was removed.
    pub(super) fn retain_each(self, mut keep: impl FnMut(K, V) -> bool, mut gone: impl FnMut(V)) -> usize {
        let mut removed = 0;
        let (low, high) = full_range::<K, V>();
        self.tree.scan::<M>(low, high, Direction::Forward, usize::MAX, |keys, values| {
            for (&encoded, &value) in keys.iter().zip(values) {
                let key = decode_key::<K, V>(encoded);
                let (mut seen, mut tries) = (value, self.tree.tries(encoded));
                while !keep(key, decode_value::<K, V>(seen)) {
                    let edited = expect_infallible(self.tree.edit::<M>(encoded, Edit::RemoveIf(seen)));
                    if edited.applied {
                        removed += 1;
                        gone(decode_value::<K, V>(seen));
                    }
                    match edited.before {
                        // Changed meanwhile: ask again.
                        Some(now) if !edited.applied => {
                            settled(tries.failed());
                            seen = now;
                        }
                        _ => break,
                    }
                }
            }
            true
        });
        removed
    }
}

operations! {
    /// Changes the value of a key that is there and returns the value before. O(log n). Needs no
    /// memory.
    ///
    /// `change` never runs under a latch; it may run several times, and its last result counts (the
    /// race rule of the [module's head](crate::index#races)).
    ///
    /// # Panics
    /// When `change` changes its own key through the index each time that it is asked.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!(index.update(7, |value| value + 1), Some(70));
    /// assert_eq!(index.update(8, |value| value + 1), None);
    /// assert_eq!(index.get(7), Some(71));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn update(&mut self, key: K, change: impl FnMut(V) -> V) -> Option<V> {
        self.access().update(key, change)
    }

    /// Puts under a key what `value` makes of its value, or of its absence. Returns the value
    /// before. O(log n). The [race rule](crate::index#races) holds for `value`.
    ///
    /// # Errors
    /// When memory for a new key is refused; the index is then as before. And
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey), see the race rule.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// for word in [7, 9, 7] {
    ///     index.upsert(word, |count| count.unwrap_or(0) + 1)?;
    /// }
    /// assert_eq!((index.get(7), index.get(9)), (Some(2), Some(1)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn upsert(&mut self, key: K, value: impl FnMut(Option<V>) -> V) -> Result<Option<V>> {
        self.access().upsert(key, value)
    }

    /// Puts under a key what `value` makes of its value or of its absence, or removes it if that
    /// is `None`. Returns the value before. O(log n). The [race rule](crate::index#races) holds for
    /// `value`.
    ///
    /// # Errors
    /// As for [`Index::upsert`].
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 2)?;
    /// let release = |holders: Option<u32>| holders.filter(|&holders| holders > 1).map(|n| n - 1);
    /// assert_eq!((index.compute(7, release)?, index.get(7)), (Some(2), Some(1)));
    /// assert_eq!((index.compute(7, release)?, index.get(7)), (Some(1), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compute(&mut self, key: K, value: impl FnMut(Option<V>) -> Option<V>) -> Result<Option<V>> {
        self.access().compute(key, value)
    }

    /// Removes a key if its value meets a condition, and returns that value. O(log n). The
    /// [race rule](crate::index#races) holds for `condition`.
    ///
    /// # Panics
    /// When `condition` changes its own key through the index each time that it is asked.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!(index.remove_if(7, |value| value > 70), None);
    /// assert_eq!(index.remove_if(7, |value| value == 70), Some(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_if(&mut self, key: K, condition: impl FnMut(V) -> bool) -> Option<V> {
        self.access().remove_if(key, condition)
    }

    /// The value under a key; if the key isn't there, puts `value` there. Returns what is stored
    /// afterwards. O(log n).
    ///
    /// # Errors
    /// When memory for a new key is refused; the index is then as before.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// assert_eq!((index.get_or_insert(7, 70)?, index.get_or_insert(7, 71)?), (70, 70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert(&mut self, key: K, value: V) -> Result<V> {
        self.access().get_or_insert_with(key, || value)
    }

    /// As [`Index::get_or_insert`]; `value` runs only if the key isn't there, at most once and never
    /// under a latch. Its result is dropped if another thread puts the key there meanwhile; that
    /// thread's value is then returned.
    ///
    /// # Errors
    /// When memory for a new key is refused; the index is then as before.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// assert_eq!(index.get_or_insert_with(7, || 70)?, 70);
    /// assert_eq!(index.get_or_insert_with(7, || unreachable!())?, 70);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> Result<V> {
        self.access().get_or_insert_with(key, value)
    }

    /// Removes every entry of which `keep` says no, and says how many those were. O(n). Each entry
    /// is judged by the value that it is removed with; if that changes meanwhile, `keep` is asked
    /// again. Entries that are put in meanwhile may be judged or not. The
    /// [race rule](crate::index#races) holds for `keep`.
    ///
    /// # Panics
    /// When `keep` changes the value of the key that it is asked about each time that it is asked.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// (0..100).try_for_each(|key| index.insert(key, 0).map(drop))?;
    /// assert_eq!(index.retain(|key, _| key % 10 == 0), 90);
    /// assert_eq!(index.len(), 10);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn retain(&mut self, keep: impl FnMut(K, V) -> bool) -> usize {
        self.access().retain(keep)
    }
}

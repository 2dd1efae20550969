//! Updates by closures.
//!
//! A closure never runs under a latch. The entry is read, the closure is called, and its result is stored if
//! the entry still is what the closure was shown (a compare-and-swap of the value's bits). If another thread
//! has changed the entry meanwhile, the closure is called again with the current value. So it may run
//! several times; its last result counts, and that was computed from the value that it replaced. A closure
//! that panics or uses the index itself is harmless: nothing is latched while it runs, and nothing has
//! changed. A closure that changes its own key in every call would be called for ever; `blink/tries.rs`
//! detects that.

#[cfg(doc)]
use super::Index;
use super::access::{
    Access, Encoded, decode_key, decode_value, encode_key, encode_value, expect_infallible, full_range,
};
use super::changes::Action;
use super::exclusive::Exclusive;
use super::operations::exclusive;
use crate::tree::{Edit, Mode};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// Unwraps the outcome of an operation that can't return an error. It adds no key, so no memory can be
/// refused to it.
///
/// # Panics
/// If its closure changes its own key each time.
pub(crate) fn settled<T>(outcome: Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// The value of an entry that was revised, or else the current value after a concurrent change.
type Tried<K, V> = Result<Option<V>, Option<Encoded<K, V>>>;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    /// Calls `ask` until its result applies to the current entry. Returns the value before.
    ///
    /// # Errors
    /// Memory for a new key was refused, or `ask` itself changes the entry each time.
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

    /// Calls `ask` once for an entry whose value was `before`. Returns the current value if it has changed
    /// meanwhile.
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

    /// Continues after the first try has failed, with the current value `now`. See
    /// [`Access::compare_and_update`].
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

    /// Removes the entries for which `keep` returns `false`. Returns their number.
    pub(super) fn retain(self, mut keep: impl FnMut(K, V) -> bool) -> usize {
        let mut removed = 0;
        let (low, high) = full_range::<K, V>();
        self.tree.scan::<M>(low, high, Direction::Forward, usize::MAX, |keys, values| {
            for (&encoded, &value) in keys.iter().zip(values) {
                let key = decode_key::<K, V>(encoded);
                let (mut seen, mut tries) = (value, self.tree.tries(encoded));
                while !keep(key, decode_value::<K, V>(seen)) {
                    let edited = expect_infallible(self.tree.edit::<M>(encoded, Edit::RemoveIf(seen)));
                    removed += usize::from(edited.applied);
                    match edited.before {
                        // Changed meanwhile: call again.
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

exclusive! {
    /// See [`Index::update`].
    pub fn update(&mut self, key: K, change: impl FnMut(V) -> V) -> Option<V> {
        self.access().update(key, change)
    }

    /// See [`Index::upsert`].
    pub fn upsert(&mut self, key: K, value: impl FnMut(Option<V>) -> V) -> Result<Option<V>> {
        self.access().upsert(key, value)
    }

    /// See [`Index::compute`].
    pub fn compute(&mut self, key: K, value: impl FnMut(Option<V>) -> Option<V>) -> Result<Option<V>> {
        self.access().compute(key, value)
    }

    /// See [`Index::remove_if`].
    pub fn remove_if(&mut self, key: K, condition: impl FnMut(V) -> bool) -> Option<V> {
        self.access().remove_if(key, condition)
    }

    /// See [`Index::get_or_insert`].
    pub fn get_or_insert(&mut self, key: K, value: V) -> Result<V> {
        self.access().get_or_insert_with(key, || value)
    }

    /// See [`Index::get_or_insert_with`].
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> Result<V> {
        self.access().get_or_insert_with(key, value)
    }

    /// See [`Index::retain`].
    pub fn retain(&mut self, keep: impl FnMut(K, V) -> bool) -> usize {
        self.access().retain(keep)
    }
}

//! Operations with closures: they read the entry, call the closure, and store its answer if the entry is
//! unchanged; otherwise they repeat.

use super::stored::{lend, own};
use super::{ByteStrings, Lent};
use crate::index::changes::Action;
use crate::index::settled;
use crate::tree::Edit;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::Result;

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// Calls `ask` until its result applies to the present entry, whose value was `before`. Returns the value
    /// before.
    ///
    /// # Errors
    /// Those of an insert, or `ask` itself changes the entry in each call.
    pub(super) fn revise(
        &self,
        key: &[u8],
        mut before: Option<V>,
        mut ask: impl FnMut(Option<Lent<'_, V>>) -> Action<V>,
    ) -> Result<Option<V>> {
        let mut tries = None;
        loop {
            let after = match ask(before.as_ref().map(lend)) {
                Action::Keep => return Ok(before),
                Action::Set(value) => Some(value),
                Action::Remove => None,
            };
            let edit = match (before.as_ref().map(lend), after.as_ref().map(lend)) {
                (None, None) => return Ok(None),
                (None, Some(value)) => Edit::Add(value),
                (Some(expected), Some(value)) => Edit::Swap { expected, value },
                (Some(expected), None) => Edit::RemoveIf(expected),
            };
            let edited = self.edit_bytes(key, edit)?;
            if edited.applied {
                return Ok(before);
            }
            tries.get_or_insert_with(|| self.tree.tries(key)).failed()?;
            before = edited.before;
        }
    }

    /// Removes a key whose value is now `present`, unless `keep` holds for it. Returns whether it was
    /// removed.
    #[cold]
    pub(super) fn remove_unless(
        &self,
        key: &[u8],
        present: Option<V>,
        keep: &mut impl FnMut(K, Lent<'_, V>) -> bool,
    ) -> bool {
        let mut goes = false;
        settled(self.revise(key, present, |value| {
            goes = value.is_some_and(|value| !keep(K::from_bytes(key), value));
            if goes { Action::Remove } else { Action::Keep }
        }));
        goes
    }

    /// Replaces a key's value by the result of a closure on the present one, if any; `None` removes the
    /// key. Returns the previous value. O(log n) per call of the closure. It may run several times when
    /// other threads change the key; its last answer counts, and was computed from exactly the value that
    /// it replaced. The [race rule](crate::index#races) holds for it.
    ///
    /// # Errors
    /// Those of [`ByteStrings::insert`]; and
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey), see the race rule.
    pub fn compute<Q>(
        &self,
        key: &Q,
        mut value: impl FnMut(Option<Lent<'_, V>>) -> Option<V>,
    ) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| {
            let before = self.look_up(key, |lent| own::<V>(lent));
            self.revise(key, before, |before| value(before).map_or(Action::Remove, Action::Set))
        })
    }

    /// Inserts or updates a key with the result of a closure on its present value, if any. Returns the
    /// previous value. The contract is that of [`ByteStrings::compute`].
    ///
    /// # Errors
    /// Those of [`ByteStrings::compute`].
    pub fn upsert<Q>(&self, key: &Q, mut value: impl FnMut(Option<Lent<'_, V>>) -> V) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.compute(key, |before| Some(value(before)))
    }

    /// Updates a present key with the result of a closure on its value; does nothing if the key is absent.
    /// Returns the previous value. The contract is that of [`ByteStrings::compute`].
    ///
    /// # Errors
    /// Those of [`ByteStrings::compute`].
    pub fn update<Q>(&self, key: &Q, mut change: impl FnMut(Lent<'_, V>) -> V) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.compute(key, |before| before.map(&mut change))
    }

    /// Returns the value under a key; if there is none, inserts the closure's.
    ///
    /// # Errors
    /// Those of [`ByteStrings::insert`].
    pub fn get_or_insert_with<Q>(&self, key: &Q, value: impl FnOnce() -> V) -> Result<V>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| {
            if let Some(present) = self.look_up(key, |lent| own::<V>(lent)) {
                return Ok(present);
            }
            let value = value();
            let edited = self.edit_bytes(key, Edit::Add(lend(&value)))?;
            Ok(edited.before.unwrap_or(value))
        })
    }
}

//! Updates by closures. As in [`Index`](crate::Index), a closure never runs while anything is latched, and
//! its result is stored only if the entry is still the one that the closure was shown: the one with that
//! handle.

use super::{Boxed, HandleIndex, KeyArg};
use crate::index::changes::Action;
use crate::index::settled;
use crate::slot_map::Pinned;
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Calls `ask` until its result applies to the current entry. Returns the value before.
    pub(super) fn compare_and_update<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        pin: &'p Pinned,
        mut ask: impl FnMut(Option<&'p T>) -> Action<T>,
    ) -> Result<Option<&'p T>> {
        let (mut current, mut tries) = (self.index.find(key), None);
        loop {
            let seen = current.and_then(|handle| self.slots.read(handle, pin));
            if current.is_some() && seen.is_none() {
                // Retired meanwhile: the key has another handle now, or none.
                current = self.index.find(key);
                continue;
            }
            let (edit, own) = match (ask(seen), current) {
                (Action::Keep, _) | (Action::Remove, None) => return Ok(seen),
                (Action::Remove, Some(handle)) => (Edit::RemoveIf(handle), None),
                (Action::Set(value), None) => {
                    let own = self.put(value)?;
                    (Edit::Add(own), Some(own))
                }
                (Action::Set(value), Some(expected)) => {
                    let own = self.put(value)?;
                    (Edit::Swap { expected, value: own }, Some(own))
                }
            };
            let edited = self.index.edit_handle(key, edit);
            if let Ok(Edited { applied: true, before }) = edited {
                return Ok(before.and_then(|handle| self.retire(handle, pin)));
            }
            if let Some(own) = own {
                self.discard(own, pin);
            }
            current = edited?.before;
            tries.get_or_insert_with(|| self.index.tries(key)).failed()?;
        }
    }

    /// Updates the value of a key that is present: `change` gets the value and returns the one that replaces
    /// it. Returns the old value, which is retired. O(log n). The [race rule](crate::index#races) applies to
    /// `change`.
    ///
    /// # Errors
    /// Memory was refused; the index is then unchanged.
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey): see the race rule.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.update(7, |name| name.to_uppercase(), &pin)?.unwrap(), "seven");
    /// assert_eq!(names.get(7, &pin).unwrap(), "SEVEN");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn update<'p, A>(
        &'p self,
        key: A,
        mut change: impl FnMut(&'p T) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        let ask = |value: Option<&'p T>| value.map_or(Action::Keep, |value| Action::Set(change(value)));
        I::with_arg(key, |key| self.compare_and_update(key, pin, ask))
    }

    /// Inserts or updates the key with `value(old)`. Returns the old value, which is retired. O(log n). The
    /// [race rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`Boxed::update`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// for part in ["se", "ven"] {
    ///     names.upsert(7, |name| name.map_or(part.to_owned(), |name| name.clone() + part), &pin)?;
    /// }
    /// assert_eq!(names.get(7, &pin).unwrap(), "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn upsert<'p, A>(
        &'p self,
        key: A,
        mut value: impl FnMut(Option<&'p T>) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.compare_and_update(key, pin, |before| Action::Set(value(before))))
    }

    /// Inserts or updates the key with `value(old)`, or removes it if that is `None`. Returns the old value,
    /// which is retired. O(log n). The [race rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`Boxed::update`].
    ///
    /// ```
    /// # let lists = latchless::BoxedIndex::<u32, Vec<u8>>::new()?;
    /// # let pin = lists.pin();
    /// lists.insert(7, vec![1, 2], &pin)?;
    /// let long = |list: &&Vec<u8>| list.len() > 1;
    /// let shorter = |list: Option<&Vec<u8>>| list.filter(long).map(|list| list[1..].to_vec());
    /// assert_eq!(lists.compute(7, shorter, &pin)?.unwrap(), &[1, 2]);
    /// assert_eq!(lists.get(7, &pin).unwrap(), &[2]);
    /// assert_eq!(lists.compute(7, shorter, &pin)?.unwrap(), &[2]);
    /// assert_eq!(lists.get(7, &pin), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compute<'p, A>(
        &'p self,
        key: A,
        mut value: impl FnMut(Option<&'p T>) -> Option<T>,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        let ask = |before: Option<&'p T>| value(before).map_or(Action::Remove, Action::Set);
        I::with_arg(key, |key| self.compare_and_update(key, pin, ask))
    }

    /// Removes a key if its value satisfies a condition, and returns that value, which is retired. The
    /// removed entry is the very one that `condition` was called with: one that has replaced it meanwhile is
    /// tested again. O(log n). The [race rule](crate::index#races) applies to `condition`.
    ///
    /// # Panics
    /// If `condition` changes its own key through the index in every call.
    ///
    /// ```
    /// # let sessions = latchless::BoxedIndex::<u32, (u64, String)>::new()?;
    /// # let pin = sessions.pin();
    /// # let now = 100;
    /// sessions.insert(7, (99, "seven".to_owned()), &pin)?;
    /// let expired = sessions.remove_if(7, |&(expires, _)| expires < now, &pin);
    /// assert_eq!(expired.unwrap().1, "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_if<'p, A>(
        &'p self,
        key: A,
        mut condition: impl FnMut(&'p T) -> bool,
        pin: &'p Pinned,
    ) -> Option<&'p T>
    where
        I: KeyArg<A>,
    {
        let mut met = false;
        let ask = |value: Option<&'p T>| {
            met = value.is_some_and(&mut condition);
            if met { Action::Remove } else { Action::Keep }
        };
        let before = settled(I::with_arg(key, |key| self.compare_and_update(key, pin, ask)));
        before.filter(|_| met)
    }

    /// Returns the value of a key, after inserting `value` if the key isn't present. O(log n). `value` is
    /// dropped if it isn't needed.
    ///
    /// # Errors
    /// Memory was refused; the index is then unchanged.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.get_or_insert(7, "seven".to_owned(), &pin)?, "seven");
    /// assert_eq!(names.get_or_insert(7, "VII".to_owned(), &pin)?, "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert<'p, A>(&'p self, key: A, value: T, pin: &'p Pinned) -> Result<&'p T>
    where
        I: KeyArg<A>,
    {
        self.get_or_insert_with(key, || value, pin)
    }

    /// Returns the value of a key, after inserting `value()` if the key isn't present. O(log n). `value`
    /// runs at most once; its result is dropped if another thread inserts the key meanwhile.
    ///
    /// # Errors
    /// Memory was refused; the index is then unchanged.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.get_or_insert_with(7, || "seven".to_owned(), &pin)?, "seven");
    /// assert_eq!(names.get_or_insert_with(7, || unreachable!(), &pin)?, "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert_with<'p, A>(
        &'p self,
        key: A,
        value: impl FnOnce() -> T,
        pin: &'p Pinned,
    ) -> Result<&'p T>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.find_or_add(key, value, pin))
    }

    /// Implements [`Boxed::get_or_insert_with`].
    pub(super) fn find_or_add<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        value: impl FnOnce() -> T,
        pin: &'p Pinned,
    ) -> Result<&'p T> {
        if let Some(value) = self.find(key, pin) {
            return Ok(value);
        }
        let own = self.put(value())?;
        // Looked up before it is reachable: other threads may remove it at once.
        let Some(own_value) = self.slots.read(own, pin) else {
            unreachable!("no other thread has the handle")
        };
        Ok(self.add(key, own, pin)?.unwrap_or(own_value))
    }
}

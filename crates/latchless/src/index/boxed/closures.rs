//! Updates by closures. As in [`Index`](crate::Index), a closure never runs while anything is latched, and
//! its result is stored only if the entry is still the one that the closure was shown: the one with that
//! handle.

use super::BoxedIndex;
use crate::index::closures::Action;
use crate::slot_map::{Pinned, SlotId};
use latchless_core::base::error::Result;
use latchless_core::base::key::Key;

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Calls `ask` until its result applies to the current entry. Returns the value before.
    pub(super) fn compare_and_update<'p>(
        &'p self,
        key: K,
        pin: &'p Pinned,
        mut ask: impl FnMut(Option<&'p T>) -> Action<T>,
    ) -> Result<Option<&'p T>> {
        // The last result: the value's handle, which is in the index if the result was stored.
        let mut own = None;
        let (mut seen, mut leave, mut refused) = (None, false, None);
        let before = self.index.access().compare_and_update(key, |handle: Option<SlotId>| {
            if let Some(own) = own.take() {
                self.discard(own, pin);
            }
            seen = handle.and_then(|handle| self.slots.read(handle, pin));
            if handle.is_some() && seen.is_none() {
                // Retired meanwhile. Removing it does nothing, and returns the current handle.
                return Action::Remove;
            }
            let action = ask(seen);
            leave = matches!(action, Action::Keep);
            match action {
                Action::Keep => Action::Keep,
                Action::Remove => Action::Remove,
                Action::Set(value) => match self.put(value) {
                    Ok(handle) => {
                        own = Some(handle);
                        Action::Set(handle)
                    }
                    Err(error) => {
                        refused = Some(error);
                        Action::Keep
                    }
                },
            }
        });
        match (before, refused) {
            (Ok(_), None) if leave => Ok(seen),
            (Ok(before), None) => Ok(before.and_then(|handle| self.retire(handle, pin))),
            (Ok(_), Some(refused)) => Err(refused),
            (Err(refused), _) => {
                if let Some(own) = own {
                    self.discard(own, pin);
                }
                Err(refused)
            }
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
    pub fn update<'p>(
        &'p self,
        key: K,
        mut change: impl FnMut(&'p T) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        self.compare_and_update(key, pin, |value| {
            value.map_or(Action::Keep, |value| Action::Set(change(value)))
        })
    }

    /// Inserts or updates the key with `value(old)`. Returns the old value, which is retired. O(log n). The
    /// [race rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`BoxedIndex::update`].
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
    pub fn upsert<'p>(
        &'p self,
        key: K,
        mut value: impl FnMut(Option<&'p T>) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        self.compare_and_update(key, pin, |before| Action::Set(value(before)))
    }

    /// Inserts or updates the key with `value(old)`, or removes it if that is `None`. Returns the old value,
    /// which is retired. O(log n). The [race rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`BoxedIndex::update`].
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
    pub fn compute<'p>(
        &'p self,
        key: K,
        mut value: impl FnMut(Option<&'p T>) -> Option<T>,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        self.compare_and_update(key, pin, |before| value(before).map_or(Action::Remove, Action::Set))
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
    pub fn remove_if<'p>(
        &'p self,
        key: K,
        mut condition: impl FnMut(&'p T) -> bool,
        pin: &'p Pinned,
    ) -> Option<&'p T> {
        // For a value that was retired meanwhile it returns `true`, which yields the current handle.
        let met = |handle| self.slots.read(handle, pin).is_none_or(&mut condition);
        self.index.remove_if(key, met).and_then(|handle| self.retire(handle, pin))
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
    pub fn get_or_insert<'p>(&'p self, key: K, value: T, pin: &'p Pinned) -> Result<&'p T> {
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
    pub fn get_or_insert_with<'p>(
        &'p self,
        key: K,
        value: impl FnOnce() -> T,
        pin: &'p Pinned,
    ) -> Result<&'p T> {
        if let Some(value) = self.get(key, pin) {
            return Ok(value);
        }
        let own = self.put(value())?;
        // Looked up before it is reachable: other threads may remove it at once.
        let Some(own_value) = self.slots.read(own, pin) else {
            unreachable!("no other thread has the handle")
        };
        loop {
            match self.index.get_or_insert(key, own) {
                Ok(present) if present == own => return Ok(own_value),
                Ok(present) => {
                    // If it was retired meanwhile, the key has another value now, or none.
                    if let Some(value) = self.slots.read(present, pin) {
                        self.discard(own, pin);
                        return Ok(value);
                    }
                }
                Err(error) => {
                    self.discard(own, pin);
                    return Err(error);
                }
            }
        }
    }

    /// Removes every entry for which `keep` returns `false`, and returns their number. O(n). `keep` is
    /// called with the value that is removed; if that changes meanwhile, it is called again. Entries that
    /// are inserted meanwhile may be tested or not. The [race rule](crate::index#races) applies to `keep`.
    ///
    /// # Panics
    /// If `keep` changes the value of its key in every call.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.retain(|_, name| name.len() == 4), 1);
    /// assert_eq!(names.keys().collect::<Vec<_>>(), [5, 9]);
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(K, &T) -> bool) -> usize {
        // For a value that was retired meanwhile it returns `false`, which yields the current handle.
        let keep = |key, handle| self.slots.read(handle, &self.pin()).is_some_and(|value| keep(key, value));
        self.index.access().retain_each(keep, self.retiring())
    }
}

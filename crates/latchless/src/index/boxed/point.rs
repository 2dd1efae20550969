//! Operations on one key: lookup, insert, remove, compare and exchange. Each is one atomic step.

use super::BoxedIndex;
use crate::index::TryInsertError;
use crate::index::access::expect_infallible;
use crate::index::closures::Action;
use crate::slot_map::Pinned;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Key;

/// The reason why [`BoxedIndex::compare_exchange`] didn't exchange.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareExchangeError<V> {
    /// The key has another value, or isn't present.
    #[error("the key has another value, or isn't there")]
    Other(Option<V>),
    /// Memory was refused.
    #[error(transparent)]
    Refused(Error),
}

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Returns the value of a key. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!((names.get(7, &pin).unwrap().as_str(), names.get(8, &pin)), ("seven", None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<&'p T> {
        loop {
            // A handle that was retired meanwhile: the key has another one now, or none.
            if let Some(value) = self.slots.read(self.index.get(key)?, pin) {
                return Some(value);
            }
        }
    }

    /// Returns `read(value)` for the value of a key, under a temporary pin. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// names.insert(7, "seven".to_owned(), &names.pin())?;
    /// assert_eq!(names.read(7, String::len), Some(5));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn read<R>(&self, key: K, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.get(key, &self.pin()).map(read)
    }

    /// Returns a clone of the value of a key, under a temporary pin. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// names.insert(7, "seven".to_owned(), &names.pin())?;
    /// assert_eq!(names.get_cloned(7), Some("seven".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_cloned(&self, key: K) -> Option<T>
    where
        T: Clone,
    {
        self.read(key, T::clone)
    }

    /// Returns whether a key is present. O(log n); needs no pin.
    pub fn contains_key(&self, key: K) -> bool {
        self.index.contains_key(key)
    }

    /// Inserts an entry and returns the value that it replaces, which is retired. O(log n).
    ///
    /// # Errors
    /// Memory was refused; the index is then unchanged, and `value` is dropped.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.insert(7, "seven".to_owned(), &pin)?, None);
    /// assert_eq!(names.insert(7, "VII".to_owned(), &pin)?.unwrap(), "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn insert<'p>(&'p self, key: K, value: T, pin: &'p Pinned) -> Result<Option<&'p T>> {
        let handle = self.put(value)?;
        match self.index.insert(key, handle) {
            Ok(old) => Ok(old.and_then(|old| self.retire(old, pin))),
            Err(error) => {
                self.discard(handle, pin);
                Err(error)
            }
        }
    }

    /// Inserts an entry if the key isn't present; otherwise drops `value`. O(log n).
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the current value, or [`TryInsertError::Refused`]. The index is then
    /// unchanged.
    ///
    /// ```
    /// # use latchless::TryInsertError;
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.try_insert(7, "seven".to_owned(), &pin), Ok(()));
    /// let present = names.try_insert(7, "VII".to_owned(), &pin);
    /// assert_eq!(present, Err(TryInsertError::Present { present: &"seven".to_owned(), value: () }));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_insert<'p>(
        &'p self,
        key: K,
        value: T,
        pin: &'p Pinned,
    ) -> Result<(), TryInsertError<&'p T, ()>> {
        if let Some(present) = self.get(key, pin) {
            return Err(TryInsertError::Present { present, value: () });
        }
        let own = self.put(value).map_err(|error| TryInsertError::Refused { error, value: () })?;
        let refused = loop {
            match self.index.try_insert(key, own) {
                Ok(()) => return Ok(()),
                // If it was retired meanwhile, the key has another value now, or none.
                Err(TryInsertError::Present { present, .. }) => match self.slots.read(present, pin) {
                    Some(present) => break TryInsertError::Present { present, value: () },
                    None => continue,
                },
                Err(TryInsertError::Refused { error, .. }) => {
                    break TryInsertError::Refused { error, value: () };
                }
            }
        };
        self.discard(own, pin);
        Err(refused)
    }

    /// Replaces the value of a key that is present, and returns the old one, which is retired; drops `value`
    /// if the key isn't present. O(log n).
    ///
    /// # Errors
    /// Memory for the value was refused; the index is then unchanged.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.replace(7, "VII".to_owned(), &pin)?.unwrap(), "seven");
    /// assert_eq!(names.replace(8, "VIII".to_owned(), &pin)?, None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn replace<'p>(&'p self, key: K, value: T, pin: &'p Pinned) -> Result<Option<&'p T>> {
        let own = self.put(value)?;
        let Some(old) = self.index.replace(key, own) else {
            self.discard(own, pin);
            return Ok(None);
        };
        Ok(self.retire(old, pin))
    }

    /// Removes a key and returns its value, which is retired: it is dropped after all current pins have
    /// ended, in a batch with others ([`BoxedIndex::flush`] doesn't wait for those). O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.remove(7, &pin).unwrap(), "seven");
    /// assert_eq!(names.remove(7, &pin), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<&'p T> {
        self.index.remove(key).and_then(|handle| self.retire(handle, pin))
    }

    /// Removes a key and returns its value, owned: no other thread can be reading it. O(log n).
    ///
    /// ```
    /// # let mut names: latchless::BoxedIndex<u32, String> = [(7, "seven".to_owned())].into();
    /// assert_eq!(names.take(7), Some("seven".to_owned()));
    /// assert_eq!(names.take(7), None);
    /// ```
    pub fn take(&mut self, key: K) -> Option<T> {
        let handle = self.index.exclusive().remove(key)?;
        self.slots.take(handle)
    }

    /// Replaces the value of a key if it is still the very one that the caller saw, and returns that one,
    /// which is retired; otherwise drops `value`. O(log n).
    ///
    /// Values are compared by address, not by content: `expected` is a reference that an operation returned
    /// under a pin that is still held. To compare contents, use [`BoxedIndex::compute`].
    ///
    /// # Errors
    /// [`CompareExchangeError::Other`] with the current value, if any, or [`CompareExchangeError::Refused`].
    /// The index is then unchanged.
    ///
    /// ```
    /// # use latchless::index::CompareExchangeError;
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// let seen = names.get(7, &pin).unwrap();
    /// assert!(names.compare_exchange(7, seen, format!("{seen}!"), &pin).is_ok());
    /// let other = names.compare_exchange(7, seen, format!("{seen}?"), &pin);
    /// assert_eq!(other, Err(CompareExchangeError::Other(Some(&"seven!".to_owned()))));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_exchange<'p>(
        &'p self,
        key: K,
        expected: &'p T,
        value: T,
        pin: &'p Pinned,
    ) -> Result<&'p T, CompareExchangeError<&'p T>> {
        let (mut value, mut met) = (Some(value), false);
        let before = self.compare_and_update(key, pin, |present| {
            met = present.is_some_and(|present| core::ptr::eq(present, expected));
            // Called again only after another value was stored, and `expected` never returns then.
            value.take_if(|_| met).map_or(Action::Keep, Action::Set)
        });
        match before {
            Ok(Some(before)) if met => Ok(before),
            Ok(other) => Err(CompareExchangeError::Other(other)),
            Err(error) => Err(CompareExchangeError::Refused(error)),
        }
    }

    /// Removes a key if its value is still the very one that the caller saw, compared as in
    /// [`BoxedIndex::compare_exchange`], and returns that one, which is retired. O(log n). To decide by the
    /// value's content, use [`BoxedIndex::remove_if`].
    ///
    /// # Errors
    /// The current value, if any. The index is then unchanged.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// let seen = names.get(7, &pin).unwrap();
    /// names.insert(7, seen.clone(), &pin)?;
    /// assert!(names.compare_remove(7, seen, &pin).is_err(), "an equal one, but another");
    /// let seen = names.get(7, &pin).unwrap();
    /// assert_eq!(names.compare_remove(7, seen, &pin).unwrap(), "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_remove<'p>(
        &'p self,
        key: K,
        expected: &'p T,
        pin: &'p Pinned,
    ) -> Result<&'p T, Option<&'p T>> {
        let mut met = false;
        let before = expect_infallible(self.compare_and_update(key, pin, |present| {
            met = present.is_some_and(|present| core::ptr::eq(present, expected));
            if met { Action::Remove } else { Action::Keep }
        }));
        before.filter(|_| met).ok_or(before)
    }
}

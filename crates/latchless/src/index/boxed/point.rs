//! Operations on one key: lookup, insert, remove, compare and exchange. Each is one atomic step.

use super::{Boxed, HandleIndex, KeyArg};
use crate::index::TryInsertError;
use crate::index::access::expect_infallible;
use crate::index::changes::Action;
use crate::slot_map::{Pinned, SlotId};
use crate::tree::{Edit, Edited};
use latchless_core::base::error::{Error, Result};

/// The reason why [`Boxed::compare_exchange`] didn't exchange.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareExchangeError<V> {
    /// The key has another value, or isn't present.
    #[error("the key has another value, or isn't there")]
    Other(Option<V>),
    /// Memory was refused.
    #[error(transparent)]
    Refused(Error),
}

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Returns the value of a key. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!((names.get(7, &pin).unwrap().as_str(), names.get(8, &pin)), ("seven", None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<&'p T>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.find(key, pin))
    }

    /// Returns the value of a key.
    #[inline]
    pub(super) fn find<'p>(&'p self, key: I::KeyRef<'_>, pin: &'p Pinned) -> Option<&'p T> {
        loop {
            // A handle that was retired meanwhile: the key has another one now, or none.
            if let Some(value) = self.slots.read(self.index.find(key)?, pin) {
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
    pub fn read<A, R>(&self, key: A, read: impl FnOnce(&T) -> R) -> Option<R>
    where
        I: KeyArg<A>,
    {
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
    pub fn get_cloned<A>(&self, key: A) -> Option<T>
    where
        I: KeyArg<A>,
        T: Clone,
    {
        self.read(key, T::clone)
    }

    /// Returns whether a key is present. O(log n); needs no pin.
    pub fn contains_key<A>(&self, key: A) -> bool
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.index.find(key)).is_some()
    }

    /// Inserts an entry and returns the value that it replaces, which is retired. O(log n).
    ///
    /// # Errors
    /// Memory was refused, or a byte string is too long; the index is then unchanged, and `value` is dropped.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// assert_eq!(names.insert(7, "seven".to_owned(), &pin)?, None);
    /// assert_eq!(names.insert(7, "VII".to_owned(), &pin)?.unwrap(), "seven");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn insert<'p, A>(&'p self, key: A, value: T, pin: &'p Pinned) -> Result<Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        let own = self.put(value)?;
        self.replaced(I::with_arg(key, |key| self.index.put(key, own)), own, pin)
    }

    /// Returns the value that `own` replaced in the index; if `own` was refused, retires it.
    #[inline(always)]
    pub(super) fn replaced<'p>(
        &'p self,
        put: Result<Option<SlotId>>,
        own: SlotId,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        match put {
            Ok(old) => Ok(old.and_then(|old| self.retire(old, pin))),
            Err(error) => {
                self.discard(own, pin);
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
    pub fn try_insert<'p, A>(
        &'p self,
        key: A,
        value: T,
        pin: &'p Pinned,
    ) -> Result<(), TryInsertError<&'p T, ()>>
    where
        I: KeyArg<A>,
    {
        let refused = |error| TryInsertError::Refused { error, value: () };
        let present = I::with_arg(key, |key| match self.find(key, pin) {
            None => self.add(key, self.put(value)?, pin),
            present => Ok(present),
        });
        match present.map_err(refused)? {
            Some(present) => Err(TryInsertError::Present { present, value: () }),
            None => Ok(()),
        }
    }

    /// Adds a key with the handle of a new value. If the key is present, returns its value; the new one is
    /// then retired, as it is on an error.
    pub(super) fn add<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        own: SlotId,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        let present = loop {
            match self.index.edit_handle(key, Edit::Add(own)) {
                Ok(Edited { before: None, .. }) => return Ok(None),
                // If it was retired meanwhile, the key has another value now, or none.
                Ok(Edited { before: Some(present), .. }) => match self.slots.read(present, pin) {
                    None => continue,
                    present => break Ok(present),
                },
                Err(error) => break Err(error),
            }
        };
        self.discard(own, pin);
        present
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
    pub fn replace<'p, A>(&'p self, key: A, value: T, pin: &'p Pinned) -> Result<Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.put_instead(key, value, pin))
    }

    /// Implements [`Boxed::replace`].
    pub(super) fn put_instead<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        value: T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        let own = self.put(value)?;
        let edited = expect_infallible(self.index.edit_handle(key, Edit::Replace(own)));
        let Some(old) = edited.before else {
            self.discard(own, pin);
            return Ok(None);
        };
        Ok(self.retire(old, pin))
    }

    /// Removes a key and returns its value, which is retired: it is dropped after all current pins have
    /// ended, in a batch with others ([`Boxed::flush`] doesn't wait for those). O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// names.insert(7, "seven".to_owned(), &pin)?;
    /// assert_eq!(names.remove(7, &pin).unwrap(), "seven");
    /// assert_eq!(names.remove(7, &pin), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<&'p T>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.index.take_out(key)).and_then(|handle| self.retire(handle, pin))
    }

    /// Removes a key and returns its value, owned: no other thread can be reading it. O(log n).
    ///
    /// ```
    /// # let mut names: latchless::BoxedIndex<u32, String> = [(7, "seven".to_owned())].into();
    /// assert_eq!(names.take(7), Some("seven".to_owned()));
    /// assert_eq!(names.take(7), None);
    /// ```
    pub fn take<A>(&mut self, key: A) -> Option<T>
    where
        I: KeyArg<A>,
    {
        let handle = I::with_arg(key, |key| self.index.take_alone(key))?;
        self.slots.take(handle)
    }

    /// Replaces the value of a key if it is still the very one that the caller saw, and returns that one,
    /// which is retired; otherwise drops `value`. O(log n).
    ///
    /// Values are compared by address, not by content: `expected` is a reference that an operation returned
    /// under a pin that is still held. To compare contents, use [`Boxed::compute`].
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
    pub fn compare_exchange<'p, A>(
        &'p self,
        key: A,
        expected: &'p T,
        value: T,
        pin: &'p Pinned,
    ) -> Result<&'p T, CompareExchangeError<&'p T>>
    where
        I: KeyArg<A>,
    {
        let (mut value, mut met) = (Some(value), false);
        let ask = |present: Option<&'p T>| {
            met = present.is_some_and(|present| core::ptr::eq(present, expected));
            // Called again only after another value was stored, and `expected` never returns then.
            value.take_if(|_| met).map_or(Action::Keep, Action::Set)
        };
        match I::with_arg(key, |key| self.compare_and_update(key, pin, ask)) {
            Ok(Some(before)) if met => Ok(before),
            Ok(other) => Err(CompareExchangeError::Other(other)),
            Err(error) => Err(CompareExchangeError::Refused(error)),
        }
    }

    /// Removes a key if its value is still the very one that the caller saw, compared as in
    /// [`Boxed::compare_exchange`], and returns that one, which is retired. O(log n). To decide by the
    /// value's content, use [`Boxed::remove_if`].
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
    pub fn compare_remove<'p, A>(
        &'p self,
        key: A,
        expected: &'p T,
        pin: &'p Pinned,
    ) -> Result<&'p T, Option<&'p T>>
    where
        I: KeyArg<A>,
    {
        let mut met = false;
        let ask = |present: Option<&'p T>| {
            met = present.is_some_and(|present| core::ptr::eq(present, expected));
            if met { Action::Remove } else { Action::Keep }
        };
        let before = expect_infallible(I::with_arg(key, |key| self.compare_and_update(key, pin, ask)));
        before.filter(|_| met).ok_or(before)
    }
}

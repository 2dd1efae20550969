//! Changes that depend on the present entry, for every engine: each is one call of it.
//!
//! A closure never runs under a latch. The entry is read, the closure is called, and its result is stored if
//! the entry is still the one that the closure saw; otherwise the closure is called again.

use super::changes::{Action, Changes, Comparable};
use super::engine::KeyFor;
use super::{Index, TryInsertError, settled};
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::replacement::Replacement;

/// What an operation returns that replaces a value: `T` itself if all values of the type have the same size,
/// because no memory can be refused then, otherwise a [`Result<T>`]: for strings, and for values in an `Arc`.
///
/// Code that is generic over `V` makes a `Result` of it:
///
/// ```
/// use latchless::index::{Replaced, Replacement};
/// use latchless::{Index, IndexValue, KeyFor, Result};
///
/// fn reset<K, V>(index: &Index<K, V>, key: K::Probe<'_>, value: &V) -> Result<Option<V>>
/// where
///     K: KeyFor<V>,
///     V: IndexValue,
/// {
///     let replaced: Replaced<V, Option<V>> = index.update(key, |_| value.clone());
///     V::Form::into_result(replaced)
/// }
/// # let index: Index<u64, u64> = [(7, 70)].into();
/// # assert_eq!(reset(&index, 7, &71), Ok(Some(70)));
/// # let index: Index<u64, String> = [(7, "seven".to_owned())].into();
/// # assert_eq!(reset(&index, 7, &"VII".to_owned()), Ok(Some("seven".to_owned())));
/// ```
pub type Replaced<V, T> = <<V as IndexValue>::Form as Replacement>::Outcome<T>;

/// Changes that depend on the present entry.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Inserts an entry if the key isn't present. O(log n). Of several threads that insert the same absent
    /// key at once, one succeeds.
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the current value, or [`TryInsertError::Refused`]; both return
    /// `value`. The index is then unchanged.
    ///
    /// ```
    /// use latchless::{Index, TryInsertError};
    /// # let index = Index::<u64, u32>::new()?;
    /// assert_eq!(index.try_insert(7, 70), Ok(()));
    /// assert_eq!(index.try_insert(7, 71), Err(TryInsertError::Present { present: 70, value: 71 }));
    /// let names = Index::<String, String>::new()?;
    /// assert_eq!(names.try_insert("seven", "VII".to_owned()), Ok(()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn try_insert(&self, key: K::Probe<'_>, value: V) -> Result<(), TryInsertError<V>> {
        self.engine.try_insert(key, value)
    }

    /// Replaces the value of a key that is present, and returns the old one; does nothing if the key isn't
    /// present. O(log n). Needs no memory if all values have the same size, and the outcome is then no
    /// `Result`: see [`Replaced`].
    ///
    /// # Errors
    /// Memory for a string or a handle was refused, or a string is too long. The index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!((index.replace(7, 71), index.replace(8, 80)), (Some(70), None));
    /// assert_eq!((index.get(7), index.get(8)), (Some(71), None));
    /// let names: Index<String, String> = [("seven".to_owned(), "7".to_owned())].into();
    /// assert_eq!(names.replace("seven", "VII")?.as_deref(), Some("7"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn replace(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Replaced<V, Option<V>> {
        V::Form::outcome(self.engine.replace(key, value))
    }

    /// Replaces the value of a key if it is `expected`, and returns the old one. O(log n). Needs no memory
    /// if all values have the same size, and the outcome is then no `Result` of this result: see
    /// [`Replaced`].
    ///
    /// Numbers and strings are compared by their bits: a float's −0 is not its +0, and a NaN equals itself.
    /// Values in an `Arc`, and others that are stored by a handle, are compared by `==`;
    /// [`compute`](Index::compute) compares them by `Arc::ptr_eq`, or in any other way.
    ///
    /// # Errors
    /// The inner error is the current value, if any. The outer one is that of [`Index::replace`]. The index
    /// is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!(index.compare_exchange(7, 70, 71), Ok(70));
    /// assert_eq!(index.compare_exchange(7, 70, 72), Err(Some(71)));
    /// assert_eq!(index.compare_exchange(8, 70, 72), Err(None));
    /// let names: Index<String, String> = [("seven".to_owned(), "7".to_owned())].into();
    /// assert_eq!(names.compare_exchange("seven", "7", "VII")?, Ok("7".to_owned()));
    /// assert_eq!(names.compare_exchange("seven", "7", "sept")?, Err(Some("VII".to_owned())));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_exchange<'v>(
        &self,
        key: K::Probe<'_>,
        expected: V::Lent<'v>,
        value: V::Given<'v>,
    ) -> Replaced<V, Result<V, Option<V>>>
    where
        V: Comparable,
    {
        V::Form::outcome(self.engine.exchange(key, expected, Some(value), V::is))
    }

    /// Removes a key if its value is `expected`, compared as in [`Index::compare_exchange`]. O(log n). Needs
    /// no memory.
    ///
    /// # Errors
    /// The current value, if any. The index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!(index.compare_remove(7, 71), Err(Some(70)));
    /// assert_eq!(index.compare_remove(7, 70), Ok(70));
    /// let names: Index<String, String> = [("seven".to_owned(), "VII".to_owned())].into();
    /// assert_eq!(names.compare_remove("seven", "VII"), Ok("VII".to_owned()));
    /// ```
    pub fn compare_remove(&self, key: K::Probe<'_>, expected: V::Lent<'_>) -> Result<V, Option<V>>
    where
        V: Comparable,
    {
        settled(self.engine.exchange(key, expected, None, V::is))
    }

    /// Updates the value of a key that is present and returns the old value. O(log n). Needs no memory if
    /// all values have the same size, and the outcome is then no `Result`: see [`Replaced`].
    ///
    /// `change` never runs under a latch; it may run several times, and its last result counts (see the
    /// [race rule](crate::index#races)). The value is lent to it, as by [`Index::get_with`].
    ///
    /// # Errors
    /// Those of [`Index::upsert`].
    ///
    /// # Panics
    /// If `change` changes its own key through the index in every call, and the outcome is no `Result`.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!(index.update(7, |value| value + 1), Some(70));
    /// assert_eq!(index.update(8, |value| value + 1), None);
    /// assert_eq!(index.get(7), Some(71));
    /// let names: Index<String, String> = [("seven".to_owned(), "vii".to_owned())].into();
    /// assert_eq!(names.update("seven", str::to_uppercase)?.as_deref(), Some("vii"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn update(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(V::Lent<'_>) -> V,
    ) -> Replaced<V, Option<V>> {
        V::Form::outcome(
            self.engine.change(key, |value| value.map_or(Action::Keep, |value| Action::Set(change(value)))),
        )
    }

    /// Inserts or updates the key with `value(old)`. Returns the old value. O(log n). The [race
    /// rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`Index::insert`]; the index is then unchanged.
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey): see the race rule.
    ///
    /// ```
    /// use latchless::Index;
    /// let (index, words) = (Index::<u64, u32>::new()?, Index::<String, u32>::new()?);
    /// for (number, word) in [(7, "seven"), (9, "nine"), (7, "seven")] {
    ///     index.upsert(number, |count| count.unwrap_or(0) + 1)?;
    ///     words.upsert(word, |count| count.unwrap_or(0) + 1)?;
    /// }
    /// assert_eq!((index.get(7), index.get(9)), (Some(2), Some(1)));
    /// assert_eq!((words.get("seven"), words.get("nine")), (Some(2), Some(1)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn upsert(
        &self,
        key: K::Probe<'_>,
        mut value: impl FnMut(Option<V::Lent<'_>>) -> V,
    ) -> Result<Option<V>> {
        self.engine.change(key, |before| Action::Set(value(before)))
    }

    /// Inserts or updates the key with `value(old)`, or removes it if that is `None`. Returns the old value.
    /// O(log n). The [race rule](crate::index#races) applies to `value`.
    ///
    /// # Errors
    /// Those of [`Index::upsert`].
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 2)].into();
    /// let release = |holders: Option<u32>| holders.filter(|&holders| holders > 1).map(|n| n - 1);
    /// assert_eq!((index.compute(7, release)?, index.get(7)), (Some(2), Some(1)));
    /// assert_eq!((index.compute(7, release)?, index.get(7)), (Some(1), None));
    /// let files: Index<String, u32> = [("a".to_owned(), 1)].into();
    /// assert_eq!((files.compute("a", release)?, files.get("a")), (Some(1), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compute(
        &self,
        key: K::Probe<'_>,
        mut value: impl FnMut(Option<V::Lent<'_>>) -> Option<V>,
    ) -> Result<Option<V>> {
        self.engine.change(key, |before| value(before).map_or(Action::Remove, Action::Set))
    }

    /// Removes a key if its value satisfies a condition, and returns that value. O(log n). The [race
    /// rule](crate::index#races) applies to `condition`.
    ///
    /// # Panics
    /// If `condition` changes its own key through the index in every call.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = [(7, 70)].into();
    /// assert_eq!(index.remove_if(7, |value| value > 70), None);
    /// assert_eq!(index.remove_if(7, |value| value == 70), Some(70));
    /// let names: Index<String, String> = [("seven".to_owned(), "VII".to_owned())].into();
    /// assert_eq!(names.remove_if("seven", |name| name.starts_with('V')).as_deref(), Some("VII"));
    /// ```
    pub fn remove_if(&self, key: K::Probe<'_>, mut condition: impl FnMut(V::Lent<'_>) -> bool) -> Option<V> {
        let mut met = false;
        let before = self.engine.change(key, |value| {
            met = value.is_some_and(&mut condition);
            if met { Action::Remove } else { Action::Keep }
        });
        settled(before).filter(|_| met)
    }

    /// Returns the value of a key, after inserting `value` if the key isn't present. O(log n).
    ///
    /// # Errors
    /// Those of [`Index::insert`]; the index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index = Index::<u64, u32>::new()?;
    /// assert_eq!((index.get_or_insert(7, 70)?, index.get_or_insert(7, 71)?), (70, 70));
    /// let names = Index::<String, String>::new()?;
    /// assert_eq!(names.get_or_insert("a", "b")?, "b");
    /// assert_eq!(names.get_or_insert("a", "c")?, "b");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<V> {
        self.engine.get_or_insert_with(key, || V::given(value))
    }

    /// Returns the value of a key, after inserting `value()` if the key isn't present. `value` runs at most
    /// once and never under a latch. Its result is dropped if another thread inserts the key meanwhile; that
    /// thread's value is then returned. O(log n).
    ///
    /// # Errors
    /// Those of [`Index::insert`]; the index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index = Index::<u64, u32>::new()?;
    /// assert_eq!(index.get_or_insert_with(7, || 70)?, 70);
    /// assert_eq!(index.get_or_insert_with(7, || unreachable!())?, 70);
    /// let names = Index::<String, String>::new()?;
    /// assert_eq!(names.get_or_insert_with("seven", || "VII".to_owned())?, "VII");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_or_insert_with(&self, key: K::Probe<'_>, value: impl FnOnce() -> V) -> Result<V> {
        self.engine.get_or_insert_with(key, value)
    }

    /// Removes every entry for which `keep` returns `false`, and returns their number. O(n). `keep` is
    /// called with the value that is removed; if that changes meanwhile, it is called again. Entries that
    /// are inserted meanwhile may be tested or not. The [race rule](crate::index#races) applies to `keep`.
    ///
    /// # Panics
    /// If `keep` changes the value of its key in every call.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = (0..100).map(|key| (key, 0)).collect();
    /// assert_eq!(index.retain(|key, _| key % 10 == 0), 90);
    /// assert_eq!(index.len(), 10);
    /// let names: Index<String, String> = [("a".to_owned(), "b".to_owned())].into();
    /// assert_eq!(names.retain(|key, value| key == value), 1);
    /// ```
    pub fn retain(&self, keep: impl FnMut(K, V::Lent<'_>) -> bool) -> usize {
        self.engine.retain(keep)
    }
}

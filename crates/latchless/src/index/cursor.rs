//! Cursors: positions in an index that move both ways.

use super::Index;
use super::changes::Changes;
use super::engine::{Engine, KeyFor};
use super::exclusive::Exclusive;
use super::operations::exclusive;
use super::position::Position;
use crate::frozen::{Frozen, Reader};
use core::fmt;
use core::ops::Bound::{self, Included, Unbounded};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;
use std::sync::Arc;

/// An index that a cursor moves over: `&Index`, `Arc<Index>`, `&Reader`, [`Frozen`], or `&Exclusive`. Sealed.
pub trait Source: sealed::Sealed {
    /// The index's keys.
    type Key: IndexKey;
    /// The index's values.
    type Value: IndexValue;
    /// Returns the nearest entry in a direction.
    #[doc(hidden)]
    fn near(
        &self,
        from: Bound<<Self::Key as IndexKey>::Probe<'_>>,
        direction: Direction,
    ) -> Option<(Self::Key, Self::Value)>;
    /// Returns the value of a key.
    #[doc(hidden)]
    fn value_of(&self, key: <Self::Key as IndexKey>::Probe<'_>) -> Option<Self::Value>;
}

mod sealed {
    /// Restricts [`super::Source`] to indexes.
    pub trait Sealed {}
}

macro_rules! source {
    ($($holder:ty, $source:ident => $index:expr;)*) => {$(
        impl<K: KeyFor<V>, V: IndexValue> sealed::Sealed for $holder {}

        impl<K: KeyFor<V>, V: IndexValue> Source for $holder {
            type Key = K;
            type Value = V;

            #[inline]
            fn near(&self, from: Bound<K::Probe<'_>>, direction: Direction) -> Option<(K, V)> {
                let $source = self;
                $index.engine.near(from, direction)
            }

            fn value_of(&self, key: K::Probe<'_>) -> Option<V> {
                let $source = self;
                $index.engine.get(key)
            }
        }
    )*};
}
source! {
    &Index<K, V>, source => source;
    Arc<Index<K, V>>, source => source;
    &Reader<Index<K, V>>, source => source.0;
    Frozen<Index<K, V>>, source => source.held();
}

impl<K: Key, V: Value> sealed::Sealed for &Exclusive<'_, K, V> {}

impl<K: Key, V: Value> Source for &Exclusive<'_, K, V> {
    type Key = K;
    type Value = V;

    fn near(&self, from: Bound<K>, direction: Direction) -> Option<(K, V)> {
        self.access().near(from, direction)
    }

    fn value_of(&self, key: K) -> Option<V> {
        self.access().get(key)
    }
}

/// An entry that a cursor lends: of numbers, the entry; of strings, the texts.
pub type LentEntry<'c, S> =
    (<<S as Source>::Key as IndexKey>::Probe<'c>, <<S as Source>::Value as IndexValue>::Lent<'c>);

/// A position in an index: on an entry, before the first one, or after the last one.
///
/// A cursor holds no latch, pin or node, only the entry that it is on, and looks up the index again for each
/// step, in O(log n). So each step goes to the entry that is next *now*, whatever was inserted or removed
/// since, its own key included. It lends the entry that it is on. For many entries, [`Index::range`] is
/// faster.
///
/// [`Index::cursor`] borrows the index. [`Cursor::of`] also takes an `Arc`: such a cursor owns the index
/// together with others, can be stored and sent, and changes the entry that it is on. One of a [`Frozen`]
/// index does so without changes.
///
/// ```
/// # let index: latchless::Index<u64, u32> = [(3, 30), (5, 50), (7, 70)].into_iter().collect();
/// let mut cursor = index.cursor();
/// assert_eq!(cursor.seek(4), Some((5, 50)));
/// index.remove(5);
/// assert_eq!(cursor.current(), Some((5, 50)), "what it came to");
/// assert_eq!(cursor.value_now(), None, "what is stored now");
/// index.insert(6, 60)?;
/// assert_eq!(cursor.next(), Some((6, 60)));
/// assert_eq!(cursor.prev(), Some((3, 30)));
/// assert_eq!((cursor.prev(), cursor.next()), (None, Some((3, 30))));
///
/// let names: latchless::Index<String, String> = [("seven".into(), "VII".into())].into();
/// assert_eq!(names.cursor().seek_first(), Some(("seven", "VII")));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Cursor<S: Source> {
    source: S,
    position: Position<(S::Key, S::Value)>,
}

impl<S: Source> Cursor<S> {
    /// Creates a cursor before the first entry: of a borrowed index, of an `Arc` of one, of a [`Frozen`] one,
    /// or of an [`Exclusive`](super::Exclusive).
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Cursor;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<String, Arc<[u8]>>> = Arc::default();
    /// index.insert("VII", Arc::new([7; 100]))?;
    /// let mut cursor = Cursor::of(Arc::clone(&index));
    /// let walker = std::thread::spawn(move || cursor.seek("A").map(|(_, bytes)| bytes.len()));
    /// assert_eq!(walker.join().unwrap(), Some(100));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn of(source: S) -> Self {
        Self { source, position: Position::BeforeFirst }
    }

    /// Moves to the entry that was found, or past the end in that direction.
    fn go(&mut self, found: Option<(S::Key, S::Value)>, direction: Direction) -> Option<LentEntry<'_, S>> {
        self.position = Position::after(found, direction);
        self.current()
    }

    fn step(&mut self, direction: Direction) -> Option<LentEntry<'_, S>> {
        let from = self.position.onward(direction).map(|from| from.map(|(key, _)| key.probe()));
        let found = from.and_then(|from| self.source.near(from, direction));
        self.go(found, direction)
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek(&mut self, key: <S::Key as IndexKey>::Probe<'_>) -> Option<LentEntry<'_, S>> {
        self.go(self.source.near(Included(key), Forward), Forward)
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev(&mut self, key: <S::Key as IndexKey>::Probe<'_>) -> Option<LentEntry<'_, S>> {
        self.go(self.source.near(Included(key), Reverse), Reverse)
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<LentEntry<'_, S>> {
        self.go(self.source.near(Unbounded, Forward), Forward)
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<LentEntry<'_, S>> {
        self.go(self.source.near(Unbounded, Reverse), Reverse)
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and lends its entries")]
    pub fn next(&mut self) -> Option<LentEntry<'_, S>> {
        self.step(Forward)
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<LentEntry<'_, S>> {
        self.step(Reverse)
    }

    /// Returns the entry that the cursor is on, as it was when the cursor moved there. `None` before the
    /// first entry and after the last one. O(1).
    pub fn current(&self) -> Option<LentEntry<'_, S>> {
        self.position.entry().map(|(key, value)| (key.probe(), value.lend()))
    }

    /// Returns the current value of the key that the cursor is on; `None` if the key was removed. O(log n).
    pub fn value_now(&self) -> Option<S::Value> {
        self.position.entry().and_then(|(key, _)| self.source.value_of(key.probe()))
    }
}

/// Changes at the position.
impl<K: KeyFor<V>, V: IndexValue> Cursor<Arc<Index<K, V>>> {
    /// Returns the index.
    pub fn index(&self) -> &Arc<Index<K, V>> {
        &self.source
    }

    /// Replaces the value of the key that the cursor is on, if it is still present, and returns the old
    /// value. [`current`](Cursor::current) stays as it was. O(log n).
    ///
    /// # Errors
    /// Those of [`Index::replace`].
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Cursor;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<u64, u32>> = Arc::new([(3, 30), (5, 50)].into());
    /// let mut cursor = Cursor::of(Arc::clone(&index));
    /// while cursor.next().is_some() {
    ///     cursor.replace(7)?;
    /// }
    /// assert!(index.values().eq([7, 7]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn replace(&mut self, value: V::Given<'_>) -> Result<Option<V>> {
        let Some((key, _)) = self.position.entry() else { return Ok(None) };
        self.source.engine.replace(key.probe(), value)
    }

    /// Removes the key that the cursor is on, whatever its value is now, and returns that. The cursor stays
    /// where it is: its neighbours are still before and after it. O(log n).
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Cursor;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<u64, u32>> = Arc::new([(3, 30), (5, 50), (7, 70)].into());
    /// let mut cursor = Cursor::of(index);
    /// cursor.seek(5);
    /// assert_eq!((cursor.remove(), cursor.remove()), (Some(50), None));
    /// assert_eq!((cursor.prev(), cursor.next()), (Some((3, 30)), Some((7, 70))));
    /// ```
    pub fn remove(&mut self) -> Option<V> {
        self.position.entry().and_then(|(key, _)| self.source.remove(key.probe()))
    }
}

impl<S: Source<Key: Clone> + Clone> Clone for Cursor<S> {
    fn clone(&self) -> Self {
        Self { source: self.source.clone(), position: self.position.clone() }
    }
}

impl<S: Source<Key: fmt::Debug, Value: fmt::Debug>> fmt::Debug for Cursor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("position", &self.position).finish_non_exhaustive()
    }
}

impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns a cursor before the first entry: a position that moves both ways.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index: Index<u64, u32> = [(3, 30), (5, 50)].into_iter().collect();
    /// let mut cursor = index.cursor();
    /// assert_eq!((cursor.current(), cursor.next()), (None, Some((3, 30))));
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// let mut cursor = names.cursor();
    /// assert_eq!(cursor.seek("seven"), Some(("six", 6)));
    /// ```
    pub fn cursor(&self) -> Cursor<&Self> {
        Cursor::of(self)
    }
}

exclusive! {
    /// See [`Index::cursor`].
    pub fn cursor(&self) -> Cursor<&Self> {
        Cursor::of(self)
    }
}

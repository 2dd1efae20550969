//! A cursor over any engine, for keys that are named by borrowed types.

use super::engine::Engine;
use super::position::Position;
use core::fmt;
use core::ops::Bound::{Excluded, Included, Unbounded};
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// A position in an [`Index`](super::Index) of byte strings or `Arc`s: on an entry, before the first one, or
/// after the last one.
///
/// Like a [`Cursor`](super::Cursor), it holds nothing of the index: each step goes to the entry that is next
/// *now*, in O(log n). It lends the entry that it is on.
///
/// ```
/// use latchless::Index;
///
/// let index: Index<String, u32> = ["a", "b", "d"].map(|key| (key.to_owned(), 7)).into();
/// let mut cursor = index.cursor();
/// assert_eq!(cursor.seek("c").map(|(key, _)| key.as_str()), Some("d"));
/// assert_eq!(cursor.prev().map(|(key, _)| key.as_str()), Some("b"));
/// index.remove("a");
/// assert!(cursor.prev().is_none() && cursor.current().is_none());
/// assert_eq!(cursor.next().map(|(key, _)| key.as_str()), Some("b"));
/// ```
pub struct EntryCursor<'i, E, K, V> {
    engine: &'i E,
    position: Position<(K, V)>,
}

impl<'i, K: IndexKey, V: IndexValue, E: Engine<K, V>> EntryCursor<'i, E, K, V> {
    pub(crate) fn new(engine: &'i E) -> Self {
        Self { engine, position: Position::BeforeFirst }
    }

    /// Moves to the entry that was found, or past the end in that direction.
    fn go(&mut self, found: Option<(K, V)>, direction: Direction) -> Option<(&K, V::Lent<'_>)> {
        self.position = Position::after(found, direction);
        self.current()
    }

    fn step(&mut self, direction: Direction) -> Option<(&K, V::Lent<'_>)> {
        let found = match self.position.onward(direction) {
            Some(Included((key, _)) | Excluded((key, _))) => self.engine.beside(key, direction),
            Some(Unbounded) => self.engine.near(Unbounded, direction),
            None => None,
        };
        self.go(found, direction)
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek(&mut self, key: K::Probe<'_>) -> Option<(&K, V::Lent<'_>)> {
        self.go(self.engine.near(Included(key), Forward), Forward)
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev(&mut self, key: K::Probe<'_>) -> Option<(&K, V::Lent<'_>)> {
        self.go(self.engine.near(Included(key), Reverse), Reverse)
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<(&K, V::Lent<'_>)> {
        self.go(self.engine.near(Unbounded, Forward), Forward)
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<(&K, V::Lent<'_>)> {
        self.go(self.engine.near(Unbounded, Reverse), Reverse)
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and lends its entries")]
    pub fn next(&mut self) -> Option<(&K, V::Lent<'_>)> {
        self.step(Forward)
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<(&K, V::Lent<'_>)> {
        self.step(Reverse)
    }

    /// Returns the entry that the cursor is on, as it was when the cursor moved there. `None` before the
    /// first entry and after the last one. O(1).
    pub fn current(&self) -> Option<(&K, V::Lent<'_>)> {
        self.position.entry().map(|(key, value)| (key, value.lend()))
    }

    /// Returns the current value of the key that the cursor is on; `None` if the key was removed. O(log n).
    pub fn value_now(&self) -> Option<V> {
        let (key, _) = self.current()?;
        self.engine.get_own(key)
    }
}

impl<E, K: fmt::Debug, V: fmt::Debug> fmt::Debug for EntryCursor<'_, E, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryCursor").field("position", &self.position).finish_non_exhaustive()
    }
}

//! Cursors under a pin: positions in an index that move both ways.

use super::BoxedIndex;
use crate::index::{Cursor, Index};
use crate::slot_map::{Pinned, SlotId};
use core::fmt;
use latchless_core::base::key::Key;

/// A position in a [`BoxedIndex`]: on an entry, before the first one, or after the last one. Each step goes
/// to the entry that is next *now*, in O(log n), as with a [`Cursor`]; entries that it has visited stay
/// readable under its pin.
///
/// ```
/// # let names: latchless::BoxedIndex<u32, &str> = [(3, "three"), (5, "five"), (7, "seven")].into();
/// let pin = names.pin();
/// let mut cursor = names.cursor(&pin);
/// assert_eq!(cursor.seek(4), Some((5, &"five")));
/// names.remove(5, &pin);
/// assert_eq!(cursor.current(), Some((5, &"five")), "what it came to");
/// assert_eq!(cursor.value_now(), None, "what is there now");
/// names.insert(6, "six", &pin)?;
/// assert_eq!(cursor.next(), Some((6, &"six")));
/// assert_eq!(cursor.prev(), Some((3, &"three")));
/// assert_eq!((cursor.prev(), cursor.next()), (None, Some((3, &"three"))));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct BoxedCursor<'p, K: Key, T: Send + Sync + 'static> {
    index: &'p BoxedIndex<K, T>,
    pin: &'p Pinned,
    cursor: Cursor<&'p Index<K, SlotId>>,
    current: Option<(K, &'p T)>,
}

impl<'p, K: Key, T: Send + Sync + 'static> BoxedCursor<'p, K, T> {
    /// Makes a step. If the new entry's value is retired meanwhile, repeats the step from the old position.
    fn go(
        &mut self,
        step: impl Fn(&mut Cursor<&'p Index<K, SlotId>>) -> Option<(K, SlotId)>,
    ) -> Option<(K, &'p T)> {
        loop {
            let mut cursor = self.cursor.clone();
            let found = step(&mut cursor);
            let current = found
                .and_then(|(key, handle)| self.index.slots.read(handle, self.pin).map(|value| (key, value)));
            if found.is_none() || current.is_some() {
                self.cursor = cursor;
                self.current = current;
                return current;
            }
        }
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek(&mut self, key: K) -> Option<(K, &'p T)> {
        self.go(|cursor| cursor.seek(key))
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev(&mut self, key: K) -> Option<(K, &'p T)> {
        self.go(|cursor| cursor.seek_for_prev(key))
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<(K, &'p T)> {
        self.go(Cursor::seek_first)
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<(K, &'p T)> {
        self.go(Cursor::seek_last)
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and has no end for good")]
    pub fn next(&mut self) -> Option<(K, &'p T)> {
        self.go(Cursor::next)
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<(K, &'p T)> {
        self.go(Cursor::prev)
    }

    /// Returns the entry that the cursor is on, as it was when the cursor moved there. `None` before the
    /// first entry and after the last one. O(1).
    pub fn current(&self) -> Option<(K, &'p T)> {
        self.current
    }

    /// Returns the current value of the key that the cursor is on; `None` if the key was removed. O(log n).
    pub fn value_now(&self) -> Option<&'p T> {
        self.current.and_then(|(key, _)| self.index.get(key, self.pin))
    }
}

impl<K: Key, T: Send + Sync + 'static> Clone for BoxedCursor<'_, K, T> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), ..*self }
    }
}

impl<K: Key, T: Send + Sync + fmt::Debug + 'static> fmt::Debug for BoxedCursor<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedCursor").field("current", &self.current).finish_non_exhaustive()
    }
}

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Returns a cursor before the first entry: see [`BoxedCursor`].
    pub fn cursor<'p>(&'p self, pin: &'p Pinned) -> BoxedCursor<'p, K, T> {
        BoxedCursor { index: self, pin, cursor: self.index.cursor(), current: None }
    }
}

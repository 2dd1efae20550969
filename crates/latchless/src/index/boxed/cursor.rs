//! Cursors under a pin: positions in an index that move both ways.

use super::{Boxed, HandleIndex, KeyArg};
use crate::index::position::Position;
use crate::slot_map::Pinned;
use core::fmt;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use latchless_core::base::index::Direction::{self, Forward, Reverse};

/// A position in a [`Boxed`]: on an entry, before the first one, or after the last one. Each step goes to the
/// entry that is next *now*, in O(log n), as with the [`Cursor`](crate::index::Cursor) of an
/// [`Index`](crate::Index); entries that it has visited stay readable under its pin. Byte strings are lent as
/// bytes; a cursor allocates only to keep longer ones than before.
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
pub struct Cursor<'p, I: HandleIndex, T: Send + Sync + 'static> {
    boxed: &'p Boxed<I, T>,
    pin: &'p Pinned,
    position: Position<&'p T>,
    /// The key of the entry that it is on.
    key: Option<I::KeyBuf>,
    /// Room for the next key.
    spare: Option<I::KeyBuf>,
}

impl<'p, I: HandleIndex, T: Send + Sync + 'static> Cursor<'p, I, T> {
    /// Moves to the entry that is nearest to `from`, or past the end in that direction.
    fn go(&mut self, from: Bound<I::KeyRef<'_>>, direction: Direction) {
        let mut kept = self.spare.take().or_else(|| self.key.take());
        let found = self.boxed.near(from, direction, self.pin, |key, value| {
            I::keep(key, &mut kept);
            value
        });
        self.key = kept;
        self.position = Position::after(found, direction);
    }

    fn step(&mut self, direction: Direction) -> Option<(I::KeyRef<'_>, &'p T)> {
        let key = self.key.take();
        match (self.position.onward(direction), &key) {
            (Some(Excluded(_)), Some(key)) => self.go(Excluded(I::kept(key)), direction),
            (Some(_), _) => self.go(Unbounded, direction),
            (None, _) => {}
        }
        self.spare = key;
        self.current()
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek<A>(&mut self, key: A) -> Option<(I::KeyRef<'_>, &'p T)>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.go(Included(key), Forward));
        self.current()
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev<A>(&mut self, key: A) -> Option<(I::KeyRef<'_>, &'p T)>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.go(Included(key), Reverse));
        self.current()
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<(I::KeyRef<'_>, &'p T)> {
        self.go(Unbounded, Forward);
        self.current()
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<(I::KeyRef<'_>, &'p T)> {
        self.go(Unbounded, Reverse);
        self.current()
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and lends its keys")]
    pub fn next(&mut self) -> Option<(I::KeyRef<'_>, &'p T)> {
        self.step(Forward)
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<(I::KeyRef<'_>, &'p T)> {
        self.step(Reverse)
    }

    /// Returns the entry that the cursor is on, as it was when the cursor moved there. `None` before the
    /// first entry and after the last one. O(1).
    pub fn current(&self) -> Option<(I::KeyRef<'_>, &'p T)> {
        match (self.position, &self.key) {
            (Position::At(value), Some(key)) => Some((I::kept(key), value)),
            _ => None,
        }
    }

    /// Returns the current value of the key that the cursor is on; `None` if the key was removed. O(log n).
    pub fn value_now(&self) -> Option<&'p T> {
        self.current().and_then(|(key, _)| self.boxed.find(key, self.pin))
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> Clone for Cursor<'_, I, T> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), spare: None, ..*self }
    }
}

impl<I: HandleIndex, T: Send + Sync + fmt::Debug + 'static> fmt::Debug for Cursor<'_, I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("current", &self.current()).finish_non_exhaustive()
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Returns a cursor before the first entry: see [`Cursor`].
    pub fn cursor<'p>(&'p self, pin: &'p Pinned) -> Cursor<'p, I, T> {
        Cursor { boxed: self, pin, position: Position::BeforeFirst, key: None, spare: None }
    }
}

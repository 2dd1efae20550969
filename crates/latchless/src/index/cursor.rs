//! Cursors: positions in an index that move both ways.

#[cfg(doc)]
use super::Index;
use super::access::{Access, Holder};
use super::operations::exclusive;
use super::position::Position;
use core::fmt;
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// A position in an index: on an entry, before the first one, or after the last one.
///
/// A cursor holds no latch, pin or node, only the key that it is on, and looks up the index again for each
/// step, in O(log n). So each step goes to the entry that is next *now*, whatever was inserted or removed
/// since, its own key included. For many entries, [`Index::range`] is faster.
///
/// [`Index::cursor`] borrows the index; [`Cursor::of`] also takes an `Arc`, for a cursor that can be stored
/// and sent.
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
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Clone)]
pub struct Cursor<H: Holder> {
    holder: H,
    position: Position<(H::Key, H::Value)>,
}

impl<H: Holder> Cursor<H> {
    /// Creates a cursor before the first entry. The holder can be a borrowed index, an `Arc` of one, or an
    /// [`Exclusive`](super::Exclusive).
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Cursor;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<u64, u32>> = Arc::new([(3, 30), (5, 50)].into_iter().collect());
    /// let mut cursor = Cursor::of(Arc::clone(&index));
    /// cursor.seek(4);
    /// let walker = std::thread::spawn(move || cursor.prev());
    /// assert_eq!(walker.join().unwrap(), Some((3, 30)));
    /// ```
    pub fn of(holder: H) -> Self {
        Self { holder, position: Position::BeforeFirst }
    }

    fn access(&self) -> Access<'_, H::Key, H::Value, H::Mode> {
        Access::new(self.holder.words())
    }

    /// Moves to the entry that was found, or past the end in that direction.
    fn go(&mut self, found: Option<(H::Key, H::Value)>, direction: Direction) -> Option<(H::Key, H::Value)> {
        self.position = Position::after(found, direction);
        found
    }

    fn step(&mut self, direction: Direction) -> Option<(H::Key, H::Value)> {
        let from = self.position.onward(direction).map(|from| from.map(|&(key, _)| key));
        self.go(from.and_then(|from| self.access().near(from, direction)), direction)
    }

    /// Moves to the first entry at or after `key`, or after the last entry.
    pub fn seek(&mut self, key: H::Key) -> Option<(H::Key, H::Value)> {
        let found = self.access().at_or_beside(key, Forward);
        self.go(found, Forward)
    }

    /// Moves to the last entry at or before `key`, or before the first entry.
    pub fn seek_for_prev(&mut self, key: H::Key) -> Option<(H::Key, H::Value)> {
        let found = self.access().at_or_beside(key, Reverse);
        self.go(found, Reverse)
    }

    /// Moves to the first entry, or after the end if there is none.
    pub fn seek_first(&mut self) -> Option<(H::Key, H::Value)> {
        let found = self.access().end(Forward);
        self.go(found, Forward)
    }

    /// Moves to the last entry, or before the start if there is none.
    pub fn seek_last(&mut self) -> Option<(H::Key, H::Value)> {
        let found = self.access().end(Reverse);
        self.go(found, Reverse)
    }

    /// Moves to the next entry, or after the last one and stays there.
    #[expect(clippy::should_implement_trait, reason = "a cursor goes both ways and has no end for good")]
    pub fn next(&mut self) -> Option<(H::Key, H::Value)> {
        self.step(Forward)
    }

    /// Moves to the previous entry, or before the first one and stays there.
    pub fn prev(&mut self) -> Option<(H::Key, H::Value)> {
        self.step(Reverse)
    }

    /// Returns the entry that the cursor is on, as it was when the cursor moved there. `None` before the
    /// first entry and after the last one. O(1).
    pub fn current(&self) -> Option<(H::Key, H::Value)> {
        self.position.entry().copied()
    }

    /// Returns the current value of the key that the cursor is on; `None` if the key was removed. O(log n).
    pub fn value_now(&self) -> Option<H::Value> {
        self.current().and_then(|(key, _)| self.access().get(key))
    }
}

impl<H: Holder> fmt::Debug for Cursor<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("position", &self.position).finish_non_exhaustive()
    }
}

exclusive! {
    /// See [`Index::cursor`].
    pub fn cursor(&self) -> Cursor<&Self> {
        Cursor::of(self)
    }
}

//! The entries that an iterator has read and not given yet. Several are read together: under one pin, or by
//! one search.

use core::fmt;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use std::collections::VecDeque;

/// See the module documentation.
pub(crate) struct Ahead<K, V> {
    /// The entries that are read next, and the most that are read together.
    next: usize,
    most: usize,
    /// How many times as many are read together the next time: a short range reads few too many.
    growth: usize,
    /// From the front on, and from the back on.
    front: VecDeque<(K, V)>,
    back: VecDeque<(K, V)>,
    /// Whether every entry of the range was read.
    is_read: bool,
}

impl<K, V> Ahead<K, V> {
    /// Returns one of which `first` entries are read at first, then `growth` times as many as before, at most
    /// `most` together.
    pub(crate) fn new(first: usize, growth: usize, most: usize) -> Self {
        Self { next: first, most, growth, front: VecDeque::new(), back: VecDeque::new(), is_read: false }
    }

    /// Takes the next entry from an end. `read` looks at up to so many further entries from there, passes on
    /// those that have a value, and returns whether there may be more.
    #[inline]
    pub(crate) fn take(
        &mut self,
        direction: Direction,
        read: impl FnMut(usize, &mut dyn FnMut(K, V)) -> bool,
    ) -> Option<(K, V)> {
        let own = if direction == Direction::Forward { &mut self.front } else { &mut self.back };
        own.pop_front().or_else(|| self.read(direction, read))
    }

    /// Reads until there is an entry, and takes that. One that is read alone takes no room.
    fn read(
        &mut self,
        direction: Direction,
        mut read: impl FnMut(usize, &mut dyn FnMut(K, V)) -> bool,
    ) -> Option<(K, V)> {
        let (own, other) = match direction {
            Direction::Forward => (&mut self.front, &mut self.back),
            Direction::Reverse => (&mut self.back, &mut self.front),
        };
        let mut first = None;
        while first.is_none() && !self.is_read {
            // Without memory, entries are read one by one.
            let together = if own.try_reserve(self.next - 1).is_ok() { self.next } else { 1 };
            self.is_read = !read(together, &mut |key, value| {
                if first.is_none() {
                    first = Some((key, value));
                } else {
                    own.push_back((key, value));
                }
            });
            self.next = (self.next * self.growth).min(self.most);
        }
        first.or_else(|| other.pop_back())
    }
}

impl<K: IndexKey, V: Clone> Clone for Ahead<K, V> {
    fn clone(&self) -> Self {
        let copied = |read: &VecDeque<(K, V)>| -> VecDeque<(K, V)> {
            read.iter().map(|(key, value)| (K::own(key.probe()), value.clone())).collect()
        };
        Self { front: copied(&self.front), back: copied(&self.back), ..*self }
    }
}

impl<K, V> fmt::Debug for Ahead<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("read", &(self.front.len() + self.back.len())).finish_non_exhaustive()
    }
}

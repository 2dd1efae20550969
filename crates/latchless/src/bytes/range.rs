//! Ranges: iterators of owned entries, and scans that lend keys.

use super::bounds::{NOTHING, OwnedBounds, with_bounds};
use super::{ByteStrings, Holder, Lent, stored};
use crate::byte_tree::{Bounds, LeafCopy};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;

/// The entries of a range of a borrowed index.
pub type BytesEntries<'i, K, V> = Entries<&'i ByteStrings<K, V>>;

/// The entries of a range, from both ends, in the order of their keys.
///
/// It holds copies of a leaf or two, and nothing of the index: neither does it keep memory from being used
/// again nor a writer from going on. Weakly consistent: the entries of one leaf are of one moment, a key
/// that is there throughout is seen exactly once.
pub struct Entries<H> {
    holder: H,
    bounds: OwnedBounds,
    front: End,
    back: End,
}

/// One end of an iteration.
#[derive(Default)]
struct End {
    /// `None` until the first entry is requested here.
    leaf: Option<Box<LeafCopy>>,
    /// Entries of the leaf that are still to come.
    from: usize,
    to: usize,
    /// The key that was given last; empty before.
    last: Option<Vec<u8>>,
    is_over: bool,
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(leaf) = self.leaf.take() {
            LeafCopy::give_spare(leaf);
        }
    }
}

impl End {
    /// Remembers a key as given.
    fn gave(last: &mut Option<Vec<u8>>, key: &[u8]) {
        let last = last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }
}

impl<H: Holder> Entries<H> {
    pub(super) fn new(holder: H, bounds: OwnedBounds) -> Self {
        Self { holder, bounds, front: End::default(), back: End::default() }
    }

    /// Ensures that the front has an entry, if there is one.
    fn fill_front(&mut self) -> bool {
        let (tree, bounds) = (&self.holder.index().tree, self.bounds.borrowed());
        let end = &mut self.front;
        let leaf = match &mut end.leaf {
            Some(leaf) => leaf,
            empty => {
                let leaf = empty.insert(LeafCopy::take_spare());
                tree.load_first(bounds, leaf);
                (end.from, end.to) = (leaf.within().start, leaf.within().end);
                leaf
            }
        };
        while end.from == end.to {
            if !tree.load_next(bounds, leaf) {
                end.is_over = true;
                return false;
            }
            (end.from, end.to) = (leaf.within().start, leaf.within().end);
        }
        true
    }

    /// Ensures that the back has an entry, if there is one.
    fn fill_back(&mut self) -> bool {
        let (tree, bounds) = (&self.holder.index().tree, self.bounds.borrowed());
        let end = &mut self.back;
        let leaf = match &mut end.leaf {
            Some(leaf) => leaf,
            empty => {
                let leaf = empty.insert(LeafCopy::take_spare());
                tree.load_last(bounds, leaf);
                (end.from, end.to) = (leaf.within().start, leaf.within().end);
                leaf
            }
        };
        while end.from == end.to {
            if !tree.load_previous(bounds, leaf) {
                end.is_over = true;
                return false;
            }
            (end.from, end.to) = (leaf.within().start, leaf.within().end);
        }
        true
    }

    /// The next entry from the front, as `show` has it from the key's bytes and the value.
    #[inline]
    pub(super) fn next_with<R>(&mut self, show: impl FnOnce(&[u8], H::Value) -> R) -> Option<R> {
        loop {
            if self.front.is_over || !self.fill_front() {
                return None;
            }
            let at = self.front.from;
            self.front.from += 1;
            let leaf = self.front.leaf.as_mut()?;
            let Some((key, value)) = stored::entry::<H::Value>(&self.holder.index().tree, leaf, at) else {
                continue;
            };
            if self.back.last.as_ref().is_some_and(|last| key >= &last[..]) {
                self.front.is_over = true;
                return None;
            }
            End::gave(&mut self.front.last, key);
            return Some(show(key, value));
        }
    }

    /// The next entry from the back, likewise.
    #[inline]
    pub(super) fn next_back_with<R>(&mut self, show: impl FnOnce(&[u8], H::Value) -> R) -> Option<R> {
        loop {
            if self.back.is_over || !self.fill_back() {
                return None;
            }
            self.back.to -= 1;
            let at = self.back.to;
            let leaf = self.back.leaf.as_mut()?;
            let Some((key, value)) = stored::entry::<H::Value>(&self.holder.index().tree, leaf, at) else {
                continue;
            };
            if self.front.last.as_ref().is_some_and(|last| key <= &last[..]) {
                self.back.is_over = true;
                return None;
            }
            End::gave(&mut self.back.last, key);
            return Some(show(key, value));
        }
    }
}

impl<'i, K: BytesKey, V: BytesValue> BytesEntries<'i, K, V> {
    /// The values alone, from both ends, in the order of their keys. No key is made, so nothing is allocated
    /// for an entry whose value needs no memory.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index: Index<String, u32> = [("a".into(), 1), ("b".into(), 2), ("c".into(), 3)].into();
    /// assert_eq!(index.iter().values().rev().collect::<Vec<_>>(), [3, 2, 1]);
    /// assert_eq!(index.prefix("b").values().sum::<u32>(), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn values(self) -> BytesValues<'i, K, V> {
        BytesValues(self)
    }
}

impl<H: Holder> Iterator for Entries<H> {
    type Item = (H::Key, H::Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_with(|key, value| (H::Key::from_bytes(key), value))
    }
}

impl<H: Holder> DoubleEndedIterator for Entries<H> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.next_back_with(|key, value| (H::Key::from_bytes(key), value))
    }
}

impl<H: Holder> FusedIterator for Entries<H> {}

/// A clone goes on from the same entry. It reads the leaf of its first entry itself.
impl<H: Clone> Clone for Entries<H> {
    fn clone(&self) -> Self {
        let end =
            |end: &End| End { last: end.last.clone(), is_over: end.is_over, leaf: None, from: 0, to: 0 };
        let mut bounds = self.bounds.clone();
        if let Some(last) = &self.front.last {
            bounds.low = Bound::Excluded(last.clone());
        }
        if let Some(last) = &self.back.last {
            bounds.high = Bound::Excluded(last.clone());
        }
        Self { holder: self.holder.clone(), bounds, front: end(&self.front), back: end(&self.back) }
    }
}

impl<H> fmt::Debug for Entries<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BytesEntries").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// The values of a range: [`BytesEntries::values`].
pub struct BytesValues<'i, K: BytesKey, V: BytesValue>(BytesEntries<'i, K, V>);

impl<K: BytesKey, V: BytesValue> Iterator for BytesValues<'_, K, V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        self.0.next_with(|_, value| value)
    }
}

impl<K: BytesKey, V: BytesValue> DoubleEndedIterator for BytesValues<'_, K, V> {
    fn next_back(&mut self) -> Option<V> {
        self.0.next_back_with(|_, value| value)
    }
}

impl<K: BytesKey, V: BytesValue> FusedIterator for BytesValues<'_, K, V> {}

impl<K: BytesKey, V: BytesValue> Clone for BytesValues<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: BytesKey, V: BytesValue> fmt::Debug for BytesValues<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BytesValues").field(&self.0).finish()
    }
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// The entries of a range, as an iterator from both ends. Each key is a new one of type `K`; where
    /// borrowed bytes do, [`ByteStrings::scan`] is faster.
    ///
    /// A range that starts after its end is empty, here and in every other operation that only reads;
    /// [`try_range`](ByteStrings::try_range) refuses it.
    pub fn range<Q>(&self, range: impl RangeBounds<Q>) -> BytesEntries<'_, K, V>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Entries::new(self, OwnedBounds::of(&range))
    }

    /// The entries of a range; returns an error, not an empty iterator, if the ends are in the wrong order,
    /// as those from a user or a file may be. See [`range`](ByteStrings::range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) when it starts after its end.
    pub fn try_range<Q>(&self, range: impl RangeBounds<Q>) -> Result<BytesEntries<'_, K, V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(Entries::new(self, OwnedBounds::try_of(&range)?))
    }

    /// All entries, in order.
    pub fn iter(&self) -> BytesEntries<'_, K, V> {
        Entries::new(self, OwnedBounds::ALL)
    }

    /// Shows the entries of a range in order until `see` breaks off: the bytes of each key, as
    /// [`BytesKey::with_bytes`] has them, and its value. Both are lent: nothing is allocated for an entry.
    pub fn scan<Q>(
        &self,
        range: impl RangeBounds<Q>,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()>
    where
        Q: BytesKey<K> + ?Sized,
    {
        with_bounds(&range, |bounds| self.visit(bounds.unwrap_or(NOTHING), Direction::Forward, see))
    }

    /// Shows the entries of a range from its end downwards; otherwise as [`ByteStrings::scan`].
    pub fn scan_back<Q>(
        &self,
        range: impl RangeBounds<Q>,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()>
    where
        Q: BytesKey<K> + ?Sized,
    {
        with_bounds(&range, |bounds| self.visit(bounds.unwrap_or(NOTHING), Direction::Reverse, see))
    }

    /// How many keys a range has. O(log n), and a few cache lines per leaf of the range. Weakly consistent.
    pub fn count<Q: BytesKey<K> + ?Sized>(&self, range: impl RangeBounds<Q>) -> usize {
        with_bounds(&range, |bounds| self.count_within(bounds.unwrap_or(NOTHING)))
    }

    pub(super) fn count_within(&self, bounds: Bounds<'_>) -> usize {
        self.tree.count(bounds)
    }

    /// Removes the keys of a range and returns how many. Not atomic as a whole: others see some gone and
    /// others not yet.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange): nothing was removed.
    pub fn remove_range<Q: BytesKey<K> + ?Sized>(&self, range: impl RangeBounds<Q>) -> Result<usize> {
        with_bounds(&range, |bounds| Ok(self.remove_within(bounds?)))
    }

    pub(super) fn remove_within(&self, bounds: Bounds<'_>) -> usize {
        let mut removed = 0;
        self.each_key(bounds, |key| removed += usize::from(self.remove_bytes(key)));
        removed
    }

    /// Calls `see` with the bytes of each key of a range, ascending.
    pub(super) fn each_key(&self, bounds: Bounds<'_>, mut see: impl FnMut(&[u8])) {
        LeafCopy::lend(|leaf| {
            self.tree.load_first(bounds, leaf);
            loop {
                leaf.within().for_each(|at| see(leaf.entry(at).0));
                if !self.tree.load_next(bounds, leaf) {
                    return;
                }
            }
        });
    }
}

/// Keys that are byte strings or texts: their prefixes are keys, too.
impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// The entries whose keys' bytes begin with those of `prefix`, as an iterator from both ends. For
    /// tuples, a prefix is the first parts alone, which must have a fixed length. A number needs its type
    /// here, because a prefix may be of any: `&7u32`, and not `&7`, which is an `i32`.
    pub fn prefix<P: BytesKey, Q: BytesKey<P> + ?Sized>(&self, prefix: &Q) -> BytesEntries<'_, K, V> {
        Entries::new(self, prefix.with_bytes(OwnedBounds::of_prefix))
    }

    /// Shows the entries whose keys' bytes begin with those of `prefix`, in order; otherwise as
    /// [`ByteStrings::scan`].
    pub fn scan_prefix<P: BytesKey, Q: BytesKey<P> + ?Sized>(
        &self,
        prefix: &Q,
        see: impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let bounds = prefix.with_bytes(OwnedBounds::of_prefix);
        self.visit(bounds.borrowed(), Direction::Forward, see)
    }
}

impl<'i, K: BytesKey, V: BytesValue> IntoIterator for &'i ByteStrings<K, V> {
    type Item = (K, V);
    type IntoIter = BytesEntries<'i, K, V>;

    fn into_iter(self) -> BytesEntries<'i, K, V> {
        self.iter()
    }
}

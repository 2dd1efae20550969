//! Iterators over the entries of a range, from both ends.
//!
//! An iterator holds a copy of one leaf for each end that is in use, and no latch or pin, so it can
//! be kept for any time and keeps no thread waiting. [`Entries`] says what it
//! is sure to see.

use super::Index;
use super::access::{EncodedIn, EncodedRange, Holder, decode_entry, encode_range, full_range};
use super::operations::operations;
use crate::tree::{BlinkTree, LeafCopy, Mode, Sweep};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Value;

/// The entries of a range of an index that is borrowed.
pub type Range<'a, K, V> = Entries<&'a Index<K, V>>;

/// An iterator over the entries of a range, ascending from the front and descending from the back.
/// Weakly consistent:
///
/// * A key that is in the range from before the iterator was made until it has ended is yielded
///   exactly once.
/// * Every entry that is yielded was stored in the index at one moment since the iterator was made.
/// * Keys ascend strictly from the front and descend strictly from the back, and the ends don't
///   cross: no key is yielded twice.
/// * What changes meanwhile is seen or not; entries of one leaf are seen as of one moment.
///
/// `H` is how the iterator holds the index: [`Index::range`] borrows it; [`Entries::of`] takes an
/// `Arc` as well, for an iterator that can be kept and sent; [`IntoIterator`] owns it.
pub struct Entries<H: Holder> {
    holder: H,
    /// The encoded keys that neither end has passed yet.
    rest: Option<EncodedRange<H::Key, H::Value>>,
    front: Option<Box<End<EncodedIn<H>>>>,
    back: Option<Box<End<EncodedIn<H>>>>,
}

/// One end of an iterator.
struct End<B> {
    sweep: Sweep<B>,
    direction: Direction,
    leaf: LeafCopy<B>,
    /// Entries of the leaf that are used up.
    used: usize,
    /// Whether more than one leaf was fetched.
    further: bool,
}

impl<B: Bits> End<B> {
    fn new((low, high): (B, B), direction: Direction) -> Box<Self> {
        // The first leaf may be all that is wanted, so none is prefetched ahead of it.
        let sweep = Sweep::new(low, high, direction, 0);
        Box::new(Self { sweep, direction, leaf: LeafCopy::default(), used: 0, further: false })
    }

    /// The next entry in the end's direction.
    #[inline]
    fn next<M: Mode>(&mut self, tree: &BlinkTree<B>) -> Option<(B, B)> {
        if self.used == self.leaf.keys().len() && !self.next_leaf::<M>(tree) {
            return None;
        }
        let at = match self.direction {
            Direction::Forward => self.used,
            Direction::Reverse => self.leaf.keys().len() - 1 - self.used,
        };
        self.used += 1;
        Some((self.leaf.keys()[at], self.leaf.values()[at]))
    }

    #[inline(never)]
    fn next_leaf<M: Mode>(&mut self, tree: &BlinkTree<B>) -> bool {
        if !self.leaf.keys().is_empty() && !self.further {
            self.further = true;
            let Some((low, high)) = self.sweep.remaining() else { return false };
            self.sweep = Sweep::new(low, high, self.direction, usize::MAX);
        }
        self.used = 0;
        self.sweep.next_leaf::<M>(tree, &mut self.leaf)
    }
}

impl<H: Holder> Entries<H> {
    /// The entries of a range. The holder can be a borrowed index, an `Arc` of one, for an iterator
    /// that is kept or sent to another thread, or an [`Exclusive`](super::Exclusive).
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange).
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Entries;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<u64, u32>> = Arc::new((0..10).map(|key| (key, 0)).collect());
    /// let entries = Entries::of(Arc::clone(&index), 4..8)?;
    /// let reader = std::thread::spawn(move || entries.count());
    /// assert_eq!(reader.join().unwrap(), 4);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn of(holder: H, range: impl RangeBounds<H::Key>) -> Result<Self> {
        Ok(Self { holder, rest: encode_range::<H::Key, H::Value>(&range)?, front: None, back: None })
    }

    /// All entries.
    pub(super) fn all(holder: H) -> Self {
        Self { holder, rest: Some(full_range::<H::Key, H::Value>()), front: None, back: None }
    }
}

impl<H: Holder> Iterator for Entries<H> {
    type Item = (H::Key, H::Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (low, high) = self.rest?;
        let front = self.front.get_or_insert_with(|| End::new((low, high), Direction::Forward));
        let found = front.next::<H::Mode>(&self.holder.index().tree).filter(|&(key, _)| key <= high);
        self.rest =
            found.and_then(|(key, _)| next(key)).map(|low| (low, high)).filter(|(low, high)| low <= high);
        found.map(decode_entry::<H::Key, H::Value>)
    }

    /// Nothing is known of how many there are, but that none is left after the end.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, if self.rest.is_some() { None } else { Some(0) })
    }

    /// Goes to the last entry at once.
    fn last(mut self) -> Option<Self::Item> {
        self.next_back()
    }
}

impl<H: Holder> DoubleEndedIterator for Entries<H> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (low, high) = self.rest?;
        let back = self.back.get_or_insert_with(|| End::new((low, high), Direction::Reverse));
        let found = back.next::<H::Mode>(&self.holder.index().tree).filter(|&(key, _)| key >= low);
        self.rest = found
            .and_then(|(key, _)| previous(key))
            .map(|high| (low, high))
            .filter(|(low, high)| low <= high);
        found.map(decode_entry::<H::Key, H::Value>)
    }
}

impl<H: Holder> FusedIterator for Entries<H> {}

impl<H: Holder> fmt::Debug for Entries<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Encoded keys, because an end may be one that no key has.
        f.debug_struct("Entries").field("rest_lanes", &self.rest).finish_non_exhaustive()
    }
}

operations! {
    /// The entries of a range, ascending; from the back, descending. Weakly consistent: see
    /// [`Entries`]. O(log n) to start, O(1) a step.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) if the range starts after its end. A
    /// range that no key lies in is fine: `7..7`.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..10).map(|key| (key, key as u32)).collect();
    /// let mut middle = index.range(3..=6)?;
    /// assert_eq!((middle.next(), middle.next_back()), (Some((3, 3)), Some((6, 6))));
    /// assert_eq!(middle.rev().collect::<Vec<_>>(), [(5, 5), (4, 4)]);
    /// assert_eq!(index.range(6..3).err(), Some(latchless::Error::InvertedRange));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<&Self>> {
        Entries::of(self, range)
    }

    /// All entries; otherwise as [`Index::range`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.iter().collect::<Vec<_>>(), [(7, 70), (9, 90)]);
    /// ```
    pub fn iter(&self) -> Entries<&Self> {
        Entries::all(self)
    }

    /// All keys, in the order of [`Index::iter`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.keys().collect::<Vec<_>>(), [7, 9]);
    /// ```
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = [(9, 90), (7, 70)].into_iter().collect();
    /// assert_eq!(index.values().collect::<Vec<_>>(), [70, 90]);
    /// ```
    pub fn values(&self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + '_ {
        self.iter().map(|(_, value)| value)
    }
}

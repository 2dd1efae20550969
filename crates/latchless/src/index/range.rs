//! Iterators over the entries of a range, from both ends.
//!
//! An iterator has a copy of a few entries, and holds no latch or pin, so it can be kept for any time and
//! delays no thread. [`Entries`] documents its guarantees.

#[cfg(doc)]
use super::Index;
use super::access::{
    EncodedIn, EncodedRange, Holder, Shares, decode_entry, encode_range, full_range, try_encode_range,
};
use super::exclusive::Exclusive;
use super::operations::exclusive;
use crate::tree::{BlinkTree, Chunk, Chunks, Mode};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Value;

/// Chunks that a fold reads before it copies whole leaves, which takes more stack space.
const CHUNKS_BEFORE_LEAVES: usize = 6;

/// An iterator over the entries of a range, ascending from the front and descending from the back.
/// Weakly consistent:
///
/// * A key that is in the range from the creation of the iterator until its end is yielded exactly once.
/// * Every entry that is yielded was in the index at one moment since the iterator was created.
/// * Keys ascend strictly from the front and descend strictly from the back, and the ends don't
///   cross: no key is yielded twice.
/// * Concurrent changes may be seen or not. The iterator copies at most 32 entries at a time, each time as
///   of one moment, and [`fold`](Iterator::fold) copies whole leaves after the first few of these.
///   [`Index::scan_chunks`] passes each leaf as of one moment.
///
/// # Cost
/// O(log n) to start, O(1) per entry. The iterator takes 704 bytes and allocates nothing, unless entries are
/// taken from both ends. It prefetches the next entries, and more of them once it has passed a few leaves.
/// [`limit`](Entries::limit) bounds the prefetch. `count` reads one cache line per leaf.
///
/// `H` is the holder of the index: [`Index::range`] borrows it; [`Entries::of`] also takes an `Arc`, for an
/// iterator that can be stored and sent; [`IntoIterator`] owns it.
pub struct Entries<H: Holder> {
    holder: H,
    chunk: Chunk<EncodedIn<H>>,
    chunks: Chunks<EncodedIn<H>>,
    /// In use once entries were taken from both ends. The chunk is empty then, and there are no further
    /// chunks.
    both: Option<Box<BothEnds<EncodedIn<H>>>>,
}

impl<H: Holder> Entries<H> {
    /// Returns an iterator over the entries of a range. The holder can be a borrowed index, an `Arc` of one,
    /// for an iterator that is stored or sent to another thread, or an [`Exclusive`](super::Exclusive).
    ///
    /// ```
    /// use latchless::Index;
    /// use latchless::index::Entries;
    /// use std::sync::Arc;
    ///
    /// let index: Arc<Index<u64, u32>> = Arc::new((0..10).map(|key| (key, 0)).collect());
    /// let entries = Entries::of(Arc::clone(&index), 4..8);
    /// let reader = std::thread::spawn(move || entries.count());
    /// assert_eq!(reader.join().unwrap(), 4);
    /// ```
    #[inline]
    pub fn of(holder: H, range: impl RangeBounds<H::Key>) -> Self {
        Self::within(holder, encode_range::<H::Key, H::Value>(&range))
    }

    /// Returns an iterator over the entries of a range.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange).
    #[inline]
    pub(super) fn try_of(holder: H, range: impl RangeBounds<H::Key>) -> Result<Self> {
        Ok(Self::within(holder, try_encode_range::<H::Key, H::Value>(&range)?))
    }

    /// Returns an iterator over all entries.
    pub(super) fn all(holder: H) -> Self {
        Self::within(holder, Some(full_range::<H::Key, H::Value>()))
    }

    #[inline(always)]
    pub(super) fn within(holder: H, range: Option<EncodedRange<H::Key, H::Value>>) -> Self {
        // For a range without keys, one that starts after its end.
        let (low, high) = range.unwrap_or((Bits::MAX, Bits::MIN));
        let chunks = Chunks::new(low, high, Direction::Forward, usize::MAX);
        Self { holder, chunk: Chunk::default(), chunks, both: None }
    }

    /// Ends the iterator after `entries` more entries, counted from both ends together. It is better than
    /// [`take`](Iterator::take), because the iterator then prefetches no more than these entries fill. A
    /// lower limit that was set before stays.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, key as u32)).collect();
    /// assert_eq!(index.range(40..).limit(2).collect::<Vec<_>>(), [(40, 40), (41, 41)]);
    /// // The last ones before a key.
    /// assert_eq!(index.range(..40).limit(2).rev().collect::<Vec<_>>(), [(39, 39), (38, 38)]);
    /// ```
    #[inline]
    #[must_use = "it limits the iterator that it returns"]
    pub fn limit(mut self, entries: usize) -> Self {
        self.set_limit(entries);
        self
    }

    #[inline]
    fn set_limit(&mut self, entries: usize) {
        if let Some(both) = &mut self.both {
            return both.limit(entries);
        }
        let pending = self.pending();
        self.chunk.keep(entries, self.chunks.direction());
        self.chunks.want(self.chunks.wanted().min(entries.saturating_sub(pending)));
    }

    /// Returns the number of entries of the chunk that remain.
    #[inline(always)]
    fn pending(&self) -> usize {
        self.chunk.len()
    }

    /// Returns the encoded keys that neither end has passed yet.
    fn rest(&self) -> Option<EncodedRange<H::Key, H::Value>> {
        if let Some(both) = &self.both {
            return both.rest;
        }
        let (low, high) = self.chunks.whole();
        match (self.chunk.first(), self.chunk.last()) {
            (Some(first), Some(last)) => Some(match self.chunks.direction() {
                Direction::Forward => (first, high),
                Direction::Reverse => (low, last),
            }),
            _ => self.chunks.remaining(),
        }
    }

    /// Returns the maximum number of entries that may still be yielded.
    fn left(&self) -> usize {
        match &self.both {
            Some(both) => both.wanted,
            None => self.pending().saturating_add(self.chunks.wanted()),
        }
    }

    /// Fetches the next chunk for an end. Returns `false` if there is none, or if both ends are in use.
    #[inline(never)]
    fn fetch(&mut self, direction: Direction) -> bool {
        if self.both.is_some() {
            return false;
        }
        if self.chunks.direction() != direction {
            self.turn(direction);
            if self.both.is_some() {
                return false;
            }
        }
        self.chunks.next::<H::Mode>(&self.holder.words().tree, &mut self.chunk)
    }

    /// Switches to an end that isn't in use yet.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, direction: Direction) {
        let (Some((low, high)), wanted) = (self.rest(), self.left()) else { return };
        if !self.chunks.begun() {
            self.chunks = Chunks::new(low, high, direction, wanted);
            return;
        }
        self.both = Some(Box::new(BothEnds::new((low, high), wanted)));
        self.chunk.clear();
    }

    #[inline(never)]
    fn next_of_both(&mut self, direction: Direction) -> Option<(H::Key, H::Value)> {
        let both = self.both.as_mut()?;
        let found = both.next::<H::Mode>(&self.holder.words().tree, direction);
        found.map(decode_entry::<H::Key, H::Value>)
    }
}

impl<H: Holder> Iterator for Entries<H> {
    type Item = (H::Key, H::Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.chunk.take_first() {
                return Some(decode_entry::<H::Key, H::Value>(entry));
            }
            if !self.fetch(Direction::Forward) {
                return self.next_of_both(Direction::Forward);
            }
        }
    }

    /// At least the fetched entries remain; the total is known only at the end.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let limit = Some(self.left()).filter(|&left| left <= usize::MAX / 2);
        (self.pending(), if self.rest().is_none() { Some(0) } else { limit })
    }

    /// Counts by the leaves' first lines.
    fn count(self) -> usize {
        let Some((low, high)) = self.rest() else { return 0 };
        self.holder.words().tree.count::<H::Mode>(low, high).min(self.left())
    }

    /// Moves to the last entry at once, if no limit ends the iterator before it.
    fn last(mut self) -> Option<Self::Item> {
        if self.size_hint().1.is_none() { self.next_back() } else { self.fold(None, |_, entry| Some(entry)) }
    }

    /// Skips whole chunks at a time.
    #[inline]
    fn nth(&mut self, mut n: usize) -> Option<Self::Item> {
        while self.both.is_none() {
            n -= self.chunk.skip(n);
            if n == 0 {
                return self.next();
            }
            if !self.fetch(Direction::Forward) {
                break;
            }
        }
        (0..n).try_for_each(|_| self.next().map(drop))?;
        self.next()
    }

    /// Folds chunks at first, and then whole leaves.
    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(mut self, start: A, mut fold: F) -> A {
        let mut folded = start;
        for _ in 0..CHUNKS_BEFORE_LEAVES {
            while let Some(entry) = self.chunk.take_first() {
                folded = fold(folded, decode_entry::<H::Key, H::Value>(entry));
            }
            if !self.fetch(Direction::Forward) {
                break;
            }
        }
        let (Some((low, high)), mut left) = (self.rest(), self.left()) else { return folded };
        let mut folded = Some(folded);
        self.holder.words().tree.scan::<H::Mode>(low, high, Direction::Forward, left, |keys, values| {
            let entries = keys.iter().zip(values).take(left);
            let entries = entries.map(|(&key, &value)| decode_entry::<H::Key, H::Value>((key, value)));
            folded = folded.take().map(|so_far| entries.fold(so_far, &mut fold));
            left = left.saturating_sub(keys.len());
            left > 0
        });
        folded.expect("it is put back after each leaf")
    }
}

impl<H: Holder> DoubleEndedIterator for Entries<H> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.chunk.take_last() {
                return Some(decode_entry::<H::Key, H::Value>(entry));
            }
            if !self.fetch(Direction::Reverse) {
                return self.next_of_both(Direction::Reverse);
            }
        }
    }
}

impl<H: Holder> FusedIterator for Entries<H> {}

/// A clone goes on from the same entry.
impl<H: Shares> Clone for Entries<H> {
    fn clone(&self) -> Self {
        Self {
            holder: self.holder.clone(),
            chunk: self.chunk.clone(),
            chunks: self.chunks.clone(),
            both: self.both.clone(),
        }
    }
}

impl<H: Holder> fmt::Debug for Entries<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Encoded keys, because an end may be one that no key has.
        f.debug_struct("Entries").field("rest_lanes", &self.rest()).finish_non_exhaustive()
    }
}

/// The two ends of an iterator from both of which entries were taken.
struct BothEnds<B> {
    /// The encoded keys that neither end has passed yet.
    rest: Option<(B, B)>,
    /// The maximum number of entries that may still be yielded.
    wanted: usize,
    front: End<B>,
    back: End<B>,
}

/// One of two ends.
struct End<B> {
    chunks: Chunks<B>,
    chunk: Chunk<B>,
}

impl<B: Bits> Clone for BothEnds<B> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), back: self.back.clone(), ..*self }
    }
}

impl<B: Bits> Clone for End<B> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), chunk: self.chunk.clone() }
    }
}

impl<B: Bits> BothEnds<B> {
    fn new((low, high): (B, B), wanted: usize) -> Self {
        let end = |direction| {
            let chunks = Chunks::new(low, high, direction, usize::MAX);
            End { chunks, chunk: Chunk::default() }
        };
        let rest = (wanted > 0).then_some((low, high));
        Self { rest, wanted, front: end(Direction::Forward), back: end(Direction::Reverse) }
    }

    fn limit(&mut self, entries: usize) {
        self.wanted = self.wanted.min(entries);
        self.rest = self.rest.filter(|_| entries > 0);
    }

    fn next<M: Mode>(&mut self, tree: &BlinkTree<B>, direction: Direction) -> Option<(B, B)> {
        let (low, high) = self.rest?;
        let (found, rest) = match direction {
            Direction::Forward => {
                let found = self.front.next::<M>(tree, self.wanted).filter(|&(key, _)| key <= high);
                (found, found.and_then(|(key, _)| next(key)).map(|low| (low, high)))
            }
            Direction::Reverse => {
                let found = self.back.next::<M>(tree, self.wanted).filter(|&(key, _)| key >= low);
                (found, found.and_then(|(key, _)| previous(key)).map(|high| (low, high)))
            }
        };
        self.wanted -= 1;
        self.rest = rest.filter(|(low, high)| low <= high && self.wanted > 0);
        found
    }
}

impl<B: Bits> End<B> {
    fn next<M: Mode>(&mut self, tree: &BlinkTree<B>, wanted: usize) -> Option<(B, B)> {
        if self.chunk.is_empty() {
            self.chunks.want(wanted);
            if !self.chunks.next::<M>(tree, &mut self.chunk) {
                return None;
            }
        }
        match self.chunks.direction() {
            Direction::Forward => self.chunk.take_first(),
            Direction::Reverse => self.chunk.take_last(),
        }
    }
}

exclusive! {
    /// See [`Index::range`].
    #[inline]
    pub fn range(&self, range: impl RangeBounds<K>) -> Entries<&Self> {
        Entries::of(self, range)
    }

    /// See [`Index::try_range`].
    #[inline]
    pub fn try_range(&self, range: impl RangeBounds<K>) -> Result<Entries<&Self>> {
        Entries::try_of(self, range)
    }

    /// See [`Index::iter`].
    pub fn iter(&self) -> Entries<&Self> {
        Entries::all(self)
    }

    /// See [`Index::keys`].
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + Clone + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// See [`Index::values`].
    pub fn values(&self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + Clone + '_ {
        self.iter().map(|(_, value)| value)
    }
}

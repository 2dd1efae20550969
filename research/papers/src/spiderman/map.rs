//! The tree as a map from keys to values, and batches of requests on it.

use super::{BatchSize, Entries, Prefetch, Rounds, Scan};
use crate::common::interleave::{Interleaving, SizeTuner, interleave};
use crate::common::pages::{Page, PageEnd, Pages};
use crate::common::walk::Aim;
use crate::error;
use crate::spiderman::page::{Form, PageLayout};
use crate::spiderman::tree::{Landed, OlcOptions, OlcTree, PageWalk};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::{NoTrace, Work};

/// How batches are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Batching {
    /// The number of requests that walk together.
    pub size: BatchSize,
    /// The prefetch options of their walks.
    pub prefetch: Prefetch,
    /// The walks that take part in a round, and whether requests are served at the ends of their walks.
    pub rounds: Rounds,
}

impl Batching {
    /// The fastest form here.
    pub const BEST: Self =
        Self { size: BatchSize::Auto, prefetch: Prefetch::BEST, rounds: Rounds::Unfinished };
    /// The paper's form: options 1, 2 and 3, sixteen requests at a time.
    pub const PAPER: Self =
        Self { size: BatchSize::Of(16), prefetch: Prefetch::PAPER, rounds: Rounds::Naive };
}

/// Construction options of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How batches are served; `None`: one request after the other.
    pub batching: Option<Batching>,
    /// Bytes of a page: 128, 192 and so on up to the paper's 4096.
    pub page_bytes: usize,
    /// The maximum memory of pages, in bytes; `None`: no limit but the machine's memory.
    pub limit_bytes: Option<usize>,
    /// Whether pages of the tree are on the system's huge pages if it offers them.
    pub huge_pages: bool,
    /// The number of pages that references can distinguish; `None`: 2^32 − 1. Tests make it tiny.
    pub page_references: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            batching: Some(Batching::BEST),
            page_bytes: 4096,
            limit_bytes: None,
            huge_pages: true,
            page_references: None,
        }
    }
}

/// An ordered map on pages, which serves requests in batches.
///
/// Operations cost O(log n) unless stated otherwise; all of them take `&self` and may run on many threads
/// at once, except [`SpidermanMap::bulk_load`] and [`SpidermanMap::clear`].
///
/// ```
/// use latchless_core::base::request::{Reply, Request};
/// use latchless_papers::spiderman::SpidermanMap;
///
/// let prices = SpidermanMap::<u64, u32>::new()?;
/// let mut replies = Vec::new();
/// prices.execute(
///     &[
///         Request::Insert(101, 7),
///         Request::Insert(99, 5),
///         Request::Insert(101, 8),
///         Request::Get(99),
///         Request::Scan { from: 100, limit: 10 },
///         Request::Remove(101),
///     ],
///     &mut replies,
/// );
/// assert_eq!(replies[2], Reply::Inserted(Some(7)), "requests are served in their order");
/// assert_eq!(replies[3], Reply::Got(Some(5)));
/// assert_eq!(replies[4], Reply::Scanned(vec![(101, 8)]));
/// assert_eq!((replies[5].clone(), prices.len()), (Reply::Removed(Some(8)), 1));
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct SpidermanMap<K: Key, V: Fits<K::Bits>, T: Form = NoTrace> {
    tree: OlcTree<T>,
    batching: Option<Batching>,
    tuner: SizeTuner,
    entry: PhantomData<fn(K) -> V>,
}

/// A key as the tree's lane.
#[inline(always)]
fn lane<K: Key>(key: K) -> u64 {
    key.encode().to_u64()
}

/// A value as the tree's lane.
#[inline(always)]
fn value_lane<K: Key, V: Fits<K::Bits>>(value: V) -> u64 {
    value.encode_as().to_u64()
}

/// The value that the tree has as this lane.
#[inline(always)]
fn value_of<K: Key, V: Fits<K::Bits>>(lane: u64) -> V {
    V::decode_from(K::Bits::truncate(lane))
}

impl<K: Key, V: Fits<K::Bits>> SpidermanMap<K, V> {
    /// An empty map of 4096-byte pages with [`Batching::BEST`].
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(&Options::default())
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Form> SpidermanMap<K, V, T> {
    /// An empty map as the caller wants it.
    ///
    /// # Errors
    /// [`Error::PageSize`](crate::Error::PageSize), [`Error::BatchSize`](crate::Error::BatchSize), or when
    /// memory is refused.
    pub fn with_options(options: &Options) -> error::Result<Self> {
        if let Some(batching) = options.batching {
            batching.size.checked()?;
        }
        let tree = OlcTree::new(OlcOptions {
            page_bytes: options.page_bytes,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.page_references.unwrap_or(u32::MAX),
        })?;
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        Ok(Self { tree, batching: options.batching, tuner, entry: PhantomData })
    }

    /// The same map, which reports its accesses to `U` from here on. O(1).
    pub fn reporting_to<U: Form>(self) -> SpidermanMap<K, V, U> {
        let Self { tree, batching, tuner, entry } = self;
        SpidermanMap { tree: tree.reporting_to(), batching, tuner, entry }
    }

    pub(super) fn tree(&self) -> &OlcTree<T> {
        &self.tree
    }

    /// Returns how batches are served; `None`: one request after the other.
    pub fn batching(&self) -> Option<Batching> {
        self.batching
    }

    /// Changes how batches are served. The tuning of sizes starts again.
    ///
    /// # Errors
    /// [`Error::BatchSize`](crate::Error::BatchSize); nothing is changed then.
    pub fn set_batching(&mut self, batching: Option<Batching>) -> error::Result<()> {
        if let Some(batching) = batching {
            batching.size.checked()?;
        }
        self.batching = batching;
        self.tuner = SizeTuner::new(BatchSize::CANDIDATES);
        Ok(())
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.tree.get(lane(key)).map(value_of::<K, V>)
    }

    /// Returns whether a key is present.
    #[inline]
    pub fn contains_key(&self, key: K) -> bool {
        self.tree.get(lane(key)).is_some()
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the map's entries are then as before.
    #[inline]
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.tree.put(lane(key), value_lane::<K, V>(value))?.map(value_of::<K, V>))
    }

    /// Removes a key and returns its value.
    #[inline]
    pub fn remove(&self, key: K) -> Option<V> {
        self.tree.take(lane(key)).map(value_of::<K, V>)
    }

    /// Leads `len` requests to their leaves, batch by batch, and has each served there, in their order.
    #[inline(always)]
    fn batches(
        &self,
        len: usize,
        request_at: impl Fn(usize) -> (K, Aim),
        mut serve: impl FnMut(usize, Option<Landed>),
    ) {
        let Some(Batching { size, prefetch, rounds }) = self.batching else {
            return (0..len).for_each(|at| serve(at, None));
        };
        let walk = PageWalk::new(&self.tree, prefetch, rounds == Rounds::Unfinished)
            .in_turns(size != BatchSize::Of(1));
        let interleaving = Interleaving { size, rounds, tuner: &self.tuner, levels: self.tree.levels() };
        let request_at = |at| {
            let (key, aim) = request_at(at);
            (lane(key), aim)
        };
        interleave(&walk, interleaving, len, request_at, |at, leaf| {
            T::work(Work::Serve);
            serve(at, leaf);
        });
    }

    #[inline(always)]
    fn get_at(&self, leaf: Option<Landed>, key: K) -> Option<V> {
        let found = match leaf {
            Some(leaf) => self.tree.get_from(leaf, lane(key)),
            None => self.tree.get(lane(key)),
        };
        found.map(value_of::<K, V>)
    }

    #[inline(always)]
    fn insert_at(&self, leaf: Option<Landed>, key: K, value: V) -> Result<Option<V>> {
        let value = value_lane::<K, V>(value);
        let before = match leaf {
            Some(leaf) => self.tree.put_from(leaf, lane(key), value),
            None => self.tree.put(lane(key), value),
        };
        Ok(before?.map(value_of::<K, V>))
    }

    #[inline(always)]
    fn remove_at(&self, leaf: Option<Landed>, key: K) -> Option<V> {
        let taken = match leaf {
            Some(leaf) => self.tree.take_at(leaf, lane(key)),
            None => self.tree.take(lane(key)),
        };
        taken.map(value_of::<K, V>)
    }

    /// The first entries from a key on, at most `limit`.
    fn scan_at(&self, leaf: Option<Landed>, from: K, limit: usize, page: &mut Page<u64>) -> Vec<(K, V)> {
        let (mut low, high) = (lane(from), K::Bits::MAX.to_u64());
        // Grows with the entries that are found: a limit may be far above their number.
        let mut entries = Vec::new();
        let mut leaf = leaf;
        loop {
            page.clear_for(limit - entries.len());
            let found = self.tree.scan_from(leaf.take(), low, high, page);
            let pairs = page.keys().iter().zip(page.values());
            entries.extend(
                pairs.map(|(&key, &value)| (K::decode(K::Bits::truncate(key)), value_of::<K, V>(value))),
            );
            match found {
                PageEnd::UpTo(next) if entries.len() < limit => low = next,
                _ => return entries,
            }
        }
    }

    /// Looks up each key; the answers are in the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `answers` isn't as long as `keys`.
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let request_at = |at: usize| (keys[at], Aim::Look);
        self.batches(keys.len(), request_at, |at, leaf| answers[at] = self.get_at(leaf, keys[at]));
        Ok(())
    }

    /// Puts every entry in, in their order; `replaced` gets one answer an entry.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], or memory was refused: each entry is then in or not, whole, and the batch
    /// may be repeated.
    pub fn insert_many(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        let mut refused = Ok(());
        let request_at = |at: usize| (entries[at].0, Aim::Change);
        self.batches(entries.len(), request_at, |at, leaf| {
            let (key, value) = entries[at];
            match self.insert_at(leaf, key, value) {
                Ok(before) => replaced[at] = before,
                Err(error) => refused = Err(error),
            }
        });
        refused
    }

    /// Removes every key, in their order; `removed` gets one answer a key.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    pub fn remove_many(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        let request_at = |at: usize| (keys[at], Aim::Change);
        self.batches(keys.len(), request_at, |at, leaf| removed[at] = self.remove_at(leaf, keys[at]));
        Ok(())
    }

    /// Serves mixed requests in their order, one reply each (the paper's Algorithm 3).
    pub fn execute(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        replies.reserve(requests.len());
        let mut page = self.tree.empty_page(0);
        let request_at = |at: usize| match requests[at] {
            Request::Get(key) => (key, Aim::Look),
            Request::Insert(key, _) | Request::Remove(key) => (key, Aim::Change),
            Request::Scan { from, limit } => (from, Aim::Run(limit)),
        };
        self.batches(requests.len(), request_at, |at, leaf| {
            replies.push(match requests[at] {
                Request::Get(key) => Reply::Got(self.get_at(leaf, key)),
                Request::Insert(key, value) => {
                    self.insert_at(leaf, key, value).map_or_else(Reply::Refused, Reply::Inserted)
                }
                Request::Remove(key) => Reply::Removed(self.remove_at(leaf, key)),
                Request::Scan { limit: 0, .. } => Reply::Refused(Error::EmptyBuffer),
                Request::Scan { from, limit } => Reply::Scanned(self.scan_at(leaf, from, limit, &mut page)),
            });
        });
    }

    /// Fills an empty map from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`]; [`Error::Unsorted`] and [`Error::DuplicateKey`] name the first position at
    /// fault; or memory is refused. The map is then as before.
    pub fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        let entry_at = |at: usize| (lane(entries[at].0), value_lane::<K, V>(entries[at].1));
        self.tree.bulk_load(entries.len(), entry_at, fill)
    }

    /// Returns the number of entries: exact while no other thread changes it. O(1).
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether there is no entry, as exact as [`SpidermanMap::len`]. O(1).
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Forgets everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When memory for an empty map is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.tree.clear()
    }

    /// The entries of a range in ascending order of keys. Borrows the map, holds no latch.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, T>> {
        Ok(Entries::new(self.scanner(range, Direction::Forward)?))
    }

    /// The entries of a range in descending order of keys.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range_reverse(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, T>> {
        Ok(Entries::new(self.scanner(range, Direction::Reverse)?))
    }

    /// A scan that fills the caller's buffers and pauses in between for as long as the caller likes.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<'_, K, V, T>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(Scan::new(&self.tree, encoded_range(&span)?, direction, usize::MAX))
    }

    /// Returns the number of entries in a range. O(entries in the range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        Ok(lanes.map_or(0, |(low, high)| self.tree.count(low.to_u64(), high.to_u64())))
    }

    /// Bytes that the map holds for pages, those included that wait to be used again. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.tree.held_bytes()
    }

    /// Bytes of the pages that are part of the tree. O(threads).
    pub fn live_bytes(&self) -> usize {
        self.tree.live_bytes()
    }

    /// Returns levels, pages, fill, splits, restarts. Reads every page; the map must be at rest. O(n).
    pub fn stats(&self) -> Stats {
        self.tree.stats()
    }

    /// Returns the layout of pages.
    pub fn page_layout(&self) -> PageLayout {
        self.tree.layout()
    }

    /// The address of every page, and how many levels it is above the leaves. Wants the map at rest. O(n).
    pub fn pages(&self) -> Vec<(usize, usize)> {
        self.tree.pages()
    }

    /// Checks every page, and reports the first violation. The map must be at rest. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    /// Writes the tree's pages as text, keys as their lanes. Wants the map at rest.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.tree.dump(out)
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Form> fmt::Debug for SpidermanMap<K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = encoded_range::<K>(&(Bound::Unbounded, Bound::Unbounded)).unwrap_or_default();
        let scan = Scan::<K, V, T>::new(&self.tree, all, Direction::Forward, usize::MAX);
        f.debug_map().entries(Entries::<K, V, T>::new(scan)).finish()
    }
}

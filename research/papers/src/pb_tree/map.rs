//! The family's trees as maps from keys to values.

use super::options::Options;
use super::range::lane_range;
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::walk::{Aim, Rounds};
use crate::error;
use crate::pb_tree::node::{External, Grouped, Internal, NodeOptions, Plain, Shape, Shaped, Sweeping};
use crate::pb_tree::tree::{Lanes, Pairs, Scan, Tree, TreeOptions, ValuesOnly};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, check_buffers, check_side_by_side};
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::Dispatch;

/// The shape of a map with keys `K` and form `F`, without a tracing hook.
pub type Quiet<K, F> = Shaped<<K as Key>::Bits, F, NoTrace>;

/// The B+-Tree with one-line nodes and no prefetch: the baseline.
pub type BPlusTree<K, V> = PbTree<K, V, Quiet<K, Plain<1>>>;
/// The p^w B+-Tree: nodes of `W` lines, prefetched whole.
pub type PTree<K, V, const W: usize> = PbTree<K, V, Quiet<K, Plain<W>>>;
/// The p_e^w B+-Tree: nodes of `W` lines and an external jump-pointer array.
pub type PExternalTree<K, V, const W: usize> = PbTree<K, V, Quiet<K, External<W>>>;
/// The p_i^w B+-Tree: nodes of `W` lines and an internal jump-pointer array.
pub type PInternalTree<K, V, const W: usize> = PbTree<K, V, Quiet<K, Internal<W>>>;
/// Nodes of `W` lines; scans sweep their root-to-leaf path ahead of themselves (§5).
pub type PSweepTree<K, V, const W: usize> = PbTree<K, V, Quiet<K, Sweeping<W>>>;
/// The CSB+-Tree (`W` = 1) and the p^w CSB+-Tree: children in node groups.
pub type CsbTree<K, V, const W: usize> = PbTree<K, V, Quiet<K, Grouped<W>>>;

/// An ordered map with one value a key, for one writer or many readers at a time.
///
/// The member of the family is its shape `S`; the aliases in this module name them all.
/// [`PInternalTree<K, V, 8>`](PInternalTree) is a good first choice.
///
/// Operations cost O(log n) unless stated otherwise. Reads take `&self` and may run on many threads at
/// once; updates take `&mut self`.
///
/// ```
/// use latchless_papers::pb_tree::PInternalTree;
///
/// let mut prices = PInternalTree::<u64, u32, 8>::new()?;
/// prices.insert(101, 7)?;
/// prices.insert(99, 5)?;
/// prices.insert(105, 3)?;
/// assert_eq!(prices.get(99), Some(5));
/// assert_eq!(prices.range(100..)?.collect::<Vec<_>>(), [(101, 7), (105, 3)]);
/// assert_eq!(prices.floor(104), Some((101, 7)));
/// assert_eq!(prices.remove(101), Some(7));
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct PbTree<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> {
    pub(super) tree: Tree<S>,
    entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> PbTree<K, V, S> {
    /// An empty map.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(&Options::default())
    }

    /// An empty map with a memory limit, a search kernel or a prefetch distance of the caller's
    /// choice.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`](latchless_core::base::error::Error::KernelUnavailable), or when memory is
    /// refused.
    pub fn with_options(options: &Options) -> error::Result<Self> {
        let tree = Tree::new(TreeOptions {
            nodes: NodeOptions {
                limit_bytes: options.limit_bytes,
                huge_pages: options.huge_pages,
                references: options.node_references,
                placement: options.placement,
            },
            dispatch: options.kernel.map_or(Ok(Dispatch::best()), Dispatch::of)?,
            scan_ahead_leaves: options.scan_ahead_leaves,
            short_scan_entries: options.short_scan_entries,
            scan_prefetch: options.scan_prefetch,
        })?;
        Ok(Self { tree, entry: PhantomData })
    }

    /// A map filled from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// [`Error::Unsorted`](latchless_core::base::error::Error::Unsorted) and
    /// [`Error::DuplicateKey`](latchless_core::base::error::Error::DuplicateKey) name the first position at
    /// fault; or memory is refused.
    pub fn from_sorted(entries: &[(K, V)], fill: FillFactor) -> error::Result<Self> {
        let mut map = Self::new()?;
        map.bulk_load(entries, fill)?;
        Ok(map)
    }

    /// Fills an empty map from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// Those of [`PbTree::from_sorted`], and
    /// [`Error::NotEmpty`](latchless_core::base::error::Error::NotEmpty). The map is then unchanged.
    pub fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.tree.bulk_load(entries.iter().map(|&(key, value)| (key.encode(), value.encode_as())), fill)
    }

    /// Returns the number of keys. O(1).
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether the map is empty. O(1).
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Forgets everything and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.tree.clear();
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.tree.get(key.encode()).map(V::decode_from)
    }

    /// Returns whether a key is present.
    #[inline]
    pub fn contains_key(&self, key: K) -> bool {
        self.tree.get(key.encode()).is_some()
    }

    /// Looks up each key; the answers are in the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers) if `answers` isn't as
    /// long as `keys`.
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut places = answers.iter_mut();
        self.tree.get_each(keys.iter().map(|key| key.encode()), |value| {
            if let Some(place) = places.next() {
                *place = value.map(V::decode_from);
            }
        });
        Ok(())
    }

    /// Looks up each key like [`get_many`](Self::get_many), through the executor that all trees share
    /// ([`interleave`]), in batches of the caller's size. Nodes of this family are prefetched whole, so
    /// this family's own executor saves only bookkeeping.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers),
    /// [`Error::BatchSize`](crate::Error::BatchSize).
    pub fn get_many_interleaved(
        &self,
        keys: &[K],
        answers: &mut [Option<V>],
        size: BatchSize,
    ) -> error::Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let (walk, tuner) = (self.tree.walk(), SizeTuner::new(BatchSize::CANDIDATES));
        let size = size.checked()?;
        let levels = self.stats().levels;
        let how = Interleaving { size, rounds: Rounds::Unfinished, tuner: &tuner, levels };
        interleave(
            &walk,
            how,
            keys.len(),
            |at| (keys[at].encode(), Aim::Look),
            |at, leaf| {
                let lane = keys[at].encode();
                let found = match leaf {
                    Some(leaf) => self.tree.get_from(leaf, lane),
                    None => self.tree.get(lane),
                };
                answers[at] = found.map(V::decode_from);
            },
        );
        Ok(())
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused: by the system, by the map's limit, or because all 4-byte node
    /// references are in use. The map is then as before.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.tree.insert(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.tree.remove(key.encode()).map(V::decode_from)
    }

    /// The entry with the smallest key.
    pub fn first_key_value(&self) -> Option<(K, V)> {
        self.one((Bound::Unbounded, Bound::Unbounded), Direction::Forward)
    }

    /// The entry with the largest key.
    pub fn last_key_value(&self) -> Option<(K, V)> {
        self.one((Bound::Unbounded, Bound::Unbounded), Direction::Reverse)
    }

    /// The entry with the largest key that is at most `key`.
    pub fn floor(&self, key: K) -> Option<(K, V)> {
        self.one((Bound::Unbounded, Bound::Included(key)), Direction::Reverse)
    }

    /// The entry with the smallest key that is at least `key`.
    pub fn ceiling(&self, key: K) -> Option<(K, V)> {
        self.one((Bound::Included(key), Bound::Unbounded), Direction::Forward)
    }

    fn one(&self, span: (Bound<K>, Bound<K>), direction: Direction) -> Option<(K, V)> {
        let range = lane_range(&span).ok()?;
        let mut found = Lanes::<S::Bits, 1>::default();
        self.tree.scan(range, direction == Direction::Forward).fill(&mut found);
        found.entries().first().map(|&(key, value)| (K::decode(key), V::decode_from(value)))
    }

    /// The entries of a range in ascending order.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, S>> {
        Ok(Entries::new(self.scanner(range, Direction::Forward)?))
    }

    /// The entries of a range in descending order.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn range_reverse(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, S>> {
        Ok(Entries::new(self.scanner(range, Direction::Reverse)?))
    }

    /// Returns all entries in ascending order.
    pub fn iter(&self) -> Entries<'_, K, V, S> {
        let all = lane_range::<K>(&(Bound::Unbounded, Bound::Unbounded)).unwrap_or_default();
        Entries::new(Paused { scan: self.tree.scan(all, true), entry: PhantomData })
    }

    /// A scan that fills the caller's buffers, pauses when they are full and resumes where it
    /// stopped.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Paused<'_, K, V, S>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        let scan = self.tree.scan(lane_range(&span)?, direction == Direction::Forward);
        Ok(Paused { scan, entry: PhantomData })
    }

    /// Returns the number of keys in a range. O(leaves in the range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(self.tree.count(lane_range(&span)?))
    }

    /// Bytes that the map holds. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
    }

    /// Levels, nodes, fill and splits. O(1).
    pub fn stats(&self) -> Stats {
        self.tree.stats()
    }

    /// Checks every node, and reports the first violation. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree.check_invariants()
    }

    /// Writes the tree's nodes as text, keys as their lanes.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.tree.dump(out)
    }
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> fmt::Debug for PbTree<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a, K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> IntoIterator for &'a PbTree<K, V, S> {
    type Item = (K, V);
    type IntoIter = Entries<'a, K, V, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A paused scan: see [`PbTree::scanner`].
#[derive(Debug)]
pub struct Paused<'a, K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> {
    scan: Scan<'a, S>,
    entry: PhantomData<fn() -> (K, V)>,
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> Paused<'_, K, V, S> {
    /// Copies the next entries to two buffers of equal length and returns their number; 0 at the end of
    /// the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.scan.fill(&mut Pairs::new(keys, values)))
    }

    /// Announces that the caller will read that many entries after the next buffer is full, so that jump
    /// pointers are followed beyond it. The announcement doesn't change the entries.
    pub fn expect_more(&mut self, entries: usize) {
        self.scan.expect_more(entries);
    }

    /// Copies the next values alone and returns their number; 0 at the end of the range.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self.scan.fill(&mut ValuesOnly::new(values)))
    }
}

/// Entries that an iterator fetches at a time.
const PAGE: usize = 32;

/// An iterator over the entries of a range. It fetches pages of entries, so a step rarely reads the tree.
#[derive(Debug)]
pub struct Entries<'a, K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> {
    scan: Paused<'a, K, V, S>,
    page: Lanes<S::Bits, PAGE>,
    at: usize,
}

impl<'a, K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> Entries<'a, K, V, S> {
    fn new(scan: Paused<'a, K, V, S>) -> Self {
        Self { scan, page: Lanes::default(), at: 0 }
    }
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> Iterator for Entries<'_, K, V, S> {
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        if self.at == self.page.entries().len() {
            self.page.clear();
            self.at = 0;
            // The iterator announces as many entries as it has read so far.
            let seen = self.scan.scan.seen();
            self.scan.expect_more(seen);
            self.scan.scan.fill(&mut self.page);
        }
        let &(key, value) = self.page.entries().get(self.at)?;
        self.at += 1;
        Some((K::decode(key), V::decode_from(value)))
    }
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> core::iter::FusedIterator for Entries<'_, K, V, S> {}

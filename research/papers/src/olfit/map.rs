//! The family's trees as maps from keys to values.

use super::options::Options;
use super::{Concurrent, Entries, Kind, Scan, Scheme};
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::pages::Pages;
use crate::common::walk::{Aim, Rounds};
use crate::error;
use crate::olfit::node::Of;
use crate::olfit::tree::{OlfitTree, TreeOptions};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::NoTrace;

/// The kind of a map with keys `K` and family `F`, without a tracing hook.
pub type Quiet<K, F> = Of<<K as Key>::Bits, F, NoTrace>;

/// An ordered map of the family; its kind `D` determines the tree and the scheme.
///
/// Operations cost O(log n) unless stated otherwise. Under all schemes but NO every operation takes
/// `&self` and may run on many threads at once; under NO updates take `&mut self`
/// ([`OrderedIndex`](latchless_core::base::index::OrderedIndex) does for all).
///
/// ```
/// use latchless_papers::olfit::{BPlus, Olfit, OlfitMap, Quiet};
///
/// let prices = OlfitMap::<u64, u64, Quiet<u64, BPlus<Olfit>>>::new()?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| prices.insert(101, 7));
///     threads.spawn(|| prices.insert(99, 5));
/// });
/// assert_eq!(prices.get(99), Some(5));
/// assert_eq!(prices.range(100..)?.collect::<Vec<_>>(), [(101, 7)]);
/// assert_eq!(prices.remove(101), Some(7));
/// # Ok::<(), latchless_papers::Error>(())
/// ```
///
/// With duplicates, as in the paper:
/// ```
/// use latchless_papers::olfit::{CsbPlus, LockCoupling, OlfitMap, Options, Quiet};
///
/// let options = Options { duplicates: true, node_bytes: 256, ..Options::default() };
/// let rows = OlfitMap::<u32, u32, Quiet<u32, CsbPlus<LockCoupling>>>::with_options(&options)?;
/// for (row, word) in [7, 3, 7, 7].into_iter().enumerate() {
///     rows.insert(word, row as u32)?;
/// }
/// assert_eq!(rows.count(7..=7)?, 3);
/// assert!(rows.remove_entry(7, 2));
/// let mut left: Vec<u32> = rows.range(7..=7)?.map(|(_, row)| row).collect();
/// left.sort();
/// assert_eq!(left, [0, 3]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct OlfitMap<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> {
    pub(super) shared: Shared<K, V, D>,
}

/// The map as threads share it: what updates through `&self` go through.
pub(super) struct Shared<K, V, D: Kind> {
    pub(super) tree: OlfitTree<D>,
    tuner: SizeTuner,
    pub(super) entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> Shared<K, V, D> {
    pub(super) fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.tree.put(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    pub(super) fn remove(&self, key: K) -> Option<V> {
        self.tree.take(key.encode(), None).map(V::decode_from)
    }
}

/// Updates, for many threads at once.
impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> OlfitMap<K, V, D>
where
    D::Scheme: Concurrent,
{
    /// Inserts a value under a key and returns the value that it replaces; in a map with duplicates it is
    /// added to those that are present.
    ///
    /// # Errors
    /// When memory is refused: by the system, by the map's limit, or because all node references are in
    /// use. The map is then as before.
    #[inline]
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        self.shared.insert(key, value)
    }

    /// Removes a key and returns its value; in a map with duplicates, one of them.
    #[inline]
    pub fn remove(&self, key: K) -> Option<V> {
        self.shared.remove(key)
    }

    /// Removes an entry with this key and this value, if there is one. O(log n + entries of the key).
    pub fn remove_entry(&self, key: K, value: V) -> bool {
        self.shared.tree.take(key.encode(), Some(value.encode_as())).is_some()
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> OlfitMap<K, V, D> {
    /// An empty map of 128-byte nodes, one value a key.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(&Options::default())
    }

    /// An empty map with nodes of the caller's size, with duplicates, or with a memory limit.
    ///
    /// # Errors
    /// [`Error::NodeSize`](crate::Error::NodeSize), or when memory is refused.
    pub fn with_options(options: &Options) -> error::Result<Self> {
        let tree = OlfitTree::new(TreeOptions {
            node_bytes: options.node_bytes,
            duplicates: options.duplicates,
            limit_bytes: options.limit_bytes,
            huge_pages: options.huge_pages,
            references: options.node_references.unwrap_or(u32::MAX),
        })?;
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        Ok(Self { shared: Shared { tree, tuner, entry: PhantomData } })
    }

    pub(super) fn tree(&self) -> &OlfitTree<D> {
        &self.shared.tree
    }

    /// Inserts with exclusive access, the only way under NO; see [`OlfitMap::insert`].
    ///
    /// # Errors
    /// Those of [`OlfitMap::insert`].
    pub fn insert_alone(&mut self, key: K, value: V) -> Result<Option<V>> {
        self.shared.insert(key, value)
    }

    /// Removes a key with exclusive access; see [`OlfitMap::remove`].
    pub fn remove_alone(&mut self, key: K) -> Option<V> {
        self.shared.remove(key)
    }

    /// Removes an entry with exclusive access; see [`OlfitMap::remove_entry`].
    pub fn remove_entry_alone(&mut self, key: K, value: V) -> bool {
        self.tree().take(key.encode(), Some(value.encode_as())).is_some()
    }

    /// Fills an empty map from ascending entries, strictly ascending ones unless it has duplicates. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`](latchless_core::base::error::Error::NotEmpty);
    /// [`Error::Unsorted`](latchless_core::base::error::Error::Unsorted) and
    /// [`Error::DuplicateKey`](latchless_core::base::error::Error::DuplicateKey) name the first position at
    /// fault; or memory is refused. The map is then as before.
    pub fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        let entry_at = |at: usize| (entries[at].0.encode(), entries[at].1.encode_as());
        self.shared.tree.bulk_load(entries.len(), entry_at, fill)
    }

    /// Returns the number of entries: exact while no other thread changes it. O(1).
    pub fn len(&self) -> usize {
        self.tree().len()
    }

    /// Returns whether there is no entry, as exact as [`OlfitMap::len`]. O(1).
    pub fn is_empty(&self) -> bool {
        self.tree().is_empty()
    }

    /// Returns whether a key may be present more than once.
    pub fn has_duplicates(&self) -> bool {
        self.tree().has_duplicates()
    }

    /// Forgets everything and gives the memory back to the system.
    ///
    /// # Errors
    /// When memory for an empty map is refused, which it had before.
    pub fn clear(&mut self) -> Result<()> {
        self.shared.tree.clear()
    }

    /// The value under a key; in a map with duplicates, one of them.
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.tree().get(key.encode()).map(V::decode_from)
    }

    /// Looks up each key; the answers are in the keys' order. The descents take turns while memory is
    /// loaded ([`interleave`]).
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](latchless_core::base::error::Error::UnequalBuffers) if `answers` isn't as
    /// long as `keys`.
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        if self.has_duplicates() {
            // Entries of one key may be in several leaves.
            answers.iter_mut().zip(keys).for_each(|(answer, &key)| *answer = self.get(key));
            return Ok(());
        }
        let walk = self.tree().walk();
        let request_at = |at: usize| (keys[at].encode(), Aim::Look);
        interleave(&walk, self.interleaving(), keys.len(), request_at, |at, leaf| {
            answers[at] = walk.get(leaf, keys[at].encode()).map(V::decode_from);
        });
        Ok(())
    }

    fn interleaving(&self) -> Interleaving<'_> {
        Interleaving {
            size: BatchSize::Auto,
            rounds: Rounds::Unfinished,
            tuner: &self.shared.tuner,
            levels: self.tree().levels(),
        }
    }

    /// Loads the paths to the keys of a batch into caches before each is updated, if memory is reused for
    /// its own level only; otherwise no descent may read while another one waits for memory.
    pub(super) fn update_each(&self, len: usize, key_at: impl Fn(usize) -> K, mut update: impl FnMut(usize)) {
        if !D::Scheme::AT_ONCE {
            return (0..len).for_each(update);
        }
        let request_at = |at: usize| (key_at(at).encode(), Aim::Change);
        interleave(&self.tree().walk(), self.interleaving(), len, request_at, |at, _| update(at));
    }

    /// Returns whether a key is present.
    #[inline]
    pub fn contains_key(&self, key: K) -> bool {
        self.tree().get(key.encode()).is_some()
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
        Entries::new(Scan::new(self.tree(), encoded_range(&span).ok()?, direction, 1)).next()
    }

    /// The entries of a range in ascending order of keys. Borrows the map, holds no latch and no pin.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, D>> {
        Ok(Entries::new(self.scanner(range, Direction::Forward)?))
    }

    /// The entries of a range in descending order of keys.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn range_reverse(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, D>> {
        Ok(Entries::new(self.scanner(range, Direction::Reverse)?))
    }

    /// A scan that fills the caller's buffers, pauses when they are full and resumes where it stopped.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<'_, K, V, D>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(Scan::new(self.tree(), encoded_range(&span)?, direction, usize::MAX))
    }

    /// Returns the number of entries in a range. O(leaves in the range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange).
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let lanes = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        Ok(lanes.map_or(0, |(low, high)| self.tree().count(low, high)))
    }

    /// Bytes that the map holds for nodes, those included that wait to be used again. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.tree().held_bytes()
    }

    /// Bytes of the nodes that are part of the tree. O(threads).
    pub fn live_bytes(&self) -> usize {
        self.tree().live_bytes()
    }

    /// Returns levels, nodes, fill, splits, restarts. Reads every node; the map must be at rest. O(n).
    pub fn stats(&self) -> Stats {
        self.tree().stats()
    }

    /// Returns the number of splits of nodes of each level, the leaves' first. Each split is an update of
    /// the level above, so this over the number of inserts is what Eq. (2) predicts.
    pub fn splits_by_level(&self) -> Vec<u64> {
        self.tree().splits_by_level()
    }

    /// Returns how many entries a leaf, and how many children an inner node has room for: Table 1.
    pub fn fanouts(&self) -> (usize, usize) {
        let layout = self.tree().layout();
        (layout.leaf_places, layout.inner_places)
    }

    /// Checks every node, and reports the first violation. The map must be at rest. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.tree().check_invariants()
    }

    /// Writes the tree's nodes as text, keys as their lanes. Wants the map at rest.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.tree().dump(out)
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> fmt::Debug for OlfitMap<K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = encoded_range::<K>(&(Bound::Unbounded, Bound::Unbounded)).unwrap_or_default();
        let entries = Entries::<K, V, D>::new(Scan::new(self.tree(), all, Direction::Forward, usize::MAX));
        f.debug_map().entries(entries).finish()
    }
}

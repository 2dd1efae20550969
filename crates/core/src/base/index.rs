//! The object-safe trait of all indexes, used by tests, the command line and benchmarks.

use super::error::{Broken, Error, Result};
use super::fill::FillFactor;
use super::key::{Bits, Key};
use super::request::{Reply, Request};
use super::stats::Stats;
use super::value::Value;
use core::ops::Bound;

/// The direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Ascending, from the smallest key of the range.
    #[default]
    Forward,
    /// Descending, from the largest key of the range.
    Reverse,
}

/// A range of keys; each end is included, excluded or unbounded.
pub type Span<K> = (Bound<K>, Bound<K>);

/// The result of [`OrderedIndex::sum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// The number of entries.
    pub entries: usize,
    /// The sum of their encoded values, modulo 2^64.
    pub total: u64,
}

/// An ordered map from `K` to `V` in main memory, with one value per key.
///
/// Object-safe, so that one test body, one benchmark and one command line serve every index.
/// Reads take `&self` and may run on many threads at once; updates take `&mut self`. An index
/// that also takes updates from many threads says so through [`OrderedIndex::as_concurrent`].
pub trait OrderedIndex<K: Copy, V: Copy>: Send + Sync {
    /// Returns the number of keys.
    fn len(&self) -> usize;

    /// Returns `true` if the index is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of `key`, if the key is present.
    fn get(&self, key: K) -> Option<V>;

    /// Looks up all keys of a batch, one answer per key in the keys' order. The result is that of one
    /// [`OrderedIndex::get`] per key; an implementation may overlap the lookups.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `answers` isn't as long as `keys`.
    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        for (answer, &key) in answers.iter_mut().zip(keys) {
            *answer = self.get(key);
        }
        Ok(())
    }

    /// Inserts an entry and returns the value that it replaced, if any.
    ///
    /// # Errors
    /// Memory was refused; the index is then unchanged.
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>>;

    /// Removes `key` and returns its value, if the key was present.
    fn remove(&mut self, key: K) -> Option<V>;

    /// Inserts all entries of a batch. The result is that of one [`OrderedIndex::insert`] per entry in
    /// order: of entries with equal keys the last one stays. `replaced` gets one answer per entry, in the
    /// entries' order. An implementation may overlap the descents.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `replaced` isn't as long as `entries`; the index is then unchanged. If
    /// memory was refused, each entry is either inserted or not, and the batch may be repeated.
    fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        for (replaced, &(key, value)) in replaced.iter_mut().zip(entries) {
            *replaced = self.insert(key, value)?;
        }
        Ok(())
    }

    /// Removes all keys of a batch. The result is that of one [`OrderedIndex::remove`] per key in order: of
    /// equal keys the first one gets the value. `removed` gets one answer per key, in the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `removed` isn't as long as `keys`; the index is then unchanged.
    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        for (removed, &key) in removed.iter_mut().zip(keys) {
            *removed = self.remove(key);
        }
        Ok(())
    }

    /// Calls `each` with the first `limit` entries of `span`, ascending, as pairs of slices of keys and
    /// values. Returns the number of entries. Sums and other folds are built on it.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn for_each_chunk(&self, span: Span<K>, limit: usize, each: &mut dyn FnMut(&[K], &[V])) -> Result<usize>
    where
        K: Default,
        V: Default,
    {
        const PAGE: usize = 128;
        let (mut keys, mut values) = ([K::default(); PAGE], [V::default(); PAGE]);
        let mut scanner = self.scanner(span, Direction::Forward)?;
        let mut seen = 0;
        while seen < limit {
            let room = PAGE.min(limit - seen);
            let found = scanner.fill(&mut keys[..room], &mut values[..room])?;
            if found == 0 {
                break;
            }
            each(&keys[..found], &values[..found]);
            seen += found;
        }
        Ok(seen)
    }

    /// Returns the wrapping sum of the encoded values of the first `limit` entries of `span`, ascending, and
    /// the number of these entries.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum>
    where
        K: Key + Default,
        V: Value + Default,
    {
        let mut total = 0u64;
        let entries = self.for_each_chunk(span, limit, &mut |_, values| {
            total = values.iter().fold(total, |sum, value| sum.wrapping_add(value.encode().to_u64()));
        })?;
        Ok(Sum { entries, total })
    }

    /// Copies entries of `span` to `keys` and `values`, in the order of `direction`, until the range or the
    /// buffers end. Returns the number of entries.
    ///
    /// # Errors
    /// [`Error::InvertedRange`], [`Error::EmptyBuffer`], [`Error::UnequalBuffers`].
    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize>;

    /// Returns a scan that pauses whenever the caller's buffer is full and resumes where it stopped (the
    /// paper's segmented scan).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>>;

    /// Returns the number of keys in `span`.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn count(&self, span: Span<K>) -> Result<usize>;

    /// Fills an empty index from strictly ascending entries.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the index is
    /// then unchanged.
    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()>;

    /// Serves mixed requests in order, one reply per request.
    fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>)
    where
        K: Default,
        V: Default,
    {
        replies.reserve(requests.len());
        for &request in requests {
            replies.push(match request {
                Request::Get(key) => Reply::Got(self.get(key)),
                Request::Insert(key, value) => {
                    self.insert(key, value).map_or_else(Reply::Refused, Reply::Inserted)
                }
                Request::Remove(key) => Reply::Removed(self.remove(key)),
                Request::Scan { from, limit } => scanned(self, from, limit),
            });
        }
    }

    /// Returns the bytes that the index holds for keys, values and structure, if it counts them itself.
    fn memory_bytes(&self) -> Option<usize>;

    /// Returns the shape of the index, if it has one to report.
    fn stats(&self) -> Option<Stats> {
        None
    }

    /// Checks all invariants of the structure.
    ///
    /// # Errors
    /// The first violated invariant.
    fn check_invariants(&self) -> Result<(), Broken>;

    /// Returns the same index for updates from many threads at once, if it supports them.
    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        None
    }
}

/// Updates through `&self`, from many threads at once.
pub trait ConcurrentIndex<K: Copy, V: Copy>: OrderedIndex<K, V> {
    /// Inserts an entry and returns the value that it replaced, if any. See [`OrderedIndex::insert`].
    ///
    /// # Errors
    /// Memory was refused.
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>>;

    /// Removes `key` and returns its value, if the key was present. See [`OrderedIndex::remove`].
    fn remove_shared(&self, key: K) -> Option<V>;

    /// Inserts all entries of a batch. See [`OrderedIndex::insert_many`]. Each entry is inserted atomically,
    /// the batch isn't: other threads may see some of its entries and not yet the others.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], or refused memory.
    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        for (replaced, &(key, value)) in replaced.iter_mut().zip(entries) {
            *replaced = self.insert_shared(key, value)?;
        }
        Ok(())
    }

    /// Removes all keys of a batch. See [`OrderedIndex::remove_many`]. Each key is removed atomically, the
    /// batch isn't.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    fn remove_many_shared(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        for (removed, &key) in removed.iter_mut().zip(keys) {
            *removed = self.remove_shared(key);
        }
        Ok(())
    }

    /// Serves mixed requests in order. See [`OrderedIndex::execute`]. Each request is atomic, the batch
    /// isn't.
    fn execute_shared(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>)
    where
        K: Default,
        V: Default,
    {
        serve_shared(self, requests, replies);
    }
}

/// The default of [`ConcurrentIndex::execute_shared`]: one request after the other.
pub fn serve_shared<K: Copy + Default, V: Copy + Default>(
    index: &(impl ConcurrentIndex<K, V> + ?Sized),
    requests: &[Request<K, V>],
    replies: &mut Vec<Reply<K, V>>,
) {
    replies.reserve(requests.len());
    for &request in requests {
        replies.push(match request {
            Request::Get(key) => Reply::Got(index.get(key)),
            Request::Insert(key, value) => {
                index.insert_shared(key, value).map_or_else(Reply::Refused, Reply::Inserted)
            }
            Request::Remove(key) => Reply::Removed(index.remove_shared(key)),
            Request::Scan { from, limit } => scanned(index, from, limit),
        });
    }
}

/// Serves a scan request. The reply grows as entries are found, because `limit` may be far larger.
fn scanned<K: Copy + Default, V: Copy + Default>(
    index: &(impl OrderedIndex<K, V> + ?Sized),
    from: K,
    limit: usize,
) -> Reply<K, V> {
    if limit == 0 {
        return Reply::Refused(Error::EmptyBuffer);
    }
    let mut entries = Vec::new();
    let copy = &mut |keys: &[K], values: &[V]| {
        entries.extend(keys.iter().copied().zip(values.iter().copied()));
    };
    match index.for_each_chunk((Bound::Included(from), Bound::Unbounded), limit, copy) {
        Ok(_) => Reply::Scanned(entries),
        Err(error) => Reply::Refused(error),
    }
}

/// A paused range scan.
pub trait Scanner<K, V> {
    /// Copies the next entries and returns their number; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`], [`Error::UnequalBuffers`].
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize>;

    /// Copies only the next values (the paper's scan returns tuple ids) and returns their number; 0 means
    /// that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`].
    fn fill_values(&mut self, values: &mut [V]) -> Result<usize>;
}

/// Checks that two buffers that are filled in parallel have the same length.
///
/// # Errors
/// [`Error::UnequalBuffers`].
pub fn check_side_by_side(left: usize, right: usize) -> Result<()> {
    if left == right { Ok(()) } else { Err(Error::UnequalBuffers { left, right }) }
}

/// Checks that a scan's buffers have the same length and aren't empty.
///
/// # Errors
/// [`Error::UnequalBuffers`], [`Error::EmptyBuffer`].
pub fn check_buffers(keys: usize, values: usize) -> Result<()> {
    check_side_by_side(keys, values)?;
    if keys == 0 { Err(Error::EmptyBuffer) } else { Ok(()) }
}

/// Checks that a range doesn't start after its end. A range without any key is valid.
///
/// # Errors
/// [`Error::InvertedRange`].
pub fn check_span<K: Key>(span: &Span<K>) -> Result<()> {
    let bits = |bound: &Bound<K>| match bound {
        Bound::Included(key) | Bound::Excluded(key) => Some(key.encode()),
        Bound::Unbounded => None,
    };
    match (bits(&span.0), bits(&span.1)) {
        (Some(low), Some(high)) if low > high => Err(Error::InvertedRange),
        _ => Ok(()),
    }
}

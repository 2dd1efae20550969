//! The trait that tests, the command line and the lab drive every index through.

use super::error::{Broken, Error, Result};
use super::fill::FillFactor;
use super::key::{Bits, Key};
use super::request::{Reply, Request};
use super::stats::Stats;
use super::value::Value;
use core::ops::Bound;

/// Which way a scan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From the smallest key of the range upwards.
    #[default]
    Forward,
    /// From the largest key of the range downwards.
    Reverse,
}

/// A range of keys, both ends bounded as the caller says.
pub type Span<K> = (Bound<K>, Bound<K>);

/// What [`OrderedIndex::sum`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// How many entries there were.
    pub entries: usize,
    /// Their encoded values, added up modulo 2^64.
    pub total: u64,
}

/// An ordered map from `K` to `V` in main memory. One value a key.
///
/// Object-safe, so that one test body, one benchmark and one command line serve every index.
/// Reads take `&self` and may run on many threads at once; updates take `&mut self`. An index
/// that also takes updates from many threads says so through [`OrderedIndex::as_concurrent`].
pub trait OrderedIndex<K: Copy, V: Copy>: Send + Sync {
    /// How many keys the index holds.
    fn len(&self) -> usize;

    /// Whether the index holds nothing.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under `key`, if it is there.
    fn get(&self, key: K) -> Option<V>;

    /// One answer for each key, in the keys' order. Equal to one [`OrderedIndex::get`] after the
    /// other; an index that can overlap the lookups of a batch does.
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

    /// Puts `value` under `key` and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the index is then as before.
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>>;

    /// Takes `key` out and returns its value.
    fn remove(&mut self, key: K) -> Option<V>;

    /// Puts every entry in, as one [`OrderedIndex::insert`] after the other would: of entries with
    /// equal keys the last one stays. `replaced` gets one answer an entry, in the entries' order. An
    /// index that can overlap the descents of a batch does.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `replaced` isn't as long as `entries`; nothing is done then. Or
    /// memory was refused: each entry is then in or not, whole, and the batch may be repeated.
    fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        for (replaced, &(key, value)) in replaced.iter_mut().zip(entries) {
            *replaced = self.insert(key, value)?;
        }
        Ok(())
    }

    /// Takes every key out, as one [`OrderedIndex::remove`] after the other would: of equal keys
    /// the first one gets the value. `removed` gets one answer a key, in the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `removed` isn't as long as `keys`; nothing is done then.
    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        for (removed, &key) in removed.iter_mut().zip(keys) {
            *removed = self.remove(key);
        }
        Ok(())
    }

    /// Shows the first `limit` entries of `span`, ascending, as slices side by side: keys and their
    /// values. Says how many there were. What sums and other folds are made of.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn visit(&self, span: Span<K>, limit: usize, visit: &mut dyn FnMut(&[K], &[V])) -> Result<usize>
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
            visit(&keys[..found], &values[..found]);
            seen += found;
        }
        Ok(seen)
    }

    /// What the values of the first `limit` entries of `span`, ascending, add up to, encoded (the sum
    /// wraps), and how many they were.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum>
    where
        K: Key + Default,
        V: Value + Default,
    {
        let mut total = 0u64;
        let entries = self.visit(span, limit, &mut |_, values| {
            total = values.iter().fold(total, |sum, value| sum.wrapping_add(value.encode().to_u64()));
        })?;
        Ok(Sum { entries, total })
    }

    /// Copies the entries of `span` to `keys` and `values` until the range or the room ends, and
    /// says how many there were. In the order of `direction`.
    ///
    /// # Errors
    /// [`Error::InvertedRange`], [`Error::EmptyBuffer`], [`Error::UnequalBuffers`].
    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize>;

    /// A scan that pauses whenever the caller's buffer is full and resumes where it stopped
    /// (the paper's segmented scan).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>>;

    /// How many keys lie in `span`.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    fn count(&self, span: Span<K>) -> Result<usize>;

    /// Fills an empty index from strictly ascending entries.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the
    /// index is then as before.
    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()>;

    /// Serves mixed requests in their order, one reply each.
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

    /// Bytes that the index holds for its keys, values and structure, where it counts them itself.
    fn memory_bytes(&self) -> Option<usize>;

    /// The index's form, where it has one to tell.
    fn stats(&self) -> Option<Stats> {
        None
    }

    /// Looks at the whole structure and says what is wrong with it, if anything is.
    ///
    /// # Errors
    /// The first broken invariant.
    fn check_invariants(&self) -> Result<(), Broken>;

    /// The same index for updates from many threads at once, if it is made for that.
    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        None
    }
}

/// Updates through `&self`, from many threads at once.
pub trait ConcurrentIndex<K: Copy, V: Copy>: OrderedIndex<K, V> {
    /// As [`OrderedIndex::insert`].
    ///
    /// # Errors
    /// When memory is refused.
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>>;

    /// As [`OrderedIndex::remove`].
    fn remove_shared(&self, key: K) -> Option<V>;

    /// As [`OrderedIndex::insert_many`]. Each entry goes in atomically, the batch doesn't: other
    /// threads may see some of its entries and not yet the others.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], or memory was refused.
    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        for (replaced, &(key, value)) in replaced.iter_mut().zip(entries) {
            *replaced = self.insert_shared(key, value)?;
        }
        Ok(())
    }

    /// As [`OrderedIndex::remove_many`], with the same remark as [`ConcurrentIndex::insert_many_shared`].
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

    /// As [`OrderedIndex::execute`], with the same remark as [`ConcurrentIndex::insert_many_shared`].
    fn execute_shared(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>)
    where
        K: Default,
        V: Default,
    {
        serve_shared(self, requests, replies);
    }
}

/// What [`ConcurrentIndex::execute_shared`] does unless an index knows better: one request after the
/// other.
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

/// The reply to a scan. It grows with what is found: a limit may be far above that.
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
    match index.visit((Bound::Included(from), Bound::Unbounded), limit, copy) {
        Ok(_) => Reply::Scanned(entries),
        Err(error) => Reply::Refused(error),
    }
}

/// A paused range scan.
pub trait Scanner<K, V> {
    /// Copies the next entries and says how many there were; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`], [`Error::UnequalBuffers`].
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize>;

    /// Copies the next values alone (the paper's scan returns tuple ids) and says how many there
    /// were; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`].
    fn fill_values(&mut self, values: &mut [V]) -> Result<usize>;
}

/// Two buffers that are filled side by side must be equally long.
///
/// # Errors
/// [`Error::UnequalBuffers`].
pub fn check_side_by_side(left: usize, right: usize) -> Result<()> {
    if left == right { Ok(()) } else { Err(Error::UnequalBuffers { left, right }) }
}

/// A scan's buffers must be equally long and have room for something.
///
/// # Errors
/// [`Error::UnequalBuffers`], [`Error::EmptyBuffer`].
pub fn check_buffers(keys: usize, values: usize) -> Result<()> {
    check_side_by_side(keys, values)?;
    if keys == 0 { Err(Error::EmptyBuffer) } else { Ok(()) }
}

/// A range must not start after its end. A range that holds no key is fine.
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

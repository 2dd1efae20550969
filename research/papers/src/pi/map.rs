//! PI as a map from keys to values.

use super::engine::{Answers, Engine};
use super::layer::LayerStats;
use super::options::Options;
use super::query::Query;
use super::scan::{Entries, Scan};
use super::work::{self, Work};
use crate::common::interleave::BatchSize;
use crate::error;
use crate::pi::batch::pool::Hands;
use crate::pi::batch::tune::BatchTuner;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, Range, RangeBounds};
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::request::Reply;
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::batch::{Order, sorted};
use latchless_core::bulk::check_ascending;
use latchless_core::mem::touch::{NoTrace, Trace};
use std::sync::{Mutex, PoisonError};

/// PI: a SIMD skip list that serves batches of queries on many threads, without any latch.
///
/// One owner changes it, through `&mut self`; the threads that work on a batch belong to it. Reads take
/// `&self`. Callers with single queries from many threads use [`Submissions`](super::Submissions).
///
/// # What a batch means
/// The answers are those of the queries executed one after the other in ascending order of their keys (a
/// range's being its first one), and in the batch's order if keys are equal; they are returned in the
/// batch's order. So queries for one key take effect in the order of the batch, and a range sees the
/// changes of its batch to the key at which it begins, if they are before it, and to no other of its keys.
/// Batches longer than [`Options::batch`] are served in pieces, one after the other.
///
/// # Cost
/// O(log n) a query while the index layer is fresh; each key inserted since its last rebuild may add a step
/// to queries nearby.
///
/// ```
/// use latchless_core::base::request::Reply;
/// use latchless_papers::pi::{Options, Pi, Query};
///
/// let mut prices = Pi::<u64, u32>::with_options(&Options { threads: 2, ..Options::default() })?;
/// let replies = prices.execute(&[
///     Query::Insert(101, 7),
///     Query::Insert(99, 5),
///     Query::Search(101),
///     Query::Delete(101),
///     Query::Search(101),
///     Query::Range { low: 0, high: 200, limit: 10 },
/// ]);
/// assert_eq!(replies[2..5], [Reply::Got(Some(7)), Reply::Removed(Some(7)), Reply::Got(None)]);
/// // A range sees what stood under its keys before the batch, but for the key that it begins with.
/// assert_eq!(replies[5], Reply::Scanned(vec![]));
/// assert_eq!(prices.range(90..)?.collect::<Vec<_>>(), [(99, 5)]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct Pi<K: Key, V: Fits<K::Bits>, T: Trace = NoTrace> {
    pub(super) engine: Engine<K::Bits, T>,
    /// Readers tune as well; a thread that finds it locked uses the best size known so far.
    tuner: Mutex<BatchTuner>,
    entry: PhantomData<fn(K) -> V>,
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> Pi<K, V, T> {
    /// An empty index for one thread.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn new() -> error::Result<Self> {
        Self::with_options(&Options::default())
    }

    /// An empty index.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting), [`Error::KernelUnavailable`], or when memory or a thread is
    /// refused.
    pub fn with_options(options: &Options) -> error::Result<Self> {
        Ok(Self { engine: Engine::new(options)?, tuner: Mutex::default(), entry: PhantomData })
    }

    /// Returns the number of keys. O(nodes of the topology).
    pub fn len(&self) -> usize {
        self.engine.len()
    }

    /// Returns whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    pub fn get(&self, key: K) -> Option<V> {
        self.engine.get(key.encode()).map(V::decode_from)
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the index is then as before.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        Ok(self.engine.put(key.encode(), value.encode_as())?.map(V::decode_from))
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.engine.take(key.encode()).map(V::decode_from)
    }

    /// Looks up each key; the answers are in the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut tuner = self.tuner.try_lock().map(|tuner| tuner.clone()).unwrap_or_default();
        tuner.run(self.engine.options.batch, (keys.len(), self.threads(), self.len()), |start, end| {
            let mut answers = Befores { answers: &mut answers[start..end], refused: None };
            self.engine.search_all(end - start, |at| keys[start + at].encode(), &mut answers);
        });
        if let Ok(mut kept) = self.tuner.try_lock() {
            *kept = tuner;
        }
        Ok(())
    }

    /// Looks up each key like [`Pi::get_many`], in one batch of any length.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`].
    ///
    /// # Panics
    /// When there are 2^32 keys or more.
    pub fn get_in_one_batch(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut answers = Befores { answers, refused: None };
        self.engine.search_all(keys.len(), |at| keys[at].encode(), &mut answers);
        Ok(())
    }

    /// Looks up each key like [`Pi::get_many`], by the caller's thread alone and without sorting, in
    /// batches of the caller's size through the executor that all indexes share
    /// ([`interleave`](crate::common::interleave::interleave)).
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`], [`Error::BatchSize`](crate::Error::BatchSize).
    pub fn get_many_interleaved(
        &self,
        keys: &[K],
        answers: &mut [Option<V>],
        size: BatchSize,
    ) -> error::Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let key_at = |at: usize| keys[at].encode();
        self.engine.get_interleaved(size.checked()?, keys.len(), key_at, |at, value| {
            answers[at] = value.map(V::decode_from);
        });
        Ok(())
    }

    /// Puts every entry in; of entries with equal keys the last one stays. `replaced` gets one answer an
    /// entry, in the entries' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`]; nothing is done then. Or memory was refused: each entry is then in or
    /// not, whole, and the batch may be repeated.
    pub fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        let value_at = |at: usize| entries[at].1.encode_as();
        self.in_batches(
            entries.len(),
            |at| entries[at].0,
            replaced,
            |engine, start, order, answers| {
                let value_at = |number: usize| value_at(start + number);
                engine.execute(None, Work::Insert(&value_at), order, answers);
            },
        )
    }

    /// Removes every key; of equal keys the first one gets the value. `removed` gets one answer a key, in
    /// the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`]; nothing is done then.
    pub fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        self.in_batches(
            keys.len(),
            |at| keys[at],
            removed,
            |engine, _, order, answers| {
                engine.execute(None, Work::Delete, order, answers);
            },
        )
    }

    fn in_batches(
        &mut self,
        len: usize,
        key_at: impl Fn(usize) -> K,
        answers: &mut [Option<V>],
        mut execute: impl FnMut(&mut Engine<K::Bits, T>, usize, &Order<K::Bits>, &mut dyn Answers<K::Bits>),
    ) -> Result<()> {
        let mut refused = None;
        let about = (len, self.threads(), self.len());
        let Self { engine, tuner, .. } = self;
        let tuner = tuner.get_mut().unwrap_or_else(PoisonError::into_inner);
        tuner.run(engine.options.batch, about, |start, end| {
            let order = sorted(end - start, |at| key_at(start + at).encode());
            let mut answers = Befores { answers: &mut answers[start..end], refused: None };
            execute(engine, start, &order, &mut answers);
            refused = refused.take().or(answers.refused);
        });
        refused.map_or(Ok(()), Err)
    }

    /// Serves a batch of any queries: one reply each, in their order. See the type's own words for what
    /// that means. Longer ones than [`Options::batch`] are served in pieces.
    pub fn execute(&mut self, queries: &[Query<K, V>]) -> Vec<Reply<K, V>> {
        let mut replies = Vec::with_capacity(queries.len());
        let about = (queries.len(), self.threads(), self.len());
        let mut tuner = core::mem::take(self.tuner.get_mut().unwrap_or_else(PoisonError::into_inner));
        tuner.run(self.engine.options.batch, about, |start, end| {
            self.execute_by(None, &queries[start..end], &mut replies);
        });
        *self.tuner.get_mut().unwrap_or_else(PoisonError::into_inner) = tuner;
        replies
    }

    /// Serves one batch of any length with the threads of the caller's choice, such as a memory model's
    /// processors. Appends one reply per query.
    ///
    /// # Panics
    /// When there are 2^32 queries or more.
    pub fn execute_on(&mut self, hands: &dyn Hands, queries: &[Query<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.execute_by(Some(hands), queries, replies);
    }

    fn execute_by(
        &mut self,
        hands: Option<&dyn Hands>,
        queries: &[Query<K, V>],
        replies: &mut Vec<Reply<K, V>>,
    ) {
        let order = sorted(queries.len(), |at| queries[at].low().encode());
        let first = replies.len();
        replies.extend(queries.iter().map(|query| match query {
            Query::Search(_) => Reply::Got(None),
            Query::Insert(..) => Reply::Inserted(None),
            Query::Delete(_) => Reply::Removed(None),
            // Like a scan into a buffer without room.
            Query::Range { limit: 0, .. } | Query::From { limit: 0, .. } => {
                Reply::Refused(Error::EmptyBuffer)
            }
            Query::Range { .. } | Query::From { .. } => Reply::Scanned(Vec::new()),
        }));
        // A range's first key may be inserted before it, all others are present.
        let all = self.len() + 1;
        let within = |limit: usize| if limit < all { limit } else { usize::MAX };
        let query_at = |number: usize| match &queries[number] {
            Query::Search(_) => work::Query::Search,
            Query::Insert(_, value) => work::Query::Insert(value.encode_as()),
            Query::Delete(_) => work::Query::Delete,
            Query::Range { high, limit, .. } => work::Query::Range(high.encode(), within(*limit)),
            Query::From { limit, .. } => work::Query::Range(K::Bits::MAX, within(*limit)),
        };
        let searches = queries.iter().all(|query| matches!(query, Query::Search(_)));
        let limited = queries.iter().filter_map(Query::limit).any(|limit| (1..all).contains(&limit));
        let work = if searches { Work::Search } else { Work::Mixed { query_at: &query_at, limited } };
        let mut answers = Replies { replies: &mut replies[first..], queries };
        self.engine.execute(hands, work, &order, &mut answers);
    }

    /// Fills an empty index from strictly ascending entries, on all threads, evenly distributed among the
    /// nodes of the topology. Nodes of this index have one key each, so there is no fill factor. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Unsorted`], [`Error::DuplicateKey`], or refused memory; the index is
    /// then as before.
    pub fn bulk_load(&mut self, entries: &[(K, V)]) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        check_ascending(entries.iter().map(|entry| entry.0.encode()))?;
        self.engine.load(entries.len(), &|at| (entries[at].0.encode(), entries[at].1.encode_as()))
    }

    /// Fills an empty index; ignores the fill factor of other indexes. See [`Pi::bulk_load`].
    pub(super) fn bulk_load_filled(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        self.bulk_load(entries)
    }

    /// Rebuilds the index layer, now, on all threads: the segments that have changed since the last time
    /// are laid out again, and the memory of deleted nodes is freed. O(n), with little work for unchanged
    /// segments.
    ///
    /// # Errors
    /// When memory is refused; the index is then as before.
    pub fn rebuild(&mut self) -> Result<()> {
        self.engine.rebuild()
    }

    /// Waits for the rebuilds that are going on in the background, and swaps them in.
    ///
    /// # Errors
    /// When one was refused memory; the index is then as before.
    pub fn settle(&mut self) -> Result<()> {
        self.engine.settle()
    }

    /// Returns the number of rebuilds since the index was created.
    pub fn rebuilds(&self) -> u64 {
        self.engine.domains.iter().map(|domain| domain.rebuilds.done).sum()
    }

    /// Returns how many threads worked for each node of the topology in the last batch through
    /// `&mut self`.
    pub fn threads_per_node(&self) -> &[usize] {
        &self.engine.last_threads
    }

    /// Queries of a batch, for each thread, that turned out to be best so far.
    pub fn batch_queries(&self) -> usize {
        match self.engine.options.batch {
            crate::pi::batch::tune::QuerySetSize::Queries(queries) => queries,
            crate::pi::batch::tune::QuerySetSize::Auto => {
                self.tuner.lock().unwrap_or_else(PoisonError::into_inner).settled()
            }
        }
    }

    fn threads(&self) -> usize {
        self.engine.options.threads
    }

    /// The entries of a range in ascending order.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, T>> {
        Ok(Entries::new(self.scanner(range, Direction::Forward)?))
    }

    /// The entries of a range in descending order.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn range_reverse(&self, range: impl RangeBounds<K>) -> Result<Entries<'_, K, V, T>> {
        Ok(Entries::new(self.scanner(range, Direction::Reverse)?))
    }

    /// A scan that fills the caller's buffers, pauses when they are full and resumes where it stopped.
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<'_, K, V, T>> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        Ok(Scan::new(&self.engine, encoded_range(&span)?, direction))
    }

    /// Returns the number of keys in a range. O(keys in the range).
    ///
    /// # Errors
    /// [`Error::InvertedRange`].
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let span = (range.start_bound().cloned(), range.end_bound().cloned());
        let mut count = 0;
        Scan::<K, V, T>::new(&self.engine, encoded_range(&span)?, Direction::Forward)
            .hand_out(usize::MAX, |_, _, _| count += 1);
        Ok(count)
    }

    /// Returns the bytes of the list and the index layer; the memory of a rebuild in progress isn't
    /// counted. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.engine.held_bytes()
    }

    /// Levels, the list's among them; entries; segments of the list; rebuilds are counted as splits.
    /// O(segments).
    pub fn stats(&self) -> Stats {
        let built = || self.engine.domains.iter().map(|domain| &domain.built);
        // A list of nothing but its head is no segment.
        let segments = built().filter(|built| !built.list.is_empty()).map(|built| built.list.segments());
        let places: usize = built().map(|built| built.list.len() + built.list.drift()).sum();
        let mut stats = Stats::default();
        stats.levels = 1 + built().map(|built| built.layer.levels()).max().unwrap_or(0);
        stats.inner_nodes = built().map(|built| built.layer.entries()).sum();
        stats.leaves = segments.sum::<usize>().max(1);
        stats.leaf_fill = if places == 0 { 0.0 } else { self.len() as f64 / places as f64 };
        stats.splits = self.rebuilds();
        stats
    }

    /// Returns the size of the index layers of all nodes, and of what the last rebuild has written of
    /// them. O(parts).
    pub fn layer_stats(&self) -> LayerStats {
        let mut stats = LayerStats::default();
        self.engine.domains.iter().for_each(|domain| stats += domain.built.layer.stats());
        stats
    }

    /// Returns the addresses of everything that belongs to a node of the topology, for a memory model to
    /// place.
    pub fn addresses_of_node(&self, node: usize) -> Vec<Range<usize>> {
        self.engine.domains.get(node).map_or(Vec::new(), |domain| domain.addresses().collect())
    }

    /// Checks every node and every entry, and reports the first violation. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.engine.check()
    }
}

/// Answers that are the previous value under a key.
struct Befores<'a, V> {
    answers: &'a mut [Option<V>],
    refused: Option<Error>,
}

impl<B: Bits, V: Fits<B>> Answers<B> for Befores<'_, V> {
    fn answer(&mut self, number: u32, before: Option<B>) {
        self.answers[number as usize] = before.map(V::decode_from);
    }

    fn refused(&mut self, _: u32, error: Error) {
        self.refused = Some(error);
    }
}

/// Answers to queries of all kinds.
struct Replies<'a, K, V> {
    replies: &'a mut [Reply<K, V>],
    queries: &'a [Query<K, V>],
}

impl<K: Key, V: Fits<K::Bits>> Answers<K::Bits> for Replies<'_, K, V> {
    fn answer(&mut self, number: u32, before: Option<K::Bits>) {
        let reply = &mut self.replies[number as usize];
        let before = before.map(V::decode_from);
        match reply {
            Reply::Got(value) | Reply::Inserted(value) | Reply::Removed(value) => *value = before,
            Reply::Scanned(_) | Reply::Refused(_) => {}
        }
    }

    fn found(&mut self, number: u32, entries: Vec<(K::Bits, K::Bits)>) {
        let number = number as usize;
        if let (Reply::Scanned(found), Some(limit)) =
            (&mut self.replies[number], self.queries[number].limit())
        {
            let room = limit - found.len();
            let entries = entries.into_iter().take(room);
            found.extend(entries.map(|(key, value)| (K::decode(key), V::decode_from(value))));
        }
    }

    fn refused(&mut self, number: u32, error: Error) {
        self.replies[number as usize] = Reply::Refused(error);
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> fmt::Debug for Pi<K, V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = encoded_range::<K>(&(Bound::Unbounded, Bound::Unbounded)).unwrap_or_default();
        let entries = Entries::<K, V, T>::new(Scan::new(&self.engine, all, Direction::Forward));
        f.debug_map().entries(entries).finish()
    }
}

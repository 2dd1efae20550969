//! A front end for callers with single queries: it gathers those of many threads into batches and gives
//! each caller its reply.
//!
//! # Thread safety
//! 1. The index belongs to one thread, the *dispatcher*; callers reach it only through a queue.
//! 2. Every request that the queue has accepted is answered: by the dispatcher, or, if that dies, when the
//!    request is dropped ([`Error::Closed`]).
//! 3. A child process has no dispatcher: nothing is put into the queue there.
//! 4. Nothing is called under the queue's mutex that could panic or wait.
//!
//! Requests that are in the queue together come from callers that all wait, so any order within a batch is
//! one in which they may have happened: single requests are linearizable.

use super::map::Pi;
use super::query::Query;
use crate::error::{Error, Result};
use core::fmt;
use core::time::Duration;
use latchless_core::base::key::Key;
use latchless_core::base::request::Reply;
use latchless_core::base::value::Fits;
use latchless_core::sync::{Origin, Word};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, Thread};
use std::time::Instant;

/// How single requests are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubmissionOptions {
    /// The most queries of a batch, at least 1.
    pub batch_queries_max: usize,
    /// The maximum time that the first request of a batch waits for others. [`Duration::MAX`]: until the
    /// batch is full.
    pub wait: Duration,
    /// The maximum number of requests that wait, at least 1; a thread with more waits for room.
    pub capacity: usize,
}

impl Default for SubmissionOptions {
    fn default() -> Self {
        Self { batch_queries_max: 8192, wait: Duration::from_micros(20), capacity: 1 << 16 }
    }
}

/// A [`Pi`] that many threads use at once, through `&self`.
///
/// ```
/// use latchless_papers::pi::{Options, Pi, SubmissionOptions, Submissions};
///
/// let index = Submissions::new(Pi::<u64, u32>::new()?, SubmissionOptions::default())?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| index.insert(101, 7));
///     threads.spawn(|| index.insert(99, 5));
/// });
/// assert_eq!(index.get(99)?, Some(5));
/// assert_eq!(index.range(100, 200, 10)?, [(101, 7)]);
/// index.shut_down(); // Requests that were made before are answered.
/// assert_eq!(index.get(99), Err(latchless_papers::Error::Closed));
/// assert_eq!(index.into_inner()?.len(), 2);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
pub struct Submissions<K: Key, V: Fits<K::Bits>> {
    queue: Arc<Queue<K, V>>,
    dispatcher: Option<JoinHandle<Pi<K, V>>>,
}

struct Queue<K: Key, V: Fits<K::Bits>> {
    options: SubmissionOptions,
    state: Mutex<State<K, V>>,
    /// Signalled when the first request arrives, when a batch is full, and at the end.
    arrived: Condvar,
    /// Signalled when there is room again.
    room: Condvar,
    /// Keys of the index after the last batch.
    len: Word,
    /// The process of the dispatcher.
    origin: Origin,
}

struct State<K: Key, V: Fits<K::Bits>> {
    requests: Vec<Ticket<K, V>>,
    looks: Vec<Look<K, V>>,
    closed: bool,
}

/// A batch, and other work.
struct Gathered<K: Key, V: Fits<K::Bits>> {
    requests: Vec<Ticket<K, V>>,
    looks: Vec<Look<K, V>>,
}

/// Work on the index between two batches.
type Look<K, V> = Box<dyn FnOnce(&mut Pi<K, V>) + Send>;

/// A request, and the destination of its answer.
struct Ticket<K: Key, V: Fits<K::Bits>> {
    query: Query<K, V>,
    slot: Arc<Slot<K, V>>,
}

struct Slot<K, V> {
    reply: Mutex<Option<Result<Reply<K, V>>>>,
    caller: Thread,
}

impl<K: Key, V: Fits<K::Bits>> Slot<K, V> {
    /// The first answer counts.
    fn answer(&self, reply: Result<Reply<K, V>>) {
        let mut slot = self.reply.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Some(reply);
            drop(slot);
            self.caller.unpark();
        }
    }

    fn wait(&self) -> Result<Reply<K, V>> {
        loop {
            let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
            match reply {
                Some(reply) => return reply,
                None => std::thread::park(),
            }
        }
    }
}

impl<K: Key, V: Fits<K::Bits>> Drop for Ticket<K, V> {
    /// Wakes a thread that waits for a ticket that will never be served.
    fn drop(&mut self) {
        self.slot.answer(Err(Error::Closed));
    }
}

impl<K: Key, V: Fits<K::Bits>> Queue<K, V> {
    fn state(&self) -> MutexGuard<'_, State<K, V>> {
        // Nothing that panics runs under the mutex.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues requests, waiting for room (back-pressure). All of them, or none.
    fn submit(&self, queries: &[Query<K, V>]) -> Result<Vec<Arc<Slot<K, V>>>> {
        if self.origin.is_inherited() {
            return Err(Error::Closed);
        }
        let caller = std::thread::current();
        let mut slots = Vec::with_capacity(queries.len());
        for &query in queries {
            let mut state = self.state();
            while !state.closed && state.requests.len() >= self.options.capacity {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed && slots.is_empty() {
                return Err(Error::Closed);
            }
            let slot = Arc::new(Slot { reply: Mutex::new(None), caller: caller.clone() });
            slots.push(slot.clone());
            let ticket = Ticket { query, slot };
            if state.closed {
                // The previous ones are served; this one fails when it is dropped.
                drop(state);
                continue;
            }
            state.requests.push(ticket);
            let waiting = state.requests.len();
            drop(state);
            if waiting == 1 || waiting >= self.full() {
                self.arrived.notify_one();
            }
        }
        Ok(slots)
    }

    /// Returns the number of queued requests at which the dispatcher stops waiting: a batch, or the
    /// queue's capacity.
    fn full(&self) -> usize {
        self.options.batch_queries_max.min(self.options.capacity)
    }

    /// Returns the next batch, and other work; `None`: nothing is left, and nothing will arrive.
    fn next(&self) -> Option<Gathered<K, V>> {
        let most = self.options.batch_queries_max;
        let mut state = self.state();
        while state.requests.is_empty() && state.looks.is_empty() {
            if state.closed {
                return None;
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // No moment is so late: without one.
        let until = Instant::now().checked_add(self.options.wait);
        while state.requests.len() < self.full() && state.looks.is_empty() && !state.closed {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            state = match left {
                Some(left) if left.is_zero() => break,
                Some(left) => {
                    self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        let looks = core::mem::take(&mut state.looks);
        let requests = match state.requests.len() <= most {
            true => core::mem::take(&mut state.requests),
            false => state.requests.drain(..most).collect(),
        };
        drop(state);
        self.room.notify_all();
        Some(Gathered { requests, looks })
    }

    fn close(&self) {
        if self.origin.is_inherited() {
            return;
        }
        self.state().closed = true;
        self.arrived.notify_all();
        self.room.notify_all();
    }
}

/// Closes the queue however the dispatcher ends.
struct Closing<'a, K: Key, V: Fits<K::Bits>>(&'a Queue<K, V>);

impl<K: Key, V: Fits<K::Bits>> Drop for Closing<'_, K, V> {
    fn drop(&mut self) {
        self.0.close();
        // After an ordinary end nothing is left; after a panic each caller gets an error.
        let left = core::mem::take(&mut self.0.state().requests);
        let looks = core::mem::take(&mut self.0.state().looks);
        drop((left, looks));
    }
}

fn dispatch<K: Key, V: Fits<K::Bits>>(queue: &Queue<K, V>, mut index: Pi<K, V>) -> Pi<K, V> {
    let closing = Closing(queue);
    while let Some(Gathered { requests: tickets, looks }) = queue.next() {
        let queries: Vec<Query<K, V>> = tickets.iter().map(|ticket| ticket.query).collect();
        let replies = index.execute(&queries);
        queue.len.store_relaxed(index.len() as u64);
        for (ticket, reply) in tickets.iter().zip(replies) {
            ticket.slot.answer(match reply {
                Reply::Refused(error) => Err(error.into()),
                reply => Ok(reply),
            });
        }
        looks.into_iter().for_each(|look| look(&mut index));
        queue.len.store_relaxed(index.len() as u64);
    }
    drop(closing);
    index
}

impl<K: Key, V: Fits<K::Bits>> Submissions<K, V> {
    /// Takes an index and starts the thread that it belongs to from here on.
    ///
    /// # Errors
    /// [`Error::Setting`]; [`OutOfMemory`](latchless_core::Error::OutOfMemory) when the system refuses the
    /// thread.
    pub fn new(index: Pi<K, V>, options: SubmissionOptions) -> Result<Self> {
        Error::check_setting("batch_queries_max", options.batch_queries_max, 1..=usize::MAX)?;
        Error::check_setting("capacity", options.capacity, 1..=usize::MAX)?;
        let queue = Arc::new(Queue {
            options,
            state: Mutex::new(State { requests: Vec::new(), looks: Vec::new(), closed: false }),
            arrived: Condvar::new(),
            room: Condvar::new(),
            len: Word::new(index.len() as u64),
            origin: Origin::here(),
        });
        let own = queue.clone();
        let dispatcher =
            Builder::new().name("latchless queue".to_owned()).spawn(move || dispatch(&own, index));
        let dispatcher = dispatcher.map_err(|_| latchless_core::Error::OutOfMemory { requested_bytes: 0 })?;
        Ok(Self { queue, dispatcher: Some(dispatcher) })
    }

    /// Hands in a query and waits for the reply.
    ///
    /// # Errors
    /// [`Error::Closed`]: nothing was done. Or the refusal of the query itself.
    pub fn submit(&self, query: Query<K, V>) -> Result<Reply<K, V>> {
        self.queue.submit(&[query])?.remove(0).wait()
    }

    /// Submits queries and waits for all replies, in the queries' order. They may be in different batches,
    /// in order. A query that was refused has its own error, one that was too late while others were
    /// accepted [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Closed`]: nothing was done.
    pub fn submit_all(&self, queries: &[Query<K, V>]) -> Result<Vec<Result<Reply<K, V>>>> {
        let slots = self.queue.submit(queries)?;
        Ok(slots.iter().map(|slot| slot.wait()).collect())
    }

    /// The value under a key.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn get(&self, key: K) -> Result<Option<V>> {
        self.submit(Query::Search(key)).map(before)
    }

    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// [`Error::Closed`], or when memory is refused.
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        self.submit(Query::Insert(key, value)).map(before)
    }

    /// Removes a key and returns its value.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn remove(&self, key: K) -> Result<Option<V>> {
        self.submit(Query::Delete(key)).map(before)
    }

    /// Returns the first `limit` entries from `low` to `high`, both included, as of one moment.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn range(&self, low: K, high: K, limit: usize) -> Result<Vec<(K, V)>> {
        match self.submit(Query::Range { low, high, limit })? {
            Reply::Scanned(entries) => Ok(entries),
            _ => Ok(Vec::new()),
        }
    }

    /// Does something with the index itself, between two batches, and waits for it.
    ///
    /// # Errors
    /// [`Error::Closed`]: it wasn't done.
    pub fn with<R: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Pi<K, V>) -> R + Send + 'static,
    ) -> Result<R> {
        let (report, done) = channel();
        let look = move |index: &mut Pi<K, V>| {
            // The caller waits for it.
            let _ = report.send(act(index));
        };
        if self.queue.origin.is_inherited() {
            return Err(Error::Closed);
        }
        let mut state = self.queue.state();
        if state.closed {
            return Err(Error::Closed);
        }
        state.looks.push(Box::new(look));
        drop(state);
        self.queue.arrived.notify_one();
        done.recv().map_err(|_| Error::Closed)
    }

    /// Returns the number of keys in the index after the last batch.
    pub fn len(&self) -> usize {
        self.queue.len.load_relaxed() as usize
    }

    /// Returns whether the index was empty after the last batch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses requests from here on. Those that were accepted are answered.
    pub fn shut_down(&self) {
        self.queue.close();
    }

    /// Shuts down, waits until all requests are answered, and gives the index back.
    ///
    /// # Errors
    /// [`Error::Closed`] if the index's thread has panicked.
    pub fn into_inner(mut self) -> Result<Pi<K, V>> {
        if self.queue.origin.is_inherited() {
            return Err(Error::Closed);
        }
        self.queue.close();
        let index = self.dispatcher.take().and_then(|dispatcher| dispatcher.join().ok());
        index.ok_or(Error::Closed)
    }
}

/// Returns the previous value under the key.
fn before<K, V>(reply: Reply<K, V>) -> Option<V> {
    match reply {
        Reply::Got(value) | Reply::Inserted(value) | Reply::Removed(value) => value,
        Reply::Scanned(_) | Reply::Refused(_) => None,
    }
}

impl<K: Key, V: Fits<K::Bits>> Drop for Submissions<K, V> {
    fn drop(&mut self) {
        self.queue.close();
        let Some(dispatcher) = self.dispatcher.take() else { return };
        match self.queue.origin.is_inherited() {
            // A thread that doesn't exist can't be joined.
            true => core::mem::forget(dispatcher),
            false => _ = dispatcher.join(),
        }
    }
}

impl<K: Key, V: Fits<K::Bits>> fmt::Debug for Submissions<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submissions").field("len", &self.len()).finish_non_exhaustive()
    }
}

//! The timed loops.

use super::access::{Access, Alone, Locked, Together};
use super::digest::Digest;
use super::word::Word;
use latchless::base::request::{Reply, Request};
use latchless::{OrderedIndex, Result};
use latchless_workload::Operation;
use std::sync::{Barrier, RwLock};
use std::time::{Duration, Instant};

/// Requests as they are made: the plan's streams, in the form that the loops want them.
pub struct Streams<L> {
    threads: Vec<Stream<L>>,
    /// The longest scan asked for, in entries.
    longest: usize,
    /// Whether a scan's answer follows from the stream alone. With several threads and updates it
    /// doesn't, and isn't looked at.
    scans_are_certain: bool,
    /// Whether anything changes the index.
    updates: bool,
}

/// One thread's requests.
enum Stream<L> {
    /// Gets and nothing else.
    Gets(Vec<L>),
    /// Anything, one request after the other.
    Mixed(Vec<Operation<L>>),
    /// Anything, in batches.
    Batched(Vec<Request<L, L>>),
}

/// What one run took and answered.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From the first request to the last answer, over all threads.
    pub elapsed: Duration,
    /// Entries scanned.
    pub entries: u64,
    /// Every answer.
    pub digest: Digest,
}

impl<L: Word> Streams<L> {
    /// Streams for `batched` or one-by-one requests; `updates` if anything changes the index.
    pub fn new(streams: Vec<Vec<Operation<L>>>, batched: bool, updates: bool) -> Self {
        let length = |operation: &Operation<L>| match operation {
            Operation::Scan(_, length) => *length as usize,
            _ => 0,
        };
        let longest = streams.iter().flatten().map(length).max().unwrap_or(0);
        let scans_are_certain = streams.len() < 2 || !updates;
        let threads = streams.into_iter().map(|stream| Stream::new(stream, batched)).collect();
        Self { threads, longest, scans_are_certain, updates }
    }

    /// Keys that are asked for, at most `most` of them, to try batch sizes on.
    pub fn sample(&self, most: usize) -> Vec<L> {
        let Some(first) = self.threads.first() else { return Vec::new() };
        match first {
            Stream::Gets(keys) => keys.iter().take(most).copied().collect(),
            Stream::Mixed(operations) => operations.iter().take(most).map(key_of).collect(),
            Stream::Batched(requests) => requests.iter().take(most).map(key_asked_for).collect(),
        }
    }

    /// Makes every request, thread after thread, through one access.
    ///
    /// # Errors
    /// The first request that is refused.
    pub fn in_turn(&self, access: &mut impl Access<L>) -> Result<Digest> {
        let digests: Result<Vec<_>> =
            self.threads.iter().map(|stream| Ok(self.run(stream, access, None)?.digest)).collect();
        Ok(Digest::together(digests?))
    }

    /// Makes every request and takes the time: batches of `batch` where given; on threads where
    /// there are several streams.
    ///
    /// # Errors
    /// The first request that is refused.
    pub fn race(&self, index: &mut dyn OrderedIndex<L, L>, batch: Option<usize>) -> Result<Run> {
        match &self.threads[..] {
            [Stream::Batched(requests)] => self.run_batched(requests, index, batch.unwrap_or(1)),
            [stream] => self.run(stream, &mut Alone(index), batch),
            _ if !self.updates => self.on_threads(Together { index, writer: None }, batch),
            _ if index.as_concurrent().is_some() => {
                self.on_threads(Together { index, writer: index.as_concurrent() }, batch)
            }
            _ => self.on_threads(Locked(&RwLock::new(index)), batch),
        }
    }

    fn on_threads<A: Access<L> + Clone + Send>(&self, access: A, batch: Option<usize>) -> Result<Run> {
        let barrier = Barrier::new(self.threads.len());
        let begun = RwLock::new(None);
        let runs: Result<Vec<Run>> = std::thread::scope(|scope| {
            let start = |stream| {
                let (mut access, barrier, begun) = (access.clone(), &barrier, &begun);
                scope.spawn(move || {
                    if barrier.wait().is_leader()
                        && let Ok(mut begun) = begun.write()
                    {
                        *begun = Some(Instant::now());
                    }
                    // Nobody runs before the clock does.
                    barrier.wait();
                    let run = self.run(stream, &mut access, batch)?;
                    let since = begun.read().ok().and_then(|begun| *begun);
                    Ok(Run { elapsed: since.map_or(run.elapsed, |since| since.elapsed()), ..run })
                })
            };
            let handles: Vec<_> = self.threads.iter().map(start).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, Result<Run>>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            handles.into_iter().map(join).collect()
        });
        let runs = runs?;
        Ok(Run {
            elapsed: runs.iter().map(|run| run.elapsed).max().unwrap_or_default(),
            entries: runs.iter().map(|run| run.entries).sum(),
            digest: Digest::together(runs.into_iter().map(|run| run.digest)),
        })
    }

    fn run(&self, stream: &Stream<L>, access: &mut impl Access<L>, batch: Option<usize>) -> Result<Run> {
        match (stream, batch) {
            (Stream::Gets(keys), None) => Ok(get_each(keys, access)),
            (Stream::Gets(keys), Some(size)) => get_in_batches(keys, access, size),
            (Stream::Mixed(operations), _) => self.run_mixed(operations.iter().copied(), access),
            // The reference takes batches one by one.
            (Stream::Batched(requests), _) => self.run_mixed(requests.iter().map(one_by_one), access),
        }
    }

    fn run_mixed(
        &self,
        operations: impl Iterator<Item = Operation<L>>,
        access: &mut impl Access<L>,
    ) -> Result<Run> {
        let (mut keys, mut values) = (vec![L::default(); self.longest], vec![L::default(); self.longest]);
        let (mut digest, mut entries) = (Digest::default(), 0);
        let clock = Instant::now();
        for operation in operations {
            match operation {
                Operation::Get(key) => digest.answer(access.get(key)),
                Operation::Insert(key, value) => digest.answer(access.insert(key, value)?),
                Operation::Remove(key) => digest.answer(access.remove(key)?),
                Operation::ReadModifyWrite(key, value) => {
                    digest.answer(access.get(key));
                    digest.answer(access.insert(key, value)?);
                }
                Operation::Scan(from, length) => {
                    let (keys, values) = (&mut keys[..length as usize], &mut values[..length as usize]);
                    let found = access.scan(from, keys, values)?;
                    entries += found as u64;
                    if self.scans_are_certain {
                        digest.scan(&keys[..found], &values[..found]);
                    }
                }
            }
        }
        Ok(Run { elapsed: clock.elapsed(), entries, digest })
    }

    fn run_batched(
        &self,
        requests: &[Request<L, L>],
        index: &mut dyn OrderedIndex<L, L>,
        size: usize,
    ) -> Result<Run> {
        let (mut digest, mut all_entries) = (Digest::default(), 0);
        let mut replies = Vec::with_capacity(size);
        let clock = Instant::now();
        for batch in requests.chunks(size) {
            index.execute(batch, &mut replies);
            for reply in replies.drain(..) {
                match reply {
                    Reply::Got(answer) | Reply::Inserted(answer) | Reply::Removed(answer) => {
                        digest.answer(answer);
                    }
                    Reply::Scanned(entries) => {
                        all_entries += entries.len() as u64;
                        let (keys, values): (Vec<L>, Vec<L>) = entries.into_iter().unzip();
                        digest.scan(&keys, &values);
                    }
                    Reply::Refused(error) => return Err(error),
                }
            }
        }
        Ok(Run { elapsed: clock.elapsed(), entries: all_entries, digest })
    }
}

impl<L: Word> Stream<L> {
    fn new(operations: Vec<Operation<L>>, batched: bool) -> Self {
        if operations.iter().all(|operation| matches!(operation, Operation::Get(_))) {
            return Self::Gets(operations.iter().map(key_of).collect());
        }
        if !batched {
            return Self::Mixed(operations);
        }
        let mut requests = Vec::with_capacity(operations.len());
        for operation in operations {
            match operation {
                Operation::Get(key) => requests.push(Request::Get(key)),
                Operation::Insert(key, value) => requests.push(Request::Insert(key, value)),
                Operation::Remove(key) => requests.push(Request::Remove(key)),
                Operation::Scan(from, length) => {
                    requests.push(Request::Scan { from, limit: length as usize });
                }
                Operation::ReadModifyWrite(key, value) => {
                    requests.extend([Request::Get(key), Request::Insert(key, value)]);
                }
            }
        }
        Self::Batched(requests)
    }
}

fn key_of<L: Copy>(operation: &Operation<L>) -> L {
    match *operation {
        Operation::Get(key)
        | Operation::Insert(key, _)
        | Operation::Remove(key)
        | Operation::Scan(key, _)
        | Operation::ReadModifyWrite(key, _) => key,
    }
}

fn key_asked_for<L: Copy>(request: &Request<L, L>) -> L {
    key_of(&one_by_one(request))
}

fn one_by_one<L: Copy>(request: &Request<L, L>) -> Operation<L> {
    match *request {
        Request::Get(key) => Operation::Get(key),
        Request::Insert(key, value) => Operation::Insert(key, value),
        Request::Remove(key) => Operation::Remove(key),
        Request::Scan { from, limit } => Operation::Scan(from, u32::try_from(limit).unwrap_or(u32::MAX)),
    }
}

fn get_each<L: Word>(keys: &[L], access: &mut impl Access<L>) -> Run {
    let mut digest = Digest::default();
    let clock = Instant::now();
    for &key in keys {
        digest.answer(access.get(key));
    }
    Run { elapsed: clock.elapsed(), entries: 0, digest }
}

/// Gets in batches of `size`, each with one call.
///
/// # Errors
/// What the index refuses.
pub fn get_in_batches<L: Word>(keys: &[L], access: &mut impl Access<L>, size: usize) -> Result<Run> {
    let mut answers = vec![None; size];
    let mut digest = Digest::default();
    let clock = Instant::now();
    for batch in keys.chunks(size) {
        let answers = &mut answers[..batch.len()];
        access.get_many(batch, answers)?;
        answers.iter().for_each(|&answer| digest.answer(answer));
    }
    Ok(Run { elapsed: clock.elapsed(), entries: 0, digest })
}

//! The timed loops. No loop allocates between the first request and the last.

use super::access::{Access, Reach, Way};
use super::digest::Digest;
use super::pauses::{Pauses, Single, Stopwatch};
use super::requests::{Stream, one_by_one};
use super::word::{Word, number};
use latchless::Result;
use latchless_core::base::request::{Reply, Request};
use latchless_workload::{Lane, Operation};
use std::ops::Bound;
use std::time::{Duration, Instant};

/// The time and the answers of a run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The time from the first request to the last answer, over all threads.
    pub elapsed: Duration,
    /// Entries scanned, summed or counted.
    pub entries: u64,
    /// The checksum of the answers.
    pub digest: Digest,
    /// The times of single operations, if they were requested.
    pub pauses: Option<Box<Pauses>>,
}

/// The parameters of a loop besides its requests.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Requests per batch; `None` for one by one.
    pub batch: Option<usize>,
    /// The longest scan, in entries.
    pub longest: usize,
    /// Whether a range's answer depends on the stream alone. With several threads and updates it doesn't,
    /// and isn't checked.
    pub ranges_are_certain: bool,
    /// The kind of operations that are timed one by one.
    pub single: Option<Single>,
}

impl Terms {
    /// Returns a run over requests of several kinds.
    fn ended(self, elapsed: Duration, entries: u64, answers: Digest, ranges: Digest) -> Run {
        let digest = if self.ranges_are_certain { Digest::together([answers, ranges]) } else { answers };
        Run { elapsed, entries, digest, pauses: None }
    }
}

/// Serves every request of the stream.
///
/// # Errors
/// The first request that the index refuses.
pub fn run<L: Word>(stream: &Stream<L>, access: &mut impl Access<L>, terms: Terms) -> Result<Run> {
    match (stream, terms.batch) {
        (Stream::Gets(keys), Some(size)) => get_in_batches(keys, access, size),
        (Stream::Puts(entries), Some(size)) => {
            in_batches(entries, size, |batch, old| access.insert_many(batch, old))
        }
        (Stream::Takes(keys), Some(size)) => {
            in_batches(keys, size, |batch, old| access.remove_many(batch, old))
        }
        (Stream::Gets(keys), None) => each(keys, terms, |&key| Ok(access.get(key))),
        (Stream::Puts(entries), None) => each(entries, terms, |&(key, value)| access.insert(key, value)),
        (Stream::Takes(keys), None) => each(keys, terms, |&key| access.remove(key)),
        (Stream::Chain(lanes), _) => chain(lanes, access, terms),
        (Stream::Mixed(operations), _) => mixed(operations.iter().copied(), access, terms),
        // The reference executes batches one by one.
        (Stream::Batched(requests), _) => mixed(requests.iter().map(one_by_one), access, terms),
    }
}

/// Serves every request of the stream for an index in the race: mixed requests are batched, too. See
/// [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn serve<L: Word>(stream: &Stream<L>, way: &mut Way<impl Reach<L>>, terms: Terms) -> Result<Run> {
    match (stream, terms.batch) {
        (Stream::Batched(requests), Some(size)) => executed(requests, &mut way.0, size, terms),
        _ => run(stream, way, terms),
    }
}

/// Serves requests of one kind, one by one, and times each of them if `terms.single` is set.
#[inline(always)]
fn each<L: Word, T>(
    requests: &[T],
    terms: Terms,
    mut ask: impl FnMut(&T) -> Result<Option<L>>,
) -> Result<Run> {
    let mut digest = Digest::default();
    let mut pauses = terms.single.map(|_| Box::new(Pauses::none()));
    let clock = Instant::now();
    match &mut pauses {
        Some(pauses) => {
            for request in requests {
                digest.answer(pauses.time(|| ask(request))?);
            }
        }
        None => {
            for request in requests {
                digest.answer(ask(request)?);
            }
        }
    }
    Ok(Run { elapsed: clock.elapsed(), entries: 0, digest, pauses })
}

/// Serves requests of one kind in batches, with one call for each.
#[inline(always)]
fn in_batches<L: Word, T>(
    requests: &[T],
    size: usize,
    mut ask: impl FnMut(&[T], &mut [Option<L>]) -> Result<()>,
) -> Result<Run> {
    let mut answers = vec![None; size.min(requests.len())];
    let mut digest = Digest::default();
    let clock = Instant::now();
    for batch in requests.chunks(size) {
        let answers = &mut answers[..batch.len()];
        ask(batch, answers)?;
        answers.iter().for_each(|&answer| digest.answer(answer));
    }
    Ok(Run { elapsed: clock.elapsed(), entries: 0, digest, pauses: None })
}

/// Gets in batches of `size`, with one call for each.
///
/// # Errors
/// What the index refuses.
pub fn get_in_batches<L: Word>(keys: &[L], access: &mut impl Access<L>, size: usize) -> Result<Run> {
    in_batches(keys, size, |batch, answers| access.get_many(batch, answers))
}

/// Dependent gets: see [`Operation::Chain`].
fn chain<L: Word>(lanes: &[L], access: &mut impl Access<L>, terms: Terms) -> Result<Run> {
    let mut last = 0;
    each(lanes, terms, |&lane| {
        let answer = access.get(<L as Lane>::truncate(number(lane) ^ last));
        last = answer.map_or(0, number);
        Ok(answer)
    })
}

/// Serves operations of any kind, one by one.
fn mixed<L: Word>(
    operations: impl Iterator<Item = Operation<L>>,
    access: &mut impl Access<L>,
    terms: Terms,
) -> Result<Run> {
    let (mut keys, mut values) = (vec![L::default(); terms.longest], vec![L::default(); terms.longest]);
    let (mut digest, mut ranges) = (Digest::default(), Digest::default());
    let (mut entries, mut watch) = (0, Stopwatch::new(terms.single));
    let clock = Instant::now();
    for operation in operations {
        match operation {
            Operation::Get(key) => digest.answer(watch.time(Single::Get, || access.get(key))),
            Operation::Chain(_) => unreachable!("a chain is a stream of its own"),
            Operation::Insert(key, value) => {
                digest.answer(watch.time(Single::Insert, || access.insert(key, value))?);
            }
            Operation::Remove(key) => digest.answer(watch.time(Single::Remove, || access.remove(key))?),
            Operation::ReadModifyWrite(key, value) => {
                digest.answer(access.get(key));
                digest.answer(access.insert(key, value)?);
            }
            Operation::Scan(from, length) => {
                let (keys, values) = (&mut keys[..length as usize], &mut values[..length as usize]);
                let found = access.page(from, keys, values)?;
                entries += found as u64;
                ranges.scan(&keys[..found], &values[..found]);
            }
            Operation::Range(from, length) => {
                let sum = access.range(from, length as usize)?;
                entries += sum.entries as u64;
                ranges.sum(sum);
            }
            Operation::Visit(from, length) => {
                let sum = access.by_leaf(from, length as usize)?;
                entries += sum.entries as u64;
                ranges.sum(sum);
            }
            Operation::Sum(from, length) => {
                let sum = access.sum((Bound::Included(from), Bound::Unbounded), length as usize)?;
                entries += sum.entries as u64;
                ranges.sum(sum);
            }
            Operation::SumRange(low, high) => {
                let sum = access.sum((Bound::Included(low), Bound::Included(high)), usize::MAX)?;
                entries += sum.entries as u64;
                ranges.sum(sum);
            }
            Operation::Count(low, high) => {
                let count = access.count((Bound::Included(low), Bound::Included(high)))?;
                entries += count as u64;
                ranges.number(count as u64);
            }
        }
    }
    let run = terms.ended(clock.elapsed(), entries, digest, ranges);
    Ok(Run { pauses: watch.stop(), ..run })
}

/// Serves batches of any kind, with one call of [`Reach::execute`] for each.
fn executed<L: Word>(
    requests: &[Request<L, L>],
    index: &mut impl Reach<L>,
    size: usize,
    terms: Terms,
) -> Result<Run> {
    let (mut digest, mut ranges, mut all_entries) = (Digest::default(), Digest::default(), 0);
    let mut replies = Vec::with_capacity(size);
    let clock = Instant::now();
    for batch in requests.chunks(size) {
        index.execute(batch, &mut replies)?;
        for reply in replies.drain(..) {
            match reply {
                Reply::Got(answer) | Reply::Inserted(answer) | Reply::Removed(answer) => {
                    digest.answer(answer);
                }
                Reply::Scanned(entries) => {
                    all_entries += entries.len() as u64;
                    ranges.scanned(&entries);
                }
                Reply::Refused(error) => return Err(error),
            }
        }
    }
    Ok(terms.ended(clock.elapsed(), all_entries, digest, ranges))
}

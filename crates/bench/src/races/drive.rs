//! Streams of requests, each served by one thread.

use super::access::{Access, Alone, Locked, Reach, Together, Way};
use super::digest::Digest;
use super::pauses::Single;
use super::raced::Raced;
use super::ranged::Ranged;
use super::requests::{Handing, Stream};
use super::side_by_side::side_by_side;
use super::timed::{Run, Terms, run, serve};
use super::word::Word;
use latchless::Result;
use latchless_core::base::index::{ConcurrentIndex, OrderedIndex};
use latchless_workload::Operation;
use std::sync::RwLock;

/// The requests of a race, in the form that the loops use.
///
/// They are one long history in parts of equal length. A round serves one part.
pub struct Streams<L> {
    parts: Vec<Part<L>>,
    /// The longest scan, in entries.
    longest: usize,
    /// Whether any request changes the index.
    updates: bool,
    /// The kind of operations that are timed one by one.
    single: Option<Single>,
}

/// The requests of a round.
struct Part<L> {
    /// One stream for each thread.
    threads: Vec<Stream<L>>,
    /// Requests over all threads.
    ops: u64,
}

impl<L: Word> Streams<L> {
    /// Divides each thread's stream into `parts`; `updates` if any request changes the index.
    pub fn new(streams: &[Vec<Operation<L>>], parts: usize, handing: Handing, updates: bool) -> Self {
        let length = |operation: &Operation<L>| match operation {
            Operation::Scan(_, length) => *length as usize,
            _ => 0,
        };
        let longest = streams.iter().flatten().map(length).max().unwrap_or(0);
        let cut = |stream: &'_ Vec<Operation<L>>, part: usize| {
            let end = |part| stream.len() * part / parts;
            end(part)..end(part + 1)
        };
        let part = |part: usize| {
            let pieces = || streams.iter().map(|stream| &stream[cut(stream, part)]);
            Part {
                threads: pieces().map(|piece| Stream::new(piece, handing)).collect(),
                ops: pieces().map(|piece| piece.len() as u64).sum(),
            }
        };
        Self { parts: (0..parts).map(part).collect(), longest, updates, single: None }
    }

    /// Returns the same requests, with single operations of that kind timed in a race.
    pub fn timing(self, single: Option<Single>) -> Self {
        Self { single, ..self }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the number of requests of a part, over all threads.
    pub fn ops(&self, part: usize) -> u64 {
        self.parts[part].ops
    }

    /// Serves every request of a part, thread after thread, through one access.
    ///
    /// # Errors
    /// The first request that the index refuses.
    pub fn in_turn(&self, part: usize, access: &mut impl Access<L>) -> Result<Digest> {
        let threads = &self.parts[part].threads;
        let terms = Terms { single: None, ..self.terms(part, None) };
        let digests: Result<Vec<_>> =
            threads.iter().map(|stream| Ok(run(stream, access, terms)?.digest)).collect();
        Ok(Digest::together(digests?))
    }

    /// Serves every request of a part and times it: in batches of `batch` if given; with a thread for each
    /// stream. A concurrent index is accessed through its concurrent interface by one thread as well.
    ///
    /// # Errors
    /// The first request that the index refuses.
    pub fn race(&self, part: usize, index: &mut Raced<L>, batch: Option<usize>) -> Result<Run> {
        let alone = self.parts[part].threads.len() == 1;
        match index {
            Raced::Index(index) => self.together(part, &**index, Some(&**index), batch),
            Raced::Exclusive(index) if alone => self.alone(part, &mut **index, batch),
            Raced::Map(map) if alone => self.alone(part, &mut **map, batch),
            other => self.through_a_table(part, &mut **other, batch),
        }
    }

    /// Calls an index of unknown type through its table of functions.
    fn through_a_table(
        &self,
        part: usize,
        index: &mut dyn OrderedIndex<L, L>,
        batch: Option<usize>,
    ) -> Result<Run> {
        let threads = &self.parts[part].threads[..];
        match index.as_concurrent() {
            Some(writer) => self.together(part, &*index, Some(writer), batch),
            None if threads.len() == 1 => self.alone(part, index, batch),
            None if !self.updates => self.together(part, &*index, None::<&dyn ConcurrentIndex<L, L>>, batch),
            None => on_threads(threads, Way(Locked(&RwLock::new(index))), self.terms(part, batch)),
        }
    }

    fn alone<I: Ranged<L> + ?Sized>(&self, part: usize, index: &mut I, batch: Option<usize>) -> Result<Run> {
        serve(&self.parts[part].threads[0], &mut Way(Alone(index)), self.terms(part, batch))
    }

    fn together<I, W>(&self, part: usize, index: &I, writer: Option<&W>, batch: Option<usize>) -> Result<Run>
    where
        I: Ranged<L> + ?Sized,
        W: ConcurrentIndex<L, L> + ?Sized,
    {
        let (mut way, terms) = (Way(Together { index, writer }), self.terms(part, batch));
        match &self.parts[part].threads[..] {
            [stream] => serve(stream, &mut way, terms),
            streams => on_threads(streams, way, terms),
        }
    }

    fn terms(&self, part: usize, batch: Option<usize>) -> Terms {
        let alone = self.parts[part].threads.len() < 2;
        let ranges_are_certain = alone || !self.updates;
        Terms { batch, longest: self.longest, ranges_are_certain, single: self.single }
    }
}

/// Serves each stream on a separate thread; all start together.
fn on_threads<L: Word, A: Reach<L> + Clone + Send>(
    streams: &[Stream<L>],
    way: Way<A>,
    terms: Terms,
) -> Result<Run> {
    let works = streams.iter().map(|stream| (stream, way.clone())).collect();
    side_by_side(works, |(stream, mut way)| serve(stream, &mut way, terms))
}

//! The timed loops over byte strings, compiled for each index. No loop allocates between the first request
//! and the last.

use super::stream::{Asks, Stream};
use crate::races::digest::Digest;
use crate::races::side_by_side::side_by_side;
use crate::races::timed::Run;
use latchless::Result;
use latchless_rivals::bytes::{Peer, Reach, Session};
use std::hint::black_box;
use std::time::Instant;

/// Requests per session: a peer frees retired memory when its guard ends.
const SESSION: usize = 256;

/// An index in the race, of any type.
pub trait Contestant {
    /// Returns the number of keys.
    fn len(&self) -> usize;
    /// Inserts entries one by one, untimed.
    fn fill(&mut self, entries: &[(&[u8], u64)]) -> Result<()>;
    /// Loads ascending entries into the empty index, with its own bulk load if it has one.
    fn load(&mut self, entries: &[(&[u8], u64)]) -> Result<()>;
    /// Gets these keys, untimed.
    fn warm_up(&mut self, keys: &[&[u8]]);
    /// Serves the streams, one thread for each, and times them; in batches if `batch` is given.
    fn serve(&mut self, streams: &[Stream], batch: Option<usize>) -> Result<Run>;
    /// Serves one stream after the other, and returns the checksum of the answers.
    fn serve_in_turn(&mut self, streams: &[Stream], batch: Option<usize>) -> Result<Digest>;
    /// Returns a checksum over all entries, and their number.
    fn contents(&mut self) -> Result<(Digest, usize)>;
    /// Returns the bytes that the index occupies, if it counts them itself.
    fn memory_bytes(&self) -> Option<usize>;
}

impl<P: Peer> Contestant for P {
    fn len(&self) -> usize {
        Peer::len(self)
    }

    fn fill(&mut self, entries: &[(&[u8], u64)]) -> Result<()> {
        for entries in entries.chunks(SESSION) {
            let mut session = self.session();
            for &(key, value) in entries {
                session.insert(key, value)?;
            }
        }
        Ok(())
    }

    fn load(&mut self, entries: &[(&[u8], u64)]) -> Result<()> {
        Peer::load(self, entries.iter().copied())
    }

    fn warm_up(&mut self, keys: &[&[u8]]) {
        let session = self.session();
        for key in keys {
            black_box(session.get(key));
        }
    }

    fn serve(&mut self, streams: &[Stream], batch: Option<usize>) -> Result<Run> {
        if let [stream] = streams {
            return one(self, &stream.asks(), batch);
        }
        let works = streams.iter().map(|stream| (stream.asks(), self.shared())).collect();
        side_by_side(works, |(asks, mut way)| one(&mut way, &asks, batch))
    }

    fn serve_in_turn(&mut self, streams: &[Stream], batch: Option<usize>) -> Result<Digest> {
        let digests: Result<Vec<_>> =
            streams.iter().map(|stream| Ok(one(self, &stream.asks(), batch)?.digest)).collect();
        Ok(Digest::together(digests?))
    }

    fn contents(&mut self) -> Result<(Digest, usize)> {
        let (mut digest, mut len) = (Digest::default(), 0);
        self.session().scan(b"", |key, value| {
            key.iter().for_each(|&byte| digest.number(u64::from(byte)));
            digest.number(key.len() as u64);
            digest.number(value);
            len += 1;
            true
        })?;
        Ok((digest, len))
    }

    fn memory_bytes(&self) -> Option<usize> {
        Peer::memory_bytes(self)
    }
}

/// Serves one stream.
fn one(index: &mut impl Reach, asks: &Asks<'_>, batch: Option<usize>) -> Result<Run> {
    match (asks, batch) {
        (Asks::Gets(keys), None) => gets(index, keys),
        (Asks::Gets(keys), Some(size)) => gets_in_batches(index, keys, size),
        (Asks::Chain(stream, steps), _) => chain(index, stream, steps),
        (Asks::Puts(entries), None) => puts(index, entries),
        (Asks::Puts(entries), Some(size)) => puts_in_batches(index, entries, size),
        (Asks::Takes(keys), _) => takes(index, keys),
        (Asks::Scans(requests), _) => scans(index, requests),
    }
}

/// Serves requests in pieces, with a session for each piece, and times the whole.
fn timed<T>(
    requests: &[T],
    piece: usize,
    mut serve: impl FnMut(&[T], &mut Digest, &mut u64) -> Result<()>,
) -> Result<Run> {
    let (mut digest, mut entries) = (Digest::default(), 0);
    let clock = Instant::now();
    for requests in requests.chunks(piece) {
        serve(requests, &mut digest, &mut entries)?;
    }
    Ok(Run { elapsed: clock.elapsed(), entries, digest, pauses: None })
}

fn gets(index: &mut impl Reach, keys: &[&[u8]]) -> Result<Run> {
    timed(keys, SESSION, |keys, digest, _| {
        let session = index.session();
        keys.iter().for_each(|key| digest.answer(session.get(key)));
        Ok(())
    })
}

/// Gets in batches, with one call for each.
fn gets_in_batches(index: &mut impl Reach, keys: &[&[u8]], size: usize) -> Result<Run> {
    let mut answers = vec![None; size.min(keys.len())];
    timed(keys, size, |keys, digest, _| {
        let answers = &mut answers[..keys.len()];
        index.session().get_many(keys, answers)?;
        answers.iter().for_each(|&answer| digest.answer(answer));
        Ok(())
    })
}

/// Dependent gets: the place of each key depends on the previous answer.
fn chain(index: &mut impl Reach, stream: &Stream, steps: &[(u64, usize)]) -> Result<Run> {
    let mut last = 0;
    timed(steps, SESSION, |steps, digest, _| {
        let session = index.session();
        for &(place, length) in steps {
            let answer = session.get(stream.chained(place ^ last, length));
            last = answer.unwrap_or(0);
            digest.answer(answer);
        }
        Ok(())
    })
}

fn puts(index: &mut impl Reach, entries: &[(&[u8], u64)]) -> Result<Run> {
    timed(entries, SESSION, |entries, digest, _| {
        let mut session = index.session();
        for &(key, value) in entries {
            digest.answer(session.insert(key, value)?);
        }
        Ok(())
    })
}

/// Inserts in batches, with one call for each.
fn puts_in_batches(index: &mut impl Reach, entries: &[(&[u8], u64)], size: usize) -> Result<Run> {
    let mut replaced = vec![None; size.min(entries.len())];
    timed(entries, size, |entries, digest, _| {
        let replaced = &mut replaced[..entries.len()];
        index.session().insert_many(entries, replaced)?;
        replaced.iter().for_each(|&answer| digest.answer(answer));
        Ok(())
    })
}

fn takes(index: &mut impl Reach, keys: &[&[u8]]) -> Result<Run> {
    timed(keys, SESSION, |keys, digest, _| {
        let mut session = index.session();
        keys.iter().for_each(|key| digest.answer(session.remove(key)));
        Ok(())
    })
}

/// Scans. For every entry, the loop reads the value, the key's length and its last byte.
fn scans(index: &mut impl Reach, requests: &[(&[u8], u64)]) -> Result<Run> {
    timed(requests, SESSION, |requests, digest, entries| {
        let session = index.session();
        for &(from, limit) in requests {
            let (mut found, mut total) = (0u64, 0u64);
            session.scan(from, |key, value| {
                let seen = key.len() as u64 + u64::from(key.last().copied().unwrap_or_default());
                total = total.wrapping_add(value).wrapping_add(seen);
                found += 1;
                found < limit
            })?;
            digest.number(found);
            digest.number(total);
            *entries += found;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::races::bytes::catalogue::build;
    use crate::races::catalogue::Options;
    use latchless_workload::{BytesKeySet, Spec, Workload, value_of};

    /// Returns the answers of a race of the baseline, and its contents at the end.
    fn run(workload: Workload, batch: Option<usize>, load: bool) -> (Run, (Digest, usize)) {
        let spec = Spec { records: 700, ops: 600, scan_length: 10, ..Spec::new(workload) };
        let plan = spec.plan_bytes(&BytesKeySet::Url).unwrap();
        let mut entries: Vec<_> =
            plan.keys.iter().zip(0..).take(700).map(|(key, number)| (key, value_of(number, 0))).collect();
        let mut index = build("btreemap", &Options::default()).unwrap();
        if load {
            entries.sort_unstable();
            index.load(&entries).unwrap();
        } else {
            index.fill(&entries).unwrap();
        }
        assert_eq!(index.len(), 700);
        let streams: Vec<_> = plan.streams.iter().map(|own| Stream::new(own, &plan.keys)).collect();
        let run = index.serve(&streams, batch).unwrap();
        (run, index.contents().unwrap())
    }

    #[test]
    fn batches_and_ways_of_filling_give_the_same_answers() {
        for workload in [Workload::Get, Workload::Absent, Workload::Insert] {
            let alone = run(workload, None, false);
            for (batch, load) in [(Some(7), false), (Some(256), true), (None, true)] {
                assert_eq!(run(workload, batch, load).0.digest, alone.0.digest, "{workload}");
            }
        }
        assert_ne!(run(Workload::Get, None, true).0.digest, run(Workload::Absent, None, true).0.digest);
        let (alone, batched) = (run(Workload::Insert, None, false), run(Workload::Insert, Some(256), true));
        assert_eq!((alone.1, alone.1.1), (batched.1, 1300));
    }

    #[test]
    fn scans_count_entries_and_removals_leave_the_rest() {
        let (scans, whole) = run(Workload::Scan, None, false);
        assert!((5_900..=6_000).contains(&scans.entries) && whole.1 == 700, "{}", scans.entries);
        assert_eq!(run(Workload::Remove, None, false).1.1, 100);
        assert!(run(Workload::Chain, None, true).0.elapsed.as_nanos() > 0);
    }
}

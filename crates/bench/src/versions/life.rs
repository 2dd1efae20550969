//! An index from its first entry to its end, step by step.

use super::keys::{Key, Keys};
use super::step::{At, Sample, Step};
use super::subject::{BATCH, Batch, COMMIT, Digest, Form, Subject};
use crate::clock::now_ns;
use latchless::Result;
use latchless_measure::counting;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Of so many requested keys, one begins a range.
const RANGES: usize = 8;
/// Versions that the writer beside a reader inserts in a second: as many in each index. Otherwise the readers
/// of an index that is written faster would have more versions to pass.
const WRITES_PER_SECOND: f64 = 100_000.0;
/// The writer sleeps so long between its writes.
const PAUSE: Duration = Duration::from_micros(100);

/// What all subjects of a run work with.
pub struct Work<'b, 'k, K: Key> {
    pub keys: &'b Keys<K>,
    /// The keys of the sample, in borrowed form.
    pub probes: &'b [K::Probe<'k>],
}

/// A subject in a run.
pub trait Contestant<K: Key> {
    fn name(&self) -> &'static str;
    fn is_rival(&self) -> bool;
    /// Does a step and returns what it has taken; `None` if the index doesn't have it. An index without
    /// versions reads the newest values.
    fn perform(&mut self, step: Step, work: &Work<'_, '_, K>) -> Result<Option<Sample>>;
    /// Returns the bytes of an index of these keys, with one version of each and with two; `None` where an
    /// index has but one version, or where the program doesn't count the heap's bytes.
    fn weigh(&self, work: &Work<'_, '_, K>) -> Result<[Option<usize>; 2]>;
}

/// An index, and the moments at which it is read.
pub struct Life<K: Key, S: Subject<K>> {
    // Snapshots end before the index does.
    older: Option<S::Moment>,
    newest: Option<S::Moment>,
    index: Option<S>,
}

impl<K: Key, S: Subject<K>> Life<K, S> {
    pub const fn new() -> Self {
        Self { older: None, newest: None, index: None }
    }
}

/// The value of a version of the key at this place: no two versions have one value.
fn value(place: usize, version: u64) -> u64 {
    version << 32 | place as u64
}

/// Calls `work` and returns the nanoseconds of each of so many operations. They are those of this thread's
/// processor: other programs on the machine would lengthen those of a clock on the wall. No step waits.
fn timed(times: usize, work: impl FnOnce(&mut Digest) -> Result<()>) -> Result<Sample> {
    let mut digest = Digest::default();
    let start = now_ns();
    work(&mut digest)?;
    Ok(Sample { nanos: (now_ns() - start) as f64 / times.max(1) as f64, digest })
}

impl<K: Key, S: Subject<K>> Contestant<K> for Life<K, S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn is_rival(&self) -> bool {
        S::IS_RIVAL
    }

    fn perform(&mut self, step: Step, work: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        match step {
            Step::InsertKeys => self.fill(work).map(Some),
            Step::InsertVersions => self.insert_versions(work),
            Step::InsertTogether => self.insert_together(work),
            Step::Prune => self.prune(work),
            Step::Overwrite => self.overwrite(work),
            Step::Drop => self.end(work),
            Step::RangeBesideWriter => self.range_beside_writer(work),
            _ => self.read(step, work),
        }
    }

    fn weigh(&self, work: &Work<'_, '_, K>) -> Result<[Option<usize>; 2]> {
        let mut fresh = Self::new();
        let (filled, one) = counting::weigh(|| fresh.fill(work));
        filled?;
        let beside = fresh.index.as_ref().map_or(0, S::bytes_beside_heap);
        let (added, more) = counting::weigh(|| fresh.insert_versions(work));
        let has_versions = added?.is_some();
        let beside_both = fresh.index.as_ref().map_or(0, S::bytes_beside_heap);
        let both = one.zip(more).filter(|_| has_versions).map(|(one, more)| one + more + beside_both);
        Ok([one.map(|one| one + beside), both])
    }
}

impl<K: Key, S: Subject<K>> Life<K, S> {
    /// Returns the index, which a round begins with.
    fn index(&self) -> &S {
        self.index.as_ref().expect("the index of this round")
    }

    fn fill(&mut self, work: &Work<'_, '_, K>) -> Result<Sample> {
        let index = self.index.insert(S::create()?);
        let all = &work.keys.all;
        timed(all.len(), |_| {
            all.iter().enumerate().try_for_each(|(place, key)| index.insert(key, value(place, 1)))
        })
    }

    fn insert_versions(&mut self, work: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        let index = self.index.as_ref().expect("the index of this round");
        self.older = index.moment();
        if self.older.is_none() {
            return self.overwrite_all(work, 2).map(|()| None);
        }
        let sample = timed(work.keys.all.len(), |_| self.overwrite_all(work, 2))?;
        self.newest = self.index().moment();
        Ok(Some(sample))
    }

    /// Gives each key a version, or its value where there are none.
    fn overwrite_all(&self, Work { keys, .. }: &Work<'_, '_, K>, version: u64) -> Result<()> {
        keys.again().try_for_each(|place| self.index().insert(&keys.all[place], value(place, version)))
    }

    /// Reads that leave the index as it is.
    fn read(&self, step: Step, work: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        let (index, keys) = (self.index(), &work.keys.sample);
        let moment = match step {
            Step::GetAt(At::Older) | Step::GetMany(At::Older) | Step::Range(At::Older, _) => &self.older,
            _ => &self.newest,
        };
        let is_older = matches!(step, Step::GetMany(At::Older) | Step::Range(At::Older, _));
        if moment.is_none() && (is_older || matches!(step, Step::GetAt(_) | Step::GetAbsent)) {
            return Ok(None);
        }
        match step {
            Step::Get => timed(keys.len(), |digest| {
                keys.iter().for_each(|key| digest.add(index.get(key)));
                Ok(())
            }),
            Step::GetAt(_) | Step::GetAbsent => {
                let Some(moment) = moment else { return Ok(None) };
                let keys = if step == Step::GetAbsent { &work.keys.absent } else { keys };
                timed(keys.len(), |digest| {
                    keys.iter().for_each(|key| digest.add(index.get_at(key, moment)));
                    Ok(())
                })
            }
            Step::GetMany(_) => timed(keys.len(), |digest| {
                let mut batches = keys.chunks(BATCH).zip(work.probes.chunks(BATCH));
                batches.try_for_each(|(keys, probes)| {
                    index.get_many(&Batch { keys, probes }, moment.as_ref(), digest)
                })
            }),
            Step::Range(_, form) => timed(keys.len() / RANGES, |digest| {
                self.ranges(keys, moment.as_ref(), form, digest);
                Ok(())
            }),
            _ => {
                if !index.snapshot() {
                    return Ok(None);
                }
                timed(keys.len(), |_| {
                    keys.iter().for_each(|_| _ = index.snapshot());
                    Ok(())
                })
            }
        }
        .map(Some)
    }

    fn ranges(&self, keys: &[K], moment: Option<&S::Moment>, form: Form, digest: &mut Digest) {
        let lows = keys.chunks_exact(RANGES);
        lows.for_each(|keys| self.index().range(&keys[0], moment, form, digest));
    }

    /// The reader's moment is the one before the writer begins, so what it sees stays the same. The writer
    /// goes on until each requested key has a further version.
    fn range_beside_writer(&mut self, Work { keys, .. }: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        if self.newest.is_none() {
            return Ok(None);
        }
        let (index, moment, is_read) = (self.index(), self.newest.as_ref(), AtomicBool::new(false));
        let sample = thread::scope(|scope| {
            let writer = scope.spawn(|| write_until(&keys.sample, &is_read, index));
            let sample = timed(keys.sample.len() / RANGES, |digest| {
                self.ranges(&keys.sample, moment, Form::Iterator, digest);
                Ok(())
            });
            is_read.store(true, Ordering::Release);
            writer.join().expect("the writer doesn't panic").and(sample)
        })?;
        Ok(Some(sample))
    }

    fn insert_together(&mut self, Work { keys, .. }: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        if self.newest.is_none() {
            return Ok(None);
        }
        let index = self.index();
        let sample = timed(keys.sample.len(), |_| {
            let mut entries = Vec::with_capacity(COMMIT);
            for (at, keys) in keys.sample.chunks(COMMIT).enumerate() {
                entries.clear();
                entries.extend(keys.iter().map(|key| (key, value(at, 4))));
                index.insert_together(&entries)?;
            }
            Ok(())
        })?;
        self.older = None;
        self.newest = self.index().moment();
        Ok(Some(self.checked(sample, keys)))
    }

    fn prune(&mut self, Work { keys, .. }: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        let Some(moment) = &self.newest else { return Ok(None) };
        let sample = timed(keys.all.len(), |digest| {
            digest.add(self.index().prune(moment)?.map(|dropped| dropped as u64));
            Ok(())
        })?;
        let sample = self.checked(sample, keys);
        self.newest = None;
        Ok(Some(sample))
    }

    /// No reader is there, so the version before may go.
    fn overwrite(&mut self, Work { keys, .. }: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        let mut has_all = true;
        let sample = timed(keys.sample.len(), |_| {
            for (place, key) in keys.sample.iter().enumerate() {
                has_all = has_all && self.index().overwrite(key, value(place, 5))?;
            }
            Ok(())
        })?;
        if has_all {
            return Ok(Some(self.checked(sample, keys)));
        }
        keys.sample.iter().enumerate().try_for_each(|(at, key)| self.index().insert(key, value(at, 5)))?;
        Ok(None)
    }

    /// Gives each key a further version, which a reader doesn't let replace the one before, and drops the
    /// index.
    fn end(&mut self, work: &Work<'_, '_, K>) -> Result<Option<Sample>> {
        let reader = self.index().moment();
        self.overwrite_all(work, 6)?;
        let versions = if reader.is_some() { 2 } else { 1 };
        drop(reader);
        timed(versions * work.keys.all.len(), |_| {
            self.index = None;
            Ok(())
        })
        .map(Some)
    }

    /// Adds the newest values of the sample to the digest of a step that has changed them.
    fn checked(&self, mut sample: Sample, keys: &Keys<K>) -> Sample {
        keys.sample.iter().for_each(|key| sample.digest.add(self.index().get(key)));
        sample
    }
}

/// Inserts a version of each key, in its turn; once the reader has ended, the rest at once.
fn write_until<K: Key, S: Subject<K>>(keys: &[K], is_read: &AtomicBool, index: &S) -> Result<()> {
    let start = Instant::now();
    for (place, key) in keys.iter().enumerate() {
        let due = Duration::from_secs_f64(place as f64 / WRITES_PER_SECOND);
        while start.elapsed() < due && !is_read.load(Ordering::Acquire) {
            thread::sleep(PAUSE);
        }
        index.insert(key, value(place, 3))?;
    }
    Ok(())
}

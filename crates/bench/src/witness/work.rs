//! The work: an index is filled, then each operation runs many times, in a function that a counter knows
//! by its name.

use super::kind::Kind;
use super::subject::{Boxed, Subject, number, text};
use super::versions::version;
use latchless::index::Slot;
use latchless::{Index, VersionedKey};
use latchless_core::search::Kernel;
use latchless_terminal::failure::Failure;
use std::time::{Duration, Instant};

/// Of so many entries, one is requested by each operation.
const SHARE: usize = 8;
/// Requests of a batch.
const BATCH: usize = 1024;
/// A prime number: its multiples visit all entries, in an order unlike that of the inserts.
const STRIDE: usize = 2_654_435_761;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Get,
    GetMany,
    Newest,
    NewestMany,
    Ceiling,
    Range,
    Update,
    Insert,
    InsertMany,
    Remove,
}

impl Operation {
    /// In the order in which they run: first those that leave the index as it is.
    const ALL: [Self; 10] = [
        Self::Get,
        Self::GetMany,
        Self::Newest,
        Self::NewestMany,
        Self::Ceiling,
        Self::Range,
        Self::Update,
        Self::Insert,
        Self::InsertMany,
        Self::Remove,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::GetMany => "get-many",
            Self::Newest => "newest",
            Self::NewestMany => "newest-many",
            Self::Ceiling => "ceiling",
            Self::Range => "range-48",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::InsertMany => "insert-many",
            Self::Remove => "remove",
        }
    }
}

/// An operation that has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub operation: String,
    pub times: usize,
    pub took: Duration,
}

/// The name of [`counted_part`], as the symbols of all its instances have it.
pub const COUNTED: &str = "counted_part";

/// Runs an operation many times; nothing else is counted.
#[inline(never)]
fn counted_part<R>(operations: impl FnOnce() -> R) -> R {
    operations()
}

/// The keys of a run.
struct Keys<K> {
    loaded: Vec<K>,
    /// Some of the loaded ones, each once.
    present: Vec<K>,
    /// Neither loaded nor inserted.
    absent: Vec<K>,
    /// Inserted one by one.
    new: Vec<K>,
    /// Inserted in batches.
    more: Vec<K>,
}

impl<K> Keys<K> {
    fn new(records: usize, key: impl Fn(usize) -> K) -> Self {
        let times = records / SHARE;
        let from = |start: usize| (start..start + times).map(&key).collect();
        Self {
            loaded: (0..records).map(&key).collect(),
            present: (0..times).map(|at| key((at * SHARE + 1) * STRIDE % records)).collect(),
            new: from(records),
            more: from(records + times),
            absent: from(records + 2 * times),
        }
    }
}

/// Fills an index of this kind and runs its operations, up to a number of them.
///
/// # Errors
/// Refused memory, and a wrong answer.
pub fn run(kind: Kind, records: usize, operations: usize) -> Result<Vec<Done>, Failure> {
    if records < SHARE {
        return Err(Failure::usage(format!("the witness has at least {SHARE} records")));
    }
    match kind {
        Kind::Index => run_over(&mut Index::<u64, u64>::new()?, Keys::new(records, number), operations),
        Kind::Exclusive => {
            let mut index = Index::<u64, u64>::new()?;
            run_over(&mut index.exclusive(), Keys::new(records, number), operations)
        }
        Kind::Bytes => run_over(&mut Index::<Vec<u8>, u64>::new()?, Keys::new(records, text), operations),
        Kind::Boxed => {
            run_over(&mut Index::<u64, Slot<Boxed>>::new()?, Keys::new(records, number), operations)
        }
        Kind::Versions => {
            run_over(&mut Index::<VersionedKey, u64>::new()?, Keys::new(records, version), operations)
        }
        Kind::BoxedBytes => {
            run_over(&mut Index::<Vec<u8>, Slot<Boxed>>::new()?, Keys::new(records, text), operations)
        }
    }
}

fn run_over<S: Subject>(
    subject: &mut S,
    keys: Keys<S::Key>,
    operations: usize,
) -> Result<Vec<Done>, Failure> {
    for key in &keys.loaded {
        subject.insert(key)?;
    }
    let mut done = Vec::new();
    let has_versions = keys.present.first().is_some_and(|key| subject.newest(key).is_some());
    let has = |operation: &Operation| {
        has_versions || !matches!(operation, Operation::Newest | Operation::NewestMany)
    };
    for operation in Operation::ALL.into_iter().filter(has).take(operations) {
        let start = Instant::now();
        let found = run_one(subject, &keys, operation)?;
        let took = start.elapsed();
        let (times, expected) = expected(operation, keys.present.len());
        if expected.is_some_and(|expected| expected != found) {
            let name = operation.name();
            return Err(Failure::wrong(format!("{name} found {found} keys in {times} operations")));
        }
        done.push(Done { operation: operation.name().to_owned(), times, took });
    }
    Ok(done)
}

/// Returns how often an operation runs, and how many keys it finds if that is known.
fn expected(operation: Operation, times: usize) -> (usize, Option<usize>) {
    match operation {
        Operation::Get
        | Operation::GetMany
        | Operation::Newest
        | Operation::NewestMany
        | Operation::Update
        | Operation::Remove => (times, Some(times)),
        Operation::Insert | Operation::InsertMany => (times, Some(0)),
        // Near the last key there may be fewer.
        Operation::Ceiling | Operation::Range => (times, None),
    }
}

/// Runs one operation many times, and returns the number of keys that were present.
fn run_one<S: Subject>(subject: &mut S, keys: &Keys<S::Key>, operation: Operation) -> Result<usize, Failure> {
    let Keys { present, absent, new, more, .. } = keys;
    let found = match operation {
        Operation::Get => counted_part(|| Ok(present.iter().map(|key| subject.get(key)).sum())),
        Operation::GetMany => {
            counted_part(|| present.chunks(BATCH).map(|batch| subject.get_many(batch)).sum())
        }
        Operation::Newest => counted_part(|| Ok(present.iter().filter_map(|key| subject.newest(key)).sum())),
        Operation::NewestMany => {
            counted_part(|| present.chunks(BATCH).map(|batch| subject.newest_many(batch)).sum())
        }
        Operation::Ceiling => counted_part(|| Ok(absent.iter().map(|key| subject.ceiling(key)).sum())),
        Operation::Range => counted_part(|| Ok(absent.iter().map(|key| subject.range(key)).sum())),
        Operation::Update => counted_part(|| present.iter().map(|key| subject.insert(key)).sum()),
        Operation::Insert => counted_part(|| new.iter().map(|key| subject.insert(key)).sum()),
        Operation::InsertMany => {
            counted_part(|| more.chunks(BATCH).map(|batch| subject.insert_many(batch)).sum())
        }
        Operation::Remove => counted_part(|| Ok(present.iter().map(|key| subject.remove(key)).sum())),
    };
    let found: latchless::Result<usize> = found;
    Ok(found?)
}

/// Writes what has run, a line each, for [`read`].
pub fn write(done: &[Done]) -> String {
    let line = |one: &Done| format!("{} {} {}\n", one.operation, one.times, one.took.as_nanos());
    format!("{}\n{}", Kernel::best().name(), done.iter().map(line).collect::<String>())
}

/// Reads the kernel and what has run from another process's [`write()`].
pub fn read(text: &str) -> Option<(String, Vec<Done>)> {
    let mut lines = text.lines();
    let kernel = lines.next()?.to_owned();
    let done = lines.map(|line| {
        let mut words = line.split(' ');
        Some(Done {
            operation: words.next()?.to_owned(),
            times: words.next()?.parse().ok()?,
            took: Duration::from_nanos(words.next()?.parse().ok()?),
        })
    });
    Some((kernel, done.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_kind_answers_rightly_in_every_operation() {
        for &kind in Kind::value_variants() {
            let done = run(kind, 4_000, usize::MAX).unwrap_or_else(|failure| panic!("{kind:?}: {failure}"));
            let absent = if kind == Kind::Versions { 0 } else { 2 };
            assert_eq!(done.len(), Operation::ALL.len() - absent, "{kind:?}");
            assert!(done.iter().all(|one| one.times == 500));
            assert_eq!(run(kind, 4_000, 7).unwrap().len(), 7, "{kind:?}");
        }
        assert!(run(Kind::Index, SHARE - 1, 1).is_err());
    }

    #[test]
    fn what_has_run_is_read_back() {
        let done = run(Kind::Index, 800, usize::MAX).unwrap();
        assert_eq!(read(&write(&done)), Some((Kernel::best().name().to_owned(), done)));
        assert_eq!(read("avx2\nget many\n"), None);
    }
}

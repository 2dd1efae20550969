//! What is measured, and how an index does it.

use super::subject::{Key, Subject};
use crate::clock::now_ns;
use latchless::{Error, Result};
use latchless_measure::counting;
use std::hint::black_box;

/// Entries of a short range.
const RANGE: usize = 10;
/// Entries, or operations, that a sample takes at least.
const ENOUGH: usize = 100_000;
/// A prime number: its multiples visit all entries.
const STRIDE: usize = 2_654_435_761;

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Creates an index, inserts an entry, and drops the index.
    One,
    /// Creates an index, inserts so many entries, and drops it: per entry.
    Build(usize),
    /// Looks up an entry of so many.
    Get(usize),
    /// Iterates over all of so many entries: per entry.
    Iterate(usize),
    /// Takes the first ten entries of a range of so many: per entry.
    Range(usize),
    /// Creates so many indexes of so many entries each, and drops them: per entry.
    Many(usize, usize),
    /// Their bytes per entry.
    Bytes(usize, usize),
    /// The bytes of an index of one entry.
    BytesOfOne,
}

/// What a row has taken, and what was found.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Nanoseconds of one operation or entry, or bytes.
    pub amount: f64,
    /// The same in every index.
    pub answer: u64,
}

impl Row {
    /// Returns the rows for indexes of at most so many entries, and for this many at once.
    pub fn up_to(most: usize, many: usize) -> impl Iterator<Item = Self> {
        let sizes = move || [10, 100, 1_000, 10_000, 100_000].into_iter().filter(move |&size| size <= most);
        let of_many =
            [50, 1_000].into_iter().flat_map(move |size| [Self::Many(many, size), Self::Bytes(many, size)]);
        [Self::One, Self::BytesOfOne]
            .into_iter()
            .chain(sizes().map(Self::Build))
            .chain(sizes().map(Self::Get))
            .chain([Self::Iterate(10)])
            .chain(sizes().map(Self::Range))
            .chain(of_many)
    }

    pub fn name(self) -> String {
        match self {
            Self::One => "create, insert one, drop: ns".to_owned(),
            Self::BytesOfOne => "with one entry: bytes".to_owned(),
            Self::Build(size) => format!("build {size}: ns per key"),
            Self::Get(size) => format!("get of {size}: ns"),
            Self::Iterate(size) => format!("iterate {size}: ns per entry"),
            Self::Range(size) => format!("range(a..).take({RANGE}) of {size}: ns per entry"),
            Self::Many(many, size) => format!("{many} indexes of {size}: ns per key"),
            Self::Bytes(many, size) => format!("{many} indexes of {size}: bytes per entry"),
        }
    }
}

/// Does a row once in indexes of this kind.
pub fn measure<K: Key, S: Subject<K>>(row: Row) -> Result<Option<Sample>> {
    match row {
        Row::One => build::<K, S>(ENOUGH, 1).map(Some),
        Row::Build(size) => build::<K, S>(ENOUGH.div_ceil(size), size).map(Some),
        Row::Get(size) => {
            let (index, keys) = filled::<K, S>(size)?;
            Ok(Some(timed(ENOUGH, || {
                let requests = (0..ENOUGH).map(|at| &keys[at * STRIDE % size]);
                requests.fold(0, |sum, key| sum.wrapping_add(index.get(key)))
            })))
        }
        Row::Iterate(size) => {
            let (index, times) = (filled::<K, S>(size)?.0, ENOUGH.div_ceil(size));
            Ok(Some(timed(times * size, || {
                (0..times).fold(0, |sum, _| sum.wrapping_add(black_box(&index).sum()))
            })))
        }
        Row::Range(size) => {
            let (index, keys) = filled::<K, S>(size)?;
            let times = ENOUGH / RANGE;
            // So that ten entries follow: the first of them isn't among the last nine.
            let mut sorted = keys;
            sorted.sort_unstable();
            let starts = size - RANGE + 1;
            Ok(Some(timed(times * RANGE, || {
                let requests = (0..times).map(|at| &sorted[at * STRIDE % starts]);
                requests.fold(0, |sum, key| sum.wrapping_add(index.sum_from(key, RANGE)))
            })))
        }
        Row::Many(many, size) => many_of::<K, S>(many, size).map(|(_, sample)| Some(sample)),
        Row::Bytes(many, size) => weigh::<K, S>(many, size),
        Row::BytesOfOne => Ok(weigh::<K, S>(1, 1)?),
    }
}

/// The keys of the index of this number.
fn keys<K: Key>(index: usize, size: usize) -> Vec<K> {
    (0..size).map(|at| K::of(index * size + at)).collect()
}

fn filled<K: Key, S: Subject<K>>(size: usize) -> Result<(S, Vec<K>)> {
    let (mut index, keys) = (S::create()?, keys::<K>(0, size));
    for (key, value) in keys.iter().zip(0..) {
        index.insert(key, value)?;
    }
    Ok((index, keys))
}

/// Fills one index after the other with the same keys, and drops each.
fn build<K: Key, S: Subject<K>>(times: usize, size: usize) -> Result<Sample> {
    let (keys, mut done) = (keys::<K>(0, size), Ok(()));
    let sample = timed(times * size, || {
        let mut entries = 0;
        for _ in 0..times {
            let index = S::create().and_then(|mut index| {
                for (key, value) in keys.iter().zip(0..) {
                    index.insert(key, value)?;
                }
                Ok(index)
            });
            match index {
                Ok(index) => entries += index.len() as u64,
                Err(error) => done = Err(error),
            }
        }
        entries
    });
    done.map(|()| sample)
}

/// Fills indexes that exist at once, one after the other, and drops them.
fn many_of<K: Key, S: Subject<K>>(many: usize, size: usize) -> Result<(usize, Sample)> {
    let keys: Vec<Vec<K>> = (0..many).map(|index| keys(index, size)).collect();
    let (mut indexes, mut done) = (Vec::with_capacity(many), Ok(()));
    let sample = timed(many * size, || {
        for keys in &keys {
            let filled = S::create().and_then(|mut index| {
                for (key, value) in keys.iter().zip(0..) {
                    index.insert(key, value)?;
                }
                indexes.push(index);
                Ok(())
            });
            if let Err(error) = filled {
                done = Err(error);
            }
        }
        let entries = indexes.iter().map(|index| index.len() as u64).sum();
        indexes.clear();
        entries
    });
    done.map(|()| (many, sample))
}

/// Weighs indexes that exist at once. `None`: this program doesn't count.
fn weigh<K: Key, S: Subject<K>>(many: usize, size: usize) -> Result<Option<Sample>> {
    let keys: Vec<Vec<K>> = (0..many).map(|index| keys(index, size)).collect();
    let (indexes, bytes) = counting::weigh(|| {
        let mut indexes: Vec<S> = Vec::with_capacity(many);
        for keys in &keys {
            let mut index = S::create()?;
            for (key, value) in keys.iter().zip(0..) {
                index.insert(key, value)?;
            }
            indexes.push(index);
        }
        Ok::<_, Error>(indexes)
    });
    let indexes = indexes?;
    let answer = indexes.iter().map(|index| index.len() as u64).sum();
    Ok(bytes.map(|bytes| Sample { amount: bytes as f64 / (many * size) as f64, answer }))
}

/// Runs something that takes so many operations.
fn timed(operations: usize, work: impl FnOnce() -> u64) -> Sample {
    let start = now_ns();
    let answer = black_box(work());
    Sample { amount: (now_ns() - start) as f64 / operations as f64, answer }
}

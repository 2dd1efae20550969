//! Batches: columns of keys in, columns of answers out. The safety contract of all unsafe functions here is
//! at the head of the crate.

use crate::border::Served;
use crate::column::{Keys, Scratch, Source, Target, chunks, put};
use crate::datum::{Batch, check_key, check_value};
use crate::failure::Failure;
use crate::family::{Map, MapOf};
use crate::handle::{Call, with_map};
use crate::key::KeyKind;
use crate::life;
use crate::near::Near::{self, *};
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::whole::Words;
use core::ops::Range;
use engine::Error;
use engine::index::{Incomplete, Own};

/// Columns of answers, each of which the caller may omit.
pub struct Answers {
    values: Target<u64>,
    found: Target<u8>,
}

impl Answers {
    pub unsafe fn new(values: *mut u64, found: *mut u8, count: usize) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let values = unsafe { Target::if_any("values", values, count)? };
        // SAFETY: as the caller promises.
        let found = unsafe { Target::if_any("found", found, count)? };
        Ok(Self { values, found })
    }

    /// Writes the answers of a chunk. The value's place of an absent key keeps its content.
    pub fn put(&self, chunk: &Range<usize>, values: &[u64], found: &[bool]) {
        if self.values.is_asked_for() {
            put_found(self.values, chunk, values, found);
        }
        if self.found.is_asked_for() {
            chunk.clone().zip(found).for_each(|(at, &found)| self.found.put(at, found.into()));
        }
    }
}

#[inline(always)]
fn put_found<T: Copy>(to: Target<T>, chunk: &Range<usize>, answers: &[T], found: &[bool]) {
    for ((at, &answer), &found) in chunk.clone().zip(answers).zip(found) {
        if found {
            to.put(at, answer);
        }
    }
}

/// The operation on keys whose values are returned.
#[derive(Debug, Clone, Copy)]
pub enum Done {
    Looked,
    Removed,
}

/// The values of keys, which are words. Those of absent keys keep their places as they are.
pub unsafe fn get_or_remove<F: Map<Value = u64>>(
    call: Call<F>,
    done: Done,
    (keys, count): (F::Passed, usize),
    values: *mut u64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (keys, answers) = unsafe { (F::keys(kind, keys, count)?, Answers::new(values, found, count)?) };
        let (mut room, mut had) = (Scratch::new(), Scratch::new());
        let (mut words, mut found) = (Scratch::new(), Scratch::new());
        let mut total = 0;
        for chunk in chunks(count) {
            let keys = keys.read(&chunk, &mut room);
            let (words, found) = (words.zeros(chunk.len()), found.zeros(chunk.len()));
            let mut answer = |at: usize, value: Option<u64>| {
                (words[at], found[at]) = (value.unwrap_or(0), value.is_some());
                total += usize::from(value.is_some());
            };
            match done {
                Done::Looked => index.get_each(keys, answer),
                Done::Removed => {
                    let had = had.zeros(chunk.len());
                    index.remove_many(keys, had)?;
                    had.iter().enumerate().for_each(|(at, &value)| answer(at, value));
                }
            }
            answers.put(&chunk, words, found);
        }
        // SAFETY: as the caller promises.
        unsafe { put(hits, total) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

/// The refused inserts of a batch.
pub struct Refusals {
    /// 1 for each refused one, unless the caller omits it.
    marks: Target<u8>,
    count: usize,
    refused: usize,
    first: Option<(usize, Error)>,
}

impl Refusals {
    /// None yet, of this many.
    pub unsafe fn new(marks: *mut u8, count: usize) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let marks = unsafe { Target::if_any("refused", marks, count)? };
        Ok(Self { marks, count, refused: 0, first: None })
    }

    /// Marks those of a chunk.
    pub fn note(&mut self, chunk: &Range<usize>, incomplete: Option<Incomplete>) {
        if self.marks.is_asked_for() {
            chunk.clone().for_each(|at| self.marks.put(at, 0));
        }
        let Some(Incomplete { error, refused }) = incomplete else { return };
        if self.marks.is_asked_for() {
            refused.iter().for_each(|&at| self.marks.put(chunk.start + at, 1));
        }
        self.refused += refused.len();
        self.first.get_or_insert((chunk.start + refused.first().copied().unwrap_or(0), error));
    }

    /// The outcome of the batch, given the number of new keys.
    pub unsafe fn end(self, new: usize, new_keys: *mut usize) -> Served {
        if let Some((first, error)) = self.first {
            return Err(Failure::Refused { refused: self.refused, count: self.count, first, error });
        }
        // SAFETY: as the caller promises.
        unsafe { put(new_keys, new) }
        Ok(LATCHLESS_OK)
    }
}

/// Inserts a chunk by `insert`, or only the entries that can be stored, at these positions; the others are
/// refused.
pub fn insert_fitting(
    len: usize,
    check: impl Fn(usize) -> Result<(), Error>,
    insert: impl FnOnce(Option<&[usize]>) -> Result<usize, Incomplete>,
) -> Result<usize, Incomplete> {
    let Some(error) = (0..len).find_map(|at| check(at).err()) else { return insert(None) };
    let (fitting, mut refused): (Vec<usize>, Vec<usize>) = (0..len).partition(|&at| check(at).is_ok());
    if let Err(incomplete) = insert(Some(&fitting)) {
        refused.extend(incomplete.refused.into_iter().map(|at| fitting[at]));
        refused.sort_unstable();
    }
    Err(Incomplete { error, refused })
}

pub unsafe fn insert<F: Map>(
    call: Call<F>,
    (keys, values): (F::Passed, F::Passed),
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (keys, values) = unsafe { (F::keys(kind, keys, count)?, F::values(values, count)?) };
        // SAFETY: as the caller promises.
        let mut refusals = unsafe { Refusals::new(refused, count)? };
        let (mut some_keys, mut some_values) = (Scratch::new(), Scratch::new());
        let mut new = 0;
        for chunk in chunks(count) {
            let (keys, values) = (keys.read(&chunk, &mut some_keys), values.read(&chunk, &mut some_values));
            let check = |at: usize| check_key::<F::Key>(keys[at]).and(check_value::<F::Value>(values[at]));
            let outcome = insert_fitting(chunk.len(), check, |fitting| match fitting {
                None => index.insert_columns(keys, values),
                Some(fitting) => {
                    let keys: Vec<_> = fitting.iter().map(|&at| keys[at]).collect();
                    let values: Vec<_> = fitting.iter().map(|&at| values[at]).collect();
                    index.insert_columns(&keys, &values)
                }
            });
            // If inserts of a batch were refused, the number of new keys isn't reported.
            new += *outcome.as_ref().unwrap_or(&0);
            refusals.note(&chunk, outcome.err());
        }
        // SAFETY: as the caller promises.
        unsafe { refusals.end(new, new_keys) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

/// An index of ascending columns.
pub unsafe fn bulk_load<F: Map>(
    call: Call<F>,
    (keys, values): (F::Passed, F::Passed),
    count: usize,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut F::Index, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let (keys, values) = unsafe { (F::keys(parsed.keys, keys, count)?, F::values(values, count)?) };
        let check = |at| check_key::<F::Key>(keys.get(at)).and(check_value::<F::Value>(values.get(at)));
        (0..count).try_for_each(check)?;
        let entry = |at| (keys.get(at), values.get(at));
        Ok(F::map_mut(index).bulk_load_by(count, entry, parsed.fill, parsed.threads)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

#[expect(clippy::too_many_arguments, reason = "C's columns, each with its own pointer")]
pub unsafe fn near(
    call: Call,
    near: u32,
    keys: *const u64,
    count: usize,
    near_keys: *mut u64,
    values: *mut u64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        let near = Near::of(near)?;
        // SAFETY: as the caller promises.
        let (keys, answers) =
            unsafe { (Keys::new("keys", kind, keys, count)?, Answers::new(values, found, count)?) };
        // SAFETY: as the caller promises.
        let near_keys = unsafe { Target::if_any("near_keys", near_keys, count)? };
        let (mut words, mut nearest) = (Scratch::new(), Scratch::new());
        let (mut values, mut found) = (Scratch::new(), Scratch::new());
        let mut total = 0;
        for chunk in chunks(count) {
            let words = keys.read(&chunk, &mut words);
            let nearest = nearest.zeros(chunk.len());
            let (values, found) = (values.zeros(chunk.len()), found.zeros(chunk.len()));
            total += match near {
                LATCHLESS_FLOOR => index.floor_columns(words, nearest, values, found)?,
                LATCHLESS_CEILING => index.ceiling_columns(words, nearest, values, found)?,
                LATCHLESS_LOWER => index.lower_columns(words, nearest, values, found)?,
                LATCHLESS_HIGHER => index.higher_columns(words, nearest, values, found)?,
                LATCHLESS_NEAREST => {
                    let distance = |one, other| kind.distance(one, other);
                    let columns = (&mut *nearest, &mut *values, &mut *found);
                    index.nearest_columns_by(words, (Own::Counts, distance), columns)?
                }
            };
            if near_keys.is_asked_for() {
                put_found(near_keys, &chunk, nearest, found);
            }
            answers.put(&chunk, values, found);
        }
        // SAFETY: as the caller promises.
        unsafe { put(hits, total) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn ranks(call: Call, keys: *const u64, count: usize, ranks: *mut usize) -> latchless_status {
    let serve = |index: &Words, kind| {
        // SAFETY: as the caller promises.
        let keys = unsafe { Keys::new("keys", kind, keys, count)? };
        // SAFETY: as the caller promises.
        let ranks = unsafe { Target::new("ranks", ranks, count)? };
        for at in 0..count {
            ranks.put(at, index.rank(keys.get(at)?));
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn counts(
    call: Call,
    low: *const u64,
    high: *const u64,
    count: usize,
    counts: *mut usize,
) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        // SAFETY: as the caller promises.
        let (low, high) = unsafe { (Source::new("low", low, count)?, Source::new("high", high, count)?) };
        // SAFETY: as the caller promises.
        let counts = unsafe { Target::new("counts", counts, count)? };
        for at in 0..count {
            let (low, high) = (low.get(at), high.get(at));
            let nan = [("low", low), ("high", high)].into_iter().find(|end| !kind.ends_at(end.1));
            nan.map_or(Ok(()), |(argument, _)| Err(Failure::NanAt { argument, at }))?;
            if low > high {
                return Err(Failure::InvertedAt { at });
            }
            counts.put(at, index.count(low..=high));
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

//! As-of joins by the first parts of tuples, for batches that ask about much of an index.
//!
//! A lookup in the tree takes longer than the copy of an entry. So the entries are copied, and the batch is
//! answered from the copies: in each group a cursor follows the numbers that are asked for.
//!
//! # Concurrency
//! Copies are made leaf by leaf, while other threads change the index. Nevertheless each answer is of one
//! moment, at which its entry was copied, as long as nothing is removed: an entry that isn't there when a later
//! leaf is copied wasn't there before. For that the copies go the way that the neighbours are searched:
//! ascending for those before, descending for those after. [`Removals`] tells whether something was removed
//! meanwhile.

use super::composite::{Part, TupleType, in_part, open};
use super::engine::{BytesEngine, Copies};
use super::key_type::TUPLE;
use super::keys::StringColumn;
use super::strings::Strings;
use super::value::Value;
use crate::batch::{Pulse, STRETCH};
use crate::column::{self, Column, Fresh};
use crate::engine::{NoKey, Undone};
use crate::failure;
use crate::lane::Lane;
use crate::map::{Nearest, Object};
use crate::sort::room;
use latchless::Direction;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// No group.
const NONE: u32 = u32::MAX;
/// The bytes of a number.
const WORD: usize = 8;
/// Words of a smaller range are found by a table of all of them.
const SPAN_MAX: u64 = 1 << 20;
/// So many numbers after a cursor are looked at one by one.
const NEAR: usize = 8;

/// Counts removals, so that a reader of many leaves knows whether there was any.
#[derive(Debug, Default)]
pub struct Removals {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A removal that goes on.
pub struct Removal<'a>(&'a Removals);

impl Removals {
    /// One begins, before it changes anything.
    pub fn begin(&self) -> Removal<'_> {
        self.begun.fetch_add(1, SeqCst);
        Removal(self)
    }

    /// How many have been; None: one goes on.
    fn settled(&self) -> Option<u64> {
        let ended = self.ended.load(SeqCst);
        (self.begun.load(SeqCst) == ended).then_some(ended)
    }
}

impl Drop for Removal<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, SeqCst);
    }
}

/// Questions: the group of each, and its number.
pub struct Asked<'a, 'py> {
    /// An array of words, or a column of strings: one for each question, one for all, or those that codes
    /// choose.
    pub groups: &'a Object<'py>,
    /// For each question the place of its group.
    pub codes: Option<&'a Object<'py>>,
    /// An array of words.
    pub numbers: &'a Object<'py>,
}

/// The answers: the places of the groups and -1, numbers, values, whether they are there, and the groups.
pub type InGroups<'py> = (Object<'py>, Object<'py>, Object<'py>, Object<'py>, StringColumn);

/// Copies of an index's entries, ascending.
struct Copied<V: Value> {
    /// The first parts of the keys of each group, and where its entries are.
    groups: Vec<(Vec<u8>, Range<usize>)>,
    numbers: Vec<u64>,
    values: V::Copied,
    /// Whether values are in descending order.
    is_turned: bool,
}

impl<V: Value> Copied<V> {
    /// Copies, if nothing was removed meanwhile.
    fn now(
        py: Python<'_>,
        (engine, removals): (&BytesEngine<V>, &Removals),
        is_turned: bool,
    ) -> PyResult<Option<Self>> {
        let Some(before) = removals.settled() else { return Ok(None) };
        let direction = if is_turned { Direction::Reverse } else { Direction::Forward };
        let copied = py.detach(|| {
            let copies = engine.collect((Bound::Unbounded, Bound::Unbounded), direction, usize::MAX)?;
            Self::of(copies, is_turned, &mut Pulse::new())
        });
        let copied = copied.map_err(failure::undone)?;
        let is_whole = removals.settled() == Some(before) && copied.numbers.len() < NONE as usize;
        Ok(is_whole.then_some(copied))
    }

    fn of((keys, values): Copies<V>, is_turned: bool, pulse: &mut Pulse) -> Result<Self, Undone> {
        let (mut groups, mut numbers) = (Vec::<(Vec<u8>, Range<usize>)>::new(), room(keys.len())?);
        for at in 0..keys.len() {
            if at % STRETCH == 0 {
                pulse.check()?;
            }
            let key = keys.get(if is_turned { keys.len() - 1 - at } else { at });
            let (group, number) = key.split_last_chunk::<WORD>().expect("the last part is a number");
            numbers.push(u64::from_be_bytes(*number));
            match groups.last_mut() {
                Some((its, entries)) if its == group => entries.end = at + 1,
                _ => groups.push((group.to_vec(), at..at + 1)),
            }
        }
        Ok(Self { groups, numbers, values, is_turned })
    }

    /// What the keys of each group begin with.
    fn names(&self) -> latchless::Result<StringColumn> {
        let mut strings = Strings::default();
        self.groups.iter().try_for_each(|(group, _)| strings.push(group))?;
        Ok(StringColumn { strings, of: TUPLE })
    }

    /// The values of some entries as the answers of a batch.
    fn chosen<'py>(&self, of: &V::Type, entries: &[u32], missing: &Object<'py>) -> PyResult<Object<'py>> {
        let last = self.numbers.len().saturating_sub(1);
        let place = |at: usize| if self.is_turned { last - at } else { at };
        let places = entries.iter().map(|&entry| (entry != NONE).then(|| place(entry as usize)));
        V::chosen(of, &self.values, places, missing)
    }
}

/// The nearest entries before numbers, or after them, in their groups; `None` if something was removed
/// meanwhile.
pub fn near_in_groups<'py, V: Value>(
    index: (&BytesEngine<V>, &Removals),
    (of, values): (&TupleType, &V::Type),
    asked: Asked<'_, 'py>,
    question: Nearest<'_>,
    missing: (u64, &Object<'py>),
) -> PyResult<Option<InGroups<'py>>> {
    let py = asked.numbers.py();
    let (is_before, is_after, counts) = question.sides()?.ways();
    if is_before && is_after {
        return Ok(None);
    }
    let Some(Part::Numbers(last)) = of.parts.last() else { return Ok(None) };
    let Some(copied) = Copied::now(py, index, !is_before)? else { return Ok(None) };
    let numbers = column::input::<u64>(asked.numbers)?;
    let codes = asked.codes.map(column::input::<u64>).transpose()?;
    let (numbers, codes) = (numbers.words(), codes.as_ref().map(Column::words));
    let (count, known) = (numbers.len(), known(of, asked.groups, &copied)?);
    if codes.map_or(known.len() != 1 && known.len() != count, |codes| codes.len() != count) {
        let own = codes.map_or(known.len(), |codes| codes.len());
        return Err(PyValueError::new_err(format!("there are {count} keys but {own} of by")));
    }
    let group = |at: usize| {
        let place = codes.map_or(if known.len() == 1 { 0 } else { at }, |codes| codes.load(at) as usize);
        known.get(place).copied().unwrap_or(NONE)
    };
    let (mut its_groups, mut its_numbers) = (Fresh::<i64>::new(py, count)?, Fresh::<u64>::new(py, count)?);
    let mut flags = Fresh::<bool>::new(py, count)?;
    let places = (its_groups.places(), its_numbers.places(), flags.places());
    let order = last.kind.order();
    let answered = py.detach(|| -> Result<_, Undone> {
        let (mut entries, pulse) = (room(count)?, &mut Pulse::new());
        let mut cursors: Vec<usize> = copied.groups.iter().map(|(_, entries)| entries.start).collect();
        let is_below = |its: u64, number: u64| its < number || (its == number && is_before == counts);
        for at in 0..count {
            if at % STRETCH == 0 {
                pulse.check()?;
            }
            let (group, number) = (group(at), numbers.load(at).ordered(order).ok_or(NoKey(at))?);
            let entry = copied.groups.get(group as usize).and_then(|(_, entries)| {
                let cursor = &mut cursors[group as usize];
                *cursor = moved(&copied.numbers, entries.clone(), *cursor, |its| is_below(its, number));
                let entry = if is_before { cursor.checked_sub(1)? } else { *cursor };
                let is_near =
                    |its: u64| question.farthest.is_none_or(|far| its.distance(number, order) <= far);
                (entries.contains(&entry) && is_near(copied.numbers[entry])).then_some(entry)
            });
            places.0[at].write(if entry.is_some() { i64::from(group) } else { -1 });
            places.1[at].write(entry.map_or(missing.0, |entry| copied.numbers[entry].restored(order)));
            places.2[at].write(entry.is_some());
            entries.push(entry.map_or(NONE, |entry| entry as u32));
        }
        Ok(entries)
    });
    let entries = answered.map_err(|undone| match undone {
        Undone::NoKey(no_key) => in_part(py, of.parts.len() - 1, last.no_key(no_key)),
        undone => failure::undone(undone),
    })?;
    let values = copied.chosen(values, &entries, missing.1)?;
    let names = copied.names().map_err(|error| failure::exception(&error))?;
    Ok(Some((its_groups.into_any(), its_numbers.into_any(), values, flags.into_any(), names)))
}

/// The place of the first of a group's numbers that isn't below, from where it was before.
#[inline]
fn moved(numbers: &[u64], entries: Range<usize>, cursor: usize, is_below: impl Fn(u64) -> bool) -> usize {
    if cursor > entries.start && !is_below(numbers[cursor - 1]) {
        return entries.start + numbers[entries.start..cursor].partition_point(|&its| is_below(its));
    }
    let mut cursor = cursor;
    for _ in 0..NEAR {
        if cursor == entries.end || !is_below(numbers[cursor]) {
            return cursor;
        }
        cursor += 1;
    }
    cursor + numbers[cursor..entries.end].partition_point(|&its| is_below(its))
}

/// For each of the groups that are asked about its place among those of the copies, or [`NONE`].
fn known<V: Value>(of: &TupleType, groups: &Object<'_>, copied: &Copied<V>) -> PyResult<Vec<u32>> {
    let (py, names) = (groups.py(), copied.groups.iter().map(|(group, _)| &group[..]).zip(0..));
    match &of.parts[..of.parts.len() - 1] {
        [Part::Numbers(first)] => {
            let (words, order) = (column::input::<u64>(groups)?, first.kind.order());
            let words = words.words();
            let word =
                |name: &[u8]| u64::from_be_bytes(*name.first_chunk().expect("a number has eight bytes"));
            let table = ByWord::of(names.map(|(name, place)| (word(name), place)).collect());
            let mut places = room(words.len()).map_err(|error| failure::exception(&error))?;
            let found = py.detach(|| {
                (0..words.len()).try_for_each(|at| {
                    places.push(table.get(words.load(at).ordered(order).ok_or(NoKey(at))?));
                    Ok(())
                })
            });
            found.map_err(|no_key| in_part(py, 0, first.no_key(no_key)))?;
            Ok(places)
        }
        [Part::Strings(first)] => {
            let column = groups.cast::<StringColumn>()?;
            let table: Table<Cow<'_, [u8]>> =
                names.map(|(mut name, place)| (open(&mut name), place)).collect();
            Ok(places(py, column.get().keys_of(*first)?, |name| table.get(name).copied()))
        }
        _ => {
            let column = groups.cast::<StringColumn>()?;
            let table: Table<&[u8]> = names.collect();
            Ok(places(py, &column.get().strings, |name| table.get(name).copied()))
        }
    }
}

/// The place of each of some names.
fn places(py: Python<'_>, names: &Strings, place: impl Fn(&[u8]) -> Option<u32> + Sync) -> Vec<u32> {
    py.detach(|| (0..names.len()).map(|at| place(names.get(at)).unwrap_or(NONE)).collect())
}

/// The places of words.
enum ByWord {
    /// From the least one on, each that could be.
    Direct(u64, Vec<u32>),
    Hashed(Table<u64>),
}

impl ByWord {
    fn of(words: Vec<(u64, u32)>) -> Self {
        let (Some(&(least, _)), Some(&(most, _))) = (words.first(), words.last()) else {
            return Self::Direct(0, Vec::new());
        };
        // They ascend.
        if most - least >= SPAN_MAX {
            return Self::Hashed(words.into_iter().collect());
        }
        let mut places = vec![NONE; (most - least) as usize + 1];
        words.into_iter().for_each(|(word, place)| places[(word - least) as usize] = place);
        Self::Direct(least, places)
    }

    #[inline]
    fn get(&self, word: u64) -> u32 {
        match self {
            Self::Direct(least, places) => places.get(word.wrapping_sub(*least) as usize),
            Self::Hashed(table) => table.get(&word),
        }
        .copied()
        .unwrap_or(NONE)
    }
}

type Table<K> = HashMap<K, u32, Seed>;

/// A fast hash, whose seed isn't known in advance.
#[derive(Clone, Copy)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded(self.0)
    }
}

/// Folds products of 128 bits.
struct Folded(u64);

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.write_u64(u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut word = [0; WORD];
            word[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(self.0 ^ word) * FACTOR;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

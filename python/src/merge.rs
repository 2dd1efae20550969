//! As-of joins of columns that no index has: one pass over both sides, in the order of their numbers.

use crate::batch::{Pulse, STRETCH};
use crate::column::{self, Fresh, Words};
use crate::engine::Undone;
use crate::failure;
use crate::lane::{Lane, Order};
use crate::lookups::{Places, Sides};
use crate::map::{Nearest, Object};
use crate::sort::{by_key, room};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::AtomicU64;

/// No row.
const NONE: u32 = u32::MAX;

/// A row of a side.
#[derive(Debug, Clone, Copy)]
struct Row {
    group: u32,
    at: u32,
}

/// The rows of a side that can match, in the order of their words; those of equal words in theirs.
struct Side<'a> {
    groups: Words<'a, AtomicU64>,
    words: Words<'a, AtomicU64>,
    question: Question,
    /// They in their order, unless the columns have it.
    sorted: Option<Vec<(u64, Row)>>,
}

impl<'a> Side<'a> {
    fn new(
        groups: Words<'a, AtomicU64>,
        words: Words<'a, AtomicU64>,
        question: Question,
        pulse: &mut Pulse,
    ) -> Result<Self, Undone> {
        let mut side = Self { groups, words, question, sorted: None };
        let mut before = 0;
        for at in 0..words.len() {
            if at % STRETCH == 0 {
                pulse.check()?;
            }
            let word = words.load(at).ordered(question.order).unwrap_or(before);
            if word < before {
                let mut rows = room(words.len())?;
                rows.extend((0..words.len()).filter_map(|at| side.get(at)));
                by_key(&mut rows, pulse)?;
                side.sorted = Some(rows);
                break;
            }
            before = word;
        }
        Ok(side)
    }

    /// How many places there are.
    fn len(&self) -> usize {
        self.sorted.as_ref().map_or(self.words.len(), Vec::len)
    }

    /// The row at a place, if it can match.
    #[inline(always)]
    fn get(&self, place: usize) -> Option<(u64, Row)> {
        if let Some(sorted) = &self.sorted {
            return Some(sorted[place]);
        }
        let group = self.groups.load(place);
        let word = self.words.load(place).ordered(self.question.order)?;
        (group < self.question.groups as u64).then_some((word, Row { group: group as u32, at: place as u32 }))
    }
}

/// A question for the nearest rows.
#[derive(Debug, Clone, Copy)]
struct Question {
    sides: Sides,
    farthest: Option<u64>,
    order: Order,
    groups: usize,
}

/// For each of the first rows the nearest one of the others that is of the same group: int64, -1 where there
/// is none. A side is an array of groups, of which negative ones match none, and one of words, of which those
/// that are no keys match none. Of equal words the last row counts, after a question the first one.
#[pyfunction]
#[pyo3(signature = (asked, rows, kind, groups, question))]
pub fn nearest_rows<'py>(
    py: Python<'py>,
    asked: (Object<'py>, Object<'py>),
    rows: (Object<'py>, Object<'py>),
    kind: &str,
    groups: usize,
    question: (String, bool, Option<u64>),
) -> PyResult<Object<'py>> {
    let (direction, exact, farthest) = question;
    let sides = Nearest { direction: &direction, exact, farthest, grouped: true, threads: 1 }.sides()?;
    let order = match kind {
        "i" => Order::Signed,
        "u" | "b" => Order::Unsigned,
        "f" => Order::Float,
        "M" | "m" => Order::Time,
        _ => return Err(PyTypeError::new_err(format!("dtypes of kind {kind} have no distance"))),
    };
    let question = Question { sides, farthest, order, groups };
    let columns = [&asked.0, &asked.1, &rows.0, &rows.1].map(column::input::<u64>);
    let [its_groups, its_words, groups, words] = columns;
    let (its_groups, its_words, groups, words) = (its_groups?, its_words?, groups?, words?);
    let (its_groups, its_words) = (its_groups.words(), its_words.words());
    let (groups, words) = (groups.words(), words.words());
    if its_groups.len() != its_words.len() || groups.len() != words.len() {
        return Err(PyValueError::new_err("every row has a group and a word"));
    }
    if its_words.len().max(words.len()) >= NONE as usize {
        return Err(PyOverflowError::new_err("a frame has at most 2**32 - 2 rows"));
    }
    let mut found = Fresh::<i64>::new(py, its_words.len())?;
    let count = its_words.len();
    let mut places = Places::cut(found.places(), &[0, count]);
    let joined = py.detach(|| -> Result<(), Undone> {
        let pulse = &mut Pulse::new();
        let asked = Side::new(its_groups, its_words, question, pulse)?;
        let rows = Side::new(groups, words, question, pulse)?;
        places.iter_mut().try_for_each(|places| nearest(&asked, &rows, places.next(count, -1), pulse))
    });
    joined.map_err(failure::undone)?;
    Ok(found.into_any())
}

/// Writes for each row that asks the nearest one.
fn nearest(asked: &Side<'_>, rows: &Side<'_>, found: &mut [i64], pulse: &mut Pulse) -> Result<(), Undone> {
    let Question { sides, farthest, order, groups } = asked.question;
    let (before, after, counts) = sides.ways();
    let row = |place: i64| rows.get(place as usize).expect("it matches");
    let mut last = room(groups)?;
    if before {
        last.resize(groups, NONE);
        let mut next = 0;
        for place in 0..asked.len() {
            if place % STRETCH == 0 {
                pulse.check()?;
            }
            let Some((word, own)) = asked.get(place) else { continue };
            while next < rows.len() {
                match rows.get(next) {
                    Some((its, _)) if its > word || (its == word && !counts) => break,
                    Some((_, row)) => last[row.group as usize] = next as u32,
                    None => {}
                }
                next += 1;
            }
            let its = last[own.group as usize];
            found[own.at as usize] = if its == NONE { -1 } else { its.into() };
        }
    }
    if after {
        last.clear();
        last.resize(groups, NONE);
        let mut next = rows.len();
        for place in (0..asked.len()).rev() {
            if place % STRETCH == 0 {
                pulse.check()?;
            }
            let Some((word, own)) = asked.get(place) else { continue };
            while next > 0 {
                match rows.get(next - 1) {
                    Some((its, _)) if its < word || (its == word && !counts) => break,
                    Some((_, row)) => last[row.group as usize] = next as u32 - 1,
                    None => {}
                }
                next -= 1;
            }
            let (its, nearest) = (last[own.group as usize], &mut found[own.at as usize]);
            let far = |place: i64| word.distance(row(place).0, order);
            if its != NONE && (*nearest < 0 || far(its.into()) < far(*nearest)) {
                *nearest = its.into();
            }
        }
    }
    for (word, own) in (0..asked.len()).filter_map(|place| asked.get(place)) {
        let nearest = &mut found[own.at as usize];
        if *nearest >= 0 {
            let (its, row) = row(*nearest);
            let is_near = farthest.is_none_or(|farthest| word.distance(its, order) <= farthest);
            *nearest = if is_near { row.at.into() } else { -1 };
        }
    }
    Ok(())
}

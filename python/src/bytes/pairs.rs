//! The pairs of keys and rows of a `MultiIndex`: loaded, and copied. It depends on the interpreter only for signals,
//! which end long operations.

use super::engine::{Ends, PIECE, until_signal};
use super::strings::Strings;
use crate::batch::Pulse;
use crate::column::Words;
use crate::engine::Undone;
use crate::failure;
use crate::gate::Pass;
use crate::sort::{reserve, room};
use latchless::bytes::MultiIndex;
use latchless::{Error, FillFactor, Result};
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicU64;

/// Row numbers of a caller's array.
pub type RowWords<'a> = Words<'a, AtomicU64>;

/// The exception for pairs that weren't loaded: they differ where keys needn't.
pub fn not_loaded(undone: Undone) -> PyErr {
    match undone {
        Undone::Refused(Error::DuplicateKey { position }) => PyValueError::new_err(format!(
            "with assume_sorted=True pairs must differ, but the one at position {position} equals the one before it"
        )),
        Undone::Refused(Error::Unsorted { position }) => PyValueError::new_err(format!(
            "with assume_sorted=True keys must ascend, and the rows of a key, but the pair at position {position} is \
             smaller than the one before it"
        )),
        undone => failure::undone(undone),
    }
}

/// Fills the empty index. In any order: pairs that come more than once are there once. A signal can end it.
pub fn load(
    index: &mut MultiIndex<Vec<u8>>,
    (keys, rows): (&Strings, RowWords<'_>),
    sorted: bool,
    fill: f64,
) -> Result<(), Undone> {
    let (fill, pulse) = (FillFactor::new(fill)?, &mut Pulse::new());
    // Other threads may write the caller's array: the rows that are sorted are those that are loaded.
    let mut copied = room(keys.len())?;
    copied.extend((0..keys.len()).map(|at| rows.load(at)));
    if sorted {
        return load_in_order(index, (keys, &copied), 0..keys.len(), fill, pulse);
    }
    let mut order = keys.sorted(pulse)?;
    for run in order.chunk_by_mut(|&one, &next| keys.get(one) == keys.get(next)) {
        run.sort_unstable_by_key(|&at| copied[at]);
    }
    order.dedup_by(|one, other| keys.get(*one) == keys.get(*other) && copied[*one] == copied[*other]);
    pulse.check()?;
    load_in_order(index, (keys, &copied), order.into_iter(), fill, pulse)
}

/// Fills the empty index with the pairs at these places.
fn load_in_order(
    index: &mut MultiIndex<Vec<u8>>,
    (keys, rows): (&Strings, &[u64]),
    places: impl Iterator<Item = usize>,
    fill: FillFactor,
    pulse: &mut Pulse,
) -> Result<(), Undone> {
    let mut stopped = None;
    let places = until_signal(places, pulse, &mut stopped);
    index.bulk_load(places.map(|at| (keys.get(at), rows[at])), fill)?;
    stopped.map_or(Ok(()), |raised| Err(raised.into()))
}

/// The rows of some keys, and how many each has.
#[derive(Debug, Default)]
pub struct Found {
    /// The rows.
    pub rows: Vec<u64>,
    /// The counts.
    pub counts: Vec<usize>,
}

impl Found {
    /// Adds those of a chunk of keys.
    pub fn read(&mut self, index: &MultiIndex<Vec<u8>>, keys: &Strings, chunk: Range<usize>) -> Result<()> {
        reserve(&mut self.counts, chunk.len())?;
        for at in chunk {
            let (before, mut refused) = (self.rows.len(), Ok(()));
            let _ = index.scan_rows(keys.get(at), |row| {
                refused = reserve(&mut self.rows, 1);
                if refused.is_err() {
                    return ControlFlow::Break(());
                }
                self.rows.push(row);
                ControlFlow::Continue(())
            });
            refused?;
            self.counts.push(self.rows.len() - before);
        }
        Ok(())
    }
}

/// Copies of pairs.
pub type Pairs = (Strings, Vec<u64>);

/// Appends the pairs of a range, at most `limit`, from its low end or, in reverse, from its high end.
pub fn append(
    index: &MultiIndex<Vec<u8>>,
    ends: Ends<'_>,
    (reverse, limit): (bool, usize),
    (keys, rows): &mut Pairs,
    pulse: &mut Pulse,
) -> Result<(), Undone> {
    let (mut pairs, limit) = (index.range::<[u8]>(ends), limit.saturating_add(rows.len()));
    while rows.len() < limit {
        let most = rows.len().saturating_add(PIECE).min(limit);
        let is_all = {
            let _pass = Pass::new();
            loop {
                if rows.len() == most {
                    break false;
                }
                let Some((key, row)) = (if reverse { pairs.next_back() } else { pairs.next() }) else {
                    break true;
                };
                keys.push(&key)?;
                reserve(rows, 1)?;
                rows.push(row);
            }
        };
        if is_all {
            break;
        }
        pulse.check()?;
    }
    Ok(())
}

//! An index of byte strings, and what batches do with it. Of the interpreter it knows that a signal may end
//! what is long.

use super::strings::Strings;
use crate::batch::Pulse;
use crate::column::Words;
use crate::engine::Undone;
use crate::gate::Pass;
use crate::lookups::{Near, Places};
use crate::sort::{reserve, room};
use crate::updates::Changed;
use latchless::bytes::BytesIndex;
use latchless::index::Options;
use latchless::{Direction, Error, FillFactor, Result};
use pyo3::PyErr;
use std::ops::{Bound, ControlFlow, Range};
use std::sync::atomic::AtomicU64;

/// Entries that are copied or loaded between two looks at the clock.
const PIECE: usize = 1 << 14;
/// The most bytes that a key may have.
pub const KEY_MAX: usize = 65_535;

/// What a range is between. One that starts after its end is empty.
pub type Ends<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// An entry.
pub type Entry = (Vec<u8>, u64);

/// An index whose keys are byte strings, and whose values are words. Texts and bytes share it, so it is
/// compiled once.
pub struct BytesEngine {
    /// The index itself.
    pub index: BytesIndex<Vec<u8>, u64>,
}

/// What one thread needs for its chunks of lookups.
pub struct Lookups<'k, 'a> {
    values: Places<'a, u64>,
    found: Places<'a, bool>,
    asked: Vec<&'k [u8]>,
    answers: Vec<Option<u64>>,
}

impl<'a> Lookups<'_, 'a> {
    /// With this room for its answers.
    pub fn new((values, found): (Places<'a, u64>, Places<'a, bool>)) -> Self {
        Self { values, found, asked: Vec::new(), answers: Vec::new() }
    }
}

impl BytesEngine {
    /// An empty one.
    pub fn new(limit_bytes: Option<usize>) -> Result<Self> {
        let index = BytesIndex::with_options(Options { limit_bytes, ..Options::default() })?;
        Ok(Self { index })
    }

    /// Fills the empty index. In any order: of equal keys the last one stays. Otherwise they must ascend. A
    /// signal can end it.
    pub fn load(
        &mut self,
        keys: &Strings,
        values: Words<'_, AtomicU64>,
        sorted: bool,
        fill: f64,
    ) -> Result<(), Undone> {
        let (fill, pulse) = (FillFactor::new(fill)?, &mut Pulse::new());
        if sorted || keys.ascends(pulse)? {
            return self.load_in_order(keys, values, None, fill, pulse);
        }
        let mut order = keys.sorted(pulse)?;
        match self.load_in_order(keys, values, Some(&order), fill, pulse) {
            Err(Undone::Refused(Error::DuplicateKey { .. })) => {
                keys.keep_last(&mut order);
                self.load_in_order(keys, values, Some(&order), fill, pulse)
            }
            loaded => loaded,
        }
    }

    /// Fills the empty index with the entries at these places, or with all.
    fn load_in_order(
        &mut self,
        keys: &Strings,
        values: Words<'_, AtomicU64>,
        order: Option<&[usize]>,
        fill: FillFactor,
        pulse: &mut Pulse,
    ) -> Result<(), Undone> {
        let mut stopped: Option<PyErr> = None;
        let entries = (0..order.map_or(keys.len(), <[usize]>::len)).map_while(|at| {
            if at % PIECE == 0 {
                stopped = pulse.check().err();
            }
            let at = order.map_or(at, |order| order[at]);
            stopped.is_none().then(|| (keys.get(at), values.load(at)))
        });
        self.index.bulk_load(entries, fill)?;
        stopped.map_or(Ok(()), |raised| Err(raised.into()))
    }

    /// Looks a chunk of keys up.
    pub fn get_chunk<'k>(
        &self,
        keys: &'k Strings,
        chunk: Range<usize>,
        missing: u64,
        lookups: &mut Lookups<'k, '_>,
    ) {
        let count = chunk.len();
        lookups.asked.clear();
        lookups.asked.extend(chunk.map(|at| keys.get(at)));
        lookups.answers.resize(count, None);
        self.index.get_many(&lookups.asked, &mut lookups.answers).expect("they are of one length");
        let (values, found) = (lookups.values.next(count, missing), lookups.found.next(count, false));
        for (at, answer) in lookups.answers.iter().enumerate() {
            if let Some(value) = *answer {
                (values[at], found[at]) = (value, true);
            }
        }
    }

    /// Inserts a chunk of a batch.
    pub fn insert_chunk(
        &self,
        keys: &Strings,
        values: Words<'_, AtomicU64>,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) {
        let entries: Vec<(&[u8], u64)> = chunk.clone().map(|at| (keys.get(at), values.load(at))).collect();
        let mut replaced = vec![None; entries.len()];
        let inserted = self.index.insert_many(&entries, &mut replaced);
        changed.keys += replaced.iter().filter(|before| before.is_none()).count();
        if let Err(some) = inserted {
            changed.keys -= some.refused.len();
            changed.refused.extend(some.refused.iter().map(|&at| chunk.start + at));
            changed.error.get_or_insert(some.error);
        }
    }

    /// Removes a chunk of keys.
    pub fn remove_chunk(&self, keys: &Strings, chunk: Range<usize>, changed: &mut Changed) {
        let asked: Vec<&[u8]> = chunk.map(|at| keys.get(at)).collect();
        let mut removed = vec![None; asked.len()];
        self.index.remove_many(&asked, &mut removed).expect("they are of one length");
        changed.keys += removed.iter().flatten().count();
    }

    /// The neighbour of one key.
    pub fn near(&self, near: Near, key: &[u8]) -> Option<Entry> {
        match near {
            Near::Floor => self.index.floor(key),
            Near::Ceiling => self.index.ceiling(key),
            Near::Lower => self.index.lower(key),
            Near::Higher => self.index.higher(key),
        }
    }

    /// The entries of a range, at most `limit`, from its low end or from its high end.
    pub fn collect(
        &self,
        (low, high): Ends<'_>,
        direction: Direction,
        limit: usize,
    ) -> Result<(Strings, Vec<u64>), Undone> {
        let all = matches!((low, high), (Bound::Unbounded, Bound::Unbounded));
        let expected = if all { self.index.len().min(limit) } else { 0 };
        let (mut keys, mut values) = (Strings::with_room(expected, 0)?, room(expected)?);
        let (mut last, mut pulse): (Option<Vec<u8>>, _) = (None, Pulse::new());
        while keys.len() < limit {
            let most = keys.len().saturating_add(PIECE).min(limit);
            let mut refused = Ok(());
            let mut see = |key: &[u8], value: u64| {
                refused = keys.push(key).and_then(|()| reserve(&mut values, 1));
                if refused.is_err() {
                    return ControlFlow::Break(());
                }
                values.push(value);
                if keys.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let rest = match (&last, direction) {
                (None, _) => (low, high),
                (Some(last), Direction::Forward) => (Bound::Excluded(&last[..]), high),
                (Some(last), Direction::Reverse) => (low, Bound::Excluded(&last[..])),
            };
            let shown = {
                let _pass = Pass::new();
                self.show(rest, direction, &mut see)
            };
            refused?;
            if shown.is_continue() {
                break;
            }
            last = Some(keys.get(keys.len() - 1).to_vec());
            pulse.check()?;
        }
        Ok((keys, values))
    }

    /// Shows the entries of a range until `see` breaks off.
    fn show(
        &self,
        ends: Ends<'_>,
        direction: Direction,
        see: &mut dyn FnMut(&[u8], u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let shown = match direction {
            Direction::Forward => self.index.scan::<[u8]>(ends, see),
            Direction::Reverse => self.index.scan_back::<[u8]>(ends, see),
        };
        // An inverted range is empty.
        shown.unwrap_or(ControlFlow::Continue(()))
    }

    /// How many keys a range has.
    pub fn count(&self, ends: Ends<'_>) -> usize {
        self.index.count::<[u8]>(ends).unwrap_or(0)
    }

    /// Removes the entries of a range, and says how many there were.
    pub fn remove_range(&self, ends: Ends<'_>) -> usize {
        self.index.remove_range::<[u8]>(ends).unwrap_or(0)
    }
}

/// The smallest key after all that begin with this prefix; None: there is no such key.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

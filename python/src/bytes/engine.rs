//! An index of byte strings, and its batches. It depends on the interpreter only for signals, which end
//! long operations.

use super::strings::Strings;
use super::value::{Value, own};
use crate::batch::Pulse;
use crate::engine::Undone;
use crate::gate::Pass;
use crate::lookups::Near;
use crate::updates::Changed;
use latchless::bytes::{BytesIndex, Lent};
use latchless::index::Options;
use latchless::{Direction, Error, FillFactor, Result};
use pyo3::PyErr;
use std::ops::{Bound, ControlFlow, Range};

/// Entries that are copied or loaded between two looks at the clock.
pub const PIECE: usize = 1 << 14;
/// The most bytes that a key may have, and a value.
pub const STRING_MAX: usize = 65_535;

/// The ends of a range. A range that starts after its end is empty.
pub type Ends<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// All keys.
const ALL: Ends<'_> = (Bound::Unbounded, Bound::Unbounded);

/// Copies of keys and of their values.
pub type Copies<V> = (Strings, <V as Value>::Copied);

/// A callback for entries; returns whether to continue.
type See<'s, V> = dyn FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()> + 's;

/// An entry.
pub type Entry<V> = (Vec<u8>, V);

/// An index whose keys are byte strings, and whose values are words or byte strings. Texts and bytes share
/// it, so it is compiled twice, and not six times.
pub struct BytesEngine<V: Value> {
    /// The index itself.
    pub index: BytesIndex<Vec<u8>, V>,
}

impl<V: Value> BytesEngine<V> {
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
        values: V::Batch<'_>,
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
        values: V::Batch<'_>,
        order: Option<&[usize]>,
        fill: FillFactor,
        pulse: &mut Pulse,
    ) -> Result<(), Undone> {
        let mut stopped = None;
        let places = 0..order.map_or(keys.len(), <[usize]>::len);
        let entries = until_signal(places, pulse, &mut stopped).map(|at| {
            let at = order.map_or(at, |order| order[at]);
            (keys.get(at), own::<V>(V::at(values, at)))
        });
        self.index.bulk_load(entries, fill)?;
        stopped.map_or(Ok(()), |raised| Err(raised.into()))
    }

    /// Inserts a chunk of a batch.
    pub fn insert_chunk(
        &self,
        keys: &Strings,
        values: V::Batch<'_>,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) {
        let mut asked = Vec::new();
        keys.read(chunk.clone(), &mut asked);
        let values: Vec<_> = chunk.clone().map(|at| V::at(values, at)).collect();
        match self.index.insert_columns(&asked, &values) {
            Ok(new) => changed.keys += new,
            // If inserts of a batch were refused, the number of new keys isn't reported.
            Err(some) => {
                changed.refused.extend(some.refused.iter().map(|&at| chunk.start + at));
                changed.error.get_or_insert(some.error);
            }
        }
    }

    /// Removes a chunk of keys.
    pub fn remove_chunk(&self, keys: &Strings, chunk: Range<usize>, changed: &mut Changed) {
        let asked: Vec<&[u8]> = chunk.map(|at| keys.get(at)).collect();
        let mut removed: Vec<Option<V>> = vec![None; asked.len()];
        self.index.remove_many(&asked, &mut removed).expect("they are of one length");
        changed.keys += removed.iter().flatten().count();
    }

    /// The neighbour of one key.
    pub fn near(&self, near: Near, key: &[u8]) -> Option<Entry<V>> {
        match near {
            Near::Floor => self.index.floor(key),
            Near::Ceiling => self.index.ceiling(key),
            Near::Lower => self.index.lower(key),
            Near::Higher => self.index.higher(key),
        }
    }

    /// The entries of a range, at most `limit`, from its low end or from its high end.
    pub fn collect(&self, ends: Ends<'_>, direction: Direction, limit: usize) -> Result<Copies<V>, Undone> {
        let all = matches!(ends, (Bound::Unbounded, Bound::Unbounded));
        let expected = if all { self.index.len().min(limit) } else { 0 };
        let mut copied = (Strings::with_room(expected, 0)?, V::with_room(expected)?);
        self.append(ends, (direction, limit), &mut copied, &mut Pulse::new())?;
        Ok(copied)
    }

    /// Appends the entries of a range to copies of others. See [`BytesEngine::collect`].
    pub fn append(
        &self,
        (low, high): Ends<'_>,
        (direction, limit): (Direction, usize),
        (keys, values): &mut Copies<V>,
        pulse: &mut Pulse,
    ) -> Result<(), Undone> {
        let limit = limit.saturating_add(keys.len());
        let mut last: Option<Vec<u8>> = None;
        while keys.len() < limit {
            let most = keys.len().saturating_add(PIECE).min(limit);
            let mut refused = Ok(());
            let mut see = |key: &[u8], value: Lent<'_, V>| {
                refused = keys.push(key).and_then(|()| V::push(values, value));
                if refused.is_err() {
                    return ControlFlow::Break(());
                }
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
        Ok(())
    }

    /// The entry at a position. The entries on the way to it are counted.
    pub fn nth(&self, position: usize) -> Option<Entry<V>> {
        let (mut left, mut found) = (position, None);
        let _ = self.show(ALL, Direction::Forward, &mut |key, value| {
            let Some(rest) = left.checked_sub(1) else {
                found = Some((key.to_vec(), own::<V>(value)));
                return ControlFlow::Break(());
            };
            left = rest;
            ControlFlow::Continue(())
        });
        found
    }

    /// The keys that cut the index into parts of one size.
    pub fn split_points(&self, parts: usize) -> Result<Strings> {
        let (len, mut keys) = (self.index.len(), Strings::default());
        let parts = parts.min(len);
        let (mut at, mut part, mut refused) = (0, 1, Ok(()));
        let _ = self.show(ALL, Direction::Forward, &mut |key, _| {
            if part >= parts {
                return ControlFlow::Break(());
            }
            if at as u128 == len as u128 * part as u128 / parts as u128 {
                refused = keys.push(key);
                part += 1;
            }
            at += 1;
            if refused.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        refused.map(|()| keys)
    }

    /// Shows the entries of a range until `see` breaks off.
    fn show(&self, ends: Ends<'_>, direction: Direction, see: &mut See<'_, V>) -> ControlFlow<()> {
        match direction {
            Direction::Forward => self.index.scan::<[u8]>(ends, see),
            Direction::Reverse => self.index.scan_back::<[u8]>(ends, see),
        }
    }

    /// How many keys a range has.
    pub fn count(&self, ends: Ends<'_>) -> usize {
        self.index.count::<[u8]>(ends)
    }

    /// Removes the entries of a range, and returns how many there were.
    pub fn remove_range(&self, ends: Ends<'_>) -> usize {
        // An inverted range is empty.
        self.index.remove_range::<[u8]>(ends).unwrap_or(0)
    }
}

/// These items, until a signal's handler has raised something.
pub fn until_signal<T>(
    items: impl Iterator<Item = T>,
    pulse: &mut Pulse,
    stopped: &mut Option<PyErr>,
) -> impl Iterator<Item = T> {
    items.enumerate().map_while(move |(number, item)| {
        if number % PIECE == 0 {
            *stopped = pulse.check().err();
        }
        stopped.is_none().then_some(item)
    })
}

/// The smallest key after all that begin with this prefix; None: there is no such key.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

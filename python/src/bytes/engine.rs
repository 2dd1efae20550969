//! An index of byte strings, and its batches. It depends on the interpreter only for signals, which end
//! long operations.

use super::strings::Strings;
use super::value::{self, Value};
use crate::batch::Pulse;
use crate::cells::Names;
use crate::engine::Undone;
use crate::gate::Pass;
use crate::store::{Store, changes, logged};
use crate::updates::Changed;
use latchless::index::Options;
use latchless::{Direction, Error, FillFactor, Index, Reader, Result};
use pyo3::PyErr;
use std::num::NonZeroUsize;
use std::ops::{Bound, ControlFlow, Range};

/// Entries that are copied or loaded between two looks at the clock.
pub const PIECE: usize = 1 << 14;
/// The most bytes that a key may have, and a value.
pub const STRING_MAX: usize = (1 << 24) - 1;

/// The ends of a range. A range that starts after its end is empty.
pub type Ends<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Copies of keys and of their values.
pub type Copies<V> = (Strings, <V as Value>::Copied);

/// An index whose keys are byte strings, and whose values are words or byte strings. Texts and bytes share
/// it, so it is compiled twice, and not six times.
pub struct BytesEngine<V: Value> {
    /// The index itself, and its log if it has one.
    pub store: Store<V::Key, V, Names>,
}

impl<V: Value> BytesEngine<V> {
    /// An empty one.
    pub fn new(limit_bytes: Option<usize>) -> Result<Self> {
        let index = Index::with_options(Options { limit_bytes, ..Options::default() })?;
        Ok(Self { store: Store::Memory(index) })
    }

    /// The index, for reading.
    #[inline(always)]
    pub fn index(&self) -> &Reader<Index<V::Key, V>> {
        self.store.index()
    }

    /// Fills the empty index. In any order: of equal keys the last one stays. Otherwise they must ascend. A
    /// signal can end it, except during the last step, in which the leaves are built.
    pub fn load<'a>(
        &mut self,
        keys: &'a Strings,
        values: V::Batch<'a>,
        sorted: bool,
        fill: f64,
    ) -> Result<(), Undone> {
        let (fill, pulse) = (FillFactor::new(fill)?, &mut Pulse::new());
        if sorted || keys.ascends(pulse)? {
            return self.load_in_order(keys, values, None, fill);
        }
        let mut order = keys.sorted(pulse)?;
        match self.load_in_order(keys, values, Some(&order), fill) {
            Err(Undone::Refused(Error::DuplicateKey { .. })) => {
                keys.keep_last(&mut order);
                self.load_in_order(keys, values, Some(&order), fill)
            }
            loaded => loaded,
        }
    }

    /// Fills the empty index with the entries at these places, or with all.
    fn load_in_order<'a>(
        &mut self,
        keys: &'a Strings,
        values: V::Batch<'a>,
        order: Option<&[usize]>,
        fill: FillFactor,
    ) -> Result<(), Undone> {
        let entry_at = |at| {
            let at = order.map_or(at, |order| order[at]);
            (keys.get(at), V::as_given(V::at(values, at)))
        };
        let len = order.map_or(keys.len(), <[usize]>::len);
        Ok(self.store.in_memory().bulk_load_by(len, entry_at, fill, NonZeroUsize::MIN)?)
    }

    /// Inserts a chunk of a batch.
    pub fn insert_chunk(
        &self,
        keys: &Strings,
        values: V::Batch<'_>,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) -> Result<(), Undone> {
        let start = chunk.start;
        let inserted = match &self.store {
            Store::Memory(index) => {
                let entry = |at| (keys.get(at), V::owned(V::at(values, at)));
                let entries: Vec<_> = chunk.map(entry).collect();
                let mut replaced = vec![None; entries.len()];
                let inserted = index.insert_many(&entries, &mut replaced);
                let new = || replaced.iter().filter(|before| before.is_none()).count();
                inserted.map(|()| new()).map_err(|some| (some.refused, some.error))
            }
            Store::Durable(durable) => {
                let its: Vec<_> = chunk.clone().map(|at| V::as_logged(V::at(values, at))).collect();
                logged(durable.insert_columns(&keys.read(chunk), &its))?
            }
            Store::ReadOnly(reading) => return Err(reading.refusal()),
        };
        changed.note(inserted, |at| start + at);
        Ok(())
    }

    /// Removes a chunk of keys.
    pub fn remove_chunk(
        &self,
        keys: &Strings,
        chunk: Range<usize>,
        changed: &mut Changed,
    ) -> Result<(), Undone> {
        changed.keys += match &self.store {
            Store::Memory(index) => {
                let mut removed: Vec<Option<V>> = vec![None; chunk.len()];
                index.remove_many(&keys.read(chunk), &mut removed)?;
                removed.iter().flatten().count()
            }
            Store::Durable(durable) => durable.remove_many(&keys.read(chunk))?,
            Store::ReadOnly(reading) => return Err(reading.refusal()),
        };
        Ok(())
    }

    /// The entries of a range, at most `limit`, from its low end or from its high end.
    pub fn collect(&self, ends: Ends<'_>, direction: Direction, limit: usize) -> Result<Copies<V>, Undone> {
        let all = matches!(ends, (Bound::Unbounded, Bound::Unbounded));
        let expected = if all { self.index().len().min(limit) } else { 0 };
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
            let see = |key: &[u8], value: V::Lent<'_>| {
                refused = keys.push(key).and_then(|()| V::push(values, value));
                if refused.is_ok() && keys.len() < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let rest = match (&last, direction) {
                (None, _) => (low, high),
                (Some(last), Direction::Forward) => (Bound::Excluded(&last[..]), high),
                (Some(last), Direction::Reverse) => (low, Bound::Excluded(&last[..])),
            };
            let shown = {
                let _pass = Pass::new();
                V::show(self.index(), rest, direction, see)
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
}

changes! {
    impl[V: Value] Store<V::Key, V, Names>, (V::Key, &[u8]), (V, V::Taken<'_>);
    V::as_given, V::as_lent, V::as_logged, V::owned, value::settled::<V, _>
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

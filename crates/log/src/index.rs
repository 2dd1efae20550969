//! The records and snapshots of numbers.

use crate::columns::{self, Columns, Plain};
use crate::durable::Durable;
use crate::logged::Part;
use crate::numbers::Numbers;
use crate::record::{Draft, ENTRIES_MAX};
use crate::replay::Target;
use crate::stored::{Ends, Stored, StoredAsUsual};
use crate::stripes::Set;
use latchless::bytes::Lent;
use latchless::index::engine::Words;
use latchless::snapshot::{self, Native};
use latchless::{Index, Key, Value};
use std::io::Write;
use std::ops::Bound::{Excluded, Included};

/// An [`Index`] of numbers in memory with a redo log in a folder. See the [crate's head](crate).
pub type DurableIndex<K, V, C = Plain> = Durable<Index<K, V>, C>;

/// The stripes of these keys.
fn stripes_of<K: Key, V: Value>(columns: &impl Columns<K, V>, keys: impl Iterator<Item = K>) -> Set {
    Set::of(keys.map(|key| columns.key_to_cell(key)))
}

impl<K: Key, V: Value, C: Columns<K, V> + 'static> Stored<K, V, C> for Words<K, V> {
    fn write(index: &Index<K, V>, columns: &C, out: &mut dyn Write) -> snapshot::Result<u64> {
        columns::write(index, out, columns)
    }

    fn target<'a>(index: &'a mut Index<K, V>, columns: &'a C) -> snapshot::Result<impl Target + 'a> {
        columns::check(columns)?;
        Ok(Numbers::new(index, columns))
    }

    fn is_alike(columns: &C, one: V, other: V) -> bool {
        columns.value_to_cell(one) == columns.value_to_cell(other)
    }

    fn stripe(columns: &C, key: K) -> Set {
        stripes_of(columns, std::iter::once(key))
    }

    fn puts<'q, 'v>(
        columns: &C,
        entries: impl ExactSizeIterator<Item = (K::Probe<'q>, Lent<'v, V>)> + Clone,
    ) -> Part {
        let entries = entries.take(ENTRIES_MAX);
        let keys = entries.clone().map(|(key, _)| key);
        Part { set: stripes_of(columns, keys), entries: entries.len(), draft: Draft::put(columns, entries) }
    }

    fn removals<'q>(columns: &C, keys: impl ExactSizeIterator<Item = K::Probe<'q>> + Clone) -> Part {
        let keys = keys.take(ENTRIES_MAX);
        let set = stripes_of(columns, keys.clone());
        Part { set, entries: keys.len(), draft: Draft::remove(columns, keys) }
    }

    fn range(columns: &C, range: Ends<'_, K>) -> latchless::Result<Draft> {
        if let (Included(start) | Excluded(start), Included(end) | Excluded(end)) = range
            && start.encode() > end.encode()
        {
            return Err(latchless::Error::InvertedRange);
        }
        Ok(Draft::remove_range(columns, &range))
    }
}

impl<K: Native, V: Native> StoredAsUsual<K, V> for Words<K, V> {
    type Columns = Plain;
}

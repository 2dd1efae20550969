//! An index with one value a key, whatever stores its entries: words with their columns, or byte strings with
//! none. `index.rs` and `bytes.rs` have what differs.

use crate::changes::Becomes;
use crate::durable::Durable;
use crate::error::Result;
use crate::journal::Journal;
use crate::kept::{Kept, Usual};
use crate::logged::{KeyOf, Logged, Part};
use crate::record::Draft;
use crate::replay::Target;
use crate::stripes::Set;
use latchless::bytes::{Form, Lent};
use latchless::index::{Columned, Options};
use latchless::{BytesValue, FillFactor, Index, IndexKey, KeyFor, snapshot};
use std::io::Write;
use std::ops::{Bound, RangeBounds};

/// The ends of a range of keys.
pub type Ends<'q, K> = (Bound<<K as IndexKey>::Probe<'q>>, Bound<<K as IndexKey>::Probe<'q>>);

/// How entries are in a log and in a snapshot. The store has it that the types of an [`Index`] choose: words,
/// with any [`Columns`](crate::Columns), and byte strings, whose values are a
/// [`SavedValue`](snapshot::SavedValue).
pub trait Stored<K: KeyFor<V>, V: BytesValue, C>: Columned<K, V> + Sized {
    /// Writes a snapshot, and returns how many entries it has.
    #[doc(hidden)]
    fn write(index: &Index<K, V>, columns: &C, out: &mut dyn Write) -> snapshot::Result<u64>;

    /// The index, for a recovery to fill; the error refuses the columns.
    #[doc(hidden)]
    fn target<'a>(index: &'a mut Index<K, V>, columns: &'a C) -> snapshot::Result<impl Target + 'a>;

    /// Whether values have the same bytes in a record.
    #[doc(hidden)]
    fn is_alike(columns: &C, one: Lent<'_, V>, other: Lent<'_, V>) -> bool;

    /// Refuses a value that a record has no room for.
    #[doc(hidden)]
    fn check_value(_value: Lent<'_, V>, _journal: &Journal) -> Result<()> {
        Ok(())
    }

    /// Refuses a key that is too long for a record.
    #[doc(hidden)]
    fn check(_key: K::Probe<'_>) -> latchless::Result<()> {
        Ok(())
    }

    #[doc(hidden)]
    fn stripe(columns: &C, key: K::Probe<'_>) -> Set;

    /// The record that sets the first of these keys to their values.
    #[doc(hidden)]
    fn puts<'q, 'v>(
        columns: &C,
        entries: impl ExactSizeIterator<Item = (K::Probe<'q>, Lent<'v, V>)> + Clone,
    ) -> Part;

    /// The record that removes the first of these keys.
    #[doc(hidden)]
    fn removals<'q>(columns: &C, keys: impl ExactSizeIterator<Item = K::Probe<'q>> + Clone) -> Part;

    /// The record that removes the keys of a range; the error refuses what the index refuses.
    #[doc(hidden)]
    fn range(columns: &C, ends: Ends<'_, K>) -> latchless::Result<Draft>;
}

/// A store with the columns that it has unless a program brings its own.
pub trait StoredAsUsual<K: KeyFor<V>, V: BytesValue>: Stored<K, V, Self::Columns> {
    /// [`Plain`](crate::Plain) for numbers.
    type Columns: Default + Send + Sync + 'static;
}

impl<K, V, C> Kept<C> for Index<K, V>
where
    K: KeyFor<V, Engine: Stored<K, V, C>>,
    V: BytesValue,
{
    fn entries(&self) -> usize {
        self.len()
    }

    fn write(&self, columns: &C, out: &mut dyn Write) -> snapshot::Result<u64> {
        K::Engine::write(self, columns, out)
    }

    fn target<'a>(&'a mut self, columns: &'a C) -> snapshot::Result<impl Target + 'a> {
        K::Engine::target(self, columns)
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        Ok(self.shrink(fill)?)
    }
}

impl<K: KeyFor<V, Engine: StoredAsUsual<K, V>>, V: BytesValue> Usual for Index<K, V> {
    type Columns = <K::Engine as StoredAsUsual<K, V>>::Columns;

    fn with_options(options: Options) -> latchless::Result<Self> {
        Index::with_options(options)
    }
}

impl<K, V, C> Logged<C> for Index<K, V>
where
    K: KeyFor<V, Engine: Stored<K, V, C>>,
    V: BytesValue,
{
    type Value = V;
    type Lent<'v> = Lent<'v, V>;
    type Entry = (K, V);

    fn lend(value: &V) -> Lent<'_, V> {
        <V::Form as Form<V>>::lend(value)
    }

    fn own(value: Lent<'_, V>) -> V {
        <V::Form as Form<V>>::own(value)
    }

    fn is_alike(columns: &C, one: Lent<'_, V>, other: Lent<'_, V>) -> bool {
        K::Engine::is_alike(columns, one, other)
    }

    fn check_value(value: Lent<'_, V>, journal: &Journal) -> Result<()> {
        <K::Engine as Stored<K, V, C>>::check_value(value, journal)
    }

    fn first(&self) -> Option<(K, V)> {
        self.first()
    }

    fn last(&self) -> Option<(K, V)> {
        self.last()
    }

    fn key((key, _): &(K, V)) -> impl KeyOf<Self, C> {
        Named::<K>(key.probe())
    }
}

/// A key as operations take it.
struct Named<'q, K: IndexKey>(K::Probe<'q>);

impl<K: IndexKey> Clone for Named<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: IndexKey> Copy for Named<'_, K> {}

impl<K, V, C> KeyOf<Index<K, V>, C> for Named<'_, K>
where
    K: KeyFor<V, Engine: Stored<K, V, C>>,
    V: BytesValue,
{
    fn check(self) -> latchless::Result<()> {
        <K::Engine as Stored<K, V, C>>::check(self.0)
    }

    fn stripe(self, columns: &C) -> Set {
        K::Engine::stripe(columns, self.0)
    }

    fn puts<'v>(columns: &C, entries: impl ExactSizeIterator<Item = (Self, Lent<'v, V>)> + Clone) -> Part {
        K::Engine::puts(columns, entries.map(|(key, value)| (key.0, value)))
    }

    fn removals(columns: &C, keys: impl ExactSizeIterator<Item = Self> + Clone) -> Part {
        K::Engine::removals(columns, keys.map(|key| key.0))
    }

    #[inline]
    fn get(self, index: &Index<K, V>) -> Option<V> {
        index.get(self.0)
    }

    fn put(self, index: &Index<K, V>, value: Lent<'_, V>) -> latchless::Result<Option<V>> {
        index.insert(self.0, value)
    }

    fn remove(self, index: &Index<K, V>) -> Option<V> {
        index.remove(self.0)
    }

    fn remove_many(index: &Index<K, V>, keys: &[Self]) -> latchless::Result<usize> {
        let keys: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut before = vec![None; keys.len()];
        index.remove_many(&keys, &mut before)?;
        Ok(before.iter().flatten().count())
    }
}

/// Reads and changes of an index with one value a key. Keys are named as in an [`Index`].
impl<K, V, C> Durable<Index<K, V>, C>
where
    K: KeyFor<V, Engine: Stored<K, V, C>>,
    V: BytesValue,
{
    /// The value of a key.
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Option<V> {
        self.index.get(key)
    }

    /// Sets a key to a value, and returns the one it had.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Index`](crate::Error::Index), which also a key or value of
    /// over 16 MiB is: nothing has changed. [`Error::Closed`](crate::Error::Closed): nothing has
    /// changed, or, if the disk failed while the operation waited for it, it is in the index and perhaps not
    /// on the disk.
    pub fn insert(&self, key: K::Probe<'_>, value: Lent<'_, V>) -> Result<Option<V>> {
        self.put(Named::<K>(key), value)
    }

    /// Removes a key, and returns the value it had. A key of over 16 MiB isn't there.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<V>> {
        self.take(Named::<K>(key))
    }

    /// Replaces a key's value by the result of a closure on the present one, if any; `None` removes the key.
    /// Returns the previous value. The closure runs once. No other change of the key comes between; so the
    /// closure itself mustn't change the index, which would wait for it for ever. A value that is equal bit
    /// by bit isn't logged.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    ///
    /// ```
    /// # use latchless_log::{DurableBytesIndex, DurableIndex, Options};
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-sums-{}", std::process::id()));
    /// let (sums, recovery) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
    /// assert_eq!(recovery.stopped, None);
    /// let add = |key, more| sums.compute(key, |sum| Some(sum.unwrap_or(0) + more));
    /// assert_eq!((add(7, 5)?, add(7, 3)?, sums.get(7)), (None, Some(5), Some(8)));
    /// # drop(sums);
    /// # std::fs::remove_dir_all(&folder)?;
    ///
    /// let (seen, recovery) = DurableBytesIndex::<String, u64>::open(&folder, Options::default())?;
    /// assert_eq!(recovery.stopped, None);
    /// let count = |word: &str| seen.compute(word, |count| Some(count.unwrap_or(0) + 1));
    /// assert_eq!((count("tea")?, count("tea")?, seen.get("tea")), (None, Some(1), Some(2)));
    /// assert!(seen.compare_remove("tea", 2)? && seen.is_empty());
    /// # drop(seen);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute(
        &self,
        key: K::Probe<'_>,
        value: impl FnOnce(Option<V>) -> Option<V>,
    ) -> Result<Option<V>> {
        self.change_by(Named::<K>(key), |before| match (before, value(before.cloned())) {
            (_, Some(value)) => Becomes::Value(value),
            (Some(_), None) => Becomes::Gone,
            (None, None) => Becomes::Same,
        })
    }

    /// The key's value; without one, the key gets this value first.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn get_or_insert(&self, key: K::Probe<'_>, value: V) -> Result<V> {
        let before = self.change_by(Named::<K>(key), |before| match before {
            Some(_) => Becomes::Same,
            None => Becomes::Value(value.clone()),
        })?;
        Ok(before.unwrap_or(value))
    }

    /// Replaces the value of a present key, and returns the previous one. A value that is equal bit by bit
    /// isn't logged.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn replace(&self, key: K::Probe<'_>, value: Lent<'_, V>) -> Result<Option<V>> {
        self.change_by(Named::<K>(key), |before| {
            before.map_or(Becomes::Same, |_| Becomes::Value(<V::Form as Form<V>>::own(value)))
        })
    }

    /// Replaces the value of a key if it is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn compare_exchange(
        &self,
        key: K::Probe<'_>,
        expected: Lent<'_, V>,
        value: Lent<'_, V>,
    ) -> Result<bool> {
        self.change_if(Named::<K>(key), expected, || Becomes::Value(<V::Form as Form<V>>::own(value)))
    }

    /// Removes a key if its value is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`Durable::insert`].
    pub fn compare_remove(&self, key: K::Probe<'_>, expected: Lent<'_, V>) -> Result<bool> {
        self.change_if(Named::<K>(key), expected, || Becomes::Gone)
    }

    /// Sets the keys of a column to the values of another, and returns how many keys are new. Of a key that
    /// occurs twice the last value stays. One record for up to 2^20 numbers or 64 MiB of strings, one
    /// wait for the disk.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) names the refused entries: all of them, if the columns aren't of
    /// one length, or a key or value has over 16 MiB. The others are those of [`Durable::insert`]; of a
    /// batch of several records, those before the one that failed are done.
    pub fn insert_columns(&self, keys: &[K::Probe<'_>], values: &[Lent<'_, V>]) -> Result<usize> {
        if keys.len() != values.len() {
            // Refused by the index's own words, before anything is logged.
            return Ok(self.index.insert_columns(keys, values).map_err(latchless::Error::from)?);
        }
        let entries = keys.iter().map(|&key| Named::<K>(key)).zip(values.iter().copied());
        self.put_many(entries, |now| self.index.insert_columns(&keys[now.clone()], &values[now]))
    }

    /// Sets keys to values, and returns how many keys are new. See [`Durable::insert_columns`].
    ///
    /// # Errors
    /// Those of [`Durable::insert_columns`].
    pub fn insert_many(&self, entries: &[(K::Probe<'_>, V)]) -> Result<usize> {
        let keys: Vec<_> = entries.iter().map(|&(key, _)| key).collect();
        let values: Vec<_> = entries.iter().map(|(_, value)| <V::Form as Form<V>>::lend(value)).collect();
        self.insert_columns(&keys, &values)
    }

    /// Removes the keys of a batch, and returns how many were there. One record for up to 2^20 numbers or 64
    /// MiB of strings.
    ///
    /// # Errors
    /// Those of [`Durable::insert_columns`], except that keys of over 16 MiB aren't there.
    pub fn remove_many(&self, keys: &[K::Probe<'_>]) -> Result<usize> {
        self.take_many(keys.iter().map(|&key| Named::<K>(key)))
    }

    /// Removes all keys of a range, and returns how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the range ends before it starts, or an end has over 16
    /// MiB. The others as [`Durable::insert`].
    pub fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize> {
        let range = (range.start_bound().cloned(), range.end_bound().cloned());
        // A range that the index refuses isn't logged.
        let draft = K::Engine::range(&self.columns, range)?;
        self.journal.change(Set::ALL, draft, || Ok(self.index.remove_range(range)?))
    }
}

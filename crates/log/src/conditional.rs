//! Changes of one key that depend on its value, and removals of the first or last key. They read, log and
//! change while they hold the key's stripe, so no other change of the key comes between. Their reads are
//! acknowledged like changes, even if nothing changes.

use crate::columns::Columns;
use crate::error::Result;
use crate::index::DurableIndex;
use crate::record::Draft;
use crate::stripes::Set;
use latchless::{Index, Key, Value};

/// The decision about a key.
#[derive(Clone, Copy)]
enum Becomes<V> {
    /// It stays as it is, or stays away.
    Same,
    /// It has this value.
    Value(V),
    /// It isn't there any more.
    Gone,
}

impl<K: Key, V: Value, C: Columns<K, V>> DurableIndex<K, V, C> {
    /// Applies the decision of `decide` about a key's value, and returns that value.
    #[inline(never)]
    fn change_by(&self, key: K, decide: &mut dyn FnMut(Option<V>) -> Becomes<V>) -> Result<Option<V>> {
        self.journal.check_process()?;
        let held = self.journal.hold(self.stripes_of(&[key]));
        let before = self.index.get(key);
        match decide(before) {
            Becomes::Same => {
                drop(held);
                self.journal.unchanged(before)
            }
            Becomes::Value(value) => {
                let draft = Draft::put(&self.columns, &[key], &[value]).seal();
                self.journal.change_held(held, draft, || self.put_logged(key, value))
            }
            Becomes::Gone => {
                let draft = Draft::remove(&self.columns, &[key]).seal();
                self.journal.change_held(held, draft, || Ok(self.remove_logged(key)))
            }
        }
    }

    /// Replaces a key's value by the result of a closure on the present one, if any; `None` removes the key.
    /// Returns the previous value. The closure runs once. No other change of the key comes between; so the
    /// closure itself mustn't change the index, which would wait for it for ever. A value that is equal bit
    /// by bit isn't logged.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    ///
    /// ```
    /// # use latchless_log::{DurableIndex, Options};
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-sums-{}", std::process::id()));
    /// let (sums, recovery) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
    /// assert_eq!(recovery.stopped, None);
    /// let add = |key, more| sums.compute(key, |sum| Some(sum.unwrap_or(0) + more));
    /// assert_eq!((add(7, 5)?, add(7, 3)?, sums.get(7)), (None, Some(5), Some(8)));
    /// # drop(sums);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute(&self, key: K, value: impl FnOnce(Option<V>) -> Option<V>) -> Result<Option<V>> {
        let cell = |value| self.columns.value_to_cell(value);
        let mut value = Some(value);
        self.change_by(key, &mut |before| {
            // It is called once.
            match (before, value.take().and_then(|value| value(before))) {
                (None, None) => Becomes::Same,
                (Some(was), Some(value)) if cell(was) == cell(value) => Becomes::Same,
                (_, Some(value)) => Becomes::Value(value),
                (_, None) => Becomes::Gone,
            }
        })
    }

    /// The key's value; without one, the key gets this value first.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn get_or_insert(&self, key: K, value: V) -> Result<V> {
        let before = self.change_by(key, &mut |before| match before {
            Some(_) => Becomes::Same,
            None => Becomes::Value(value),
        })?;
        Ok(before.unwrap_or(value))
    }

    /// Replaces the value of a present key, and returns the previous one.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn replace(&self, key: K, value: V) -> Result<Option<V>> {
        self.change_by(key, &mut |before| {
            if before.is_some() { Becomes::Value(value) } else { Becomes::Same }
        })
    }

    /// Replaces the value of a key if it is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn compare_exchange(&self, key: K, expected: V, value: V) -> Result<bool> {
        self.change_if(key, expected, Becomes::Value(value))
    }

    /// Removes a key if its value is the expected one, bit by bit, and returns whether it was.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn compare_remove(&self, key: K, expected: V) -> Result<bool> {
        self.change_if(key, expected, Becomes::Gone)
    }

    fn change_if(&self, key: K, expected: V, becomes: Becomes<V>) -> Result<bool> {
        let cell = |value| self.columns.value_to_cell(value);
        let mut was = false;
        self.change_by(key, &mut |before| {
            was = before.is_some_and(|before| cell(before) == cell(expected));
            if was { becomes } else { Becomes::Same }
        })?;
        Ok(was)
    }

    /// Removes the entry with the smallest key, and gives it back. Other changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn pop_first(&self) -> Result<Option<(K, V)>> {
        self.pop(Index::first)
    }

    /// Removes the entry with the largest key, and gives it back. Other changes wait meanwhile.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn pop_last(&self) -> Result<Option<(K, V)>> {
        self.pop(Index::last)
    }

    fn pop(&self, end: impl FnOnce(&Index<K, V>) -> Option<(K, V)>) -> Result<Option<(K, V)>> {
        self.journal.check_process()?;
        let held = self.journal.hold(Set::ALL);
        let Some((key, value)) = end(&self.index) else {
            drop(held);
            return self.journal.unchanged(None);
        };
        let draft = Draft::remove(&self.columns, &[key]).seal();
        self.journal.change_held(held, draft, || Ok(self.remove_logged(key)))?;
        Ok(Some((key, value)))
    }
}

//! Parallel updates in large batches.

use super::Index;
use super::access::{decode_value, encode_key, encode_value, expect_infallible};
use super::refused::Incomplete;
use crate::index::side_by_side::edit_side_by_side;
use crate::tree::Edit;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The number of requests from which on a batch is sorted and distributed; a smaller one is served by one
/// thread in its own order. The example `large_batches` measures where the two ways take the same time on a
/// machine.
const LARGE: usize = 1 << 14;

/// Returns whether to distribute so many updates. A pool of one thread gains nothing.
fn is_shared_out(len: usize) -> bool {
    len >= LARGE && rayon::current_num_threads() > 1
}

impl<K: Key, V: Value> Index<K, V> {
    /// Inserts many entries on rayon's threads: the batch is sorted by key, cut where no leaf is shared, and
    /// the parts are inserted in parallel. Entries of equal keys keep their order. Small batches are
    /// inserted by the calling thread, which is faster. See [`Index::insert_many`].
    ///
    /// # Errors
    /// Those of [`Index::insert_many`].
    ///
    /// ```
    /// let index = latchless::Index::<u64, u64>::new()?;
    /// let entries: Vec<(u64, u64)> = (0..100_000).map(|at| (at * 7919 % 65_537, at)).collect();
    /// let mut replaced = vec![None; entries.len()];
    /// index.par_insert_many(&entries, &mut replaced)?;
    /// assert_eq!(replaced[65_537], Some(0));
    /// assert_eq!(index.get(0), Some(65_537));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_insert_many(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<(), Incomplete> {
        if !is_shared_out(entries.len()) || entries.len() != replaced.len() {
            return self.insert_many(entries, replaced);
        }
        let mut incomplete = None;
        let key = |at: usize| encode_key::<K, V>(entries[at].0);
        let put = |at: usize| Edit::Put(encode_value::<K, V>(entries[at].1));
        edit_side_by_side(&self.engine.tree, entries.len(), self.engine.group, key, put, |at, edited| {
            match edited {
                Ok(edited) => replaced[at] = edited.before.map(decode_value::<K, V>),
                Err(error) => {
                    replaced[at] = None;
                    Incomplete::add(&mut incomplete, at, error);
                }
            }
        });
        Incomplete::or(incomplete, ())
    }

    /// Inserts many entries from columns on rayon's threads. See [`Index::insert_columns`] and
    /// [`Index::par_insert_many`].
    ///
    /// # Errors
    /// Those of [`Index::insert_columns`].
    ///
    /// ```
    /// let index = latchless::Index::<u64, u64>::new()?;
    /// let keys: Vec<u64> = (0..100_000).map(|at| at * 7919 % 65_537).collect();
    /// let values: Vec<u64> = (0..100_000).collect();
    /// assert_eq!(index.par_insert_columns(&keys, &values)?, 65_537);
    /// assert_eq!(index.get(0), Some(65_537));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_insert_columns(&self, keys: &[K], values: &[V]) -> Result<usize, Incomplete> {
        if !is_shared_out(keys.len()) || keys.len() != values.len() {
            return self.insert_columns(keys, values);
        }
        let (mut new, mut incomplete) = (0, None);
        let key = |at: usize| encode_key::<K, V>(keys[at]);
        let put = |at: usize| Edit::Put(encode_value::<K, V>(values[at]));
        edit_side_by_side(&self.engine.tree, keys.len(), self.engine.group, key, put, |at, edited| {
            match edited {
                Ok(edited) => new += usize::from(edited.before.is_none()),
                Err(error) => Incomplete::add(&mut incomplete, at, error),
            }
        });
        Incomplete::or(incomplete, new)
    }

    /// Removes many keys on rayon's threads. See [`Index::remove_many`] and [`Index::par_insert_many`].
    ///
    /// # Errors
    /// Those of [`Index::remove_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..100_000).map(|key| (key, 2 * key)).collect();
    /// let keys: Vec<u64> = (0..100_000).rev().collect();
    /// let mut removed = vec![None; keys.len()];
    /// index.par_remove_many(&keys, &mut removed)?;
    /// assert_eq!((removed[0], index.len()), (Some(199_998), 0));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_remove_many(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        if !is_shared_out(keys.len()) {
            return self.remove_many(keys, removed);
        }
        let key = |at: usize| encode_key::<K, V>(keys[at]);
        edit_side_by_side(
            &self.engine.tree,
            keys.len(),
            self.engine.group,
            key,
            |_| Edit::Remove,
            |at, edited| {
                removed[at] = expect_infallible(edited).before.map(decode_value::<K, V>);
            },
        );
        Ok(())
    }
}

//! Large batches of updates on many threads.

use super::Index;
use super::access::{decode_value, encode_key, encode_value, expect_infallible};
use super::batch::Incomplete;
use crate::index::side_by_side::edit_side_by_side;
use crate::tree::Edit;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// Requests from which on a batch is sorted and shared out; a smaller one is taken by one thread as it
/// comes. Where the two ways take the same time on a machine, the example `large_batches` shows.
const LARGE: usize = 1 << 14;

/// Whether so many updates are shared out. A pool of one thread gains nothing by it.
fn is_shared_out(len: usize) -> bool {
    len >= LARGE && rayon::current_num_threads() > 1
}

impl<K: Key, V: Value> Index<K, V> {
    /// As [`Index::insert_many`], on rayon's threads: the batch is sorted by key, cut where no leaf is
    /// shared, and the parts are put in side by side. Entries of equal keys keep their order. Small
    /// batches are put in by the calling thread, which is faster.
    ///
    /// # Errors
    /// As [`Index::insert_many`].
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
        edit_side_by_side(&self.tree, entries.len(), self.group, key, put, |at, edited| match edited {
            Ok(edited) => replaced[at] = edited.before.map(decode_value::<K, V>),
            Err(error) => {
                replaced[at] = None;
                Incomplete::add(&mut incomplete, at, error);
            }
        });
        Incomplete::or(incomplete, ())
    }

    /// As [`Index::insert_columns`], on rayon's threads, as [`Index::par_insert_many`] does it.
    ///
    /// # Errors
    /// As [`Index::insert_columns`].
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
        edit_side_by_side(&self.tree, keys.len(), self.group, key, put, |at, edited| match edited {
            Ok(edited) => new += usize::from(edited.before.is_none()),
            Err(error) => Incomplete::add(&mut incomplete, at, error),
        });
        Incomplete::or(incomplete, new)
    }

    /// As [`Index::remove_many`], on rayon's threads, as [`Index::par_insert_many`] does it.
    ///
    /// # Errors
    /// As [`Index::remove_many`].
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
            &self.tree,
            keys.len(),
            self.group,
            key,
            |_| Edit::Remove,
            |at, edited| {
                removed[at] = expect_infallible(edited).before.map(decode_value::<K, V>);
            },
        );
        Ok(())
    }
}

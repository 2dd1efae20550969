//! Large batches of updates on many threads: sorted, cut where no leaf is shared, applied side by
//! side (the bulk-synchronous way of PI).

use super::Index;
use super::access::{Lane, key_lane, value_lane, value_of};
use super::batch::Incomplete;
use crate::base::error::{Error, Result};
use crate::base::index::check_side_by_side;
use crate::base::key::Key;
use crate::base::value::Value;
use crate::batch::{Order, cut};
use crate::tree::blink::{Edit, Edited, Shared};
use rayon::prelude::*;

/// Requests from which on sorting a batch and sharing it out wins over one thread that takes it as it
/// comes. See `DESIGN.md` for the measurement.
const LARGE: usize = 1 << 14;

/// What became of the requests of one part, in the part's order.
type Outcomes<B> = Vec<Result<Edited<B>>>;

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
        if entries.len() < LARGE || entries.len() != replaced.len() {
            return self.insert_many(entries, replaced);
        }
        let mut refused: Vec<(usize, Error)> = Vec::new();
        let put = |at: usize| Edit::Put(value_lane::<K, V>(entries[at].1));
        self.apply(
            entries.len(),
            |at| entries[at].0,
            put,
            |at, edited| match edited {
                Ok(edited) => replaced[at] = edited.before.map(value_of::<K, V>),
                Err(error) => {
                    replaced[at] = None;
                    refused.push((at, error));
                }
            },
        );
        refused.sort_by_key(|&(at, _)| at);
        let Some((_, error)) = refused.first().cloned() else { return Ok(()) };
        Err(Incomplete { error, refused: refused.into_iter().map(|(at, _)| at).collect() })
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
        if keys.len() < LARGE {
            return self.remove_many(keys, removed);
        }
        self.apply(
            keys.len(),
            |at| keys[at],
            |_| Edit::Remove,
            |at, edited| {
                removed[at] = super::access::in_place(edited).before.map(value_of::<K, V>);
            },
        );
        Ok(())
    }

    /// Sorts, cuts, applies, and says what became of each request, in no particular order.
    fn apply(
        &self,
        len: usize,
        key_at: impl Fn(usize) -> K + Sync,
        edit_at: impl Fn(usize) -> Edit<Lane<K, V>> + Sync,
        mut done: impl FnMut(usize, Result<Edited<Lane<K, V>>>),
    ) {
        // Positions are four bytes wide: longer batches go in pieces.
        const PIECE: usize = u32::MAX as usize;
        for start in (0..len).step_by(PIECE) {
            let piece = start..len.min(start + PIECE);
            let mut order: Order<Lane<K, V>> =
                piece.into_par_iter().map(|at| (key_lane::<K, V>(key_at(at)), (at - start) as u32)).collect();
            order.par_sort_unstable();
            let parts = cut(&order, rayon::current_num_threads(), |key| self.tree.leaf_end::<Shared>(key));
            let outcomes: Vec<Outcomes<Lane<K, V>>> = parts
                .par_iter()
                .map(|part| {
                    let mut outcomes = Vec::with_capacity(part.len());
                    let request = |at: usize| (part[at].0, edit_at(start + part[at].1 as usize));
                    self.tree.edit_each::<Shared>(part.len(), self.group, request, |_, edited| {
                        outcomes.push(edited);
                    });
                    outcomes
                })
                .collect();
            for (&(_, at), edited) in parts.iter().copied().flatten().zip(outcomes.into_iter().flatten()) {
                done(start + at as usize, edited);
            }
        }
    }
}

//! Batches: requests descend in groups, so that their cache misses overlap.

use super::{Boxed, Handles, KeyForm, TOGETHER};
use crate::index::Incomplete;
use crate::slot_map::{Pinned, SlotId};
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Looks up many keys; `answers` has room for as many. Each answer is what `show` returns for the value.
    #[inline]
    pub(super) fn read_each<'p, Q, R>(
        &'p self,
        keys: &[Q],
        answers: &mut [Option<R>],
        pin: &'p Pinned,
        show: impl Fn(&'p T) -> R,
    ) -> Result<()>
    where
        I: KeyForm<Q>,
    {
        let mut handles = [None; TOGETHER];
        for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            let handles = &mut handles[..keys.len()];
            self.index.find_many(keys, handles)?;
            handles.iter().flatten().for_each(|&handle| self.slots.prefetch(handle));
            for ((answer, &handle), key) in answers.iter_mut().zip(&*handles).zip(keys) {
                let value = handle.and_then(|handle| {
                    let value = self.slots.read(handle, pin);
                    value.or_else(|| I::with_key(key, |key| self.find(key, pin)))
                });
                *answer = value.map(&show);
            }
        }
        Ok(())
    }

    /// Inserts many entries; of equal keys the last one stays. `replaced` gets what `show` returns for the
    /// values that they replaced, in the entries' order.
    ///
    /// # Errors
    /// [`Incomplete`] lists exactly the inserts that were refused; their values are dropped. If the buffers
    /// have unequal lengths, all are refused.
    pub(super) fn insert_each<'p, Q, R>(
        &'p self,
        mut entries: impl ExactSizeIterator<Item = (Q, T)>,
        replaced: &mut [Option<R>],
        pin: &'p Pinned,
        show: impl Fn(&'p T) -> R,
    ) -> Result<(), Incomplete>
    where
        I: KeyForm<Q>,
    {
        if let Err(error) = check_side_by_side(entries.len(), replaced.len()) {
            return Err(Incomplete { error, refused: (0..entries.len()).collect() });
        }
        let mut incomplete: Option<Incomplete> = None;
        for (start, replaced) in (0..).step_by(TOGETHER).zip(replaced.chunks_mut(TOGETHER)) {
            // The caller's iterator runs before anything is inserted.
            let together: Vec<(Q, T)> = entries.by_ref().take(replaced.len()).collect();
            let mut old = [None; TOGETHER];
            let old = &mut old[..replaced.len()];
            if let Err(Incomplete { error, refused }) = self.insert_together(together, old, pin) {
                let refused = refused.into_iter().map(|at| start + at);
                incomplete
                    .get_or_insert_with(|| Incomplete { error, refused: Vec::new() })
                    .refused
                    .extend(refused);
            }
            for (replaced, old) in replaced.iter_mut().zip(old) {
                *replaced = old.map(&show);
            }
        }
        incomplete.map_or(Ok(()), Err)
    }

    /// Inserts at most [`TOGETHER`] entries, as `insert_each`.
    fn insert_together<'p, Q>(
        &'p self,
        entries: Vec<(Q, T)>,
        replaced: &mut [Option<&'p T>],
        pin: &'p Pinned,
    ) -> Result<(), Incomplete>
    where
        I: KeyForm<Q>,
    {
        // The entries that the slots accepted, and their positions in the batch.
        let (mut handles, mut places) = (Vec::with_capacity(TOGETHER), [0; TOGETHER]);
        let (mut first_error, mut refused) = (None, Vec::new());
        for (at, (key, value)) in entries.into_iter().enumerate() {
            match self.put(value) {
                Ok(handle) => {
                    places[handles.len()] = at;
                    handles.push((key, handle));
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                    refused.push(at);
                }
            }
        }
        let mut old = [None; TOGETHER];
        let old = &mut old[..handles.len()];
        if let Err(incomplete) = self.index.put_many(&handles, old) {
            first_error.get_or_insert(incomplete.error);
            for at in incomplete.refused {
                self.discard(handles[at].1, pin);
                refused.push(places[at]);
            }
            refused.sort_unstable();
        }
        for (&place, old) in places.iter().zip(old) {
            replaced[place] = old.and_then(|old| self.retire(old, pin));
        }
        first_error.map_or(Ok(()), |error| Err(Incomplete { error, refused }))
    }

    /// Removes many keys; each answer is what `show` returns for the value.
    pub(super) fn remove_each<'p, Q, R>(
        &'p self,
        keys: &[Q],
        removed: &mut [Option<R>],
        pin: &'p Pinned,
        show: impl Fn(&'p T) -> R,
    ) -> Result<()>
    where
        I: KeyForm<Q>,
    {
        check_side_by_side(keys.len(), removed.len())?;
        let mut handles: [Option<SlotId>; TOGETHER] = [None; TOGETHER];
        for (keys, removed) in keys.chunks(TOGETHER).zip(removed.chunks_mut(TOGETHER)) {
            let handles = &mut handles[..keys.len()];
            self.index.take_out_many(keys, handles)?;
            for (removed, handle) in removed.iter_mut().zip(handles) {
                *removed = handle.and_then(|handle| self.retire(handle, pin)).map(&show);
            }
        }
        Ok(())
    }
}

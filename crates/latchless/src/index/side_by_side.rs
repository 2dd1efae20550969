//! Parallel batches of edits: sorted, cut where no leaf is shared, and applied in parallel (the
//! bulk-synchronous way of PI §4).

use crate::tree::{BlinkTree, Edit, Edited, Group, Shared};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::batch::{Order, cut};
use rayon::prelude::*;

/// Applies `len` edits on rayon's threads, and calls `done` with each result, in no particular order. Edits
/// of one key keep their order. It isn't always faster than [`BlinkTree::edit_each`], and the caller has to
/// decide: sorting costs, and small parts don't keep threads busy.
///
/// ```
/// use latchless::index::edit_side_by_side;
/// use latchless::tree::{BlinkOptions, BlinkTree, Edit, Group, Shared};
/// let tree = BlinkTree::<u64>::new(BlinkOptions::default())?;
/// let mut before = vec![None; 1000];
/// edit_side_by_side(&tree, 1000, Group::Auto, |at| at as u64 / 2, |at| Edit::Put(at as u64), |at, edited| {
///     before[at] = edited.expect("memory for a thousand entries").before;
/// });
/// assert_eq!(before[6..8], [None, Some(6)]);
/// assert_eq!((tree.len(), tree.get::<Shared>(3)), (500, Some(7)));
/// # Ok::<(), latchless::Error>(())
/// ```
pub fn edit_side_by_side<B: Bits>(
    tree: &BlinkTree<B>,
    len: usize,
    group: Group,
    key_at: impl Fn(usize) -> B + Sync,
    edit_at: impl Fn(usize) -> Edit<B> + Sync,
    mut done: impl FnMut(usize, Result<Edited<B>>),
) {
    // Positions are four bytes wide: longer batches are processed in pieces.
    const PIECE: usize = u32::MAX as usize;
    for start in (0..len).step_by(PIECE) {
        let piece = start..len.min(start + PIECE);
        let mut order: Order<B> = piece.into_par_iter().map(|at| (key_at(at), (at - start) as u32)).collect();
        order.par_sort_unstable();
        let parts = cut(&order, rayon::current_num_threads(), |key| tree.leaf_end::<Shared>(key));
        let outcomes: Vec<Vec<Result<Edited<B>>>> = parts
            .par_iter()
            .map(|part| {
                let mut outcomes = Vec::with_capacity(part.len());
                let request = |at: usize| (part[at].0, edit_at(start + part[at].1 as usize));
                tree.edit_each::<Shared>(part.len(), group, request, |_, edited| outcomes.push(edited));
                outcomes
            })
            .collect();
        for (&(_, at), edited) in parts.iter().copied().flatten().zip(outcomes.into_iter().flatten()) {
            done(start + at as usize, edited);
        }
    }
}

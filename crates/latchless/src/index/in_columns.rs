//! Answers of batches in columns, for engines whose batches have the answers in pairs.

use core::iter::zip;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index::check_side_by_side;

/// Checks that columns of answers are as long as that of the keys.
pub fn check_columns<const N: usize>(keys: usize, columns: [usize; N]) -> Result<()> {
    columns.into_iter().try_for_each(|places| check_side_by_side(keys, places))
}

/// The number of answers that are distributed to columns together.
const TOGETHER: usize = 64;

/// Serves keys in pieces, and distributes the answers: whether there is one, and by `put` the answer.
pub fn fill<P, A>(
    keys: &[P],
    found: &mut [bool],
    serve: impl Fn(&[P], &mut [Option<A>]) -> Result<()>,
    mut put: impl FnMut(usize, A),
) -> Result<usize> {
    let (mut answers, mut hits) = ([const { None }; TOGETHER], 0);
    for (start, keys) in zip((0..).step_by(TOGETHER), keys.chunks(TOGETHER)) {
        serve(keys, &mut answers[..keys.len()])?;
        for (at, answer) in zip(start.., &mut answers[..keys.len()]) {
            let answer = answer.take();
            found[at] = answer.is_some();
            if let Some(answer) = answer {
                put(at, answer);
                hits += 1;
            }
        }
    }
    Ok(hits)
}

/// Makes room in a column, if there is memory.
#[inline(always)]
pub fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    let requested_bytes = (column.len() + more).saturating_mul(size_of::<T>());
    column.try_reserve(more).map_err(|_| Error::OutOfMemory { requested_bytes })
}

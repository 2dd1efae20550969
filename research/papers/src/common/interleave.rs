//! Request multiplexing (Vu 2023, §3.1), for any structure that implements a walk.
//!
//! A batch is served in two phases. In the first, all its requests walk down together: each takes a step,
//! prefetches the memory of the next one, and yields to the others while that is loaded. In the second,
//! each request is served, in the batch's order, at the end of its walk; by then the memory that it reads
//! is in a cache. The first phase changes nothing, and the second doesn't rely on its results, so the
//! answers are those of one request after the other.
//!
//! # Proposals of the paper
//! The paper's rounds visit all requests until the last one is done, and its second phase descends from
//! the root once more ([`Rounds::Naive`]). Ours visit unfinished requests only, and the second phase
//! starts where the first one ended ([`Rounds::Unfinished`]). The number of requests that walk together is
//! tuned on the caller's own batches ([`BatchSize::Auto`]).

use crate::common::walk::{Aim, Rounds, Walk, Walks, WalksOf};
use crate::error::{Error, Result};
use latchless_core::tuner::Tuner;

/// The number of requests that walk together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BatchSize {
    /// The fastest number, found by trials on large batches: see [`Tuner`].
    #[default]
    Auto,
    /// A fixed number, from 1 to [`BatchSize::MAX`].
    Of(usize),
}

/// Finds the fastest of [`BatchSize::CANDIDATES`].
pub type SizeTuner = Tuner<{ BatchSize::CANDIDATES.len() }>;

impl BatchSize {
    /// The most.
    pub const MAX: usize = Walks::<u64, (), ()>::MAX;
    /// The numbers that are tried.
    pub const CANDIDATES: [usize; 5] = [8, 16, 32, 64, 128];

    /// Creates a fixed batch size.
    ///
    /// # Errors
    /// [`Error::BatchSize`] for none, and for more than [`BatchSize::MAX`].
    pub fn of(size: usize) -> Result<Self> {
        Self::Of(size).checked()
    }

    /// Returns the same size if it is valid.
    ///
    /// # Errors
    /// Those of [`BatchSize::of`].
    pub fn checked(self) -> Result<Self> {
        match self {
            Self::Of(given) if !(1..=Self::MAX).contains(&given) => {
                Err(Error::BatchSize { given, most: Self::MAX })
            }
            size => Ok(size),
        }
    }

    /// The size that the caller wants.
    fn wanted(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Of(size) => Some(size.clamp(1, Self::MAX)),
        }
    }
}

/// The parameters of interleaved batches.
#[derive(Debug, Clone, Copy)]
pub struct Interleaving<'a> {
    /// The number of requests that walk together.
    pub size: BatchSize,
    /// See [`Rounds`].
    pub rounds: Rounds,
    /// The state of the tuning of batch sizes.
    pub tuner: &'a SizeTuner,
    /// Levels of the index: when they change, sizes are tried again.
    pub levels: usize,
}

/// Serves `len` requests in batches, in their order: `serve` gets the number of each and, unless rounds
/// are naive, the end of its walk, if it has one. A batch of one has nothing to overlap with and isn't
/// walked.
///
/// ```
/// use latchless_core::mem::touch::NoTrace;
/// use latchless_core::tuner::Tuner;
/// use latchless_papers::common::interleave::{BatchSize, Interleaving, interleave};
/// use latchless_papers::spiderman::tree::{OlcOptions, OlcTree, PageWalk};
/// use latchless_papers::common::walk::{Aim, Rounds};
/// use latchless_papers::spiderman::Prefetch;
///
/// let options = OlcOptions { page_bytes: 4096, limit_bytes: None, huge_pages: true, references: u32::MAX };
/// let tree = OlcTree::<NoTrace>::new(options)?;
/// let walk = PageWalk::new(&tree, Prefetch::BEST, true);
/// let (tuner, keys) = (Tuner::new(BatchSize::CANDIDATES), [7u64, 3, 7, 9]);
/// let interleaving =
///     Interleaving { size: BatchSize::of(2)?, rounds: Rounds::Unfinished, tuner: &tuner, levels: 1 };
/// let mut before = Vec::new();
/// interleave(&walk, interleaving, 4, |at| (keys[at], Aim::Change), |at, anchor| {
///     let value = at as u64;
///     before.push(match anchor {
///         Some(leaf) => tree.put_from(leaf, keys[at], value),
///         None => tree.put(keys[at], value),
///     });
/// });
/// assert_eq!(before, [Ok(None), Ok(None), Ok(Some(0)), Ok(None)]);
/// # Ok::<(), latchless_papers::Error>(())
/// ```
#[inline(always)]
pub fn interleave<W: Walk>(
    walk: &W,
    Interleaving { size, rounds, tuner, levels }: Interleaving<'_>,
    len: usize,
    request_at: impl Fn(usize) -> (W::Key, Aim),
    mut serve: impl FnMut(usize, Option<W::Anchor>),
) {
    let mut walks = WalksOf::<W>::default();
    for (start, batch) in tuner.groups(len, size.wanted(), levels) {
        if batch == 1 && rounds == Rounds::Unfinished {
            serve(start, None);
            continue;
        }
        let anchors = walks.lead(walk, rounds, batch, |at| request_at(start + at));
        for (at, &anchor) in anchors.iter().enumerate() {
            serve(start + at, if rounds == Rounds::Naive { None } else { anchor });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::walk::Step;
    use std::sync::Mutex;

    fn led(walk: &Steps, rounds: Rounds, keys: &[u64]) -> Vec<Option<u64>> {
        let mut walks = WalksOf::<Steps>::default();
        walks.lead(walk, rounds, keys.len(), |at| (keys[at], Aim::Look)).to_vec()
    }

    /// Walks whose number of steps is their key, which record the order of the steps. The walk to 13 never
    /// ends.
    struct Steps(Mutex<Vec<u64>>);

    impl Walk for Steps {
        type Key = u64;
        type Place = u64;
        type Anchor = u64;

        fn enter(&self, _: u64, _: Aim) -> u64 {
            0
        }

        fn step(&self, taken: &mut u64, key: u64) -> Step<u64> {
            self.0.lock().unwrap().push(key);
            *taken += 1;
            if *taken < key { Step::On } else { Step::Landed((key != 13).then_some(100 + key)) }
        }
    }

    fn walk() -> Steps {
        Steps(Mutex::default())
    }

    #[test]
    fn rounds_go_over_those_that_are_on_their_way() {
        let walk = walk();
        for rounds in [Rounds::Unfinished, Rounds::Naive] {
            assert_eq!(led(&walk, rounds, &[2, 1, 3, 13]), [Some(102), Some(101), Some(103), None]);
            let taken = std::mem::take(&mut *walk.0.lock().unwrap());
            assert_eq!(taken[..9], [2, 1, 3, 13, 2, 3, 13, 3, 13], "{rounds:?}: no step too many or too few");
            assert_eq!(taken.len(), 19);
        }
        assert_eq!(led(&walk, Rounds::Naive, &[]), []);
    }

    #[test]
    fn batches_are_served_in_order_and_told_where_walks_came_out() {
        let (walk, tuner) = (walk(), Tuner::new(BatchSize::CANDIDATES));
        // One more than a multiple of three.
        let last = if cfg!(miri) { 16 } else { 40 };
        let keys: Vec<u64> = (1..=last).collect();
        for size in [BatchSize::Auto, BatchSize::Of(1), BatchSize::Of(3), BatchSize::Of(40)] {
            for rounds in [Rounds::Unfinished, Rounds::Naive] {
                let mut served = Vec::new();
                let how = Interleaving { size, rounds, tuner: &tuner, levels: 2 };
                interleave(
                    &walk,
                    how,
                    keys.len(),
                    |at| (keys[at], Aim::Look),
                    |at, anchor| {
                        let told = rounds == Rounds::Unfinished && size != BatchSize::Of(1) && keys[at] != 13;
                        // The last batch of three is one.
                        let told = told && !(size == BatchSize::Of(3) && at == keys.len() - 1);
                        assert_eq!(anchor, told.then_some(100 + keys[at]), "{size:?}, {rounds:?}");
                        served.push(at);
                    },
                );
                assert!(served.into_iter().eq(0..keys.len()));
            }
        }
    }

    #[test]
    fn sizes_that_there_are_not_are_refused() {
        assert_eq!(BatchSize::of(1024), Ok(BatchSize::Of(1024)));
        for given in [0, 1025, usize::MAX] {
            assert_eq!(BatchSize::of(given), Err(Error::BatchSize { given, most: 1024 }));
        }
        assert_eq!(BatchSize::Auto.checked(), Ok(BatchSize::Auto));
    }
}

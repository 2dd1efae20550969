//! Finding out how many requests of a batch descend together.
//!
//! What is best depends on the machine's memory and on how much of the tree its caches hold, so it is
//! tried: pieces of the caller's own batches run with different group sizes, their times are added up,
//! and the fastest size is used until the tree has grown a level or a long time has passed. Sizes near
//! each other differ by little, so a few candidates are enough. (How long a *batch* should be is found out by
//! `BatchTuner` of the papers, whose head says why that is another matter.)

use crate::sync::Word;
use std::time::Instant;

/// How often each of them is tried.
const ROUNDS: u64 = 4;
/// Requests of one trial: enough for the clock's own cost not to count.
const TRIAL: usize = 1024;
/// Requests after which sizes are tried again.
const REQUESTS_BETWEEN: u64 = 1 << 26;

/// What was found out so far about `N` sizes. Threads may overwrite each other's findings, which costs a
/// trial.
#[derive(Debug)]
pub struct Tuner<const N: usize = 4> {
    /// The sizes that are tried, ascending. The lower one of the middle serves until one is settled.
    candidates: [usize; N],
    /// Trials made since the last start.
    trials: Word,
    /// Requests served since the sizes were settled.
    served: Word,
    /// Levels of the tree when the trials began.
    levels: Word,
    /// Nanoseconds that each candidate has taken.
    nanoseconds: [Word; N],
    /// The size that did best.
    settled: Word,
}

impl<const N: usize> Tuner<N> {
    /// Nothing is known yet.
    pub const fn new(candidates: [usize; N]) -> Self {
        Self {
            candidates,
            trials: Word::new(0),
            served: Word::new(0),
            levels: Word::new(0),
            nanoseconds: [const { Word::new(0) }; N],
            settled: Word::new(0),
        }
    }

    /// The size that serves when it isn't tried out: the one that was settled, if one was.
    #[inline(always)]
    fn usual(&self) -> usize {
        let settled = self.settled.load_relaxed() as usize;
        if settled == 0 { self.candidates[(N - 1) / 2] } else { settled }
    }

    /// Serves `len` requests piece by piece: `serve` is told where a piece starts and ends and how
    /// many of its requests go together. `size`: how many, where the caller says so. `levels`: of the tree.
    #[inline(always)]
    pub fn run(
        &self,
        len: usize,
        size: Option<usize>,
        levels: usize,
        mut serve: impl FnMut(usize, usize, usize),
    ) {
        match size {
            Some(size) => serve(0, len, size),
            None if len < TRIAL => serve(0, len, self.usual()),
            None => {
                self.start_over(levels, len);
                let mut start = 0;
                while len - start >= TRIAL && self.trials.load_relaxed() < ROUNDS * N as u64 {
                    self.try_out(|size| serve(start, start + TRIAL, size));
                    start += TRIAL;
                }
                serve(start, len, self.usual());
            }
        }
    }

    /// Starts the trials again if what they found is out of date.
    fn start_over(&self, levels: usize, len: usize) {
        self.served.store_relaxed(self.served.load_relaxed() + len as u64);
        if self.levels.load_relaxed() != levels as u64 || self.served.load_relaxed() > REQUESTS_BETWEEN {
            self.nanoseconds.iter().for_each(|sum| sum.store_relaxed(0));
            self.served.store_relaxed(0);
            self.levels.store_relaxed(levels as u64);
            self.trials.store_relaxed(0);
        }
    }

    #[cold]
    fn try_out(&self, serve: impl FnOnce(usize)) {
        let trial = self.trials.load_relaxed();
        let candidate = trial as usize % N;
        let start = Instant::now();
        serve(self.candidates[candidate]);
        let sum = &self.nanoseconds[candidate];
        sum.store_relaxed(sum.load_relaxed() + start.elapsed().as_nanos() as u64);
        self.trials.store_relaxed(trial + 1);
        if trial + 1 == ROUNDS * N as u64 {
            let best = (0..N).min_by_key(|&at| self.nanoseconds[at].load_relaxed());
            self.settled.store_relaxed(best.map_or(self.usual(), |at| self.candidates[at]) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_batch_and_a_size_is_settled() {
        const SIZES: [usize; 4] = [16, 32, 64, 128];
        let tuner = Tuner::new(SIZES);
        for len in [0, 1, TRIAL - 1, TRIAL, 5 * TRIAL + 7, 40 * TRIAL] {
            let mut next = 0;
            tuner.run(len, None, 3, |start, end, size| {
                assert!(SIZES.contains(&size) && start == next && start <= end);
                next = end;
            });
            assert_eq!(next, len);
        }
        assert!(SIZES.contains(&(tuner.settled.load_relaxed() as usize)));
        // Another level, another start; the rest of the batch is empty.
        tuner.run(TRIAL, None, 4, |start, end, size| assert!(start == end || size == SIZES[0]));
        tuner.run(9, Some(100), 4, |_, end, size| assert_eq!((end, size), (9, 100)));
    }
}

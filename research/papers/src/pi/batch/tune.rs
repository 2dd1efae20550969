//! Tuning the size of batches (the paper's future work, §6.2).
//!
//! Larger batches share more of their descents and cost less redistribution; but a batch's memory should
//! stay in the caches between lookup and execution. The optimum depends on the machine and on the index's
//! size, so it is measured, on the caller's own queries.
//!
//! [`walk::Tuner`](latchless_core::tuner::Tuner) tunes another quantity in another way: how many descents
//! of one thread take turns, in trials of a thousand requests that many callers make at once, through
//! `&self` and in a few words. Here a batch is the trial, larger ones have hundreds of thousands of
//! queries, a trial continues from call to call, and one owner has the state.

use std::time::Instant;

/// The sizes that are tried, in queries a thread: the paper's (Table 2), and some to either side.
pub const BATCH_SIZES: [usize; 8] = [1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17];
/// The number of trials of each size; the best time counts, because disturbances only ever add time.
const ROUNDS: usize = 3;
/// Queries of one trial, at least: as many of small batches as of large ones. Otherwise the luckiest of a few
/// small ones would win.
const TRIAL_QUERIES: usize = BATCH_SIZES[BATCH_SIZES.len() - 1];
/// Queries after which sizes are tried again.
const QUERIES_BETWEEN: usize = 1 << 28;

/// The number of queries per batch, for each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuerySetSize {
    /// A fixed number. The paper's default is 8192.
    Queries(usize),
    /// The fastest number.
    Auto,
}

/// The state of the tuning.
#[derive(Debug, Clone)]
pub struct BatchTuner {
    /// The least nanoseconds a query that each size has taken.
    best: [f64; BATCH_SIZES.len()],
    /// Trials that are done.
    trials: usize,
    /// Queries of the current trial, and the nanoseconds that they took.
    trial: (usize, f64),
    served: usize,
    /// The magnitude of the index at the time.
    magnitude: u32,
}

impl Default for BatchTuner {
    fn default() -> Self {
        Self { best: [f64::INFINITY; BATCH_SIZES.len()], trials: 0, trial: (0, 0.0), served: 0, magnitude: 0 }
    }
}

impl BatchTuner {
    /// Divides `len` queries into batches that are served one after the other: `serve` gets the start and
    /// the end of each. `keys` is the size of the index: other sizes may need other batches.
    pub fn run(
        &mut self,
        size: QuerySetSize,
        (len, threads, keys): (usize, usize, usize),
        mut serve: impl FnMut(usize, usize),
    ) {
        let mut start = 0;
        self.start_over(keys, len);
        while start < len {
            let trial = match size {
                QuerySetSize::Queries(_) => None,
                QuerySetSize::Auto => self.next_trial(len - start, threads),
            };
            let queries = match (size, trial) {
                (QuerySetSize::Queries(queries), _) => queries.max(1),
                (_, Some(trial)) => BATCH_SIZES[trial],
                _ => self.settled(),
            };
            // Queries of a batch have numbers of four bytes.
            let batch = queries.saturating_mul(threads).min(u32::MAX as usize);
            let end = len.min(start.saturating_add(batch));
            let begun = trial.map(|_| Instant::now());
            serve(start, end);
            if let (Some(trial), Some(begun)) = (trial, begun) {
                self.takes_note(trial, end - start, begun.elapsed().as_nanos() as f64);
            }
            start = end;
        }
    }

    /// A batch of a trial was served.
    fn takes_note(&mut self, trial: usize, queries: usize, nanoseconds: f64) {
        self.trial = (self.trial.0 + queries, self.trial.1 + nanoseconds);
        let (queries, nanoseconds) = self.trial;
        if queries >= TRIAL_QUERIES {
            self.best[trial] = self.best[trial].min(nanoseconds / queries as f64);
            (self.trials, self.trial) = (self.trials + 1, (0, 0.0));
        }
    }

    /// Returns the fastest size known so far.
    pub fn settled(&self) -> usize {
        let sizes = BATCH_SIZES.iter().zip(&self.best).filter(|(_, time)| time.is_finite());
        sizes.min_by(|a, b| a.1.total_cmp(b.1)).map_or(8192, |(&size, _)| size)
    }

    /// Returns the next size to try, if one is untried and there are queries for it.
    fn next_trial(&self, left: usize, threads: usize) -> Option<usize> {
        let trial = (self.trials < ROUNDS * BATCH_SIZES.len()).then_some(self.trials % BATCH_SIZES.len());
        trial.filter(|&trial| BATCH_SIZES[trial].saturating_mul(threads) <= left)
    }

    fn start_over(&mut self, keys: usize, len: usize) {
        let magnitude = keys.max(1).ilog2() / 2;
        self.served = self.served.saturating_add(len);
        if self.magnitude != magnitude || self.served > QUERIES_BETWEEN {
            *self = Self { magnitude, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_the_queries_and_a_size_is_settled() {
        for (size, threads) in [
            (QuerySetSize::Auto, 1),
            (QuerySetSize::Auto, 2),
            (QuerySetSize::Queries(1000), 3),
            (QuerySetSize::Queries(0), 1),
        ] {
            let mut tuner = BatchTuner::default();
            for len in [0, 1, 999, 5_000_000 / if cfg!(miri) { 1000 } else { 1 }] {
                let len = if size == QuerySetSize::Queries(0) { len.min(50) } else { len };
                let mut next = 0;
                tuner.run(size, (len, threads, 1000), |start, end| {
                    assert!(start == next && start < end && end <= len);
                    next = end;
                });
                assert_eq!(next, len);
            }
            assert!(BATCH_SIZES.contains(&tuner.settled()));
        }
    }

    #[test]
    fn the_best_size_wins_until_the_index_has_another() {
        let mut tuner = BatchTuner {
            magnitude: 1000usize.ilog2() / 2,
            trials: ROUNDS * BATCH_SIZES.len(),
            best: [9.0, 8.0, 7.0, 6.0, 5.0, 6.0, 7.0, 8.0],
            ..BatchTuner::default()
        };
        assert_eq!(tuner.settled(), BATCH_SIZES[4]);
        let mut sizes = Vec::new();
        tuner.run(QuerySetSize::Auto, (40_000, 1, 1000), |start, end| sizes.push(end - start));
        assert_eq!(sizes, [16_384, 16_384, 7_232]);
        tuner.run(QuerySetSize::Auto, (0, 1, 1_000_000), |_, _| ());
        assert_eq!((tuner.trials, tuner.settled()), (0, 8192));
    }

    #[test]
    fn every_size_is_tried_with_as_many_queries() {
        let mut tuner = BatchTuner::default();
        for _ in 0..TRIAL_QUERIES / BATCH_SIZES[0] - 1 {
            tuner.takes_note(0, BATCH_SIZES[0], 500.0);
        }
        assert_eq!(tuner.trials, 0, "the first trial goes on from call to call");
        tuner.takes_note(0, BATCH_SIZES[0], 500.0);
        assert_eq!((tuner.trials, tuner.settled()), (1, BATCH_SIZES[0]));
        tuner.takes_note(7, TRIAL_QUERIES, 400.0);
        assert_eq!((tuner.trials, tuner.settled()), (2, BATCH_SIZES[7]));
    }
}

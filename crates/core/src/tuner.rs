//! Tuning of the group size: the number of requests of a batch that descend together.
//!
//! The best size depends on the machine's memory and on how much of the tree its caches hold, so it is
//! measured: pieces of the caller's own batches run with different group sizes. The size of the fastest
//! piece is then used until the tree has grown a level or many requests have been served. The fastest piece
//! counts, not the average: other work on the machine only makes a piece slower, and one interrupt takes as
//! long as a piece. Sizes near each other differ by little, so a few candidates are enough. (The length of a
//! *batch* is a different question, see `BatchTuner` in the papers' crate.)

use crate::sync::Word;
use core::ops::Range;
use std::time::Instant;

/// Trials per candidate.
const ROUNDS: u64 = 8;
/// Requests per trial: enough for the clock's own cost not to count.
const TRIAL: usize = 1024;
/// Requests after which the trials are repeated.
const REQUESTS_BETWEEN: u64 = 1 << 26;

/// The results so far for `N` sizes. Threads may overwrite each other's results, which costs a trial.
#[derive(Debug)]
pub struct Tuner<const N: usize = 4> {
    /// The candidates, ascending. The upper middle one is used until a size is settled.
    candidates: [usize; N],
    /// Trials since the last start.
    trials: Word,
    /// Requests since a size was settled.
    served: Word,
    /// Levels of the tree when the trials began.
    levels: Word,
    /// The fastest trial of each candidate, in nanoseconds.
    nanoseconds: [Word; N],
    /// The best size.
    settled: Word,
}

impl<const N: usize> Tuner<N> {
    /// Creates a tuner without results.
    pub const fn new(candidates: [usize; N]) -> Self {
        Self {
            candidates,
            trials: Word::new(0),
            served: Word::new(0),
            levels: Word::new(0),
            nanoseconds: [const { Word::new(u64::MAX) }; N],
            settled: Word::new(0),
        }
    }

    /// Returns whether batches of this length are measured. Shorter ones change nothing.
    #[inline(always)]
    pub const fn measures(len: usize) -> bool {
        len >= TRIAL
    }

    /// Returns the size to use outside of trials: the settled one, if there is one.
    #[inline(always)]
    fn usual(&self) -> usize {
        let settled = self.settled.load_relaxed() as usize;
        if settled == 0 { self.candidates[N / 2] } else { settled }
    }

    /// Splits a batch of `len` requests into groups, each with its first request and its length. `size` is
    /// the group size, if the caller sets one; `levels` are those of the tree.
    #[inline(always)]
    pub fn groups(&self, len: usize, size: Option<usize>, levels: usize) -> Groups<'_, N> {
        let piece = Piece { requests: 0..0, size: 1 };
        Groups { pieces: self.pieces(len, size, levels), piece }
    }

    #[inline(always)]
    fn pieces(&self, len: usize, size: Option<usize>, levels: usize) -> Pieces<'_, N> {
        if size.is_none() && Self::measures(len) {
            self.start_over(levels, len);
        }
        Pieces { tuner: self, start: 0, len, size, trial: None }
    }

    /// Restarts the trials if their results are out of date.
    fn start_over(&self, levels: usize, len: usize) {
        self.served.store_relaxed(self.served.load_relaxed() + len as u64);
        if self.levels.load_relaxed() != levels as u64 || self.served.load_relaxed() > REQUESTS_BETWEEN {
            self.nanoseconds.iter().for_each(|least| least.store_relaxed(u64::MAX));
            self.served.store_relaxed(0);
            self.levels.store_relaxed(levels as u64);
            self.trials.store_relaxed(0);
        }
    }

    /// Begins a trial, if trials are under way. Returns its number and its start.
    #[inline(always)]
    fn trial(&self) -> Option<(u64, Instant)> {
        let trial = self.trials.load_relaxed();
        (trial < ROUNDS * N as u64).then(|| (trial, Instant::now()))
    }

    /// Records the time of a trial.
    #[cold]
    #[inline(never)]
    fn note(&self, (trial, start): (u64, Instant)) {
        let least = &self.nanoseconds[trial as usize % N];
        least.store_relaxed(least.load_relaxed().min(start.elapsed().as_nanos() as u64));
        self.trials.store_relaxed(trial + 1);
        if trial + 1 == ROUNDS * N as u64 {
            let best = (0..N).min_by_key(|&at| self.nanoseconds[at].load_relaxed());
            self.settled.store_relaxed(best.map_or(self.usual(), |at| self.candidates[at]) as u64);
        }
    }
}

/// The groups of a batch. (An iterator instead of a function that takes a closure: a closure with two call
/// sites isn't inlined, so it is compiled without the instructions of its caller's kernel.)
#[derive(Debug)]
pub struct Groups<'a, const N: usize> {
    pieces: Pieces<'a, N>,
    piece: Piece,
}

impl<const N: usize> Iterator for Groups<'_, N> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.piece.requests.is_empty() {
            self.piece = self.pieces.next()?;
        }
        let requests = &mut self.piece.requests;
        let (start, len) = (requests.start, self.piece.size.min(requests.len()));
        requests.start += len;
        Some((start, len))
    }
}

/// A run of a batch's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// The positions of the requests.
    requests: Range<usize>,
    /// The group size.
    size: usize,
}

/// The pieces of a batch. The time from one piece to the next measures the piece's size.
#[derive(Debug)]
struct Pieces<'a, const N: usize> {
    tuner: &'a Tuner<N>,
    start: usize,
    len: usize,
    size: Option<usize>,
    /// The trial that is under way.
    trial: Option<(u64, Instant)>,
}

impl<const N: usize> Iterator for Pieces<'_, N> {
    type Item = Piece;

    #[inline(always)]
    fn next(&mut self) -> Option<Piece> {
        if let Some(trial) = self.trial.take() {
            self.tuner.note(trial);
        }
        let (start, left) = (self.start, self.len - self.start);
        if left == 0 {
            return None;
        }
        if self.size.is_none() && Tuner::<N>::measures(left) {
            self.trial = self.tuner.trial();
        }
        let end = if self.trial.is_some() { start + TRIAL } else { self.len };
        let tried = self.trial.map(|(trial, _)| self.tuner.candidates[trial as usize % N]);
        let size = self.size.or(tried).unwrap_or_else(|| self.tuner.usual());
        self.start = end;
        Some(Piece { requests: start..end, size })
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
            for Piece { requests, size } in tuner.pieces(len, None, 3) {
                assert!(SIZES.contains(&size) && requests.start == next && !requests.is_empty());
                next = requests.end;
            }
            assert_eq!(next, len);
        }
        assert!(SIZES.contains(&(tuner.settled.load_relaxed() as usize)));
        // Another level restarts the trials.
        let pieces: Vec<_> = tuner.pieces(TRIAL, None, 4).collect();
        assert_eq!(pieces, [Piece { requests: 0..TRIAL, size: SIZES[0] }]);
        let pieces: Vec<_> = tuner.pieces(9, Some(100), 4).collect();
        assert_eq!(pieces, [Piece { requests: 0..9, size: 100 }]);
        let groups: Vec<_> = tuner.groups(9, Some(4), 4).collect();
        assert_eq!(groups, [(0, 4), (4, 4), (8, 1)]);
        assert_eq!(tuner.groups(0, None, 4).count(), 0);
    }

    #[test]
    fn the_fastest_size_is_settled() {
        let tuner = Tuner::new([16, 32, 64, 128]);
        assert_eq!(tuner.usual(), 64);
        for (at, Piece { size, .. }) in tuner.pieces(40 * TRIAL, None, 3).enumerate() {
            // The machine does something else in all trials of this size but one.
            let late = if at == 5 { 0 } else { 40 };
            std::thread::sleep(std::time::Duration::from_millis(if size == 32 { late } else { 10 }));
        }
        assert_eq!(tuner.usual(), 32);
    }
}

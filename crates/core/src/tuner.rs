//! Finding out how many requests of a batch descend together.
//!
//! What is best depends on the machine's memory and on how much of the tree its caches hold, so it is tried:
//! pieces of the caller's own batches run with different group sizes, and the size of the fastest piece is
//! used until the tree has grown a level or a long time has passed. The fastest: what else the machine does
//! makes a piece slower, never faster, and one interrupt takes as long as a piece. Sizes near each other
//! differ by little, so a few candidates are enough. (How long a *batch* should be is found out by
//! `BatchTuner` of the papers, whose head says why that is another matter.)

use crate::sync::Word;
use core::ops::Range;
use std::time::Instant;

/// How often each of them is tried.
const ROUNDS: u64 = 8;
/// Requests of one trial: enough for the clock's own cost not to count.
const TRIAL: usize = 1024;
/// Requests after which sizes are tried again.
const REQUESTS_BETWEEN: u64 = 1 << 26;

/// What was found out so far about `N` sizes. Threads may overwrite each other's findings, which costs a
/// trial.
#[derive(Debug)]
pub struct Tuner<const N: usize = 4> {
    /// The sizes that are tried, ascending. The upper one of the middle serves until one is settled.
    candidates: [usize; N],
    /// Trials made since the last start.
    trials: Word,
    /// Requests served since the sizes were settled.
    served: Word,
    /// Levels of the tree when the trials began.
    levels: Word,
    /// Nanoseconds that the fastest trial of each candidate has taken.
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
            nanoseconds: [const { Word::new(u64::MAX) }; N],
            settled: Word::new(0),
        }
    }

    /// The size that serves when it isn't tried out: the one that was settled, if one was.
    #[inline(always)]
    fn usual(&self) -> usize {
        let settled = self.settled.load_relaxed() as usize;
        if settled == 0 { self.candidates[N / 2] } else { settled }
    }

    /// The groups of a batch of `len` requests, one after the other: where each begins, and how many requests
    /// it has. `size`: how many go together, where the caller says so. `levels`: of the tree.
    #[inline(always)]
    pub fn groups(&self, len: usize, size: Option<usize>, levels: usize) -> Groups<'_, N> {
        let piece = Piece { requests: 0..0, size: 1 };
        Groups { pieces: self.pieces(len, size, levels), piece }
    }

    #[inline(always)]
    fn pieces(&self, len: usize, size: Option<usize>, levels: usize) -> Pieces<'_, N> {
        if size.is_none() && len >= TRIAL {
            self.start_over(levels, len);
        }
        Pieces { tuner: self, start: 0, len, size, trial: None }
    }

    /// Starts the trials again if what they found is out of date.
    fn start_over(&self, levels: usize, len: usize) {
        self.served.store_relaxed(self.served.load_relaxed() + len as u64);
        if self.levels.load_relaxed() != levels as u64 || self.served.load_relaxed() > REQUESTS_BETWEEN {
            self.nanoseconds.iter().for_each(|least| least.store_relaxed(u64::MAX));
            self.served.store_relaxed(0);
            self.levels.store_relaxed(levels as u64);
            self.trials.store_relaxed(0);
        }
    }

    /// Begins a trial, if sizes are still being tried: which trial it is, and when it began.
    #[inline(always)]
    fn trial(&self) -> Option<(u64, Instant)> {
        let trial = self.trials.load_relaxed();
        (trial < ROUNDS * N as u64).then(|| (trial, Instant::now()))
    }

    /// Notes what a trial has taken.
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

/// The groups of a batch. (An iterator, not a function that takes a closure: a closure that is called in two
/// places isn't inlined, and so is compiled without the instructions of its caller's kernel.)
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

/// Some of a batch's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// Which requests they are.
    requests: Range<usize>,
    /// How many of them go together.
    size: usize,
}

/// The pieces of a batch. The time from one piece to the next tells how fast its size is.
#[derive(Debug)]
struct Pieces<'a, const N: usize> {
    tuner: &'a Tuner<N>,
    start: usize,
    len: usize,
    size: Option<usize>,
    /// The trial that is going on.
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
        if self.size.is_none() && left >= TRIAL {
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
        // Another level, another start.
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

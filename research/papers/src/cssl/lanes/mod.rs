//! The fast lanes and the proxy lane of a Cache-Sensitive Skip List (CSSL §3): a perfectly balanced skip list
//! over some entries, in two dense arrays.
//!
//! Lane 1 has the key of every `skip`-th entry (the paper's 1/p), lane i+1 every `skip`-th key of lane i.
//! All lanes are in ONE array, the highest first, each starting at a cache line; the place of a key's part
//! of the next lane is computed, so there are no pointers. The proxy lane is an array of structs, one for
//! each key of lane 1: the keys of `skip` entries, and their references in the data list.
//!
//! Beyond the paper: a small table predicts the position of a key in lane 1 ([`LaneOptions::guess`]), and
//! if entries' references are consecutive, as after a load, they are computed instead of read.
//!
//! # Thread safety
//! Built by one thread, then shared. From then on keys are overwritten only by larger ones, namely by that
//! of a later entry, when entries leave the data list (§3.2). Several threads may overwrite the same keys
//! at once, so each overwrites by an atomic maximum. References never change.
//!
//! # Invariants
//! 1. At any time, *position* r has a key that isn't smaller than the one with which it was built, in
//!    every lane. So an entry at which a search for the largest key up to k ends was built with a key up
//!    to k: k is reached from its reference by going right.
//! 2. Keys ascend in every lane, while no thread overwrites; equal ones were overwritten. The order of
//!    overwriting doesn't matter: the key that one thread read to the right of its stretch has only grown
//!    since, so the written key isn't larger.
//! 3. The places after the last key of a lane, up to the next cache line, have the largest key.

mod build;
mod descend;
mod guess;
mod walk;

pub use build::LaneOptions;
pub use walk::{LanesWalk, Place};

use core::ops::RangeInclusive;
use guess::Guess;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::words::Words;
use latchless_core::sync::{BitsWord, perturb};

/// See the module's head.
#[derive(Debug)]
pub struct Lanes<B: Bits> {
    /// The number of elements of a lane per element of the lane above: 1/p.
    skip: usize,
    /// Entries.
    len: usize,
    /// The start in the array and the length of each lane; lane 1 first. In place, so that no search waits
    /// for one more line.
    levels: [Level; LANES_MAX],
    /// The number of lanes.
    depth: usize,
    /// The first entry's reference, if the entries' references are consecutive, as after a load: then they
    /// are computed.
    in_a_row_from: Option<u32>,
    guess: Option<Guess<B>>,
    fast: Words<B::Word>,
    proxies: Words<B::Word>,
}

/// The most lanes: enough for every second of 2^32 entries.
const LANES_MAX: usize = 32;

/// A lane's place in the array.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    start: u32,
    len: u32,
}

impl Level {
    #[inline(always)]
    fn start(self) -> usize {
        self.start as usize
    }

    #[inline(always)]
    fn len(self) -> usize {
        self.len as usize
    }
}

impl<B: Bits> Lanes<B> {
    /// Returns the number of entries: positions are `0..len`.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of fast lanes.
    pub fn lanes(&self) -> usize {
        self.depth
    }

    /// Bytes of all that lanes are made of.
    pub fn bytes(&self) -> usize {
        self.lane_bytes() + self.proxy_bytes() + self.guess_bytes()
    }

    /// Bytes of the fast lanes.
    pub fn lane_bytes(&self) -> usize {
        self.fast.bytes()
    }

    /// Bytes of the table that guesses where in lane 1 a key is.
    pub fn guess_bytes(&self) -> usize {
        match &self.guess {
            Some(guess) => guess.bytes(),
            None => 0,
        }
    }

    /// Returns the number of proxies: one for each key of lane 1.
    pub fn proxies(&self) -> usize {
        self.len.div_ceil(self.skip)
    }

    /// Bytes of the proxy lane.
    pub fn proxy_bytes(&self) -> usize {
        self.proxies.bytes()
    }

    /// Returns the key at a position: the original one, or a larger one if that entry has left.
    #[inline(always)]
    pub fn key(&self, at: usize) -> B {
        self.proxies[self.key_at(at)].load_relaxed()
    }

    /// Returns the reference at a position. If there is no such position, returns some number or panics.
    #[inline(always)]
    pub fn reference(&self, at: usize) -> u32 {
        if let Some(first) = self.in_a_row_from {
            return first.wrapping_add(at as u32);
        }
        self.proxies[self.key_at(at) + self.skip].load_relaxed().to_u64() as u32
    }

    /// Returns the place of the key at a position.
    #[inline(always)]
    fn key_at(&self, at: usize) -> usize {
        at / self.skip * 2 * self.skip + at % self.skip
    }

    /// Entries of these positions have left: their keys are overwritten by that of the next one, or by
    /// the largest lane if there is none (§3.2). Searches then end before them.
    pub fn pass_over(&self, left: RangeInclusive<usize>) {
        let behind = left.end() + 1;
        let next = if behind < self.len { self.key(behind) } else { B::MAX };
        self.raise(left, next);
    }

    /// Overwrites the keys of these positions, in every lane, but those that are larger: another thread may
    /// have passed over more since `next` was read.
    fn raise(&self, positions: RangeInclusive<usize>, next: B) {
        for at in positions {
            perturb();
            self.proxies[self.key_at(at)].publish_max(next);
            let mut at = at;
            for level in self.levels() {
                if at % self.skip != 0 {
                    break;
                }
                at /= self.skip;
                self.fast[level.start() + at].publish_max(next);
            }
        }
    }

    /// Returns the first violation in the lanes, if any. No thread may overwrite meanwhile.
    pub fn flaw(&self) -> Option<String> {
        for (number, &level) in self.levels().iter().enumerate() {
            let below = if number == 0 { self.len } else { self.levels[number - 1].len() };
            if level.len() != below.div_ceil(self.skip) {
                return Some(format!("lane {} has {} keys over {below}", number + 1, level.len));
            }
            if level.start() * B::BYTES % LINE_BYTES != 0 {
                return Some(format!("lane {} begins within a line", number + 1));
            }
            for at in 0..level.len() {
                let (key, below) = (self.lane(level, at), self.below(number, at * self.skip));
                if key != below {
                    return Some(format!("key {at} of lane {} is {key:?}, not {below:?}", number + 1));
                }
            }
        }
        let key = |at: usize| self.key(at);
        let falls = (1..self.len).find(|&at| key(at - 1) > key(at));
        falls.map(|at| format!("key {at} of the proxy lane is smaller than the one before"))
    }

    #[inline(always)]
    fn levels(&self) -> &[Level] {
        &self.levels[..self.depth]
    }

    fn lane(&self, level: Level, at: usize) -> B {
        self.fast[level.start() + at].load_relaxed()
    }

    /// Key `at` of the lane below lane `number` (which counts from 0).
    fn below(&self, number: usize, at: usize) -> B {
        if number == 0 { self.key(at) } else { self.lane(self.levels[number - 1], at) }
    }
}

#[cfg(test)]
mod tests;

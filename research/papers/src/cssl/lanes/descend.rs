//! From keys to positions (CSSL §4): down the lanes for one key or for several together, and along lane 1.
//!
//! Searches report their accesses to a [`Trace`]. With [`Trace::BRANCHING`] they are the paper's: the highest
//! lane is halved, the others are compared key by key with a branch at each (Algorithm 1), and nothing is
//! prefetched.

use super::{Lanes, Level};
use crate::common::operation::Search;
use crate::common::words::{words_below, words_up_to_one_by_one};
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::touch::{Trace, Work};

/// Up to this size, a lane is searched by counting with vectors; larger ones are halved.
const COUNTED_LANE_BYTES: usize = 256;

impl<B: Bits> Lanes<B> {
    /// Returns the last position whose key is at most `key`; `None` if there is none (Algorithm 1).
    #[inline(always)]
    pub fn last_up_to<S: Search, T: Trace>(&self, key: B) -> Option<usize> {
        let [at] = Self::last_up_to_each::<S, T, 1>([self], [key], |_| ());
        at
    }

    /// Finds the position for each of several keys, in one set of lanes or in several; see
    /// [`Lanes::last_up_to`]. All keys descend one step, then all the next one, so that their misses
    /// overlap. `likely` gets references one of which will be the answer's, before proxies are read, if
    /// they are known so early.
    #[inline(always)]
    pub fn last_up_to_each<S: Search, T: Trace, const N: usize>(
        lanes: [&Self; N],
        keys: [B; N],
        likely: impl Fn(u32),
    ) -> [Option<usize>; N] {
        let at = if lanes.iter().all(|lanes| lanes.guess.is_some()) {
            Self::guessed_each::<S, T, N>(lanes, keys)
        } else {
            Self::down_each::<S, T, N>(lanes, keys)
        };
        for i in 0..N {
            let proxy = at[i].unwrap_or(0);
            lanes[i].ask_below::<T>(0, proxy);
            if let Some(first) = lanes[i].in_a_row_from {
                // The nodes of one proxy are in a line or two: their first and their last.
                let of_proxy = first.wrapping_add((proxy * lanes[i].skip) as u32);
                likely(of_proxy);
                likely(of_proxy.wrapping_add(lanes[i].skip as u32 - 1));
            }
        }
        let mut positions = [None; N];
        for i in 0..N {
            if let Some(at) = at[i] {
                positions[i] = Some(lanes[i].in_proxy::<S, T>(at, keys[i]));
            }
        }
        positions
    }

    /// The last places in lane 1 whose keys are at most these: down from the highest lane.
    #[inline(always)]
    fn down_each<S: Search, T: Trace, const N: usize>(lanes: [&Self; N], keys: [B; N]) -> [Option<usize>; N] {
        let (mut found, mut at, mut level) = ([false; N], [0; N], [0; N]);
        let mut deepest = 0;
        for i in 0..N {
            let count = lanes[i].in_top_lane::<S, T>(keys[i]);
            (found[i], at[i]) = (count > 0, count.saturating_sub(1));
            level[i] = lanes[i].depth - 1;
            deepest = deepest.max(level[i]);
            lanes[i].ask_below::<T>(level[i], at[i]);
        }
        for _ in 0..deepest {
            for i in 0..N {
                if level[i] > 0 {
                    level[i] -= 1;
                    at[i] = lanes[i].down::<S, T>(lanes[i].levels[level[i]], at[i], keys[i]);
                    lanes[i].ask_below::<T>(level[i], at[i]);
                }
            }
        }
        let mut places = [None; N];
        for i in 0..N {
            if found[i] {
                places[i] = Some(at[i]);
            }
        }
        places
    }

    /// The same through lanes that all have a prediction.
    #[inline(always)]
    fn guessed_each<S: Search, T: Trace, const N: usize>(
        lanes: [&Self; N],
        keys: [B; N],
    ) -> [Option<usize>; N] {
        let mut stretches = [0; N];
        for i in 0..N {
            if let Some(guess) = &lanes[i].guess {
                stretches[i] = guess.stretch(keys[i]);
                guess.ask::<T>(stretches[i]);
            }
        }
        let mut between = [(0, 0); N];
        for i in 0..N {
            if let Some(guess) = &lanes[i].guess {
                let places = guess.between::<T>(stretches[i]);
                between[i] = (places.start, places.end);
                let lane = lanes[i].levels[0].start();
                lanes[i].ask::<T>(&lanes[i].fast, lane + places.start);
                lanes[i].ask::<T>(&lanes[i].fast, lane + places.end.saturating_sub(1));
            }
        }
        let mut found = [None; N];
        for i in 0..N {
            let (start, end) = between[i];
            let count =
                lanes[i].count_up_to::<S, T>(lanes[i].levels[0].start() + start, end - start, keys[i]);
            found[i] = match count {
                // The previous element has been passed over.
                0 if start > 0 => Self::down_each::<S, T, 1>([lanes[i]], [keys[i]])[0],
                count => (start + count).checked_sub(1),
            };
        }
        found
    }

    /// Returns the last position, at `from` or after it, whose key is at most `key`; the key at `from`
    /// must be. Runs along lane 1 and reads every element (Algorithm 2, lines 17 to 35).
    #[inline(always)]
    pub fn run_up_to<S: Search, T: Trace>(&self, from: usize, key: B) -> usize {
        let lowest = self.levels[0];
        let lane = &self.fast[lowest.start()..lowest.start() + lowest.len()];
        let start = from / self.skip;
        let passed = S::run_up_to::<B>(&lane[start..], key);
        if T::LISTENING {
            tell_run::<T, B>(&lane[start..], passed);
        }
        self.in_proxy::<S, T>((start + passed).saturating_sub(1).max(start), key).max(from)
    }

    /// Returns how many keys of the highest lane are at most `key`.
    #[inline(always)]
    pub(super) fn in_top_lane<S: Search, T: Trace>(&self, key: B) -> usize {
        let top = self.levels[self.depth - 1];
        self.count_up_to::<S, T>(top.start(), top.len(), key)
    }

    /// Returns how many of `count` keys of a fast lane, from `at` in the array on, are at most `key`.
    #[inline(always)]
    fn count_up_to<S: Search, T: Trace>(&self, at: usize, count: usize, key: B) -> usize {
        if !T::BRANCHING && count * B::BYTES <= COUNTED_LANE_BYTES {
            return Self::few_up_to::<S, T>(&self.fast, at, count, key);
        }
        match next(key) {
            Some(next) => words_below::<B, T>(&self.fast[at..at + count], next),
            None => count,
        }
    }

    /// Descends from an element of the lane above to the last one of this lane that is at most `key`.
    #[inline(always)]
    pub(super) fn down<S: Search, T: Trace>(&self, level: Level, above: usize, key: B) -> usize {
        let first = above * self.skip;
        // The first one is in the lane above as well.
        let others = (self.skip - 1).min(level.len() - 1 - first);
        first + Self::few_up_to::<S, T>(&self.fast, level.start() + first + 1, others, key)
    }

    /// Returns the last position of a proxy whose key is at most `key`; its first one if there is none.
    #[inline(always)]
    pub(super) fn in_proxy<S: Search, T: Trace>(&self, proxy: usize, key: B) -> usize {
        let first = proxy * self.skip;
        let others = (self.skip - 1).min(self.len - 1 - first);
        first + Self::few_up_to::<S, T>(&self.proxies, 2 * first + 1, others, key)
    }

    /// Returns how many of `count` keys, from `at` in an array on, are at most `key`.
    #[inline(always)]
    fn few_up_to<S: Search, T: Trace>(words: &[B::Word], at: usize, count: usize, key: B) -> usize {
        if T::BRANCHING {
            return words_up_to_one_by_one::<B, T>(&words[at..at + count], key);
        }
        T::read(words.as_ptr().wrapping_add(at).cast(), count * B::BYTES);
        T::work(Work::Vectors(1));
        S::group_up_to::<B>(words, at, count, key)
    }

    /// Prefetches the elements below element `at` of the lane of this number, which counts from 0.
    #[inline(always)]
    pub(super) fn ask_below<T: Trace>(&self, number: usize, at: usize) {
        let first = at * self.skip;
        if number > 0 {
            let start = self.levels[number - 1].start() + first;
            self.ask::<T>(&self.fast, start);
            self.ask::<T>(&self.fast, start + self.skip - 1);
        } else {
            self.ask::<T>(&self.proxies, 2 * first);
            self.ask::<T>(&self.proxies, 2 * (first + self.skip) - 1);
        }
    }

    #[inline(always)]
    fn ask<T: Trace>(&self, words: &[B::Word], at: usize) {
        if T::BRANCHING {
            return;
        }
        let address = words.as_ptr().wrapping_add(at).cast();
        T::prefetch(address, 1);
        prefetch_read(address);
    }
}

/// Bytes of the paper's vectors: AVX.
const VECTOR_BYTES: usize = 32;

/// Reports a run along a lane over `passed` words, line by line, when its end is known: the vectors up to the
/// one with the first larger word, and the words of that one, which the paper compares one by one (Algorithm
/// 2, lines 26 to 28).
#[cold]
fn tell_run<T: Trace, B: Bits>(lane: &[B::Word], passed: usize) {
    let per_vector = VECTOR_BYTES / B::BYTES;
    let vectors = passed / per_vector + 1;
    let (start, mut told) = (lane.as_ptr(), 0);
    let bytes = size_of_val(lane).min(vectors * VECTOR_BYTES);
    while told < bytes {
        let to_next_line = LINE_BYTES - (start.addr() + told) % LINE_BYTES;
        let until = bytes.min(told + to_next_line);
        // A vector that begins in a line belongs to it.
        T::work(Work::Vectors(until.div_ceil(VECTOR_BYTES) - told.div_ceil(VECTOR_BYTES)));
        T::read(start.cast::<u8>().wrapping_add(told), until - told);
        told = until;
    }
    T::work(Work::Branch(vectors + 1));
    if T::BRANCHING {
        T::work(Work::Compare(passed % per_vector + 1));
        T::work(Work::Branch(per_vector));
    }
}

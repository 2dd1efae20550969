//! From keys to positions (CSSL §4): down the lanes for one key or for several together, and along lane 1.

use super::{Lanes, Level};
use crate::common::operation::Search;
use crate::common::words::words_below;
use latchless_core::base::key::Bits;
use latchless_core::base::span::next;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::touch::NoTrace;

/// Up to this size, a lane is searched by counting with vectors; larger ones are halved.
const COUNTED_LANE_BYTES: usize = 256;

impl<B: Bits> Lanes<B> {
    /// Returns the last position whose key is at most `key`; `None` if there is none (Algorithm 1).
    #[inline(always)]
    pub fn last_up_to<S: Search>(&self, key: B) -> Option<usize> {
        let [at] = Self::last_up_to_each::<S, 1>([self], [key], |_| ());
        at
    }

    /// Finds the position for each of several keys, in one set of lanes or in several; see
    /// [`Lanes::last_up_to`]. All keys descend one step, then all the next one, so that their misses
    /// overlap. `likely` gets references one of which will be the answer's, before proxies are read, if
    /// they are known so early.
    #[inline(always)]
    pub fn last_up_to_each<S: Search, const N: usize>(
        lanes: [&Self; N],
        keys: [B; N],
        likely: impl Fn(u32),
    ) -> [Option<usize>; N] {
        let at = if lanes.iter().all(|lanes| lanes.guess.is_some()) {
            Self::guessed_each::<S, N>(lanes, keys)
        } else {
            Self::down_each::<S, N>(lanes, keys)
        };
        for i in 0..N {
            let proxy = at[i].unwrap_or(0);
            lanes[i].ask_below(0, proxy);
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
                positions[i] = Some(lanes[i].in_proxy::<S>(at, keys[i]));
            }
        }
        positions
    }

    /// The last places in lane 1 whose keys are at most these: down from the highest lane.
    #[inline(always)]
    fn down_each<S: Search, const N: usize>(lanes: [&Self; N], keys: [B; N]) -> [Option<usize>; N] {
        let (mut found, mut at, mut level) = ([false; N], [0; N], [0; N]);
        let mut deepest = 0;
        for i in 0..N {
            let count = lanes[i].in_top_lane::<S>(keys[i]);
            (found[i], at[i]) = (count > 0, count.saturating_sub(1));
            level[i] = lanes[i].depth - 1;
            deepest = deepest.max(level[i]);
            lanes[i].ask_below(level[i], at[i]);
        }
        for _ in 0..deepest {
            for i in 0..N {
                if level[i] > 0 {
                    level[i] -= 1;
                    at[i] = lanes[i].down::<S>(lanes[i].levels[level[i]], at[i], keys[i]);
                    lanes[i].ask_below(level[i], at[i]);
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
    fn guessed_each<S: Search, const N: usize>(lanes: [&Self; N], keys: [B; N]) -> [Option<usize>; N] {
        let mut stretches = [0; N];
        for i in 0..N {
            if let Some(guess) = &lanes[i].guess {
                stretches[i] = guess.stretch(keys[i]);
                guess.ask(stretches[i]);
            }
        }
        let mut between = [(0, 0); N];
        for i in 0..N {
            if let Some(guess) = &lanes[i].guess {
                let places = guess.between(stretches[i]);
                between[i] = (places.start, places.end);
                let lane = lanes[i].levels[0].start();
                lanes[i].ask(&lanes[i].fast, lane + places.start);
                lanes[i].ask(&lanes[i].fast, lane + places.end.saturating_sub(1));
            }
        }
        let mut found = [None; N];
        for i in 0..N {
            let (start, end) = between[i];
            let count = lanes[i].count_up_to::<S>(lanes[i].levels[0].start() + start, end - start, keys[i]);
            found[i] = match count {
                // The previous element has been passed over.
                0 if start > 0 => Self::down_each::<S, 1>([lanes[i]], [keys[i]])[0],
                count => (start + count).checked_sub(1),
            };
        }
        found
    }

    /// Returns the last position, at `from` or after it, whose key is at most `key`; the key at `from`
    /// must be. Runs along lane 1 and reads every element (Algorithm 2, lines 17 to 35).
    #[inline(always)]
    pub fn run_up_to<S: Search>(&self, from: usize, key: B) -> usize {
        let lowest = self.levels[0];
        let lane = &self.fast[lowest.start()..lowest.start() + lowest.len()];
        let start = from / self.skip;
        let passed = S::run_up_to::<B>(&lane[start..], key);
        self.in_proxy::<S>((start + passed).saturating_sub(1).max(start), key).max(from)
    }

    /// Returns how many keys of the highest lane are at most `key`.
    #[inline(always)]
    pub(super) fn in_top_lane<S: Search>(&self, key: B) -> usize {
        let top = self.levels[self.depth - 1];
        self.count_up_to::<S>(top.start(), top.len(), key)
    }

    /// Returns how many of `count` keys of a fast lane, from `at` in the array on, are at most `key`.
    #[inline(always)]
    fn count_up_to<S: Search>(&self, at: usize, count: usize, key: B) -> usize {
        if count * B::BYTES <= COUNTED_LANE_BYTES {
            return S::group_up_to::<B>(&self.fast, at, count, key);
        }
        match next(key) {
            Some(next) => words_below::<B, NoTrace>(&self.fast[at..at + count], next),
            None => count,
        }
    }

    /// Descends from an element of the lane above to the last one of this lane that is at most `key`.
    #[inline(always)]
    pub(super) fn down<S: Search>(&self, level: Level, above: usize, key: B) -> usize {
        let first = above * self.skip;
        // The first one is in the lane above as well.
        let others = (self.skip - 1).min(level.len() - 1 - first);
        first + S::group_up_to::<B>(&self.fast, level.start() + first + 1, others, key)
    }

    /// Returns the last position of a proxy whose key is at most `key`; its first one if there is none.
    #[inline(always)]
    pub(super) fn in_proxy<S: Search>(&self, proxy: usize, key: B) -> usize {
        let first = proxy * self.skip;
        let others = (self.skip - 1).min(self.len - 1 - first);
        first + S::group_up_to::<B>(&self.proxies, 2 * first + 1, others, key)
    }

    /// Prefetches the elements below element `at` of the lane of this number, which counts from 0.
    #[inline(always)]
    pub(super) fn ask_below(&self, number: usize, at: usize) {
        let first = at * self.skip;
        if number > 0 {
            let start = self.levels[number - 1].start() + first;
            self.ask(&self.fast, start);
            self.ask(&self.fast, start + self.skip - 1);
        } else {
            self.ask(&self.proxies, 2 * first);
            self.ask(&self.proxies, 2 * (first + self.skip) - 1);
        }
    }

    #[inline(always)]
    fn ask(&self, words: &[B::Word], at: usize) {
        prefetch_read(words.as_ptr().wrapping_add(at).cast());
    }
}

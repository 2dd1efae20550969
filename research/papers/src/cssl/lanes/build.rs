//! Building lanes from entries in order.

use super::guess::Guess;
use super::{LANES_MAX, Lanes, Level};
use crate::error::{self, Error};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::words::Words;
use latchless_core::sync::BitsWord;

/// Options of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneOptions {
    /// The number of elements of a lane per element of the lane above: the paper's 1/p, 2 to 2^20.
    pub skip: usize,
    /// The number of lanes, 1 to 32, unless one has a single key before; `None`: until one is at most
    /// [`LaneOptions::top_lane_bytes`] long.
    pub lanes: Option<usize>,
    /// The maximum size of the highest lane if there is a choice: §5's optimum is the size of the
    /// first-level cache.
    pub top_lane_bytes: usize,
    /// Whether a table predicts the position of a key in lane 1; the lanes above are searched if it errs.
    /// The paper has none.
    pub guess: bool,
    /// Whether large arrays are on huge pages if the system offers them.
    pub huge_pages: bool,
}

/// The largest 1/p: a proxy has room for as many entries, even if it has fewer.
const SKIP_MAX: usize = 1 << 20;

impl LaneOptions {
    /// The options, if lanes can be built by them.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn checked(self) -> error::Result<Self> {
        Error::check_setting("skip", self.skip, 2..=SKIP_MAX)?;
        Error::check_setting("lanes", self.lanes.unwrap_or(1), 1..=LANES_MAX)?;
        Ok(self)
    }
}

impl<B: Bits> Lanes<B> {
    /// Lanes over `len` entries, keys and references, in strictly ascending order of keys. More than `len`
    /// are left out. By options that are [`LaneOptions::checked`].
    ///
    /// # Errors
    /// When memory is refused.
    pub(crate) fn build(
        len: usize,
        entries: impl Iterator<Item = (B, u32)>,
        options: &LaneOptions,
    ) -> Result<Self> {
        debug_assert_eq!(options.checked(), Ok(*options), "a list checks its options when it is made");
        let skip = options.skip;
        let (levels, depth) = Self::levels_for(len, options);
        let fast_words = Self::whole_lines(levels[0].start() + levels[0].len());
        let fast = Words::<B::Word>::new(fast_words, options.huge_pages)?;
        let proxies = Words::<B::Word>::new(len.div_ceil(skip) * 2 * skip, options.huge_pages)?;
        let mut lanes = Self { skip, len, levels, depth, in_a_row_from: None, guess: None, fast, proxies };
        lanes.in_a_row_from = lanes.fill(entries);
        if options.guess {
            let lane = levels[0].start()..levels[0].start() + levels[0].len();
            lanes.guess = Guess::build(&lanes.fast[lane], options.huge_pages)?;
        }
        Ok(lanes)
    }

    /// The most bytes that lanes over `len` entries take, of fast lanes, of proxies and of the guess. By
    /// options that are [`LaneOptions::checked`].
    pub fn bytes_for(len: usize, options: &LaneOptions) -> usize {
        let skip = options.skip;
        let (levels, _) = Self::levels_for(len, options);
        let fast = Self::whole_lines(levels[0].start() + levels[0].len());
        let words = fast + Self::whole_lines(len.div_ceil(skip) * 2 * skip);
        words * B::BYTES + if options.guess { Guess::<B>::bytes_for(levels[0].len()) } else { 0 }
    }

    /// Words of as many whole cache lines (§3.1: a lane's size is a multiple of the cache line).
    fn whole_lines(words: usize) -> usize {
        words.next_multiple_of(LINE_BYTES / B::BYTES)
    }

    /// Returns the places of the lanes over `len` entries, lane 1 first, and their number.
    fn levels_for(len: usize, options: &LaneOptions) -> ([Level; LANES_MAX], usize) {
        let skip = options.skip;
        let (mut levels, mut depth) = ([Level::default(); LANES_MAX], 0);
        let mut above = len.div_ceil(skip);
        while depth < LANES_MAX {
            levels[depth].len = above as u32;
            depth += 1;
            let enough = match options.lanes {
                Some(lanes) => depth >= lanes,
                None => above * B::BYTES <= options.top_lane_bytes,
            };
            if enough || above <= 1 {
                break;
            }
            above = above.div_ceil(skip);
        }
        // The highest lane is first.
        let mut start = 0;
        for level in levels[..depth].iter_mut().rev() {
            level.start = start;
            start += Self::whole_lines(level.len()) as u32;
        }
        (levels, depth)
    }

    /// Fills the lanes. Returns the first entry's reference if all references are consecutive.
    fn fill(&self, entries: impl Iterator<Item = (B, u32)>) -> Option<u32> {
        let (mut first, mut in_a_row) = (None, true);
        for (at, (key, reference)) in entries.take(self.len).enumerate() {
            debug_assert!(at == 0 || self.key(at - 1) < key, "{key:?} at {at} is out of order");
            in_a_row &= reference.wrapping_sub(*first.get_or_insert(reference)) as usize == at;
            let word = self.key_at(at);
            self.proxies[word].store_relaxed(key);
            self.proxies[word + self.skip].store_relaxed(B::truncate(u64::from(reference)));
        }
        for at in self.len..self.len.next_multiple_of(self.skip) {
            self.proxies[self.key_at(at)].store_relaxed(B::MAX);
        }
        for (number, &level) in self.levels().iter().enumerate() {
            for at in 0..level.len() {
                self.fast[level.start() + at].store_relaxed(self.below(number, at * self.skip));
            }
            for at in level.len()..Self::whole_lines(level.len()) {
                self.fast[level.start() + at].store_relaxed(B::MAX);
            }
        }
        first.filter(|_| in_a_row)
    }
}

//! Guesses: a key's leaf by the key's hash, for keys whose [position](super::positions) gives none.
//!
//! A table of lines. The lowest bits of a hash say which line has the key's guess, and a byte of the hash,
//! the *mark*, tells the line's guesses apart. So a lookup that is guessed right reads a line of the table
//! and the leaf, and no inner node, however long the keys are and however high the tree is.
//!
//! | word of a line | what |
//! |---|---|
//! | 0, and the lower half of 1 | twelve marks |
//! | 2–7 | twelve leaves, a half word each, inverted; zero: no guess |
//!
//! Nothing keeps guesses up to date: splits and merges don't touch the table. A reader that finds its key
//! in the guessed leaf is right, however it came there, since a key is in one live leaf. A reader that
//! doesn't find it follows the leaf's fences, to the right neighbour at most, and then goes down the
//! tree. If it finds its key that way, it writes the guess.
//!
//! There is a table only where it is worth its memory, 6 to 13 bytes per key. It is made when lookups find
//! keys of more than eight bytes in a tree that is larger than a second-level cache. It is dropped when
//! most lookups find nothing, were misled, or used positions.
//!
//! # Thread safety
//! Any thread may write any word at any time, without coordination. So a mark may be paired with another
//! key's leaf: a wrong guess. A leaf in the table is, or was, a leaf; nodes of that level are leaves for
//! ever. A dropped table's memory goes back to the system while other threads may still look at it: they
//! find no guesses.

use core::cell::Cell;
use latchless_core::mem::budget::Budget;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::once_array::OnceArray;
use latchless_core::mem::words::Words;
use latchless_core::sync::Word;
use std::sync::Arc;

/// Words in a line of the table.
const LINE_WORDS: usize = 8;
/// Guesses in a line.
const GUESSES: usize = 12;
/// The first word with leaves.
const LEAVES: usize = 2;

/// Lines that the smallest table has. Under `--cfg latchless_small_nodes` so few that small trees have one.
const FEWEST_LINES: usize = if cfg!(latchless_small_nodes) { 1 } else { 1 << 13 };
/// Lines double until there are this many keys for each, before which about one in twenty has no place.
const KEYS_A_LINE: usize = 10;
/// Trees with fewer keys have no table: caches hold them.
const FEWEST_KEYS: usize = FEWEST_LINES * KEYS_A_LINE / 2;
/// The first segment has the fewest lines, each other one as many as all before it.
const SEGMENTS: usize = 20;
/// One in this many operations is counted.
const SAMPLED: u32 = if cfg!(latchless_small_nodes) { 1 } else { 64 };
/// This many operations are counted at least before the table is made.
const FEWEST_SAMPLES: i64 = if cfg!(latchless_small_nodes) { 2 } else { 64 };
/// One in this many guesses for which their line has no place takes that of another.
const REPLACED: u32 = 4;
/// Segments of at least this size use huge pages, if enabled.
const HUGE_FROM_BYTES: usize = 2 << 20;

/// The lowest and the highest bit of each byte of a word.
const LOWEST: u64 = u64::MAX / 0xFF;
const HIGHEST: u64 = LOWEST << 7;

/// The table. See the file's head.
#[derive(Debug)]
pub struct Guesses {
    /// Lines in use: none, or a power of two.
    lines: Word,
    /// Useful minus useless lookups in the sample (`i64`).
    balance: Word,
    /// 1 when no thread is making the table larger.
    is_idle: Word,
    segments: OnceArray<Words<Word>, SEGMENTS>,
    /// A bit for each segment that is charged to the budget. Only the thread that has made `is_idle` zero
    /// reads it.
    charged: Word,
    /// 1 while another thread makes memory ready for a larger table.
    is_unready: Word,
    huge_pages: bool,
    prefault: bool,
    /// The budget that segments are charged to.
    budget: Arc<Budget>,
}

/// The line of a key.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    words: &'a [Word; LINE_WORDS],
    mark: u8,
}

thread_local! {
    /// Counts this thread's operations, and chooses among them.
    static TICKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this is one of every `every` calls, about.
#[inline(always)]
pub(in crate::byte_tree) fn is_chosen(every: u32) -> bool {
    if every == 1 {
        return true;
    }
    let now = TICKS.get().wrapping_add(1);
    TICKS.set(now);
    now.is_multiple_of(every)
}

impl Guesses {
    /// No table.
    pub fn none(huge_pages: bool, prefault: bool, budget: &Arc<Budget>) -> Self {
        let [lines, balance, charged, is_unready] = [const { Word::new(0) }; 4];
        let segments = OnceArray::empty();
        let (is_idle, budget) = (Word::new(1), Arc::clone(budget));
        Self { lines, balance, is_idle, segments, charged, is_unready, huge_pages, prefault, budget }
    }

    /// The line of a key with this hash, if there is a table.
    #[inline(always)]
    pub fn line(&self, hash: u64) -> Option<Line<'_>> {
        let lines = self.lines.load_relaxed() as usize;
        if lines == 0 {
            return None;
        }
        let at = hash as usize & (lines - 1);
        let segment = segment_of(at);
        let first = if segment == 0 { 0 } else { FEWEST_LINES << (segment - 1) };
        let words = self.segments.get(segment)?.get((at - first) * LINE_WORDS..)?.first_chunk()?;
        Some(Line { words, mark: (hash >> 56) as u8 })
    }

    /// The leaf that a key with this hash is most likely in.
    #[inline(always)]
    pub fn leaf(&self, hash: u64) -> Option<NodeRef> {
        self.line(hash)?.leaves().next()
    }

    /// Writes the guess of a key with this hash, in place of a wrong one unless that is nil.
    #[inline(always)]
    pub fn write(&self, hash: u64, leaf: NodeRef, wrong: NodeRef) {
        if let Some(line) = self.line(hash) {
            line.write(leaf, wrong);
        }
    }

    /// Prefetches the line of a key with this hash.
    #[inline(always)]
    pub fn ask(&self, hash: u64) {
        if let Some(line) = self.line(hash) {
            prefetch_read(line.words.as_ptr().cast());
        }
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        self.lines.load_relaxed() as usize * LINE_WORDS * size_of::<Word>()
    }

    /// Counts a lookup now and then: whether a guess was right, or would have been. Returns whether the
    /// table should be made, or made larger.
    #[inline(always)]
    fn is_wanted(&self, is_worth: bool, keys: impl FnOnce() -> usize) -> bool {
        is_chosen(SAMPLED) && self.weigh(is_worth, keys())
    }

    #[cold]
    #[inline(never)]
    fn weigh(&self, is_worth: bool, keys: usize) -> bool {
        let enough = Self::enough_for(keys);
        let step = if is_worth { 1 } else { -1 };
        // Threads that do this at once may count one time: it is about many.
        let balance = (self.balance.load_relaxed() as i64 + step).clamp(-enough, enough);
        if balance == -enough && self.lines.load_relaxed() != 0 {
            self.drop_all();
            return false;
        }
        self.balance.store_relaxed(balance as u64);
        balance == enough && keys >= FEWEST_KEYS && self.lines.load_relaxed() < Self::lines_for(keys)
    }

    /// The balance that decides: one operation per sixteen keys, and some.
    fn enough_for(keys: usize) -> i64 {
        FEWEST_SAMPLES + (keys / 16 / SAMPLED as usize) as i64
    }

    fn lines_for(keys: usize) -> u64 {
        let most = FEWEST_LINES << (SEGMENTS - 1);
        (keys / KEYS_A_LINE).next_power_of_two().clamp(FEWEST_LINES, most) as u64
    }

    /// Learns from a lookup whether guesses are worth it: whether one was right, or would have been.
    #[inline(always)]
    pub fn learn(&self, is_worth: bool, keys: impl Fn() -> usize) {
        if self.is_wanted(is_worth, &keys) && !self.grow(keys()) {
            // The next attempt is as many lookups away as the first one was.
            self.count_anew();
        }
    }

    /// Counts a lookup that needs no guess.
    pub fn count_in_vain(&self, keys: usize) {
        self.weigh(false, keys);
    }

    /// Whether there is a table, and it is too small for this many keys.
    pub fn is_outgrown(&self, keys: usize) -> bool {
        let lines = self.lines.load_relaxed();
        lines != 0 && lines < Self::lines_for(keys)
    }

    /// Makes the table large enough for this many keys. If memory is refused, makes it as large as possible
    /// and returns `false`. The guesses of half of the keys stay. While another thread prefaults the
    /// memory, the table stays as it is.
    #[cold]
    #[inline(never)]
    pub fn grow(&self, keys: usize) -> bool {
        if self.is_idle.take_bits(1) == 0 {
            return true;
        }
        let asks = self.prefault && self.is_unready.load_relaxed() == 0;
        let (mut lines, wanted, mut is_unready) = (self.lines.load_relaxed(), Self::lines_for(keys), false);
        while lines < wanted {
            let more = if lines == 0 { FEWEST_LINES } else { lines as usize };
            let Some(words) = self.segment(segment_of(lines as usize)) else { break };
            if asks {
                words.prefault(words.len());
            }
            is_unready |= words.is_unready();
            lines += more as u64;
        }
        self.is_unready.store_relaxed(is_unready.into());
        if !is_unready {
            self.lines.publish(lines);
        }
        self.is_idle.publish_bits(1);
        lines >= wanted
    }

    /// A segment, which is made if it isn't there, and counted. `None`: memory is refused.
    fn segment(&self, at: usize) -> Option<&Words<Word>> {
        let bytes = bytes_of_segment(at);
        if !self.is_charged(at) {
            self.budget.take(bytes).ok()?;
            self.charged.add(1 << at);
        }
        let (len, huge_pages) = (bytes / size_of::<Word>(), self.huge_pages && bytes >= HUGE_FROM_BYTES);
        let made = self.segments.get_or_try(at, || Words::new(len, huge_pages));
        made.inspect_err(|_| self.discharge(at)).ok()
    }

    /// Whether a segment is charged to the budget.
    fn is_charged(&self, at: usize) -> bool {
        self.charged.load_relaxed() >> at & 1 != 0
    }

    /// A segment that was counted takes no memory any more.
    fn discharge(&self, at: usize) {
        if self.is_charged(at) {
            self.charged.add((1u64 << at).wrapping_neg());
            self.budget.give_back(bytes_of_segment(at));
        }
    }

    /// Resets the sample.
    fn count_anew(&self) {
        self.balance.store_relaxed(0);
    }

    /// Gives the table up, and its memory back, unless another thread is making it larger. Segments that
    /// aren't mappings stay.
    fn drop_all(&self) {
        if self.is_idle.take_bits(1) == 0 {
            return;
        }
        self.lines.publish(0);
        self.is_unready.store_relaxed(0);
        self.count_anew();
        for (at, words) in self.segments.iter() {
            if words.give_back(0..words.len()) {
                self.discharge(at);
            }
        }
        self.is_idle.publish_bits(1);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let counted = (0..SEGMENTS).filter(|&at| self.is_charged(at)).map(bytes_of_segment).sum();
        self.budget.give_back(counted);
        *self = self.alike();
    }

    /// No table of another tree yet, on pages of the same kind and with memory from the same budget.
    pub fn alike(&self) -> Self {
        Self::none(self.huge_pages, self.prefault, &self.budget)
    }
}

/// Bytes of a segment.
fn bytes_of_segment(at: usize) -> usize {
    let lines = if at == 0 { FEWEST_LINES } else { FEWEST_LINES << (at - 1) };
    lines * LINE_WORDS * size_of::<Word>()
}

/// The segment of a line.
#[inline(always)]
fn segment_of(line: usize) -> usize {
    (line / FEWEST_LINES).checked_ilog2().map_or(0, |log| log as usize + 1)
}

/// The bytes of a word that are equal to this one, by their highest bits. Rare false positives.
#[inline(always)]
fn which(word: u64, byte: u8) -> u64 {
    let different = word ^ (LOWEST * u64::from(byte));
    different.wrapping_sub(LOWEST) & !different & HIGHEST
}

impl Line<'_> {
    /// The places of the guesses that have the key's mark.
    #[inline(always)]
    fn places(self) -> impl Iterator<Item = usize> {
        let marks = |at: usize| which(self.words[at].load_relaxed(), self.mark);
        // A bit for each place: the first eight words' bytes, then four.
        let (mut first, mut second) = (marks(0), marks(1) & u64::from(u32::MAX));
        core::iter::from_fn(move || {
            if first != 0 {
                let at = first.trailing_zeros() as usize / 8;
                first &= first - 1;
                return Some(at);
            }
            let at = 8 + second.trailing_zeros() as usize / 8;
            let is_there = second != 0;
            second &= second.wrapping_sub(1);
            is_there.then_some(at)
        })
    }

    #[inline(always)]
    fn leaf(self, place: usize) -> NodeRef {
        NodeRef::from_word(!(self.words[LEAVES + place / 2].load_relaxed() >> (place % 2 * 32)) as u32)
    }

    /// The leaves that the key may be in.
    #[inline(always)]
    pub fn leaves(self) -> impl Iterator<Item = NodeRef> {
        self.places().map(move |place| self.leaf(place)).filter(|leaf| !leaf.is_nil())
    }

    /// Writes down which leaf the key is in, in place of a wrong guess if there was one. A line that is
    /// full takes it now and then.
    #[inline(always)]
    pub fn write(self, leaf: NodeRef, wrong: NodeRef) {
        let mut place = None;
        for own in self.places() {
            let there = self.leaf(own);
            if there == leaf {
                return;
            }
            if there == wrong {
                place = Some(own);
            }
        }
        let place = place.or_else(|| (0..GUESSES).find(|&place| self.leaf(place).is_nil()));
        let Some(place) = place.or_else(Self::replaced) else { return };
        let set = |at: usize, mask: u64, shift: usize, bits: u64| {
            let others = self.words[at].load_relaxed() & !(mask << shift);
            self.words[at].store_relaxed(others | bits << shift);
        };
        set(place / 8, 0xFF, place % 8 * 8, u64::from(self.mark));
        set(LEAVES + place / 2, u64::from(u32::MAX), place % 2 * 32, u64::from(!leaf.to_word()));
    }

    /// The place of a full line that is to be taken, if one is.
    fn replaced() -> Option<usize> {
        is_chosen(REPLACED).then(|| TICKS.with(|ticks| (ticks.get() / REPLACED) as usize % GUESSES))
    }
}

#[cfg(test)]
mod tests;

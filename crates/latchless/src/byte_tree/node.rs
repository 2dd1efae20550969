//! Reading a node of byte strings: a shared node or a private copy of one.
//!
//! No word of a node is trusted: lengths and places are clamped to the node's size, so a reader of a node
//! that is being changed stays inside of it and terminates. The node's version decides whether the answer
//! counts.

use super::long::LongStrings;
use super::shape::{
    HEADER_LEN_MAX, HIGH_HEAD, LINK, LONG, LOW, LOW_BYTES, LongRef, SHAPE, SLOTS, SUFFIX_MAX, Shape, WORDS,
    high_words, low_words,
};
use super::text::{are_words_of, compare, head, shifted, word, words_of};
use crate::blink::Side;
use crate::node::lines::Lines;
use core::cmp::Ordering;
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// The words of a node.
pub trait Words: Copy {
    /// Word `at`, modulo the words of a node.
    fn word(self, at: usize) -> u64;
    /// One bit for each of the [`ABREAST`] words from `first` on: whether it is smaller than `bound`.
    #[inline(always)]
    fn below<S: Lines>(self, first: usize, bound: u64) -> u32 {
        (0..ABREAST).fold(0, |bits, at| bits | u32::from(self.word(first + at) < bound) << at)
    }
}

/// Heads that are compared at once.
pub(super) const ABREAST: usize = 16;

impl Words for &[Word; WORDS] {
    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self[at % WORDS].load_relaxed()
    }

    #[inline(always)]
    fn below<S: Lines>(self, first: usize, bound: u64) -> u32 {
        let words: &[Word; ABREAST] = self[first..].first_chunk().expect("heads end before the node");
        let (fours, _) = words.as_chunks::<4>();
        // A closure in place of the loop might not be inlined, and would then be compiled without the
        // instruction set.
        let mut bits = 0;
        for (at, four) in fours.iter().enumerate() {
            bits |= S::words_below(four, bound) << (4 * at);
        }
        bits
    }
}

impl Words for &[u64; WORDS] {
    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        self[at % WORDS]
    }
}

/// Selects one of the two neighbours that meet at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// The one that begins there.
    Key,
    /// The one that ends there.
    Before,
    /// The last node of its level, whatever the key is.
    Last,
}

/// Where a descent or a search goes.
#[derive(Debug, Clone, Copy)]
pub struct Target<'k> {
    pub key: &'k [u8],
    pub toward: Toward,
}

impl<'k> Target<'k> {
    /// The node that has a key.
    #[inline(always)]
    pub const fn key(key: &'k [u8]) -> Self {
        Self { key, toward: Toward::Key }
    }
}

/// A key that begins with a node's prefix, and its head after that.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'k> {
    pub key: &'k [u8],
    pub head: u64,
}

impl<'k> Probe<'k> {
    /// A key of a node with this shape.
    #[inline(always)]
    pub fn of(key: &'k [u8], shape: Shape) -> Self {
        Self { key, head: head(key, shape.prefix()) }
    }
}

/// The words of a node.
pub type Image = [u64; WORDS];
/// A node in private memory.
pub type Private<'a> = Node<'a, &'a Image>;

/// A node, and where its long strings are.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a, W> {
    pub words: W,
    pub long: &'a LongStrings,
}

impl<'a, W: Words> Node<'a, W> {
    #[inline(always)]
    pub fn shape(self) -> Shape {
        Shape(self.words.word(SHAPE))
    }

    /// The right neighbour.
    #[inline(always)]
    pub fn link(self) -> NodeRef {
        NodeRef::from_word(self.words.word(LINK) as u32)
    }

    /// The length of the low fence, or [`HEADER_LEN_MAX`] if it is longer.
    #[inline(always)]
    pub fn low_len(self) -> usize {
        (self.words.word(LINK) >> 32) as usize & HEADER_LEN_MAX
    }

    /// The length of the high fence, or [`HEADER_LEN_MAX`] if it is longer.
    #[inline(always)]
    pub fn high_len(self) -> usize {
        (self.words.word(LINK) >> 48) as usize
    }

    /// Byte `at` of the array from this word on.
    #[inline(always)]
    fn byte(self, array: usize, at: usize) -> u8 {
        (self.words.word(array + at / 8) >> (at % 8 * 8)) as u8
    }

    /// The tag of an entry, not of a record.
    #[inline(always)]
    pub fn tag(self, at: usize) -> u8 {
        self.byte(SLOTS, at)
    }

    /// The length of an entry's suffix, or [`LONG`].
    #[inline(always)]
    pub fn length(self, shape: Shape, at: usize) -> u8 {
        if shape.is_of_records() { shape.record_length() } else { self.byte(shape.lengths(), at) }
    }

    /// The word where an entry's value is.
    #[inline(always)]
    pub fn place(self, shape: Shape, at: usize) -> usize {
        if shape.is_of_records() { shape.record(at) } else { usize::from(self.byte(shape.places(), at)) }
    }

    /// The first eight bytes of an entry's suffix.
    #[inline(always)]
    pub fn head(self, shape: Shape, at: usize) -> u64 {
        self.words.word(shape.heads() + at)
    }

    #[inline(always)]
    pub fn value(self, shape: Shape, at: usize) -> u64 {
        self.words.word(self.place(shape, at))
    }

    /// The long string that an entry's key is.
    #[inline(always)]
    pub fn long_key(self, shape: Shape, at: usize) -> LongRef {
        LongRef::from_word(self.words.word(self.place(shape, at) + 1))
    }

    /// Word `at` of the low fence, if that isn't long.
    #[inline(always)]
    pub(super) fn low_word(self, at: usize) -> u64 {
        if at < LOW_BYTES / 8 {
            return self.words.word(LOW + at);
        }
        let end = WORDS - high_words(self.high_len());
        self.words.word(end.wrapping_sub(low_words(self.low_len())).wrapping_add(at - LOW_BYTES / 8))
    }

    /// The long string that the low fence is.
    pub fn long_low(self) -> LongRef {
        LongRef::from_word(self.words.word(WORDS - 1 - high_words(self.high_len())))
    }

    /// The long string that the high fence is.
    pub fn long_high(self) -> LongRef {
        LongRef::from_word(self.words.word(WORDS - 1))
    }

    /// Whether a key begins with the node's prefix.
    #[inline(always)]
    pub fn has_prefix(self, shape: Shape, key: &[u8]) -> bool {
        let prefix = shape.prefix();
        if prefix > key.len() {
            return false;
        }
        if prefix < 8 {
            // Shifted in two steps: of no bytes at all, nothing differs.
            return (self.words.word(LOW) ^ word(key, 0)) << 1 << (63 - 8 * prefix) == 0;
        }
        if prefix > LOW_BYTES && shape.has(Shape::LOW_LONG) {
            return self.long.begins_alike(self.long_low(), key, prefix);
        }
        let (whole, bits) = (prefix / 8, 8 * (prefix % 8));
        are_words_of(&key[..8 * whole], |at| self.low_word(at))
            && (bits == 0 || (self.low_word(whole) ^ word(key, 8 * whole)) << (64 - bits) == 0)
    }

    /// Whether no key of the node is before this one.
    pub fn begins_from(self, key: &[u8]) -> bool {
        self.compare_low(self.shape(), key).is_ge()
    }

    fn compare_low(self, shape: Shape, key: &[u8]) -> Ordering {
        if shape.has(Shape::LOW_LONG) {
            return self.long.compare(self.long_low(), key);
        }
        compare(self.low_len(), key, |at| self.low_word(at))
    }

    /// How the high fence, which the node has, compares with a key.
    fn compare_high(self, shape: Shape, key: &[u8]) -> Ordering {
        if shape.has(Shape::HIGH_LONG) {
            return self.long.compare(self.long_high(), key);
        }
        let (len, start) = (self.high_len(), WORDS - high_words(self.high_len()));
        compare(len, key, |at| self.words.word(start + at))
    }

    /// Where a key is, seen from here.
    #[inline(always)]
    pub fn side(self, key: &[u8]) -> Side {
        let shape = self.shape();
        if shape.has(Shape::DEAD) {
            return Side::Left;
        }
        // With the prefix, nearly every key differs in the bytes after it from the fences, and from the
        // first entry, which isn't before the low one.
        let (has_prefix, own) = (self.has_prefix(shape, key), head(key, shape.prefix()));
        let is_below = has_prefix && own < self.words.word(HIGH_HEAD);
        if !is_below && !shape.has(Shape::NO_HIGH) && self.compare_high(shape, key).is_le() {
            return Side::Right;
        }
        let is_above = has_prefix && shape.len() > 0 && own > self.head(shape, 0);
        if !is_above && self.compare_low(shape, key).is_gt() { Side::Left } else { Side::Here }
    }

    /// [`Node::side`], not inlined: for callers that rarely need it.
    #[inline(never)]
    pub fn side_apart(self, key: &[u8]) -> Side {
        self.side(key)
    }

    /// Where a key, or the place right before it, is; or the place after all keys.
    #[inline(always)]
    pub fn side_toward(self, key: &[u8], toward: Toward) -> Side {
        match toward {
            Toward::Key => self.side(key),
            Toward::Before => self.side_before(key),
            Toward::Last => self.side_last(),
        }
    }

    fn side_before(self, key: &[u8]) -> Side {
        let shape = self.shape();
        if shape.has(Shape::DEAD) || self.compare_low(shape, key).is_ge() {
            return Side::Left;
        }
        let is_right = !shape.has(Shape::NO_HIGH) && self.compare_high(shape, key).is_lt();
        if is_right { Side::Right } else { Side::Here }
    }

    fn side_last(self) -> Side {
        let shape = self.shape();
        match (shape.has(Shape::DEAD), shape.has(Shape::NO_HIGH)) {
            (true, _) => Side::Left,
            (false, true) => Side::Here,
            (false, false) => Side::Right,
        }
    }

    /// Compares an entry's key with one that has the same head. The eight bytes after the head (`next`: the
    /// key's) usually decide it.
    #[inline(always)]
    fn compare_after_head(self, shape: Shape, at: usize, key: &[u8], next: u64) -> Ordering {
        let length = self.length(shape, at);
        if length == LONG {
            return self.long.compare(self.long_key(shape, at), key);
        }
        let (length, own) = (usize::from(length), key.len().saturating_sub(shape.prefix()));
        if length <= 8 || own <= 8 {
            return length.cmp(&own);
        }
        let place = self.place(shape, at) + 1;
        match self.words.word(place).swap_bytes().cmp(&next) {
            // After the end of a string are zeros: lengths tell whether a string ends there.
            Ordering::Equal => compare(length - 8, key.get(shape.prefix() + 8..).unwrap_or(&[]), |word| {
                self.words.word(place + word)
            }),
            order => order,
        }
    }

    /// How an entry's key compares with one that has the node's prefix and this head.
    #[inline(always)]
    pub(super) fn compare_entry(self, shape: Shape, at: usize, own: Probe<'_>) -> Ordering {
        match self.head(shape, at).cmp(&own.head) {
            Ordering::Equal => self.compare_after_head(shape, at, own.key, head(own.key, shape.prefix() + 8)),
            order => order,
        }
    }

    /// Whether an entry has this key, whose head is the entry's; both have the node's prefix.
    #[inline(always)]
    pub fn rest_is(self, shape: Shape, at: usize, key: &[u8]) -> bool {
        let (length, own) = (self.length(shape, at), key.len() - shape.prefix());
        if length == LONG {
            let string = self.long_key(shape, at);
            return string.len == key.len() && self.long.compare(string, key).is_eq();
        }
        if usize::from(length) != own {
            return false;
        }
        let (place, rest) = (self.place(shape, at) + 1, shape.prefix() + 8);
        are_words_of(key.get(rest..).unwrap_or(&[]), |at| self.words.word(place + at))
    }

    /// How many entries come before a key, and whether the next one has it. The key is taken to have the
    /// node's prefix.
    #[inline(always)]
    pub fn rank<S: Lines>(self, shape: Shape, key: &[u8]) -> (usize, bool) {
        self.rank_of_head::<S>(shape, Probe::of(key, shape))
    }

    /// The rank of a key with this head.
    #[inline(always)]
    pub(super) fn rank_of_head<S: Lines>(self, shape: Shape, own: Probe<'_>) -> (usize, bool) {
        let len = shape.len();
        let (mut base, mut size) = (0, len);
        while size > ABREAST {
            let half = size / 2;
            base =
                core::hint::select_unpredictable(self.head(shape, base + half) < own.head, base + half, base);
            size -= half;
        }
        base += self.heads_below::<S>(shape, base..base + size, own.head);
        self.rank_from(shape, base, own)
    }

    /// How many of these heads, not more than [`ABREAST`], are smaller.
    #[inline(always)]
    pub(super) fn heads_below<S: Lines>(self, shape: Shape, those: Range<usize>, own: u64) -> usize {
        let below = self.words.below::<S>(shape.heads() + those.start, own);
        (u64::from(below) & ones(those.len())).count_ones() as usize
    }

    /// The rank of a key, given the number of smaller heads before it.
    #[inline(always)]
    pub(super) fn rank_from(self, shape: Shape, at: usize, own: Probe<'_>) -> (usize, bool) {
        if at == shape.len() || self.head(shape, at) != own.head {
            return (at, false);
        }
        let next = head(own.key, shape.prefix() + 8);
        match self.compare_after_head(shape, at, own.key, next) {
            Ordering::Less => self.rank_among_equal_heads(shape, at + 1, own.key),
            order => (at, order.is_eq()),
        }
    }

    /// The rank of a key, given the first entry whose head may be the key's.
    #[inline(never)]
    fn rank_among_equal_heads(self, shape: Shape, from: usize, key: &[u8]) -> (usize, bool) {
        let (own, next) = (head(key, shape.prefix()), head(key, shape.prefix() + 8));
        // Where the run of equal heads ends, by the heads alone.
        let (mut end, mut size) = (from, shape.len().saturating_sub(from));
        while size > 0 {
            let half = size.div_ceil(2);
            end = core::hint::select_unpredictable(self.head(shape, end + half - 1) <= own, end + half, end);
            size -= half;
        }
        let (mut base, mut size) = (from, end - from);
        while size > 0 {
            let half = size / 2;
            match self.compare_after_head(shape, base + half, key, next) {
                Ordering::Less => {
                    base += half + 1;
                    size -= half + 1;
                }
                Ordering::Equal => return (base + half, true),
                Ordering::Greater => size = half,
            }
        }
        (base, false)
    }

    /// Whether an entry may be long; if not, none is.
    #[inline(always)]
    pub fn may_have_long(self, shape: Shape) -> bool {
        const { assert!(LONG == u8::MAX) };
        const LOWEST: u64 = u64::MAX / 0xFF;
        // A byte of ones shows as the highest bit of a byte.
        let ones = |word: u64| (!word).wrapping_sub(LOWEST) & word & (LOWEST << 7);
        let lengths = shape.lengths();
        if shape.is_of_records() {
            return false;
        }
        (0..shape.len().div_ceil(8)).any(|at| ones(self.words.word(lengths + at)) != 0)
    }

    /// The suffix of an entry that isn't long.
    #[inline(always)]
    pub fn suffix(self, shape: Shape, at: usize, to: &mut [u8; SUFFIX_ROOM]) -> &[u8] {
        let length = usize::from(self.length(shape, at)).min(SUFFIX_MAX);
        to[..8].copy_from_slice(&self.head(shape, at).to_be_bytes());
        let place = self.place(shape, at) + 1;
        for word in 0..words_of(length.saturating_sub(8)) {
            to[8 + 8 * word..][..8].copy_from_slice(&self.words.word(place + word).to_le_bytes());
        }
        &to[..length]
    }

    /// The suffix of an entry that isn't long from its byte `cut` on, as words, and how many bytes it has.
    /// `cut` is at most the suffix's length.
    #[inline(always)]
    pub fn suffix_words(self, shape: Shape, at: usize, cut: usize, to: &mut SuffixWords) -> usize {
        let length = usize::from(self.length(shape, at)).min(SUFFIX_MAX);
        let (place, words) = (self.place(shape, at), words_of(length.saturating_sub(8)));
        to[0] = self.head(shape, at).swap_bytes();
        let rest = to[1..=words].iter_mut().enumerate();
        rest.for_each(|(at, to)| *to = self.words.word(place + 1 + at));
        let (whole, bits) = (cut / 8, 8 * (cut % 8));
        if cut > 0 {
            to[words + 1] = 0;
            // At least one word, which is zero when all is cut off.
            for word in whole..=words.max(whole) {
                to[word - whole] = shifted(to[word], to[word + 1], bits);
            }
        }
        length - cut
    }

    /// Adds the suffix of an entry to `key`, which is the node's prefix; if it is long, makes `key` all of
    /// it. Returns whether all of it was there.
    pub fn key_to(self, shape: Shape, at: usize, key: &mut Vec<u8>) -> bool {
        if self.length(shape, at) == LONG {
            key.clear();
            return self.long.append(self.long_key(shape, at), key);
        }
        key.extend_from_slice(self.suffix(shape, at, &mut [0; SUFFIX_ROOM]));
        true
    }

    /// The long strings that the node names: of its entries and its fences.
    pub fn long_strings(self) -> impl Iterator<Item = LongRef> {
        let shape = self.shape();
        let entries = (0..shape.len()).filter(move |&at| self.length(shape, at) == LONG);
        let low = shape.has(Shape::LOW_LONG).then(|| self.long_low());
        let high = shape.has(Shape::HIGH_LONG).then(|| self.long_high());
        entries.map(move |at| self.long_key(shape, at)).chain(low).chain(high)
    }
}

/// Room for the words of a suffix that isn't long, and one more.
pub type SuffixWords = [u64; SUFFIX_ROOM / 8 + 1];

/// Room for a suffix that isn't long, in whole words.
pub const SUFFIX_ROOM: usize = 8 + SUFFIX_MAX.next_multiple_of(8);

/// Ones in this many of the lowest bits, or in all.
#[inline(always)]
pub(super) fn ones(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

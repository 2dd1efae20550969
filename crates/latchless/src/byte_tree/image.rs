//! A node in private memory: to be filled, and then written over a latched one.

use super::change::Entry;
use super::long::LongStrings;
use super::node::{Node, SUFFIX_ROOM, SuffixWords};
use super::shape::*;
use super::text::{common, head, word, words_of};
use super::values::Values;
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;

/// The words of a node.
pub type Image = [u64; WORDS];
/// A node in private memory.
pub type Private<'a> = Node<'a, &'a Image>;

/// A fence: the string, and, if it is long, where it is stored.
#[derive(Debug, Clone, Copy)]
pub struct Fence<'a> {
    pub bytes: &'a [u8],
    pub long: Option<LongRef>,
}

impl<'a> Fence<'a> {
    /// The empty string: what is before all keys.
    pub const FIRST: Fence<'static> = Fence { bytes: &[], long: None };

    fn high_words(self) -> usize {
        high_words(self.bytes.len())
    }

    fn low_words(self) -> usize {
        low_words(self.bytes.len())
    }
}

/// What a node is between.
#[derive(Debug, Clone, Copy)]
pub struct Fences<'a> {
    pub low: Fence<'a>,
    pub high: Option<Fence<'a>>,
}

impl Fences<'_> {
    /// Bytes that all keys between the fences begin with.
    pub fn prefix(&self) -> usize {
        self.high.map_or(0, |high| common(self.low.bytes, high.bytes))
    }

    /// Words that they take at the node's end.
    pub fn words(&self) -> usize {
        self.low.low_words() + self.high.map_or(0, Fence::high_words)
    }
}

/// Some entries of a node in private memory, whose low fence is `low`.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub node: Private<'a>,
    pub low: &'a [u8],
    pub entries: Range<usize>,
}

impl<'a> Part<'a> {
    /// Words that the entries take in a node with this prefix, if they fit one at all.
    pub fn words(&self, prefix: usize) -> Option<usize> {
        let shape = self.node.shape();
        self.entries.clone().try_fold(0, |sum, at| {
            let (length, more) = (self.node.length(shape, at), self.more(shape, at).len());
            if length == LONG {
                return Some(sum + entry_words(LONG) + more);
            }
            let length = shape.prefix() + usize::from(length) - prefix;
            (length <= SUFFIX_MAX).then(|| sum + entry_words(length as u8) + more)
        })
    }

    /// The words of an entry's value after its first.
    #[inline(always)]
    fn more(&self, shape: Shape, at: usize) -> &'a [u64] {
        if shape.values() == Values::ONE_WORD {
            return &[];
        }
        let more = shape.values().more(self.node.value(shape, at));
        &self.node.words[self.node.more_at(shape, at)..][..more]
    }

    /// Shows each entry as one of a node with this prefix.
    fn each(&self, prefix: usize, mut show: impl FnMut(Entry<'_>)) {
        let (shape, node) = (self.node.shape(), self.node);
        let (mut own, mut longer) = ([0; SUFFIX_ROOM], [0; 2 * SUFFIX_ROOM]);
        let (cut, mut words) = (prefix.checked_sub(shape.prefix()), SuffixWords::default());
        for at in self.entries.clone() {
            let (tag, value, more) = (node.tag(at), node.value(shape, at), self.more(shape, at));
            if node.length(shape, at) == LONG {
                let string = node.long_key(shape, at);
                let head = long_head(node.long, string, prefix);
                show(Entry::long(head, string, tag, value).with_more(more));
                continue;
            }
            if let Some(cut) = cut {
                let length = node.suffix_words(shape, at, cut, &mut words);
                show(Entry::of_words(&words, length, tag, value).with_more(more));
                continue;
            }
            let suffix = node.suffix(shape, at, &mut own);
            let before = &self.low[prefix..shape.prefix()];
            let len = before.len() + suffix.len();
            longer[..before.len()].copy_from_slice(before);
            longer[before.len()..len].copy_from_slice(suffix);
            show(Entry::short(&longer[..len], tag, value).with_more(more));
        }
    }
}

/// The head of a long string after a prefix.
fn long_head(long: &LongStrings, string: LongRef, prefix: usize) -> u64 {
    let mut bytes = [0; 8];
    long.bytes_at(string, prefix, &mut bytes);
    u64::from_be_bytes(bytes)
}

/// A node in private memory that is being filled, from its first entry to its last.
#[derive(Debug)]
pub struct Builder<'i> {
    image: &'i mut Image,
}

impl<'i> Builder<'i> {
    /// A node without entries, with so many slots, in an image that is all zero.
    pub fn new(image: &'i mut Image, fences: &Fences<'_>, link: NodeRef, slots: usize) -> Self {
        let (low, prefix) = (fences.low, fences.prefix());
        let high_len = fences.high.map_or(0, |high| high.bytes.len());
        let mut flags = 0;
        let mut end = WORDS;
        if let Some(high) = fences.high {
            end -= high.high_words();
            image[HIGH_HEAD] = head(high.bytes, prefix);
            flags |= write_fence(&mut image[end..], high, 0, Shape::HIGH_LONG);
        } else {
            image[HIGH_HEAD] = u64::MAX;
            flags |= Shape::NO_HIGH;
        }
        end -= low.low_words();
        flags |= write_fence(&mut image[end..], low, LOW_BYTES, Shape::LOW_LONG);
        for at in 0..LOW_BYTES / 8 {
            image[LOW + at] = word(low.bytes, 8 * at);
        }
        let lengths = (low.bytes.len() as u64) << 32 | (high_len as u64) << 48;
        image[LINK] = u64::from(link.to_word()) | lengths;
        image[SHAPE] = Shape::new(slots, WORDS - end, prefix, flags).0;
        Self { image }
    }

    /// The same node, of such values.
    pub fn with_values(self, values: Values) -> Self {
        self.image[SHAPE] = Shape(self.image[SHAPE]).with_values(values).0;
        self
    }

    /// A node with the entries of these parts, one after the other; if they fit.
    pub fn of_parts(
        image: &'i mut Image,
        fences: &Fences<'_>,
        link: NodeRef,
        parts: &[Part<'_>],
    ) -> Option<Self> {
        let prefix = fences.prefix();
        let words = parts.iter().try_fold(0, |sum, part| Some(sum + part.words(prefix)?))?;
        let len = parts.iter().map(|part| part.entries.len()).sum();
        let slots = slots_for(len, words, fences.words())?;
        let values = parts.first().map_or(Values::ONE_WORD, |part| part.node.shape().values());
        let mut builder = Self::new(image, fences, link, slots).with_values(values);
        parts.iter().for_each(|part| builder.extend(part));
        Some(builder)
    }

    /// Adds entries after all others. There is room for them.
    pub fn extend(&mut self, part: &Part<'_>) {
        let prefix = Shape(self.image[SHAPE]).prefix();
        if prefix == part.node.shape().prefix() {
            part.entries.clone().for_each(|at| self.push_same(part.node, at));
        } else {
            part.each(prefix, |entry| self.push(entry));
        }
    }

    /// Adds an entry of a node with the same prefix after all others. There is room for it.
    fn push_same(&mut self, node: Private<'_>, from: usize) {
        let (shape, old) = (Shape(self.image[SHAPE]), node.shape());
        let (length, first) = (node.length(old, from), node.place(old, from));
        let words = node.words_of_entry(old, from);
        debug_assert!(shape.has_room(words), "entries that were counted fit");
        let place = WORDS - shape.used() - words;
        self.image[place..place + words].copy_from_slice(&node.words[first..first + words]);
        self.fill_slot(shape, (node.tag(from), length, place as u8), node.head(old, from));
        self.image[SHAPE] = shape.with_entry(words).0;
    }

    /// Fills the first slot that is empty.
    #[inline(always)]
    fn fill_slot(&mut self, shape: Shape, (tag, length, place): (u8, u8, u8), head: u64) {
        let at = shape.len();
        for (array, byte) in [(SLOTS, tag), (shape.lengths(), length), (shape.places(), place)] {
            self.image[array + at / 8] |= u64::from(byte) << (at % 8 * 8);
        }
        self.image[shape.heads() + at] = head;
    }

    /// Adds an entry after all others. There is room for it.
    pub fn push(&mut self, entry: Entry<'_>) {
        let (shape, words) = (Shape(self.image[SHAPE]), entry.words());
        debug_assert!(shape.has_room(words), "entries that were counted fit");
        let place = WORDS - shape.used() - words;
        entry.store(|word, to| self.image[place + word] = to);
        self.fill_slot(shape, (entry.tag, entry.length, place as u8), entry.head);
        self.image[SHAPE] = shape.with_entry(words).0;
    }

    /// Whether there is room for an entry of so many words.
    pub fn has_room(&self, words: usize) -> bool {
        Shape(self.image[SHAPE]).has_room(words)
    }

    /// The node.
    pub fn image(&self) -> &Image {
        self.image
    }
}

/// Writes a fence from byte `from` on, or where it is stored; says with this flag that it is long.
fn write_fence(to: &mut [u64], fence: Fence<'_>, from: usize, flag: u64) -> u64 {
    if let Some(string) = fence.long {
        to[0] = string.to_word();
        return flag;
    }
    debug_assert!(fence.bytes.len() <= FENCE_MAX, "a long fence is stored outside");
    let rest = fence.bytes.get(from..).unwrap_or(&[]);
    (0..words_of(rest.len())).for_each(|at| to[at] = word(rest, 8 * at));
    0
}

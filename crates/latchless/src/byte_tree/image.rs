//! A node in private memory: to be filled, and then written over a latched one.

use super::change::Entry;
use super::long::LongStrings;
use super::node::{Node, SUFFIX_ROOM, SuffixWords};
use super::records::{append_records, centre_records, records_for};
use super::shape::*;
use super::text::{Seed, common, head, word, words_of};
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
    /// What gives a leaf's keys their tags. `None`: of an inner node, whose entries have none, and are never
    /// records.
    pub seed: Option<Seed>,
}

impl<'a> Part<'a> {
    /// These entries of the same node.
    pub fn of(&self, entries: Range<usize>) -> Self {
        Self { entries, ..*self }
    }

    /// Words that the entries take in a node with this prefix, if they fit one at all.
    pub fn words(&self, prefix: usize) -> Option<usize> {
        // The compiler makes a loop of its own for values of one word.
        if self.node.shape().values() == Values::ONE_WORD {
            self.words_with(prefix, |_| 0)
        } else {
            self.words_with(prefix, |at| self.more(self.node.shape(), at).len())
        }
    }

    /// As [`Part::words`]. `more`: how many words of an entry's value there are after its first.
    #[inline(always)]
    fn words_with(&self, prefix: usize, more: impl Fn(usize) -> usize) -> Option<usize> {
        let shape = self.node.shape();
        self.entries.clone().try_fold(0, |sum, at| {
            let (length, more) = (self.node.length(shape, at), more(at));
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

    /// The length that all suffixes of a leaf have after this prefix, if they have the same one.
    fn length_after(&self, prefix: usize) -> Option<usize> {
        let own = self.seed.and_then(|_| self.node.length_of_all(self.entries.clone()))?;
        Some(self.node.shape().prefix() + usize::from(own) - prefix)
    }

    /// The tag of an entry.
    fn tag(&self, at: usize) -> u8 {
        let (shape, node) = (self.node.shape(), self.node);
        let Some(seed) = self.seed.filter(|_| shape.is_of_records()) else { return node.tag(at) };
        let mut own = [0; SUFFIX_ROOM];
        Seed::tag(seed.hash_of_two(&self.low[..shape.prefix()], node.suffix(shape, at, &mut own)))
    }

    /// Shows each entry as one of a node with this prefix.
    fn each(&self, prefix: usize, needs_tags: bool, mut show: impl FnMut(Entry<'_>)) {
        let (shape, node) = (self.node.shape(), self.node);
        let (mut own, mut longer) = ([0; SUFFIX_ROOM], [0; 2 * SUFFIX_ROOM]);
        let (cut, mut words) = (prefix.checked_sub(shape.prefix()), SuffixWords::default());
        for at in self.entries.clone() {
            let tag = if needs_tags { self.tag(at) } else { 0 };
            let (value, more) = (node.value(shape, at), self.more(shape, at));
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

/// The form of a leaf of records with the entries of these parts; if they may be records and fit.
fn records_for_parts(parts: &[Part<'_>], fences: &Fences<'_>) -> Option<Form> {
    let (prefix, len) = (fences.prefix(), parts.iter().map(|part| part.entries.len()).sum());
    let parts = parts.iter().filter(|part| !part.entries.is_empty());
    let mut lengths = parts.map(|part| part.length_after(prefix));
    let first = lengths.next().flatten()?;
    if lengths.all(|length| length == Some(first)) { records_for(len, first, fences.words()) } else { None }
}

/// The form of a node of slots with the entries of these parts; if they fit.
fn slots_for_parts(parts: &[Part<'_>], fences: &Fences<'_>) -> Option<Form> {
    let (prefix, len) = (fences.prefix(), parts.iter().map(|part| part.entries.len()).sum());
    let words = parts.iter().try_fold(0, |sum, part| Some(sum + part.words(prefix)?))?;
    slots_for(len, words, fences.words()).map(Form::Slots)
}

/// Whether the entries of these parts fit a node of the form that they are in. Others, in a leaf of records,
/// might have equal heads.
pub fn fit(parts: &[Part<'_>], fences: &Fences<'_>) -> bool {
    let are_records = parts.iter().all(|part| part.node.shape().is_of_records());
    let records = if are_records { records_for_parts(parts, fences) } else { None };
    records.or_else(|| slots_for_parts(parts, fences)).is_some()
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
    /// A node without entries, of this form, in an image that is all zero.
    pub fn new(image: &'i mut Image, fences: &Fences<'_>, link: NodeRef, form: Form) -> Self {
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
        image[SHAPE] = Shape::new(form, WORDS - end, prefix, flags).0;
        Self { image }
    }

    /// The same node, of such values.
    pub fn with_values(self, values: Values) -> Self {
        self.image[SHAPE] = Shape(self.image[SHAPE]).with_values(values).0;
        self
    }

    /// A node with the entries of these parts, one after the other; if they fit. Where it may be a leaf of
    /// records it is one if that is preferred and no heads are equal, or if there is no room for slots.
    pub fn of_parts(
        image: &'i mut Image,
        fences: &Fences<'_>,
        link: NodeRef,
        (parts, prefers_records): (&[Part<'_>], bool),
    ) -> Option<Self> {
        let Some(records) = records_for_parts(parts, fences) else {
            let form = slots_for_parts(parts, fences)?;
            return Some(Self::of_form(image, fences, link, (form, parts)));
        };
        if prefers_records {
            let builder = Builder::of_form(&mut *image, fences, link, (records, parts));
            let node = Node { words: &*builder.image, long: parts.first()?.node.long };
            if !node.has_ties() {
                return Some(Self { image });
            }
            image.fill(0);
        }
        let form = slots_for_parts(parts, fences).unwrap_or(records);
        Some(Self::of_form(image, fences, link, (form, parts)))
    }

    /// A node of this form with the entries of these parts, which fit.
    pub fn of_form(
        image: &'i mut Image,
        fences: &Fences<'_>,
        link: NodeRef,
        (form, parts): (Form, &[Part<'_>]),
    ) -> Self {
        let values = parts.first().map_or(Values::ONE_WORD, |part| part.node.shape().values());
        let mut builder = Self::new(image, fences, link, form).with_values(values);
        parts.iter().for_each(|part| builder.extend(part));
        if matches!(form, Form::Records(..)) {
            centre_records(builder.image);
        }
        builder
    }

    /// Adds entries after all others. There is room for them.
    pub fn extend(&mut self, part: &Part<'_>) {
        let (shape, old) = (Shape(self.image[SHAPE]), part.node.shape());
        let (are_records, were_records) = (shape.is_of_records(), old.is_of_records());
        if shape.prefix() != old.prefix() || are_records != were_records {
            part.each(shape.prefix(), !are_records, |entry| self.push(entry));
        } else if are_records {
            append_records(self.image, part.node, part.entries.clone());
        } else {
            self.extend_same(part.node, part.entries.clone());
        }
    }

    /// Adds entries of a node with the same prefix after all others. There is room for them.
    fn extend_same(&mut self, node: Private<'_>, entries: Range<usize>) {
        let (shape, old, count) = (Shape(self.image[SHAPE]), node.shape(), entries.len());
        let (first, heads) = (shape.len(), shape.heads() + shape.len());
        let from = old.heads() + entries.start;
        self.image[heads..heads + count].copy_from_slice(&node.words[from..from + count]);
        for (to, from) in [(SLOTS, SLOTS), (shape.lengths(), old.lengths())] {
            append_bytes((self.image, to, first), (node.words, from), entries.clone());
        }
        let (mut place, places) = (WORDS - shape.used(), shape.places());
        for (to, at) in (first..).zip(entries) {
            let (own, words) = (node.place(old, at), node.words_of_entry(old, at));
            place -= words;
            // For short keys that is all; the compiler makes a call of the loop.
            self.image[place] = node.words[own];
            if words > 1 {
                let (copy, from) = (&mut self.image[place..place + words], &node.words[own..own + words]);
                copy.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
            }
            self.image[places + to / 8] |= (place as u64) << (to % 8 * 8);
        }
        let words = WORDS - shape.used() - place;
        debug_assert!(shape.len() + count <= shape.slots() && slots_end(shape.slots()) <= place);
        self.image[SHAPE] = shape.with_entries(count, words).0;
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
        debug_assert!(shape.has_room(entry.length, entry.more.len()), "entries that were counted fit");
        if shape.is_of_records() {
            let place = shape.record(shape.len());
            self.image[shape.heads() + shape.len()] = entry.head;
            entry.store(|word, to| self.image[place + word] = to);
            self.image[SHAPE] = shape.with_entry(0).0;
            return;
        }
        let place = WORDS - shape.used() - words;
        entry.store(|word, to| self.image[place + word] = to);
        self.fill_slot(shape, (entry.tag, entry.length, place as u8), entry.head);
        self.image[SHAPE] = shape.with_entry(words).0;
    }

    /// The node.
    pub fn image(&self) -> &Image {
        self.image
    }
}

/// Adds the bytes `range` of one image's array to that of another, which has `len` and zeros after them.
fn append_bytes(
    (image, to, len): (&mut Image, usize, usize),
    (from, array): (&Image, usize),
    range: Range<usize>,
) {
    for at in range.clone().step_by(8) {
        let (word, bits) = (array + at / 8, 8 * (at % 8));
        // Shifted in two steps: by no bits at all, the next word gives nothing.
        let bytes = from[word] >> bits | from[word + 1] << 1 << (63 - bits);
        let bytes = bytes & u64::MAX >> (64 - 8 * (range.end - at).min(8));
        let end = len + at - range.start;
        let (word, bits) = (to + end / 8, 8 * (end % 8));
        image[word] |= bytes << bits;
        image[word + 1] |= bytes >> 1 >> (63 - bits);
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

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::testing::sample;

    #[test]
    fn bytes_come_after_those_that_are_there_and_leave_the_next_array_alone() {
        let number = |at: usize| (at * 37 + 11) as u8;
        let from: Image = core::array::from_fn(|word| {
            u64::from_le_bytes(core::array::from_fn(|byte| number(8 * word + byte)))
        });
        let starts = |len| (0..10).flat_map(move |start| (0..33).map(move |count| (len, start, count)));
        let cases = (0..33).flat_map(starts).step_by(sample(331));
        for (len, start, count) in cases {
            let mut image = [0; WORDS];
            for at in 0..len {
                image[SLOTS + at / 8] |= 0xAA << (at % 8 * 8);
            }
            append_bytes((&mut image, SLOTS, len), (&from, 3), start..start + count);
            let own: Vec<u8> = image[SLOTS..SLOTS + 12].iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(own[..len].iter().all(|&byte| byte == 0xAA));
            assert!((0..count).all(|at| own[len + at] == number(24 + start + at)), "{len} {start} {count}");
            assert!(own[len + count..].iter().all(|&byte| byte == 0), "{len} {start} {count}");
        }
    }
}

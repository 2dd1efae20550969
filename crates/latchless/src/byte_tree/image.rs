//! A node in private memory: filled there, then written over a latched one.

use super::change::Entry;
use super::fences::{Fence, Fences};
use super::node::{Image, Private, Words};
use super::part::{Part, have_ties, records_for_parts, slots_for_parts};
use super::records::{append_records, centre_records};
use super::shape::{
    FENCE_MAX, Form, HEADER_LEN_MAX, HIGH_HEAD, LINK, LOW, LOW_BYTES, SHAPE, SLOTS, Shape, WORDS,
    entry_words, slots_end,
};
use super::text::{head, shifted, word, words_of};
use super::values::Values;
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;

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
        let [low_len, high_len] = [low.bytes.len(), high_len].map(|len| len.min(HEADER_LEN_MAX) as u64);
        image[LINK] = u64::from(link.to_word()) | low_len << 32 | high_len << 48;
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
        parts: &[Part<'_>],
        prefers_records: bool,
    ) -> Option<Self> {
        let records = records_for_parts(parts, fences);
        let form = match records.filter(|_| prefers_records && !have_ties(parts, fences.prefix())) {
            Some(records) => records,
            None => slots_for_parts(parts, fences).or(records)?,
        };
        Some(Self::of_form(image, fences, link, form, parts))
    }

    /// A node of this form with the entries of these parts, which fit.
    pub fn of_form(
        image: &'i mut Image,
        fences: &Fences<'_>,
        link: NodeRef,
        form: Form,
        parts: &[Part<'_>],
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
        if !are_records && !were_records && shape.prefix() > old.prefix() && part.is_plain() {
            self.extend_cut(part.node, part.entries.clone());
        } else if shape.prefix() != old.prefix() || are_records != were_records {
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
            append_bytes(self.image, to, first, node.words, from, entries.clone());
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

    /// Adds entries of a node with a shorter prefix, whose values have one word and none of which is long,
    /// after all others. There is room for them.
    fn extend_cut(&mut self, node: Private<'_>, entries: Range<usize>) {
        let (shape, old, count) = (Shape(self.image[SHAPE]), node.shape(), entries.len());
        let (first, cut) = (shape.len(), shape.prefix() - old.prefix());
        let (whole, bits) = (cut / 8, 8 * (cut % 8));
        append_bytes(self.image, SLOTS, first, node.words, SLOTS, entries.clone());
        let mut place = WORDS - shape.used();
        for (to, at) in (first..).zip(entries) {
            let (own, length) = (node.place(old, at), usize::from(node.length(old, at)));
            let (head, words) = (node.head(old, at).swap_bytes(), entry_words(length as u8));
            let old_word = |at: usize| match at {
                0 => head,
                _ if at < words => node.words.word(own + at),
                _ => 0,
            };
            let word = |at: usize| shifted(old_word(whole + at), old_word(whole + at + 1), bits);
            let length = (length - cut) as u8;
            place -= entry_words(length);
            self.image[place] = node.words.word(own);
            self.image[shape.heads() + to] = word(0).swap_bytes();
            for at in 1..entry_words(length) {
                self.image[place + at] = word(at);
            }
            for (array, byte) in [(shape.lengths(), length), (shape.places(), place as u8)] {
                self.image[array + to / 8] |= u64::from(byte) << (to % 8 * 8);
            }
        }
        let words = WORDS - shape.used() - place;
        debug_assert!(first + count <= shape.slots() && slots_end(shape.slots()) <= place);
        self.image[SHAPE] = shape.with_entries(count, words).0;
    }

    /// Fills the first slot that is empty: with these tag, length and place, and this head.
    #[inline(always)]
    fn fill_slot(&mut self, shape: Shape, bytes: [u8; 3], head: u64) {
        let at = shape.len();
        for (array, byte) in [SLOTS, shape.lengths(), shape.places()].into_iter().zip(bytes) {
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
        self.fill_slot(shape, [entry.tag, entry.length, place as u8], entry.head);
        self.image[SHAPE] = shape.with_entry(words).0;
    }

    /// The node.
    pub fn image(&self) -> &Image {
        self.image
    }
}

/// Adds the bytes `range` of one image's array to that of another, which has `len` and zeros after them.
fn append_bytes(image: &mut Image, to: usize, len: usize, from: &Image, array: usize, range: Range<usize>) {
    for at in range.clone().step_by(8) {
        let (word, bits) = (array + at / 8, 8 * (at % 8));
        let bytes = shifted(from[word], from[word + 1], bits);
        let bytes = bytes & u64::MAX >> (64 - 8 * (range.end - at).min(8));
        let end = len + at - range.start;
        let (word, bits) = (to + end / 8, 8 * (end % 8));
        image[word] |= bytes << bits;
        image[word + 1] |= bytes >> 1 >> (63 - bits);
    }
}

/// Writes a fence from byte `from` on, or its location; sets this flag if it is long.
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
            append_bytes(&mut image, SLOTS, len, &from, 3, start..start + count);
            let own: Vec<u8> = image[SLOTS..SLOTS + 12].iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(own[..len].iter().all(|&byte| byte == 0xAA));
            assert!((0..count).all(|at| own[len + at] == number(24 + start + at)), "{len} {start} {count}");
            assert!(own[len + count..].iter().all(|&byte| byte == 0), "{len} {start} {count}");
        }
    }
}

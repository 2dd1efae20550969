//! A subset of a node's entries: its size and encoding in another node.

use super::change::Entry;
use super::fences::Fences;
use super::long::LongStrings;
use super::node::{Private, SUFFIX_ROOM, SuffixWords};
use super::records::records_for;
use super::shape::{Form, LONG, LongRef, SUFFIX_MAX, Shape, entry_words, slots_for};
use super::text::{Seed, head};
use super::values::Values;
use core::ops::Range;

/// Some entries of a node in private memory, whose low fence is `low`.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub node: Private<'a>,
    pub low: &'a [u8],
    pub entries: Range<usize>,
    /// Derives the tags of a leaf's keys. `None`: an inner node, whose entries have no tags and are never
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
        if let Some(length) = self.node.length_of_all(self.entries.clone()) {
            let length = self.node.shape().prefix() + usize::from(length) - prefix;
            return (length <= SUFFIX_MAX).then(|| self.entries.len() * entry_words(length as u8));
        }
        // The compiler specializes the loop for values of one word.
        if self.node.shape().values() == Values::ONE_WORD {
            self.words_with(prefix, |_| 0)
        } else {
            self.words_with(prefix, |at| self.more(self.node.shape(), at).len())
        }
    }

    /// Words of these entries in a node. `more`: words of an entry's value after its first.
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

    /// Whether values have one word, and no entry of the node is long.
    pub fn is_plain(&self) -> bool {
        let shape = self.node.shape();
        shape.values() == Values::ONE_WORD && !self.node.may_have_long(shape)
    }

    /// The head that an entry that isn't long has after this prefix.
    #[inline(always)]
    fn head_after(&self, at: usize, prefix: usize) -> u64 {
        let (node, shape) = (self.node, self.node.shape());
        let own = node.head(shape, at);
        match prefix.checked_sub(shape.prefix()) {
            Some(0) => own,
            Some(cut) => {
                let mut words = SuffixWords::default();
                node.suffix_words(shape, at, cut, &mut words);
                words[0].swap_bytes()
            }
            None => {
                let before = &self.low[prefix..shape.prefix()];
                head(before, 0) | own.checked_shr(8 * before.len() as u32).unwrap_or(0)
            }
        }
    }

    /// Whether entries have equal heads after this prefix, or the first has this one.
    fn ties_after(&self, prefix: usize, before: Option<u64>) -> bool {
        let mut entries = self.entries.clone();
        if prefix == self.node.shape().prefix() {
            let first = entries.clone().next().map(|at| self.head_after(at, prefix));
            return first.is_some() && first == before || self.node.has_ties(entries);
        }
        let mut last = before;
        entries.any(|at| {
            let head = self.head_after(at, prefix);
            last.replace(head) == Some(head)
        })
    }

    /// The tag of an entry.
    fn tag(&self, at: usize) -> u8 {
        let (shape, node) = (self.node.shape(), self.node);
        let Some(seed) = self.seed.filter(|_| shape.is_of_records()) else { return node.tag(at) };
        let mut own = [0; SUFFIX_ROOM];
        Seed::tag(seed.hash_of_two(&self.low[..shape.prefix()], node.suffix(shape, at, &mut own)))
    }

    /// Shows each entry as one of a node with this prefix.
    pub fn each(&self, prefix: usize, needs_tags: bool, mut show: impl FnMut(Entry<'_>)) {
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
pub fn records_for_parts(parts: &[Part<'_>], fences: &Fences<'_>) -> Option<Form> {
    let (prefix, len) = (fences.prefix(), parts.iter().map(|part| part.entries.len()).sum());
    let parts = parts.iter().filter(|part| !part.entries.is_empty());
    let mut lengths = parts.map(|part| part.length_after(prefix));
    let first = lengths.next().flatten()?;
    if lengths.all(|length| length == Some(first)) { records_for(len, first, fences.words()) } else { None }
}

/// The form of a node of slots with the entries of these parts; if they fit.
pub fn slots_for_parts(parts: &[Part<'_>], fences: &Fences<'_>) -> Option<Form> {
    let (prefix, len) = (fences.prefix(), parts.iter().map(|part| part.entries.len()).sum());
    let words = parts.iter().try_fold(0, |sum, part| Some(sum + part.words(prefix)?))?;
    slots_for(len, words, fences.words()).map(Form::Slots)
}

/// Whether entries of these parts, none of which is long, have equal heads after this prefix.
pub fn have_ties(parts: &[Part<'_>], prefix: usize) -> bool {
    let mut last = None;
    parts.iter().any(|part| {
        let ties = part.ties_after(prefix, last);
        last = part.entries.clone().next_back().map(|at| part.head_after(at, prefix)).or(last);
        ties
    })
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

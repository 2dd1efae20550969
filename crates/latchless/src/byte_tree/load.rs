//! Bulk loading of sorted entries: level by level, each node filled to the requested degree.

use super::change::Entry;
use super::fences::{Fence, Fences};
use super::image::Builder;
use super::long::{Blocks, LongStrings};
use super::node::Node;
use super::records::records_for;
use super::shape::{
    ENTRIES_MAX, FENCE_MAX, Form, LEN_MAX, LONG, SLOTS, SUFFIX_MAX, WORDS, entry_words, slots_for,
};
use super::take::Packed;
use super::text::{Seed, common, head, separator_len};
use super::tree::ByteTree;
use super::values::Values;
use crate::blink::Levels;
use latchless_core::base::bytes_value::Raw;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::spans;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::refusal::reserve;

/// Strings one after the other, each with a word, and some with more.
#[derive(Debug, Default)]
struct Entries {
    bytes: Vec<u8>,
    /// Where each string ends, its word, and where its other words end.
    ends: Vec<(usize, u64, usize)>,
    more: Vec<u64>,
}

impl Entries {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn key(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.bytes[start..self.ends[at].0]
    }

    /// The words of a string after its first.
    fn more(&self, at: usize) -> &[u64] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].2);
        &self.more[start..self.ends[at].2]
    }

    fn push(&mut self, key: &[u8], word: u64, more: &[u64]) -> Result<()> {
        reserve(&mut self.bytes, key.len())?;
        reserve(&mut self.ends, 1)?;
        reserve(&mut self.more, more.len())?;
        self.bytes.extend_from_slice(key);
        self.more.extend_from_slice(more);
        self.ends.push((self.bytes.len(), word, self.more.len()));
        Ok(())
    }

    /// Removes the first `count` strings.
    fn remove_first(&mut self, count: usize) {
        let (start, _, more) = count.checked_sub(1).map_or((0, 0, 0), |last| self.ends[last]);
        self.bytes.drain(..start);
        self.more.drain(..more);
        self.ends.drain(..count);
        for (end, _, more_end) in &mut self.ends {
            (*end, *more_end) = (*end - start, *more_end - more);
        }
    }
}

/// The fill of a node that takes as many entries as fit.
const FULL: usize = 1000;

/// One level that is being built, from left to right.
struct Level<'a> {
    tree: &'a ByteTree,
    level: usize,
    /// In thousandths of a node. A node that is to be [`FULL`] takes entries as long as they fit; others
    /// only need an estimate.
    fill: usize,
    /// Entries that are in no node yet.
    pending: Entries,
    /// Their weight after the prefix that they share with the low fence.
    weight: usize,
    prefix: usize,
    /// How many of them have the same head as the one before.
    ties: usize,
    /// Whether they may be records: they have one length, and values of one word.
    are_even: bool,
    /// Where the node begins that is next, and the node.
    low: Vec<u8>,
    node: NodeRef,
    /// The finished nodes, and where they begin.
    nodes: Entries,
    blocks: Blocks<'a>,
}

/// Whether entries of a level may be records, if their keys have one length.
fn may_be_even(tree: &ByteTree, level: usize) -> bool {
    level == 0 && tree.store.values() == Values::ONE_WORD
}

/// Words of an entry whose value has one word, after a prefix.
fn words_after(len: usize, prefix: usize) -> usize {
    let suffix = len - prefix;
    entry_words(if suffix > SUFFIX_MAX { LONG } else { suffix as u8 })
}

/// Allocates a node of a level. Nothing is latched.
fn allocate(tree: &ByteTree, level: usize) -> Result<NodeRef> {
    tree.budget().relieved(|| tree.store.nodes().allocate(level))
}

impl<'a> Level<'a> {
    fn new(tree: &'a ByteTree, level: usize, fill: FillFactor) -> Result<Self> {
        Ok(Self {
            tree,
            level,
            fill: (fill.share() * 1000.0) as usize,
            pending: Entries::default(),
            weight: 0,
            prefix: usize::MAX,
            ties: 0,
            are_even: may_be_even(tree, level),
            low: Vec::new(),
            node: allocate(tree, level)?,
            nodes: Entries::default(),
            blocks: tree.store.long().put_aside(),
        })
    }

    /// Adds an entry after all others.
    fn push(&mut self, key: &[u8], word: u64, more: &[u64]) -> Result<()> {
        self.pending.push(key, word, more)?;
        self.weigh(self.pending.len() - 1);
        let room = 8 * (WORDS - SLOTS - 4) * self.fill / 1000;
        let most = (ENTRIES_MAX * self.fill / 1000).max(2);
        let slot = if self.may_be_records() { 8 } else { 11 };
        let weight = self.weight + slot * self.pending.len();
        // One entry more than fit shows where the node ends.
        let count = self.pending.len() - 1;
        let is_over = count > 1 && (weight > room || count >= most);
        if is_over && (self.fill < FULL || count >= most || !self.fits(count, Some(&self.end(count)))) {
            self.finish_node(count)?;
        }
        Ok(())
    }

    /// Where a node with the first `count` entries ends. An entry follows these.
    fn end(&self, count: usize) -> Vec<u8> {
        let (last, next) = (self.pending.key(count - 1), self.pending.key(count));
        let len = if self.level > 0 { next.len() } else { separator_len(last, next) };
        next[..len].to_vec()
    }

    /// Weighs the entry at `at`, the last of those that count.
    fn weigh(&mut self, at: usize) {
        let key = self.pending.key(at);
        // The first node of a level begins before all keys.
        let prefix = common(&self.low, key).min(self.prefix);
        let is_same = at == 0 || key.len() == self.pending.key(0).len();
        self.are_even &= is_same && self.pending.more(at).is_empty();
        if prefix == self.prefix {
            self.weight += self.weight_of(at, prefix);
            self.ties += usize::from(self.is_tie(at));
        } else {
            self.prefix = prefix;
            self.weight = (0..=at).map(|at| self.weight_of(at, prefix)).sum();
            self.ties = (0..=at).filter(|&at| self.is_tie(at)).count();
        }
    }

    /// Whether an entry has the same head as the one before.
    fn is_tie(&self, at: usize) -> bool {
        let own = |at| head(self.pending.key(at), self.prefix);
        at > 0 && own(at - 1) == own(at)
    }

    /// The weight of the entry at `at` after a prefix, without its slot, in eighths of a word.
    fn weight_of(&self, at: usize, prefix: usize) -> usize {
        8 * (words_after(self.pending.key(at).len(), prefix) + self.pending.more(at).len())
    }

    /// Whether the entries may be records.
    fn may_be_records(&self) -> bool {
        self.are_even && self.ties == 0
    }

    /// Fills the node with the first `count` entries, or as many as fit. An entry follows these.
    fn finish_node(&mut self, mut count: usize) -> Result<()> {
        loop {
            let high = self.end(count);
            if self.fits(count, Some(&high)) {
                let link = allocate(self.tree, self.level)?;
                self.write(count, Some(&high), link)?;
                (self.low, self.node) = (high, link);
                break;
            }
            count -= 1;
        }
        self.pending.remove_first(count);
        (self.weight, self.prefix, self.ties) = (0, usize::MAX, 0);
        self.are_even = may_be_even(self.tree, self.level);
        (0..self.pending.len()).for_each(|at| self.weigh(at));
        Ok(())
    }

    /// The form of a node with the first `count` entries between these fences; if they fit.
    fn form(&self, count: usize, fences: &Fences<'_>) -> Option<Form> {
        let (prefix, other) = (fences.prefix(), fences.words());
        let length = if count > 0 { self.pending.key(0).len() - prefix } else { 0 };
        let records = if self.may_be_records() { records_for(count, length, other) } else { None };
        let words = || (0..count).map(|at| self.weight_of(at, prefix) / 8).sum();
        records.or_else(|| slots_for(count, words(), other).map(Form::Slots))
    }

    fn fits(&self, count: usize, high: Option<&[u8]>) -> bool {
        self.form(count, &fences(&self.low, high)).is_some()
    }

    /// Fills the node with the first `count` entries, which fit.
    fn write(&mut self, count: usize, high: Option<&[u8]>, link: NodeRef) -> Result<()> {
        let fences = fences(&self.low, high);
        let prefix = fences.prefix();
        let form = self.form(count, &fences).expect("entries that fit");
        let is_long = |at: &usize| self.pending.key(*at).len() - prefix > SUFFIX_MAX;
        let of_entries: usize =
            (0..count).filter(is_long).map(|at| LongStrings::blocks_for(self.pending.key(at).len())).sum();
        let of_fences =
            |bytes: &[u8]| if bytes.len() > FENCE_MAX { LongStrings::blocks_for(bytes.len()) } else { 0 };
        self.blocks.reserve(of_entries + of_fences(&self.low) + high.map_or(0, of_fences))?;
        let low = fences.low.stored(&mut self.blocks);
        let high = fences.high.map(|high| high.stored(&mut self.blocks));
        let mut image = [0; WORDS];
        let values = if self.level == 0 { self.tree.store.values() } else { Values::ONE_WORD };
        let mut builder = Builder::new(&mut image, &Fences { low, high }, link, form).with_values(values);
        for at in 0..count {
            let (key, word) = (self.pending.key(at), self.pending.ends[at].1);
            let tag = if self.level == 0 { Seed::tag(self.tree.store.hash(key)) } else { 0 };
            let entry = if key.len() - prefix > SUFFIX_MAX {
                Entry::long(head(key, prefix), self.blocks.store(key), tag, word)
            } else {
                Entry::short(&key[prefix..], tag, word)
            };
            builder.push(entry.with_more(self.pending.more(at)));
        }
        let (at, mut held) = self.tree.store.latch(self.tree.store.at(self.node));
        held.changing();
        at.1.write(builder.image());
        if self.level == 0 {
            let ByteTree { store, finder, .. } = self.tree;
            finder.learn_shape(store, Node { words: builder.image(), long: store.long() });
        }
        self.nodes.push(&self.low, u64::from(self.node.to_word()), &[])
    }

    /// Fills the last nodes. Returns which nodes there are.
    fn finish(mut self) -> Result<Entries> {
        while !self.fits(self.pending.len(), None) {
            let half = self.pending.len() / 2;
            self.finish_node(half)?;
        }
        self.write(self.pending.len(), None, NodeRef::NIL)?;
        Ok(self.nodes)
    }
}

fn fences<'a>(low: &'a [u8], high: Option<&'a [u8]>) -> Fences<'a> {
    let fence = |bytes| Fence { bytes, long: None };
    Fences { low: fence(low), high: high.map(fence) }
}

/// Writes the next key and its value; returns whether there is one.
pub type Next<'n> = dyn FnMut(&mut Vec<u8>, &mut Loaded<'_>) -> bool + 'n;

/// The value of the next key.
#[derive(Debug)]
pub struct Loaded<'a> {
    long: &'a LongStrings,
    packed: Packed,
    outcome: Result<()>,
}

impl Loaded<'_> {
    /// Makes it this value. If that is refused, so is the load.
    #[inline]
    pub fn set(&mut self, value: Raw<'_>) {
        self.outcome = self.packed.set(self.long, value);
    }
}

/// A tree that is being loaded. Empty again, unless the load gets to its end: it may be refused, and the
/// caller's code, which makes the keys, may panic.
struct Loading<'a> {
    tree: &'a mut ByteTree,
    is_whole: bool,
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.tree.clear();
        }
    }
}

impl ByteTree {
    /// Fills an empty tree with ascending keys. `next` makes the string that it is given the next key, and
    /// the value that it is given the key's, if there is another one.
    ///
    /// # Errors
    /// When keys don't ascend, keys or values are too long, or memory is refused. The tree is empty then. So
    /// it is when `next` panics.
    pub fn load(&mut self, fill: FillFactor, next: &mut Next<'_>) -> Result<()> {
        if !self.is_empty() {
            return Err(Error::NotEmpty { len: self.len() });
        }
        let span = spans::bulk_load();
        self.store.clear();
        // It leads to leaves that there were before the last key was removed.
        self.finder.clear();
        let mut loading = Loading { tree: self, is_whole: false };
        let len = loading.tree.build(fill, next)?;
        loading.is_whole = true;
        span.record("entries", len as u64);
        span.record("bytes", loading.tree.live_bytes() as u64);
        Ok(())
    }

    /// Fills a tree without nodes, and returns the number of its entries. See [`ByteTree::load`].
    ///
    /// # Errors
    /// Those of [`ByteTree::load`]. What nodes there are then is part of no tree.
    pub(super) fn build(&mut self, fill: FillFactor, next: &mut Next<'_>) -> Result<usize> {
        let len = self.load_levels(fill, next)?;
        self.store.set_entries(len);
        self.finder.follow_growth(&self.store);
        Ok(len)
    }

    fn load_levels(&self, fill: FillFactor, next: &mut Next<'_>) -> Result<usize> {
        let (mut len, mut longest) = (0, 0);
        let mut value = Loaded {
            long: self.store.long(),
            packed: Packed::of(self.store.long(), Raw::Word(0))?,
            outcome: Ok(()),
        };
        let [mut key, mut last] = [Vec::new(), Vec::new()];
        let mut leaves = Level::new(self, 0, fill)?;
        while next(&mut key, &mut value) {
            core::mem::replace(&mut value.outcome, Ok(()))?;
            if key.len() > LEN_MAX {
                return Err(Error::KeyTooLong { len: key.len(), limit: LEN_MAX });
            }
            if len > 0 && key <= last {
                let position = len;
                return Err(if key == last {
                    Error::DuplicateKey { position }
                } else {
                    Error::Unsorted { position }
                });
            }
            leaves.push(&key, value.packed.first(), value.packed.more())?;
            longest = longest.max(key.len());
            len += 1;
            core::mem::swap(&mut key, &mut last);
            key.clear();
        }
        self.store.longest().note(longest)?;
        let (mut nodes, mut level) = (leaves.finish()?, 1);
        while nodes.len() > 1 {
            let mut above = Level::new(self, level, fill)?;
            (0..nodes.len()).try_for_each(|at| above.push(nodes.key(at), nodes.ends[at].1, &[]))?;
            (nodes, level) = (above.finish()?, level + 1);
        }
        self.store.root().set(NodeRef::from_word(nodes.ends[0].1 as u32), level);
        Ok(len)
    }
}

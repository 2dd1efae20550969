//! Invariant checks of a whole tree.

use super::long::LongStrings;
use super::merge::taken;
use super::shape::{ENTRIES_MAX, HEADER_LEN_MAX, SLOTS, Shape, WORDS, high_words, low_words};
use super::store::{At, Store};
use super::text::{Seed, common, head};
use super::tree::ByteTree;
use super::values::Values;
use crate::blink::{Check, Content, check, stats};
use latchless_core::base::error::Broken;
use latchless_core::base::stats::Stats;
use latchless_core::mem::node_ref::NodeRef;

/// Stops with a message when something isn't so.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

impl ByteTree {
    /// The tree's form. Visits every node; approximate while other threads change the tree.
    pub fn stats(&self) -> Stats {
        stats(&self.store, WORDS, |(_, leaf)| SLOTS + leaf.fence_words() + taken(leaf))
    }

    /// Checks every node.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let sums = check(&self.store, Vec::new())?;
        let long = self.store.long();
        if long.tree_nodes() != sums.nodes || long.live_bytes() != sums.blocks * 256 {
            return Err(Broken::new("nodes, or blocks of long strings, were lost".to_owned()));
        }
        Ok(())
    }
}

impl Check for Store {
    type Fence = Vec<u8>;

    fn is_of_level(&self, node: NodeRef, level: usize) -> bool {
        self.nodes().is_of_kind(level, node)
    }

    fn content(&self, (_, view): At<'_>, level: usize) -> Result<Content<Vec<u8>>, String> {
        let shape = view.shape();
        ensure!(!shape.has(Shape::DEAD), "it is dead");
        ensure!(shape.len() <= ENTRIES_MAX, "{} entries", shape.len());
        let (mut low, mut high) = (Vec::new(), Vec::new());
        view.low_to(&mut low);
        let high = view.high_to(&mut high).then_some(high);
        let prefix = high.as_ref().map_or(0, |high| common(&low, high).min(HEADER_LEN_MAX));
        ensure!(shape.prefix() == prefix, "a prefix of {} instead of {prefix} bytes", shape.prefix());
        let fences = high_words(high.as_ref().map_or(0, Vec::len)) + low_words(low.len());
        let mut taken: Vec<_> = (WORDS - fences..WORDS).collect();
        let mut entries: Vec<(Vec<u8>, NodeRef)> = Vec::new();
        for at in 0..shape.len() {
            let mut key = low[..prefix].to_vec();
            ensure!(view.key_to(shape, at, &mut key), "a long key has lost its end");
            ensure!(
                key >= low && high.as_ref().is_none_or(|high| key < *high),
                "a key isn't between the fences"
            );
            ensure!(entries.last().is_none_or(|(last, _)| *last < key), "keys don't ascend");
            ensure!(view.head(shape, at) == head(&key, prefix), "a head isn't its key's");
            let has_tag = level == 0 && !shape.is_of_records();
            ensure!(!has_tag || view.tag(at) == Seed::tag(self.hash(&key)), "a tag isn't its key's");
            let (place, words) = (view.place(shape, at), view.words_of_entry(shape, at));
            taken.extend(place..place + words);
            entries.push((key, NodeRef::from_word(view.value(shape, at) as u32)));
        }
        let words = taken.len();
        taken.sort_unstable();
        taken.dedup();
        ensure!(taken.len() == words && taken.last().is_none_or(|&last| last < WORDS), "entries overlap");
        ensure!(
            taken.first().is_none_or(|&first| first >= shape.heads() + shape.len()),
            "entries reach the slots"
        );
        if shape.is_of_records() {
            ensure!(level == 0 && shape.has_words(0), "records in an inner node, or reach the fences");
            ensure!(fences == shape.used(), "records are counted as in a heap");
            ensure!(shape.first() + shape.len() <= shape.slots(), "records behind their places");
        } else {
            ensure!(words + shape.wasted() == shape.used(), "{words} words and {} wasted", shape.wasted());
        }
        ensure!(shape.values() == if level == 0 { self.values() } else { Values::ONE_WORD }, "other values");
        let strings = view.long_strings().chain(view.long_values());
        let blocks = strings.map(|string| LongStrings::blocks_for(string.len)).sum();
        let (entries, children) = if level == 0 { (entries.len(), Vec::new()) } else { (0, entries) };
        Ok(Content { low, end: high, children, entries, blocks })
    }
}

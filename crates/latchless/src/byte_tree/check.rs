//! Invariant checks of a whole tree.

use super::change::Shared;
use super::long::LongStrings;
use super::merge::taken;
use super::node::Toward;
use super::shape::{ENTRIES_MAX, SLOTS, Shape, WORDS, high_words, low_words};
use super::text::{Seed, common, head};
use super::tree::ByteTree;
use super::values::Values;
use latchless_core::base::error::Broken;
use latchless_core::base::stats::Stats;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// Stops with a message when something isn't so.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(Broken::new(format!($($what)+)));
        }
    };
}

/// A node's fences, and the keys and words of its entries.
struct Content {
    low: Vec<u8>,
    high: Option<Vec<u8>>,
    entries: Vec<(Vec<u8>, u64)>,
    /// Blocks of its long strings.
    blocks: usize,
}

impl ByteTree {
    /// The tree's form. Visits every node; approximate while other threads change the tree.
    pub fn stats(&self) -> Stats {
        let (_, levels) = self.store.root();
        let (mut leaves, mut inner_nodes, mut words) = (0, 0, 0);
        for level in 0..levels {
            let mut node = self.store.descend::<Scalar>(level, &[], Toward::Key).unwrap_or(NodeRef::NIL);
            while !node.is_nil() {
                let view = self.store.at(node).1;
                if level == 0 {
                    leaves += 1;
                    words += SLOTS + view.fence_words() + taken(view);
                } else {
                    inner_nodes += 1;
                }
                node = view.link();
            }
        }
        let mut stats = Stats::default();
        stats.levels = levels;
        stats.inner_nodes = inner_nodes;
        stats.leaves = leaves;
        stats.leaf_fill = words as f64 / (leaves * WORDS).max(1) as f64;
        stats.splits = self.store.counts().splits();
        stats.restarts = self.store.counts().restarts();
        stats.misled = self.store.counts().misled();
        stats
    }

    /// Checks every node.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (root, levels) = self.store.root();
        let (mut named, mut blocks, mut nodes) = (vec![(Vec::new(), u64::from(root.to_word()))], 0, 0);
        for level in (0..levels).rev() {
            let mut below = Vec::new();
            let mut end = Some(Vec::new());
            for (at, (key, word)) in named.iter().enumerate() {
                let node = NodeRef::from_word(*word as u32);
                ensure!(self.store.nodes().is_of_kind(level, node), "{node:?} isn't of level {level}");
                let view = self.store.at(node).1;
                let content = self.check_node(level, view)?;
                ensure!(content.low == *key, "node {at} of level {level} isn't named at its low fence");
                ensure!(
                    end.as_ref() == Some(key),
                    "node {at} of level {level} isn't where the last one ended"
                );
                let link =
                    named.get(at + 1).map_or(NodeRef::NIL, |(_, next)| NodeRef::from_word(*next as u32));
                ensure!(view.link() == link, "node {at} of level {level} links elsewhere");
                ensure!(level == 0 || !content.entries.is_empty(), "an inner node without children");
                end = content.high;
                blocks += content.blocks;
                below.extend(content.entries);
            }
            ensure!(end.is_none(), "level {level} ends too early");
            nodes += named.len();
            named = below;
        }
        ensure!(named.len() == self.len(), "{} entries are counted as {}", named.len(), self.len());
        ensure!(self.store.long().tree_nodes() == nodes, "nodes were lost");
        ensure!(self.store.long().live_bytes() == blocks * 256, "blocks of long strings were lost");
        Ok(())
    }

    fn check_node(&self, level: usize, view: Shared<'_>) -> Result<Content, Broken> {
        let shape = view.shape();
        ensure!(!view.latch().is_held() && !shape.has(Shape::DEAD), "a node is latched or dead");
        ensure!(shape.len() <= ENTRIES_MAX, "{} entries", shape.len());
        let (mut low, mut high) = (Vec::new(), Vec::new());
        view.low_to(&mut low);
        let high = view.high_to(&mut high).then_some(high);
        let prefix = high.as_ref().map_or(0, |high| common(&low, high));
        ensure!(shape.prefix() == prefix, "a prefix of {} instead of {prefix} bytes", shape.prefix());
        let fences = high_words(high.as_ref().map_or(0, Vec::len)) + low_words(low.len());
        let mut taken: Vec<_> = (WORDS - fences..WORDS).collect();
        let mut entries: Vec<(Vec<u8>, u64)> = Vec::new();
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
            ensure!(!has_tag || view.tag(at) == Seed::tag(self.store.hash(&key)), "a tag isn't its key's");
            let (place, words) = (view.place(shape, at), view.words_of_entry(shape, at));
            taken.extend(place..place + words);
            entries.push((key, view.value(shape, at)));
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
        ensure!(
            shape.values() == if level == 0 { self.store.values() } else { Values::ONE_WORD },
            "other values"
        );
        let strings = view.long_strings().chain(view.long_values());
        let blocks = strings.map(|string| LongStrings::blocks_for(string.len)).sum();
        Ok(Content { low, high, entries, blocks })
    }
}

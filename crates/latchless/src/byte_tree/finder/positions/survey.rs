//! Laying out a table: samples leaves to learn the keys' notation and the range of their numbers.

use super::numbers::{Numbers, Seen};
use super::{FEWEST_SLOTS, HUGE_FROM_BYTES, Positions, SIZES, bytes_of, slots_of};
use crate::blink::Levels;
use crate::byte_tree::key_room::whole_key;
use crate::byte_tree::node::{Image, Node, Toward};
use crate::byte_tree::shape::WORDS;
use crate::byte_tree::store::Store;
use crate::byte_tree::text::common;
use crate::tree::{SEGMENTS, Segments, are_even};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::words::Words;
use latchless_core::search::Scalar;
use latchless_core::sync::Word;

/// The most nodes of a level that are sampled.
const NODES: usize = 256;
/// Separators of a node, and keys of a leaf, that are sampled: so few that a survey takes no longer than
/// some ten splits.
const SEPARATORS: usize = 8;
const KEYS: usize = 4;

/// Numbers per slot, as a logarithm: enough to locate a leaf's end within a slot, and more where some slots
/// have most of the leaves.
const EVEN_BITS: u32 = 10;
const UNEVEN_BITS: u32 = 20;

/// The result of sampling some leaves.
struct Survey {
    prefix: Vec<u8>,
    seen: Seen,
    /// The first key of each leaf.
    firsts: Vec<Vec<u8>>,
}

impl Positions {
    /// A table of this size with empty slots, whose memory may not be ready yet. None: memory is refused.
    fn emptied(&self, size: usize) -> Option<&Words<Word>> {
        if size >= SIZES {
            return None;
        }
        let (len, bytes) = (slots_of(size) + 1, bytes_of(size));
        if !self.is_charged(size) {
            self.budget.take(bytes).ok()?;
            self.charged.add(1 << size);
        }
        let huge_pages = self.huge_pages && bytes >= HUGE_FROM_BYTES;
        let made = self.tables.get_or_try(size, || Words::new(len, huge_pages));
        let words = made.inspect_err(|_| self.discharge(size)).ok()?;
        if self.emptied.load_relaxed() != size as u64 + 1 {
            if self.form() == size + 1 {
                self.publish(0, 0);
            }
            words.give_back(0..len);
            if self.prefault {
                words.prefault(len);
            }
            self.emptied.store_relaxed(size as u64 + 1);
        }
        Some(words)
    }

    /// Lays out the table of this size, for this many nodes. `None`: it wouldn't pay; no table is in use
    /// then.
    fn fill_in(&self, size: usize, nodes: usize, survey: Option<&Survey>) -> Option<()> {
        let before = self.form();
        self.publish(0, nodes);
        self.cut(slots_of(size), survey?)?;
        let counts = [&self.outside, &self.emptied, &self.nearness].into_iter().chain(&self.balances);
        counts.for_each(|word| word.store_relaxed(0));
        self.publish(size as u64 + 1, nodes);
        if before > 0
            && before != size + 1
            && let Some(words) = self.tables.get(before - 1)
            && words.give_back(0..words.len())
        {
            self.discharge(before - 1);
        }
        Some(())
    }

    /// Makes strings numbers and cuts their range into this many slots. None: too many strings have the same
    /// number.
    fn cut(&self, slots: usize, survey: &Survey) -> Option<()> {
        let mut firsts = self.numbers_of(survey, (slots as u64) << EVEN_BITS)?;
        let is_segmented = !are_even(&firsts);
        if is_segmented {
            firsts = self.numbers_of(survey, (slots as u64) << UNEVEN_BITS)?;
            let per_leaf = (slots - SEGMENTS) as f64 / (firsts.len() - 1) as f64;
            self.segments.get_or_init(Segments::blank).cut(&firsts, per_leaf);
        }
        let (first, behind) = (firsts[0].0, firsts[firsts.len() - 1].0);
        let scale = ((slots as u128) << 64) / u128::from(behind - first);
        self.base.store_relaxed(first);
        // Of fewer numbers than slots, each has one.
        self.scale.store_relaxed(u64::try_from(scale).unwrap_or(u64::MAX));
        self.is_segmented.store_relaxed(is_segmented.into());
        Some(())
    }

    /// The numbers of the first keys, without nodes, if there are this many numbers.
    fn numbers_of(&self, survey: &Survey, enough: u64) -> Option<Vec<(u64, NodeRef)>> {
        self.numbers.set(&survey.prefix, &survey.seen, enough);
        let numbers = survey.firsts.iter().map(|key| (self.numbers.of_fence(key), NodeRef::NIL));
        let mut numbers: Vec<_> = numbers.collect();
        numbers.dedup_by_key(|(number, _)| *number);
        (numbers.len() > SEGMENTS && numbers.is_sorted()).then_some(numbers)
    }

    /// Lays out a table of positions if the tree should have another one.
    #[inline(always)]
    pub fn lay_out_if_outgrown(&self, store: &Store) {
        let nodes = store.long().tree_nodes();
        if self.is_outgrown(nodes) {
            self.lay_out(store, nodes);
        }
    }

    /// Lays out a table for this many nodes, if possible.
    #[cold]
    #[inline(never)]
    pub(super) fn lay_out(&self, store: &Store, nodes: usize) {
        if self.is_idle.take_bits(1) == 0 {
            return;
        }
        let size = (2 * nodes).next_power_of_two().ilog2().saturating_sub(FEWEST_SLOTS) as usize;
        // Numbers and places may need this much more.
        let more = Numbers::BYTES_MAX + size_of::<Segments>() - self.fixed_bytes();
        let is_allowed = self.budget.take(more).is_ok();
        let before = self.fixed_bytes();
        match if is_allowed { self.emptied(size) } else { None } {
            Some(words) if self.prefault && words.is_unready() => {}
            Some(_) if self.fill_in(size, nodes, Survey::of(store).as_ref()).is_some() => {}
            _ => self.wait_for(2 * nodes as u64),
        }
        if is_allowed {
            self.budget.give_back(more - (self.fixed_bytes() - before));
        }
        self.is_idle.publish_bits(1);
    }
}

impl Survey {
    /// Samples some nodes. `None`: their keys aren't numbers.
    fn of(store: &Store) -> Option<Self> {
        let [above, leaves] = sample(store);
        let (mut firsts, mut image) = (Vec::new(), [0; WORDS]);
        for_each_key(store, &leaves, 1, &mut image, |key| firsts.push(Numbers::part_of(key).to_vec()));
        let (one, other) = (firsts.get(1)?, firsts.get(firsts.len().checked_sub(2)?)?);
        let prefix = one[..common(one, other)].to_vec();
        if one >= other || !Numbers::may_skip(&prefix) {
            return None;
        }
        let mut seen = Seen::nothing();
        // Separators show the first places well, keys show all.
        for (nodes, most, are_whole) in [(above, SEPARATORS, false), (leaves, KEYS, true)] {
            for_each_key(store, &nodes, most, &mut image, |key| {
                if key.starts_with(&prefix) {
                    seen.see(key, prefix.len(), are_whole);
                }
            });
        }
        Some(Self { prefix, seen, firsts })
    }
}

/// Shows some keys of these nodes, this many of each, the first one among them; of nodes that are being
/// changed none.
fn for_each_key(
    store: &Store,
    nodes: &[NodeRef],
    most: usize,
    image: &mut Image,
    mut see: impl FnMut(&[u8]),
) {
    let mut key = Vec::new();
    for &node in nodes {
        let Some(node) = copy_at_rest(store, node, image) else { continue };
        let len = node.shape().len();
        let count = len.min(most);
        for at in 0..count {
            whole_key(node, at * len / count, &mut key);
            see(&key);
        }
    }
}

/// Some nodes of the level above the leaves, and some leaves, in order; the last leaf is among them.
fn sample(store: &Store) -> [Vec<NodeRef>; 2] {
    let (root, levels) = store.root().get();
    let (mut above, mut nodes, mut image) = (Vec::new(), vec![root], [0; WORDS]);
    for level in (1..levels).rev() {
        let mut below = Vec::new();
        // Of many nodes a few children each.
        let most = (4 * NODES).div_ceil(nodes.len());
        for &node in &nodes {
            if let Some(node) = copy_at_rest(store, node, &mut image) {
                let shape = node.shape();
                let children = (0..shape.len()).map(|at| NodeRef::from_word(node.value(shape, at) as u32));
                below.extend(scattered(store, children.collect(), most));
            }
        }
        above = core::mem::replace(&mut nodes, scattered(store, below, NODES));
        if level == 1 {
            nodes.extend(store.descend::<Scalar>(0, &[], Toward::Last));
        }
    }
    [above, nodes]
}

/// As many of these nodes, in order, with about as many others between each two of them, but not
/// exactly: where keys have a rhythm, nodes at equal distances might all be alike.
fn scattered(store: &Store, nodes: Vec<NodeRef>, most: usize) -> Vec<NodeRef> {
    let len = nodes.len();
    if len <= most {
        return nodes;
    }
    let random = |at: usize| store.hash(&at.to_le_bytes()) as usize % (len / most);
    (0..most).map(|at| nodes[at * len / most + random(at)]).collect()
}

/// A copy of a node, if it was at rest.
fn copy_at_rest<'i>(store: &'i Store, node: NodeRef, image: &'i mut Image) -> Option<Node<'i, &'i Image>> {
    let (_, view) = store.at(node);
    let version = view.latch().stable_version()?;
    store.copy_node(view, image);
    view.latch().validate(version).then_some(Node { words: &*image, long: store.long() })
}

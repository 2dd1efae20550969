//! The nodes of a tree: the root, latches, descents, and reads of leaves that are validated.
//!
//! Nothing here knows the shortcuts past inner nodes, or how nodes are changed. [`tree.rs`](super::tree) has
//! the protocol.

use super::change::Shared;
use super::fences::{Fence, Fences};
use super::image::Builder;
use super::long::LongStrings;
use super::node::{Image, Node, Target, Toward};
use super::prefetch::Prefetch;
use super::shape::{Form, NodeLines, Nodes, SLOTS_MAX, WORDS};
use super::strings::Longest;
use super::text::Seed;
use super::usual::Usual;
use super::values::Values;
use crate::blink::{self, Counts, Levels, Mode, Root, Side, latch_covering};
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::error::Result;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Scalar};
use latchless_core::sync::{Backoff, Origin, Word};
use std::hash::{BuildHasher, RandomState};

/// How often a reader tries to see a leaf at rest before it takes the leaf's latch.
pub const READ_TRIES: u32 = 16;
/// How many links a reader follows before it goes down from the root, once: a guess may lead far to the
/// left.
const LINKS_MAX: u32 = 3;

/// The nodes. See the file's head.
#[derive(Debug)]
pub struct Store {
    root: Root,
    /// All nodes, and long strings.
    long: LongStrings,
    usual: Usual,
    dispatch: Dispatch,
    seed: Seed,
    /// The form of values in leaves.
    values: Values,
    longest: Longest,
    counts: Counts,
}

/// A node that was looked up.
pub type At<'a> = (NodeRef, Shared<'a>);
/// A node and its latch.
pub type Held<'a> = (At<'a>, HeldLatch<'a>);
/// A node's latch, which debug builds watch.
pub type HeldLatch<'a> = <blink::Shared as Mode>::Held<'a>;

impl Store {
    /// No nodes: there is no root until [`Store::init_root`]. `versioned`: whether keys are.
    pub fn new(nodes: Nodes, values: Values, versioned: bool, dispatch: Dispatch) -> Self {
        let seed = if cfg!(any(miri, latchless_shuttle)) { 6 } else { RandomState::new().hash_one(0) };
        Self {
            root: Root::default(),
            long: LongStrings::new(nodes),
            usual: Usual::default(),
            dispatch,
            seed: Seed::new(seed, versioned),
            values,
            longest: Longest::default(),
            counts: Counts::default(),
        }
    }

    /// No nodes yet, for keys and values of the same form, with the same hashes and options. Both take their
    /// memory from one budget.
    pub fn alike(&self) -> Self {
        Self {
            root: Root::default(),
            long: LongStrings::new(self.nodes().alike()),
            usual: Usual::default(),
            dispatch: self.dispatch,
            seed: self.seed,
            values: self.values,
            longest: Longest::default(),
            counts: Counts::default(),
        }
    }

    /// Exchanges everything with another tree but the counts of events.
    pub fn swap_nodes(&mut self, other: &mut Self) {
        core::mem::swap(self, other);
        core::mem::swap(&mut self.counts, &mut other.counts);
        self.counts.swap_entries(&mut other.counts);
    }

    /// Makes the root an empty leaf.
    ///
    /// # Errors
    /// When memory for that leaf is refused.
    pub fn init_root(&self) -> Result<()> {
        let leaf = self.nodes().allocate(0)?;
        let (mut image, fences) = ([0; WORDS], Fences { low: Fence::FIRST, high: None });
        let empty = Builder::new(&mut image, &fences, NodeRef::NIL, Form::Slots(SLOTS_MAX / 2));
        let empty = empty.with_values(self.values);
        let (at, mut held) = self.latch(self.at(leaf));
        held.changing();
        at.1.write(empty.image());
        self.root.set(leaf, 1);
        Ok(())
    }

    /// Frees all nodes and long strings, the root among them.
    pub fn clear(&mut self) {
        self.long.clear();
        self.counts.set_entries(0);
    }

    /// There are this many entries. No other thread uses the tree.
    pub fn set_entries(&mut self, entries: usize) {
        self.counts.set_entries(entries);
    }

    /// Long strings.
    #[inline(always)]
    pub fn long(&self) -> &LongStrings {
        &self.long
    }

    /// The memory of nodes.
    #[inline(always)]
    pub fn nodes(&self) -> &Nodes {
        &self.long.nodes
    }

    /// What leaves usually look like.
    #[inline(always)]
    pub fn usual(&self) -> &Usual {
        &self.usual
    }

    /// The search kernel.
    #[inline(always)]
    pub fn dispatch(&self) -> Dispatch {
        self.dispatch
    }

    /// The form of values in leaves.
    pub fn values(&self) -> Values {
        self.values
    }

    /// The length of the longest key.
    pub fn longest(&self) -> &Longest {
        &self.longest
    }

    /// Prefetches lines of nodes.
    #[inline(always)]
    pub fn prefetch(&self) -> Prefetch<'_> {
        Prefetch { nodes: &self.long.nodes, usual: &self.usual }
    }

    /// The hash of a key.
    #[inline(always)]
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.seed.hash(key)
    }

    /// The hash of a versioned key, whose version begins at this place.
    #[inline(always)]
    pub fn hash_before(&self, key: &[u8], place: usize) -> u64 {
        self.seed.hash_before(key, place)
    }

    /// Derives the tags of the keys in a node of this level, if they have any.
    pub fn seed_of(&self, level: usize) -> Option<Seed> {
        (level == 0).then_some(self.seed)
    }

    /// The child of an inner node that is likely to have a key; if the node was at rest and part of the
    /// tree.
    #[inline(always)]
    pub fn child<S: Search>(&self, node: NodeRef, key: &[u8], toward: Toward) -> Option<NodeRef> {
        let (_, view) = self.at(node);
        let version = view.latch().stable_version()?;
        let shape = view.shape();
        let child = NodeRef::from_word(view.value(shape, place_of_child::<S>(view, key, toward)) as u32);
        let is_good = view.latch().validate(version) && shape.len() > 0;
        is_good.then_some(child)
    }

    /// The child, and the child after it, or the same one: to prefetch, not to follow.
    #[inline(always)]
    pub fn child_and_next<S: Search>(
        &self,
        node: NodeRef,
        key: &[u8],
        toward: Toward,
    ) -> Option<(NodeRef, NodeRef)> {
        let (_, view) = self.at(node);
        let version = view.latch().stable_version()?;
        let shape = view.shape();
        let at = place_of_child::<S>(view, key, toward);
        let next = (at + 1).min(shape.len().saturating_sub(1));
        let [child, next] = [at, next].map(|at| NodeRef::from_word(view.value(shape, at) as u32));
        let is_good = view.latch().validate(version) && shape.len() > 0;
        is_good.then_some((child, next))
    }

    /// The node of a level that is likely to have a key; if there is such a level.
    #[inline(always)]
    pub fn descend<S: Search>(&self, level: usize, key: &[u8], toward: Toward) -> Option<NodeRef> {
        let mut backoff = Backoff::default();
        'again: loop {
            let (mut node, levels) = self.root.get();
            if levels <= level {
                return None;
            }
            for below in (level..levels - 1).rev() {
                let Some(child) = self.child::<S>(node, key, toward) else {
                    self.counts.count_restart();
                    backoff.wait_at(self.nodes().origin());
                    continue 'again;
                };
                node = child;
                self.prefetch().node(node, below);
            }
            return Some(node);
        }
    }

    /// The leaf that is likely to have a key.
    #[inline(always)]
    pub fn descend_to_leaf<S: Search>(&self, key: &[u8], toward: Toward) -> NodeRef {
        self.descend::<S>(0, key, toward).expect("there is always a level of leaves")
    }

    /// Copies a node. A copy that is made without the node's latch is valid only if the node's version is
    /// the same before and after. The loop is compiled for its kernel here: callers needn't be.
    #[inline]
    pub fn copy_node(&self, node: Shared<'_>, to: &mut Image) {
        self.copy_node_from(node, 0, to);
    }

    /// Copies a leaf of records without the records before entry `first`.
    #[inline]
    pub fn copy_node_from(&self, node: Shared<'_>, first: usize, to: &mut Image) {
        self.dispatch.run(Copy { node, first, to });
    }

    /// Waits for a node's latch.
    #[inline(always)]
    pub fn latch<'a>(&'a self, at: At<'a>) -> Held<'a> {
        (at, Levels::latch::<blink::Shared>(self, at))
    }

    /// Latches the node of a level that covers a key, from a node on that is likely to; if there is such a
    /// level.
    #[inline(always)]
    pub fn latch_covering_from<'a>(&'a self, start: NodeRef, level: usize, key: &[u8]) -> Option<Held<'a>> {
        latch_covering::<_, blink::Shared>(self, start, level, key)
    }

    /// Descends from the root and latches the node of this level that covers a key.
    pub fn latch_covering<'a>(&'a self, level: usize, key: &[u8]) -> Option<Held<'a>> {
        self.latch_covering_from(self.descend_to(level, key)?, level, key)
    }

    /// Reads the leaf that covers a key, or the place right before it, beginning at a likely leaf. The
    /// result of `read` counts only if the leaf didn't change meanwhile; it may run several times, and must
    /// cope with any words. Returns that leaf and its version, if it was read without its latch.
    #[inline(always)]
    pub fn read_leaf_inlined<R>(
        &self,
        start: NodeRef,
        Target { key, toward }: Target<'_>,
        mut read: impl FnMut(At<'_>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        let (mut node, mut tries, mut links) = (start, 0, 0);
        let mut backoff = Backoff::default();
        loop {
            let at = self.at(node);
            let latch = at.1.latch();
            let held = (tries >= READ_TRIES).then(|| self.latch(at));
            let version = if held.is_none() { latch.stable_version() } else { None };
            if held.is_some() || version.is_some() {
                let (side, link) = (at.1.side_toward(key, toward), at.1.link());
                let answer = (side == Side::Here).then(|| read(at));
                if version.is_none_or(|version| latch.validate(version)) {
                    // A descent waits for latches above, whose holders may wait for this one.
                    drop(held);
                    match (side, answer) {
                        (Side::Here, Some(answer)) => return (answer, node, version),
                        (Side::Right, _) if links != LINKS_MAX => (node, links) = (link, links + 1),
                        _ => {
                            self.counts.count_restart();
                            (node, links) = (self.descend_to_leaf::<Scalar>(key, toward), links + 1);
                        }
                    }
                    continue;
                }
            }
            self.counts.count_restart();
            tries += 1;
            if tries < READ_TRIES {
                backoff.wait_at(self.nodes().origin());
            }
        }
    }

    /// [`Store::read_leaf_inlined`], compiled once for each `read`.
    pub fn read_leaf<R>(
        &self,
        start: NodeRef,
        target: Target<'_>,
        read: impl FnMut(At<'_>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        self.read_leaf_inlined(start, target, read)
    }
}

impl Levels for Store {
    type Key = [u8];
    type At<'a> = At<'a>;

    #[inline(always)]
    fn root(&self) -> &Root {
        &self.root
    }

    #[inline(always)]
    fn counts(&self) -> &Counts {
        &self.counts
    }

    #[inline(always)]
    fn origin(&self) -> &Origin {
        self.nodes().origin()
    }

    #[inline(always)]
    fn at(&self, node: NodeRef) -> At<'_> {
        let lines: &NodeLines = self.nodes().node(node);
        let words = lines.as_flattened().first_chunk().expect("a node's lines are its words");
        (node, Node { words, long: &self.long })
    }

    #[inline(always)]
    fn name(at: At<'_>) -> NodeRef {
        at.0
    }

    #[inline(always)]
    fn words<'a>(&'a self, at: At<'a>) -> &'a [Word] {
        at.1.words
    }

    #[inline(always)]
    fn side(at: At<'_>, _: usize, key: &[u8]) -> Side {
        at.1.side(key)
    }

    #[inline(always)]
    fn link(at: At<'_>) -> NodeRef {
        at.1.link()
    }

    fn first(&self, level: usize) -> Option<NodeRef> {
        self.descend_to(level, &[])
    }

    #[inline(always)]
    fn descend_to(&self, level: usize, key: &[u8]) -> Option<NodeRef> {
        self.descend::<Scalar>(level, key, Toward::Key)
    }
}

/// The child of an inner node that is likely to have a key.
#[inline(always)]
fn place_of_child<S: Search>(node: Shared<'_>, key: &[u8], toward: Toward) -> usize {
    let shape = node.shape();
    if toward == Toward::Last {
        return shape.len().saturating_sub(1);
    }
    let (rank, is_there) = node.rank::<S>(shape, key);
    rank.saturating_sub(usize::from(!is_there || toward == Toward::Before))
}

struct Copy<'a> {
    node: Shared<'a>,
    first: usize,
    to: &'a mut Image,
}

impl Operation for Copy<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        self.node.copy_from::<S>(self.first, self.to);
    }
}

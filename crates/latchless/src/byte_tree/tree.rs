//! The tree of byte strings: a concurrent B-link tree, read without latches.
//!
//! # Thread safety
//! Everything takes `&self`. A reader validates each node that it goes through: a result counts only if the
//! node's version was the same before and after. So it reaches a node that was right at some moment; the
//! leaf's fences decide whether it still is. A reader that is too far left follows links; any other one
//! restarts, and takes the leaf's latch after [`READ_TRIES`] tries. Writers latch leaves; inner nodes are
//! latched only by splits and merges.
//!
//! # Invariants
//! 1. Latches are taken bottom-up, and from left to right within a level, so waiting never goes round.
//! 2. A node's place in the tree changes (by a split, a merge, a new root) under its latch, which is held
//!    until its parent says the same. So under all latches each node but the root has one parent, which
//!    names it at its low fence.
//! 3. Between their fences the nodes of a level cover all keys, and links lead from each to the next.
//! 4. The root changes only under its latch.
//! 5. A node is used again for its own level only, and is dead from when it leaves the tree until it is
//!    used again; both change its version.
//! 6. A key is in one leaf that isn't dead, so a reader that finds it there needs no fences, and may come
//!    there by a [guess](super::finder::guesses).
//! 7. No code of the caller runs while a latch is held.

use super::aside::Strings;
use super::change::Shared;
use super::fences::{Fence, Fences};
use super::finder::ends::Ends;
use super::finder::guesses::Guesses;
use super::finder::positions::Positions;
use super::image::Builder;
use super::long::{LEN_MAX, LongStrings};
use super::node::{Image, Node, Side, Toward};
use super::prefetch::LEAF_LINES;
use super::shape::{Form, NodeLines, Nodes, SLOTS_MAX, WORDS};
use super::text::Seed;
use super::values::Values;
use crate::node::operation::{Operation, Run, Search};
use crate::node::watch::Watched;
use crate::tree::{Listing, Tries};
use latchless_core::base::bytes_value::Kind;
use latchless_core::base::error::{Error, Result};
use latchless_core::latch::{Latched, Version};
use latchless_core::mem::budget::Budget;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::{Dispatch, Kernel, Scalar};
use latchless_core::sync::{Backoff, BitsWord, Mutex, Striped, Word, look_for_the_flag};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// How often a reader tries to see a leaf at rest before it takes the leaf's latch.
pub const READ_TRIES: u32 = 16;
/// How many links a reader follows before it goes down from the root, once: a guess may lead far to the
/// left.
const LINKS_MAX: u32 = 3;

/// Construction options of a tree.
#[derive(Debug, Clone, Copy)]
pub struct ByteTreeOptions {
    /// The most bytes that nodes, long strings and tables may take. `None`: what the machine has.
    pub limit_bytes: Option<usize>,
    /// Whether to ask the system for huge pages.
    pub huge_pages: bool,
    /// Whether a thread of the process prefaults memory.
    pub prefault: bool,
    /// The search kernel. `None`: the fastest that this processor has.
    pub kernel: Option<Kernel>,
    /// How many nodes references can distinguish; tests make it tiny.
    pub references: u32,
    /// The form of values.
    pub values: Kind,
}

impl Default for ByteTreeOptions {
    fn default() -> Self {
        Self {
            limit_bytes: None,
            huge_pages: true,
            prefault: false,
            kernel: None,
            references: u32::MAX,
            values: Kind::Word,
        }
    }
}

/// A concurrent ordered map from byte strings to words. See the file's head.
#[derive(Debug)]
pub struct ByteTree {
    /// The root's reference, and above it the number of levels.
    root: Word,
    /// All nodes, and long strings.
    pub(super) long: LongStrings,
    pub(super) guesses: Guesses,
    pub(super) positions: Positions,
    pub(super) ends: Ends,
    /// The form of values in leaves.
    pub(super) values: Values,
    pub(super) dispatch: Dispatch,
    seed: Seed,
    pub(super) entries: Striped,
    /// Operations with closures that are listed.
    pub(super) listing: Listing,
    pub(super) splits: Word,
    pub(super) restarts: Word,
    /// Guesses that were wrong.
    pub(super) misled: Word,
    /// At least as long as the longest key that was ever inserted.
    pub(super) longest: Word,
    /// Strings for a merge that finds no memory for its own: with room for the longest key.
    pub(super) spare: Mutex<Strings>,
    /// One, if the leaf that was split last had equal heads; zero, if not.
    pub(super) has_ties: Word,
    /// Lines of that leaf that located a key.
    pub(super) leaf_lines: Word,
    /// The shape of leaves of records, if leaves usually are such, and how many of the last ones were.
    pub(super) usual: Word,
    pub(super) records_score: Word,
}

/// A node that was looked up.
pub type At<'a> = (NodeRef, Shared<'a>);
/// A node and its latch.
pub type Held<'a> = (At<'a>, HeldLatch<'a>);
/// A node's latch, which debug builds watch.
pub type HeldLatch<'a> = Watched<'a, Latched<'a>>;

impl ByteTree {
    /// An empty tree: one empty leaf.
    ///
    /// # Errors
    /// When memory for that leaf is refused, or the kernel isn't available here.
    pub fn new(options: ByteTreeOptions) -> Result<Self> {
        look_for_the_flag();
        let ByteTreeOptions { limit_bytes, huge_pages, prefault, kernel, references, values } = options;
        let nodes = Nodes::new(limit_bytes, huge_pages, references)?;
        let budget = nodes.budget();
        let tree = Self {
            root: Word::new(0),
            guesses: Guesses::none(huge_pages, prefault, budget),
            positions: Positions::none(huge_pages, prefault, budget),
            long: LongStrings::new(if prefault { nodes.prefaulted() } else { nodes }),
            ends: Ends::unknown(),
            values: Values::of(values),
            dispatch: kernel.map_or_else(|| Ok(Dispatch::best()), Dispatch::of)?,
            seed: Seed(if cfg!(any(miri, latchless_shuttle)) { 7 } else { RandomState::new().hash_one(0) }),
            entries: Striped::default(),
            listing: Listing::empty(),
            splits: Word::new(0),
            restarts: Word::new(0),
            misled: Word::new(0),
            longest: Word::new(0),
            spare: Mutex::default(),
            has_ties: Word::new(1),
            leaf_lines: Word::new(LEAF_LINES as u64),
            usual: Word::new(0),
            records_score: Word::new(0),
        };
        tree.init_root()?;
        Ok(tree)
    }

    fn init_root(&self) -> Result<()> {
        let leaf = self.long.nodes.allocate(0)?;
        let (mut image, fences) = ([0; WORDS], Fences { low: Fence::FIRST, high: None });
        let empty = Builder::new(&mut image, &fences, NodeRef::NIL, Form::Slots(SLOTS_MAX / 2));
        let empty = empty.with_values(self.values);
        let (at, mut held) = self.latch(self.at(leaf));
        held.changing();
        at.1.write(empty.image());
        self.set_root(leaf, 1);
        Ok(())
    }

    /// Removes everything and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.long.clear();
        self.guesses.clear();
        self.positions.clear();
        self.ends = Ends::unknown();
        self.entries.set(0);
        self.init_root().expect("one node found room before");
    }

    /// How many keys there are: exact when no thread is changing that.
    pub fn len(&self) -> usize {
        self.entries.sum().max(0) as usize
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of every node that was ever in use, including those that carry long strings, of the tables,
    /// and of other users of the budget.
    pub fn held_bytes(&self) -> usize {
        self.budget().taken_bytes()
    }

    /// Bytes of the nodes in the tree, of the blocks of long strings, and of the tables that are in use.
    pub fn live_bytes(&self) -> usize {
        let nodes = self.long.tree_nodes() * Nodes::NODE_BYTES;
        nodes + self.long.live_bytes() + self.guesses.bytes() + self.positions.bytes()
    }

    /// The budget of the tree's memory. Others may charge it, too.
    pub fn budget(&self) -> &Arc<Budget> {
        self.long.nodes.budget()
    }

    /// Notes the length of a key that is about to be inserted, and makes room for it where strings are
    /// kept. No latch is held.
    ///
    /// # Errors
    /// If memory is refused.
    pub(super) fn note_longest(&self, len: usize) -> Result<()> {
        if len as u64 > self.longest.load_relaxed() {
            self.spare.lock().reserve(len)?;
            self.longest.publish_max(len as u64);
        }
        Ok(())
    }

    /// The root and the number of levels.
    #[inline(always)]
    pub(super) fn root(&self) -> (NodeRef, usize) {
        let word = self.root.follow();
        (NodeRef::from_word(word as u32), (word >> 32) as usize)
    }

    pub(super) fn set_root(&self, node: NodeRef, levels: usize) {
        self.root.publish((levels as u64) << 32 | u64::from(node.to_word()));
    }

    /// A node that a validated node named, or that is latched.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeRef) -> At<'_> {
        (node, self.view(self.long.nodes.node(node)))
    }

    #[inline(always)]
    fn view<'a>(&'a self, lines: &'a NodeLines) -> Shared<'a> {
        let words = lines.as_flattened().first_chunk().expect("a node's lines are its words");
        Node { words, long: &self.long }
    }

    /// The tries of an operation with a closure about `key`.
    pub fn tries(&self, key: &[u8]) -> Tries<'_> {
        self.listing.tries(self.hash(key))
    }

    /// The hash of a key.
    #[inline(always)]
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        self.seed.hash(key)
    }

    /// The tag of a key with this hash.
    #[inline(always)]
    pub(super) fn tag(hash: u64) -> u8 {
        Seed::tag(hash)
    }

    /// Derives the tags of the keys in a node of this level, if they have any.
    pub(super) fn seed_of(&self, level: usize) -> Option<Seed> {
        (level == 0).then_some(self.seed)
    }

    /// Refuses keys that are longer than any may be.
    #[inline(always)]
    pub(super) fn check_length(key: &[u8]) -> Result<()> {
        if key.len() <= LEN_MAX { Ok(()) } else { Err(Error::KeyTooLong { len: key.len(), limit: LEN_MAX }) }
    }

    /// The child of an inner node that is likely to have a key; if the node was at rest and part of the
    /// tree.
    #[inline(always)]
    pub(super) fn child<S: Search>(&self, node: NodeRef, key: &[u8], toward: Toward) -> Option<NodeRef> {
        let (_, view) = self.at(node);
        let version = view.latch().stable_version()?;
        let shape = view.shape();
        let child = NodeRef::from_word(view.value(shape, place_of_child::<S>(view, key, toward)) as u32);
        let is_good = view.latch().validate(version) && shape.len() > 0;
        is_good.then_some(child)
    }

    /// The child, and the child after it, or the same one: to prefetch, not to follow.
    #[inline(always)]
    pub(super) fn child_and_next<S: Search>(
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
    pub(super) fn descend<S: Search>(&self, level: usize, key: &[u8], toward: Toward) -> Option<NodeRef> {
        let mut backoff = Backoff::default();
        'again: loop {
            let (mut node, levels) = self.root();
            if levels <= level {
                return None;
            }
            for below in (level..levels - 1).rev() {
                let Some(child) = self.child::<S>(node, key, toward) else {
                    self.restarts.add(1);
                    backoff.wait_at(self.long.nodes.origin());
                    continue 'again;
                };
                node = child;
                self.ask_for(node, below);
            }
            return Some(node);
        }
    }

    /// The leaf that is likely to have a key.
    #[inline(always)]
    pub(super) fn descend_to_leaf<S: Search>(&self, key: &[u8], toward: Toward) -> NodeRef {
        self.descend::<S>(0, key, toward).expect("there is always a level of leaves")
    }

    /// Copies a node. A copy that is made without the node's latch is valid only if the node's version is
    /// the same before and after. The loop is compiled for its kernel here: callers needn't be.
    #[inline]
    pub(super) fn copy_node(&self, node: Shared<'_>, to: &mut Image) {
        self.copy_node_from(node, 0, to);
    }

    /// Copies a leaf of records without the records before entry `first`.
    #[inline]
    pub(super) fn copy_node_from(&self, node: Shared<'_>, first: usize, to: &mut Image) {
        self.dispatch.run(Copy { node, first, to });
    }

    /// Waits for a node's latch.
    #[inline(always)]
    pub(super) fn latch<'a>(&'a self, at: At<'a>) -> Held<'a> {
        let latched = at.1.latch().latch_if_alone_cheaply(self.long.nodes.origin());
        (at, Watched::new(at.1.words, latched))
    }

    /// Latches the node of a level that covers a key, from a node on that is likely to; if there is such a
    /// level.
    #[inline(always)]
    pub(super) fn latch_covering_from<'a>(
        &'a self,
        start: NodeRef,
        level: usize,
        key: &[u8],
    ) -> Option<Held<'a>> {
        let mut node = start;
        let mut backoff = Backoff::default();
        loop {
            let (at, held) = self.latch(self.at(node));
            match at.1.side(key) {
                Side::Here => return Some((at, held)),
                Side::Right => node = at.1.link(),
                Side::Left => {
                    drop(held);
                    self.restarts.add(1);
                    backoff.wait_at(self.long.nodes.origin());
                    node = self.descend::<Scalar>(level, key, Toward::Key)?;
                }
            }
        }
    }

    /// Descends from the root and latches the node of this level that covers a key.
    pub(super) fn latch_covering<'a>(&'a self, level: usize, key: &[u8]) -> Option<Held<'a>> {
        self.latch_covering_from(self.descend::<Scalar>(level, key, Toward::Key)?, level, key)
    }

    /// Reads the leaf that covers a key, or the place right before it, beginning at a likely leaf. The
    /// result of `read` counts only if the leaf didn't change meanwhile; it may run several times, and must
    /// cope with any words. Returns that leaf and its version, if it was read without its latch.
    #[inline(always)]
    pub(super) fn read_leaf_inlined<R>(
        &self,
        start: NodeRef,
        (key, toward): (&[u8], Toward),
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
                            self.restarts.add(1);
                            (node, links) = (self.descend_to_leaf::<Scalar>(key, toward), links + 1);
                        }
                    }
                    continue;
                }
            }
            self.restarts.add(1);
            tries += 1;
            if tries < READ_TRIES {
                backoff.wait_at(self.long.nodes.origin());
            }
        }
    }

    /// [`ByteTree::read_leaf_inlined`], compiled once for each `read`.
    pub(super) fn read_leaf<R>(
        &self,
        start: NodeRef,
        own: (&[u8], Toward),
        read: impl FnMut(At<'_>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        self.read_leaf_inlined(start, own, read)
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

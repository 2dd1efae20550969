//! Looking up one key.

use super::change::{Shared, Tag};
use super::finder::{Aim, Outcome, Start, StartBy};
use super::node::{Target, Toward};
use super::shape::Shape;
use super::store::{At, Store};
use super::take::{OneWord, Take};
use super::text::{Hashed, Seed, head};
use super::tree::ByteTree;
use crate::blink::{Levels, Side};
use crate::node::operation::{Operation, Run, Search};
use crate::tree::Share;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// A leaf's answer about a key.
enum Told<V> {
    /// Its value; `None`: there is none.
    Answer(Option<V>),
    /// The right neighbour may have it.
    ToTheRight(NodeRef),
    /// Nothing.
    Nothing,
}

/// Where a key is in a leaf of records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub version: Version,
    pub shape: Shape,
    /// The key's head.
    pub own: u64,
    /// How many heads are smaller.
    pub rank: usize,
}

impl Near {
    /// The word of its record.
    #[inline(always)]
    pub fn record(self) -> usize {
        self.shape.record(self.rank)
    }
}

/// The tag of a key that isn't hashed yet.
struct TagOf<'a> {
    store: &'a Store,
    key: &'a [u8],
}

impl Tag for TagOf<'_> {
    #[inline(always)]
    fn tag(self) -> u8 {
        Seed::tag(self.store.hash(self.key))
    }
}

impl ByteTree {
    /// The value under a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        self.get_by(key, &mut OneWord)
    }

    /// Looks up a key; `take` takes the value.
    #[inline]
    pub fn get_by<T: Take>(&self, key: &[u8], take: &mut T) -> Option<T::Value> {
        if self.finder.has_positions(Aim::Find) {
            self.store.dispatch().run(Get::<_, true> { tree: self, key, take })
        } else {
            self.store.dispatch().run(Get::<_, false> { tree: self, key, take })
        }
    }
}

/// Looks up a key whose position gives no guess. A function of its own, so that the other lookups don't
/// set up the registers that it needs.
#[inline(never)]
fn get_without_position<T: Take>(tree: &ByteTree, key: &[u8], take: &mut T) -> Option<T::Value> {
    tree.store.dispatch().run(Get::<_, false> { tree, key, take })
}

/// Looks up a key in the leaves that its hash predicts, then in the one that a descent finds.
#[inline(always)]
fn get_by_hash<S: Search, T: Take>(tree: &ByteTree, own: Hashed<'_>, take: &mut T) -> Option<T::Value> {
    let mut wrong = NodeRef::NIL;
    if let Some(line) = tree.finder.guesses_by_hash(own.hash) {
        for leaf in line.leaves() {
            tree.store.prefetch().node(leaf, 0);
            match get_guessed::<S, T>(tree, leaf, own, take) {
                Some(answer) => return answer,
                None => wrong = leaf,
            }
        }
    }
    let leaf = tree.store.descend_to_leaf::<S>(own.key, Toward::Key);
    get_from::<S, T>(tree, leaf, own, wrong, take)
}

/// Looks up a key from a start on. A start by position needs no hash.
#[inline(always)]
pub(super) fn get_at<S: Search, T: Take>(
    tree: &ByteTree,
    start: Start,
    own: Hashed<'_>,
    take: &mut T,
) -> Option<T::Value> {
    let answer = match start.by {
        StartBy::Hash => get_guessed::<S, T>(tree, start.leaf, own, take),
        StartBy::Position => get_at_position::<S, T>(tree, start, own.key, take),
        StartBy::Descent | StartBy::End => {
            return get_from::<S, T>(tree, start.leaf, own, NodeRef::NIL, take);
        }
    };
    // A closure in place of the branch would be called.
    match answer {
        Some(answer) => answer,
        None => get_without_position(tree, own.key, take),
    }
}

/// The answer, if a leaf that a key's hash predicts, or its right neighbour, has it.
#[inline(always)]
fn get_guessed<S: Search, T: Take>(
    tree: &ByteTree,
    guess: NodeRef,
    own: Hashed<'_>,
    take: &mut T,
) -> Option<Option<T::Value>> {
    let mut leaf = guess;
    let answer = loop {
        match look_in::<S, T>(&tree.store, leaf, own.key, Seed::tag(own.hash), take) {
            Told::Answer(answer) => break answer,
            // Since the guess was written the leaf was split.
            Told::ToTheRight(next) if leaf == guess && !next.is_nil() => leaf = next,
            _ => {
                tree.store.counts().count_misled(1);
                return None;
            }
        }
    };
    tree.finder.learn_guess(&tree.store, guess, own.hash, leaf, answer.is_some());
    Some(answer)
}

/// The answer, if the leaf that a key's position leads to has it. Also counts, if the key's likely place in
/// it is known, that the key wasn't there.
#[inline(always)]
fn get_at_position<S: Search, T: Take>(
    tree: &ByteTree,
    start: Start,
    key: &[u8],
    take: &mut T,
) -> Option<Option<T::Value>> {
    match look_in::<S, T>(&tree.store, start.leaf, key, TagOf { store: &tree.store, key }, take) {
        Told::Answer(answer) => {
            tree.finder.count_elsewhere(&tree.store, start);
            Some(answer)
        }
        _ => {
            tree.store.counts().count_misled(1);
            None
        }
    }
}

/// A leaf's answer about a key with this tag.
#[inline(always)]
fn look_in<S: Search, T: Take>(
    store: &Store,
    node: NodeRef,
    key: &[u8],
    tag: impl Tag,
    take: &mut T,
) -> Told<T::Value> {
    let (_, leaf) = store.at(node);
    let Some(version) = leaf.latch().stable_version() else { return Told::Nothing };
    let found = value_in::<S, T>(leaf, key, tag, take);
    // A key that is found is right, however the reader came here.
    if found.is_some() {
        return if leaf.latch().validate(version) { Told::Answer(found) } else { Told::Nothing };
    }
    let (side, link) = (leaf.side_apart(key), leaf.link());
    match side {
        _ if !leaf.latch().validate(version) => Told::Nothing,
        Side::Here => Told::Answer(None),
        Side::Right => Told::ToTheRight(link),
        Side::Left => Told::Nothing,
    }
}

/// The index of a key's record, or where it would be, in a leaf of records; `None` if the records around the
/// likely place don't decide it.
#[inline(always)]
pub(super) fn find_near<S: Search>(store: &Store, leaf: NodeRef, key: &[u8], share: Share) -> Option<Near> {
    let (_, leaf) = store.at(leaf);
    let version = leaf.latch().stable_version()?;
    let shape = leaf.shape();
    if !shape.is_of_records() || !leaf.has_prefix(shape, key) {
        return None;
    }
    let own = head(key, shape.prefix());
    let rank = leaf.rank_near::<S>(shape, own, share.of(shape.len()))?;
    Some(Near { version, shape, own, rank })
}

/// The answer, if a leaf that was looked at has it there.
#[inline(always)]
pub(super) fn get_near<T: Take>(
    tree: &ByteTree,
    leaf: NodeRef,
    near: Near,
    key: &[u8],
    take: &mut T,
) -> Option<Option<T::Value>> {
    let (_, leaf) = tree.store.at(leaf);
    let Near { version, shape, own, rank } = near;
    if rank == shape.len() {
        return None;
    }
    let mut value = None;
    if leaf.head(shape, rank) == own {
        if !leaf.rest_is(shape, rank, key) {
            return None;
        }
        value = Some(take.take(leaf, shape, rank));
    } else if rank == 0 {
        // Only a key between two entries is certainly between the fences.
        return None;
    }
    if !leaf.latch().validate(version) {
        return None;
    }
    tree.finder.count_nearness(&tree.store, true);
    Some(value)
}

/// Looks up a key at the leaf where a descent ended. Its guess was `wrong`, or nil.
#[inline(always)]
fn get_from<S: Search, T: Take>(
    tree: &ByteTree,
    node: NodeRef,
    own: Hashed<'_>,
    wrong: NodeRef,
    take: &mut T,
) -> Option<T::Value> {
    let Hashed { key, hash } = own;
    let (answer, leaf) = match look_in::<S, T>(&tree.store, node, key, Seed::tag(hash), take) {
        Told::Answer(answer) => (answer, node),
        _ => get_again(&tree.store, node, own, take),
    };
    let was_there = answer.is_some();
    let outcome = Outcome { hash, leaf, wrong, aim: Aim::Find, was_there, applied: false, is_lookup: true };
    tree.finder.learn(&tree.store, Start::new(node, StartBy::Descent), key, &outcome);
    answer
}

/// The value, and the leaf that covers the key, after a first look without an answer.
#[inline(never)]
fn get_again<T: Take>(
    store: &Store,
    node: NodeRef,
    Hashed { key, hash }: Hashed<'_>,
    take: &mut T,
) -> (Option<T::Value>, NodeRef) {
    let read = |(_, leaf): At<'_>| value_in::<Scalar, T>(leaf, key, Seed::tag(hash), take);
    let (value, leaf, _) = store.read_leaf(node, Target::key(key), read);
    (value, leaf)
}

/// The value of a key in a leaf.
#[inline(always)]
fn value_in<S: Search, T: Take>(
    leaf: Shared<'_>,
    key: &[u8],
    tag: impl Tag,
    take: &mut T,
) -> Option<T::Value> {
    leaf.find::<S>(key, tag).map(|at| take.take(leaf, leaf.shape(), at))
}

/// One lookup, by the key's position first or without it.
struct Get<'a, T, const BY_POSITION: bool> {
    tree: &'a ByteTree,
    key: &'a [u8],
    take: &'a mut T,
}

impl<T: Take, const BY_POSITION: bool> Operation for Get<'_, T, BY_POSITION> {
    type Output = Option<T::Value>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<T::Value> {
        let Self { tree, key, take } = self;
        if !BY_POSITION {
            let hash = tree.store.hash(key);
            return get_by_hash::<S, T>(tree, Hashed { key, hash }, take);
        }
        let Some(start) = tree.finder.start_by_position(&tree.store, key) else {
            return get_without_position(tree, key, take);
        };
        if let Some(share) = start.share
            && let Some(near) = find_near::<S>(&tree.store, start.leaf, key, share)
            && let Some(answer) = get_near(tree, start.leaf, near, key, take)
        {
            return answer;
        }
        get_at::<S, T>(tree, start, Hashed { key, hash: 0 }, take)
    }
}

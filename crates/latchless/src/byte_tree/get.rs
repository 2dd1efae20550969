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
use crate::node::lines::Lines;
use crate::node::operation::{Operation, Run, Search};
use crate::tree::Share;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The entry that a lookup of a key wants.
pub(super) trait Wanted: Copy {
    /// The hash of the key.
    fn hash(self, store: &Store, key: &[u8]) -> u64;
    /// Its place in a leaf, if it is there. The key has this tag.
    fn find<S: Lines>(self, leaf: Shared<'_>, key: &[u8], tag: impl Tag) -> Option<usize>;
    /// The same in a leaf of records that was looked at. `None`: the records there don't decide it.
    fn find_near(self, leaf: Shared<'_>, near: Near, key: &[u8]) -> Option<Option<usize>>;
    /// Whether an entry that was found is the wanted one even if the leaf doesn't cover the key.
    fn is_certain(self, leaf: Shared<'_>, at: usize, key: &[u8]) -> bool;
    /// Whether no other leaf has the entry if the one that covers the key doesn't.
    fn is_absent(self, leaf: Shared<'_>, key: &[u8]) -> bool;
    /// Takes its value out of whichever leaf has it.
    fn take_elsewhere<T: Take>(self, tree: &ByteTree, key: &[u8], take: &mut T) -> Option<T::Value>;
}

/// The entry of the key itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own;

impl Wanted for Own {
    #[inline(always)]
    fn hash(self, store: &Store, key: &[u8]) -> u64 {
        store.hash(key)
    }

    #[inline(always)]
    fn find<S: Lines>(self, leaf: Shared<'_>, key: &[u8], tag: impl Tag) -> Option<usize> {
        leaf.find::<S>(key, tag)
    }

    #[inline(always)]
    fn find_near(self, leaf: Shared<'_>, near: Near, key: &[u8]) -> Option<Option<usize>> {
        let Near { shape, rank, own, .. } = near;
        if rank == shape.len() {
            return None;
        }
        if leaf.head(shape, rank) == own {
            return leaf.rest_is(shape, rank, key).then_some(Some(rank));
        }
        // Only a key between two entries is certainly between the fences.
        (rank > 0).then_some(None)
    }

    #[inline(always)]
    fn is_certain(self, _: Shared<'_>, _: usize, _: &[u8]) -> bool {
        true
    }

    #[inline(always)]
    fn is_absent(self, _: Shared<'_>, _: &[u8]) -> bool {
        true
    }

    #[inline(always)]
    fn take_elsewhere<T: Take>(self, _: &ByteTree, _: &[u8], _: &mut T) -> Option<T::Value> {
        None
    }
}

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
struct TagOf<'a, W> {
    store: &'a Store,
    wanted: W,
    key: &'a [u8],
}

impl<W: Wanted> Tag for TagOf<'_, W> {
    #[inline(always)]
    fn tag(self) -> u8 {
        Seed::tag(self.wanted.hash(self.store, self.key))
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
        self.look_up(Own, key, take)
    }

    /// Looks up a key, of which an entry is wanted; `take` takes the value.
    #[inline(always)]
    pub(super) fn look_up<W: Wanted, T: Take>(
        &self,
        wanted: W,
        key: &[u8],
        take: &mut T,
    ) -> Option<T::Value> {
        if self.finder.has_positions(Aim::Find) {
            self.store.dispatch().run(Get::<_, _, true> { tree: self, wanted, key, take })
        } else {
            self.store.dispatch().run(Get::<_, _, false> { tree: self, wanted, key, take })
        }
    }
}

/// Looks up a key whose position gives no guess. A function of its own, so that the other lookups don't
/// set up the registers that it needs.
#[inline(never)]
fn get_without_position<W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    key: &[u8],
    take: &mut T,
) -> Option<T::Value> {
    tree.store.dispatch().run(Get::<_, _, false> { tree, wanted, key, take })
}

/// Looks up a key in the leaves that its hash predicts, then in the one that a descent finds.
#[inline(always)]
fn get_by_hash<S: Search, W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    own: Hashed<'_>,
    take: &mut T,
) -> Option<T::Value> {
    let mut wrong = NodeRef::NIL;
    if let Some(line) = tree.finder.guesses_by_hash(own.hash) {
        for leaf in line.leaves() {
            tree.store.prefetch().node(leaf, 0);
            match get_guessed::<S, W, T>(tree, wanted, leaf, own, take) {
                Some(answer) => return answer,
                None => wrong = leaf,
            }
        }
    }
    let leaf = tree.store.descend_to_leaf::<S>(own.key, Toward::Key);
    get_from::<S, W, T>(tree, wanted, (leaf, wrong), own, take)
}

/// Looks up a key from a start on. A start by position needs no hash.
#[inline(always)]
pub(super) fn get_at<S: Search, W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    start: Start,
    own: Hashed<'_>,
    take: &mut T,
) -> Option<T::Value> {
    let answer = match start.by {
        StartBy::Hash => get_guessed::<S, W, T>(tree, wanted, start.leaf, own, take),
        StartBy::Position => get_at_position::<S, W, T>(tree, wanted, start, own.key, take),
        StartBy::Descent | StartBy::End => {
            return get_from::<S, W, T>(tree, wanted, (start.leaf, NodeRef::NIL), own, take);
        }
    };
    // A closure in place of the branch would be called.
    match answer {
        Some(answer) => answer,
        None => get_without_position(tree, wanted, own.key, take),
    }
}

/// The answer, if a leaf that a key's hash predicts, or its right neighbour, has it.
#[inline(always)]
fn get_guessed<S: Search, W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    guess: NodeRef,
    own: Hashed<'_>,
    take: &mut T,
) -> Option<Option<T::Value>> {
    let mut leaf = guess;
    let answer = loop {
        match look_in::<S, W, T>(&tree.store, wanted, leaf, own.key, Seed::tag(own.hash), take) {
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
fn get_at_position<S: Search, W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    start: Start,
    key: &[u8],
    take: &mut T,
) -> Option<Option<T::Value>> {
    let tag = TagOf { store: &tree.store, wanted, key };
    match look_in::<S, W, T>(&tree.store, wanted, start.leaf, key, tag, take) {
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
fn look_in<S: Search, W: Wanted, T: Take>(
    store: &Store,
    wanted: W,
    node: NodeRef,
    key: &[u8],
    tag: impl Tag,
    take: &mut T,
) -> Told<T::Value> {
    let (_, leaf) = store.at(node);
    let Some(version) = leaf.latch().stable_version() else { return Told::Nothing };
    let found = wanted.find::<S>(leaf, key, tag);
    // A key that is found is right, however the reader came here.
    if let Some(at) = found
        && wanted.is_certain(leaf, at, key)
    {
        let value = take.take(leaf, leaf.shape(), at);
        return if leaf.latch().validate(version) { Told::Answer(Some(value)) } else { Told::Nothing };
    }
    let (side, link) = (leaf.side_apart(key), leaf.link());
    match side {
        _ if !leaf.latch().validate(version) => Told::Nothing,
        Side::Here if wanted.is_absent(leaf, key) => Told::Answer(None),
        Side::Right => Told::ToTheRight(link),
        Side::Here | Side::Left => Told::Nothing,
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
pub(super) fn get_near<W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    leaf: NodeRef,
    near: Near,
    key: &[u8],
    take: &mut T,
) -> Option<Option<T::Value>> {
    let (_, leaf) = tree.store.at(leaf);
    let at = wanted.find_near(leaf, near, key)?;
    let mut value = None;
    if let Some(at) = at {
        value = Some(take.take(leaf, near.shape, at));
    }
    if !leaf.latch().validate(near.version) {
        return None;
    }
    tree.finder.count_nearness(&tree.store, true);
    Some(value)
}

/// Looks up a key at the leaf where a descent ended. Its guess was `wrong`, or nil.
#[inline(always)]
fn get_from<S: Search, W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    (node, wrong): (NodeRef, NodeRef),
    own: Hashed<'_>,
    take: &mut T,
) -> Option<T::Value> {
    let Hashed { key, hash } = own;
    let (answer, leaf) = match look_in::<S, W, T>(&tree.store, wanted, node, key, Seed::tag(hash), take) {
        Told::Answer(answer) => (answer, node),
        _ => get_again(tree, wanted, node, own, take),
    };
    let was_there = answer.is_some();
    let outcome = Outcome { hash, leaf, wrong, aim: Aim::Find, was_there, applied: false, is_lookup: true };
    tree.finder.learn(&tree.store, Start::new(node, StartBy::Descent), key, &outcome);
    answer
}

/// The value, and the leaf that covers the key, after a first look without an answer.
#[inline(never)]
fn get_again<W: Wanted, T: Take>(
    tree: &ByteTree,
    wanted: W,
    node: NodeRef,
    Hashed { key, hash }: Hashed<'_>,
    take: &mut T,
) -> (Option<T::Value>, NodeRef) {
    let read = |(_, leaf): At<'_>| match wanted.find::<Scalar>(leaf, key, Seed::tag(hash)) {
        Some(at) => (Some(take.take(leaf, leaf.shape(), at)), true),
        None => (None, wanted.is_absent(leaf, key)),
    };
    let ((value, is_known), leaf, _) = tree.store.read_leaf(node, Target::key(key), read);
    (if is_known { value } else { wanted.take_elsewhere(tree, key, take) }, leaf)
}

/// One lookup, by the key's position first or without it.
struct Get<'a, W, T, const BY_POSITION: bool> {
    tree: &'a ByteTree,
    wanted: W,
    key: &'a [u8],
    take: &'a mut T,
}

impl<W: Wanted, T: Take, const BY_POSITION: bool> Operation for Get<'_, W, T, BY_POSITION> {
    type Output = Option<T::Value>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<T::Value> {
        let Self { tree, wanted, key, take } = self;
        if !BY_POSITION {
            let hash = wanted.hash(&tree.store, key);
            return get_by_hash::<S, W, T>(tree, wanted, Hashed { key, hash }, take);
        }
        let Some(start) = tree.finder.start_by_position(&tree.store, key) else {
            return get_without_position(tree, wanted, key, take);
        };
        if let Some(share) = start.share
            && let Some(near) = find_near::<S>(&tree.store, start.leaf, key, share)
            && let Some(answer) = get_near(tree, wanted, start.leaf, near, key, take)
        {
            return answer;
        }
        get_at::<S, W, T>(tree, wanted, start, Hashed { key, hash: 0 }, take)
    }
}

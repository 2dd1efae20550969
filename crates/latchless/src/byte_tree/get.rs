//! Looking up one key.

use super::change::Shared;
use super::finder::positions::Aim;
use super::node::{Side, Toward};
use super::shape::Shape;
use super::take::{OneWord, Take};
use super::text::{Seed, head};
use super::tree::ByteTree;
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

impl ByteTree {
    /// The value under a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<u64> {
        self.get_by(key, &mut OneWord)
    }

    /// Looks up a key; `take` takes the value.
    #[inline]
    pub fn get_by<T: Take>(&self, key: &[u8], take: &mut T) -> Option<T::Value> {
        if self.positions.are_any(Aim::Find) {
            self.dispatch.run(Get::<_, true> { tree: self, key, take })
        } else {
            self.dispatch.run(Get::<_, false> { tree: self, key, take })
        }
    }

    /// Looks up a key whose position gives no guess. A function of its own, so that the other lookups don't
    /// set up the registers that it needs.
    #[inline(never)]
    pub(super) fn get_without_position<T: Take>(&self, key: &[u8], take: &mut T) -> Option<T::Value> {
        self.dispatch.run(Get::<_, false> { tree: self, key, take })
    }

    #[inline(always)]
    fn get_by_hash<S: Search, T: Take>(&self, key: &[u8], hash: u64, take: &mut T) -> Option<T::Value> {
        let mut wrong = NodeRef::NIL;
        if let Some(line) = self.guesses.line(hash) {
            for leaf in line.leaves() {
                self.ask_for(leaf, 0);
                match self.get_guessed::<S, T>(leaf, (key, hash), take) {
                    Some(answer) => return answer,
                    None => wrong = leaf,
                }
            }
        }
        let node = self.descend_to_leaf::<S>(key, Toward::Key);
        self.get_from::<S, T>(node, key, (hash, wrong), take)
    }

    /// The answer, if a guessed leaf or its right neighbour has it.
    #[inline(always)]
    pub(super) fn get_guessed<S: Search, T: Take>(
        &self,
        guess: NodeRef,
        (key, hash): (&[u8], u64),
        take: &mut T,
    ) -> Option<Option<T::Value>> {
        let mut leaf = guess;
        let answer = loop {
            match self.look_in::<S, T>(leaf, (key, || hash), take) {
                Told::Answer(answer) => break answer,
                // Since the guess was written the leaf was split.
                Told::ToTheRight(next) if leaf == guess && !next.is_nil() => leaf = next,
                _ => {
                    self.misled.add(1);
                    return None;
                }
            }
        };
        if leaf != guess && answer.is_some() {
            self.guesses.write(hash, leaf, guess);
        }
        self.learn(answer.is_some());
        Some(answer)
    }

    /// The answer, if the leaf that a key's position leads to has it. Also counts, if lookups `is_far`,
    /// whether the key was stored at its likely place.
    #[inline(always)]
    pub(super) fn get_at_position<S: Search, T: Take>(
        &self,
        (leaf, is_far): (NodeRef, bool),
        key: &[u8],
        take: &mut T,
    ) -> Option<Option<T::Value>> {
        match self.look_in::<S, T>(leaf, (key, || self.hash(key)), take) {
            Told::Answer(answer) => {
                if is_far {
                    self.count_nearness(false);
                } else {
                    self.count_position(Aim::Find);
                }
                Some(answer)
            }
            _ => {
                self.misled.add(1);
                None
            }
        }
    }

    /// A leaf's answer about a key with this hash, which is computed only when needed.
    #[inline(always)]
    fn look_in<S: Search, T: Take>(
        &self,
        node: NodeRef,
        (key, hash): (&[u8], impl FnOnce() -> u64),
        take: &mut T,
    ) -> Told<T::Value> {
        let (_, leaf) = self.at(node);
        let Some(version) = leaf.latch().stable_version() else { return Told::Nothing };
        let found = value_in::<S, T>(leaf, key, hash, take);
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

    /// The index of a key's record, or where it would be, in a leaf of records; `None` if the records
    /// around the likely place don't decide it.
    #[inline(always)]
    pub(super) fn find_near<S: Search>(&self, leaf: NodeRef, key: &[u8], share: Share) -> Option<Near> {
        let (_, leaf) = self.at(leaf);
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
        &self,
        (leaf, near): (NodeRef, Near),
        key: &[u8],
        take: &mut T,
    ) -> Option<Option<T::Value>> {
        let (_, leaf) = self.at(leaf);
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
        self.count_nearness(true);
        Some(value)
    }

    /// Looks up a key that has this hash. Its guess was `wrong`, or nil; `node` is where a descent ended.
    #[inline(always)]
    pub(super) fn get_from<S: Search, T: Take>(
        &self,
        node: NodeRef,
        key: &[u8],
        (hash, wrong): (u64, NodeRef),
        take: &mut T,
    ) -> Option<T::Value> {
        let (answer, leaf) = match self.look_in::<S, T>(node, (key, || hash), take) {
            Told::Answer(answer) => (answer, node),
            _ => self.get_again(node, (key, hash), take),
        };
        if answer.is_some() {
            self.guesses.write(hash, leaf, wrong);
        }
        if self.positions.are_any(Aim::Find) {
            self.learn_position(key, leaf, (Aim::Find, false));
        }
        self.learn_from(key, answer.is_some(), !wrong.is_nil());
        answer
    }

    /// The value, and the leaf that covers the key, after a first look without an answer.
    #[inline(never)]
    fn get_again<T: Take>(
        &self,
        node: NodeRef,
        (key, hash): (&[u8], u64),
        take: &mut T,
    ) -> (Option<T::Value>, NodeRef) {
        let (value, leaf, _) = self
            .read_leaf(node, (key, Toward::Key), |(_, leaf)| value_in::<Scalar, T>(leaf, key, || hash, take));
        (value, leaf)
    }
}

/// The value of a key in a leaf.
#[inline(always)]
fn value_in<S: Search, T: Take>(
    leaf: Shared<'_>,
    key: &[u8],
    hash: impl FnOnce() -> u64,
    take: &mut T,
) -> Option<T::Value> {
    leaf.find::<S>(key, || Seed::tag(hash())).map(|at| take.take(leaf, leaf.shape(), at))
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
            let hash = tree.hash(key);
            return tree.get_by_hash::<S, T>(key, hash, take);
        }
        if let Some((leaf, share)) = tree.positions.guess(key, Aim::Find) {
            let usual = tree.usual_records();
            if let Some(usual) = usual {
                tree.ask_for_record(leaf, share, usual);
                if let Some(near) = tree.find_near::<S>(leaf, key, share)
                    && let Some(answer) = tree.get_near((leaf, near), key, take)
                {
                    return answer;
                }
            } else {
                tree.ask_for_leaf(leaf);
            }
            if let Some(answer) = tree.get_at_position::<S, T>((leaf, usual.is_some()), key, take) {
                return answer;
            }
        }
        tree.get_without_position(key, take)
    }
}

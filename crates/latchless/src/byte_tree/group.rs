//! Operations on several keys at once: while the memory of one key is on its way, the others proceed.
//!
//! The keys of a group go down one level at a time. Each step reads the lines that the previous step has
//! prefetched, and prefetches the lines of the next one.

use super::finder::positions::Aim;
use super::finder::start::{Start, StartBy};
use super::node::Toward;
use super::take::{OneWord, Take};
use super::tree::ByteTree;
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The most keys that go down together.
pub const GROUP: usize = 16;

/// The largest group of edits. Each reads and writes some fifteen lines of its leaf: more leaves would
/// evict each other from the first-level cache.
pub const EDITS: usize = 8;

/// A key's way down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub hash: u64,
    /// The node that it has reached; at the end a leaf.
    pub at: Start,
}

impl Way {
    const NONE: Self = Self { hash: 0, at: Start::new(NodeRef::NIL, StartBy::Descent) };
}

impl ByteTree {
    /// The values under at most [`GROUP`] keys.
    pub fn get_group(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) {
        let mut answers = answers.iter_mut();
        let done = |answer, _: &_| *answers.next().expect("a place for each answer") = answer;
        self.get_group_by(keys, &mut OneWord, done);
    }

    /// Looks up a group of keys; `take` takes the values. Calls `done` for each key in order with whether
    /// it has a value.
    #[inline]
    pub fn get_group_by<T: Take>(
        &self,
        keys: &[&[u8]],
        take: &mut T,
        done: impl FnMut(Option<T::Value>, &T),
    ) {
        self.dispatch.run(GetGroup { tree: self, keys, take, done });
    }

    /// Applies edits, all with the same purpose, to the entries of at most [`GROUP`] keys, in order.
    /// Returns each previous value.
    ///
    /// # Errors
    /// The first error, and how many edits were done before it.
    pub fn edit_group(
        &self,
        (keys, aim): (&[&[u8]], Aim),
        edits: &mut dyn Iterator<Item = Edit<u64>>,
        done: &mut dyn FnMut(Edited<u64>),
    ) -> Result<()> {
        // So far only; the caller goes on after the key that is refused.
        let refused = keys.iter().position(|key| Self::check_length(key).is_err()).unwrap_or(keys.len());
        self.dispatch.run(EditGroup { tree: self, keys: &keys[..refused], aim, edits, done })?;
        keys.get(refused).map_or(Ok(()), |key| Self::check_length(key))
    }

    /// Where edits of these keys begin. The lines that they read are prefetched.
    #[inline(always)]
    pub(super) fn starts_together<S: Search>(&self, keys: &[&[u8]], aim: Aim) -> [Way; GROUP] {
        let mut ways = [Way::NONE; GROUP];
        if let Some(at) = self.start_at_end() {
            ways.iter_mut().zip(keys).for_each(|(way, key)| *way = Way { hash: self.hash(key), at });
            return ways;
        }
        self.descend_together::<S>(keys, aim, &mut ways);
        for (way, key) in ways.iter_mut().zip(keys) {
            let hash = self.hash_of(way, key);
            way.hash = hash;
            // An added key is usually absent.
            if aim == Aim::Find {
                self.ask_for_entry::<S>(way.at, || hash);
            }
            self.ask_for_slots(way.at);
        }
        ways
    }

    /// The leaves that are likely to have these keys: by guesses where there are any. Only keys without a
    /// guess by position are hashed.
    #[inline(always)]
    fn descend_together<S: Search>(&self, keys: &[&[u8]], aim: Aim, ways: &mut [Way; GROUP]) {
        let mut places = [0; GROUP];
        let slots = self.positions.ask_for_all(keys, aim, &mut places);
        if slots.is_none() {
            for (way, key) in ways.iter_mut().zip(keys) {
                way.hash = self.hash(key);
                self.guesses.ask(way.hash);
            }
        }
        let (root, levels) = self.root();
        let mut unguessed = [0u8; GROUP];
        let mut count = 0;
        for ((at, way), (key, place)) in ways.iter_mut().enumerate().zip(keys.iter().zip(places)) {
            if let Some(start) = self.guess_at(slots, place, (key, &mut way.hash)) {
                way.at = start;
                match start.share {
                    Some(_) => self.ask_for_header(start.leaf),
                    None => self.ask_for(start.leaf, 0),
                }
            } else {
                way.at.leaf = root;
                unguessed[count] = at as u8;
                count += 1;
            }
        }
        self.descend_those::<S>(keys, ways, (&unguessed[..count], levels));
    }

    /// The hash of a key with this way. It isn't computed yet if the key's position gave the leaf.
    #[inline(always)]
    fn hash_of(&self, way: &Way, key: &[u8]) -> u64 {
        if way.at.by == StartBy::Position { self.hash(key) } else { way.hash }
    }

    /// Takes these of the keys from the root to their leaves.
    #[inline(always)]
    fn descend_those<S: Search>(
        &self,
        keys: &[&[u8]],
        ways: &mut [Way; GROUP],
        (those, levels): (&[u8], usize),
    ) {
        for below in (0..levels - 1).rev() {
            for &at in those {
                let (node, key) = (&mut ways[usize::from(at)].at.leaf, keys[usize::from(at)]);
                // Nil: the descent was disturbed; it restarts at the end.
                if !node.is_nil() {
                    *node = self.child::<S>(*node, key, Toward::Key).unwrap_or(NodeRef::NIL);
                    self.ask_for(*node, below);
                }
            }
        }
        for &at in those {
            let (node, key) = (&mut ways[usize::from(at)].at.leaf, keys[usize::from(at)]);
            if node.is_nil() {
                *node = self.descend_to_leaf::<Scalar>(key, Toward::Key);
            }
        }
    }

    /// Prefetches the entry that a key's tag leads to, or the records around the likely place in a leaf of
    /// records.
    #[inline(always)]
    fn ask_for_entry<S: Search>(&self, Start { leaf, share, .. }: Start, hash: impl FnOnce() -> u64) {
        let (_, view) = self.at(leaf);
        let shape = view.shape();
        if shape.is_of_records() {
            if let Some(share) = share {
                self.ask_for_heads_near(leaf, share, shape);
            }
        } else if let Some((head, place)) = view.likely_place::<S>(Self::tag(hash())) {
            self.ask_for_word(leaf, head);
            self.ask_for_word(leaf, place);
        }
    }
}

struct GetGroup<'a, T, D> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    take: &'a mut T,
    done: D,
}

impl<T: Take, D: FnMut(Option<T::Value>, &T)> Operation for GetGroup<'_, T, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let Self { tree, keys, take, mut done } = self;
        let mut ways = [Way::NONE; GROUP];
        tree.descend_together::<S>(keys, Aim::Find, &mut ways);
        for (way, key) in ways.iter().zip(keys) {
            tree.ask_for_entry::<S>(way.at, || tree.hash_of(way, key));
        }
        let mut nears = [None; GROUP];
        for ((near, way), key) in nears.iter_mut().zip(&ways).zip(keys) {
            if let Some(share) = way.at.share {
                *near = tree.find_near::<S>(way.at.leaf, key, share);
            }
            if let Some(near) = *near {
                tree.ask_for_word(way.at.leaf, near.record());
            }
        }
        for ((&key, way), near) in keys.iter().zip(&ways).zip(nears) {
            let &Way { hash, at: Start { leaf, by, share } } = way;
            if let Some(near) = near
                && let Some(answer) = tree.get_near((leaf, near), key, take)
            {
                done(answer, take);
                continue;
            }
            let guessed = match by {
                StartBy::Hash => tree.get_guessed::<S, T>(leaf, (key, hash), take),
                StartBy::Position => tree.get_at_position::<S, T>((leaf, share.is_some()), key, take),
                _ => Some(tree.get_from::<S, T>(leaf, key, (hash, NodeRef::NIL), take)),
            };
            let answer = guessed.unwrap_or_else(|| tree.get_without_position(key, take));
            done(answer, take);
        }
    }
}

struct EditGroup<'a> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    aim: Aim,
    edits: &'a mut dyn Iterator<Item = Edit<u64>>,
    done: &'a mut dyn FnMut(Edited<u64>),
}

impl Operation for EditGroup<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<()> {
        let ways = self.tree.starts_together::<S>(self.keys, self.aim);
        for ((key, way), mut edit) in self.keys.iter().zip(ways).zip(self.edits) {
            (self.done)(self.tree.edit_from::<S, _>(way.at, (key, way.hash), &mut edit)?);
        }
        Ok(())
    }
}

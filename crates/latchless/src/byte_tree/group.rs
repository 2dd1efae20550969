//! Several keys at once: while the memory of one is on its way, the others go on.
//!
//! The keys of a group go down a level at a time. Each step reads what the step before has asked for, and
//! asks for what the next step will read.

use super::node::Toward;
use super::positions::Aim;
use super::shape::WORDS;
use super::start::{Start, StartBy};
use super::tree::ByteTree;
use super::values::{OneWord, Take};
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The most keys that go down together.
pub const GROUP: usize = 16;

/// As many of these as edits come in. Each reads and writes some fifteen lines of its leaf: those of more
/// leaves drive each other out of the first cache.
pub const EDITS: usize = 8;

/// A key's way down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub hash: u64,
    /// The node that it has come to; at the end a leaf.
    pub at: Start,
}

impl Way {
    const NONE: Self = Self { hash: 0, at: Start { leaf: NodeRef::NIL, by: StartBy::Descent } };
}

impl ByteTree {
    /// The values under at most [`GROUP`] keys.
    pub fn get_group(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) {
        let mut answers = answers.iter_mut();
        let done = |answer, _: &_| *answers.next().expect("a place for each answer") = answer;
        self.get_group_by(keys, &mut OneWord, done);
    }

    /// As [`ByteTree::get_group`], where `take` takes the values. `done` is told of each key in turn whether
    /// it has one.
    #[inline]
    pub fn get_group_by<T: Take>(
        &self,
        keys: &[&[u8]],
        take: &mut T,
        done: impl FnMut(Option<T::Value>, &T),
    ) {
        self.dispatch.run(GetGroup { tree: self, keys, take, done });
    }

    /// Does with the entries of at most [`GROUP`] keys what edits say, all of which are about the same, in
    /// order. Says what was there, for each.
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

    /// Where edits of these keys begin. What they read is asked for.
    #[inline(always)]
    pub(super) fn starts_together<S: Search>(&self, keys: &[&[u8]], aim: Aim) -> [Way; GROUP] {
        if let Some(at) = self.start_at_end() {
            let mut ways = [Way { hash: 0, at }; GROUP];
            ways.iter_mut().zip(keys).for_each(|(way, key)| way.hash = self.hash(key));
            return ways;
        }
        let ways = self.descend_together::<S>(keys, aim);
        ways.iter().take(keys.len()).for_each(|way| self.ask_for_slots(way.at.leaf));
        ways
    }

    /// The leaves that are likely to have these keys, and the keys' hashes: by guesses where there are any.
    #[inline(always)]
    fn descend_together<S: Search>(&self, keys: &[&[u8]], aim: Aim) -> [Way; GROUP] {
        let (mut ways, mut places) = ([Way::NONE; GROUP], [0; GROUP]);
        let slots = self.positions.ask_for_all(keys, aim, &mut places);
        for (way, key) in ways.iter_mut().zip(keys) {
            way.hash = self.hash(key);
            self.guesses.ask(way.hash);
        }
        let (root, levels) = self.root();
        let mut unguessed = [0u8; GROUP];
        let mut count = 0;
        for ((at, way), place) in ways.iter_mut().enumerate().zip(places).take(keys.len()) {
            way.at.leaf = root;
            if let Some(start) = self.guess_at(slots, place, way.hash) {
                way.at = start;
                self.ask_for(start.leaf, 0);
            } else {
                unguessed[count] = at as u8;
                count += 1;
            }
        }
        self.descend_those::<S>(keys, &mut ways, (&unguessed[..count], levels));
        // What is added isn't there, as a rule.
        if aim == Aim::Find {
            ways.iter().take(keys.len()).for_each(|way| self.ask_for_entry::<S>(way.at.leaf, way.hash));
        }
        ways
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
                // Nil: the way was disturbed; it begins anew at the end.
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

    /// Asks for the entry that a tag leads to.
    #[inline(always)]
    fn ask_for_entry<S: Search>(&self, node: NodeRef, hash: u64) {
        if let Some((head, place)) = self.at(node).1.likely_place::<S>(Self::tag(hash)) {
            let address = self.nodes.address(node);
            [head, place].into_iter().for_each(|word| prefetch_read(address.wrapping_add(word % WORDS * 8)));
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
        let ways = tree.descend_together::<S>(keys, Aim::Find);
        for (&key, way) in keys.iter().zip(ways) {
            let Way { hash, at: Start { leaf, by } } = way;
            let guessed = match by {
                StartBy::Hash => tree.get_guessed::<S, T>(leaf, (key, hash), take),
                StartBy::Position => tree.get_at_position::<S, T>(leaf, (key, hash), take),
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

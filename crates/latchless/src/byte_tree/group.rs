//! Several keys at once: while the memory of one is on its way, the others go on.
//!
//! The keys of a group go down a level at a time. Each step reads what the step before has asked for, and
//! asks for what the next step will read.

use super::node::Toward;
use super::shape::WORDS;
use super::tree::ByteTree;
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;

/// The most keys that go down together.
pub const GROUP: usize = 32;

impl ByteTree {
    /// The values under at most [`GROUP`] keys.
    pub fn get_group(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) {
        self.dispatch.run(GetGroup { tree: self, keys, answers });
    }

    /// Does with the entries of at most [`GROUP`] keys what edits say, in order. Says what was there, for
    /// each.
    ///
    /// # Errors
    /// The first error, and how many edits were done before it.
    pub fn edit_group(
        &self,
        keys: &[&[u8]],
        edits: &mut dyn Iterator<Item = Edit<u64>>,
        done: &mut dyn FnMut(Edited<u64>),
    ) -> Result<()> {
        // So far only; the caller goes on after the key that is refused.
        let refused = keys.iter().position(|key| Self::check_length(key).is_err()).unwrap_or(keys.len());
        self.dispatch.run(EditGroup { tree: self, keys: &keys[..refused], edits, done })?;
        keys.get(refused).map_or(Ok(()), |key| Self::check_length(key))
    }

    /// The leaves that are likely to have these keys, and the keys' tags.
    #[inline(always)]
    fn descend_together<S: Search>(&self, keys: &[&[u8]]) -> [(NodeRef, u8); GROUP] {
        let (root, levels) = self.root();
        let mut at = [(root, 0); GROUP];
        for (at, key) in at.iter_mut().zip(keys) {
            at.1 = Self::tag(self.hash(key));
        }
        for below in (0..levels - 1).rev() {
            for (at, key) in at.iter_mut().zip(keys) {
                // Nil: the way was disturbed; it begins anew at the end.
                if !at.0.is_nil() {
                    at.0 = self.child(at.0, key, Toward::Key).unwrap_or(NodeRef::NIL);
                    self.ask_for(at.0, below);
                }
            }
        }
        for (at, key) in at.iter_mut().zip(keys) {
            if at.0.is_nil() {
                at.0 = self.descend_to_leaf(key, Toward::Key);
            }
            self.ask_for_entry::<S>(*at);
        }
        at
    }

    /// Asks for the entry that a tag leads to.
    #[inline(always)]
    fn ask_for_entry<S: Search>(&self, (node, tag): (NodeRef, u8)) {
        if let Some((head, place)) = self.at(node).1.likely_place::<S>(tag) {
            let address = self.nodes.address(node);
            [head, place].into_iter().for_each(|word| prefetch_read(address.wrapping_add(word % WORDS * 8)));
        }
    }
}

struct GetGroup<'a> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    answers: &'a mut [Option<u64>],
}

impl Operation for GetGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        let at = self.tree.descend_together::<S>(self.keys);
        for ((answer, key), (node, tag)) in self.answers.iter_mut().zip(self.keys).zip(at) {
            *answer = self.tree.get_from::<S>(node, key, tag);
        }
    }
}

struct EditGroup<'a> {
    tree: &'a ByteTree,
    keys: &'a [&'a [u8]],
    edits: &'a mut dyn Iterator<Item = Edit<u64>>,
    done: &'a mut dyn FnMut(Edited<u64>),
}

impl Operation for EditGroup<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<()> {
        let at = self.tree.descend_together::<S>(self.keys);
        at.iter().take(self.keys.len()).for_each(|at| self.tree.ask_for_heads(at.0));
        for ((key, (node, tag)), edit) in self.keys.iter().zip(at).zip(self.edits) {
            (self.done)(self.tree.edit_from::<S>(node, (key, tag), edit)?);
        }
        Ok(())
    }
}

//! Changing one entry, in one atomic step.

use super::aside::{Aside, Lack};
use super::change::Entry;
use super::long::LongStrings;
use super::node::Toward;
use super::shape::{LONG, LongRef, SUFFIX_MAX, entry_words};
use super::text::head;
use super::tree::{ByteTree, Held};
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Change, Edit, Edited, Step};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::BitsWord;

impl ByteTree {
    /// Does with the entry of `key` what `edit` says.
    ///
    /// # Errors
    /// When the key is too long to be added, or memory is refused; nothing has changed then.
    #[inline]
    pub fn edit(&self, key: &[u8], edit: Edit<u64>) -> Result<Edited<u64>> {
        Self::check_length(key)?;
        self.dispatch.run(EditOne { tree: self, key, edit })
    }

    /// As [`ByteTree::edit`], of a key with this tag. `node`: where a descent came out.
    #[inline(always)]
    pub(super) fn edit_from<S: Search>(
        &self,
        node: NodeRef,
        (key, tag): (&[u8], u8),
        edit: Edit<u64>,
    ) -> Result<Edited<u64>> {
        let leaf = self.latch_covering_from(node, 0, key).expect("there is always a level of leaves");
        match self.edit_in::<S>(leaf, (key, tag), edit) {
            Ok(edited) => Ok(edited),
            Err(((node, _), held)) => {
                drop(held);
                self.edit_with_room(node, (key, tag), edit)
            }
        }
    }

    /// Edits a latched leaf, and lets go of it.
    ///
    /// # Errors
    /// The leaf, when it has no room for a new entry, or the entry is long.
    #[inline(always)]
    fn edit_in<'a, S: Search>(
        &self,
        (at, mut held): Held<'a>,
        (key, tag): (&[u8], u8),
        edit: Edit<u64>,
    ) -> Result<Edited<u64>, Held<'a>> {
        let (_, leaf) = at;
        let found = leaf.find::<S>(key, tag);
        let before = found.map(|at| leaf.value(leaf.shape(), at));
        match (edit.step(before), found) {
            (Step::Set(value), Some(at)) => {
                held.changing();
                leaf.set_value(at, value);
            }
            (Step::Set(value), None) => {
                let shape = leaf.shape();
                let suffix = &key[shape.prefix()..];
                if suffix.len() > SUFFIX_MAX || !shape.has_room(entry_words(suffix.len() as u8)) {
                    return Err((at, held));
                }
                held.changing();
                leaf.insert(leaf.rank(shape, key).0, Entry::short(suffix, tag, value));
                drop(held);
                self.entries.add(1);
            }
            (Step::TakeOut, Some(at)) => {
                held.changing();
                let long = leaf.remove(at);
                let is_small = Self::invites_a_merge(leaf);
                drop(held);
                self.entries.add(-1);
                self.follow_up(key, long, is_small);
            }
            _ => return Ok(Edited { before, applied: false }),
        }
        Ok(Edited { before, applied: true })
    }

    /// What follows when an entry was removed, and no latch is held any more.
    #[inline(always)]
    pub(super) fn follow_up(&self, key: &[u8], long: Option<LongRef>, is_small: bool) {
        if let Some(string) = long {
            self.long.free(string);
        }
        if is_small {
            self.merge_around(0, key);
        }
    }

    /// Edits a leaf that had no room: puts nodes aside, then makes room in it, or splits it.
    #[cold]
    #[inline(never)]
    fn edit_with_room(&self, mut node: NodeRef, own: (&[u8], u8), edit: Edit<u64>) -> Result<Edited<u64>> {
        let (key, tag) = own;
        self.ask_for_all(node);
        self.longest.publish_max(key.len() as u64);
        let (mut aside, mut lack) = (Aside::none(self), Lack { levels: 1, blocks: 0 });
        loop {
            aside.reserve(lack)?;
            let leaf = self.latch_covering_from(node, 0, key).expect("there is always a level of leaves");
            node = leaf.0.0;
            let (at, mut held) = match self.edit_in::<Scalar>(leaf, own, edit) {
                Ok(edited) => return Ok(edited),
                Err(leaf) => leaf,
            };
            let leaf = at.1;
            let prefix = leaf.shape().prefix();
            let is_long = key.len() - prefix > SUFFIX_MAX;
            let blocks = if is_long { LongStrings::blocks_for(key.len()) } else { 0 };
            if aside.blocks.len() < blocks {
                lack.blocks = blocks;
                continue;
            }
            let words = entry_words(if is_long { LONG } else { (key.len() - prefix) as u8 });
            if is_long && leaf.shape().has_room(words) {
                let Step::Set(value) = edit.step(None) else { unreachable!("a new entry was to be added") };
                held.changing();
                let entry = Entry::long(head(key, prefix), aside.blocks.store(key), tag, value);
                leaf.insert(leaf.rank(leaf.shape(), key).0, entry);
                drop(held);
                self.entries.add(1);
                return Ok(Edited { before: None, applied: true });
            }
            let mut strings = aside.take_strings(0);
            let is_wider = self.make_room(leaf, &mut held, words, &mut strings);
            aside.bring_strings(0, strings);
            if is_wider {
                continue;
            }
            if let Err(more) = self.split(0, (at, held), key, &mut aside) {
                lack = Lack { levels: lack.levels.max(more.levels), blocks: lack.blocks.max(more.blocks) };
            }
        }
    }
}

struct EditOne<'a> {
    tree: &'a ByteTree,
    key: &'a [u8],
    edit: Edit<u64>,
}

impl Operation for EditOne<'_> {
    type Output = Result<Edited<u64>>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<Edited<u64>> {
        let tag = ByteTree::tag(self.tree.hash(self.key));
        let node = self.tree.descend_to_leaf(self.key, Toward::Key);
        if self.edit == Edit::Look {
            let before = self.tree.get_from::<S>(node, self.key, tag);
            return Ok(Edited { before, applied: false });
        }
        self.tree.ask_for_heads(node);
        self.tree.edit_from::<S>(node, (self.key, tag), self.edit)
    }
}

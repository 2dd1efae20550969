//! The start of an operation: a leaf that is likely to have the key.
//!
//! A key's position predicts the leaf at best, its hash where positions don't; otherwise a descent finds
//! it. The leaf's fences decide whether it is the right one.

use super::positions::Aim;
use crate::byte_tree::node::Toward;
use crate::byte_tree::tree::ByteTree;
use crate::node::operation::{Operation, Run, Search};
use crate::tree::{Edit, Share, Slots};
use latchless_core::mem::node_ref::NodeRef;

/// Where an operation begins.
#[derive(Debug, Clone, Copy)]
pub(in crate::byte_tree) struct Start {
    /// The leaf that a descent or a guess has reached.
    pub leaf: NodeRef,
    pub by: StartBy,
    /// The key's likely place in the leaf, if it is worth a look.
    pub share: Option<Share>,
}

impl Start {
    pub const fn new(leaf: NodeRef, by: StartBy) -> Self {
        Self { leaf, by, share: None }
    }
}

/// How an operation came to the leaf where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::byte_tree) enum StartBy {
    Descent,
    /// By the key's hash.
    Hash,
    /// By the key's position.
    Position,
    /// The thread's last edit was at an end of all keys.
    End,
}

/// The purpose of an edit.
#[inline(always)]
pub(in crate::byte_tree) fn aim_of<V>(edit: &Edit<V>) -> Aim {
    match edit {
        Edit::Put(_) | Edit::Add(_) => Aim::Add,
        _ => Aim::Find,
    }
}

impl ByteTree {
    /// Where an edit of a key with this hash begins. The lines that it reads are prefetched.
    #[inline(always)]
    pub(in crate::byte_tree) fn start_of<S: Search>(&self, key: &[u8], hash: u64, aim: Aim) -> Start {
        if let Some(end) = self.start_at_end() {
            return end;
        }
        let start = match self.guess(key, hash, aim) {
            Some(start) => {
                if let Some((share, usual)) = start.share.zip(self.usual_records()) {
                    self.ask_from_record_on(start.leaf, share, usual);
                    return start;
                }
                self.ask_for(start.leaf, 0);
                start
            }
            None => Start::new(self.descend_to_leaf::<S>(key, Toward::Key), StartBy::Descent),
        };
        self.ask_for_heads(start.leaf);
        start
    }

    /// The leaf that a key with this hash is likely to be in, without a descent.
    #[inline(always)]
    fn guess(&self, key: &[u8], hash: u64, aim: Aim) -> Option<Start> {
        match self.positions.guess(key, aim) {
            Some((leaf, share)) => Some(self.start_at(leaf, share)),
            None => self.guess_by_hash(hash),
        }
    }

    /// The guess for a key that has this place among the slots, if there are any. If the place gives no
    /// guess, the key is hashed.
    #[inline(always)]
    pub(in crate::byte_tree) fn guess_at(
        &self,
        slots: Option<Slots<'_>>,
        place: u64,
        (key, hash): (&[u8], &mut u64),
    ) -> Option<Start> {
        if let Some(slots) = slots
            && let Some((leaf, share)) = slots.guess_at(place.into())
        {
            return Some(self.start_at(leaf, share));
        }
        if slots.is_some() {
            *hash = self.hash(key);
        }
        self.guess_by_hash(*hash)
    }

    /// A start by a key's position, with the key's likely place in the leaf.
    #[inline(always)]
    pub(in crate::byte_tree) fn start_at(&self, leaf: NodeRef, share: Share) -> Start {
        let share = self.usual_records().is_some().then_some(share);
        Start { leaf, by: StartBy::Position, share }
    }

    #[inline(always)]
    fn guess_by_hash(&self, hash: u64) -> Option<Start> {
        self.guesses.leaf(hash).map(|leaf| Start::new(leaf, StartBy::Hash))
    }

    /// Where a search for a key's neighbour begins. The key needn't be there, so its hash gives no guess.
    #[inline(always)]
    pub(in crate::byte_tree) fn start_near(&self, key: &[u8], toward: Toward) -> Start {
        if toward == Toward::Key
            && let Some((leaf, _)) = self.positions.guess(key, Aim::Find)
        {
            self.ask_for(leaf, 0);
            return Start::new(leaf, StartBy::Position);
        }
        let leaf = self.dispatch.run(Descend { tree: self, key, toward, with_next: false });
        Start::new(leaf, StartBy::Descent)
    }

    /// Where a search begins that reads several leaves in order: also prefetches the header of the next
    /// one.
    #[inline(always)]
    pub(in crate::byte_tree) fn start_with_next(&self, key: &[u8], toward: Toward) -> Start {
        if toward == Toward::Key
            && let Some((leaf, share, next)) = self.positions.guess_two(key)
        {
            self.ask_for_header(next);
            return self.start_at(leaf, share);
        }
        let leaf = self.dispatch.run(Descend { tree: self, key, toward, with_next: true });
        Start::new(leaf, StartBy::Descent)
    }

    /// Learns the right start from the leaf that covers a key, which is there or was added. Returns whether
    /// the guess by position was right and lookups use positions, too.
    #[inline(always)]
    pub(in crate::byte_tree) fn settle(
        &self,
        start: Start,
        key: &[u8],
        leaf: NodeRef,
        (aim, is_new): (Aim, bool),
    ) -> bool {
        let is_right = start.by == StartBy::Position && start.leaf == leaf;
        if is_right {
            self.count_position(aim);
        } else if start.by != StartBy::End && self.positions.are_any(aim) {
            self.learn_position(key, leaf, (aim, is_new));
        }
        is_right && self.positions.are_any(Aim::Find)
    }
}

/// The way down to the leaf that is likely to have a key.
struct Descend<'a> {
    tree: &'a ByteTree,
    key: &'a [u8],
    toward: Toward,
    /// Whether to prefetch the header of the following leaf.
    with_next: bool,
}

impl Operation for Descend<'_> {
    type Output = NodeRef;

    #[inline(always)]
    fn run<S: Search>(self) -> NodeRef {
        let Self { tree, key, toward, with_next } = self;
        if with_next
            && let Some(parent) = tree.descend::<S>(1, key, toward)
            && let Some((child, next)) = tree.child_and_next::<S>(parent, key, toward)
        {
            tree.ask_for_header(next);
            return child;
        }
        tree.descend_to_leaf::<S>(key, toward)
    }
}

//! Changing one entry, in one atomic step.

use super::mode::{Held, Mode};
use super::spares::Reserve;
use super::{At, BlinkTree};
use crate::node::operation::{Operation, Run, Search};
use crate::node::{self, Leaf, Place, Seen};
use core::marker::PhantomData;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The change of a key's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit<B> {
    /// None: only return the value.
    Look,
    /// Insert the entry, or replace its value.
    Put(B),
    /// Insert the entry if the key isn't present.
    Add(B),
    /// Replace the value if the key is present.
    Replace(B),
    /// Replace the value if it is the expected one.
    Swap {
        /// The expected value.
        expected: B,
        /// The new value.
        value: B,
    },
    /// Remove the entry.
    Remove,
    /// Remove the entry if it has this value.
    RemoveIf(B),
}

/// The result of an [`Edit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edited<B> {
    /// The value before the edit.
    pub before: Option<B>,
    /// Whether the edit's condition held.
    pub applied: bool,
}

/// The action of an edit, given the current value.
pub(crate) enum Step<B> {
    Leave,
    Set(B),
    TakeOut,
}

/// An [`Edit`], or one whose kind the compiler knows, so that its condition is resolved at compile time.
pub(crate) trait Change<B>: Copy {
    /// Returns the action for the current value.
    fn step(self, before: Option<B>) -> Step<B>;
    /// Returns the same edit as an [`Edit`].
    fn edit(self) -> Edit<B>;
}

/// [`Edit::Put`], known at compile time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Put<B>(pub(super) B);

/// [`Edit::Remove`], known at compile time.
#[derive(Debug, Clone, Copy)]
struct Remove;

impl<B> Edit<B> {
    /// Returns the same edit with its values converted.
    #[inline(always)]
    pub(crate) fn map<C>(self, mut of: impl FnMut(B) -> C) -> Edit<C> {
        match self {
            Self::Look => Edit::Look,
            Self::Put(value) => Edit::Put(of(value)),
            Self::Add(value) => Edit::Add(of(value)),
            Self::Replace(value) => Edit::Replace(of(value)),
            Self::Swap { expected, value } => Edit::Swap { expected: of(expected), value: of(value) },
            Self::Remove => Edit::Remove,
            Self::RemoveIf(expected) => Edit::RemoveIf(of(expected)),
        }
    }

    /// Returns the same edit with borrowed values.
    pub(crate) fn as_ref(&self) -> Edit<&B> {
        match self {
            Self::Look => Edit::Look,
            Self::Put(value) => Edit::Put(value),
            Self::Add(value) => Edit::Add(value),
            Self::Replace(value) => Edit::Replace(value),
            Self::Swap { expected, value } => Edit::Swap { expected, value },
            Self::Remove => Edit::Remove,
            Self::RemoveIf(expected) => Edit::RemoveIf(expected),
        }
    }
}

impl<B: Bits> Edit<B> {
    /// Returns whether the edit may insert a key.
    #[inline(always)]
    pub(super) fn may_add(self) -> bool {
        matches!(self, Self::Put(_) | Self::Add(_))
    }
}

impl<B: Bits> Change<B> for Edit<B> {
    #[inline(always)]
    fn step(self, before: Option<B>) -> Step<B> {
        match (self, before) {
            (Self::Put(value), _) | (Self::Add(value), None) | (Self::Replace(value), Some(_)) => {
                Step::Set(value)
            }
            (Self::Swap { expected, value }, Some(before)) if before == expected => Step::Set(value),
            (Self::Remove, Some(_)) => Step::TakeOut,
            (Self::RemoveIf(expected), Some(before)) if before == expected => Step::TakeOut,
            _ => Step::Leave,
        }
    }

    #[inline(always)]
    fn edit(self) -> Self {
        self
    }
}

impl<B: Bits> Change<B> for Put<B> {
    #[inline(always)]
    fn step(self, _: Option<B>) -> Step<B> {
        Step::Set(self.0)
    }

    #[inline(always)]
    fn edit(self) -> Edit<B> {
        Edit::Put(self.0)
    }
}

impl<B: Bits> Change<B> for Remove {
    #[inline(always)]
    fn step(self, before: Option<B>) -> Step<B> {
        if before.is_some() { Step::TakeOut } else { Step::Leave }
    }

    #[inline(always)]
    fn edit(self) -> Edit<B> {
        Edit::Remove
    }
}

/// The leaf is full.
pub(super) struct Full;

impl<B: Bits> BlinkTree<B> {
    /// Applies `edit` to the entry of `key`.
    ///
    /// # Errors
    /// Memory was refused; nothing has changed then.
    #[inline]
    pub fn edit<M: Mode>(&self, key: B, edit: Edit<B>) -> Result<Edited<B>> {
        if edit.may_add()
            && let Some(end) = self.guesses.end(key.to_u64())
        {
            return self.edit_at_end::<M>(end, key, edit);
        }
        self.dispatch.run(EditOne { tree: self, key, edit, mode: PhantomData::<M> })
    }

    /// Inserts an entry or replaces its value, and returns the old value.
    ///
    /// # Errors
    /// Those of [`BlinkTree::edit`].
    #[inline]
    pub fn put<M: Mode>(&self, key: B, value: B) -> Result<Option<B>> {
        if let Some(end) = self.guesses.end(key.to_u64()) {
            return Ok(self.edit_at_end::<M>(end, key, Put(value))?.before);
        }
        let edited = self.dispatch.run(EditOne { tree: self, key, edit: Put(value), mode: PhantomData::<M> });
        Ok(edited?.before)
    }

    /// Removes `key`, and returns its value.
    #[inline]
    pub fn remove<M: Mode>(&self, key: B) -> Option<B> {
        let edited = self.dispatch.run(EditOne { tree: self, key, edit: Remove, mode: PhantomData::<M> });
        edited.unwrap_or_else(|error| unreachable!("an edit that adds no key was refused: {error}")).before
    }

    /// Applies an edit from `start`, the result of a descent. See [`BlinkTree::edit`].
    #[inline(always)]
    pub(super) fn edit_from<S: Search, M: Mode>(
        &self,
        start: At<'_>,
        key: B,
        edit: impl Change<B>,
    ) -> Result<Edited<B>> {
        match self.edit_without_split::<S, M>(start, key, edit) {
            Ok(edited) => Ok(edited),
            Err(full) => self.edit_with_split::<Scalar, M>(full, key, edit.edit()),
        }
    }

    /// Applies an edit from `start`, the result of a descent, unless that would insert into a full leaf.
    ///
    /// # Errors
    /// That leaf; nothing has changed then.
    #[inline(always)]
    pub(super) fn edit_without_split<S: Search, M: Mode>(
        &self,
        start: At<'_>,
        key: B,
        edit: impl Change<B>,
    ) -> Result<Edited<B>, NodeRef> {
        let (at, held) = self.latch_leaf::<M>(start, key);
        self.edit_in::<S, M>(at.leaf(), held, key, edit).map_err(|Full| at.node)
    }

    /// Applies an edit to a latched leaf, and unlatches it.
    #[inline(always)]
    pub(super) fn edit_in<S: Search, M: Mode>(
        &self,
        leaf: Leaf<'_, B>,
        mut held: M::Held<'_>,
        key: B,
        edit: impl Change<B>,
    ) -> Result<Edited<B>, Full> {
        let seen = leaf.seek::<S>(key);
        let place = seen.place;
        let before = place.map(|place| leaf.value(place));
        match (edit.step(before), place) {
            (Step::Set(value), Some(place)) => {
                held.changing();
                leaf.set_value(place, value);
                drop(held);
                self.note_change::<M>(key..=key);
            }
            (Step::Set(value), None) => {
                // A full leaf isn't changed here, but it is split next: restarting its readers costs less
                // than a check first.
                held.changing();
                if !leaf.insert_in_block::<S>(seen, (key, value)) {
                    let beside = InsertBeside { leaf, seen, entry: (key, value) };
                    if !self.dispatch.run(beside) {
                        return Err(Full);
                    }
                }
                self.outdate::<M>(leaf, &mut held);
                drop(held);
                self.count_entries::<M>(1);
            }
            (Step::TakeOut, Some(place)) => {
                held.changing();
                self.take_out::<S, M>(leaf, held, place, key);
            }
            _ => return Ok(Edited { before, applied: false }),
        }
        Ok(Edited { before, applied: true })
    }

    #[inline(always)]
    fn take_out<S: Search, M: Mode>(&self, leaf: Leaf<'_, B>, mut held: M::Held<'_>, place: Place, key: B) {
        leaf.remove::<S>(place);
        self.outdate::<M>(leaf, &mut held);
        let left = leaf.len();
        drop(held);
        self.follow_up::<M>(key, left);
    }

    /// Follows up the removal of a key from a leaf that has `left` keys now. No latch is held any more.
    #[inline(always)]
    pub(super) fn follow_up<M: Mode>(&self, key: B, left: usize) {
        self.count_entries::<M>(-1);
        self.note_change::<M>(key..=key);
        if Self::invites_a_merge(left) {
            self.merge_around::<Scalar, M>(0, key);
        }
    }

    /// Prefetches what a split or a loan of a full leaf accesses: the whole leaf, the first line of its
    /// neighbour, and its parent's entry.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_for_split(&self, at: At<'_>, key: B) {
        self.ask_for_neighbour(at.leaf());
        (0..node::LINES).for_each(|line| prefetch_read(at.line_address(line)));
        self.ask_for_parent(key);
    }

    /// Applies an edit to a leaf that was full: allocates spare nodes, then splits it.
    #[cold]
    #[inline(never)]
    pub(super) fn edit_with_split<S: Search, M: Mode>(
        &self,
        mut node: NodeRef,
        key: B,
        edit: Edit<B>,
    ) -> Result<Edited<B>> {
        // While all of that arrives, nodes are allocated.
        self.ask_for_split(self.at(node), key);
        let mut spares = Reserve::none(&self.arena);
        spares.reserve(1)?;
        loop {
            let (at, held) = self.latch_leaf::<M>(self.at(node), key);
            let leaf = at.leaf::<B>();
            node = at.node;
            let place = leaf.find::<S>(key);
            if place.is_some() || leaf.len() < Leaf::<B>::CAPACITY {
                if let Ok(edited) = self.edit_in::<S, M>(leaf, held, key, edit) {
                    return Ok(edited);
                }
                continue;
            }
            let Step::Set(value) = edit.step(None) else {
                return Ok(Edited { before: None, applied: false });
            };
            let cut = leaf.cut::<S>(key, self.latecomers.come());
            // Where keys grow, the neighbour keeps its place: further keys don't go there.
            let lent = if cut.is_for_growth() { Err(held) } else { self.lend::<S, M>((node, held), key) };
            let held = match lent {
                Ok(leaf) => {
                    node = leaf;
                    continue;
                }
                Err(held) => held,
            };
            match self.split::<S, M>((node, held), ((key, value), cut), &mut spares) {
                Ok(()) => {
                    self.count_entries::<M>(1);
                    self.latecomers.count(cut.is_at_the_end());
                    self.keep_directory(key);
                    return Ok(Edited { before: None, applied: true });
                }
                Err(levels) => spares.reserve(levels)?,
            }
        }
    }

    #[inline(always)]
    pub(super) fn count_entries<M: Mode>(&self, change: i64) {
        if M::SHARED { self.len.add(change) } else { self.len.add_alone(change) }
    }
}

/// Separate, so that what few inserts need takes no registers from the code that all run.
struct InsertBeside<'a, B> {
    leaf: Leaf<'a, B>,
    seen: Seen<B>,
    entry: (B, B),
}

impl<B: Bits> Operation for InsertBeside<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Search>(self) -> bool {
        self.leaf.insert_beside::<S>(self.seen, self.entry)
    }
}

struct EditOne<'a, B, C, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    edit: C,
    mode: PhantomData<M>,
}

impl<B: Bits, C: Change<B>, M: Mode> Operation for EditOne<'_, B, C, M> {
    type Output = Result<Edited<B>>;

    #[inline(always)]
    fn run<S: Search>(self) -> Result<Edited<B>> {
        if self.edit.edit() == Edit::Look {
            let before = self.tree.get_with::<S, M>(self.key);
            return Ok(Edited { before, applied: false });
        }
        self.tree.edit_from::<S, M>(self.tree.descend::<S>(self.key), self.key, self.edit)
    }
}

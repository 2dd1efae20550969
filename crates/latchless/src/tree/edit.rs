//! Changing one entry, in one atomic step.

use super::mode::Held;
use super::spares::Reserve;
use super::*;
use crate::node::operation::{Operation, Run, Search};
use crate::node::{Place, Seen};
use latchless_core::mem::line::prefetch_read;
use latchless_core::search::Scalar;

/// What is to be done with the entry of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit<B> {
    /// Nothing: only say what stands there.
    Look,
    /// The key gets this value, whether it was there or not.
    Put(B),
    /// The key gets this value if it isn't there.
    Add(B),
    /// The key gets this value if it is there.
    Replace(B),
    /// The key gets another value if it has the expected one.
    Swap {
        /// What must stand there.
        expected: B,
        /// What is to stand there.
        value: B,
    },
    /// The key is taken out.
    Remove,
    /// The key is taken out if it has this value.
    RemoveIf(B),
}

/// What an [`Edit`] found and whether it changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edited<B> {
    /// The value that stood there.
    pub before: Option<B>,
    /// Whether the edit's condition held.
    pub applied: bool,
}

/// What follows from an edit and what stands there.
pub(crate) enum Step<B> {
    Leave,
    Set(B),
    TakeOut,
}

/// An [`Edit`], or one whose kind the compiler knows, so that nothing is asked about it when it is run.
pub(crate) trait Change<B>: Copy {
    /// What follows from what stands there.
    fn step(self, before: Option<B>) -> Step<B>;
    /// The same edit, by its name.
    fn edit(self) -> Edit<B>;
}

/// As [`Edit::Put`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Put<B>(pub(super) B);

/// As [`Edit::Remove`].
#[derive(Debug, Clone, Copy)]
struct Remove;

impl<B> Edit<B> {
    /// The same edit, of values that are made of these.
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

    /// The same edit, of borrowed values.
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
    /// Whether the key may come in anew.
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
    /// Does with the entry of `key` what `edit` says.
    ///
    /// # Errors
    /// When memory is refused; nothing has changed then.
    #[inline]
    pub fn edit<M: Mode>(&self, key: B, edit: Edit<B>) -> Result<Edited<B>> {
        if edit.may_add()
            && let Some(end) = self.guesses.end(key.to_u64())
        {
            return self.edit_at_end::<M>(end, key, edit);
        }
        self.dispatch.run(EditOne { tree: self, key, edit, mode: PhantomData::<M> })
    }

    /// Puts a value under `key`, and says which it replaces.
    ///
    /// # Errors
    /// As [`BlinkTree::edit`].
    #[inline]
    pub fn put<M: Mode>(&self, key: B, value: B) -> Result<Option<B>> {
        if let Some(end) = self.guesses.end(key.to_u64()) {
            return Ok(self.edit_at_end::<M>(end, key, Put(value))?.before);
        }
        let edited = self.dispatch.run(EditOne { tree: self, key, edit: Put(value), mode: PhantomData::<M> });
        Ok(edited?.before)
    }

    /// Removes `key`, and says which value it had.
    #[inline]
    pub fn remove<M: Mode>(&self, key: B) -> Option<B> {
        let edited = self.dispatch.run(EditOne { tree: self, key, edit: Remove, mode: PhantomData::<M> });
        edited.unwrap_or_else(|error| unreachable!("an edit that adds no key was refused: {error}")).before
    }

    /// As [`BlinkTree::edit`]. `start`: where a descent came out.
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

    /// As [`BlinkTree::edit_from`], unless a leaf is full in which an entry has to come in.
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

    /// Edits a latched leaf, and lets go of it.
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
                // A full leaf changes nothing, but it is split next: that its readers start again costs less
                // than to look first.
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

    /// What follows when a key was removed from a leaf with so many keys left, and no latch is held any more.
    #[inline(always)]
    pub(super) fn follow_up<M: Mode>(&self, key: B, left: usize) {
        self.count_entries::<M>(-1);
        self.note_change::<M>(key..=key);
        if Self::invites_a_merge(left) {
            self.merge_around::<Scalar, M>(0, key);
        }
    }

    /// Asks for what a split or a loan of a full leaf needs: all of it, the first line of its neighbour, and
    /// what names it.
    #[cold]
    #[inline(never)]
    pub(super) fn ask_for_split(&self, at: At<'_>, key: B) {
        self.ask_for_neighbour(at.leaf());
        (0..node::LINES).for_each(|line| prefetch_read(at.line_address(line)));
        self.ask_for_parent(key);
    }

    /// Edits a leaf that was found full: puts nodes aside, then splits it.
    #[cold]
    #[inline(never)]
    pub(super) fn edit_with_split<S: Search, M: Mode>(
        &self,
        mut node: NodeRef,
        key: B,
        edit: Edit<B>,
    ) -> Result<Edited<B>> {
        // While all of that comes, nodes are put aside.
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

/// By itself, so that what most inserts don't need takes no registers from what they do.
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

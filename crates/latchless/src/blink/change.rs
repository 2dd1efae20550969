//! What an operation does to the entry of one key, and what it returns.

use latchless_core::base::key::Bits;

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
pub(crate) struct Put<B>(pub(crate) B);

/// [`Edit::Remove`], known at compile time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remove;

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
    pub(crate) fn may_add(self) -> bool {
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

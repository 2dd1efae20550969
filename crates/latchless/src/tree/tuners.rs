//! How many requests of a batch descend together.

use core::num::NonZeroUsize;
use latchless_core::tuner::Tuner;

/// The number of requests of a batch that descend together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Group {
    /// The fastest number, which is measured on large batches: see [`Tuner`](latchless_core::tuner::Tuner).
    #[default]
    Auto,
    /// This number, at most [`Group::MAX`].
    Of(NonZeroUsize),
}

impl Group {
    /// The maximum number of requests that descend together.
    pub const MAX: usize = 128;
    /// The sizes that are measured.
    const CANDIDATES: [usize; 4] = [16, 32, 64, Self::MAX];

    /// Returns the size that the caller set.
    #[inline(always)]
    fn wanted(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Of(size) => Some(size.get().min(Self::MAX)),
        }
    }
}

/// The kind of a batch's requests: different group sizes suit each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Requests {
    Looks,
    Edits,
}

/// The measured sizes of a tree's groups.
#[derive(Debug)]
pub(super) struct Tuners {
    /// By [`Requests`].
    tuners: [Tuner; 2],
}

impl Default for Tuners {
    fn default() -> Self {
        Self { tuners: [const { Tuner::new(Group::CANDIDATES) }; 2] }
    }
}

impl Tuners {
    /// Splits a batch of `len` requests into groups, each with its first request and its length. `levels`
    /// are the tree's.
    #[inline(always)]
    pub(super) fn groups(
        &self,
        kind: Requests,
        len: usize,
        group: Group,
        levels: usize,
    ) -> impl Iterator<Item = (usize, usize)> {
        self.tuners[kind as usize].groups(len, group.wanted(), levels)
    }
}

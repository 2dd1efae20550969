//! How many requests of a batch descend together.

use core::num::NonZeroUsize;
use latchless_core::mem::refusal::boxed;
use latchless_core::sync::OnceBox;
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
#[derive(Debug, Default)]
pub(super) struct Tuners {
    /// By [`Requests`]. Allocated by the first batch that is long enough to be measured.
    made: OnceBox<[Tuner; 2]>,
}

/// Of trees without measured sizes.
static UNMEASURED: [Tuner; 2] = [const { Tuner::new(Group::CANDIDATES) }; 2];

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
        let wanted = group.wanted();
        let own = match self.made.get() {
            None if wanted.is_none() && Tuner::<4>::measures(len) => self.make(),
            own => own,
        };
        own.unwrap_or(&UNMEASURED)[kind as usize].groups(len, wanted, levels)
    }

    /// Makes tuners for this tree. `None`: no memory; trees without measured sizes then share some.
    #[cold]
    #[inline(never)]
    fn make(&self) -> Option<&[Tuner; 2]> {
        self.made.get_or_try(|| boxed([const { Tuner::new(Group::CANDIDATES) }; 2])).ok()
    }
}

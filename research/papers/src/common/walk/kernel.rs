//! Walks of indexes that choose their search kernel at run time: once for all steps of a batch.

use super::{Aim, Rounds, Step, Walk, WalksOf};
use crate::common::operation::{Operation, Run, Search};
use core::marker::PhantomData;
use latchless_core::search::Dispatch;

/// An index whose steps search with a kernel that is chosen at run time. It is a [`Walk`] by that.
pub trait KernelWalk: Sync {
    /// See [`Walk::Key`].
    type Key: Copy;
    /// See [`Walk::Place`].
    type Place: Copy;
    /// See [`Walk::Anchor`].
    type Anchor: Copy;

    /// The kernel.
    fn dispatch(&self) -> Dispatch;

    /// Starts a walk; see [`Walk::enter`].
    fn begin(&self, key: Self::Key, aim: Aim) -> Self::Place;

    /// Takes a step; see [`Walk::step`]. Mark it `#[inline(always)]`, like [`Operation::run`].
    fn step_by<S: Search>(&self, place: &mut Self::Place, key: Self::Key) -> Step<Self::Anchor>;
}

impl<W: KernelWalk> Walk for W {
    type Key = W::Key;
    type Place = W::Place;
    type Anchor = W::Anchor;

    #[inline(always)]
    fn enter(&self, key: W::Key, aim: Aim) -> W::Place {
        self.begin(key, aim)
    }

    fn step(&self, place: &mut W::Place, key: W::Key) -> Step<W::Anchor> {
        self.dispatch().run(TakeStep { walk: self, place, key })
    }

    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        self.dispatch().run(Lead { walk: self, walks, rounds });
    }
}

/// Walks with a kernel that is known.
struct With<'a, W, S>(&'a W, PhantomData<S>);

impl<W: KernelWalk, S: Search> Walk for With<'_, W, S> {
    type Key = W::Key;
    type Place = W::Place;
    type Anchor = W::Anchor;

    #[inline(always)]
    fn enter(&self, key: W::Key, aim: Aim) -> W::Place {
        self.0.begin(key, aim)
    }

    #[inline(always)]
    fn step(&self, place: &mut W::Place, key: W::Key) -> Step<W::Anchor> {
        self.0.step_by::<S>(place, key)
    }
}

struct TakeStep<'a, 'p, W: KernelWalk> {
    walk: &'a W,
    place: &'p mut W::Place,
    key: W::Key,
}

impl<W: KernelWalk> Operation for TakeStep<'_, '_, W> {
    type Output = Step<W::Anchor>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        self.walk.step_by::<S>(self.place, self.key)
    }
}

struct Lead<'a, 'w, W: KernelWalk> {
    walk: &'a W,
    walks: &'w mut WalksOf<W>,
    rounds: Rounds,
}

impl<W: KernelWalk> Operation for Lead<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        self.walks.go(&With::<W, S>(self.walk, PhantomData), self.rounds);
    }
}

//! The skip list step by step, through the executor that all indexes share
//! ([`interleave`]): down the lanes, then to the node in the data list.

use super::parts::{Parts, Spot};
use super::skip_list::{In, SkipList};
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::operation::Search;
use crate::common::walk::{Aim, KernelWalk, Rounds, Step, Walk};
use crate::cssl::lanes;
use crate::cssl::list::List;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::{Dispatch, Scalar};

/// The walks of a skip list. They come out at the last spot whose key is at most theirs.
struct SpotWalk<'a, B: Bits> {
    parts: &'a Parts<B>,
    list: List<'a, B>,
    dispatch: Dispatch,
}

/// The position of a walk.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the lanes of the part of this number.
    Lanes(u32, lanes::Place),
    /// At its spot, whose node was prefetched.
    Node(Spot),
}

impl<B: Bits> KernelWalk for SpotWalk<'_, B> {
    type Key = B;
    type Place = Place;
    type Anchor = Spot;

    fn dispatch(&self) -> Dispatch {
        self.dispatch
    }

    #[inline(always)]
    fn begin(&self, key: B, aim: Aim) -> Place {
        let part = self.parts.of(key);
        let lanes = &self.parts.part(part).lanes;
        // The start of a walk is the same for every kernel.
        Place::Lanes(part as u32, lanes.walk::<Scalar>().enter(key, aim))
    }

    #[inline(always)]
    fn step_by<S: Search>(&self, place: &mut Place, key: B) -> Step<Spot> {
        let Self { parts, list, .. } = self;
        match place {
            Place::Node(spot) => Step::Landed(Some(*spot)),
            Place::Lanes(part, at) => {
                let part = *part as usize;
                let lanes = parts.part(part).lanes.walk::<S>();
                let Step::Landed(Some(position)) = lanes.step(at, key) else { return Step::On };
                let spot = parts.spot(part, position);
                if let Some(node) = parts.node(spot) {
                    list.ask::<NoTrace>(node);
                }
                *place = Place::Node(spot);
                Step::On
            }
        }
    }
}

impl<B: Bits> SkipList<B> {
    /// Looks up keys, that many at a time, through the executor that all indexes share; see
    /// [`SkipList::get_many`].
    #[inline(always)]
    pub(super) fn get_interleaved(
        &self,
        inside: &In<'_, B>,
        size: BatchSize,
        len: usize,
        key_at: impl Fn(usize) -> B,
        mut answer: impl FnMut(usize, Option<B>),
    ) {
        let parts = inside.published();
        let walk = SpotWalk { parts, list: self.list(), dispatch: self.dispatch };
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        let how = Interleaving { size, rounds: Rounds::Unfinished, tuner: &tuner, levels: 0 };
        interleave(
            &walk,
            how,
            len,
            |at| (key_at(at), Aim::Look),
            |at, spot| {
                let value = match spot {
                    Some(spot) => self.get_at::<NoTrace>(parts, spot, key_at(at)),
                    None => self.get::<NoTrace>(inside, key_at(at)),
                };
                answer(at, value);
            },
        );
    }
}

//! PI step by step, through the executor that all indexes share ([`interleave`]): down the index layer of the
//! key's domain, to the segment, to the node.

use super::domain::Domain;
use super::engine::Engine;
use super::layer::{Layer, LayerPlace, any_width};
use crate::common::interleave::{BatchSize, Interleaving, SizeTuner, interleave};
use crate::common::operation::Search;
use crate::common::walk::{Aim, KernelWalk, Rounds, Step};
use crate::pi::segments::Anchor;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work};
use latchless_core::search::Dispatch;

/// The walks of an index. They come out at a data node of a domain: the key's interception.
struct DomainWalk<'a, B: Bits, T>(&'a Engine<B, T>);

/// The position of a walk: the domain, and the place there.
#[derive(Debug, Clone, Copy)]
struct Place {
    domain: u32,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    /// An entry of the index layer.
    Layer(LayerPlace),
    /// An entry of the table of segments, which was prefetched.
    Segment(Anchor),
    /// A data node, which was prefetched.
    Node(Anchor),
}

impl<B: Bits, T: Trace> KernelWalk for DomainWalk<'_, B, T> {
    type Key = B;
    type Place = Place;
    type Anchor = (u32, Anchor);

    fn dispatch(&self) -> Dispatch {
        self.0.dispatch
    }

    #[inline(always)]
    fn begin(&self, key: B, aim: Aim) -> Place {
        let domain = self.0.domain_of(key);
        let layer = &self.0.domains[domain].built.layer;
        let at = any_width!(layer, levels => levels.begin::<T>(key, aim));
        Place { domain: domain as u32, at: At::Layer(at) }
    }

    #[inline(always)]
    fn step_by<S: Search>(&self, place: &mut Place, key: B) -> Step<(u32, Anchor)> {
        let Domain { built, .. } = &self.0.domains[place.domain as usize];
        place.at = match place.at {
            At::Node(anchor) => return Step::Landed(Some((place.domain, anchor))),
            At::Segment(anchor) => {
                built.list.ask_for_node::<T>(anchor);
                At::Node(anchor)
            }
            At::Layer(mut at) => {
                let landed = any_width!(&built.layer, levels => levels.step::<S, T>(&mut at, key));
                match landed {
                    Step::Landed(Some(word)) => {
                        let anchor = Anchor::from_word(word);
                        built.list.ask_for_segment::<T>(anchor);
                        At::Segment(anchor)
                    }
                    _ => At::Layer(at),
                }
            }
        };
        Step::On
    }
}

impl<B: Bits, T: Trace> Engine<B, T> {
    /// Looks up `len` keys, that many at a time, and passes the values to `answer` in the keys' order. The
    /// caller's thread does everything, and nothing is sorted.
    pub(super) fn get_interleaved(
        &self,
        size: BatchSize,
        len: usize,
        key_at: impl Fn(usize) -> B,
        mut answer: impl FnMut(usize, Option<B>),
    ) {
        let tuner = SizeTuner::new(BatchSize::CANDIDATES);
        let how = Interleaving { size, rounds: Rounds::Unfinished, tuner: &tuner, levels: 0 };
        interleave(
            &DomainWalk(self),
            how,
            len,
            |at| (key_at(at), Aim::Look),
            |at, anchor| {
                let value = match anchor {
                    Some((domain, anchor)) => {
                        T::work(Work::Operation);
                        self.domains[domain as usize].built.list.get::<T>(anchor, key_at(at))
                    }
                    None => self.get(key_at(at)),
                };
                answer(at, value);
            },
        );
    }
}

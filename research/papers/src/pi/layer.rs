//! The index layer in the width of the index, whole or in parts.

use super::options::EntryKeys;
use super::parted::{Parted, PartedPlace, Planned};
use crate::common::operation::Search;
use crate::common::walk::{Aim, Step, Walk};
use crate::pi::crew::Run;
use crate::pi::mem::placement::Placement;
use crate::pi::routed::{Place, Routed, RoutedOptions};
use crate::pi::segments::{Anchor, Segments};
use core::ops::Range;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::{Dispatch, Scalar};
use std::sync::Arc;

/// An index layer of any width.
#[derive(Debug)]
pub(super) enum Layer<B: Bits> {
    Four(Levels<B, 4>),
    Eight(Levels<B, 8>),
    Sixteen(Levels<B, 16>),
}

/// An index layer with entries of M keys.
#[derive(Debug)]
pub(super) enum Levels<B: Bits, const M: usize> {
    /// In one array.
    Whole(Routed<B, M>),
    /// In parts, which the next layer may share.
    InParts(Arc<Parted<B, M>>),
}

/// How an index layer is built.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerPlan {
    pub(super) width: EntryKeys,
    /// The intended number of segments per part; `None`: the layer is whole.
    pub(super) part_segments: Option<usize>,
    pub(super) paper: Placement,
    /// Pieces of work.
    pub(super) pieces: usize,
}

/// An entry on a search's descent, or a place between a layer's top and its parts.
#[derive(Debug, Clone, Copy)]
pub(super) enum LayerPlace {
    Whole(Place),
    InParts(PartedPlace),
}

/// The size of an index layer, and of what its last rebuild has written: see
/// [`Pi::layer_stats`](super::Pi::layer_stats).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayerStats {
    /// Its parts; an index layer that isn't in parts counts as one.
    pub parts: usize,
    /// The number of parts that the last rebuild has written.
    pub parts_written: usize,
    /// Bytes that it has written: the parts, and what leads to parts.
    pub bytes_written: usize,
    /// Bytes that the index layer takes.
    pub memory_bytes: usize,
}

impl core::ops::AddAssign for LayerStats {
    fn add_assign(&mut self, other: Self) {
        self.parts += other.parts;
        self.parts_written += other.parts_written;
        self.bytes_written += other.bytes_written;
        self.memory_bytes += other.memory_bytes;
    }
}

macro_rules! any_width {
    ($layer:expr, $levels:ident => $body:expr) => {
        match $layer {
            Layer::Four($levels) => $body,
            Layer::Eight($levels) => $body,
            Layer::Sixteen($levels) => $body,
        }
    };
}
pub(super) use any_width;

macro_rules! any_form {
    ($levels:expr, $form:ident => $body:expr) => {
        match $levels {
            Levels::Whole($form) => $body,
            Levels::InParts($form) => $body,
        }
    };
}

impl<B: Bits, const M: usize> Levels<B, M> {
    fn build(list: &Segments<B>, plan: LayerPlan, earlier: Option<&Self>, run: Run<'_>) -> Result<Self> {
        let LayerPlan { part_segments, paper, pieces, .. } = plan;
        let Some(part_segments) = part_segments else {
            let options = RoutedOptions { head: Anchor::HEAD.to_word(), paper };
            return Ok(Self::Whole(Routed::build(&list.parts(pieces), options, run)?));
        };
        let earlier = earlier.and_then(|earlier| match earlier {
            Self::InParts(parted) => Some(&**parted),
            Self::Whole(_) => None,
        });
        let planned = Planned { part_segments, paper, pieces };
        Ok(Self::InParts(Arc::new(Parted::build(list, planned, earlier, run)?)))
    }

    fn anchors<T: Trace>(
        &self,
        dispatch: Dispatch,
        keys: &[B],
        words: &mut [u32],
        (group, prefetch): (usize, bool),
    ) {
        any_form!(self, form => form.anchors::<T>(dispatch, keys, words, group, prefetch));
    }

    fn share(&self) -> Option<Self> {
        match self {
            Self::Whole(_) => None,
            Self::InParts(parted) => Some(Self::InParts(parted.clone())),
        }
    }

    fn addresses(&self) -> Vec<Range<usize>> {
        match self {
            Self::Whole(routed) => vec![routed.addresses()],
            Self::InParts(parted) => parted.addresses(),
        }
    }

    fn check(&self, list: &Segments<B>) -> Result<(), Broken> {
        match self {
            Self::Whole(routed) => routed.check(&list.parts(1)),
            Self::InParts(parted) => parted.check(list),
        }
    }

    fn stats(&self) -> LayerStats {
        let memory_bytes = any_form!(self, form => form.memory_bytes());
        let (parts, parts_written, bytes_written) = match self {
            Self::Whole(_) => (1, 1, memory_bytes),
            Self::InParts(parted) => (parted.parts(), parted.built_parts(), parted.built_bytes()),
        };
        LayerStats { parts, parts_written, bytes_written, memory_bytes }
    }

    /// Returns the start of a walk.
    #[inline(always)]
    pub(super) fn begin<T: Trace>(&self, key: B, aim: Aim) -> LayerPlace {
        match self {
            // The same for every kernel.
            Self::Whole(routed) => LayerPlace::Whole(routed.walk::<Scalar, T>().enter(key, aim)),
            Self::InParts(parted) => LayerPlace::InParts(parted.begin::<T>(key, aim)),
        }
    }

    /// Takes one step of a walk that began here.
    #[inline(always)]
    pub(super) fn step<S: Search, T: Trace>(&self, place: &mut LayerPlace, key: B) -> Step<u32> {
        match (self, place) {
            (Self::Whole(routed), LayerPlace::Whole(at)) => routed.walk::<S, T>().step(at, key),
            (Self::InParts(parted), LayerPlace::InParts(at)) => parted.step::<S, T>(at, key),
            // A place of another layer leads nowhere.
            _ => Step::Landed(None),
        }
    }
}

impl<B: Bits> Layer<B> {
    /// The index layer over this list; what of the earlier one is still right is shared, if it is in parts.
    pub(super) fn build(
        list: &Segments<B>,
        plan: LayerPlan,
        earlier: Option<&Self>,
        run: Run<'_>,
    ) -> Result<Self> {
        macro_rules! of_width {
            ($width:ident) => {{
                let earlier = match earlier {
                    Some(Self::$width(levels)) => Some(levels),
                    _ => None,
                };
                Self::$width(Levels::build(list, plan, earlier, run)?)
            }};
        }
        Ok(match plan.width {
            EntryKeys::Four => of_width!(Four),
            EntryKeys::Eight => of_width!(Eight),
            EntryKeys::Sixteen => of_width!(Sixteen),
        })
    }

    /// Returns another handle of the same layer, if a later one can share parts of it.
    pub(super) fn share(&self) -> Option<Self> {
        match self {
            Self::Four(levels) => levels.share().map(Self::Four),
            Self::Eight(levels) => levels.share().map(Self::Eight),
            Self::Sixteen(levels) => levels.share().map(Self::Sixteen),
        }
    }

    /// The anchors of many keys: see [`Routed::anchors`].
    pub(super) fn anchors<T: Trace>(
        &self,
        dispatch: Dispatch,
        keys: &[B],
        how: (usize, bool),
    ) -> Vec<Anchor> {
        let mut words = vec![0; keys.len()];
        any_width!(self, levels => levels.anchors::<T>(dispatch, keys, &mut words, how));
        words.into_iter().map(Anchor::from_word).collect()
    }

    /// The anchor of one key.
    #[inline(always)]
    pub(super) fn anchor<T: Trace>(&self, dispatch: Dispatch, key: B) -> Anchor {
        let mut word = [0];
        any_width!(self, levels => levels.anchors::<T>(dispatch, &[key], &mut word, (1, false)));
        Anchor::from_word(word[0])
    }

    pub(super) fn levels(&self) -> usize {
        any_width!(self, levels => any_form!(levels, form => form.levels()))
    }

    pub(super) fn entries(&self) -> usize {
        any_width!(self, levels => any_form!(levels, form => form.entries()))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        any_width!(self, levels => any_form!(levels, form => form.memory_bytes()))
    }

    pub(super) fn addresses(&self) -> Vec<Range<usize>> {
        any_width!(self, levels => levels.addresses())
    }

    pub(super) fn stats(&self) -> LayerStats {
        any_width!(self, levels => levels.stats())
    }

    pub(super) fn check(&self, list: &Segments<B>) -> Result<(), Broken> {
        any_width!(self, levels => levels.check(list))
    }
}

//! The index layer in the width that the index was made with.

use super::options::EntryKeys;
use crate::pi::crew::Run;
use crate::pi::mem::paged_array::Placement;
use crate::pi::routed::{Routed, RoutedOptions};
use crate::pi::segments::{Anchor, Segments};
use core::ops::Range;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::Trace;
use latchless_core::search::Dispatch;

/// An index layer of any width.
#[derive(Debug)]
pub(super) enum Layer<B: Bits> {
    Four(Routed<B, 4>),
    Eight(Routed<B, 8>),
    Sixteen(Routed<B, 16>),
}

macro_rules! any_width {
    ($layer:expr, $routed:ident => $body:expr) => {
        match $layer {
            Layer::Four($routed) => $body,
            Layer::Eight($routed) => $body,
            Layer::Sixteen($routed) => $body,
        }
    };
}
pub(super) use any_width;

impl<B: Bits> Layer<B> {
    /// The index layer over this list, built in `parts` pieces of work.
    pub(super) fn build(
        width: EntryKeys,
        list: &Segments<B>,
        (parts, paper): (usize, Placement),
        run: Run<'_>,
    ) -> Result<Self> {
        let source = &list.parts(parts);
        let options = RoutedOptions { head: Anchor::HEAD.to_word(), paper };
        Ok(match width {
            EntryKeys::Four => Self::Four(Routed::build(source, options, run)?),
            EntryKeys::Eight => Self::Eight(Routed::build(source, options, run)?),
            EntryKeys::Sixteen => Self::Sixteen(Routed::build(source, options, run)?),
        })
    }

    /// The anchors of many keys: see [`Routed::anchors`].
    pub(super) fn anchors<T: Trace>(
        &self,
        dispatch: Dispatch,
        keys: &[B],
        (group, prefetch): (usize, bool),
    ) -> Vec<Anchor> {
        let mut words = vec![0; keys.len()];
        any_width!(self, layer => layer.anchors::<T>(dispatch, keys, &mut words, group, prefetch));
        words.into_iter().map(Anchor::from_word).collect()
    }

    /// The anchor of one key.
    #[inline(always)]
    pub(super) fn anchor<T: Trace>(&self, dispatch: Dispatch, key: B) -> Anchor {
        let mut word = [0];
        any_width!(self, layer => layer.anchors::<T>(dispatch, &[key], &mut word, 1, false));
        Anchor::from_word(word[0])
    }

    pub(super) fn levels(&self) -> usize {
        any_width!(self, layer => layer.levels())
    }

    pub(super) fn entries(&self) -> usize {
        any_width!(self, layer => layer.entries())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        any_width!(self, layer => layer.memory_bytes())
    }

    pub(super) fn addresses(&self) -> Range<usize> {
        any_width!(self, layer => layer.addresses())
    }

    pub(super) fn check(&self, list: &Segments<B>) -> Result<(), Broken> {
        any_width!(self, layer => layer.check(&list.parts(1)))
    }
}

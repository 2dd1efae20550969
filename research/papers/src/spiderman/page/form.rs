//! How pages are laid out and searched: ours, and that of the code base that the paper measured, which an
//! experiment compares with it.

use core::marker::PhantomData;
use latchless_core::mem::touch::{Branching, NoTrace, Trace, Work};

/// The layout and search of pages, as constants: the default costs nothing.
pub trait Form: Trace {
    /// Whether an inner page's children are before its keys, so that its first key is in the middle of the
    /// page. A leaf's keys are before its values in both layouts.
    const CHILDREN_FIRST: bool = false;
    /// Whether a search compares each key three ways by branches, and ends at an equal one. Else it
    /// computes the next place and always takes as many steps.
    const THREE_WAY: bool = false;
}

impl Form for NoTrace {}
impl Form for Branching {}
#[cfg(feature = "model")]
impl Form for latchless_core::mem::touch::Traced {}

/// Pages as in the code base under the paper, the `BTreeOLC` of *index-microbench* (reference \[1\] there):
/// children before keys in inner pages, and a search that branches three ways. Accesses are reported to `T`.
#[derive(Debug, Clone, Copy, Default)]
pub struct CodeBase<T>(PhantomData<T>);

impl<T: Trace> Form for CodeBase<T> {
    const CHILDREN_FIRST: bool = true;
    const THREE_WAY: bool = true;
}

impl<T: Trace> Trace for CodeBase<T> {
    const LISTENING: bool = T::LISTENING;
    const BRANCHING: bool = true;

    #[inline(always)]
    fn read(at: *const u8, bytes: usize) {
        T::read(at, bytes);
    }

    #[inline(always)]
    fn write(at: *const u8, bytes: usize) {
        T::write(at, bytes);
    }

    #[inline(always)]
    fn prefetch(at: *const u8, bytes: usize) {
        T::prefetch(at, bytes);
    }

    #[inline(always)]
    fn exchange(at: *const u8) {
        T::exchange(at);
    }

    #[inline(always)]
    fn wait(at: *const u8) {
        T::wait(at);
    }

    #[inline(always)]
    fn work(work: Work) {
        T::work(work);
    }

    #[inline(always)]
    fn worker() -> Option<usize> {
        T::worker()
    }
}

//! Prefetching, which a memory model sees as well.

use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::touch::Trace;

/// Prefetches one line.
#[inline(always)]
pub(super) fn ask<T: Trace, V>(at: *const V) {
    T::prefetch(at.cast(), 1);
    if !T::LISTENING {
        prefetch_read(at.cast());
    }
}

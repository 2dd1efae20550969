//! The nearest entry in a direction, and the first one to be taken out.

use super::{Boxed, Handles};
use crate::slot_map::Pinned;
use core::ops::Bound;
use latchless_core::base::index::Direction;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    pub(super) fn pop<'p>(&'p self, direction: Direction, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        let (key, handle) = self.index.pop(direction)?;
        self.retire(handle, pin).map(|value| (key, value))
    }

    /// Calls `see` with the entry that is nearest to `from` in a direction. A handle names one value only,
    /// so that is the entry of the moment of the search; if the value was retired since, the search is
    /// repeated.
    #[inline]
    pub(super) fn near<'p, R>(
        &'p self,
        from: Bound<I::KeyRef<'_>>,
        direction: Direction,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R> {
        let mut see = Some(see);
        loop {
            let seen = self.index.near(from, direction, |key, handle| {
                let value = self.slots.read(handle, pin)?;
                see.take().map(|see| see(key, value))
            })?;
            if seen.is_some() {
                return seen;
            }
        }
    }
}

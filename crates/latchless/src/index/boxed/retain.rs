//! The removal of entries by a condition.

use super::{Boxed, Handles, Pins, SlotId};
use crate::index::settled;
use crate::slot_map::Pinned;
use crate::tree::Edit;
use core::ops::Bound::Unbounded;
use core::ops::ControlFlow;
use latchless_core::base::index::Direction::Forward;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Removes every entry for which `keep` returns `false`, and returns their number. `keep` is called
    /// with the value that is removed; if that changes meanwhile, it is called again.
    pub(super) fn keep_only(&self, mut keep: impl FnMut(I::KeyRef<'_>, &T) -> bool) -> usize {
        let (mut removed, mut pins) = (0, Pins::default());
        let _ = self.index.scan_span((Unbounded, Unbounded), Forward, |key, handle| {
            let pin = pins.next();
            removed += usize::from(self.remove_unless(key, handle, pin, |value| keep(key, value)));
            ControlFlow::Continue(())
        });
        removed
    }

    /// Removes a key that had this handle unless `keep` holds for its value. Returns whether it was removed.
    fn remove_unless(
        &self,
        key: I::KeyRef<'_>,
        handle: SlotId,
        pin: &Pinned,
        mut keep: impl FnMut(&T) -> bool,
    ) -> bool {
        let (mut current, mut tries) = (Some(handle), None);
        while let Some(handle) = current {
            let Some(value) = self.slots.read(handle, pin) else {
                // Retired meanwhile: the key has another handle now, or none.
                current = self.index.find(key);
                continue;
            };
            if keep(value) {
                return false;
            }
            let edited = settled(self.index.edit_handle(key, Edit::RemoveIf(handle)));
            if edited.applied {
                self.retire(handle, pin);
                return true;
            }
            settled(tries.get_or_insert_with(|| self.index.tries(key)).failed());
            current = edited.before;
        }
        false
    }
}

//! Updates by closures. A closure never runs while anything is latched, and
//! its result is stored only if the entry is still the one that the closure was shown: the one with that
//! handle.

use super::{Boxed, Handles};
use crate::index::changes::Action;
use crate::slot_map::Pinned;
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Calls `ask` until its result applies to the current entry. Returns the value before.
    pub(super) fn compare_and_update<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        pin: &'p Pinned,
        mut ask: impl FnMut(Option<&'p T>) -> Action<T>,
    ) -> Result<Option<&'p T>> {
        let (mut current, mut tries) = (self.index.find(key), None);
        loop {
            let seen = current.and_then(|handle| self.slots.read(handle, pin));
            if current.is_some() && seen.is_none() {
                // Retired meanwhile: the key has another handle now, or none.
                current = self.index.find(key);
                continue;
            }
            let (edit, own) = match (ask(seen), current) {
                (Action::Keep, _) | (Action::Remove, None) => return Ok(seen),
                (Action::Remove, Some(handle)) => (Edit::RemoveIf(handle), None),
                (Action::Set(value), None) => {
                    let own = self.put(value)?;
                    (Edit::Add(own), Some(own))
                }
                (Action::Set(value), Some(expected)) => {
                    let own = self.put(value)?;
                    (Edit::Swap { expected, value: own }, Some(own))
                }
            };
            let edited = self.index.edit_handle(key, edit);
            if let Ok(Edited { applied: true, before }) = edited {
                return Ok(before.and_then(|handle| self.retire(handle, pin)));
            }
            if let Some(own) = own {
                self.discard(own, pin);
            }
            current = edited?.before;
            tries.get_or_insert_with(|| self.index.tries(key)).failed()?;
        }
    }

    /// Returns the value of a key, which is added if it isn't present.
    pub(super) fn find_or_add<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        value: impl FnOnce() -> T,
        pin: &'p Pinned,
    ) -> Result<&'p T> {
        if let Some(value) = self.find(key, pin) {
            return Ok(value);
        }
        let own = self.put(value())?;
        // Looked up before it is reachable: other threads may remove it at once.
        let Some(own_value) = self.slots.read(own, pin) else {
            unreachable!("no other thread has the handle")
        };
        Ok(self.add(key, own, pin)?.unwrap_or(own_value))
    }
}

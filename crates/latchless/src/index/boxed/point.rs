//! Steps of operations on one key: finding its value, adding and replacing one. Each is one atomic step.

use super::{Boxed, Handles};
use crate::index::access::expect_infallible;
use crate::slot_map::{Pinned, SlotId};
use crate::tree::{Edit, Edited};
use latchless_core::base::error::Result;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Returns the value of a key.
    #[inline]
    pub(super) fn find<'p>(&'p self, key: I::KeyRef<'_>, pin: &'p Pinned) -> Option<&'p T> {
        loop {
            // A handle that was retired meanwhile: the key has another one now, or none.
            if let Some(value) = self.slots.read(self.index.find(key)?, pin) {
                return Some(value);
            }
        }
    }

    /// Returns the value that `own` replaced in the index; if `own` was refused, retires it.
    #[inline(always)]
    pub(super) fn replaced<'p>(
        &'p self,
        put: Result<Option<SlotId>>,
        own: SlotId,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        match put {
            Ok(old) => Ok(old.and_then(|old| self.retire(old, pin))),
            Err(error) => {
                self.discard(own, pin);
                Err(error)
            }
        }
    }

    /// Adds a key with the handle of a new value. If the key is present, returns its value; the new one is
    /// then retired, as it is on an error.
    pub(super) fn add<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        own: SlotId,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        let present = loop {
            match self.index.edit_handle(key, Edit::Add(own)) {
                Ok(Edited { before: None, .. }) => return Ok(None),
                // If it was retired meanwhile, the key has another value now, or none.
                Ok(Edited { before: Some(present), .. }) => match self.slots.read(present, pin) {
                    None => continue,
                    present => break Ok(present),
                },
                Err(error) => break Err(error),
            }
        };
        self.discard(own, pin);
        present
    }

    /// Replaces the value of a key that is present, and returns the value before.
    pub(super) fn put_instead<'p>(
        &'p self,
        key: I::KeyRef<'_>,
        value: T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>> {
        let own = self.put(value)?;
        let edited = expect_infallible(self.index.edit_handle(key, Edit::Replace(own)));
        let Some(old) = edited.before else {
            self.discard(own, pin);
            return Ok(None);
        };
        Ok(self.retire(old, pin))
    }
}

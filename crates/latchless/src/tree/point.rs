//! Operations on one key: an edit that may insert at an end goes there at once, any other by a descent.

use super::blink::BlinkTree;
use super::edit::edit_by_descent;
use super::ends::edit_at_end;
use crate::blink::{Edit, Edited, Mode, Put, Remove};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;

impl<B: Bits> BlinkTree<B> {
    /// Applies `edit` to the entry of `key`.
    ///
    /// # Errors
    /// Memory was refused; nothing has changed then.
    #[inline]
    pub fn edit<M: Mode>(&self, key: B, edit: Edit<B>) -> Result<Edited<B>> {
        if edit.may_add()
            && let Some(end) = self.finder().guesses().end(key.to_u64())
        {
            return edit_at_end::<_, M>(self, end, key, edit);
        }
        edit_by_descent::<_, M>(self, key, edit)
    }

    /// Inserts an entry or replaces its value, and returns the old value.
    ///
    /// # Errors
    /// Those of [`BlinkTree::edit`].
    #[inline]
    pub fn put<M: Mode>(&self, key: B, value: B) -> Result<Option<B>> {
        let edited = match self.finder().guesses().end(key.to_u64()) {
            Some(end) => edit_at_end::<_, M>(self, end, key, Put(value)),
            None => edit_by_descent::<_, M>(self, key, Put(value)),
        };
        Ok(edited?.before)
    }

    /// Removes `key`, and returns its value.
    #[inline]
    pub fn remove<M: Mode>(&self, key: B) -> Option<B> {
        let edited = edit_by_descent::<_, M>(self, key, Remove);
        edited.unwrap_or_else(|error| unreachable!("an edit that adds no key was refused: {error}")).before
    }
}

//! Insertion: find the place, make room if the leaf is full, insert the pair.

use super::Tree;
use crate::pb_tree::node::{Layout, Shape};
use crate::pb_tree::path::Path;
use latchless_core::base::error::Result;

impl<S: Shape> Tree<S> {
    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the tree is then as before.
    pub fn insert(&mut self, key: S::Bits, value: S::Bits) -> Result<Option<S::Bits>> {
        let mut path = Path::EMPTY;
        let found = self.find(key, &mut path);
        if found.here {
            return Ok(Some(self.nodes.replace_value(found.leaf, found.at, value)));
        }
        if found.count < Layout::<S>::LEAF_PAIRS {
            self.nodes.insert_pair(found.leaf, found.count, found.at, (key, value));
        } else {
            self.split_and_insert(&mut path, found, (key, value))?;
        }
        self.len += 1;
        Ok(None)
    }
}

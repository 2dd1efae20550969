//! The segments from which an index layer was built, so that a later list can be checked for them.
//!
//! A layout shares segments that haven't drifted, together with the table of their tall nodes. The table
//! names the tall nodes' places, which don't change as long as the segment isn't laid out again. So a run
//! of segments with the same tables, one for one, has the same keys in its index layer and the same places
//! below it, whatever its segments' numbers are now. The tables are compared by address, which is safe
//! because they are kept alive: no other table can have their addresses meanwhile.

use super::Segments;
use super::tall::Tall;
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::refusal::reserve;
use std::sync::Arc;

/// See the file's head.
#[derive(Debug)]
pub struct Footing<B> {
    talls: Vec<Arc<[Tall<B>]>>,
}

impl<B: Bits> Footing<B> {
    /// Returns the number of segments in the run.
    pub fn segments(&self) -> usize {
        self.talls.len()
    }

    /// The key of the run's first tall node. In any run but a list's first one that is its first key.
    pub fn first_key(&self) -> Option<B> {
        first_key(&self.talls)
    }

    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.talls)
    }
}

fn first_key<B: Bits>(talls: &[Arc<[Tall<B>]>]) -> Option<B> {
    talls.first().and_then(|talls| talls.first()).map(|tall| tall.key)
}

impl<B: Bits> Segments<B> {
    /// Returns the footing of an index layer over these segments.
    ///
    /// # Errors
    /// [`OutOfMemory`](latchless_core::Error::OutOfMemory).
    pub fn footing(&self, segments: Range<usize>) -> Result<Footing<B>> {
        let mut talls = Vec::new();
        reserve(&mut talls, segments.len())?;
        talls.extend_from_slice(&self.talls[segments]);
        Ok(Footing { talls })
    }

    /// Returns whether the run that begins at this segment is this one.
    pub fn stands_at(&self, segment: usize, footing: &Footing<B>) -> bool {
        let own = self.talls.get(segment..segment + footing.segments());
        own.is_some_and(|own| own.iter().zip(&footing.talls).all(|(own, theirs)| Arc::ptr_eq(own, theirs)))
    }

    /// Returns the place of this run of segments in the list, if it still has it. O(log segments + the
    /// run's segments).
    pub fn find(&self, footing: &Footing<B>) -> Option<usize> {
        // The head is in no level: the first segment may begin with any key.
        let begins_before = |talls: &Arc<[Tall<B>]>| talls.first().map(|tall| tall.key) < footing.first_key();
        let at = match self.stands_at(0, footing) {
            true => 0,
            false => 1 + self.talls[1..].partition_point(begins_before),
        };
        self.stands_at(at, footing).then_some(at)
    }

    /// Returns the number of tall nodes of these segments. O(segments).
    pub fn talls_of(&self, segments: Range<usize>) -> usize {
        self.talls[segments].iter().map(|talls| talls.len()).sum()
    }
}

//! Division of a batch into records.

use crate::record::{Draft, Kind, STRING_BYTES_MAX};
use crate::stripes::Set;

/// The longest key, and the longest value that is a string.
pub const STRING_MAX: usize = u16::MAX as usize;

/// The record of the first entries of a batch, as many as it may have.
pub struct Batch {
    pub draft: Draft,
    pub set: Set,
    pub entries: usize,
}

impl Batch {
    /// `add` adds an entry, and returns its stripe.
    pub fn new<E>(kind: Kind, entries: &[E], mut add: impl FnMut(&mut Draft, &E) -> Set) -> Self {
        let mut batch = Self { draft: Draft::of_strings(kind), set: Set::of([]), entries: 0 };
        // With the largest entry there is.
        let room = STRING_BYTES_MAX - 2 * (STRING_MAX + size_of::<u16>());
        for entry in entries {
            if batch.draft.payload_bytes() > room {
                break;
            }
            batch.set = batch.set.and(add(&mut batch.draft, entry));
            batch.entries += 1;
        }
        batch
    }
}

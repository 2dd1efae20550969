//! Division of a batch of strings into records.

use crate::logged::Part;
use crate::record::{Draft, Kind, STRING_BYTES};
use crate::stripes::Set;

/// The record of the first of these entries, as many as it may have. `add` adds one, and returns its stripe.
pub fn part<E>(
    kind: Kind,
    entries: impl Iterator<Item = E>,
    mut add: impl FnMut(&mut Draft, E) -> Set,
) -> Part {
    let mut part = Part { draft: Draft::of_strings(kind), set: Set::of([]), entries: 0 };
    for entry in entries {
        if part.draft.payload_bytes() >= STRING_BYTES {
            break;
        }
        part.set = part.set.and(add(&mut part.draft, entry));
        part.entries += 1;
    }
    part
}

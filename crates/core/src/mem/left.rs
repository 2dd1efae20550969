//! The maximum address space that an index may reserve at once.
//!
//! A process can have a limit on its address space (`ulimit -v`, `RLIMIT_AS`). Every mapping then counts,
//! written or not, and reduces what others can map. So an index never requests more than a quarter of what
//! is left at that moment.

use super::system::address_space;

/// Returns the maximum number of bytes to reserve at once. `None`: there is no limit, or none is looked for;
/// reservations fail only when there is no address space left. Needs no memory.
pub fn largest_reservation() -> Option<usize> {
    // Where the system doesn't report what is taken, this is at least a quarter of the limit.
    address_space().map(|(limit, taken)| limit.saturating_sub(taken) / 4)
}

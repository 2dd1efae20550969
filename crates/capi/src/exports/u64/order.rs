//! Entries of an index of `u64` by their place in its order.

use super::latchless_u64;
use crate::entries::{End, Near, NearNumber};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::key::Key;
use crate::status::latchless_status;

/// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below `key` and `value`
/// may be NULL, and get nothing if nothing is found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_first(
    index: *const latchless_u64,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_first(index): entries::end(End::First, key.cast(), value))
}

/// The entry with the largest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_last(
    index: *const latchless_u64,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_last(index): entries::end(End::Last, key.cast(), value))
}

/// Removes the entry with the smallest key, atomically.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_pop_first(
    index: *const latchless_u64,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_pop_first(index): entries::end(End::PopFirst, key.cast(), value))
}

/// Removes the entry with the largest key, atomically.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_pop_last(
    index: *const latchless_u64,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_pop_last(index): entries::end(End::PopLast, key.cast(), value))
}

/// The entry with the largest key that is equal or smaller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_floor(
    index: *const latchless_u64,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_floor(index): entries::near(Near::Floor, key.cell(), near_key.cast(), value))
}

/// The entry with the smallest key that is equal or larger.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_ceiling(
    index: *const latchless_u64,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_ceiling(index): entries::near(Near::Ceiling, key.cell(), near_key.cast(), value))
}

/// The entry with the largest smaller key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_lower(
    index: *const latchless_u64,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_lower(index): entries::near(Near::Lower, key.cell(), near_key.cast(), value))
}

/// The entry with the smallest larger key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_higher(
    index: *const latchless_u64,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_higher(index): entries::near(Near::Higher, key.cell(), near_key.cast(), value))
}

/// The entry whose key is nearest, on whichever side; of two that are equally near the one with the smaller
/// key. At one moment no entry was nearer, on either side; what latchless_u64_floor and latchless_u64_ceiling
/// find, called one after the other, may be of different moments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_nearest(
    index: *const latchless_u64,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_nearest(index): entries::near(NearNumber::Nearest, key.cell(), near_key.cast(), value))
}

/// How many keys are smaller than `key`, which needn't be there. The first such call, or a long count, counts
/// everything; later ones count what has changed since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_rank(
    index: *const latchless_u64,
    key: u64,
    rank: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_rank(index): entries::rank(key.cell(), rank))
}

/// The entry before which there are `position` others. LATCHLESS_NOT_FOUND: there are no more than that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_nth(
    index: *const latchless_u64,
    position: usize,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_nth(index): entries::nth(position, key.cast(), value))
}

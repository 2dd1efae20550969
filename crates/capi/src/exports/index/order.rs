//! Entries of an index of words by their place in its order.

use super::life::latchless_index;
use crate::entries::End;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;

/// Gets the entry with the smallest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_first(
    index: *const latchless_index,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_first(index): entries::end(End::First, key, value))
}

/// Gets the entry with the largest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_last(
    index: *const latchless_index,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_last(index): entries::end(End::Last, key, value))
}

/// Removes the entry with the smallest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_pop_first(
    index: *const latchless_index,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_pop_first(index): entries::end(End::PopFirst, key, value))
}

/// Removes the entry with the largest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_pop_last(
    index: *const latchless_index,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_pop_last(index): entries::end(End::PopLast, key, value))
}

/// Gets an entry `near` a key, a latchless_near. The answer is correct at one moment, the nearest one's, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_near(
    index: *const latchless_index,
    near: u32,
    key: u64,
    near_key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_near(index): entries::near(near, key, near_key, value))
}

/// Gets the number of keys that are less than `key`, which may be absent. The first such call, or a long
/// count, counts all leaves; later calls count only the leaves that have changed since.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_rank(
    index: *const latchless_index,
    key: u64,
    rank: *mut usize,
) -> latchless_status {
    serve!(latchless_index_rank(index): entries::rank(key, rank))
}

/// Gets the entry that has `position` entries before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_nth(
    index: *const latchless_index,
    position: usize,
    key: *mut u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_nth(index): entries::nth(position, key, value))
}

/// Gets keys that partition the index into `parts` parts of equal size, for instance one for each thread:
/// every part but the first begins with one of them. Fewer if there are fewer keys than parts.
/// \param[out] keys room for `parts` - 1 keys, which ascend
/// \param[out] count the number of keys written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_split_points(
    index: *const latchless_index,
    parts: usize,
    keys: *mut u64,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_index_split_points(index): ranges::split_points(parts, keys, count))
}

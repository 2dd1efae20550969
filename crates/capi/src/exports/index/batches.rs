//! Batches on an index of words: columns in, columns out.

use super::life::latchless_index;
use crate::batches::Done;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;

/// Looks up `count` keys. Much faster than single calls, because memory accesses overlap.
/// \param[out] found found[i] is 1 if keys[i] is present, otherwise 0
/// \param[out] hits the number of keys present
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_get_columns(
    index: *const latchless_index,
    keys: *const u64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_index_get_columns(index): batches::get_or_remove(Done::Looked, (keys, count), values, found, hits))
}

/// Stores values[i] under keys[i] for `count` keys. Of equal keys the last one's value remains. Sorted
/// keys are faster. If memory is refused, all other entries are inserted.
/// \param[out] new_keys the number of keys that were absent, unchanged if memory is refused
/// \param[out] refused refused[i] is 1 if keys[i] wasn't inserted, otherwise 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_insert_columns(
    index: *const latchless_index,
    keys: *const u64,
    values: *const latchless_value,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    serve!(latchless_index_insert_columns(index): batches::insert((keys, values), count, new_keys, refused))
}

/// Removes `count` keys.
/// \param[out] values values[i] is the value that keys[i] had
/// \param[out] found found[i] is 1 if keys[i] was present, otherwise 0
/// \param[out] hits the number of keys removed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_remove_columns(
    index: *const latchless_index,
    keys: *const u64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_index_remove_columns(index): batches::get_or_remove(Done::Removed, (keys, count), values, found, hits))
}

/// Gets, for each of `count` keys, the entry that latchless_index_near() gets, each at one moment.
/// \param near a latchless_near
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0
/// \param[out] hits the number of entries found
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_near_columns(
    index: *const latchless_index,
    near: u32,
    keys: *const u64,
    count: usize,
    near_keys: *mut u64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_index_near_columns(index): batches::near(near, keys, count, near_keys, values, found, hits))
}

/// Gets the ranks of `count` keys: see latchless_index_rank().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_rank_columns(
    index: *const latchless_index,
    keys: *const u64,
    count: usize,
    ranks: *mut usize,
) -> latchless_status {
    serve!(latchless_index_rank_columns(index): batches::ranks(keys, count, ranks))
}

/// Counts the keys of `count` ranges: counts[i] is the number of keys from low[i] to high[i].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_count_columns(
    index: *const latchless_index,
    low: *const u64,
    high: *const u64,
    count: usize,
    counts: *mut usize,
) -> latchless_status {
    serve!(latchless_index_count_columns(index): batches::counts(low, high, count, counts))
}

//! Batches on an index of `f64`: columns in, columns out.

use super::latchless_f64;
use crate::batches::Done;
use crate::entries::{Near, NearNumber};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;

/// Looks up `count` keys. Much faster than single calls, because memory accesses overlap.
///
/// \param[out] values values[i] is the value of keys[i], and is unchanged if the key is absent; may be NULL
/// \param[out] found found[i] is 1 if keys[i] is present, otherwise 0; may be NULL
/// \param[out] hits the number of keys present; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_get_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_get_columns(index): batches::get_or_remove(Done::Looked, keys.cast(), count, values, found, hits))
}

/// Stores values[i] under keys[i] for `count` keys. Of equal keys the last one's value remains. Sorted keys
/// are faster. If memory is refused, all other entries are inserted.
///
/// \param[out] new_keys the number of keys that were absent, unchanged if memory is refused; may be NULL
/// \param[out] refused refused[i] is 1 if keys[i] wasn't inserted, otherwise 0; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_insert_columns(
    index: *const latchless_f64,
    keys: *const f64,
    values: *const latchless_value,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    serve!(latchless_f64_insert_columns(index): batches::insert(keys.cast(), values, count, new_keys, refused))
}

/// Removes `count` keys.
///
/// \param[out] values values[i] is the value that keys[i] had, and is unchanged if the key was absent; may
///   be NULL
/// \param[out] found found[i] is 1 if keys[i] was present, otherwise 0; may be NULL
/// \param[out] hits the number of keys removed; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_remove_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_remove_columns(index): batches::get_or_remove(Done::Removed, keys.cast(), count, values, found, hits))
}

/// Gets, for each of `count` keys, the entry with the largest key that is less than or equal to it.
///
/// \param[out] near_keys near_keys[i] is the entry's key, and is unchanged if there is no such entry; may
///   be NULL
/// \param[out] values values[i] is the entry's value, and is unchanged if there is no such entry; may be
///   NULL
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0; may be NULL
/// \param[out] hits the number of entries found; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_floor_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_floor_columns(index): batches::near(Near::Floor, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Gets, for each of `count` keys, the entry with the smallest key that is greater than or equal to it.
///
/// \param[out] near_keys near_keys[i] is the entry's key, and is unchanged if there is no such entry; may
///   be NULL
/// \param[out] values values[i] is the entry's value, and is unchanged if there is no such entry; may be
///   NULL
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0; may be NULL
/// \param[out] hits the number of entries found; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_ceiling_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_ceiling_columns(index): batches::near(Near::Ceiling, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Gets, for each of `count` keys, the entry with the largest key that is less than it.
///
/// \param[out] near_keys near_keys[i] is the entry's key, and is unchanged if there is no such entry; may
///   be NULL
/// \param[out] values values[i] is the entry's value, and is unchanged if there is no such entry; may be
///   NULL
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0; may be NULL
/// \param[out] hits the number of entries found; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_lower_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_lower_columns(index): batches::near(Near::Lower, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Gets, for each of `count` keys, the entry with the smallest key that is greater than it.
///
/// \param[out] near_keys near_keys[i] is the entry's key, and is unchanged if there is no such entry; may
///   be NULL
/// \param[out] values values[i] is the entry's value, and is unchanged if there is no such entry; may be
///   NULL
/// \param[out] found found[i] is 1 if there is such an entry, otherwise 0; may be NULL
/// \param[out] hits the number of entries found; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_higher_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_higher_columns(index): batches::near(Near::Higher, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Gets, for each of `count` keys, the entry that latchless_f64_nearest() returns. Each answer is correct
/// at one moment.
///
/// \param[out] near_keys near_keys[i] is the entry's key, and is unchanged if the index is empty; may be
///   NULL
/// \param[out] values values[i] is the entry's value, and is unchanged if the index is empty; may be NULL
/// \param[out] found found[i] is 1 if there is an entry, otherwise 0; may be NULL
/// \param[out] hits the number of entries found; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_nearest_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_nearest_columns(index): batches::near(NearNumber::Nearest, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Gets the ranks of `count` keys: see latchless_f64_rank().
///
/// \param[out] ranks ranks[i] is the number of keys that are less than keys[i]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_rank_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    ranks: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_rank_columns(index): batches::ranks(keys.cast(), count, ranks))
}

/// Counts the keys of `count` ranges.
///
/// \param[out] counts counts[i] is the number of keys from low[i] to high[i], both included
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_count_columns(
    index: *const latchless_f64,
    low: *const f64,
    high: *const f64,
    count: usize,
    counts: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_count_columns(index): batches::counts(low.cast(), high.cast(), count, counts))
}

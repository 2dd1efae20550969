//! One key of an index of words at a time. Each call takes effect in one atomic step.

use super::life::latchless_index;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;

/// Gets the value of a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_get(
    index: *const latchless_index,
    key: u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_get(index): entries::get(key, value))
}

/// Tests whether a key is present.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_contains_key(
    index: *const latchless_index,
    key: u64,
) -> latchless_status {
    serve!(latchless_index_contains_key(index): entries::contains_key(key))
}

/// Inserts a key with a value, or replaces the value of a key that is present.
/// \param[out] before the value that was replaced
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_insert(
    index: *const latchless_index,
    key: u64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_insert(index): entries::insert(key, value, before))
}

/// Inserts a key with a value unless the key is present.
/// \param[out] present the value of a key that is present
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_try_insert(
    index: *const latchless_index,
    key: u64,
    value: latchless_value,
    present: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_try_insert(index): entries::try_insert(key, value, present))
}

/// Replaces the value of a key that is present.
/// \param[out] before the value that was replaced
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_replace(
    index: *const latchless_index,
    key: u64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_replace(index): entries::replace(key, value, before))
}

/// Removes a key.
/// \param[out] before the value that the key had
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_remove(
    index: *const latchless_index,
    key: u64,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_remove(index): entries::remove(key, before))
}

/// Replaces the value of a key if it is the expected one. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_compare_exchange(
    index: *const latchless_index,
    key: u64,
    expected: latchless_value,
    value: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_compare_exchange(index): entries::exchange(key, (expected, Some(value)), found))
}

/// Removes a key if its value is the expected one. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_compare_remove(
    index: *const latchless_index,
    key: u64,
    expected: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_index_compare_remove(index): entries::exchange(key, (expected, None), found))
}

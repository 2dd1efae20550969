//! One key of an index of byte strings at a time. Each call takes effect in one atomic step.

use super::life::latchless_bytes;
use crate::exports::serve_strings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the value of a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_get(index): entries::get((key, key_len), (value, value_room, value_len)))
}

/// Tests whether a key is present.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_contains_key(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_contains_key(index): entries::contains_key((key, key_len)))
}

/// Inserts copies of a key and a value, or replaces the value of a key that is present.
/// \param[out] before the value that was replaced; unless it is NULL, there must be room for any value
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_insert(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_insert(index): entries::insert((key, key_len), (value, value_len), (before, before_room, before_len)))
}

/// Inserts copies of a key and a value unless the key is present.
/// \param[out] present the value of a key that is present
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_try_insert(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    present: *mut c_void,
    present_room: usize,
    present_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_try_insert(index): entries::try_insert((key, key_len), (value, value_len), (present, present_room, present_len)))
}

/// Replaces the value of a key that is present.
/// \param[out] before the value that was replaced; unless it is NULL, there must be room for any value
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_replace(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_replace(index): entries::replace((key, key_len), (value, value_len), (before, before_room, before_len)))
}

/// Removes a key.
/// \param[out] before the value that the key had; unless it is NULL, there must be room for any value
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_remove(index): entries::remove((key, key_len), (before, before_room, before_len)))
}

/// Replaces the value of a key if it has the expected bytes. Otherwise nothing changes.
/// \param[out] found the value of the key if it isn't the expected one
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_SMALL_ROOM the same, and it has more than `found_room` bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_compare_exchange(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    expected: *const c_void,
    expected_len: usize,
    value: *const c_void,
    value_len: usize,
    found: *mut c_void,
    found_room: usize,
    found_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_compare_exchange(index): entries::exchange((key, key_len), ((expected, expected_len), Some((value, value_len))), (found, found_room, found_len)))
}

/// Removes a key if its value has the expected bytes. Otherwise nothing changes. The answers are those
/// of latchless_bytes_compare_exchange().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_compare_remove(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    expected: *const c_void,
    expected_len: usize,
    found: *mut c_void,
    found_room: usize,
    found_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_compare_remove(index): entries::exchange((key, key_len), ((expected, expected_len), None), (found, found_room, found_len)))
}

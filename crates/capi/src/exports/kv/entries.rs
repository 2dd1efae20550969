//! One key of an index from byte strings to byte strings at a time. Each call takes effect in one atomic
//! step.

use super::latchless_kv;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the value of the key of `key_len` bytes at `key`.
///
/// \param[out] value receives the value's bytes; NULL if they aren't needed; may overlap `key`
/// \param value_room the number of bytes that fit at `value`
/// \param[out] value_len the value's length; may be NULL if `value` is
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM the value has more than `value_room` bytes; only `*value_len` is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_get(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_get(index): bytes::entries::get((key, key_len), (value, value_room, value_len)))
}

/// Tests whether a key is present.
///
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_contains_key(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve!(latchless_kv_contains_key(index): bytes::entries::contains_key((key, key_len)))
}

/// Inserts copies of a key and a value, or replaces the value of a key that is present. A value of any
/// length must fit at `before`, so that none is lost.
///
/// \param[out] before receives the bytes of the value that was replaced; NULL if they aren't needed
/// \param before_room LATCHLESS_VALUE_MAX or more, unless `before` is NULL
/// \param[out] before_len the length of the value that was replaced; may be NULL if `before` is
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
/// \retval LATCHLESS_SMALL_ROOM `before_room` is less than LATCHLESS_VALUE_MAX, and nothing changed
/// \retval LATCHLESS_KEY_TOO_LONG the key has more than LATCHLESS_KEY_MAX bytes
/// \retval LATCHLESS_VALUE_TOO_LONG the value has more than LATCHLESS_VALUE_MAX bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_insert(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_insert(index): bytes::entries::insert((key, key_len), (value, value_len), (before, before_room, before_len)))
}

/// Inserts copies of a key and a value unless the key is present.
///
/// \param[out] present receives the bytes of the value that is present; NULL if they aren't needed
/// \param present_room the number of bytes that fit at `present`
/// \param[out] present_len the length of the value that is present; may be NULL if `present` is
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
/// \retval LATCHLESS_SMALL_ROOM the key is present, and its value has more than `present_room` bytes
/// \retval LATCHLESS_KEY_TOO_LONG the key has more than LATCHLESS_KEY_MAX bytes
/// \retval LATCHLESS_VALUE_TOO_LONG the value has more than LATCHLESS_VALUE_MAX bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_try_insert(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    present: *mut c_void,
    present_room: usize,
    present_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_try_insert(index): bytes::entries::try_insert((key, key_len), (value, value_len), (present, present_room, present_len)))
}

/// Replaces the value of a key that is present. The parameters are those of latchless_kv_insert().
///
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_NOT_FOUND the key is absent, and nothing changed
/// \retval LATCHLESS_SMALL_ROOM `before_room` is less than LATCHLESS_VALUE_MAX, and nothing changed
/// \retval LATCHLESS_VALUE_TOO_LONG the value has more than LATCHLESS_VALUE_MAX bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_replace(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_replace(index): bytes::entries::replace((key, key_len), (value, value_len), (before, before_room, before_len)))
}

/// Removes a key. The parameters for the value that it had are those of latchless_kv_insert().
///
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_NOT_FOUND the key is absent
/// \retval LATCHLESS_SMALL_ROOM `before_room` is less than LATCHLESS_VALUE_MAX, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_remove(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    before: *mut c_void,
    before_room: usize,
    before_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_remove(index): bytes::entries::remove((key, key_len), (before, before_room, before_len)))
}

/// Replaces the value of a key if it has the expected bytes. Otherwise nothing changes.
///
/// \param[out] found receives the bytes of a value that isn't the expected one; NULL if they aren't needed
/// \param found_room the number of bytes that fit at `found`
/// \param[out] found_len the length of a value that isn't the expected one; may be NULL if `found` is
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_SMALL_ROOM the key has another value, of more than `found_room` bytes
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_compare_exchange(
    index: *const latchless_kv,
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
    serve!(latchless_kv_compare_exchange(index): bytes::entries::compare_exchange((key, key_len), ((expected, expected_len), (value, value_len)), (found, found_room, found_len)))
}

/// Removes a key if its value has the expected bytes. Otherwise nothing changes. The parameters are those
/// of latchless_kv_compare_exchange().
///
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_SMALL_ROOM the key has another value, of more than `found_room` bytes
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_compare_remove(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    expected: *const c_void,
    expected_len: usize,
    found: *mut c_void,
    found_room: usize,
    found_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_compare_remove(index): bytes::entries::compare_remove((key, key_len), (expected, expected_len), (found, found_room, found_len)))
}

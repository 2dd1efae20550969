//! One key of an index of byte strings at a time. Each call takes effect in one atomic step.

use super::latchless_bytes;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the value of the key of `key_len` bytes at `key`.
///
/// \param[out] value unchanged if the key is absent; may be NULL
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_get(index): bytes::entries::get((key, key_len), value))
}

/// Tests whether a key is present.
///
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_contains_key(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve!(latchless_bytes_contains_key(index): bytes::entries::contains_key((key, key_len)))
}

/// Inserts a copy of a key with a value, or replaces the value of a key that is present.
///
/// \param[out] before the value that was replaced; may be NULL
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
/// \retval LATCHLESS_KEY_TOO_LONG the key has more than LATCHLESS_KEY_MAX bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_insert(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_insert(index): bytes::entries::insert((key, key_len), value, before))
}

/// Inserts a copy of a key with a value unless the key is present.
///
/// \param[out] present the value of a key that is present; may be NULL
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
/// \retval LATCHLESS_KEY_TOO_LONG the key has more than LATCHLESS_KEY_MAX bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_try_insert(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: latchless_value,
    present: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_try_insert(index): bytes::entries::try_insert((key, key_len), value, present))
}

/// Replaces the value of a key that is present.
///
/// \param[out] before the value that was replaced; may be NULL
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_NOT_FOUND the key is absent, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_replace(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_replace(index): bytes::entries::replace((key, key_len), value, before))
}

/// Removes a key.
///
/// \param[out] before the value that the key had; may be NULL
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_remove(index): bytes::entries::remove((key, key_len), before))
}

/// Replaces the value of a key if it is the expected one. Otherwise nothing changes.
///
/// \param[out] found the value of the key if it isn't the expected one; may be NULL
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_compare_exchange(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    expected: latchless_value,
    value: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_compare_exchange(index): bytes::entries::compare_exchange((key, key_len), (expected, value), found))
}

/// Removes a key if its value is the expected one. Otherwise nothing changes.
///
/// \param[out] found the value of the key if it isn't the expected one; may be NULL
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_compare_remove(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    expected: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_compare_remove(index): bytes::entries::compare_remove((key, key_len), expected, found))
}

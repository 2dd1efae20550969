//! One key of an index of `i64` at a time. Each call takes effect in one atomic step.

use super::latchless_i64;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::key::Key;
use crate::status::latchless_status;

/// Gets the value of a key.
///
/// \param[out] value unchanged if the key is absent; may be NULL
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_get(
    index: *const latchless_i64,
    key: i64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_get(index): entries::get(key.cell(), value))
}

/// Tests whether a key is present.
///
/// \retval LATCHLESS_OK the key is present
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_contains_key(
    index: *const latchless_i64,
    key: i64,
) -> latchless_status {
    serve!(latchless_i64_contains_key(index): entries::contains_key(key.cell()))
}

/// Inserts a key with a value, or replaces the value of a key that is present.
///
/// \param[out] before the value that was replaced; may be NULL
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key was present, and its value is replaced
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_insert(
    index: *const latchless_i64,
    key: i64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_insert(index): entries::insert(key.cell(), value, before))
}

/// Inserts a key with a value unless the key is present.
///
/// \param[out] present the value of a key that is present; may be NULL
/// \retval LATCHLESS_OK the key was absent
/// \retval LATCHLESS_PRESENT the key is present, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_try_insert(
    index: *const latchless_i64,
    key: i64,
    value: latchless_value,
    present: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_try_insert(index): entries::try_insert(key.cell(), value, present))
}

/// Replaces the value of a key that is present.
///
/// \param[out] before the value that was replaced; may be NULL
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_NOT_FOUND the key is absent, and nothing changed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_replace(
    index: *const latchless_i64,
    key: i64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_replace(index): entries::replace(key.cell(), value, before))
}

/// Removes a key.
///
/// \param[out] before the value that the key had; may be NULL
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_remove(
    index: *const latchless_i64,
    key: i64,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_remove(index): entries::remove(key.cell(), before))
}

/// Replaces the value of a key if it is the expected one. Otherwise nothing changes.
///
/// \param[out] found the value of the key if it isn't the expected one; may be NULL
/// \retval LATCHLESS_OK the value is replaced
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_compare_exchange(
    index: *const latchless_i64,
    key: i64,
    expected: latchless_value,
    value: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_compare_exchange(index): entries::compare_exchange(key.cell(), expected, value, found))
}

/// Removes a key if its value is the expected one. Otherwise nothing changes.
///
/// \param[out] found the value of the key if it isn't the expected one; may be NULL
/// \retval LATCHLESS_OK the key is removed
/// \retval LATCHLESS_MISMATCH the key has another value
/// \retval LATCHLESS_NOT_FOUND the key is absent
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_i64_compare_remove(
    index: *const latchless_i64,
    key: i64,
    expected: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_i64_compare_remove(index): entries::compare_remove(key.cell(), expected, found))
}

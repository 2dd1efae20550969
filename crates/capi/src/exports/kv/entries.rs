//! One key of an index from byte strings to byte strings at a time. Each call takes effect in one atomic
//! step.

use super::latchless_kv;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// The value under the key of `key_len` bytes at `key`. It goes to `value`, where there is room for
/// `value_room` bytes, and its length to `*value_len`. LATCHLESS_SMALL_ROOM: the value is longer,
/// `*value_len` says how long, and nothing else is written. Where `value` is NULL, no value is asked for,
/// and `value_len` may be NULL, too. LATCHLESS_NOT_FOUND: the key isn't there, and nothing is written.
/// `value` may be where `key` is.
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

/// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_contains_key(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve!(latchless_kv_contains_key(index): bytes::entries::contains_key((key, key_len)))
}

/// Puts a value under a key; both are copied. LATCHLESS_PRESENT: the key was there, its value is replaced,
/// and the one before goes to `before` as latchless_kv_get() tells one. LATCHLESS_OK: it wasn't. Unless
/// `before` is NULL, there must be room for LATCHLESS_VALUE_MAX bytes, so that no value is lost; otherwise
/// it is LATCHLESS_SMALL_ROOM, and nothing is done. LATCHLESS_KEY_TOO_LONG, LATCHLESS_VALUE_TOO_LONG: the
/// key or the value has more bytes than LATCHLESS_KEY_MAX or LATCHLESS_VALUE_MAX.
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

/// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and its value
/// goes to `present`. LATCHLESS_SMALL_ROOM: the same, but that value is longer than `present_room`; see
/// latchless_kv_get(). Otherwise as latchless_kv_insert().
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

/// Replaces the value of a key that is there; the one before goes to `before`, as in latchless_kv_insert().
/// LATCHLESS_NOT_FOUND: it isn't, and nothing is changed.
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

/// Removes a key; its value goes to `before`, as in latchless_kv_insert(). LATCHLESS_NOT_FOUND: it isn't
/// there.
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

/// Replaces the value of a key if it has the expected bytes. LATCHLESS_MISMATCH: it has others, and goes to
/// `found`. LATCHLESS_SMALL_ROOM: the same, but it is longer than `found_room`; see latchless_kv_get().
/// LATCHLESS_NOT_FOUND: the key isn't there. In these cases nothing is changed.
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

/// Removes a key if its value has the expected bytes; otherwise as latchless_kv_compare_exchange().
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

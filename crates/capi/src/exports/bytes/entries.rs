//! One key of an index of byte strings at a time. Each call takes effect in one atomic step.

use super::latchless_bytes;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// The value under the key of `key_len` bytes at `key`. LATCHLESS_NOT_FOUND: the key isn't there, and
/// `*value` is as before. `value` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_get(index): bytes::entries::get((key, key_len), value))
}

/// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_contains_key(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve!(latchless_bytes_contains_key(index): bytes::entries::contains_key((key, key_len)))
}

/// Puts a value under a key, which is copied. LATCHLESS_PRESENT: the key was there, its value is replaced,
/// and `*before` gets the one before. LATCHLESS_OK: it wasn't. LATCHLESS_KEY_TOO_LONG: it has more than
/// LATCHLESS_KEY_MAX bytes. `before` may be NULL.
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

/// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
/// gets its value. Otherwise as latchless_bytes_insert(). `present` may be NULL.
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

/// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
/// and nothing is changed. `before` may be NULL.
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

/// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_remove(index): bytes::entries::remove((key, key_len), before))
}

/// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
/// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
/// be NULL.
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

/// Removes a key if its value is the expected one; otherwise as latchless_bytes_compare_exchange().
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

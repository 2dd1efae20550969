//! One key of an index of `u64` at a time. Each call takes effect in one atomic step.

use super::latchless_u64;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::key::Key;
use crate::status::latchless_status;

/// The key's value. LATCHLESS_NOT_FOUND: the key isn't there, and `*value` is as before. `value` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_get(
    index: *const latchless_u64,
    key: u64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_get(index): entries::get(key.cell(), value))
}

/// LATCHLESS_OK if the key is there, otherwise LATCHLESS_NOT_FOUND.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_contains_key(
    index: *const latchless_u64,
    key: u64,
) -> latchless_status {
    serve!(latchless_u64_contains_key(index): entries::contains_key(key.cell()))
}

/// Puts a value under a key. LATCHLESS_PRESENT: the key was there, its value is replaced, and `*before` gets
/// the one before. LATCHLESS_OK: it wasn't. `before` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_insert(
    index: *const latchless_u64,
    key: u64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_insert(index): entries::insert(key.cell(), value, before))
}

/// Puts a value under a key that isn't there. LATCHLESS_PRESENT: it was, nothing is changed, and `*present`
/// gets its value. `present` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_try_insert(
    index: *const latchless_u64,
    key: u64,
    value: latchless_value,
    present: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_try_insert(index): entries::try_insert(key.cell(), value, present))
}

/// Replaces the value of a key that is there; `*before` gets the one before. LATCHLESS_NOT_FOUND: it isn't,
/// and nothing is changed. `before` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_replace(
    index: *const latchless_u64,
    key: u64,
    value: latchless_value,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_replace(index): entries::replace(key.cell(), value, before))
}

/// Removes a key; `*before` gets its value. LATCHLESS_NOT_FOUND: it isn't there. `before` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_remove(
    index: *const latchless_u64,
    key: u64,
    before: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_remove(index): entries::remove(key.cell(), before))
}

/// Replaces the value of a key if it is the expected one. LATCHLESS_MISMATCH: it is another one, which
/// `*found` gets. LATCHLESS_NOT_FOUND: the key isn't there. In both cases nothing is changed. `found` may
/// be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_compare_exchange(
    index: *const latchless_u64,
    key: u64,
    expected: latchless_value,
    value: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_compare_exchange(index): entries::compare_exchange(key.cell(), expected, value, found))
}

/// Removes a key if its value is the expected one; otherwise as latchless_u64_compare_exchange().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_compare_remove(
    index: *const latchless_u64,
    key: u64,
    expected: latchless_value,
    found: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_u64_compare_remove(index): entries::compare_remove(key.cell(), expected, found))
}

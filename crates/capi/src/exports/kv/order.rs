//! Entries of an index from byte strings to byte strings by their place in its order.

use super::latchless_kv;
use crate::entries::{End, Near};
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below the entry's
/// key and its value go to `key` and `value`, where there is room for `key_room` and `value_room` bytes,
/// and their lengths to `*key_len` and `*value_len`. LATCHLESS_SMALL_ROOM: one of them is longer, both
/// lengths are told, and nothing else is written. Where `key` is NULL, no key is asked for, and `key_len`
/// may be NULL, too; so with `value`. What isn't found writes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_first(
    index: *const latchless_kv,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_first(index): bytes::entries::end(End::First, (key, key_room, key_len), (value, value_room, value_len)))
}

/// The entry with the largest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_last(
    index: *const latchless_kv,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_last(index): bytes::entries::end(End::Last, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Removes the entry with the smallest key, atomically. Unless they are NULL, `key` must have room for
/// LATCHLESS_KEY_MAX bytes and `value` for LATCHLESS_VALUE_MAX, so that nothing is lost; otherwise it is
/// LATCHLESS_SMALL_ROOM, and nothing is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_pop_first(
    index: *const latchless_kv,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_pop_first(index): bytes::entries::end(End::PopFirst, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Removes the entry with the largest key, atomically; otherwise as latchless_kv_pop_first().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_pop_last(
    index: *const latchless_kv,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_pop_last(index): bytes::entries::end(End::PopLast, (key, key_room, key_len), (value, value_room, value_len)))
}

/// The entry with the largest key that is equal or smaller. Its key goes to `near_key` and its value to
/// `value`, as those of latchless_kv_first() do; `near_key` may be where `key` is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_floor(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    near_key_room: usize,
    near_key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_floor(index): bytes::entries::near(Near::Floor, (key, key_len), (near_key, near_key_room, near_key_len), (value, value_room, value_len)))
}

/// The entry with the smallest key that is equal or larger; otherwise as latchless_kv_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_ceiling(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    near_key_room: usize,
    near_key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_ceiling(index): bytes::entries::near(Near::Ceiling, (key, key_len), (near_key, near_key_room, near_key_len), (value, value_room, value_len)))
}

/// The entry with the largest smaller key; otherwise as latchless_kv_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_lower(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    near_key_room: usize,
    near_key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_lower(index): bytes::entries::near(Near::Lower, (key, key_len), (near_key, near_key_room, near_key_len), (value, value_room, value_len)))
}

/// The entry with the smallest larger key; otherwise as latchless_kv_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_higher(
    index: *const latchless_kv,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    near_key_room: usize,
    near_key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_higher(index): bytes::entries::near(Near::Higher, (key, key_len), (near_key, near_key_room, near_key_len), (value, value_room, value_len)))
}

//! Entries of an index from byte strings to byte strings by their place in its order.

use super::latchless_kv;
use crate::entries::{End, Near};
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the entry with the smallest key.
///
/// \param[out] key receives the key's bytes; NULL if they aren't needed
/// \param key_room the number of bytes that fit at `key`
/// \param[out] key_len the key's length; may be NULL if `key` is
/// \param[out] value receives the value's bytes; NULL if they aren't needed
/// \param value_room the number of bytes that fit at `value`
/// \param[out] value_len the value's length; may be NULL if `value` is
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM the key or the value doesn't fit; only the two lengths are written
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

/// Gets the entry with the largest key. The parameters are those of latchless_kv_first().
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

/// Removes the entry with the smallest key, in one atomic step. Any key and any value must fit, so that
/// nothing is lost.
///
/// \param[out] key receives the key's bytes; NULL if they aren't needed
/// \param key_room LATCHLESS_KEY_MAX or more, unless `key` is NULL
/// \param[out] key_len the key's length; may be NULL if `key` is
/// \param[out] value receives the value's bytes; NULL if they aren't needed
/// \param value_room LATCHLESS_VALUE_MAX or more, unless `value` is NULL
/// \param[out] value_len the value's length; may be NULL if `value` is
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM `key_room` or `value_room` is too small, and nothing is removed
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

/// Removes the entry with the largest key, in one atomic step. The parameters are those of
/// latchless_kv_pop_first().
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

/// Gets the entry with the largest key that is less than or equal to `key`.
///
/// \param[out] near_key receives the bytes of the entry's key; NULL if they aren't needed; may overlap
///   `key`
/// \param near_key_room the number of bytes that fit at `near_key`
/// \param[out] near_key_len the length of the entry's key; may be NULL if `near_key` is
/// \param[out] value receives the value's bytes; NULL if they aren't needed
/// \param value_room the number of bytes that fit at `value`
/// \param[out] value_len the value's length; may be NULL if `value` is
/// \retval LATCHLESS_NOT_FOUND there is no such entry, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM the entry's key or value doesn't fit; only the two lengths are written
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

/// Gets the entry with the smallest key that is greater than or equal to `key`. The parameters are those of
/// latchless_kv_floor().
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

/// Gets the entry with the largest key that is less than `key`. The parameters are those of
/// latchless_kv_floor().
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

/// Gets the entry with the smallest key that is greater than `key`. The parameters are those of
/// latchless_kv_floor().
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

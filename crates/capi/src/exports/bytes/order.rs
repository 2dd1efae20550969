//! Entries of an index of byte strings by their place in its order.

use super::latchless_bytes;
use crate::entries::{End, Near};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the entry with the smallest key.
///
/// \param[out] key receives the key's bytes; NULL if they aren't needed
/// \param room the number of bytes that fit at `key`
/// \param[out] key_len the key's length; may be NULL if `key` is
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM the key has more than `room` bytes; only `*key_len` is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_first(
    index: *const latchless_bytes,
    key: *mut c_void,
    room: usize,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_first(index): bytes::entries::end(End::First, (key, room, key_len), value))
}

/// Gets the entry with the largest key. The parameters are those of latchless_bytes_first().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_last(
    index: *const latchless_bytes,
    key: *mut c_void,
    room: usize,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_last(index): bytes::entries::end(End::Last, (key, room, key_len), value))
}

/// Removes the entry with the smallest key, in one atomic step. Any key must fit, so that none is lost.
///
/// \param[out] key receives the key's bytes; NULL if they aren't needed
/// \param room LATCHLESS_KEY_MAX or more, unless `key` is NULL
/// \param[out] key_len the key's length; may be NULL if `key` is
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM `room` is less than LATCHLESS_KEY_MAX, and nothing is removed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_pop_first(
    index: *const latchless_bytes,
    key: *mut c_void,
    room: usize,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_pop_first(index): bytes::entries::end(End::PopFirst, (key, room, key_len), value))
}

/// Removes the entry with the largest key, in one atomic step. The parameters are those of
/// latchless_bytes_pop_first().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_pop_last(
    index: *const latchless_bytes,
    key: *mut c_void,
    room: usize,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_pop_last(index): bytes::entries::end(End::PopLast, (key, room, key_len), value))
}

/// Gets the entry with the largest key that is less than or equal to `key`.
///
/// \param[out] near_key receives the bytes of the entry's key; NULL if they aren't needed; may overlap
///   `key`
/// \param room the number of bytes that fit at `near_key`
/// \param[out] near_key_len the length of the entry's key; may be NULL if `near_key` is
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry, and nothing is written
/// \retval LATCHLESS_SMALL_ROOM the entry's key has more than `room` bytes; only `*near_key_len` is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_floor(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    room: usize,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_floor(index): bytes::entries::near(Near::Floor, (key, key_len), (near_key, room, near_key_len), value))
}

/// Gets the entry with the smallest key that is greater than or equal to `key`. The parameters are those of
/// latchless_bytes_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_ceiling(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    room: usize,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_ceiling(index): bytes::entries::near(Near::Ceiling, (key, key_len), (near_key, room, near_key_len), value))
}

/// Gets the entry with the largest key that is less than `key`. The parameters are those of
/// latchless_bytes_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_lower(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    room: usize,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_lower(index): bytes::entries::near(Near::Lower, (key, key_len), (near_key, room, near_key_len), value))
}

/// Gets the entry with the smallest key that is greater than `key`. The parameters are those of
/// latchless_bytes_floor().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_higher(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    room: usize,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_higher(index): bytes::entries::near(Near::Higher, (key, key_len), (near_key, room, near_key_len), value))
}

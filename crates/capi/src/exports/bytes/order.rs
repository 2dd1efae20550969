//! Entries of an index of byte strings by their place in its order.

use super::latchless_bytes;
use crate::entries::{End, Near};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// The entry with the smallest key. LATCHLESS_NOT_FOUND: the index is empty. Here and below the entry's key
/// goes to `key`, where there is room for `room` bytes, and its length to `*key_len`. LATCHLESS_SMALL_ROOM:
/// the key is longer, `*key_len` says how long, and nothing else is written. Where `key` is NULL, no key is
/// asked for, and `key_len` may be NULL, too. `value` may be NULL. What isn't found writes nothing.
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

/// The entry with the largest key.
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

/// Removes the entry with the smallest key, atomically. Unless `key` is NULL, there must be room for
/// LATCHLESS_KEY_MAX bytes, so that no key is lost; otherwise it is LATCHLESS_SMALL_ROOM, and nothing is
/// removed.
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

/// Removes the entry with the largest key, atomically; otherwise as latchless_bytes_pop_first().
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

/// The entry with the largest key that is equal or smaller. Its key goes to `near_key`, as that of
/// latchless_bytes_first() does; `near_key` may be where `key` is.
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

/// The entry with the smallest key that is equal or larger; otherwise as latchless_bytes_floor().
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

/// The entry with the largest smaller key; otherwise as latchless_bytes_floor().
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

/// The entry with the smallest larger key; otherwise as latchless_bytes_floor().
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

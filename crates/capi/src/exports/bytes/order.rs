//! Entries of an index of byte strings by their place in its order.

use super::life::latchless_bytes;
use super::ranges::latchless_bytes_visitor;
use crate::entries::End;
use crate::exports::serve_strings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Gets the entry with the smallest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_first(
    index: *const latchless_bytes,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_first(index): entries::end(End::First, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Gets the entry with the largest key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_last(
    index: *const latchless_bytes,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_last(index): entries::end(End::Last, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Removes the entry with the smallest key. What isn't NULL must have room for any key or value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_pop_first(
    index: *const latchless_bytes,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_pop_first(index): entries::end(End::PopFirst, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Removes the entry with the largest key. What isn't NULL must have room for any key or value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_pop_last(
    index: *const latchless_bytes,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_pop_last(index): entries::end(End::PopLast, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Gets an entry near `key`.
/// \param near a latchless_near other than LATCHLESS_NEAREST
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_near(
    index: *const latchless_bytes,
    near: u32,
    key: *const c_void,
    key_len: usize,
    near_key: *mut c_void,
    near_key_room: usize,
    near_key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_near(index): entries::near(near, (key, key_len), (near_key, near_key_room, near_key_len), (value, value_room, value_len)))
}

/// Gets the number of keys that are less than `key`, which may be absent. Reads every leaf before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_rank(
    index: *const latchless_bytes,
    key: *const c_void,
    key_len: usize,
    rank: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_rank(index): entries::rank((key, key_len), rank))
}

/// Gets the entry that has `position` entries before it. Reads every leaf before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_nth(
    index: *const latchless_bytes,
    position: usize,
    key: *mut c_void,
    key_room: usize,
    key_len: *mut usize,
    value: *mut c_void,
    value_room: usize,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_nth(index): entries::nth(position, (key, key_room, key_len), (value, value_room, value_len)))
}

/// Passes the keys of latchless_index_split_points() to a function, with NULL as the value: keys at equal
/// distances, as a sample needs them. Reads every leaf twice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_split_points(
    index: *const latchless_bytes,
    parts: usize,
    visitor: latchless_bytes_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve_strings!(latchless_bytes_split_points(index): bytes::ranges::split_points(parts, visitor, context))
}

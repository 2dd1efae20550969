//! Cursors of an index of byte strings.

use super::life::{latchless_bytes, latchless_bytes_cursor};
use crate::exports::serve_strings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Creates a cursor before the first entry. It has a copy of the entries around its position, and sees
/// changes that threads make further on. It may outlive the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_new(
    index: *const latchless_bytes,
    out: *mut *mut latchless_bytes_cursor,
) -> latchless_status {
    serve_strings!(latchless_bytes_cursor_new(index): bytes::cursors::new(out))
}

/// Moves a cursor and gets the entry that it is on then. The addresses of its key and value are valid
/// until the next call for the cursor.
/// \param movement a latchless_move
/// \param key what LATCHLESS_SEEK and LATCHLESS_SEEK_FOR_PREV move to; the others ignore it
/// \retval LATCHLESS_NOT_FOUND there is no such entry: the cursor is before the first one or after the
///   last one
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_move(
    cursor: *mut latchless_bytes_cursor,
    movement: u32,
    key: *const c_void,
    key_len: usize,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_cursor_move(cursor): bytes::cursors::go((movement, (key, key_len)), (near_key, near_key_len), (value, value_len)))
}

/// Frees a cursor, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_free(
    cursor: *mut latchless_bytes_cursor,
) -> latchless_status {
    serve_strings!(latchless_bytes_cursor_free(cursor): handle::free_cursor())
}

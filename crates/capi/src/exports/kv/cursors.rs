//! Cursors of an index from byte strings to byte strings.

use super::latchless_kv;
use crate::bytes::cursors::Way;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::ByteStrings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// A position in an index from byte strings to byte strings: on an entry, before the first one, or after
/// the last one. One thread at a time may use it; a second one gets LATCHLESS_BUSY.
pub struct latchless_kv_cursor(());

impl Handle for latchless_kv_cursor {
    const NAME: &'static str = "latchless_kv_cursor";
    type Keys = ByteStrings<Vec<u8>>;
    const KEYS: ByteStrings<Vec<u8>> = ByteStrings::NEW;
}

/// Creates a cursor before the first entry. It has a copy of the entries around its position, and sees
/// changes that threads make further on. It may outlive the index.
///
/// \param[out] out the cursor, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_new(
    index: *const latchless_kv,
    out: *mut *mut latchless_kv_cursor,
) -> latchless_status {
    serve!(latchless_kv_cursor_new(index): bytes::cursors::new(latchless_kv_cursor::KIND, out.cast()))
}

/// Moves to a key or, if it is absent, to the first key after it.
///
/// \param[out] near_key the address of the entry's key, valid until the next call for the cursor; may be
///   NULL
/// \param[out] near_key_len the length of the entry's key; may be NULL
/// \param[out] value the address of the entry's value, valid until the next call for the cursor; may be
///   NULL
/// \param[out] value_len the length of the entry's value; may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry: the cursor is after the last one, and nothing is
///   written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_seek(
    cursor: *mut latchless_kv_cursor,
    key: *const c_void,
    key_len: usize,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_seek(cursor): bytes::cursors::go(Way::Seek((key, key_len)), (near_key, near_key_len), (value, value_len)))
}

/// Moves to a key or, if it is absent, to the last key before it. The parameters are those of
/// latchless_kv_cursor_seek().
///
/// \retval LATCHLESS_NOT_FOUND there is no such entry: the cursor is before the first one, and nothing is
///   written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_seek_for_prev(
    cursor: *mut latchless_kv_cursor,
    key: *const c_void,
    key_len: usize,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_seek_for_prev(cursor): bytes::cursors::go(Way::SeekForPrev((key, key_len)), (near_key, near_key_len), (value, value_len)))
}

/// Moves to the first entry.
///
/// \param[out] key the address of the entry's key, valid until the next call for the cursor; may be NULL
/// \param[out] key_len the length of the entry's key; may be NULL
/// \param[out] value the address of the entry's value, valid until the next call for the cursor; may be
///   NULL
/// \param[out] value_len the length of the entry's value; may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_seek_first(
    cursor: *mut latchless_kv_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_seek_first(cursor): bytes::cursors::go(Way::First, (key, key_len), (value, value_len)))
}

/// Moves to the last entry. The parameters are those of latchless_kv_cursor_seek_first().
///
/// \retval LATCHLESS_NOT_FOUND the index is empty, and nothing is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_seek_last(
    cursor: *mut latchless_kv_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_seek_last(cursor): bytes::cursors::go(Way::Last, (key, key_len), (value, value_len)))
}

/// Moves to the next entry. The parameters are those of latchless_kv_cursor_seek_first().
///
/// \retval LATCHLESS_NOT_FOUND there is none: the cursor is after the last one, and nothing is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_next(
    cursor: *mut latchless_kv_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_next(cursor): bytes::cursors::go(Way::Next, (key, key_len), (value, value_len)))
}

/// Moves to the previous entry. The parameters are those of latchless_kv_cursor_seek_first().
///
/// \retval LATCHLESS_NOT_FOUND there is none: the cursor is before the first one, and nothing is written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_prev(
    cursor: *mut latchless_kv_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_prev(cursor): bytes::cursors::go(Way::Prev, (key, key_len), (value, value_len)))
}

/// Gets the entry that the cursor is on. The parameters are those of latchless_kv_cursor_seek_first().
///
/// \retval LATCHLESS_NOT_FOUND the cursor is before the first entry or after the last one, and nothing is
///   written
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_current(
    cursor: *mut latchless_kv_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut *const c_void,
    value_len: *mut usize,
) -> latchless_status {
    serve!(latchless_kv_cursor_current(cursor): bytes::cursors::go(Way::Here, (key, key_len), (value, value_len)))
}

/// Frees a cursor, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_free(cursor: *mut latchless_kv_cursor) -> latchless_status {
    serve!(latchless_kv_cursor_free(cursor): handle::free_cursor())
}

//! Cursors of an index from byte strings to byte strings.

use super::latchless_kv;
use crate::bytes::cursors::Way;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::ByteStrings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// A place in an index from byte strings to byte strings: on an entry, before the first one, or after the
/// last one. One thread at a time may use it; another one meanwhile gets LATCHLESS_BUSY.
pub struct latchless_kv_cursor(());

impl Handle for latchless_kv_cursor {
    const NAME: &'static str = "latchless_kv_cursor";
    type Keys = ByteStrings<Vec<u8>>;
    const KEYS: ByteStrings<Vec<u8>> = ByteStrings::NEW;
}

/// Makes a cursor, which is before the first entry. It has a copy of the entries around it, and sees what
/// other threads change further on. It may outlive the index. `*out` is NULL if that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_new(
    index: *const latchless_kv,
    out: *mut *mut latchless_kv_cursor,
) -> latchless_status {
    serve!(latchless_kv_cursor_new(index): bytes::cursors::new(latchless_kv_cursor::KIND, out.cast()))
}

/// Goes to a key, or to the first one after it. LATCHLESS_NOT_FOUND: there is none, and the cursor is
/// after the last entry. Here and below the entry that the cursor comes to is told: the addresses and the
/// lengths of its key and its value, each of which may be NULL. They are there until the next call for the
/// cursor. What isn't found writes nothing.
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

/// Goes to a key, or to the last one before it. LATCHLESS_NOT_FOUND: there is none, and the cursor is before
/// the first entry.
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

/// Goes to the first entry.
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

/// Goes to the last entry.
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

/// Goes to the next entry. LATCHLESS_NOT_FOUND: there is none, and the cursor is after the last entry, where
/// it stays.
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

/// Goes to the entry before. LATCHLESS_NOT_FOUND: there is none, and the cursor is before the first entry,
/// where it stays.
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

/// Tells the entry that the cursor is on, and stays there. LATCHLESS_NOT_FOUND: it is on none.
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

/// Frees a cursor, unless `cursor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_cursor_free(cursor: *mut latchless_kv_cursor) -> latchless_status {
    serve!(latchless_kv_cursor_free(cursor): handle::free_cursor())
}

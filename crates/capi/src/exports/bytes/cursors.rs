//! Cursors of an index of byte strings.

use super::latchless_bytes;
use crate::bytes::cursors::Way;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::ByteStrings;
use crate::status::latchless_status;
use core::ffi::c_void;

/// A place in an index of byte strings: on an entry, before the first one, or after the last one. One thread
/// at a time may use it; another one meanwhile gets LATCHLESS_BUSY.
pub struct latchless_bytes_cursor(());

impl Handle for latchless_bytes_cursor {
    const NAME: &'static str = "latchless_bytes_cursor";
    type Keys = ByteStrings;
    const KEYS: ByteStrings = ByteStrings::NEW;
}

/// Makes a cursor, which is before the first entry. It has a copy of the entries around it, and sees what
/// other threads change further on. It may outlive the index. `*out` is NULL if that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_new(
    index: *const latchless_bytes,
    out: *mut *mut latchless_bytes_cursor,
) -> latchless_status {
    serve!(latchless_bytes_cursor_new(index): bytes::cursors::new(latchless_bytes_cursor::KIND, out.cast()))
}

/// Goes to a key, or to the first one after it. LATCHLESS_NOT_FOUND: there is none, and the cursor is after
/// the last entry. Here and below the entry that the cursor comes to is told: the address and the length of
/// its key, and its value; each of the three may be NULL. The key is there until the cursor goes elsewhere
/// or is freed. What isn't found writes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_seek(
    cursor: *mut latchless_bytes_cursor,
    key: *const c_void,
    key_len: usize,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_seek(cursor): bytes::cursors::go(Way::Seek((key, key_len)), (near_key, near_key_len), value))
}

/// Goes to a key, or to the last one before it. LATCHLESS_NOT_FOUND: there is none, and the cursor is before
/// the first entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_seek_for_prev(
    cursor: *mut latchless_bytes_cursor,
    key: *const c_void,
    key_len: usize,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_seek_for_prev(cursor): bytes::cursors::go(Way::SeekForPrev((key, key_len)), (near_key, near_key_len), value))
}

/// Goes to the first entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_seek_first(
    cursor: *mut latchless_bytes_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_seek_first(cursor): bytes::cursors::go(Way::First, (key, key_len), value))
}

/// Goes to the last entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_seek_last(
    cursor: *mut latchless_bytes_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_seek_last(cursor): bytes::cursors::go(Way::Last, (key, key_len), value))
}

/// Goes to the next entry. LATCHLESS_NOT_FOUND: there is none, and the cursor is after the last entry, where
/// it stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_next(
    cursor: *mut latchless_bytes_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_next(cursor): bytes::cursors::go(Way::Next, (key, key_len), value))
}

/// Goes to the entry before. LATCHLESS_NOT_FOUND: there is none, and the cursor is before the first entry,
/// where it stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_prev(
    cursor: *mut latchless_bytes_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_prev(cursor): bytes::cursors::go(Way::Prev, (key, key_len), value))
}

/// Tells the entry that the cursor is on, and stays there. LATCHLESS_NOT_FOUND: it is on none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_current(
    cursor: *mut latchless_bytes_cursor,
    key: *mut *const c_void,
    key_len: *mut usize,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_bytes_cursor_current(cursor): bytes::cursors::go(Way::Here, (key, key_len), value))
}

/// Frees a cursor, unless `cursor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_cursor_free(
    cursor: *mut latchless_bytes_cursor,
) -> latchless_status {
    serve!(latchless_bytes_cursor_free(cursor): handle::free_cursor())
}

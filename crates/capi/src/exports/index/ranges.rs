//! Ranges of an index of words, both ends included.

use super::life::{latchless_index, latchless_index_cursor};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// A callback of latchless_index_scan_chunks(). It receives `count` entries, which are valid until it
/// returns, and returns 0 to go on or another number to stop. It may use and change the index. No
/// exception and no longjmp() may leave it.
pub type latchless_index_visitor = Option<
    unsafe extern "C-unwind" fn(
        keys: *const u64,
        values: *const latchless_value,
        count: usize,
        context: *mut c_void,
    ) -> c_int,
>;

/// Counts the keys of a range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_count(
    index: *const latchless_index,
    low: u64,
    high: u64,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_index_count(index): ranges::count(low, high, count))
}

/// Removes the keys of a range, not atomically as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_remove_range(
    index: *const latchless_index,
    low: u64,
    high: u64,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_index_remove_range(index): ranges::remove_range(low, high, removed))
}

/// Copies the first entries of a range, in ascending order.
/// \param descending not 0: copies the last entries instead, in descending order
/// \param room the number of entries to copy at most, 1 or more
/// \param[out] filled the number of entries copied
/// \retval LATCHLESS_NOT_FOUND the range is empty
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_page(
    index: *const latchless_index,
    low: u64,
    high: u64,
    descending: c_int,
    keys: *mut u64,
    values: *mut latchless_value,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    serve!(latchless_index_page(index): ranges::page(low, high, descending, keys, values, room, filled))
}

/// Passes the entries of a range to a function, in ascending order, some dozens at a time.
/// \param visitor returns 0 to go on; any other number ends the call with LATCHLESS_STOPPED
/// \param context is passed to `visitor`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_scan_chunks(
    index: *const latchless_index,
    low: u64,
    high: u64,
    visitor: latchless_index_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve!(latchless_index_scan_chunks(index): ranges::scan_chunks(low, high, visitor, context))
}

/// Creates a cursor, which copies the entries of a range, page by page, in ascending order. It sees
/// changes that threads make ahead of it, and it may outlive the index.
/// \param descending not 0: descending order
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_cursor_new(
    index: *const latchless_index,
    low: u64,
    high: u64,
    descending: c_int,
    out: *mut *mut latchless_index_cursor,
) -> latchless_status {
    serve!(latchless_index_cursor_new(index): cursors::new(low, high, descending, out))
}

/// Copies the next entries. The parameters are those of latchless_index_page().
/// \retval LATCHLESS_NOT_FOUND the range has no more entries
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_cursor_next(
    cursor: *mut latchless_index_cursor,
    keys: *mut u64,
    values: *mut latchless_value,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    serve!(latchless_index_cursor_next(cursor): cursors::next(keys, values, room, filled))
}

/// Frees a cursor, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_cursor_free(
    cursor: *mut latchless_index_cursor,
) -> latchless_status {
    serve!(latchless_index_cursor_free(cursor): handle::free_cursor())
}

//! Ranges of an index of `u64`, both ends included.

use super::{latchless_u64, latchless_u64_cursor};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::Key;
use crate::ranges::Visitor;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// A callback of latchless_u64_scan_chunks(). It receives `count` entries, which are valid until it returns,
/// and returns 0 to go on or another number to stop. It may use and change the index. No exception and no
/// longjmp() may leave it.
pub type latchless_u64_visitor = Option<
    unsafe extern "C-unwind" fn(
        keys: *const u64,
        values: *const latchless_value,
        count: usize,
        context: *mut c_void,
    ) -> c_int,
>;

/// A function that is shown keys as one that is shown their cells.
#[allow(clippy::useless_transmute, reason = "for one of the types of keys the two are the same")]
fn shown_cells(
    visitor: unsafe extern "C-unwind" fn(*const u64, *const latchless_value, usize, *mut c_void) -> c_int,
) -> Visitor {
    // SAFETY: a pointer is passed alike, whatever it points to, and the cells are the keys' own bits.
    unsafe { core::mem::transmute(visitor) }
}

/// Counts the keys from `low` to `high`, both included.
///
/// \param[out] count the number of keys
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_count(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_count(index): ranges::count(low.cell(), high.cell(), count))
}

/// Removes the keys from `low` to `high`, both included, not atomically as a whole.
///
/// \param[out] removed the number of keys removed; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_remove_range(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_remove_range(index): ranges::remove_range(low.cell(), high.cell(), removed))
}

/// Copies the first entries of the range from `low` to `high`, both included, in ascending order.
///
/// \param descending not 0: copies the last entries instead, in descending order
/// \param[out] keys room for `room` keys; may be NULL
/// \param[out] values room for `room` values; may be NULL
/// \param room the number of entries to copy at most, 1 or more
/// \param[out] filled the number of entries copied
/// \retval LATCHLESS_NOT_FOUND the range is empty
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_page(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    descending: c_int,
    keys: *mut u64,
    values: *mut latchless_value,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_page(index): ranges::page(low.cell(), high.cell(), descending, keys.cast(), values, room, filled))
}

/// Passes the entries from `low` to `high`, both included, to a function, in ascending order, some dozens
/// at a time.
///
/// \param visitor returns 0 to go on
/// \param context is passed to `visitor`
/// \retval LATCHLESS_OK the whole range was passed
/// \retval LATCHLESS_STOPPED `visitor` returned something other than 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_scan_chunks(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    visitor: latchless_u64_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve!(latchless_u64_scan_chunks(index): ranges::scan_chunks(low.cell(), high.cell(), visitor.map(shown_cells), context))
}

/// Creates a cursor, which copies the entries from `low` to `high`, both included, page by page, in
/// ascending order. It sees changes that threads make ahead of it, and it may outlive the index.
///
/// \param descending not 0: descending order
/// \param[out] out the cursor, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_cursor_new(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    descending: c_int,
    out: *mut *mut latchless_u64_cursor,
) -> latchless_status {
    serve!(latchless_u64_cursor_new(index): cursors::new(low.cell(), high.cell(), descending, latchless_u64_cursor::KIND, out.cast()))
}

/// Copies the next entries.
///
/// \param[out] keys room for `room` keys; may be NULL
/// \param[out] values room for `room` values; may be NULL
/// \param room the number of entries to copy at most, 1 or more
/// \param[out] filled the number of entries copied
/// \retval LATCHLESS_NOT_FOUND the range has no more entries
/// \retval LATCHLESS_BUSY another thread is using the cursor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_cursor_next(
    cursor: *mut latchless_u64_cursor,
    keys: *mut u64,
    values: *mut latchless_value,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_cursor_next(cursor): cursors::next(keys.cast(), values, room, filled))
}

/// Frees a cursor, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_cursor_free(cursor: *mut latchless_u64_cursor) -> latchless_status {
    serve!(latchless_u64_cursor_free(cursor): handle::free_cursor())
}

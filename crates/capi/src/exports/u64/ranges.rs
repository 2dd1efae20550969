//! Ranges of an index of `u64`, both ends included.

use super::{latchless_u64, latchless_u64_cursor};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::Key;
use crate::ranges::Visitor;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// What latchless_u64_scan() calls: with `count` keys and their values, which are there until it returns.
/// Not zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
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

/// How many keys there are from `low` to `high`, both included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_count(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_count(index): ranges::count(low.cell(), high.cell(), count))
}

/// Removes the keys from `low` to `high`, both included; `*removed`, which may be NULL, gets how many they
/// were. Not atomic as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_remove_range(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_remove_range(index): ranges::remove_range(low.cell(), high.cell(), removed))
}

/// Copies the first entries from `low` to `high`, both included, or if `descending` isn't 0 the last ones,
/// backwards: at most `room`. `*filled` gets how many. LATCHLESS_NOT_FOUND: there is none. `keys` and
/// `values` may be NULL.
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

/// Shows the entries from `low` to `high`, both included, ascending, to a function, some dozens at a time.
/// LATCHLESS_STOPPED: it returned something else than 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_scan(
    index: *const latchless_u64,
    low: u64,
    high: u64,
    visitor: latchless_u64_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve!(latchless_u64_scan(index): ranges::scan(low.cell(), high.cell(), visitor.map(shown_cells), context))
}

/// Makes a cursor, which copies the entries from `low` to `high`, both included, page by page, ascending
/// or, if `descending` isn't 0, descending. It sees what other threads change ahead of it. It may outlive
/// the index. `*out` is NULL if that fails.
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

/// Copies the next entries, at most `room`, which is 1 or more; `*filled` gets how many. LATCHLESS_NOT_FOUND:
/// there are no more. `keys` and `values` may be NULL. One thread at a time may use a cursor; another one
/// meanwhile gets LATCHLESS_BUSY.
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

/// Frees a cursor, unless `cursor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_cursor_free(cursor: *mut latchless_u64_cursor) -> latchless_status {
    serve!(latchless_u64_cursor_free(cursor): handle::free_cursor())
}

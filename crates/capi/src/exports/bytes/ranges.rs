//! Half-open ranges of an index of byte strings.

use super::life::latchless_bytes;
use crate::exports::serve_strings;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// A callback of latchless_bytes_scan() for one entry, with the rules of a latchless_index_visitor.
pub type latchless_bytes_visitor = Option<
    unsafe extern "C-unwind" fn(
        key: *const c_void,
        key_len: usize,
        value: *const c_void,
        value_len: usize,
        context: *mut c_void,
    ) -> c_int,
>;

/// Counts the keys of a range. Reads every leaf of the range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_count(
    index: *const latchless_bytes,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    count: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_count(index): ranges::count((begin, begin_len), (end, end_len), count))
}

/// Removes the keys of a range, not atomically as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove_range(
    index: *const latchless_bytes,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    removed: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_remove_range(index): ranges::remove_range((begin, begin_len), (end, end_len), removed))
}

/// Passes the entries of a range to a function, one at a time, in ascending order.
/// \param descending not 0: descending order
/// \param visitor returns 0 to go on; any other number ends the call with LATCHLESS_STOPPED
/// \param context is passed to `visitor`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_scan(
    index: *const latchless_bytes,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    descending: c_int,
    visitor: latchless_bytes_visitor,
    context: *mut c_void,
) -> latchless_status {
    let range = ((begin, begin_len), (end, end_len));
    serve_strings!(latchless_bytes_scan(index): bytes::ranges::scan(range, descending, visitor, context))
}

/// Passes the entries whose keys start with a prefix to a function, as latchless_bytes_scan() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_scan_prefix(
    index: *const latchless_bytes,
    prefix: *const c_void,
    prefix_len: usize,
    visitor: latchless_bytes_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve_strings!(latchless_bytes_scan_prefix(index): bytes::ranges::scan_prefix((prefix, prefix_len), visitor, context))
}

//! Half-open ranges of an index of byte strings.

use super::latchless_bytes;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// A callback of latchless_bytes_scan(). It receives one entry, whose key is valid until it returns, and
/// returns 0 to go on or another number to stop. It may use and change the index. No exception and no
/// longjmp() may leave it.
pub type latchless_bytes_visitor = Option<
    unsafe extern "C-unwind" fn(
        key: *const c_void,
        key_len: usize,
        value: latchless_value,
        context: *mut c_void,
    ) -> c_int,
>;

/// Counts the keys from `begin` on and before `end`. Reads every leaf of the range.
///
/// \param begin the empty string is before all other keys
/// \param end_len LATCHLESS_NO_END: the range has no end
/// \param[out] count the number of keys
/// \retval LATCHLESS_INVERTED_RANGE `begin` is after `end`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_count(
    index: *const latchless_bytes,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_count(index): bytes::ranges::count((begin, begin_len), (end, end_len), count))
}

/// Removes the keys from `begin` on and before `end`, not atomically as a whole.
///
/// \param end_len LATCHLESS_NO_END: the range has no end
/// \param[out] removed the number of keys removed; may be NULL
/// \retval LATCHLESS_INVERTED_RANGE `begin` is after `end`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove_range(
    index: *const latchless_bytes,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_remove_range(index): bytes::ranges::remove_range((begin, begin_len), (end, end_len), removed))
}

/// Passes the entries from `begin` on and before `end` to a function, one at a time, in ascending order.
///
/// \param end_len LATCHLESS_NO_END: the range has no end
/// \param descending not 0: descending order
/// \param visitor returns 0 to go on
/// \param context is passed to `visitor`
/// \retval LATCHLESS_OK the whole range was passed
/// \retval LATCHLESS_STOPPED `visitor` returned something other than 0
/// \retval LATCHLESS_INVERTED_RANGE `begin` is after `end`
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
    serve!(latchless_bytes_scan(index): bytes::ranges::scan(range, descending, visitor, context))
}

/// Passes the entries whose keys start with a prefix to a function, one at a time, in ascending order.
///
/// \param visitor returns 0 to go on
/// \param context is passed to `visitor`
/// \retval LATCHLESS_OK all such entries were passed
/// \retval LATCHLESS_STOPPED `visitor` returned something other than 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_scan_prefix(
    index: *const latchless_bytes,
    prefix: *const c_void,
    prefix_len: usize,
    visitor: latchless_bytes_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve!(latchless_bytes_scan_prefix(index): bytes::ranges::scan_prefix((prefix, prefix_len), visitor, context))
}

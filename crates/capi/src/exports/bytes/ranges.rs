//! Half-open ranges of an index of byte strings.

use super::latchless_bytes;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::{c_int, c_void};

/// What latchless_bytes_scan() calls: with a key and its value. The key is there until it returns. Not
/// zero: no more. It may use and change the index. No exception may leave it, and no longjmp.
pub type latchless_bytes_visitor = Option<
    unsafe extern "C-unwind" fn(
        key: *const c_void,
        key_len: usize,
        value: latchless_value,
        context: *mut c_void,
    ) -> c_int,
>;

/// How many keys there are from `begin` on and before `end`. An empty `begin` is the first key that can be;
/// for an `end_len` of LATCHLESS_NO_END there is no end. LATCHLESS_INVERTED_RANGE: `begin` is after `end`.
/// Looks at all leaves of the range.
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

/// Removes the keys of a range, which is as that of latchless_bytes_count(); `*removed`, which may be NULL,
/// gets how many they were. Not atomic as a whole.
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

/// Shows the entries of a range, which is as that of latchless_bytes_count(), to a function: ascending or,
/// if `descending` isn't 0, descending. LATCHLESS_STOPPED: it returned something else than 0.
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

/// Shows the entries whose keys begin with a prefix, ascending, to a function. LATCHLESS_STOPPED: it
/// returned something else than 0.
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

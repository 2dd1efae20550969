//! Batches on an index of byte strings: keys in, columns out.

use super::latchless_bytes;
use crate::batches::Done;
use crate::bytes::batches::PassedColumn;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Looks `count` keys up: the i-th has lens[i] bytes at keys[i]. found[i] gets 1 if it is there, and
/// values[i] its value; otherwise found[i] gets 0, and values[i] is as before. `*hits` gets how many are
/// there. `values`, `found` and `hits` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get_columns(
    index: *const latchless_bytes,
    keys: *const *const c_void,
    lens: *const usize,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_bytes_get_columns(index): bytes::batches::get_or_remove(Done::Looked, keys, values, found, hits))
}

/// As latchless_bytes_get_columns(), of packed keys: all their bytes are in one place, the i-th key from
/// offset i to offset i + 1. So there is one offset more than keys. The offsets are int32_t or int64_t, as
/// `offset_size` says, 4 or 8: the columns of Arrow's types Binary and Utf8, or LargeBinary and LargeUtf8,
/// are like that. LATCHLESS_INVALID: an offset is below zero, or below the one before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get_packed(
    index: *const latchless_bytes,
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_bytes_get_packed(index): bytes::batches::get_or_remove(Done::Looked, keys, values, found, hits))
}

/// Puts values[i] under the key of lens[i] bytes at keys[i]; of equal keys the last one's stays. Ascending
/// keys go in faster. `*new_keys` gets how many weren't there before. If memory is refused or a key is too
/// long, all others are done, refused[i] gets 1 for those that aren't, and `*new_keys` is as before;
/// otherwise refused[i] gets 0. `new_keys` and `refused` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_insert_columns(
    index: *const latchless_bytes,
    keys: *const *const c_void,
    lens: *const usize,
    values: *const latchless_value,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_bytes_insert_columns(index): bytes::batches::insert(keys, values, new_keys, refused))
}

/// As latchless_bytes_insert_columns(), of packed keys: see latchless_bytes_get_packed().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_insert_packed(
    index: *const latchless_bytes,
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    values: *const latchless_value,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_bytes_insert_packed(index): bytes::batches::insert(keys, values, new_keys, refused))
}

/// Removes keys; otherwise as latchless_bytes_get_columns().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove_columns(
    index: *const latchless_bytes,
    keys: *const *const c_void,
    lens: *const usize,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_bytes_remove_columns(index): bytes::batches::get_or_remove(Done::Removed, keys, values, found, hits))
}

/// Removes keys; otherwise as latchless_bytes_get_packed().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove_packed(
    index: *const latchless_bytes,
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_bytes_remove_packed(index): bytes::batches::get_or_remove(Done::Removed, keys, values, found, hits))
}

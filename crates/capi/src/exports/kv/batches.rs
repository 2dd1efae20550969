//! Batches on an index from byte strings to byte strings: keys in, values out in one buffer.

use super::latchless_kv;
use crate::bytes::batches::PassedColumn;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Looks `count` keys up: the i-th has lens[i] bytes at keys[i]. Their values go to `values` one after the
/// other, where there is room for `room` bytes: the i-th from value_offsets[i] to value_offsets[i + 1],
/// and nothing for a key that isn't there. So there is one offset more than keys, as in a column of
/// Arrow's type LargeBinary. found[i] gets 1 if the key is there, otherwise 0, and `*hits` how many are.
/// LATCHLESS_SMALL_ROOM: the values need value_offsets[count] bytes; all but `values`, which may have been
/// written in part, is as if there were room. Where `values` is NULL, no values are asked for.
/// `value_offsets`, if `values` is NULL, `found` and `hits` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_get_columns(
    index: *const latchless_kv,
    keys: *const *const c_void,
    lens: *const usize,
    count: usize,
    values: *mut c_void,
    room: usize,
    value_offsets: *mut i64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_kv_get_columns(index): bytes::gathered::get(keys, (values, room, value_offsets), found, hits))
}

/// As latchless_kv_get_columns(), of packed keys: see latchless_bytes_get_packed().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_get_packed(
    index: *const latchless_kv,
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    count: usize,
    values: *mut c_void,
    room: usize,
    value_offsets: *mut i64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_kv_get_packed(index): bytes::gathered::get(keys, (values, room, value_offsets), found, hits))
}

/// Puts the value of value_lens[i] bytes at values[i] under the key of lens[i] bytes at keys[i]; of equal
/// keys the last one's stays. Ascending keys go in faster. `*new_keys` gets how many weren't there before.
/// If memory is refused, or a key or a value is too long, all others are done, refused[i] gets 1 for those
/// that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_insert_columns(
    index: *const latchless_kv,
    keys: *const *const c_void,
    lens: *const usize,
    values: *const *const c_void,
    value_lens: *const usize,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    let values = PassedColumn::Apart { strings: values, lens: value_lens };
    serve!(latchless_kv_insert_columns(index): bytes::batches::insert(keys, values, new_keys, refused))
}

/// As latchless_kv_insert_columns(), of packed keys and values, whose offsets have one width: see
/// latchless_bytes_get_packed().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_insert_packed(
    index: *const latchless_kv,
    bytes: *const c_void,
    offsets: *const c_void,
    value_bytes: *const c_void,
    value_offsets: *const c_void,
    offset_size: usize,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    let values = PassedColumn::Packed { bytes: value_bytes, offsets: value_offsets, width: offset_size };
    serve!(latchless_kv_insert_packed(index): bytes::batches::insert(keys, values, new_keys, refused))
}

/// Removes `count` keys: the i-th has lens[i] bytes at keys[i]. found[i] gets 1 if it was there, otherwise
/// 0, and `*hits` how many were. Their values aren't told: see latchless_kv_remove(). `found` and `hits`
/// may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_remove_columns(
    index: *const latchless_kv,
    keys: *const *const c_void,
    lens: *const usize,
    count: usize,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_kv_remove_columns(index): bytes::gathered::remove(keys, found, hits))
}

/// As latchless_kv_remove_columns(), of packed keys: see latchless_bytes_get_packed().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_kv_remove_packed(
    index: *const latchless_kv,
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    count: usize,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_kv_remove_packed(index): bytes::gathered::remove(keys, found, hits))
}

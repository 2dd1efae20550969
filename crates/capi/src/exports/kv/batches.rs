//! Batches on an index from byte strings to byte strings: keys in, values out in one buffer.

use super::latchless_kv;
use crate::bytes::batches::PassedColumn;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Looks up `count` keys: the i-th has lens[i] bytes at keys[i]. The bytes of all values are written
/// contiguously, and the i-th value extends from value_offsets[i] to value_offsets[i + 1], as in an Arrow
/// column of the type LargeBinary. An absent key has an empty value.
///
/// \param[out] values receives the values' bytes; NULL if they aren't needed
/// \param room the number of bytes that fit at `values`
/// \param[out] value_offsets `count` + 1 offsets; may be NULL if `values` is
/// \param[out] found found[i] is 1 if the i-th key is present, otherwise 0; may be NULL
/// \param[out] hits the number of keys present; may be NULL
/// \retval LATCHLESS_SMALL_ROOM the values need value_offsets[count] bytes; `values` may have been written
///   in part, and the other answers are complete
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

/// Looks up packed keys, as latchless_kv_get_columns() does: see latchless_bytes_get_packed(). The
/// parameters for the answers are those of latchless_kv_get_columns().
///
/// \retval LATCHLESS_SMALL_ROOM the values need value_offsets[count] bytes; `values` may have been written
///   in part, and the other answers are complete
/// \retval LATCHLESS_INVALID an offset is less than 0 or less than the one before it
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

/// Stores the value of value_lens[i] bytes at values[i] under the key of lens[i] bytes at keys[i] for
/// `count` keys. Of equal keys the last one's value remains. Sorted keys are faster. If memory is refused
/// or a string is too long, all other entries are inserted.
///
/// \param[out] new_keys the number of keys that were absent, unchanged if an entry is refused; may be NULL
/// \param[out] refused refused[i] is 1 if the i-th entry wasn't inserted, otherwise 0; may be NULL
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

/// Inserts packed keys and values, as latchless_kv_insert_columns() does: see latchless_bytes_get_packed().
///
/// \param offset_size 4 or 8, for the offsets of both keys and values
/// \param[out] new_keys the number of keys that were absent, unchanged if an entry is refused; may be NULL
/// \param[out] refused refused[i] is 1 if the i-th entry wasn't inserted, otherwise 0; may be NULL
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

/// Removes `count` keys: the i-th has lens[i] bytes at keys[i]. To get the values that they had, use
/// latchless_kv_remove().
///
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0; may be NULL
/// \param[out] hits the number of keys removed; may be NULL
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

/// Removes packed keys, as latchless_kv_remove_columns() does: see latchless_bytes_get_packed().
///
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0; may be NULL
/// \param[out] hits the number of keys removed; may be NULL
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

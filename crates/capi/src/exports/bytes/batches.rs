//! Batches on an index of byte strings: keys in, columns out.

use super::latchless_bytes;
use crate::batches::Done;
use crate::bytes::batches::PassedColumn;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;
use core::ffi::c_void;

/// Looks up `count` keys: the i-th has lens[i] bytes at keys[i]. Much faster than single calls, because
/// memory accesses overlap.
///
/// \param[out] values values[i] is the value of the i-th key, and is unchanged if the key is absent; may be
///   NULL
/// \param[out] found found[i] is 1 if the i-th key is present, otherwise 0; may be NULL
/// \param[out] hits the number of keys present; may be NULL
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

/// Looks up `count` packed keys, as latchless_bytes_get_columns() does. The bytes of all keys are
/// contiguous, and the i-th key extends from offset i to offset i + 1, so there is one more offset than
/// keys. Arrow's columns of the types Binary and Utf8 (int32_t), LargeBinary and LargeUtf8 (int64_t) have
/// this layout.
///
/// \param offsets `count` + 1 of int32_t or int64_t
/// \param offset_size 4 for int32_t, 8 for int64_t
/// \param[out] values values[i] is the value of the i-th key, and is unchanged if the key is absent; may be
///   NULL
/// \param[out] found found[i] is 1 if the i-th key is present, otherwise 0; may be NULL
/// \param[out] hits the number of keys present; may be NULL
/// \retval LATCHLESS_INVALID an offset is less than 0 or less than the one before it
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

/// Stores values[i] under the key of lens[i] bytes at keys[i] for `count` keys. Of equal keys the last
/// one's value remains. Sorted keys are faster. If memory is refused or a key is too long, all other
/// entries are inserted.
///
/// \param[out] new_keys the number of keys that were absent, unchanged if a key is refused; may be NULL
/// \param[out] refused refused[i] is 1 if the i-th key wasn't inserted, otherwise 0; may be NULL
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

/// Inserts packed keys, as latchless_bytes_insert_columns() does: see latchless_bytes_get_packed().
///
/// \param[out] new_keys the number of keys that were absent, unchanged if a key is refused; may be NULL
/// \param[out] refused refused[i] is 1 if the i-th key wasn't inserted, otherwise 0; may be NULL
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

/// Removes `count` keys: the i-th has lens[i] bytes at keys[i].
///
/// \param[out] values values[i] is the value that the i-th key had, and is unchanged if it was absent; may
///   be NULL
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0; may be NULL
/// \param[out] hits the number of keys removed; may be NULL
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

/// Removes packed keys, as latchless_bytes_remove_columns() does: see latchless_bytes_get_packed().
///
/// \param[out] values values[i] is the value that the i-th key had, and is unchanged if it was absent; may
///   be NULL
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0; may be NULL
/// \param[out] hits the number of keys removed; may be NULL
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

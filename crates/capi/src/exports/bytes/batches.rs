//! Batches on an index of byte strings: columns of keys and values.

use super::life::latchless_bytes;
use crate::batches::{Done, get_or_remove};
use crate::bytes::gathered;
use crate::exports::{library::latchless_value, serve_strings};
use crate::handle::{Call, value_kind};
use crate::key::ByteStrings;
use crate::key::ValueKind::LATCHLESS_VALUE_BYTES;
use crate::status::latchless_status;
use crate::strings::latchless_column;
use core::ffi::c_void;

/// Looks up `count` keys. Much faster than single calls, because memory accesses overlap.
///
/// Values that are words are written as an array of latchless_value. The bytes of values that are byte
/// strings are written contiguously, the i-th one from value_offsets[i] to value_offsets[i + 1], as in an
/// Arrow column of the type LargeBinary: that of an absent key is empty.
/// \param room the number of bytes that fit at `values`
/// \param[out] value_offsets `count` + 1 offsets; may be NULL if `values` is, or if values are words
/// \param[out] found found[i] is 1 if the i-th key is present, otherwise 0
/// \param[out] hits the number of keys present
/// \retval LATCHLESS_SMALL_ROOM words need 8 * `count` bytes, and nothing is written; byte strings need
///   value_offsets[count] bytes, `values` may have been written in part, and the other answers are
///   complete
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_get_columns(
    index: *const latchless_bytes,
    keys: *const latchless_column,
    count: usize,
    values: *mut c_void,
    room: usize,
    value_offsets: *mut i64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let (keys, to, name) = ((keys, count), (values, room, value_offsets), "latchless_bytes_get_columns");
    // SAFETY: the caller keeps to what is said at the head of the header.
    unsafe {
        match value_kind(index) {
            LATCHLESS_VALUE_BYTES => gathered::get(Call::new(name, index), keys, to, found, hits),
            _ => gathered::get_words(Call::new(name, index), keys, to, found, hits),
        }
    }
}

/// Stores the i-th value under the i-th key for `count` keys. Of equal keys the last one's value
/// remains. Sorted keys are faster. If memory is refused or a string is too long, all other entries are
/// inserted.
/// \param[out] new_keys the number of keys that were absent, unchanged if an entry is refused
/// \param[out] refused refused[i] is 1 if the i-th entry wasn't inserted, otherwise 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_insert_columns(
    index: *const latchless_bytes,
    keys: *const latchless_column,
    values: *const latchless_column,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    serve_strings!(latchless_bytes_insert_columns(index): batches::insert((keys, values), count, new_keys, refused))
}

/// Removes `count` keys.
/// \param[out] values values[i] is the word that the i-th key had; NULL if values are byte strings,
///   which latchless_bytes_remove() returns one by one
/// \param[out] found found[i] is 1 if the i-th key was present, otherwise 0
/// \param[out] hits the number of keys removed
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_remove_columns(
    index: *const latchless_bytes,
    keys: *const latchless_column,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let (keys, name) = ((keys, count), "latchless_bytes_remove_columns");
    // SAFETY: the caller keeps to what is said at the head of the header.
    unsafe {
        match value_kind(index) {
            LATCHLESS_VALUE_BYTES => gathered::remove(Call::new(name, index), keys, values, found, hits),
            _ => get_or_remove::<ByteStrings<u64>>(
                Call::new(name, index),
                Done::Removed,
                keys,
                values,
                found,
                hits,
            ),
        }
    }
}

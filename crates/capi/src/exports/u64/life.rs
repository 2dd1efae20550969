//! Making and freeing indexes of `u64`, and operations on a whole index.

use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::{Key, KeyType};
use crate::options::latchless_options;
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use core::ffi::c_char;
use core::ptr;

/// An ordered index whose keys are of the type u64.
pub struct latchless_u64(());

/// A position in a range of an index of u64. One thread at a time may use it; a second one gets
/// LATCHLESS_BUSY.
pub struct latchless_u64_cursor(());

impl Handle for latchless_u64 {
    const NAME: &'static str = "latchless_u64";
    type Keys = KeyType;
    const KEYS: KeyType = u64::TYPE;
}

impl Handle for latchless_u64_cursor {
    const NAME: &'static str = "latchless_u64_cursor";
    type Keys = KeyType;
    const KEYS: KeyType = u64::TYPE;
}

/// Creates an empty index.
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_new(
    options: *const latchless_options,
    out: *mut *mut latchless_u64,
) -> latchless_status {
    serve!(latchless_u64_new(ptr::null::<latchless_u64>()): life::new(options, out.cast()))
}

/// Creates an index from columns: values[i] is stored under keys[i]. The keys must be ascending and
/// distinct. Much faster than inserting the same entries.
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails; then latchless_last_error() names the position at
///   fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_bulk_load(
    keys: *const u64,
    values: *const latchless_value,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_u64,
) -> latchless_status {
    serve!(latchless_u64_bulk_load(ptr::null::<latchless_u64>()): life::bulk_load(keys.cast(), values, count, options, out.cast()))
}

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must have this
/// type, and its values 64 bits.
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_u64,
) -> latchless_status {
    serve!(latchless_u64_open(ptr::null::<latchless_u64>()): files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key` and `value`. The file at `path` is replaced
/// in one step; if the call fails, it is unchanged. A symbolic link is followed, and permissions are kept.
/// Other threads may use and change the index meanwhile; an entry that they change is saved in one of its
/// states.
///
/// \param[out] entries the number of entries saved; may be NULL
/// \retval LATCHLESS_IO the file can't be written, or `path` names something other than a file
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_save(
    index: *const latchless_u64,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve!(latchless_u64_save(index): files::save(path, entries))
}

/// Frees an index, which may be NULL. No other thread may be using it. Cursors of it stay valid and keep
/// its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_free(index: *mut latchless_u64) -> latchless_status {
    serve!(latchless_u64_free(index): handle::free_index())
}

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_len(index: *const latchless_u64, len: *mut usize) -> latchless_status {
    serve!(latchless_u64_len(index): life::len(len))
}

/// Removes all keys, not atomically as a whole. The index keeps its memory for later inserts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_clear(index: *const latchless_u64) -> latchless_status {
    serve!(latchless_u64_clear(index): life::clear())
}

/// Gets the memory use, the number of nodes and their fill. Reads every node; approximate if threads change
/// the index meanwhile.
///
/// \param[in,out] stats its `struct_size` must be set
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_stats(
    index: *const latchless_u64,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_u64_stats(index): life::stats(stats))
}

/// Checks every node. Meant for tests. No thread may be changing the index.
///
/// \retval LATCHLESS_BROKEN an invariant doesn't hold, which is a bug of the library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_u64_check_invariants(index: *const latchless_u64) -> latchless_status {
    serve!(latchless_u64_check_invariants(index): life::check_invariants())
}

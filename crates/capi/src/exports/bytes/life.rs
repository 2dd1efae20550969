//! Making and freeing indexes of byte strings, and operations on a whole index.

use crate::bytes::KEY_MAX;
use crate::bytes::batches::PassedColumn;
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::ByteStrings;
use crate::options::latchless_options;
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use core::ffi::{c_char, c_void};
use core::ptr;

/// The largest number of bytes in a key. A longer key can be looked up, but is never present.
pub const LATCHLESS_KEY_MAX: usize = 65535;

const _: () = assert!(LATCHLESS_KEY_MAX == KEY_MAX);

/// An ordered index whose keys are byte strings and whose values have 64 bits.
pub struct latchless_bytes(());

impl Handle for latchless_bytes {
    const NAME: &'static str = "latchless_bytes";
    type Keys = ByteStrings;
    const KEYS: ByteStrings = ByteStrings::NEW;
}

/// Creates an empty index.
///
/// \param options NULL for the defaults; `threads` and `group` are ignored
/// \param[out] out the index, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_new(
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    serve!(latchless_bytes_new(ptr::null::<latchless_bytes>()): life::new(options, out.cast()))
}

/// Creates an index: values[i] is stored under the key of lens[i] bytes at keys[i]. The keys must be
/// ascending and distinct. Much faster than inserting the same entries.
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails; then latchless_last_error() names the position at
///   fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_bulk_load(
    keys: *const *const c_void,
    lens: *const usize,
    values: *const latchless_value,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    let keys = (PassedColumn::Apart { strings: keys, lens }, count);
    serve!(latchless_bytes_bulk_load(ptr::null::<latchless_bytes>()): bytes::batches::bulk_load(keys, values, options, out.cast()))
}

/// Creates an index from packed keys, as latchless_bytes_bulk_load() does: see
/// latchless_bytes_get_packed().
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails; then latchless_last_error() names the position at
///   fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_bulk_load_packed(
    bytes: *const c_void,
    offsets: *const c_void,
    offset_size: usize,
    values: *const latchless_value,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    let keys = (PassedColumn::Packed { bytes, offsets, width: offset_size }, count);
    serve!(latchless_bytes_bulk_load_packed(ptr::null::<latchless_bytes>()): bytes::batches::bulk_load(keys, values, options, out.cast()))
}

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must be byte
/// strings or texts, and its values numbers of 64 bits.
///
/// \param options NULL for the defaults
/// \param[out] out the index, or NULL if the call fails
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    serve!(latchless_bytes_open(ptr::null::<latchless_bytes>()): bytes::files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key`, of the type Binary, and `value`. The file at
/// `path` is replaced in one step; if the call fails, it is unchanged. A symbolic link is followed, and
/// permissions are kept. Other threads may use and change the index meanwhile; an entry that they change is
/// saved in one of its states.
///
/// \param[out] entries the number of entries saved; may be NULL
/// \retval LATCHLESS_IO the file can't be written, or `path` names something other than a file
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_save(
    index: *const latchless_bytes,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_save(index): bytes::files::save(path, entries))
}

/// Frees an index, which may be NULL. No other thread may be using it. Cursors of it stay valid and keep
/// its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_free(index: *mut latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_free(index): handle::free_index())
}

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_len(
    index: *const latchless_bytes,
    len: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_len(index): life::len(len))
}

/// Gets the bytes that the index holds for keys, values and nodes. Takes constant time.
///
/// \param[out] held all bytes that the index holds; may be NULL
/// \param[out] live those of them that are in use; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_memory_bytes(
    index: *const latchless_bytes,
    held: *mut usize,
    live: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_memory_bytes(index): life::memory_bytes(held, live))
}

/// Removes all keys one by one, not atomically as a whole. The index keeps its memory for later inserts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_clear(index: *const latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_clear(index): life::clear())
}

/// Gets the memory use, the number of nodes and their fill. Reads every node; approximate if threads change
/// the index meanwhile. `misled` is 0.
///
/// \param[in,out] stats its `struct_size` must be set
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_stats(
    index: *const latchless_bytes,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_bytes_stats(index): life::stats(stats))
}

/// Checks every node. Meant for tests. No thread may be changing the index.
///
/// \retval LATCHLESS_BROKEN an invariant doesn't hold, which is a bug of the library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_check_invariants(index: *const latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_check_invariants(index): life::check_invariants())
}

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

/// The most bytes that a key of an index has. A longer one can be asked for, but isn't there.
pub const LATCHLESS_KEY_MAX: usize = 65535;

const _: () = assert!(LATCHLESS_KEY_MAX == KEY_MAX);

/// An ordered index from byte strings to values.
pub struct latchless_bytes(());

impl Handle for latchless_bytes {
    const NAME: &'static str = "latchless_bytes";
    type Keys = ByteStrings;
    const KEYS: ByteStrings = ByteStrings::NEW;
}

/// Makes an empty index. `options` may be NULL; `threads` and `group` make no difference. `*out` is NULL if
/// that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_new(
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    serve!(latchless_bytes_new(ptr::null::<latchless_bytes>()): life::new(options, out.cast()))
}

/// Makes an index: values[i] goes under the key of lens[i] bytes at keys[i]. Keys must ascend and differ.
/// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails.
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

/// As latchless_bytes_bulk_load(), of packed keys: see latchless_bytes_get_packed().
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

/// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
/// are byte strings or texts and its values are numbers of 64 bits. `options` may be NULL. `*out` is NULL if
/// that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    serve!(latchless_bytes_open(ptr::null::<latchless_bytes>()): bytes::files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key`, of type Binary, and `value`. What is at
/// `path` is replaced in one step, or left as it was if the call fails. The file that a symbolic link leads
/// to is replaced; the permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other
/// threads may use and change the index meanwhile; entries that they change are saved in one of their
/// states. `entries`, which may be NULL, gets how many were saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_save(
    index: *const latchless_bytes,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_save(index): bytes::files::save(path, entries))
}

/// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
/// its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_free(index: *mut latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_free(index): handle::free_index())
}

/// How many keys there are. Exact when no thread is changing that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_len(
    index: *const latchless_bytes,
    len: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_len(index): life::len(len))
}

/// Bytes that the index holds, and those of them that are in use, for keys and values. Takes no longer for a
/// large index. `held` and `live` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_memory_bytes(
    index: *const latchless_bytes,
    held: *mut usize,
    live: *mut usize,
) -> latchless_status {
    serve!(latchless_bytes_memory_bytes(index): life::memory_bytes(held, live))
}

/// Removes all keys, one after the other. Not atomic as a whole. Memory is kept for what comes next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_clear(index: *const latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_clear(index): life::clear())
}

/// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
/// change the index. `misled` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_stats(
    index: *const latchless_bytes,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_bytes_stats(index): life::stats(stats))
}

/// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
/// thread is changing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_check_invariants(index: *const latchless_bytes) -> latchless_status {
    serve!(latchless_bytes_check_invariants(index): life::check_invariants())
}

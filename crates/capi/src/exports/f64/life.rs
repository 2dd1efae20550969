//! Making and freeing indexes of `f64`, and operations on a whole index.

use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::Handle;
use crate::key::{Key, KeyType};
use crate::options::latchless_options;
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use core::ffi::c_char;
use core::ptr;

/// An ordered index from keys of the type f64 to values.
pub struct latchless_f64(());

/// A place in a range of such an index.
pub struct latchless_f64_cursor(());

impl Handle for latchless_f64 {
    const NAME: &'static str = "latchless_f64";
    type Keys = KeyType;
    const KEYS: KeyType = f64::TYPE;
}

impl Handle for latchless_f64_cursor {
    const NAME: &'static str = "latchless_f64_cursor";
    type Keys = KeyType;
    const KEYS: KeyType = f64::TYPE;
}

/// Makes an empty index. `options` may be NULL. `*out` is NULL if that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_new(
    options: *const latchless_options,
    out: *mut *mut latchless_f64,
) -> latchless_status {
    serve!(latchless_f64_new(ptr::null::<latchless_f64>()): life::new(options, out.cast()))
}

/// Makes an index of columns: each value goes under the key at its place. Keys must ascend and differ.
/// Takes a fraction of the time of inserts. `options` may be NULL. `*out` is NULL if that fails; the
/// message names the position at fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_bulk_load(
    keys: *const f64,
    values: *const latchless_value,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_f64,
) -> latchless_status {
    serve!(latchless_f64_bulk_load(ptr::null::<latchless_f64>()): life::bulk_load(keys.cast(), values, count, options, out.cast()))
}

/// Makes an index of a file that a save has written, here or by the library for Rust or Python, if its keys
/// are of this type and its values have 64 bits. `options` may be NULL. `*out` is NULL if that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_f64,
) -> latchless_status {
    serve!(latchless_f64_open(ptr::null::<latchless_f64>()): files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key` and `value`. What is at `path` is replaced in
/// one step, or left as it was if the call fails. The file that a symbolic link leads to is replaced; the
/// permissions stay. What is there and no file is refused with `LATCHLESS_IO`. Other threads may use and
/// change the index meanwhile; entries that they change are saved in one of their states. `entries`, which
/// may be NULL, gets how many were saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_save(
    index: *const latchless_f64,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_save(index): files::save(path, entries))
}

/// Frees an index, unless `index` is NULL. No other thread may be using it. Cursors of it go on, and keep
/// its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_free(index: *mut latchless_f64) -> latchless_status {
    serve!(latchless_f64_free(index): handle::free_index())
}

/// How many keys there are. Exact when no thread is changing that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_len(index: *const latchless_f64, len: *mut usize) -> latchless_status {
    serve!(latchless_f64_len(index): life::len(len))
}

/// Removes all keys. Not atomic as a whole. Memory is kept for what comes next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_clear(index: *const latchless_f64) -> latchless_status {
    serve!(latchless_f64_clear(index): life::clear())
}

/// Memory, nodes, fill. Set stats->struct_size first. Looks at every node; about right while other threads
/// change the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_stats(
    index: *const latchless_f64,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_f64_stats(index): life::stats(stats))
}

/// Looks at every node and says what is broken, if anything is: a bug of the library. For an index that no
/// thread is changing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_check_invariants(index: *const latchless_f64) -> latchless_status {
    serve!(latchless_f64_check_invariants(index): life::check_invariants())
}

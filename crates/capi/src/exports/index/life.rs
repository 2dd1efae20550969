//! Making and freeing indexes of words, and operations on a whole index.

use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::handle::{Handle, Named};
use crate::key::WordKeys;
use crate::options::latchless_options;
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use core::ffi::c_char;
use core::ptr;

/// An ordered index whose keys are words, and whose values are a latchless_value each. The functions
/// latchless_key_from_i64() and others encode keys as words of the same order, as `key_kind` says.
pub struct latchless_index(());

/// A position in a range of a latchless_index, with the rules of a latchless_bytes_cursor.
pub struct latchless_index_cursor(());

impl Named for latchless_index {
    const NAME: &'static str = "latchless_index";
}

impl Named for latchless_index_cursor {
    const NAME: &'static str = "latchless_index_cursor";
}

impl Handle<WordKeys> for latchless_index {}
impl Handle<WordKeys> for latchless_index_cursor {}

/// Creates an empty index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_new(
    options: *const latchless_options,
    out: *mut *mut latchless_index,
) -> latchless_status {
    serve!(latchless_index_new(ptr::null::<latchless_index>()): life::new(options, out.cast()))
}

/// Creates an index from columns: values[i] is stored under keys[i]. The keys must be ascending and
/// distinct; if they aren't, latchless_last_error() names the position. Much faster than inserting the
/// same entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_bulk_load(
    keys: *const u64,
    values: *const latchless_value,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_index,
) -> latchless_status {
    serve!(latchless_index_bulk_load(ptr::null::<latchless_index>()): batches::bulk_load((keys, values), count, options, out.cast()))
}

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must be of
/// the option `key_kind`, and its values of 64 bits. LATCHLESS_KEY_I64 takes times and durations, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_index,
) -> latchless_status {
    serve!(latchless_index_open(ptr::null::<latchless_index>()): files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key`, whose type is that of the index's
/// `key_kind`, and `value`. The file at `path` is replaced in one step; if the call fails, it is
/// unchanged. A symbolic link is followed, and permissions are kept. Other threads may use and change
/// the index meanwhile; an entry that they change is saved in one of its states.
/// \param[out] entries the number of entries saved
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_save(
    index: *const latchless_index,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve!(latchless_index_save(index): files::save(path, entries))
}

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_free(index: *mut latchless_index) -> latchless_status {
    serve!(latchless_index_free(index): handle::free_index())
}

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_len(
    index: *const latchless_index,
    len: *mut usize,
) -> latchless_status {
    serve!(latchless_index_len(index): life::len(len))
}

/// Gets the bytes that the index holds and those in use, as latchless_stats has them, but at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_memory_bytes(
    index: *const latchless_index,
    memory_bytes: *mut usize,
    live_bytes: *mut usize,
) -> latchless_status {
    serve!(latchless_index_memory_bytes(index): life::memory_bytes(memory_bytes, live_bytes))
}

/// Removes all keys, not atomically as a whole. The index keeps its memory for later inserts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_clear(index: *const latchless_index) -> latchless_status {
    serve!(latchless_index_clear(index): life::clear())
}

/// Moves all entries to new nodes, each filled to this share, from 0.01 to 1.0, and returns the memory of the
/// old ones to the system: after many removals. Both are held for a moment; if memory for that is refused,
/// nothing changes. No other thread may use the index meanwhile, and no cursor of it may be there:
/// LATCHLESS_BUSY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_shrink(index: *mut latchless_index, fill: f64) -> latchless_status {
    serve!(latchless_index_shrink(index): life::shrink(fill))
}

/// Gets the memory use, the number of nodes and their fill. Reads every node; approximate if threads
/// change the index meanwhile.
/// \param[in,out] stats its `struct_size` must be set
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_stats(
    index: *const latchless_index,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_index_stats(index): life::stats(stats))
}

/// Checks every node. Meant for tests. No thread may be changing the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_index_check_invariants(index: *const latchless_index) -> latchless_status {
    serve!(latchless_index_check_invariants(index): life::check_invariants())
}

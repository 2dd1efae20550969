//! Indexes whose keys are byte strings that have many rows.

use crate::handle::{Handle, Named};
use crate::key::RowKeys;
use crate::multi::Pair;
use crate::options::latchless_options;
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use crate::strings::latchless_column;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;

/// An ordered set of pairs of a byte string, the key, and a row, which is 64 bits: a key may have any
/// number of rows, as in a secondary index. The order is that of keys, and of the rows of a key.
pub struct latchless_multi(());

/// A position in a latchless_multi, with the rules of a latchless_bytes_cursor.
pub struct latchless_multi_cursor(());

impl Named for latchless_multi {
    const NAME: &'static str = "latchless_multi";
}

impl Named for latchless_multi_cursor {
    const NAME: &'static str = "latchless_multi_cursor";
}

impl Handle<RowKeys> for latchless_multi {}
impl Handle<RowKeys> for latchless_multi_cursor {}

/// A callback of latchless_multi_scan(), with the rules of a latchless_bytes_visitor.
pub type latchless_multi_visitor = Option<
    unsafe extern "C-unwind" fn(key: *const c_void, key_len: usize, row: u64, context: *mut c_void) -> c_int,
>;

/// Serves a call for pairs by a function of this crate whose safety contract is the header's.
macro_rules! serve {
    ($name:ident($handle:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        let call = $crate::handle::Call::<RowKeys>::new(stringify!($name), $handle);
        // SAFETY: the caller keeps to what is said at the head of the header.
        unsafe { $crate::$($place)::+(call, $($argument),*) }
    }};
}

/// Creates an empty index. Of the options, those are ignored that latchless_bytes_new() ignores.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_new(
    options: *const latchless_options,
    out: *mut *mut latchless_multi,
) -> latchless_status {
    serve!(latchless_multi_new(ptr::null::<latchless_multi>()): life::new(options, out.cast()))
}

/// Creates an index of `count` pairs, ascending and distinct: rows[i] is one of the i-th key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_bulk_load(
    keys: *const latchless_column,
    rows: *const u64,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_multi,
) -> latchless_status {
    serve!(latchless_multi_bulk_load(ptr::null::<latchless_multi>()): multi::bulk_load((keys, count), rows, options, out.cast()))
}

/// Creates an index from a file of byte strings or texts with rows, saved from any language.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_multi,
) -> latchless_status {
    serve!(latchless_multi_open(ptr::null::<latchless_multi>()): multi::open(path, options, out.cast()))
}

/// Writes all pairs to an Arrow file with the columns `key` and `row`, as latchless_index_save() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_save(
    index: *const latchless_multi,
    path: *const c_char,
    pairs: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_save(index): multi::save(path, pairs))
}

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_free(index: *mut latchless_multi) -> latchless_status {
    serve!(latchless_multi_free(index): handle::free_index())
}

/// Gets the number of pairs. Exact if no thread inserts or removes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_len(
    index: *const latchless_multi,
    len: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_len(index): life::len(len))
}

/// Gets the number of keys that have a row. Passes over most rows of keys that have many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_distinct_keys(
    index: *const latchless_multi,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_distinct_keys(index): multi::distinct_keys(count))
}

/// Gets the bytes that the index holds: see latchless_index_memory_bytes().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_memory_bytes(
    index: *const latchless_multi,
    memory_bytes: *mut usize,
    live_bytes: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_memory_bytes(index): life::memory_bytes(memory_bytes, live_bytes))
}

/// Removes all pairs, as latchless_bytes_clear() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_clear(index: *const latchless_multi) -> latchless_status {
    serve!(latchless_multi_clear(index): life::clear())
}

/// Returns the memory of removed pairs to the system: see latchless_index_shrink().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_shrink(index: *mut latchless_multi, fill: f64) -> latchless_status {
    serve!(latchless_multi_shrink(index): life::shrink(fill))
}

/// Gets what latchless_bytes_stats() gets; `entries` are pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_stats(
    index: *const latchless_multi,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve!(latchless_multi_stats(index): life::stats(stats))
}

/// Checks every node. Meant for tests. No thread may be changing the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_check_invariants(index: *const latchless_multi) -> latchless_status {
    serve!(latchless_multi_check_invariants(index): life::check_invariants())
}

/// Tests whether a key has any row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_contains_key(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
) -> latchless_status {
    serve!(latchless_multi_contains_key(index): multi::contains_key((key, key_len)))
}

/// Tests whether a key has this row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_contains(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    row: u64,
) -> latchless_status {
    serve!(latchless_multi_contains(index): multi::pair(Pair::Contains, (key, key_len), row))
}

/// Adds a row to a key.
/// \retval LATCHLESS_PRESENT the key has the row already
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_insert(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    row: u64,
) -> latchless_status {
    serve!(latchless_multi_insert(index): multi::pair(Pair::Insert, (key, key_len), row))
}

/// Removes a row from a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_remove(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    row: u64,
) -> latchless_status {
    serve!(latchless_multi_remove(index): multi::pair(Pair::Remove, (key, key_len), row))
}

/// Removes all rows of a key, not atomically as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_remove_all(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_remove_all(index): multi::remove_all((key, key_len), removed))
}

/// Copies rows of a key, in ascending order.
/// \param least the smallest row to copy: 0, or one more than the last row of the page before
/// \param room the number of rows to copy at most, 1 or more
/// \param[out] filled the number of rows copied
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_rows(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    least: u64,
    rows: *mut u64,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_rows(index): multi::get((key, key_len), least, rows, room, filled))
}

/// Counts the rows of a key. Reads every leaf that has some.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_count_rows(
    index: *const latchless_multi,
    key: *const c_void,
    key_len: usize,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_count_rows(index): multi::count_rows((key, key_len), count))
}

/// Adds rows[i] to the i-th key for `count` keys. If memory is refused or a key is too long, all other
/// pairs are inserted. The answers are those of latchless_bytes_insert_columns(), for pairs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_insert_columns(
    index: *const latchless_multi,
    keys: *const latchless_column,
    rows: *const u64,
    count: usize,
    new_pairs: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    serve!(latchless_multi_insert_columns(index): multi::insert_columns((keys, count), rows, new_pairs, refused))
}

/// Counts the pairs of a range of keys. Reads every leaf of the range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_count(
    index: *const latchless_multi,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    count: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_count(index): multi::count((begin, begin_len), (end, end_len), count))
}

/// Removes the pairs of a range of keys, not atomically as a whole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_remove_range(
    index: *const latchless_multi,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    removed: *mut usize,
) -> latchless_status {
    serve!(latchless_multi_remove_range(index): multi::remove_range((begin, begin_len), (end, end_len), removed))
}

/// Passes the pairs of a range of keys to a function, as latchless_bytes_scan() does in ascending order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_scan(
    index: *const latchless_multi,
    begin: *const c_void,
    begin_len: usize,
    end: *const c_void,
    end_len: usize,
    visitor: latchless_multi_visitor,
    context: *mut c_void,
) -> latchless_status {
    serve!(latchless_multi_scan(index): multi::scan(((begin, begin_len), (end, end_len)), visitor, context))
}

/// Creates a cursor before the first pair. It copies some pairs at a time, and may outlive the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_cursor_new(
    index: *const latchless_multi,
    out: *mut *mut latchless_multi_cursor,
) -> latchless_status {
    serve!(latchless_multi_cursor_new(index): multi::cursor_new(out))
}

/// Moves a cursor and gets the pair that it is on then, as latchless_bytes_cursor_move() does.
/// \param key with `row` the pair that LATCHLESS_SEEK and LATCHLESS_SEEK_FOR_PREV move to
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_cursor_move(
    cursor: *mut latchless_multi_cursor,
    movement: u32,
    key: *const c_void,
    key_len: usize,
    row: u64,
    near_key: *mut *const c_void,
    near_key_len: *mut usize,
    near_row: *mut u64,
) -> latchless_status {
    serve!(latchless_multi_cursor_move(cursor): multi::cursor_move(movement, ((key, key_len), row), (near_key, near_key_len), near_row))
}

/// Frees a cursor, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_multi_cursor_free(
    cursor: *mut latchless_multi_cursor,
) -> latchless_status {
    serve!(latchless_multi_cursor_free(cursor): handle::free_cursor())
}

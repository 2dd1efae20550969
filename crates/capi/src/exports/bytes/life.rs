//! Making and freeing indexes of byte strings, and operations on a whole index.

use crate::exports::{of_kind, serve_strings};
use crate::family::Family;
use crate::handle::{Handle, Named};
use crate::key::ByteStrings;
use crate::options::{self, latchless_options};
use crate::place::{KEY_MAX, VALUE_MAX};
use crate::stats::latchless_stats;
use crate::status::latchless_status;
use crate::strings::latchless_column;
use core::ffi::c_char;
use core::ptr;

/// The largest number of bytes in a key. A longer key can be looked up, but is never present.
pub const LATCHLESS_KEY_MAX: usize = 65535;

/// The largest number of bytes in a value that is a byte string.
pub const LATCHLESS_VALUE_MAX: usize = 65535;

const _: () = assert!(LATCHLESS_KEY_MAX == KEY_MAX && LATCHLESS_VALUE_MAX == VALUE_MAX);

/// An ordered index whose keys are byte strings. The option `value_kind` says what its values are: by
/// default words, each a latchless_value that is passed as its eight bytes; or byte strings. Those of up to
/// 192 bytes are stored beside their keys; each 248 bytes of a longer one cost a lookup one more cache miss.
pub struct latchless_bytes(());

/// A position in a latchless_bytes: on an entry, before the first one, or after the last one. One thread at a
/// time may use it; a second one gets LATCHLESS_BUSY.
pub struct latchless_bytes_cursor(());

impl Named for latchless_bytes {
    const NAME: &'static str = "latchless_bytes";
}

impl Named for latchless_bytes_cursor {
    const NAME: &'static str = "latchless_bytes_cursor";
}

impl<V> Handle<ByteStrings<V>> for latchless_bytes where ByteStrings<V>: Family {}
impl<V> Handle<ByteStrings<V>> for latchless_bytes_cursor where ByteStrings<V>: Family {}

/// Serves a call that makes an index with these options.
macro_rules! made_strings {
    ($name:ident($options:expr): $($place:ident)::+($($argument:expr),* $(,)?)) => {{
        // SAFETY: the caller keeps to what is said at the head of the header.
        let kind = unsafe { options::value_kind($options) };
        of_kind!(kind, $name(ptr::null::<latchless_bytes>()): $($place)::+($($argument),*))
    }};
}

/// Creates an empty index. The options `threads` and `group` are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_new(
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    made_strings!(latchless_bytes_new(options): life::new(options, out.cast()))
}

/// Creates an index of `count` keys and values, as latchless_index_bulk_load() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_bulk_load(
    keys: *const latchless_column,
    values: *const latchless_column,
    count: usize,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    made_strings!(latchless_bytes_bulk_load(options): batches::bulk_load((keys, values), count, options, out.cast()))
}

/// Creates an index from a file that was saved from C, C++, Rust or Python. The file's keys must be byte
/// strings or texts. Its values must be of the option `value_kind`: numbers of 64 bits, or such strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_open(
    path: *const c_char,
    options: *const latchless_options,
    out: *mut *mut latchless_bytes,
) -> latchless_status {
    made_strings!(latchless_bytes_open(options): bytes::files::open(path, options, out.cast()))
}

/// Writes all entries to an Arrow file with the columns `key`, of the type Binary, and `value`, of the
/// type UInt64 or Binary, as latchless_index_save() does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_save(
    index: *const latchless_bytes,
    path: *const c_char,
    entries: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_save(index): bytes::files::save(path, entries))
}

/// Frees an index, which may be NULL. Cursors of it stay valid and keep its memory until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_free(index: *mut latchless_bytes) -> latchless_status {
    serve_strings!(latchless_bytes_free(index): handle::free_index())
}

/// Gets the number of keys. Exact if no thread inserts or removes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_len(
    index: *const latchless_bytes,
    len: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_len(index): life::len(len))
}

/// Gets the bytes that the index holds: see latchless_index_memory_bytes().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_memory_bytes(
    index: *const latchless_bytes,
    memory_bytes: *mut usize,
    live_bytes: *mut usize,
) -> latchless_status {
    serve_strings!(latchless_bytes_memory_bytes(index): life::memory_bytes(memory_bytes, live_bytes))
}

/// Removes all keys one by one, not atomically as a whole. The index keeps its memory for later inserts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_clear(index: *const latchless_bytes) -> latchless_status {
    serve_strings!(latchless_bytes_clear(index): life::clear())
}

/// Returns the memory of removed keys to the system: see latchless_index_shrink().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_shrink(index: *mut latchless_bytes, fill: f64) -> latchless_status {
    serve_strings!(latchless_bytes_shrink(index): life::shrink(fill))
}

/// Gets the memory use, the number of nodes and their fill: see latchless_index_stats(). `misled` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_stats(
    index: *const latchless_bytes,
    stats: *mut latchless_stats,
) -> latchless_status {
    serve_strings!(latchless_bytes_stats(index): life::stats(stats))
}

/// Checks every node. Meant for tests. No thread may be changing the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_bytes_check_invariants(index: *const latchless_bytes) -> latchless_status {
    serve_strings!(latchless_bytes_check_invariants(index): life::check_invariants())
}

//! Batches on an index of `f64`: columns in, columns out.

use super::latchless_f64;
use crate::batches::Done;
use crate::entries::{Near, NearNumber};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::status::latchless_status;

/// Looks `count` keys up. found[i] gets 1 if keys[i] is there, and values[i] its value; otherwise found[i]
/// gets 0, and values[i] is as before. `*hits` gets how many are there. `values`, `found` and `hits` may be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_get_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_get_columns(index): batches::get_or_remove(Done::Looked, keys.cast(), count, values, found, hits))
}

/// Puts values[i] under keys[i]; of equal keys the last one's stays. Ascending keys go in faster. `*new_keys`
/// gets how many weren't there before. If memory is refused, all others are done, refused[i] gets 1 for
/// those that aren't, and `*new_keys` is as before; otherwise refused[i] gets 0. `new_keys` and `refused` may
/// be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_insert_columns(
    index: *const latchless_f64,
    keys: *const f64,
    values: *const latchless_value,
    count: usize,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    serve!(latchless_f64_insert_columns(index): batches::insert(keys.cast(), values, count, new_keys, refused))
}

/// Removes keys; otherwise as latchless_f64_get_columns().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_remove_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_remove_columns(index): batches::get_or_remove(Done::Removed, keys.cast(), count, values, found, hits))
}

/// For each key the entry with the largest key that is equal or smaller; near_keys[i] and values[i] get it,
/// and are as before where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be
/// NULL, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_floor_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_floor_columns(index): batches::near(Near::Floor, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// For each key the entry with the smallest key that is equal or larger; near_keys[i] and values[i] get it,
/// and are as before where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be
/// NULL, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_ceiling_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_ceiling_columns(index): batches::near(Near::Ceiling, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// For each key the entry with the largest smaller key; near_keys[i] and values[i] get it, and are as before
/// where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be NULL, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_lower_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_lower_columns(index): batches::near(Near::Lower, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// For each key the entry with the smallest larger key; near_keys[i] and values[i] get it, and are as before
/// where there is none. Otherwise as latchless_f64_get_columns(); `near_keys` may be NULL, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_higher_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_higher_columns(index): batches::near(Near::Higher, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// Of each key the nearest entry, on whichever side, as latchless_f64_nearest; otherwise as
/// latchless_f64_floor_columns. Each answer is of one moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_nearest_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    near_keys: *mut f64,
    values: *mut latchless_value,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_nearest_columns(index): batches::near(NearNumber::Nearest, keys.cast(), count, near_keys.cast(), values, found, hits))
}

/// ranks[i] gets how many keys are smaller than keys[i].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_rank_columns(
    index: *const latchless_f64,
    keys: *const f64,
    count: usize,
    ranks: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_rank_columns(index): batches::ranks(keys.cast(), count, ranks))
}

/// counts[i] gets how many keys there are from low[i] to high[i], both included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_count_columns(
    index: *const latchless_f64,
    low: *const f64,
    high: *const f64,
    count: usize,
    counts: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_count_columns(index): batches::counts(low.cast(), high.cast(), count, counts))
}

//! Entries of an index of `f64` by their place in its order.

use super::latchless_f64;
use crate::entries::{End, Near, NearNumber};
use crate::exports::library::latchless_value;
use crate::exports::serve;
use crate::key::Key;
use crate::status::latchless_status;

/// Gets the entry with the smallest key.
///
/// \param[out] key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty; `*key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_first(
    index: *const latchless_f64,
    key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_first(index): entries::end(End::First, key.cast(), value))
}

/// Gets the entry with the largest key.
///
/// \param[out] key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty; `*key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_last(
    index: *const latchless_f64,
    key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_last(index): entries::end(End::Last, key.cast(), value))
}

/// Removes the entry with the smallest key, in one atomic step.
///
/// \param[out] key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty; `*key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_pop_first(
    index: *const latchless_f64,
    key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_pop_first(index): entries::end(End::PopFirst, key.cast(), value))
}

/// Removes the entry with the largest key, in one atomic step.
///
/// \param[out] key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty; `*key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_pop_last(
    index: *const latchless_f64,
    key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_pop_last(index): entries::end(End::PopLast, key.cast(), value))
}

/// Gets the entry with the largest key that is less than or equal to `key`.
///
/// \param[out] near_key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry; `*near_key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_floor(
    index: *const latchless_f64,
    key: f64,
    near_key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_floor(index): entries::near(Near::Floor, key.cell(), near_key.cast(), value))
}

/// Gets the entry with the smallest key that is greater than or equal to `key`.
///
/// \param[out] near_key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry; `*near_key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_ceiling(
    index: *const latchless_f64,
    key: f64,
    near_key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_ceiling(index): entries::near(Near::Ceiling, key.cell(), near_key.cast(), value))
}

/// Gets the entry with the largest key that is less than `key`.
///
/// \param[out] near_key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry; `*near_key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_lower(
    index: *const latchless_f64,
    key: f64,
    near_key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_lower(index): entries::near(Near::Lower, key.cell(), near_key.cast(), value))
}

/// Gets the entry with the smallest key that is greater than `key`.
///
/// \param[out] near_key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND there is no such entry; `*near_key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_higher(
    index: *const latchless_f64,
    key: f64,
    near_key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_higher(index): entries::near(Near::Higher, key.cell(), near_key.cast(), value))
}

/// Gets the entry whose key is nearest to `key`, on either side; of two equally near ones, the smaller. The
/// answer is correct at one moment, unlike the nearer of what latchless_f64_floor() and
/// latchless_f64_ceiling() return.
///
/// \param[out] near_key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index is empty; `*near_key` and `*value` are unchanged
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_nearest(
    index: *const latchless_f64,
    key: f64,
    near_key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_nearest(index): entries::near(NearNumber::Nearest, key.cell(), near_key.cast(), value))
}

/// Gets the number of keys that are less than `key`, which may be absent. The first such call, or a long
/// count, counts all leaves; later calls count only the leaves that have changed since.
///
/// \param[out] rank the number of smaller keys
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_rank(
    index: *const latchless_f64,
    key: f64,
    rank: *mut usize,
) -> latchless_status {
    serve!(latchless_f64_rank(index): entries::rank(key.cell(), rank))
}

/// Gets the entry that has `position` entries before it.
///
/// \param[out] key may be NULL
/// \param[out] value may be NULL
/// \retval LATCHLESS_NOT_FOUND the index has no more than `position` entries
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latchless_f64_nth(
    index: *const latchless_f64,
    position: usize,
    key: *mut f64,
    value: *mut latchless_value,
) -> latchless_status {
    serve!(latchless_f64_nth(index): entries::nth(position, key.cast(), value))
}

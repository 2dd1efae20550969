//! Entries shown to a callback one by one. The safety contract of all unsafe functions here is at the head
//! of the crate.

use crate::datum::Datum;
use crate::failure::Failure;
use crate::family::{Map, MapOf, StringsCursor, Strung};
use crate::handle::{Call, with_map, with_shared_index};
use crate::place::{Key, Passed, bounds};
use crate::ranges::direction;
use crate::status::latchless_status::{self, *};
use core::ffi::{c_int, c_void};
use core::ops::Bound;
use core::ptr;
use engine::{Direction, IndexKey};

/// A function of the caller's that is shown a key and its value. Exceptions: see [`crate::ranges::Visitor`].
pub type Visitor =
    unsafe extern "C-unwind" fn(*const c_void, usize, *const c_void, usize, *mut c_void) -> c_int;

/// Shows the entries from a cursor's position on, as long as they are within the range.
fn show<F: Strung>(
    cursor: &mut StringsCursor<F::Holder>,
    direction: Direction,
    is_within: impl Fn(&[u8]) -> bool,
    (visitor, context): (Visitor, *mut c_void),
) -> latchless_status {
    while let Some((key, value)) = cursor.inner.current().filter(|(key, _)| is_within(key)) {
        let value = F::Value::bytes(value, &mut cursor.word);
        // SAFETY: the caller's own function, with a key and a value that are there until it returns.
        if unsafe { visitor(key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len(), context) }
            != 0
        {
            return LATCHLESS_STOPPED;
        }
        match direction {
            Direction::Forward => cursor.inner.next(),
            Direction::Reverse => cursor.inner.prev(),
        };
    }
    LATCHLESS_OK
}

pub unsafe fn scan<F: Strung>(
    call: Call<F>,
    (begin, end): (Passed, Passed),
    descending: c_int,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index, _| {
        // SAFETY: as the caller promises.
        let (low, high) = unsafe { bounds(begin, end)? };
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        let (mut cursor, direction) = (StringsCursor::of(F::hold(index)), direction(descending));
        match (direction, low, high) {
            (Direction::Forward, Bound::Included(low), _) => cursor.inner.seek(low),
            (Direction::Reverse, _, Bound::Excluded(high)) => cursor.inner.seek_for_prev(high),
            (Direction::Forward, ..) => cursor.inner.seek_first(),
            (Direction::Reverse, ..) => cursor.inner.seek_last(),
        };
        // The range ends before its last key.
        if direction == Direction::Reverse && cursor.inner.key().map(Bound::Excluded) == Some(high) {
            cursor.inner.prev();
        }
        let is_within = |key: &[u8]| match direction {
            Direction::Forward => !matches!(high, Bound::Excluded(high) if key >= high),
            Direction::Reverse => !matches!(low, Bound::Included(low) if key < low),
        };
        Ok(show::<F>(&mut cursor, direction, is_within, (visitor, context)))
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

pub unsafe fn scan_prefix<F: Strung>(
    call: Call<F>,
    prefix: Passed,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index, _| {
        // SAFETY: as the caller promises.
        let prefix = unsafe { Key::new("prefix", prefix)? }.bytes();
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        let mut cursor = StringsCursor::of(F::hold(index));
        cursor.inner.seek(prefix);
        let is_within = |key: &[u8]| key.starts_with(prefix);
        Ok(show::<F>(&mut cursor, Direction::Forward, is_within, (visitor, context)))
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

/// Shows the first keys of parts, without values.
pub unsafe fn split_points<F: Map>(
    call: Call<F>,
    parts: usize,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &MapOf<F>, _| {
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        for key in index.split_points(parts) {
            let go_on = F::Key::with_bytes(key.probe(), |key| {
                // SAFETY: the caller's own function, with a key that is there until it returns.
                unsafe { visitor(key.as_ptr().cast(), key.len(), ptr::null(), 0, context) }
            });
            if go_on != 0 {
                return Ok(LATCHLESS_STOPPED);
            }
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

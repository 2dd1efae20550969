//! Entries shown to a callback one by one. The safety contract of all unsafe functions here is at the head
//! of the crate.

use crate::datum::Datum;
use crate::failure::Failure;
use crate::family::{Ends, Map, MapOf};
use crate::handle::{Call, with_map};
use crate::ranges::direction;
use crate::status::latchless_status::{self, *};
use core::ffi::{c_int, c_void};
use core::ops::{Bound, ControlFlow};
use core::ptr;
use engine::{Direction, IndexKey};

/// A function of the caller's that is shown a key and its value. Exceptions: see [`crate::ranges::Visitor`].
pub type Visitor =
    unsafe extern "C-unwind" fn(*const c_void, usize, *const c_void, usize, *mut c_void) -> c_int;

/// Shows the entries of a range, as long as they begin so.
fn show<F: Map>(
    index: &MapOf<F>,
    range: Ends<'_, F>,
    direction: Direction,
    prefix: &[u8],
    (visitor, context): (Visitor, *mut c_void),
) -> latchless_status {
    let mut status = LATCHLESS_OK;
    let _ = index.scan_lent(range, direction, |key, value| {
        F::Key::with_bytes(key, |key| {
            if !key.starts_with(prefix) {
                return ControlFlow::Break(());
            }
            F::Value::with_bytes(value, |value| {
                let (key, key_len) = (key.as_ptr().cast(), key.len());
                // SAFETY: the caller's own function, with a key and a value that are there until it returns.
                if unsafe { visitor(key, key_len, value.as_ptr().cast(), value.len(), context) } == 0 {
                    return ControlFlow::Continue(());
                }
                status = LATCHLESS_STOPPED;
                ControlFlow::Break(())
            })
        })
    });
    status
}

pub unsafe fn scan<F: Map>(
    call: Call<F>,
    (begin, end): (F::KeyIn, F::KeyIn),
    descending: c_int,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let range = unsafe { F::range(kind, begin, end)? };
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        Ok(show::<F>(index, range, direction(descending), &[], (visitor, context)))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn scan_prefix<F: Map>(
    call: Call<F>,
    prefix: F::KeyIn,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let prefix = unsafe { F::key(kind, "prefix", prefix)? };
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let shown = |prefix: &[u8]| show::<F>(index, from, Direction::Forward, prefix, (visitor, context));
        Ok(F::Key::with_bytes(prefix, shown))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
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

//! Cursors: a range page by page. The safety contract of all unsafe functions here is at the head of the
//! crate.

use crate::column::{place, words};
use crate::family::Cursor;
use crate::handle::{self, Call, Handle, with_cursor, with_shared_index};
use crate::key::{KeyKind, WordKeys};
use crate::ranges::{Page, direction, page_status};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::c_int;
use core::ptr;

/// A cursor, whose handle is of the type `H`.
pub unsafe fn new<H: Handle<WordKeys>>(
    call: Call,
    low: u64,
    high: u64,
    descending: c_int,
    out: *mut *mut H,
) -> latchless_status {
    let serve = |index, kind: KeyKind| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        let cursor = Cursor::of(index, words(kind, low, high)?, direction(descending));
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out_cursor::<WordKeys, H>(cursor, out.cast())? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

pub unsafe fn next(
    call: Call,
    keys: *mut u64,
    values: *mut u64,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    let serve = |cursor: &mut Cursor| {
        // SAFETY: as the caller promises.
        unsafe { place("filled", filled)? }.put(0, 0);
        // SAFETY: as the caller promises.
        let page = unsafe { Page::new(keys, values, room)? };
        let got = page.fill(|words, values| cursor.fill(words, values))?;
        // SAFETY: as the caller promises.
        Ok(unsafe { page_status(got, filled) })
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(call, serve) }
}

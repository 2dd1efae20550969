//! Cursors: a range page by page. All unsafe functions here ask for what the head of the crate says.

use crate::column::place;
use crate::handle::{self, Cursor, CursorHandle, IndexHandle, with_cursor, with_shared_index};
use crate::ranges::{Page, direction, told, words};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use core::ffi::c_int;
use core::ptr;

pub unsafe fn new<H: IndexHandle>(
    name: &str,
    index: *const H,
    low: H::Key,
    high: H::Key,
    descending: c_int,
    out: *mut *mut H::Cursor,
) -> latchless_status {
    let serve = |index| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        let cursor = Cursor::of(index, words(low, high)?, direction(descending))?;
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out(Box::new(cursor), out)? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(name, index, serve) }
}

pub unsafe fn next<H: CursorHandle>(
    name: &str,
    cursor: *mut H,
    keys: *mut H::Key,
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
        Ok(unsafe { told(got, filled) })
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(name, cursor, serve) }
}

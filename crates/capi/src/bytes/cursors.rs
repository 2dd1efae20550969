//! Cursors: a position in an index that moves in both directions. The safety contract of all unsafe
//! functions here is at the head of the crate.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::column::{place, put};
use crate::datum::Datum;
use crate::failure::Failure;
use crate::family::{StringsCursor, Strung};
use crate::handle::{self, Call, Handle, with_cursor, with_shared_index};
use crate::place::{Key, Passed};
use crate::status::latchless_status::{self, *};
use core::ffi::c_void;
use core::ptr;
use std::borrow::Cow;

/// Where a cursor moves.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_move {
    /// To `key` or, if it is absent, to the first key after it.
    LATCHLESS_SEEK = 0,
    /// To `key` or, if it is absent, to the last key before it.
    LATCHLESS_SEEK_FOR_PREV = 1,
    /// To the first entry.
    LATCHLESS_SEEK_FIRST = 2,
    /// To the last entry.
    LATCHLESS_SEEK_LAST = 3,
    /// To the next entry.
    LATCHLESS_NEXT = 4,
    /// To the previous entry.
    LATCHLESS_PREV = 5,
    /// It stays on its entry.
    LATCHLESS_CURRENT = 6,
}

use latchless_move::*;

/// Where the address and the length of a key or a value go.
pub type PassedView = (*mut *const c_void, *mut usize);

/// A cursor, whose handle is of the type `H`.
pub unsafe fn new<F: Strung, H: Handle<F>>(call: Call<F>, out: *mut *mut H) -> latchless_status {
    let serve = |index, _| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        let cursor = StringsCursor::of(F::hold(index));
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out_cursor::<F, H>(cursor, out.cast())? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

/// The bytes to seek: a copy of those that are the cursor's own and change when it moves.
fn apart<'a, F: Strung>(cursor: &mut StringsCursor<F::Holder>, key: Key) -> Cow<'a, [u8]> {
    let bytes = key.bytes();
    let is_in = |own: &[u8]| own.as_ptr_range().contains(&bytes.as_ptr());
    let StringsCursor { inner, word } = cursor;
    let is_own =
        inner.current().is_some_and(|(key, value)| is_in(key) || is_in(F::Value::bytes(value, word)));
    if is_own { Cow::Owned(bytes.to_vec()) } else { Cow::Borrowed(bytes) }
}

pub unsafe fn go<F: Strung>(
    call: Call<F>,
    (way, key): (u32, Passed),
    (near_key, near_key_len): PassedView,
    (value, value_len): PassedView,
) -> latchless_status {
    let serve = |cursor: &mut StringsCursor<F::Holder>| {
        let is = |one: latchless_move| way == one as u32;
        if is(LATCHLESS_SEEK) || is(LATCHLESS_SEEK_FOR_PREV) {
            // SAFETY: as the caller promises.
            let key = apart::<F>(cursor, unsafe { Key::new("key", key)? });
            if is(LATCHLESS_SEEK) {
                cursor.inner.seek(&*key)
            } else {
                cursor.inner.seek_for_prev(&*key)
            };
        } else if is(LATCHLESS_SEEK_FIRST) {
            cursor.inner.seek_first();
        } else if is(LATCHLESS_SEEK_LAST) {
            cursor.inner.seek_last();
        } else if is(LATCHLESS_NEXT) {
            cursor.inner.next();
        } else if is(LATCHLESS_PREV) {
            cursor.inner.prev();
        } else if !is(LATCHLESS_CURRENT) {
            return Err(Failure::Field { field: "move", given: way.into(), wanted: "a latchless_move" });
        }
        let StringsCursor { inner, word } = cursor;
        let Some((its_key, its_value)) = inner.current() else { return Ok(LATCHLESS_NOT_FOUND) };
        let its_value = F::Value::bytes(its_value, word);
        // SAFETY: as the caller promises.
        unsafe {
            put(near_key, its_key.as_ptr().cast());
            put(near_key_len, its_key.len());
            put(value, its_value.as_ptr().cast());
            put(value_len, its_value.len());
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(call, serve) }
}

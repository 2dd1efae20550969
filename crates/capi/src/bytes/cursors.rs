//! Cursors: a position in an index that moves in both directions. The safety contract of all unsafe
//! functions here is at the head of the crate.

use crate::column::{place, put};
use crate::datum::Datum;
use crate::family::{StringsCursor, Strung};
use crate::handle::{self, Call, Handle, with_cursor, with_shared_index};
use crate::movement::Move::{self, *};
use crate::place::{Key, Passed, PassedView};
use crate::status::latchless_status::{self, *};

use core::ptr;
use std::borrow::Cow;

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
        let way = Move::of(way)?;
        // SAFETY: as the caller promises; other movements ignore it.
        let key = || unsafe { Key::new("key", key) };
        match way {
            LATCHLESS_SEEK => {
                let key = apart::<F>(cursor, key()?);
                cursor.inner.seek(&*key)
            }
            LATCHLESS_SEEK_FOR_PREV => {
                let key = apart::<F>(cursor, key()?);
                cursor.inner.seek_for_prev(&*key)
            }
            LATCHLESS_SEEK_FIRST => cursor.inner.seek_first(),
            LATCHLESS_SEEK_LAST => cursor.inner.seek_last(),
            LATCHLESS_NEXT => cursor.inner.next(),
            LATCHLESS_PREV => cursor.inner.prev(),
            LATCHLESS_CURRENT => cursor.inner.current(),
        };
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

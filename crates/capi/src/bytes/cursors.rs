//! Cursors: a position in an index that moves in both directions. The safety contract of all unsafe
//! functions here is at the head of the crate.

use super::key::{Key, Passed};
use super::value::Value;
use crate::column::{place, put};
use crate::handle::{self, Call, Family, with_cursor, with_shared_index};
use crate::key::ByteStrings;
use crate::status::latchless_status::{self, *};
use core::ffi::c_void;
use core::ptr;
use std::borrow::Cow;

type Cursor<V> = <ByteStrings<V> as Family>::Cursor;

/// Where a cursor goes.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    Seek(Passed),
    SeekForPrev(Passed),
    First,
    Last,
    Next,
    Prev,
    /// It stays.
    Here,
}

/// Where the address and the length of a key go.
pub type PassedKey = (*mut *const c_void, *mut usize);

/// A cursor of this kind.
pub unsafe fn new<V: Value>(call: Call<ByteStrings<V>>, kind: u64, out: *mut *mut ()) -> latchless_status {
    let serve = |index| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out(kind, Box::new(Cursor::<V>::of(index)), out)? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

/// The bytes to seek: a copy of those that are the cursor's own and change when it moves.
fn apart<'a, V: Value>(cursor: &Cursor<V>, key: Key) -> Cow<'a, [u8]> {
    let bytes = key.bytes();
    let is_in = |own: &[u8]| own.as_ptr_range().contains(&bytes.as_ptr());
    let is_own = cursor.current().is_some_and(|(key, value)| is_in(key) || is_in(V::bytes(value)));
    if is_own { Cow::Owned(bytes.to_vec()) } else { Cow::Borrowed(bytes) }
}

pub unsafe fn go<V: Value>(
    call: Call<ByteStrings<V>>,
    way: Way,
    (key, key_len): PassedKey,
    value: V::PassedView,
) -> latchless_status {
    let serve = |cursor: &mut Cursor<V>| {
        let found = match way {
            Way::Seek(key) => {
                // SAFETY: as the caller promises.
                let key = unsafe { Key::new("key", key)? };
                cursor.seek(&*apart::<V>(cursor, key))
            }
            Way::SeekForPrev(key) => {
                // SAFETY: as the caller promises.
                let key = unsafe { Key::new("key", key)? };
                cursor.seek_for_prev(&*apart::<V>(cursor, key))
            }
            Way::First => cursor.seek_first(),
            Way::Last => cursor.seek_last(),
            Way::Next => cursor.next(),
            Way::Prev => cursor.prev(),
            Way::Here => cursor.current(),
        };
        let Some((its_key, its_value)) = found else { return Ok(LATCHLESS_NOT_FOUND) };
        // SAFETY: as the caller promises.
        unsafe {
            put(key, its_key.as_ptr().cast());
            put(key_len, its_key.len());
            V::put_view(value, its_value);
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(call, serve) }
}

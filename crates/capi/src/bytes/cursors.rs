//! Cursors: a place in an index, from which one goes both ways. All unsafe functions here ask for what the
//! head of the crate says.

use super::key::{Key, Passed};
use crate::column::{place, put};
use crate::handle::{self, Call, Family, with_cursor, with_shared_index};
use crate::key::ByteStrings;
use crate::status::latchless_status::{self, *};
use core::ffi::c_void;
use core::ptr;
use std::borrow::Cow;

type Cursor = <ByteStrings as Family>::Cursor;

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

/// Where the address and the length of a key go, and its value.
pub type PassedEntry = (*mut *const c_void, *mut usize, *mut u64);

/// A cursor of this kind.
pub unsafe fn new(call: Call<ByteStrings>, kind: u64, out: *mut *mut ()) -> latchless_status {
    let serve = |index| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out(kind, Box::new(Cursor::of(index)), out)? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

/// The bytes to seek: a copy of those that are the cursor's own and change when it moves.
fn apart<'a>(cursor: &Cursor, key: Key) -> Cow<'a, [u8]> {
    let own = cursor.key().unwrap_or_default().as_ptr_range();
    let bytes = key.bytes();
    if own.contains(&bytes.as_ptr()) { Cow::Owned(bytes.to_vec()) } else { Cow::Borrowed(bytes) }
}

pub unsafe fn go(call: Call<ByteStrings>, way: Way, (key, key_len, value): PassedEntry) -> latchless_status {
    let serve = |cursor: &mut Cursor| {
        let is_there = match way {
            // SAFETY: as the caller promises.
            Way::Seek(key) => cursor.seek(&*apart(cursor, unsafe { Key::new("key", key)? })),
            // SAFETY: as the caller promises.
            Way::SeekForPrev(key) => cursor.seek_for_prev(&*apart(cursor, unsafe { Key::new("key", key)? })),
            Way::First => cursor.seek_first(),
            Way::Last => cursor.seek_last(),
            Way::Next => cursor.next(),
            Way::Prev => cursor.prev(),
            Way::Here => cursor.key().is_some(),
        };
        let (Some(its_key), Some(its_value), true) = (cursor.key(), cursor.value(), is_there) else {
            return Ok(LATCHLESS_NOT_FOUND);
        };
        // SAFETY: as the caller promises.
        unsafe {
            put(key, its_key.as_ptr().cast());
            put(key_len, its_key.len());
            put(value, its_value);
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(call, serve) }
}

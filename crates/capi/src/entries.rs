//! Operations on one key, and on the nearest entries. Inlined, so that the type of keys is known. The
//! safety contract of all unsafe functions here is at the head of the crate.

use crate::border::Served;
use crate::column::{place, put};
use crate::failure::Failure;
use crate::handle::{Call, with_index};
use crate::key::KeyType;
use crate::status::latchless_status::{self, *};
use crate::whole::Words;
use engine::TryInsertError;
use engine::index::Own;

/// Serves a call for one key.
#[inline(always)]
unsafe fn with_key(call: Call, key: u64, serve: impl FnOnce(&Words, u64) -> Served) -> latchless_status {
    let serve = |index: &Words| serve(index, call.keys.encode(key).ok_or(Failure::Nan { argument: "key" })?);
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Writes the value, if there is one, and returns whether there was.
#[inline(always)]
pub unsafe fn answer(
    value: Option<u64>,
    to: *mut u64,
    there: latchless_status,
    not: latchless_status,
) -> Served {
    let Some(value) = value else { return Ok(not) };
    // SAFETY: as the caller promises.
    unsafe { put(to, value) }
    Ok(there)
}

/// Writes the entry, if there is one.
#[inline(always)]
unsafe fn entry(entry: Option<(u64, u64)>, keys: KeyType, key: *mut u64, value: *mut u64) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe {
        put(key, keys.decode(its_key));
        put(value, its_value);
    }
    Ok(LATCHLESS_OK)
}

#[inline(always)]
pub unsafe fn get(call: Call, key: u64, value: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let serve =
        |index: &Words, key| unsafe { answer(index.get(key), value, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn contains_key(call: Call, key: u64) -> latchless_status {
    let serve =
        |index: &Words, key| Ok(if index.contains_key(key) { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND });
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn insert(call: Call, key: u64, value: u64, before: *mut u64) -> latchless_status {
    let serve = |index: &Words, key| {
        let replaced = index.insert(key, value)?;
        // SAFETY: as the caller promises.
        unsafe { answer(replaced, before, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn try_insert(call: Call, key: u64, value: u64, present: *mut u64) -> latchless_status {
    let serve = |index: &Words, key| {
        let there = match index.try_insert(key, value) {
            Ok(()) => None,
            Err(TryInsertError::Present { present, .. }) => Some(present),
            Err(TryInsertError::Refused { error, .. }) => return Err(error.into()),
        };
        // SAFETY: as the caller promises.
        unsafe { answer(there, present, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn replace(call: Call, key: u64, value: u64, before: *mut u64) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { answer(index.replace(key, value), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn remove(call: Call, key: u64, before: *mut u64) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { answer(index.remove(key), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

/// The status of a comparison; writes the value that was found instead of the expected one.
pub unsafe fn compared(done: Result<u64, Option<u64>>, found: *mut u64) -> Served {
    match done {
        Ok(_) => Ok(LATCHLESS_OK),
        // SAFETY: as the caller promises.
        Err(other) => unsafe { answer(other, found, LATCHLESS_MISMATCH, LATCHLESS_NOT_FOUND) },
    }
}

#[inline(always)]
pub unsafe fn compare_exchange(
    call: Call,
    key: u64,
    expected: u64,
    value: u64,
    found: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { compared(index.compare_exchange(key, expected, value), found) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn compare_remove(call: Call, key: u64, expected: u64, found: *mut u64) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { compared(index.compare_remove(key, expected), found) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

/// Selects an end of the index, and whether to remove its entry.
#[derive(Debug, Clone, Copy)]
pub enum End {
    First,
    Last,
    PopFirst,
    PopLast,
}

#[inline(always)]
pub unsafe fn end(call: Call, end: End, key: *mut u64, value: *mut u64) -> latchless_status {
    let serve = |index: &Words| {
        let found = match end {
            End::First => index.first(),
            End::Last => index.last(),
            End::PopFirst => index.pop_first(),
            End::PopLast => index.pop_last(),
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, call.keys, key, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Selects an entry near a key.
#[derive(Debug, Clone, Copy)]
pub enum Near {
    Floor,
    Ceiling,
    Lower,
    Higher,
}

/// Selects an entry near a key that is a number: numbers have a distance.
#[derive(Debug, Clone, Copy)]
pub enum NearNumber {
    Beside(Near),
    /// On either side.
    Nearest,
}

impl From<Near> for NearNumber {
    fn from(near: Near) -> Self {
        Self::Beside(near)
    }
}

#[inline(always)]
pub unsafe fn near(
    call: Call,
    near: impl Into<NearNumber>,
    key: u64,
    near_key: *mut u64,
    value: *mut u64,
) -> latchless_status {
    let near = near.into();
    let serve = |index: &Words, key| {
        let found = match near {
            NearNumber::Beside(Near::Floor) => index.floor(key),
            NearNumber::Beside(Near::Ceiling) => index.ceiling(key),
            NearNumber::Beside(Near::Lower) => index.lower(key),
            NearNumber::Beside(Near::Higher) => index.higher(key),
            NearNumber::Nearest => {
                index.nearest_by(key, Own::Counts, |one, other| call.keys.distance(one, other))
            }
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, call.keys, near_key, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn rank(call: Call, key: u64, rank: *mut usize) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { place("rank", rank)? }.put(0, index.rank(key));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn nth(call: Call, position: usize, key: *mut u64, value: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let serve = |index: &Words| unsafe { entry(index.nth(position), call.keys, key, value) };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

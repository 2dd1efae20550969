//! Operations on one key, and on the nearest entries. The
//! safety contract of all unsafe functions here is at the head of the crate.

use crate::border::Served;
use crate::column::{place, put};
use crate::failure::Failure;
use crate::handle::{Call, with_index, with_words};
use crate::key::KeyKind;
use crate::near::Near::{self, *};
use crate::status::latchless_status::{self, *};
use crate::whole::Words;
use engine::TryInsertError;
use engine::index::Own;

/// Serves a call for one key.
#[inline(always)]
unsafe fn with_key(call: Call, key: u64, serve: impl FnOnce(&Words) -> Served) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        if kind.has(key) { serve(index) } else { Err(Failure::Nan { argument: "key" }) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_words(call, serve) }
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
unsafe fn entry(entry: Option<(u64, u64)>, key: *mut u64, value: *mut u64) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe {
        put(key, its_key);
        put(value, its_value);
    }
    Ok(LATCHLESS_OK)
}

#[inline(always)]
pub unsafe fn get(call: Call, key: u64, value: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let serve = |index: &Words| unsafe { answer(index.get(key), value, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn contains_key(call: Call, key: u64) -> latchless_status {
    let serve = |index: &Words| Ok(if index.contains_key(key) { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND });
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn insert(call: Call, key: u64, value: u64, before: *mut u64) -> latchless_status {
    let serve = |index: &Words| {
        let replaced = index.insert(key, value)?;
        // SAFETY: as the caller promises.
        unsafe { answer(replaced, before, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn try_insert(call: Call, key: u64, value: u64, present: *mut u64) -> latchless_status {
    let serve = |index: &Words| {
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
    let serve = |index: &Words| {
        // SAFETY: as the caller promises.
        unsafe { answer(index.replace(key, value), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn remove(call: Call, key: u64, before: *mut u64) -> latchless_status {
    let serve = |index: &Words| {
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
    let serve = |index: &Words| {
        // SAFETY: as the caller promises.
        unsafe { compared(index.compare_exchange(key, expected, value), found) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, serve) }
}

#[inline(always)]
pub unsafe fn compare_remove(call: Call, key: u64, expected: u64, found: *mut u64) -> latchless_status {
    let serve = |index: &Words| {
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
        unsafe { entry(found, key, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

#[inline(always)]
pub unsafe fn near(call: Call, near: u32, key: u64, near_key: *mut u64, value: *mut u64) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        let near = Near::of(near)?;
        if !kind.has(key) {
            return Err(Failure::Nan { argument: "key" });
        }
        let found = match near {
            LATCHLESS_FLOOR => index.floor(key),
            LATCHLESS_CEILING => index.ceiling(key),
            LATCHLESS_LOWER => index.lower(key),
            LATCHLESS_HIGHER => index.higher(key),
            LATCHLESS_NEAREST => index.nearest_by(key, Own::Counts, |one, other| kind.distance(one, other)),
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, near_key, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_words(call, serve) }
}

#[inline(always)]
pub unsafe fn rank(call: Call, key: u64, rank: *mut usize) -> latchless_status {
    let serve = |index: &Words| {
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
    let serve = |index: &Words| unsafe { entry(index.nth(position), key, value) };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

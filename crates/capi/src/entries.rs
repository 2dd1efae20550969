//! One key at a time, and the nearest entries. All unsafe functions here ask for what the head of the crate
//! says.

use crate::border::Served;
use crate::column::{place, put};
use crate::failure::Failure;
use crate::handle::{IndexHandle, Words, with_index};
use crate::key::Key;
use crate::status::latchless_status::{self, *};
use engine::TryInsertError;

/// Serves a call for one key.
#[inline(always)]
unsafe fn with_key<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    serve: impl FnOnce(&Words, u64) -> Served,
) -> latchless_status {
    let serve = |index: &Words| serve(index, key.encode().ok_or(Failure::Nan { argument: "key" })?);
    // SAFETY: as the caller promises.
    unsafe { with_index(name, index, serve) }
}

/// Writes the value, if there is one, and says whether there was.
#[inline(always)]
unsafe fn answer(value: Option<u64>, to: *mut u64, there: latchless_status, not: latchless_status) -> Served {
    let Some(value) = value else { return Ok(not) };
    // SAFETY: as the caller promises.
    unsafe { put(to, value) }
    Ok(there)
}

/// Writes the entry, if there is one.
#[inline(always)]
unsafe fn entry<K: Key>(entry: Option<(u64, u64)>, key: *mut K, value: *mut u64) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe {
        put(key, K::decode(its_key));
        put(value, its_value);
    }
    Ok(LATCHLESS_OK)
}

pub unsafe fn get<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    value: *mut u64,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let serve =
        |index: &Words, key| unsafe { answer(index.get(key), value, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn contains<H: IndexHandle>(name: &str, index: *const H, key: H::Key) -> latchless_status {
    let serve =
        |index: &Words, key| Ok(if index.contains_key(key) { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND });
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn insert<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    value: u64,
    before: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        let replaced = index.insert(key, value)?;
        // SAFETY: as the caller promises.
        unsafe { answer(replaced, before, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn insert_if_absent<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    value: u64,
    present: *mut u64,
) -> latchless_status {
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
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn update<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    value: u64,
    before: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { answer(index.replace(key, value), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn remove<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    before: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { answer(index.remove(key), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

/// What was there instead of the expected value.
unsafe fn compared(done: Result<u64, Option<u64>>, found: *mut u64) -> Served {
    match done {
        Ok(_) => Ok(LATCHLESS_OK),
        // SAFETY: as the caller promises.
        Err(other) => unsafe { answer(other, found, LATCHLESS_MISMATCH, LATCHLESS_NOT_FOUND) },
    }
}

pub unsafe fn compare_exchange<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    expected: u64,
    value: u64,
    found: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { compared(index.compare_exchange(key, expected, value), found) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn compare_remove<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    expected: u64,
    found: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { compared(index.compare_remove(key, expected), found) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

/// Which end of the index, and whether its entry is removed.
#[derive(Debug, Clone, Copy)]
pub enum End {
    First,
    Last,
    PopFirst,
    PopLast,
}

pub unsafe fn end<H: IndexHandle>(
    name: &str,
    index: *const H,
    end: End,
    key: *mut H::Key,
    value: *mut u64,
) -> latchless_status {
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
    unsafe { with_index(name, index, serve) }
}

/// Which entry near a key.
#[derive(Debug, Clone, Copy)]
pub enum Near {
    Floor,
    Ceiling,
    Lower,
    Higher,
}

pub unsafe fn near<H: IndexHandle>(
    name: &str,
    index: *const H,
    near: Near,
    key: H::Key,
    near_key: *mut H::Key,
    value: *mut u64,
) -> latchless_status {
    let serve = |index: &Words, key| {
        let found = match near {
            Near::Floor => index.floor(key),
            Near::Ceiling => index.ceiling(key),
            Near::Lower => index.lower(key),
            Near::Higher => index.higher(key),
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, near_key, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn rank<H: IndexHandle>(
    name: &str,
    index: *const H,
    key: H::Key,
    rank: *mut usize,
) -> latchless_status {
    let serve = |index: &Words, key| {
        // SAFETY: as the caller promises.
        unsafe { place("rank", rank)? }.put(0, index.rank(key));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(name, index, key, serve) }
}

pub unsafe fn nth<H: IndexHandle>(
    name: &str,
    index: *const H,
    position: usize,
    key: *mut H::Key,
    value: *mut u64,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let serve = |index: &Words| unsafe { entry(index.nth(position), key, value) };
    // SAFETY: as the caller promises.
    unsafe { with_index(name, index, serve) }
}

//! One key at a time, and the nearest entries. All unsafe functions here ask for what the head of the crate
//! says.

use super::key::{Key, Passed, PassedPlace, Place};
use crate::border::Served;
use crate::column::put;
use crate::entries::{End, Near, answer, compared};
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::status::latchless_status::{self, *};
use crate::whole::Strings;
use engine::TryInsertError;

/// Serves a call for one key: `ask`s the index, and then, when the key isn't read any more, `tell`s the
/// answer.
#[inline(always)]
unsafe fn with_key<T>(
    call: Call<ByteStrings>,
    key: Passed,
    ask: impl FnOnce(&Strings, &[u8]) -> T,
    tell: impl FnOnce(T) -> Served,
) -> latchless_status {
    let serve = |index: &Strings| {
        // SAFETY: as the caller promises.
        let key = unsafe { Key::new("key", key)? };
        tell(ask(index, key.bytes()))
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// Writes the entry, if there is one.
unsafe fn entry(entry: Option<(Vec<u8>, u64)>, place: Place, value: *mut u64) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    place.put(&its_key)?;
    // SAFETY: as the caller promises.
    unsafe { put(value, its_value) }
    Ok(LATCHLESS_OK)
}

pub unsafe fn get(call: Call<ByteStrings>, key: Passed, value: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let tell = |found| unsafe { answer(found, value, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.get(key), tell) }
}

pub unsafe fn contains(call: Call<ByteStrings>, key: Passed) -> latchless_status {
    let tell = |is_there| Ok(if is_there { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND });
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.contains_key(key), tell) }
}

pub unsafe fn insert(call: Call<ByteStrings>, key: Passed, value: u64, before: *mut u64) -> latchless_status {
    let tell = |replaced: engine::Result<_>| {
        // SAFETY: as the caller promises.
        unsafe { answer(replaced?, before, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.insert(key, value), tell) }
}

pub unsafe fn insert_if_absent(
    call: Call<ByteStrings>,
    key: Passed,
    value: u64,
    present: *mut u64,
) -> latchless_status {
    let tell = |tried| {
        let there = match tried {
            Ok(()) => None,
            Err(TryInsertError::Present { present, .. }) => Some(present),
            Err(TryInsertError::Refused { error, .. }) => return Err(error.into()),
        };
        // SAFETY: as the caller promises.
        unsafe { answer(there, present, LATCHLESS_PRESENT, LATCHLESS_OK) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.try_insert(key, value), tell) }
}

pub unsafe fn update(call: Call<ByteStrings>, key: Passed, value: u64, before: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let tell = |replaced| unsafe { answer(replaced, before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.replace(key, value), tell) }
}

pub unsafe fn remove(call: Call<ByteStrings>, key: Passed, before: *mut u64) -> latchless_status {
    // SAFETY: as the caller promises.
    let tell = |removed| unsafe { answer(removed, before, LATCHLESS_OK, LATCHLESS_NOT_FOUND) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.remove(key), tell) }
}

pub unsafe fn compare_exchange(
    call: Call<ByteStrings>,
    key: Passed,
    expected: u64,
    value: u64,
    found: *mut u64,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let tell = |done| unsafe { compared(done, found) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.compare_exchange(key, expected, value), tell) }
}

pub unsafe fn compare_remove(
    call: Call<ByteStrings>,
    key: Passed,
    expected: u64,
    found: *mut u64,
) -> latchless_status {
    // SAFETY: as the caller promises.
    let tell = |done| unsafe { compared(done, found) };
    // SAFETY: as the caller promises.
    unsafe { with_key(call, key, |index, key| index.compare_remove(key, expected), tell) }
}

pub unsafe fn end(call: Call<ByteStrings>, end: End, key: PassedPlace, value: *mut u64) -> latchless_status {
    let serve = |index: &Strings| {
        // SAFETY: as the caller promises.
        let place = unsafe { Place::new("key", key)? };
        let found = match end {
            End::First => index.first(),
            End::Last => index.last(),
            // An entry that is removed must not be lost for want of room.
            End::PopFirst => place.check_any().map(|()| index.pop_first())?,
            End::PopLast => place.check_any().map(|()| index.pop_last())?,
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, place, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn near(
    call: Call<ByteStrings>,
    near: Near,
    key: Passed,
    near_key: PassedPlace,
    value: *mut u64,
) -> latchless_status {
    let serve = |index: &Strings| {
        // SAFETY: as the caller promises.
        let (key, place) = unsafe { (Key::new("key", key)?, Place::new("near_key", near_key)?) };
        let found = match near {
            Near::Floor => index.floor(key.bytes()),
            Near::Ceiling => index.ceiling(key.bytes()),
            Near::Lower => index.lower(key.bytes()),
            Near::Higher => index.higher(key.bytes()),
        };
        // SAFETY: as the caller promises.
        unsafe { entry(found, place, value) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

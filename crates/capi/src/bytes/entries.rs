//! Operations on one key, and on the nearest entries. The safety contract of all unsafe functions here is
//! at the head of the crate.

use super::key::{Key, Passed, PassedPlace, Place};
use super::value::{Value, lend, own};
use crate::border::Served;
use crate::entries::{End, Near};
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::status::latchless_status::{self, *};
use crate::whole::Strings;
use engine::TryInsertError;

/// Writes the value, if there is one, and returns whether there was.
#[inline(always)]
fn answer<V: Value>(
    value: Option<V>,
    to: V::Place,
    there: latchless_status,
    not: latchless_status,
) -> Served {
    let Some(value) = value else { return Ok(not) };
    V::put(to, lend(&value))?;
    Ok(there)
}

/// Writes the entry, if there is one: both its parts, or only how long they are.
fn entry<V: Value>(entry: Option<(Vec<u8>, V)>, key: Place, value: V::Place) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    let (key_fits, value_fits) = (key.check(its_key.len()), V::check(value, lend(&its_value)));
    key_fits.and(value_fits)?;
    key.put(&its_key)?;
    V::put(value, lend(&its_value))?;
    Ok(LATCHLESS_OK)
}

pub unsafe fn get<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    value: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (Key::new("key", key)?, V::place("value", value)?) };
        Ok(if V::look_up(index, key, value)? { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn contains_key<V: Value>(call: Call<ByteStrings<V>>, key: Passed) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let is_there = index.contains_key(unsafe { Key::new("key", key)? }.bytes());
        Ok(if is_there { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn insert<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    value: V::Passed,
    before: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, before) =
            unsafe { (Key::new("key", key)?, V::read(value)?, V::place_for_any("before", before)?) };
        answer(index.insert(key.bytes(), value)?, before, LATCHLESS_PRESENT, LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn try_insert<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    value: V::Passed,
    present: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, place) =
            unsafe { (Key::new("key", key)?, V::read(value)?, V::place("present", present)?) };
        let there = match index.try_insert(key.bytes(), own::<V>(value)) {
            Ok(()) => None,
            Err(TryInsertError::Present { present, .. }) => Some(present),
            Err(TryInsertError::Refused { error, .. }) => return Err(error.into()),
        };
        answer(there, place, LATCHLESS_PRESENT, LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn replace<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    value: V::Passed,
    before: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, before) =
            unsafe { (Key::new("key", key)?, V::read(value)?, V::place_for_any("before", before)?) };
        answer(index.try_replace(key.bytes(), value)?, before, LATCHLESS_OK, LATCHLESS_NOT_FOUND)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn remove<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    before: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, before) = unsafe { (Key::new("key", key)?, V::place_for_any("before", before)?) };
        answer(index.remove(key.bytes()), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// The status of a comparison; writes the value that was found instead of the expected one.
fn compared<V: Value>(done: Result<V, Option<V>>, found: V::Place) -> Served {
    match done {
        Ok(_) => Ok(LATCHLESS_OK),
        Err(other) => answer(other, found, LATCHLESS_MISMATCH, LATCHLESS_NOT_FOUND),
    }
}

pub unsafe fn compare_exchange<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    (expected, value): (V::Passed, V::Passed),
    found: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, found) = unsafe { (Key::new("key", key)?, V::place("found", found)?) };
        // SAFETY: as the caller promises.
        let (expected, value) = unsafe { (V::read(expected)?, V::read(value)?) };
        compared(index.try_compare_exchange(key.bytes(), expected, value)?, found)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn compare_remove<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    expected: V::Passed,
    found: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, expected, found) =
            unsafe { (Key::new("key", key)?, V::read(expected)?, V::place("found", found)?) };
        compared(index.compare_remove(key.bytes(), expected), found)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn end<V: Value>(
    call: Call<ByteStrings<V>>,
    end: End,
    key: PassedPlace,
    value: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (Place::new("key", key)?, V::place("value", value)?) };
        // A removed entry must not be lost for lack of room.
        let check = || key.check_any().and(V::check_any(value));
        let found = match end {
            End::First => index.first(),
            End::Last => index.last(),
            End::PopFirst => check().map(|()| index.pop_first())?,
            End::PopLast => check().map(|()| index.pop_last())?,
        };
        entry(found, key, value)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn near<V: Value>(
    call: Call<ByteStrings<V>>,
    near: Near,
    key: Passed,
    near_key: PassedPlace,
    value: V::PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, near_key, value) =
            unsafe { (Key::new("key", key)?, Place::new("near_key", near_key)?, V::place("value", value)?) };
        let found = match near {
            Near::Floor => index.floor(key.bytes()),
            Near::Ceiling => index.ceiling(key.bytes()),
            Near::Lower => index.lower(key.bytes()),
            Near::Higher => index.higher(key.bytes()),
        };
        entry(found, near_key, value)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

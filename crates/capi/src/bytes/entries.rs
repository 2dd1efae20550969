//! Operations on one key, and on the nearest entries. The safety contract of all unsafe functions here is
//! at the head of the crate.

use crate::border::Served;
use crate::datum::{Value, lend, own};
use crate::entries::End;
use crate::failure::Failure;
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::near::Near::{self, *};
use crate::place::{KEY_MAX, Key, Passed, PassedPlace, Place};
use crate::status::latchless_status::{self, *};
use crate::whole::Strings;
use engine::TryInsertError;

/// Writes the value, if there is one, and returns whether there was.
#[inline(always)]
fn answer<V: Value>(value: Option<V>, to: Place, there: latchless_status, not: latchless_status) -> Served {
    let Some(value) = value else { return Ok(not) };
    V::put(to, lend(&value))?;
    Ok(there)
}

/// Writes the entry, if there is one: both its parts, or only how long they are.
fn entry<V: Value>(entry: Option<(Vec<u8>, V)>, key: Place, value: Place) -> Served {
    let Some((its_key, its_value)) = entry else { return Ok(LATCHLESS_NOT_FOUND) };
    V::with_bytes(lend(&its_value), |its_value| {
        let (key_fits, value_fits) = (key.check(its_key.len()), value.check(its_value.len()));
        key_fits.and(value_fits)?;
        key.put(&its_key)?;
        value.put(its_value)?;
        Ok(LATCHLESS_OK)
    })
}

pub unsafe fn get<V: Value>(call: Call<ByteStrings<V>>, key: Passed, value: PassedPlace) -> latchless_status {
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
    value: Passed,
    before: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, before) =
            unsafe { (Key::new("key", key)?, V::read("value", value)?, V::place_for_any("before", before)?) };
        answer(index.insert(key.bytes(), value)?, before, LATCHLESS_PRESENT, LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn try_insert<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    value: Passed,
    present: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, place) =
            unsafe { (Key::new("key", key)?, V::read("value", value)?, V::place("present", present)?) };
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
    value: Passed,
    before: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value, before) =
            unsafe { (Key::new("key", key)?, V::read("value", value)?, V::place_for_any("before", before)?) };
        answer(index.try_replace(key.bytes(), value)?, before, LATCHLESS_OK, LATCHLESS_NOT_FOUND)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn remove<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    before: PassedPlace,
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
fn compared<V: Value>(done: Result<V, Option<V>>, found: Place) -> Served {
    match done {
        Ok(_) => Ok(LATCHLESS_OK),
        Err(other) => answer(other, found, LATCHLESS_MISMATCH, LATCHLESS_NOT_FOUND),
    }
}

pub unsafe fn compare_exchange<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    (expected, value): (Passed, Passed),
    found: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, found) = unsafe { (Key::new("key", key)?, V::place("found", found)?) };
        // SAFETY: as the caller promises.
        let (expected, value) = unsafe { (V::read("expected", expected)?, V::read("value", value)?) };
        compared(index.try_compare_exchange(key.bytes(), expected, value)?, found)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn compare_remove<V: Value>(
    call: Call<ByteStrings<V>>,
    key: Passed,
    expected: Passed,
    found: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, expected, found) =
            unsafe { (Key::new("key", key)?, V::read("expected", expected)?, V::place("found", found)?) };
        compared(index.compare_remove(key.bytes(), expected), found)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn end<V: Value>(
    call: Call<ByteStrings<V>>,
    end: End,
    key: PassedPlace,
    value: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (Place::new("key", key)?, V::place("value", value)?) };
        // A removed entry must not be lost for lack of room.
        let check = || key.check_any(KEY_MAX).and(value.check_any(V::BYTES_MAX));
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
    near: u32,
    key: Passed,
    near_key: PassedPlace,
    value: PassedPlace,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (key, near_key, value) =
            unsafe { (Key::new("key", key)?, Place::new("near_key", near_key)?, V::place("value", value)?) };
        let found = match Near::of(near)? {
            LATCHLESS_FLOOR => index.floor(key.bytes()),
            LATCHLESS_CEILING => index.ceiling(key.bytes()),
            LATCHLESS_LOWER => index.lower(key.bytes()),
            LATCHLESS_HIGHER => index.higher(key.bytes()),
            LATCHLESS_NEAREST => {
                let wanted = "another latchless_near: byte strings have no distance";
                return Err(Failure::Field { field: "near", given: near.into(), wanted });
            }
        };
        entry(found, near_key, value)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

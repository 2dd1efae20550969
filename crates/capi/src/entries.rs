//! Operations on one key, and on the nearest entries. The safety contract of all unsafe functions here is
//! at the head of the crate.

use crate::border::Served;
use crate::column::place;
use crate::datum::{Argument, Datum, Target, check_key, check_value};
use crate::family::{Entry, Map, MapOf, View};
use crate::handle::{Call, with_map};
use crate::key::KeyKind;
use crate::near::Near::{self, *};
use crate::place::Place;
use crate::status::latchless_status::{self, *};
use engine::TryInsertError;
use engine::index::Replacement;
use engine::{IndexKey, IndexValue};

/// Whether memory can be refused to what replaces a value.
type Form<F> = <<F as Map>::Value as IndexValue>::Form;

/// Writes the value, if there is one, and returns whether there was.
#[inline(always)]
fn answer<V: Datum>(value: Option<V>, to: Place, there: latchless_status, not: latchless_status) -> Served {
    let Some(value) = value else { return Ok(not) };
    V::put(to, value.lend())?;
    Ok(there)
}

/// Writes an entry: both its parts, or only how long they are.
#[inline(always)]
fn entry<F: Map>(
    (to_key, to_value): (Place, Place),
) -> impl for<'k, 'v> FnOnce(View<'k, F>, <F::Value as Datum>::View<'v>) -> Served {
    move |key, value| {
        F::Key::with_bytes(key, |key| {
            F::Value::with_bytes(value, |value| {
                let (key_fits, value_fits) = (to_key.check(key.len()), to_value.check(value.len()));
                key_fits.and(value_fits)?;
                to_key.put(key)?;
                to_value.put(value)?;
                Ok(LATCHLESS_OK)
            })
        })
    }
}

/// Writes an entry that is owned, if there is one.
#[inline(always)]
fn owned<F: Map>(found: Entry<F>, to: (Place, Place)) -> Served {
    let Some((key, value)) = found else { return Ok(LATCHLESS_NOT_FOUND) };
    entry::<F>(to)(key.probe(), value.lend())
}

/// Nothing is allocated, unless the value is to go where the key is.
#[inline(always)]
pub unsafe fn get<F: Map>(call: Call<F>, key: F::KeyIn, value: F::Out) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (name, to) = unsafe { (F::key(kind, "key", key)?, value.place::<F::Value>("value")?) };
        if !key.is_apart_from(to) {
            return answer(index.get(name), to, LATCHLESS_OK, LATCHLESS_NOT_FOUND);
        }
        let written = index.get_with(name, |value| F::Value::put(to, value));
        written.map_or(Ok(LATCHLESS_NOT_FOUND), |written| written.map(|()| LATCHLESS_OK))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn contains_key<F: Map>(call: Call<F>, key: F::KeyIn) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let is_there = index.contains_key(unsafe { F::key(kind, "key", key)? });
        Ok(if is_there { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND })
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn insert<F: Map>(
    call: Call<F>,
    key: F::KeyIn,
    value: F::ValueIn,
    before: F::Out,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (F::key(kind, "key", key)?, value.read("value")?) };
        // SAFETY: as the caller promises.
        let before = unsafe { before.place_for_any::<F::Value>("before")? };
        check_key::<F::Key>(key).and(check_value::<F::Value>(value))?;
        answer(index.insert(key, value)?, before, LATCHLESS_PRESENT, LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn try_insert<F: Map>(
    call: Call<F>,
    key: F::KeyIn,
    value: F::ValueIn,
    present: F::Out,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (F::key(kind, "key", key)?, value.read("value")?) };
        // SAFETY: as the caller promises.
        let to = unsafe { present.place::<F::Value>("present")? };
        check_key::<F::Key>(key).and(check_value::<F::Value>(value))?;
        let there = match index.try_insert(key, F::Value::given(value)) {
            Ok(()) => None,
            Err(TryInsertError::Present { present, .. }) => Some(present),
            Err(TryInsertError::Refused { error, .. }) => return Err(error.into()),
        };
        answer(there, to, LATCHLESS_PRESENT, LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn replace<F: Map>(
    call: Call<F>,
    key: F::KeyIn,
    value: F::ValueIn,
    before: F::Out,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (F::key(kind, "key", key)?, value.read("value")?) };
        // SAFETY: as the caller promises.
        let before = unsafe { before.place_for_any::<F::Value>("before")? };
        check_value::<F::Value>(value)?;
        let replaced = Form::<F>::into_result(index.replace(key, value))?;
        answer(replaced, before, LATCHLESS_OK, LATCHLESS_NOT_FOUND)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn remove<F: Map>(call: Call<F>, key: F::KeyIn, before: F::Out) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let key = unsafe { F::key(kind, "key", key)? };
        // SAFETY: as the caller promises.
        let before = unsafe { before.place_for_any::<F::Value>("before")? };
        answer(index.remove(key), before, LATCHLESS_OK, LATCHLESS_NOT_FOUND)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

/// Replaces a value if it is the expected one, or removes its key if there is no other value.
#[inline(always)]
pub unsafe fn exchange<F: Map>(
    call: Call<F>,
    key: F::KeyIn,
    (expected, value): (F::ValueIn, Option<F::ValueIn>),
    found: F::Out,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (key, expected) = unsafe { (F::key(kind, "key", key)?, expected.read("expected")?) };
        // SAFETY: as the caller promises.
        let found = unsafe { found.place::<F::Value>("found")? };
        let done = match value {
            Some(value) => {
                // SAFETY: as the caller promises.
                let value = unsafe { value.read("value")? };
                check_value::<F::Value>(value)?;
                Form::<F>::into_result(index.compare_exchange(key, expected, value))?
            }
            None => index.compare_remove(key, expected),
        };
        match done {
            Ok(_) => Ok(LATCHLESS_OK),
            Err(other) => answer(other, found, LATCHLESS_MISMATCH, LATCHLESS_NOT_FOUND),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
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
pub unsafe fn end<F: Map>(call: Call<F>, end: End, key: F::Out, value: F::Out) -> latchless_status {
    let serve = |index: &MapOf<F>, _| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (key.place::<F::Key>("key")?, value.place::<F::Value>("value")?) };
        // A removed entry must not be lost for lack of room.
        let check = || key.check_any(F::Key::BYTES_MAX).and(value.check_any(F::Value::BYTES_MAX));
        let to = (key, value);
        let see = entry::<F>(to);
        let lent = match end {
            End::First => index.first_with(see),
            End::Last => index.last_with(see),
            End::PopFirst => return owned::<F>(check().map(|()| index.pop_first())?, to),
            End::PopLast => return owned::<F>(check().map(|()| index.pop_last())?, to),
        };
        lent.unwrap_or(Ok(LATCHLESS_NOT_FOUND))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn near<F: Map>(
    call: Call<F>,
    near: u32,
    key: F::KeyIn,
    near_key: F::Out,
    value: F::Out,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind: KeyKind| {
        let near = Near::of(near)?;
        // SAFETY: as the caller promises.
        let name = unsafe { F::key(kind, "key", key)? };
        // SAFETY: as the caller promises.
        let to = unsafe { (near_key.place::<F::Key>("near_key")?, value.place::<F::Value>("value")?) };
        if near == LATCHLESS_NEAREST || !key.is_apart_from(to.0) || !key.is_apart_from(to.1) {
            let found = match near {
                LATCHLESS_FLOOR => index.floor(name),
                LATCHLESS_CEILING => index.ceiling(name),
                LATCHLESS_LOWER => index.lower(name),
                LATCHLESS_HIGHER => index.higher(name),
                LATCHLESS_NEAREST => F::nearest(index, kind, name)?,
            };
            return owned::<F>(found, to);
        }
        let see = entry::<F>(to);
        let lent = match near {
            LATCHLESS_FLOOR => index.floor_with(name, see),
            LATCHLESS_CEILING => index.ceiling_with(name, see),
            LATCHLESS_LOWER => index.lower_with(name, see),
            LATCHLESS_HIGHER | LATCHLESS_NEAREST => index.higher_with(name, see),
        };
        lent.unwrap_or(Ok(LATCHLESS_NOT_FOUND))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn rank<F: Map>(call: Call<F>, key: F::KeyIn, rank: *mut usize) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (key, rank) = unsafe { (F::key(kind, "key", key)?, place("rank", rank)?) };
        rank.put(0, index.rank(key));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

#[inline(always)]
pub unsafe fn nth<F: Map>(call: Call<F>, position: usize, key: F::Out, value: F::Out) -> latchless_status {
    let serve = |index: &MapOf<F>, _| {
        // SAFETY: as the caller promises.
        let (key, value) = unsafe { (key.place::<F::Key>("key")?, value.place::<F::Value>("value")?) };
        owned::<F>(index.nth(position), (key, value))
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

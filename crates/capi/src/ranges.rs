//! Ranges: counts and removal; of words also pages of entries, and entries shown to a callback. The safety
//! contract of all unsafe functions here is at the head of the crate.

use crate::column::{CHUNK, Scratch, Target, place, put, words};
use crate::failure::Failure;
use crate::family::{Map, MapOf};
use crate::handle::{Call, with_map};
use crate::key::KeyKind;
use crate::status::latchless_status::{self, *};
use crate::whole::Words;
use core::ffi::{c_int, c_void};
use core::ops::{ControlFlow, RangeInclusive};
use engine::Direction;

/// A function of the caller's that is shown keys and values. It may have been compiled from C++:
/// an exception that leaves it then ends the process, because `catch_unwind` refuses it.
pub type Visitor = unsafe extern "C-unwind" fn(*const u64, *const u64, usize, *mut c_void) -> c_int;

/// The direction that a caller means.
pub fn direction(descending: c_int) -> Direction {
    if descending == 0 { Direction::Forward } else { Direction::Reverse }
}

/// Where the entries of a page go.
pub struct Page {
    keys: Target<u64>,
    values: Target<u64>,
    room: usize,
}

impl Page {
    /// Room for this many entries; NULL for a column that the caller omits.
    pub unsafe fn new(keys: *mut u64, values: *mut u64, room: usize) -> Result<Self, Failure> {
        if room == 0 {
            return Err(Failure::NoRoom);
        }
        // SAFETY: as the caller promises.
        let keys = unsafe { Target::if_any("keys", keys, room)? };
        // SAFETY: as the caller promises.
        let values = unsafe { Target::if_any("values", values, room)? };
        Ok(Self { keys, values, room })
    }

    /// Fills the page by `more`, which fills all places that it is given, or fewer at the end of the range.
    /// Returns the number of entries.
    pub fn fill(
        &self,
        mut more: impl FnMut(&mut [u64], &mut [u64]) -> Result<usize, engine::Error>,
    ) -> Result<usize, Failure> {
        let (mut words, mut values) = (Scratch::new(), Scratch::new());
        let mut filled = 0;
        while filled < self.room {
            let asked = CHUNK.min(self.room - filled);
            let (words, values) = (words.zeros(asked), values.zeros(asked));
            let got = more(words, values)?;
            self.keys.copy_from(filled, &words[..got]);
            self.values.copy_from(filled, &values[..got]);
            filled += got;
            if got < asked {
                break;
            }
        }
        Ok(filled)
    }
}

/// The outcome of filling a page.
pub unsafe fn page_status(filled: usize, to: *mut usize) -> latchless_status {
    // SAFETY: as the caller promises.
    unsafe { put(to, filled) }
    if filled == 0 { LATCHLESS_NOT_FOUND } else { LATCHLESS_OK }
}

/// The rest of a range after its entry `last`.
fn rest(range: &RangeInclusive<u64>, direction: Direction, last: u64) -> Option<RangeInclusive<u64>> {
    let rest = match direction {
        Direction::Forward => last.checked_add(1)?..=*range.end(),
        Direction::Reverse => *range.start()..=last.checked_sub(1)?,
    };
    (!rest.is_empty()).then_some(rest)
}

#[expect(clippy::too_many_arguments, reason = "C's columns, each with its own pointer")]
pub unsafe fn page(
    call: Call,
    low: u64,
    high: u64,
    descending: c_int,
    keys: *mut u64,
    values: *mut u64,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        let (mut left, direction) = (Some(words(kind, low, high)?), direction(descending));
        // SAFETY: as the caller promises.
        unsafe { place("filled", filled)? }.put(0, 0);
        // SAFETY: as the caller promises.
        let page = unsafe { Page::new(keys, values, room)? };
        let got = page.fill(|words, values| {
            let Some(range) = left.take() else { return Ok(0) };
            let got = index.page(range.clone(), direction, words, values)?;
            if got > 0 {
                left = rest(&range, direction, words[got - 1]);
            }
            Ok(got)
        })?;
        // SAFETY: as the caller promises.
        Ok(unsafe { page_status(got, filled) })
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn scan_chunks(
    call: Call,
    low: u64,
    high: u64,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &Words, kind: KeyKind| {
        let range = words(kind, low, high)?;
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        let mut status = LATCHLESS_OK;
        let _ = index.scan_chunks(range, |keys, values| {
            for (keys, values) in keys.chunks(PAGE).zip(values.chunks(PAGE)) {
                // SAFETY: the caller's own function, with arrays that are there until it returns.
                if unsafe { visitor(keys.as_ptr(), values.as_ptr(), keys.len(), context) } != 0 {
                    status = LATCHLESS_STOPPED;
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        Ok(status)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

/// Entries that a callback is shown at once: as many as a leaf has, and not more.
const PAGE: usize = 64;

pub unsafe fn count<F: Map>(
    call: Call<F>,
    low: F::KeyIn,
    high: F::KeyIn,
    count: *mut usize,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let (range, count) = unsafe { (F::range(kind, low, high)?, place("count", count)?) };
        count.put(0, index.count(range));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn remove_range<F: Map>(
    call: Call<F>,
    low: F::KeyIn,
    high: F::KeyIn,
    removed: *mut usize,
) -> latchless_status {
    let serve = |index: &MapOf<F>, kind| {
        // SAFETY: as the caller promises.
        let gone = index.remove_range(unsafe { F::range(kind, low, high)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(removed, gone) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

pub unsafe fn split_points(call: Call, parts: usize, keys: *mut u64, count: *mut usize) -> latchless_status {
    let serve = |index: &Words, _| {
        // SAFETY: as the caller promises.
        let count = unsafe { place("count", count)? };
        // SAFETY: as the caller promises.
        let keys = unsafe { Target::new("keys", keys, parts.saturating_sub(1))? };
        let found = index.split_points(parts);
        keys.copy_from(0, &found);
        count.put(0, found.len());
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_map(call, serve) }
}

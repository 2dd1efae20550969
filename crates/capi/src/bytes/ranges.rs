//! Half-open ranges: entries shown to a callback, counts, removal. The safety contract of all unsafe
//! functions here is at the head of the crate.

use crate::column::{place, put};
use crate::datum::Value;
use crate::failure::Failure;
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::place::{Key, Passed};
use crate::ranges::direction;
use crate::status::latchless_status::{self, *};
use crate::whole::Strings;
use core::ffi::{c_int, c_void};
use core::ops::{Bound, ControlFlow};
use engine::Direction;
use engine::bytes::Lent;

/// The length of an absent end: LATCHLESS_NO_END in `cbindgen.toml`, because cbindgen can't evaluate it.
const NO_END: usize = usize::MAX;

/// The keys from the first one on, up to the second one.
pub type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The range that a caller means.
///
/// # Safety
/// As for [`Key::new`].
pub unsafe fn bounds<'a>(begin: Passed, end: Passed) -> Result<Bounds<'a>, Failure> {
    // SAFETY: as the caller promises.
    let begin = unsafe { Key::new("begin", begin)? }.bytes();
    if end.1 == NO_END {
        return Ok((Bound::Included(begin), Bound::Unbounded));
    }
    // SAFETY: as the caller promises.
    let end = unsafe { Key::new("end", end)? }.bytes();
    if begin <= end { Ok((Bound::Included(begin), Bound::Excluded(end))) } else { Err(Failure::EndFirst) }
}

/// A function of the caller's that is shown a key and its value. Exceptions: see [`crate::ranges::Visitor`].
pub type Visitor =
    unsafe extern "C-unwind" fn(*const c_void, usize, *const c_void, usize, *mut c_void) -> c_int;

/// Shows an entry to a visitor, and returns whether to continue.
fn show<V: Value>(
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> Result<impl FnMut(&[u8], Lent<'_, V>) -> ControlFlow<()>, Failure> {
    let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
    Ok(move |key: &[u8], value: Lent<'_, V>| {
        V::with_bytes(value, |value| {
            let (key, key_len) = (key.as_ptr().cast(), key.len());
            // SAFETY: the caller's own function, with a key and a value that are there until it returns.
            match unsafe { visitor(key, key_len, value.as_ptr().cast(), value.len(), context) } {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        })
    })
}

fn status(shown: ControlFlow<()>) -> latchless_status {
    if shown.is_continue() { LATCHLESS_OK } else { LATCHLESS_STOPPED }
}

pub unsafe fn scan<V: Value>(
    call: Call<ByteStrings<V>>,
    (begin, end): (Passed, Passed),
    descending: c_int,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let range = unsafe { bounds(begin, end)? };
        let show = show::<V>(visitor, context)?;
        let shown = match direction(descending) {
            Direction::Forward => index.scan::<[u8]>(range, show),
            Direction::Reverse => index.scan_back::<[u8]>(range, show),
        };
        Ok(status(shown))
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn scan_prefix<V: Value>(
    call: Call<ByteStrings<V>>,
    prefix: Passed,
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let prefix = unsafe { Key::new("prefix", prefix)? };
        Ok(status(index.scan_prefix(prefix.bytes(), show::<V>(visitor, context)?)))
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn count<V: Value>(
    call: Call<ByteStrings<V>>,
    begin: Passed,
    end: Passed,
    count: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let range = unsafe { bounds(begin, end)? };
        // SAFETY: as the caller promises.
        let count = unsafe { place("count", count)? };
        count.put(0, index.count::<[u8]>(range));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn remove_range<V: Value>(
    call: Call<ByteStrings<V>>,
    begin: Passed,
    end: Passed,
    removed: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let gone = index.remove_range::<[u8]>(unsafe { bounds(begin, end)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(removed, gone) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

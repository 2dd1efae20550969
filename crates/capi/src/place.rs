//! One byte string in the caller's memory: a key or a value that is read, or the place for one that is
//! written.

use crate::column::put;
use crate::failure::Failure;
use core::ffi::c_void;
use core::ops::Bound;
use core::ptr;
use core::slice;

/// The most bytes that a key of an index has.
pub const KEY_MAX: usize = 65_535;

/// The most bytes that a value of an index has.
pub const VALUE_MAX: usize = KEY_MAX;

/// A key as C passes it: where it is and how many bytes it has.
pub type Passed = (*const c_void, usize);

/// A place as C passes it: where it is, how many bytes it has, and where the key's length goes.
pub type PassedPlace = (*mut c_void, usize, *mut usize);

/// Where the address and the length of a key or a value go.
pub type PassedView = (*mut *const c_void, *mut usize);

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

/// Whether this many bytes can be at a place.
pub fn fits(at: *const u8, len: usize) -> bool {
    isize::try_from(len).is_ok() && at.addr().checked_add(len).is_some()
}

/// A key of the caller's, which is read.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    at: *const u8,
    len: usize,
}

impl Key {
    /// The key under the name `argument`. NULL without a length is the empty key.
    ///
    /// # Safety
    /// If the pointer isn't NULL, this many bytes can be read there, and nothing writes them, as long as
    /// what [`Key::bytes`] gives is used.
    #[inline(always)]
    pub unsafe fn new(argument: &'static str, (at, len): Passed) -> Result<Self, Failure> {
        let at = at.cast::<u8>();
        if at.is_null() && len > 0 {
            return Err(Failure::NullKey { argument, len });
        }
        if fits(at, len) { Ok(Self { at, len }) } else { Err(Failure::TooLong { argument, count: len }) }
    }

    /// Its bytes.
    #[inline(always)]
    pub fn bytes<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new` was promised these bytes for as long as they are used here, and has seen that they
        // fit into memory and that the pointer isn't NULL.
        unsafe { slice::from_raw_parts(self.at, self.len) }
    }
}

/// Where the key or the value of an entry goes.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    argument: &'static str,
    to: *mut u8,
    room: usize,
    len: *mut usize,
}

impl Place {
    /// The place under the name `argument`. If it is NULL, the caller omits the bytes, but may request
    /// their number.
    ///
    /// # Safety
    /// If they aren't NULL, `room` bytes can be written at `to`, and a length at `len`.
    pub unsafe fn new(argument: &'static str, (to, room, len): PassedPlace) -> Result<Self, Failure> {
        let to = to.cast::<u8>();
        if to.is_null() {
            return Ok(Self { argument, to, room: usize::MAX, len });
        }
        if len.is_null() {
            return Err(Failure::NullLength { argument });
        }
        // SAFETY: as the caller promises.
        unsafe { Self::of_word(argument, (to.cast(), room, len)) }
    }

    /// The same, where the length is known, so that the caller may omit it.
    ///
    /// # Safety
    /// The contract of [`Place::new`].
    #[inline(always)]
    pub unsafe fn of_word(argument: &'static str, (to, room, len): PassedPlace) -> Result<Self, Failure> {
        let to = to.cast::<u8>();
        if to.is_null() {
            return Ok(Self { argument, to, room: usize::MAX, len });
        }
        if fits(to, room) {
            Ok(Self { argument, to, room, len })
        } else {
            Err(Failure::TooLong { argument, count: room })
        }
    }

    /// Refuses if this many bytes don't fit, and returns how many they are.
    #[inline(always)]
    pub fn check(self, len: usize) -> Result<(), Failure> {
        // SAFETY: as `new` was promised.
        unsafe { put(self.len, len) }
        if len <= self.room {
            Ok(())
        } else {
            Err(Failure::SmallRoom { argument: self.argument, room: self.room, needed: len })
        }
    }

    /// Refuses unless any key or value of this many bytes at most fits.
    #[inline(always)]
    pub fn check_any(self, most: usize) -> Result<(), Failure> {
        if self.room < most { self.check(most) } else { Ok(()) }
    }

    /// Whether none of its bytes is one of a key's, and its length isn't either.
    pub fn is_apart_from(self, (key, len): Passed) -> bool {
        let bytes = key.addr()..key.addr().saturating_add(len);
        let is_apart = |at: usize, len: usize| at.saturating_add(len) <= bytes.start || bytes.end <= at;
        let room = if self.to.is_null() { 0 } else { self.room };
        is_apart(self.to.addr(), room)
            && (self.len.is_null() || is_apart(self.len.addr(), size_of::<usize>()))
    }

    /// Writes bytes and how many they are; only the latter if the room is too small.
    #[inline(always)]
    pub fn put(self, bytes: &[u8]) -> Result<(), Failure> {
        self.check(bytes.len())?;
        if !self.to.is_null() {
            // SAFETY: there is room for this many bytes, as `new` was promised, and they are the library's
            // own.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.to, bytes.len()) }
        }
        Ok(())
    }
}

//! The keys or values of a batch: pointers and lengths, one buffer of bytes and the offsets at which they
//! begin, as in Arrow, or words.

#![expect(non_camel_case_types, reason = "C's names")]

use crate::column::Source;
use crate::failure::Failure;
use crate::place::{Key, fits};
use core::ffi::c_void;
use core::ops::Range;

/// How the byte strings of a batch are stored.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_layout {
    /// `data` is an array of addresses (const void *), `ends` an array of lengths (size_t).
    LATCHLESS_APART = 0,
    /// `data` has the bytes of all strings. The i-th extends from ends[i] to ends[i + 1]; `ends` has one
    /// int32_t more than there are strings, as in an Arrow column of the type Binary.
    LATCHLESS_PACKED_32 = 1,
    /// The same with an int64_t, as in an Arrow column of the type LargeBinary.
    LATCHLESS_PACKED_64 = 2,
    /// `data` is an array of words, such as a latchless_value, each a string of eight bytes. `ends` is NULL.
    LATCHLESS_WORDS = 3,
}

use latchless_layout::*;

/// The byte strings of a batch, whose number the function has as another parameter. NULL for a string or for
/// `data` is right where there are no bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct latchless_column {
    /// The bytes, or addresses of them.
    pub data: *const c_void,
    /// Lengths or offsets.
    pub ends: *const c_void,
    /// A latchless_layout.
    pub layout: u32,
}

/// The names of a column and its parts.
#[derive(Debug)]
pub struct Names {
    column: &'static str,
    data: &'static str,
    ends: &'static str,
    layout: &'static str,
}

impl Names {
    pub const KEYS: Self =
        Self { column: "keys", data: "keys.data", ends: "keys.ends", layout: "keys.layout" };
    pub const VALUES: Self =
        Self { column: "values", data: "values.data", ends: "values.ends", layout: "values.layout" };
}

/// The byte strings of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    names: &'static Names,
    parts: Parts,
}

#[derive(Debug, Clone, Copy)]
enum Parts {
    None,
    Apart { strings: Source<*const c_void>, lens: Source<usize> },
    Packed { bytes: *const u8, offsets: Offsets },
    Words(Source<u64>),
}

/// Where strings begin: one offset more than strings, in either width that Arrow has.
#[derive(Debug, Clone, Copy)]
enum Offsets {
    Narrow(Source<i32>),
    Wide(Source<i64>),
}

impl Offsets {
    /// Where the string at a position begins and ends.
    fn get(self, argument: &'static str, at: usize) -> Result<Range<usize>, Failure> {
        let offset = |at| match self {
            Self::Narrow(offsets) => offsets.get(at).into(),
            Self::Wide(offsets) => offsets.get(at),
        };
        let (start, end) = (offset(at), offset(at + 1));
        let place =
            |at, offset: i64| usize::try_from(offset).map_err(|_| Failure::Descends { argument, at, offset });
        let (from, to) = (place(at, start)?, place(at + 1, end)?);
        if from <= to { Ok(from..to) } else { Err(Failure::Descends { argument, at: at + 1, offset: end }) }
    }
}

// SAFETY: it is only read, by several threads of a load, and the caller promises that no thread writes it.
unsafe impl Sync for Column {}

impl Column {
    /// This many byte strings, each of which can be one.
    ///
    /// # Safety
    /// The contract at the head of the crate, as long as the results of [`Column::get`] are used.
    pub unsafe fn new(
        names: &'static Names,
        passed: *const latchless_column,
        len: usize,
    ) -> Result<Self, Failure> {
        if len == 0 {
            return Ok(Self { names, parts: Parts::None });
        }
        if passed.is_null() {
            return Err(Failure::NullColumn { argument: names.column, count: len });
        }
        // SAFETY: as the caller promises.
        let parts = unsafe { Self::parts(names, passed.read_unaligned(), len)? };
        let column = Self { names, parts };
        (0..len).try_for_each(|at| column.string(at).map(drop))?;
        Ok(column)
    }

    unsafe fn parts(names: &'static Names, passed: latchless_column, len: usize) -> Result<Parts, Failure> {
        let latchless_column { data, ends, layout } = passed;
        let argument = names.column;
        let offsets = || len.checked_add(1).ok_or(Failure::TooLong { argument, count: len });
        // SAFETY: as the caller promises.
        unsafe {
            if layout == LATCHLESS_APART as u32 {
                Ok(Parts::Apart {
                    strings: Source::new(names.data, data.cast(), len)?,
                    lens: Source::new(names.ends, ends.cast(), len)?,
                })
            } else if layout == LATCHLESS_PACKED_32 as u32 {
                let offsets = Offsets::Narrow(Source::new(names.ends, ends.cast(), offsets()?)?);
                Ok(Parts::Packed { bytes: data.cast(), offsets })
            } else if layout == LATCHLESS_PACKED_64 as u32 {
                let offsets = Offsets::Wide(Source::new(names.ends, ends.cast(), offsets()?)?);
                Ok(Parts::Packed { bytes: data.cast(), offsets })
            } else if layout == LATCHLESS_WORDS as u32 {
                Ok(Parts::Words(Source::new(names.data, data.cast(), len)?))
            } else {
                let wanted = "a latchless_layout";
                Err(Failure::Field { field: names.layout, given: layout.into(), wanted })
            }
        }
    }

    /// Refuses strings that aren't words.
    pub fn check_words(&self, len: usize) -> Result<(), Failure> {
        let other = (0..len).map(|at| (at, self.get(at).len())).find(|entry| entry.1 != size_of::<u64>());
        let argument = self.names.column;
        other.map_or(Ok(()), |(at, len)| Err(Failure::NoWordAt { argument, at, len }))
    }

    #[inline(always)]
    fn string(&self, at: usize) -> Result<Key, Failure> {
        let argument = self.names.column;
        let (start, len) = match self.parts {
            Parts::None => (core::ptr::null(), 0),
            Parts::Words(words) => (words.address(at).cast(), size_of::<u64>()),
            Parts::Apart { strings, lens } => (strings.get(at).cast::<u8>(), lens.get(at)),
            Parts::Packed { bytes, offsets } => {
                let Range { start, end } = offsets.get(self.names.ends, at)?;
                if bytes.is_null() && end > 0 {
                    return Err(Failure::NullKey { argument: self.names.data, len: end });
                }
                if !fits(bytes, end) {
                    return Err(Failure::TooLongAt { argument, at, len: end });
                }
                (bytes.wrapping_add(start), end - start)
            }
        };
        if start.is_null() && len > 0 {
            return Err(Failure::NullKeyAt { argument, at, len });
        }
        if !fits(start, len) {
            return Err(Failure::TooLongAt { argument, at, len });
        }
        // SAFETY: as `new` was promised.
        unsafe { Key::new(argument, (start.cast(), len)) }
    }

    /// A string; the empty one if the caller has changed the arrays meanwhile so that they describe none.
    pub fn get<'a>(&self, at: usize) -> &'a [u8] {
        self.string(at).map(Key::bytes).unwrap_or_default()
    }
}

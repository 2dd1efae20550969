//! The keys or values of a batch: pointers and lengths, or one buffer of bytes and the offsets at which
//! they begin, as in Arrow.

use super::key::{Key, fits};
use crate::column::{Scratch, Source};
use crate::failure::Failure;
use core::ffi::c_void;
use core::ops::Range;

/// The byte strings of a batch as C passes them.
#[derive(Debug, Clone, Copy)]
pub enum PassedColumn {
    Apart { strings: *const *const c_void, lens: *const usize },
    Packed { bytes: *const c_void, offsets: *const c_void, width: usize },
}

/// The functions' names for the parts of a column.
#[derive(Debug)]
pub struct Names {
    strings: &'static str,
    lens: &'static str,
    bytes: &'static str,
    offsets: &'static str,
}

impl Names {
    pub const KEYS: Self = Self { strings: "keys", lens: "lens", bytes: "bytes", offsets: "offsets" };
    pub const VALUES: Self =
        Self { strings: "values", lens: "value_lens", bytes: "value_bytes", offsets: "value_offsets" };
}

/// The byte strings of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    names: &'static Names,
    parts: Parts,
}

#[derive(Debug, Clone, Copy)]
enum Parts {
    Apart { strings: Source<*const c_void>, lens: Source<usize> },
    Packed { bytes: *const u8, offsets: Offsets },
}

/// Where strings begin: one offset more than strings, in either width that Arrow has.
#[derive(Debug, Clone, Copy)]
enum Offsets {
    None,
    Narrow(Source<i32>),
    Wide(Source<i64>),
}

impl Offsets {
    /// Where the string at a position begins and ends.
    fn get(self, argument: &'static str, at: usize) -> Result<Range<usize>, Failure> {
        let offset = |at| match self {
            Self::None => 0,
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

impl Column {
    /// This many byte strings, each of which can be one.
    ///
    /// # Safety
    /// The contract at the head of the crate, as long as the results of [`Column::get`] are used.
    pub unsafe fn new(names: &'static Names, passed: PassedColumn, len: usize) -> Result<Self, Failure> {
        let parts = match passed {
            PassedColumn::Apart { strings, lens } => {
                // SAFETY: as the caller promises.
                let (strings, lens) = unsafe {
                    (Source::new(names.strings, strings, len)?, Source::new(names.lens, lens, len)?)
                };
                Parts::Apart { strings, lens }
            }
            PassedColumn::Packed { bytes, offsets, width } => {
                // SAFETY: as the caller promises.
                let offsets = unsafe { Self::offsets(names.offsets, (offsets, width), len)? };
                Parts::Packed { bytes: bytes.cast(), offsets }
            }
        };
        let column = Self { names, parts };
        (0..len).try_for_each(|at| column.string(at).map(drop))?;
        Ok(column)
    }

    unsafe fn offsets(
        argument: &'static str,
        (offsets, width): (*const c_void, usize),
        len: usize,
    ) -> Result<Offsets, Failure> {
        if len == 0 {
            return Ok(Offsets::None);
        }
        let count = len.checked_add(1).ok_or(Failure::TooLong { argument, count: len })?;
        match width {
            // SAFETY: as the caller promises.
            4 => Ok(Offsets::Narrow(unsafe { Source::new(argument, offsets.cast(), count)? })),
            // SAFETY: as the caller promises.
            8 => Ok(Offsets::Wide(unsafe { Source::new(argument, offsets.cast(), count)? })),
            _ => Err(Failure::Field { field: "offset_size", given: width as u64, wanted: "4 or 8" }),
        }
    }

    fn string(&self, at: usize) -> Result<Key, Failure> {
        let argument = self.names.strings;
        let (start, len) = match self.parts {
            Parts::Apart { strings, lens } => (strings.get(at).cast::<u8>(), lens.get(at)),
            Parts::Packed { bytes, offsets } => {
                let Range { start, end } = offsets.get(self.names.offsets, at)?;
                if bytes.is_null() && end > 0 {
                    return Err(Failure::NullKey { argument: self.names.bytes, len: end });
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

    /// Some of the strings.
    pub fn read<'k, 's>(&self, chunk: &Range<usize>, room: &'s mut Scratch<&'k [u8]>) -> &'s [&'k [u8]] {
        let keys = room.zeros(chunk.len());
        keys.iter_mut().zip(chunk.clone()).for_each(|(key, at)| *key = self.get(at));
        keys
    }
}

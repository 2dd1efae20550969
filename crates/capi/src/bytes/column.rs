//! The keys of a batch: pointers and lengths, or all bytes in one place and the offsets at which keys begin,
//! as Arrow has them.

use super::key::{Key, fits};
use crate::column::{Scratch, Source};
use crate::failure::Failure;
use core::ffi::c_void;
use core::ops::Range;

/// The keys of a batch as C passes them.
#[derive(Debug, Clone, Copy)]
pub enum PassedColumn {
    Apart { keys: *const *const c_void, lens: *const usize },
    Packed { bytes: *const c_void, offsets: *const c_void, width: usize },
}

/// The keys of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    Apart { keys: Source<*const c_void>, lens: Source<usize> },
    Packed { bytes: *const u8, offsets: Offsets },
}

/// Where keys begin: one offset more than keys, in either width that Arrow has.
#[derive(Debug, Clone, Copy)]
pub enum Offsets {
    None,
    Narrow(Source<i32>),
    Wide(Source<i64>),
}

impl Offsets {
    /// Where the key at a position begins and ends.
    fn get(self, at: usize) -> Result<Range<usize>, Failure> {
        let offset = |at| match self {
            Self::None => 0,
            Self::Narrow(offsets) => offsets.get(at).into(),
            Self::Wide(offsets) => offsets.get(at),
        };
        let (start, end) = (offset(at), offset(at + 1));
        let place = |at, offset: i64| usize::try_from(offset).map_err(|_| Failure::Descends { at, offset });
        let (from, to) = (place(at, start)?, place(at + 1, end)?);
        if from <= to { Ok(from..to) } else { Err(Failure::Descends { at: at + 1, offset: end }) }
    }
}

impl Column {
    /// So many keys, each of which can be one.
    ///
    /// # Safety
    /// As the head of the crate says, as long as what [`Column::get`] gives is used.
    pub unsafe fn new(passed: PassedColumn, len: usize) -> Result<Self, Failure> {
        let column = match passed {
            PassedColumn::Apart { keys, lens } => {
                // SAFETY: as the caller promises.
                let (keys, lens) =
                    unsafe { (Source::new("keys", keys, len)?, Source::new("lens", lens, len)?) };
                Self::Apart { keys, lens }
            }
            PassedColumn::Packed { bytes, offsets, width } => {
                // SAFETY: as the caller promises.
                let offsets = unsafe { Self::offsets(offsets, width, len)? };
                Self::Packed { bytes: bytes.cast(), offsets }
            }
        };
        (0..len).try_for_each(|at| column.key(at).map(drop))?;
        Ok(column)
    }

    unsafe fn offsets(offsets: *const c_void, width: usize, len: usize) -> Result<Offsets, Failure> {
        if len == 0 {
            return Ok(Offsets::None);
        }
        let count = len.checked_add(1).ok_or(Failure::TooLong { argument: "offsets", count: len })?;
        match width {
            // SAFETY: as the caller promises.
            4 => Ok(Offsets::Narrow(unsafe { Source::new("offsets", offsets.cast(), count)? })),
            // SAFETY: as the caller promises.
            8 => Ok(Offsets::Wide(unsafe { Source::new("offsets", offsets.cast(), count)? })),
            _ => Err(Failure::Field { field: "offset_size", given: width as u64, wanted: "4 or 8" }),
        }
    }

    fn key(&self, at: usize) -> Result<Key, Failure> {
        let (start, len) = match *self {
            Self::Apart { keys, lens } => (keys.get(at).cast::<u8>(), lens.get(at)),
            Self::Packed { bytes, offsets } => {
                let Range { start, end } = offsets.get(at)?;
                if bytes.is_null() && end > 0 {
                    return Err(Failure::NullKey { argument: "bytes", len: end });
                }
                if !fits(bytes, end) {
                    return Err(Failure::TooLongAt { argument: "keys", at, len: end });
                }
                (bytes.wrapping_add(start), end - start)
            }
        };
        if start.is_null() && len > 0 {
            return Err(Failure::NullKeyAt { argument: "keys", at, len });
        }
        if !fits(start, len) {
            return Err(Failure::TooLongAt { argument: "keys", at, len });
        }
        // SAFETY: as `new` was promised.
        unsafe { Key::new("keys", (start.cast(), len)) }
    }

    /// A key. What can't be one any more, the caller has changed meanwhile: the empty key stands for it.
    pub fn get<'a>(&self, at: usize) -> &'a [u8] {
        self.key(at).map(Key::bytes).unwrap_or_default()
    }

    /// Some of the keys.
    pub fn read<'k, 's>(&self, chunk: &Range<usize>, room: &'s mut Scratch<&'k [u8]>) -> &'s [&'k [u8]] {
        let keys = room.zeros(chunk.len());
        keys.iter_mut().zip(chunk.clone()).for_each(|(key, at)| *key = self.get(at));
        keys
    }
}

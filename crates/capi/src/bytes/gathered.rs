//! Batches on values that are byte strings: the values of many keys in one buffer, and removal. The safety
//! contract of all unsafe functions here is at the head of the crate.

use crate::batches::{Done, get_or_remove};
use crate::column::{Scratch, Target, chunks, put};
use crate::datum::Batch;
use crate::failure::Failure;
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::strings::{Column, Names, latchless_column};
use crate::whole::Strings;
use core::ffi::c_void;
use core::ops::Range;
use engine::Error;

/// Keys, and how many there are.
pub type PassedKeys = (*const latchless_column, usize);

/// Where values go: the place of their bytes and its room, and where each of them begins.
pub type PassedRoom = (*mut c_void, usize, *mut i64);

/// Values one after the other in the caller's memory, as many as there is room for.
struct Room {
    bytes: Target<u8>,
    size: usize,
    /// One more than values.
    offsets: Target<i64>,
    /// Bytes of the values so far, written or not.
    end: usize,
}

impl Room {
    unsafe fn new((bytes, size, offsets): PassedRoom, count: usize) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let bytes = unsafe { Target::if_any("values", bytes.cast::<u8>(), size)? };
        if bytes.is_asked_for() && offsets.is_null() {
            return Err(Failure::Null { argument: "value_offsets" });
        }
        let argument = "value_offsets";
        let ends = count.checked_add(1).ok_or(Failure::TooLong { argument, count })?;
        // SAFETY: as the caller promises.
        let offsets = unsafe { Target::if_any(argument, offsets, ends)? };
        offsets.copy_from(0, &[0]);
        Ok(Self { bytes, size: if bytes.is_asked_for() { size } else { usize::MAX }, offsets, end: 0 })
    }

    /// Writes the values of a chunk, which have these bytes, and each this many of them.
    fn put(&mut self, chunk: &Range<usize>, lens: &[usize], bytes: &[u8]) {
        let start = self.end;
        for (at, len) in chunk.clone().zip(lens) {
            self.end += len;
            self.offsets.copy_from(at + 1, &[self.end as i64]);
        }
        if self.end <= self.size {
            self.bytes.copy_from(start, bytes);
        }
    }
}

/// The values of keys, which are words: as an array of them, of which the offsets are multiples of eight.
pub unsafe fn get_words(
    call: Call<ByteStrings<u64>>,
    keys: PassedKeys,
    (values, room, offsets): PassedRoom,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let (needed, ends) = (keys.1.saturating_mul(size_of::<u64>()), keys.1.saturating_add(1));
    // SAFETY: as the caller promises.
    let offsets = match unsafe { Target::if_any("value_offsets", offsets, ends) } {
        Ok(_) if !values.is_null() && room < needed => {
            return call.guard(|| Err(Failure::SmallRoom { argument: "values", room, needed }));
        }
        Ok(offsets) => offsets,
        Err(failure) => return call.guard(|| Err(failure)),
    };
    // SAFETY: as the caller promises.
    let status = unsafe { get_or_remove(call, Done::Looked, keys, values.cast(), found, hits) };
    if status == LATCHLESS_OK {
        (0..ends).for_each(|at| offsets.copy_from(at, &[(at * size_of::<u64>()) as i64]));
    }
    status
}

pub unsafe fn get(
    call: Call<ByteStrings<Vec<u8>>>,
    (keys, count): PassedKeys,
    room: PassedRoom,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<Vec<u8>>| {
        // SAFETY: as the caller promises.
        let (keys, mut to) = unsafe { (Column::new(&Names::KEYS, keys, count)?, Room::new(room, count)?) };
        // SAFETY: as the caller promises.
        let found = unsafe { Target::if_any("found", found, count)? };
        let (mut total, mut bytes, mut refused) = (0, Vec::new(), None);
        for chunk in chunks(count) {
            let (mut asked, mut lens, mut there) = (Scratch::new(), Scratch::new(), Scratch::new());
            let (lens, there) = (lens.zeros(chunk.len()), there.zeros(chunk.len()));
            bytes.clear();
            // The answers are written when the keys aren't read any more: they may be where the keys are.
            let keys: &[&[u8]] = Batch::<Vec<u8>>::read(&keys, &chunk, &mut asked);
            index.get_each(keys, |at, value| {
                let Some(value) = value else { return };
                (lens[at], there[at]) = (value.len(), 1);
                if to.bytes.is_asked_for() && to.end + bytes.len() + value.len() <= to.size {
                    refused = refused.or(bytes.try_reserve(value.len()).err().map(|_| value.len()));
                    if refused.is_none() {
                        bytes.extend_from_slice(value);
                    }
                }
            });
            if let Some(requested_bytes) = refused {
                return Err(Error::OutOfMemory { requested_bytes }.into());
            }
            total += there.iter().filter(|&&there| there == 1).count();
            to.put(&chunk, lens, &bytes);
            found.copy_from(chunk.start, there);
        }
        // SAFETY: as the caller promises.
        unsafe { put(hits, total) }
        if to.end > to.size {
            return Err(Failure::SmallRoom { argument: "values", room: to.size, needed: to.end });
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// The values aren't returned: nothing says how much room they need before they are gone.
pub unsafe fn remove(
    call: Call<ByteStrings<Vec<u8>>>,
    (keys, count): PassedKeys,
    values: *mut u64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<Vec<u8>>| {
        // SAFETY: as the caller promises.
        let keys = unsafe { Column::new(&Names::KEYS, keys, count)? };
        if !values.is_null() {
            return Err(Failure::NotWords);
        }
        // SAFETY: as the caller promises.
        let found = unsafe { Target::if_any("found", found, count)? };
        let (mut total, mut removed) = (0, Vec::new());
        for chunk in chunks(count) {
            let mut asked = Scratch::new();
            removed.clear();
            removed.resize(chunk.len(), None);
            index.remove_many(Batch::<Vec<u8>>::read(&keys, &chunk, &mut asked), &mut removed)?;
            let mut there = Scratch::new();
            let there = there.zeros(chunk.len());
            there.iter_mut().zip(&removed).for_each(|(there, value)| *there = value.is_some().into());
            total += removed.iter().flatten().count();
            found.copy_from(chunk.start, there);
        }
        // SAFETY: as the caller promises.
        unsafe { put(hits, total) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

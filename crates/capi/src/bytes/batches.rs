//! Batches: keys in, columns of answers out, and loading. All unsafe functions here ask for what the head of
//! the crate says.

use super::column::Column;
use crate::batches::{Answers, Done, Refusals};
use crate::column::{Scratch, Source, chunks, put};
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::life;
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::whole::Strings;

pub use super::column::PassedColumn;

/// Keys, and how many there are.
pub type PassedKeys = (PassedColumn, usize);

pub unsafe fn get_or_remove(
    call: Call<ByteStrings>,
    done: Done,
    (keys, count): PassedKeys,
    values: *mut u64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings| {
        // SAFETY: as the caller promises.
        let (keys, answers) = unsafe { (Column::new(keys, count)?, Answers::new(values, found, count)?) };
        let mut total = 0;
        for chunk in chunks(count) {
            let (mut room, mut had, mut words, mut found) =
                (Scratch::new(), Scratch::new(), Scratch::new(), Scratch::new());
            let had = had.zeros(chunk.len());
            let keys = keys.read(&chunk, &mut room);
            match done {
                Done::Looked => index.get_many(keys, had)?,
                Done::Removed => index.remove_many(keys, had)?,
            }
            let (words, found) = (words.zeros(chunk.len()), found.zeros(chunk.len()));
            for ((word, found), had) in words.iter_mut().zip(&mut *found).zip(had) {
                (*word, *found) = (had.unwrap_or(0), had.is_some());
                total += usize::from(*found);
            }
            answers.put(&chunk, words, found);
        }
        // SAFETY: as the caller promises.
        unsafe { put(hits, total) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn insert(
    call: Call<ByteStrings>,
    (keys, count): PassedKeys,
    values: *const u64,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let serve = |index: &Strings| {
        // SAFETY: as the caller promises.
        let (keys, values) = unsafe { (Column::new(keys, count)?, Source::new("values", values, count)?) };
        // SAFETY: as the caller promises.
        let mut refusals = unsafe { Refusals::new(refused, count)? };
        let mut new = 0;
        for chunk in chunks(count) {
            let (mut entries, mut replaced) = (Scratch::new(), Scratch::new());
            let (entries, replaced) = (entries.zeros(chunk.len()), replaced.zeros(chunk.len()));
            entries
                .iter_mut()
                .zip(chunk.clone())
                .for_each(|(entry, at)| *entry = (keys.get(at), values.get(at)));
            let incomplete = index.insert_many(entries, replaced).err();
            // In a batch of which inserts were refused, nobody asks how many others were new.
            new += replaced.iter().filter(|before| before.is_none()).count();
            refusals.note(&chunk, incomplete);
        }
        // SAFETY: as the caller promises.
        unsafe { refusals.end(new, new_keys) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// An index of ascending keys.
pub unsafe fn load(
    call: Call<ByteStrings>,
    (keys, count): PassedKeys,
    values: *const u64,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Strings, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let (keys, values) = unsafe { (Column::new(keys, count)?, Source::new("values", values, count)?) };
        let entries = (0..count).map(|at| (keys.get(at), values.get(at)));
        Ok(index.bulk_load(entries, parsed.fill)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

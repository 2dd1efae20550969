//! Batches: keys in, columns of answers out, and loading. The safety contract of all unsafe functions here
//! is at the head of the crate.

use crate::batches::{Answers, Done, Refusals};
use crate::column::{Scratch, chunks, put};
use crate::datum::{Value, own};
use crate::failure::Failure;
use crate::handle::{Call, with_index};
use crate::key::ByteStrings;
use crate::life;
use crate::options::{Parsed, latchless_options};
use crate::status::latchless_status::{self, LATCHLESS_OK};
use crate::strings::{Column, Names, latchless_column};
use crate::whole::Strings;

/// Keys, and how many there are.
pub type PassedKeys = (*const latchless_column, usize);

/// The values of keys, which are words. Those of absent keys keep their places as they are.
pub unsafe fn get_or_remove(
    call: Call<ByteStrings<u64>>,
    done: Done,
    (keys, count): PassedKeys,
    values: *mut u64,
    found: *mut u8,
    hits: *mut usize,
) -> latchless_status {
    let serve = |index: &Strings<u64>| {
        // SAFETY: as the caller promises.
        let (keys, answers) =
            unsafe { (Column::new(&Names::KEYS, keys, count)?, Answers::new(values, found, count)?) };
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

/// This many values.
///
/// # Safety
/// As for [`Column::new`].
unsafe fn column_of<V: Value>(values: *const latchless_column, count: usize) -> Result<Column, Failure> {
    // SAFETY: as the caller promises.
    let column = unsafe { Column::new(&Names::VALUES, values, count)? };
    V::check_column(&column, count).map(|()| column)
}

pub unsafe fn insert<V: Value>(
    call: Call<ByteStrings<V>>,
    (keys, count): PassedKeys,
    values: *const latchless_column,
    new_keys: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let serve = |index: &Strings<V>| {
        // SAFETY: as the caller promises.
        let (keys, values) =
            unsafe { (Column::new(&Names::KEYS, keys, count)?, column_of::<V>(values, count)?) };
        // SAFETY: as the caller promises.
        let mut refusals = unsafe { Refusals::new(refused, count)? };
        let (mut new, mut lent) = (0, Vec::new());
        for chunk in chunks(count) {
            let mut room = Scratch::new();
            lent.clear();
            lent.extend(chunk.clone().map(|at| V::at(&values, at)));
            let inserted = index.insert_columns(keys.read(&chunk, &mut room), &lent);
            // If inserts of a batch were refused, the number of new keys isn't reported.
            new += *inserted.as_ref().unwrap_or(&0);
            refusals.note(&chunk, inserted.err());
        }
        // SAFETY: as the caller promises.
        unsafe { refusals.end(new, new_keys) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// An index of ascending keys.
pub unsafe fn bulk_load<V: Value>(
    call: Call<ByteStrings<V>>,
    (keys, count): PassedKeys,
    values: *const latchless_column,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Strings<V>, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let (keys, values) =
            unsafe { (Column::new(&Names::KEYS, keys, count)?, column_of::<V>(values, count)?) };
        let entries = (0..count).map(|at| (keys.get(at), own::<V>(V::at(&values, at))));
        Ok(index.bulk_load(entries, parsed.fill)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

//! Keys that have many rows: pairs of a byte string and a number. The safety contract of all unsafe functions
//! here is at the head of the crate.

use crate::batches::{Refusals, insert_fitting};
use crate::column::{Source, Target, chunks, place, put};
use crate::datum::check_key;
use crate::failure::Failure;
use crate::files::{is_of_bytes, path};
use crate::handle::{self, Call, Handle, with_cursor, with_index, with_shared_index};
use crate::key::RowKeys;
use crate::life;
use crate::movement::Move::{self, *};
use crate::options::{Parsed, latchless_options};
use crate::place::{Key, Passed, PassedView, bounds};
use crate::rows_cursor::RowsCursor;
use crate::status::latchless_status::{self, *};
use crate::strings::{Column, Names, latchless_column};
use crate::whole::Rows;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use engine::Direction;
use engine::snapshot::multi as snapshot;

/// What a call does with a pair.
#[derive(Debug, Clone, Copy)]
pub enum Pair {
    Contains,
    Insert,
    Remove,
}

pub unsafe fn pair(call: Call<RowKeys>, done: Pair, key: Passed, row: u64) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let key = unsafe { Key::new("key", key)? }.bytes();
        let status = |is_there, there, not| if is_there { there } else { not };
        Ok(match done {
            Pair::Contains => status(index.contains(key, row), LATCHLESS_OK, LATCHLESS_NOT_FOUND),
            Pair::Insert => {
                check_key::<Vec<u8>>(key)?;
                status(index.insert(key, row)?, LATCHLESS_OK, LATCHLESS_PRESENT)
            }
            Pair::Remove => status(index.remove(key, row), LATCHLESS_OK, LATCHLESS_NOT_FOUND),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn get(
    call: Call<RowKeys>,
    key: Passed,
    least: u64,
    rows: *mut u64,
    room: usize,
    filled: *mut usize,
) -> latchless_status {
    let serve = |index: &Rows| {
        if room == 0 {
            return Err(Failure::NoRoom);
        }
        // SAFETY: as the caller promises.
        let (key, rows, filled) =
            unsafe { (Key::new("key", key)?, Target::new("rows", rows, room)?, place("filled", filled)?) };
        // The rows are written after the key was read for the last time: they may take its place.
        let found: Vec<u64> = index.rows_from(key.bytes(), least).take(room).collect();
        rows.copy_from(0, &found);
        filled.put(0, found.len());
        Ok(if found.is_empty() { LATCHLESS_NOT_FOUND } else { LATCHLESS_OK })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn count_rows(call: Call<RowKeys>, key: Passed, count: *mut usize) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let (key, count) = unsafe { (Key::new("key", key)?, place("count", count)?) };
        count.put(0, index.count_rows(key.bytes()));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn remove_all(call: Call<RowKeys>, key: Passed, removed: *mut usize) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let gone = index.remove_all(unsafe { Key::new("key", key)? }.bytes());
        // SAFETY: as the caller promises.
        unsafe { put(removed, gone) }
        Ok(if gone == 0 { LATCHLESS_NOT_FOUND } else { LATCHLESS_OK })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn insert_columns(
    call: Call<RowKeys>,
    (keys, count): (*const latchless_column, usize),
    rows: *const u64,
    new_pairs: *mut usize,
    refused: *mut u8,
) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let (keys, rows) =
            unsafe { (Column::new(&Names::KEYS, keys, count)?, Source::new("rows", rows, count)?) };
        // SAFETY: as the caller promises.
        let mut refusals = unsafe { Refusals::new(refused, count)? };
        let (mut new, mut pairs) = (0, Vec::new());
        for chunk in chunks(count) {
            pairs.clear();
            pairs.extend(chunk.clone().map(|at| (keys.get(at), rows.get(at))));
            let check = |at: usize| check_key::<Vec<u8>>(pairs[at].0);
            let inserted = insert_fitting(chunk.len(), check, |fitting| match fitting {
                None => index.insert_many(&pairs),
                Some(fitting) => index.insert_many(&fitting.iter().map(|&at| pairs[at]).collect::<Vec<_>>()),
            });
            new += *inserted.as_ref().unwrap_or(&0);
            refusals.note(&chunk, inserted.err());
        }
        // SAFETY: as the caller promises.
        unsafe { refusals.end(new, new_pairs) }
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

/// An index of ascending pairs.
pub unsafe fn bulk_load(
    call: Call<RowKeys>,
    (keys, count): (*const latchless_column, usize),
    rows: *const u64,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Rows, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let (keys, rows) =
            unsafe { (Column::new(&Names::KEYS, keys, count)?, Source::new("rows", rows, count)?) };
        (0..count).try_for_each(|at| check_key::<Vec<u8>>(keys.get(at)))?;
        Ok(index.bulk_load((0..count).map(|at| (keys.get(at), rows.get(at))), parsed.fill)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

/// A function of the caller's that is shown a key and a row. Exceptions: see [`crate::ranges::Visitor`].
pub type Visitor = unsafe extern "C-unwind" fn(*const c_void, usize, u64, *mut c_void) -> c_int;

pub unsafe fn scan(
    call: Call<RowKeys>,
    (begin, end): (Passed, Passed),
    visitor: Option<Visitor>,
    context: *mut c_void,
) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let range = unsafe { bounds(begin, end)? };
        let visitor = visitor.ok_or(Failure::Null { argument: "visitor" })?;
        for (key, row) in index.range::<[u8]>(range) {
            // SAFETY: the caller's own function, with a key that is there until it returns.
            if unsafe { visitor(key.as_ptr().cast(), key.len(), row, context) } != 0 {
                return Ok(LATCHLESS_STOPPED);
            }
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn count(call: Call<RowKeys>, begin: Passed, end: Passed, count: *mut usize) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let (range, count) = unsafe { (bounds(begin, end)?, place("count", count)?) };
        count.put(0, index.count::<[u8]>(range));
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn remove_range(
    call: Call<RowKeys>,
    begin: Passed,
    end: Passed,
    removed: *mut usize,
) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let gone = index.remove_range::<[u8]>(unsafe { bounds(begin, end)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(removed, gone) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn contains_key(call: Call<RowKeys>, key: Passed) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let is_there = index.contains_key(unsafe { Key::new("key", key)? }.bytes());
        Ok(if is_there { LATCHLESS_OK } else { LATCHLESS_NOT_FOUND })
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn distinct_keys(call: Call<RowKeys>, count: *mut usize) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        unsafe { place("count", count)? }.put(0, index.distinct_keys());
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn save(call: Call<RowKeys>, to: *const c_char, pairs: *mut usize) -> latchless_status {
    let serve = |index: &Rows| {
        // SAFETY: as the caller promises.
        let saved = snapshot::save(index, unsafe { path(to)? })?;
        // SAFETY: as the caller promises.
        unsafe { put(pairs, saved as usize) }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_index(call, serve) }
}

pub unsafe fn open(
    call: Call<RowKeys>,
    from: *const c_char,
    options: *const latchless_options,
    out: *mut *mut (),
) -> latchless_status {
    let fill = |index: &mut Rows, parsed: &Parsed| {
        // SAFETY: as the caller promises.
        let file = snapshot::Snapshot::open(unsafe { path(from)? })?;
        is_of_bytes(file.key_name())?;
        file.pairs().try_for_each(|(key, _)| check_key::<Vec<u8>>(key))?;
        Ok(index.bulk_load(file.pairs(), parsed.fill)?)
    };
    // SAFETY: as the caller promises.
    unsafe { life::make(call, options, out, fill) }
}

/// A cursor, whose handle is of the type `H`.
pub unsafe fn cursor_new<H: Handle<RowKeys>>(call: Call<RowKeys>, out: *mut *mut H) -> latchless_status {
    let serve = |index, _| {
        // SAFETY: as the caller promises.
        unsafe { place("out", out)? }.put(0, ptr::null_mut());
        // SAFETY: as the caller promises.
        unsafe { handle::hand_out_cursor::<RowKeys, H>(RowsCursor::of(index), out.cast())? };
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_shared_index(call, serve) }
}

pub unsafe fn cursor_move(
    call: Call<RowKeys>,
    way: u32,
    (key, row): (Passed, u64),
    (near_key, near_key_len): PassedView,
    near_row: *mut u64,
) -> latchless_status {
    let serve = |cursor: &mut RowsCursor| {
        // SAFETY: as the caller promises; other movements ignore it. It may be in the page that is replaced.
        let key = || unsafe { Key::new("key", key) }.map(|key| key.bytes().to_vec());
        match Move::of(way)? {
            LATCHLESS_SEEK => cursor.seek(Some((&*key()?, row)), Direction::Forward),
            LATCHLESS_SEEK_FOR_PREV => cursor.seek(Some((&*key()?, row)), Direction::Reverse),
            LATCHLESS_SEEK_FIRST => cursor.seek(None, Direction::Forward),
            LATCHLESS_SEEK_LAST => cursor.seek(None, Direction::Reverse),
            LATCHLESS_NEXT => cursor.step(Direction::Forward),
            LATCHLESS_PREV => cursor.step(Direction::Reverse),
            LATCHLESS_CURRENT => {}
        }
        let Some((its_key, its_row)) = cursor.current() else { return Ok(LATCHLESS_NOT_FOUND) };
        // SAFETY: as the caller promises.
        unsafe {
            put(near_key, its_key.as_ptr().cast());
            put(near_key_len, its_key.len());
            put(near_row, its_row);
        }
        Ok(LATCHLESS_OK)
    };
    // SAFETY: as the caller promises.
    unsafe { with_cursor(call, serve) }
}

//! Behaviour that C can't observe, or can't cause: the rest is tested from C and C++ (`.ci/run c`).

use crate::border::guard;
use crate::exports::bytes::batches::{latchless_bytes_get_columns, latchless_bytes_insert_columns};
use crate::exports::bytes::cursors::{
    latchless_bytes_cursor_free, latchless_bytes_cursor_move, latchless_bytes_cursor_new,
};
use crate::exports::bytes::entries::{latchless_bytes_get, latchless_bytes_insert};
use crate::exports::bytes::life::{
    LATCHLESS_KEY_MAX, LATCHLESS_VALUE_MAX, latchless_bytes, latchless_bytes_cursor, latchless_bytes_free,
    latchless_bytes_new, latchless_bytes_open,
};
use crate::exports::bytes::order::latchless_bytes_near;
use crate::exports::index::entries::latchless_index_contains_key;
use crate::exports::index::life::{
    latchless_index, latchless_index_cursor, latchless_index_free, latchless_index_new,
};
use crate::exports::multi::{latchless_multi, latchless_multi_cursor};
use crate::handle::{Call, NAMES, Named, with_index};
use crate::key::KeyKind;
use crate::key::latchless_key_kind::*;
use crate::key::latchless_value_kind::{self, *};
use crate::message;
use crate::near::latchless_near::LATCHLESS_CEILING;
use crate::options::{latchless_budget, latchless_options};
use crate::status::latchless_status::{self, *};
use crate::strings::{latchless_column, latchless_layout::LATCHLESS_APART};
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use engine::bytes::{Holder, Words};
use engine::snapshot::strings::{self, Layout};
use engine::snapshot::{DataType, SavedValue};
use engine::{BytesValue, Index, KeyFor, WideValue};
use std::borrow::Cow;
use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

fn last_error() -> String {
    // SAFETY: a text of this thread's that ends with a zero, and no call fails meanwhile.
    unsafe { CStr::from_ptr(message::get()) }.to_str().unwrap().to_owned()
}

fn new() -> *mut latchless_index {
    let mut index = ptr::null_mut();
    // SAFETY: a place for a handle.
    assert_eq!(unsafe { latchless_index_new(ptr::null(), &raw mut index) }, LATCHLESS_OK);
    index
}

fn free(index: *mut latchless_index) -> latchless_status {
    // SAFETY: a handle of this thread's.
    unsafe { latchless_index_free(index) }
}

/// Options of an index of byte strings whose values are of this kind.
fn with_values(kind: latchless_value_kind) -> latchless_options {
    latchless_options { value_kind: kind as u8, ..latchless_options::default() }
}

fn new_bytes(kind: latchless_value_kind) -> *mut latchless_bytes {
    let mut index = ptr::null_mut();
    // SAFETY: options, and a place for a handle.
    assert_eq!(unsafe { latchless_bytes_new(&with_values(kind), &raw mut index) }, LATCHLESS_OK);
    index
}

/// A function has the name of the method of Rust that does the same.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn functions_have_the_names_of_methods() {
    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let each = |path: std::path::PathBuf| {
            if path.is_dir() { files(&path) } else { vec![fs::read_to_string(&path).unwrap()] }
        };
        entries.flat_map(each).collect()
    }
    /// Rust has no methods for these: it has other ways to files and handles, and a method for each neighbour
    /// and for each movement.
    const OWN: [&str; 8] =
        ["open", "save", "free", "near", "near_columns", "cursor_new", "cursor_move", "cursor_free"];
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine =
        ["index", "bytes"].map(|room| files(&own.join("../latchless/src").join(room)).concat()).concat();
    let mut found = 0;
    for text in files(&own.join("src/exports")) {
        for name in text.split("extern \"C\" fn latchless_").skip(1) {
            let name = name.split('(').next().unwrap();
            let Some((_, name)) =
                name.split_once('_').filter(|(kind, _)| ["index", "bytes", "multi"].contains(kind))
            else {
                continue;
            };
            let method = name.trim_start_matches("cursor_").trim_end_matches("_columns");
            let is_method = engine.contains(&format!("pub fn {method}("))
                || engine.contains(&format!("pub fn {method}<"));
            assert!(OWN.contains(&name) || is_method, "Rust calls {name} otherwise");
            found += 1;
        }
    }
    assert!(found > 50, "{found} functions");
}

#[test]
fn words_keep_the_order_of_keys() {
    fn check(kind: KeyKind, cells: &[u64]) {
        let words: Vec<u64> = cells.iter().map(|&cell| kind.encode(cell)).collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{kind:?}: {words:?}");
        assert!(words.iter().zip(cells).all(|(&word, &cell)| kind.decode(word) == cell && kind.has(word)));
    }
    check(LATCHLESS_KEY_U64, &[0, 1, u64::MAX / 2, u64::MAX]);
    for kind in KeyKind::ALL {
        if ![LATCHLESS_KEY_U64, LATCHLESS_KEY_F64].contains(&kind) {
            check(kind, &[i64::MIN, -1, 0, 1, i64::MAX].map(i64::cast_unsigned));
        }
    }
    let (tiny, huge) = (f64::from_bits(1), f64::MAX);
    let doubles = [f64::NEG_INFINITY, -huge, -1.5, -tiny, 0.0, tiny, 1.5, huge, f64::INFINITY];
    check(LATCHLESS_KEY_F64, &doubles.map(f64::to_bits));
    let encode = |key: f64| LATCHLESS_KEY_F64.encode(key.to_bits());
    assert_eq!(encode(-0.0), encode(0.0));
    assert_eq!(LATCHLESS_KEY_F64.decode(encode(-0.0)), 0, "it comes back as 0.0");
    for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001)] {
        assert!(!LATCHLESS_KEY_F64.has(encode(nan)) && LATCHLESS_KEY_I64.has(encode(nan)));
    }
}

#[test]
fn each_kind_of_handle_has_a_name_of_its_own() {
    let kinds = [
        (latchless_index::NAME, latchless_index::KIND),
        (latchless_index_cursor::NAME, latchless_index_cursor::KIND),
        (latchless_bytes::NAME, latchless_bytes::KIND),
        (latchless_bytes_cursor::NAME, latchless_bytes_cursor::KIND),
        (latchless_multi::NAME, latchless_multi::KIND),
        (latchless_multi_cursor::NAME, latchless_multi_cursor::KIND),
        (latchless_budget::NAME, latchless_budget::KIND),
    ];
    assert_eq!(kinds.map(|kind| kind.0), NAMES);
    for (at, kind) in kinds.iter().enumerate() {
        assert!(kinds[..at].iter().all(|other| other.1 != kind.1), "{} is taken for another", kind.0);
    }
}

#[test]
fn a_panic_becomes_a_status_and_the_handle_can_only_be_freed() {
    let index = new();
    // SAFETY: a handle of this thread's.
    let status = unsafe { with_index(Call::new("a_function", index), |_| panic!("a bug, number {}", 7)) };
    assert_eq!((status, last_error().as_str()), (LATCHLESS_PANIC, "a_function: a bug, number 7"));
    // SAFETY: as above.
    let status = unsafe { latchless_index_contains_key(index, 1) };
    assert_eq!(status, LATCHLESS_PANIC);
    assert!(last_error().contains("can only be freed"), "{}", last_error());
    assert_eq!((free(index), free(index)), (LATCHLESS_OK, LATCHLESS_BAD_HANDLE));
    assert_eq!(guard("f", || panic!("plain"), || ()), LATCHLESS_PANIC);
    assert_eq!(last_error(), "f: plain");
}

/// Freed shells wait in a row: not even 1,000 indexes later is a handle taken for another's.
#[test]
fn a_freed_handle_stays_freed() {
    let freed = new();
    assert_eq!(free(freed), LATCHLESS_OK);
    for _ in 0..1000 {
        let other = new();
        assert_ne!(other, freed);
        assert_eq!(free(other), LATCHLESS_OK);
    }
    assert_eq!(free(freed), LATCHLESS_BAD_HANDLE);
    assert!(last_error().ends_with("the handle of latchless_index was freed before"), "{}", last_error());
    // And the shells don't pile up: those that have waited are used again.
    let mut seen = std::collections::HashSet::new();
    for _ in 0..5000 {
        let index = new();
        seen.insert(index);
        assert_eq!(free(index), LATCHLESS_OK);
    }
    assert!(seen.len() < 3000, "{} shells", seen.len());
}

#[test]
fn a_handle_of_other_keys_is_told_from_the_right_one() {
    for kind in [LATCHLESS_VALUE_WORD, LATCHLESS_VALUE_BYTES] {
        let strings = new_bytes(kind);
        assert_eq!(free(strings.cast()), LATCHLESS_BAD_HANDLE);
        let message =
            "latchless_index_free: the handle is one of latchless_bytes, but must be one of latchless_index";
        assert_eq!(last_error(), message);
        let words = new();
        // SAFETY: handles of this thread's.
        unsafe {
            assert_eq!(latchless_bytes_free(words.cast()), LATCHLESS_BAD_HANDLE);
            assert_eq!(latchless_bytes_free(strings), LATCHLESS_OK);
            assert_eq!(latchless_bytes_free(strings), LATCHLESS_BAD_HANDLE);
        }
        assert_eq!(free(words), LATCHLESS_OK);
    }
}

/// The kind of a handle's values is in its word: the two kinds have other content.
#[test]
fn a_handle_of_bytes_has_values_of_the_kind_that_it_was_made_with() {
    let lens = [LATCHLESS_VALUE_WORD, LATCHLESS_VALUE_BYTES].map(|kind| {
        let (index, value) = (new_bytes(kind), *b"a value");
        let insert = |len| {
            let (key, value) = (c"key".as_ptr().cast(), value.as_ptr().cast());
            // SAFETY: a handle of this thread's, and byte strings that are there.
            unsafe { latchless_bytes_insert(index, key, 3, value, len, ptr::null_mut(), 0, ptr::null_mut()) }
        };
        let inserted = insert(7);
        // SAFETY: a handle of this thread's.
        assert_eq!(unsafe { latchless_bytes_free(index) }, LATCHLESS_OK);
        inserted
    });
    assert_eq!(lens, [LATCHLESS_INVALID, LATCHLESS_OK]);
}

#[test]
fn the_longest_key_is_as_long_as_the_header_says() {
    let index = new_bytes(LATCHLESS_VALUE_BYTES);
    let key = vec![b'a'; LATCHLESS_KEY_MAX + 1];
    let insert = |len, value_len| {
        let key: *const c_void = key.as_ptr().cast();
        // SAFETY: a handle of this thread's, and byte strings that are there.
        unsafe {
            latchless_bytes_insert(index, key, len, key, value_len, ptr::null_mut(), 0, ptr::null_mut())
        }
    };
    assert_eq!(insert(LATCHLESS_KEY_MAX, LATCHLESS_VALUE_MAX), LATCHLESS_OK);
    assert_eq!(insert(LATCHLESS_KEY_MAX + 1, 1), LATCHLESS_KEY_TOO_LONG);
    assert_eq!(insert(1, LATCHLESS_VALUE_MAX + 1), LATCHLESS_VALUE_TOO_LONG);
    // SAFETY: a handle of this thread's.
    assert_eq!(unsafe { latchless_bytes_free(index) }, LATCHLESS_OK);
}

/// Keys are read in the caller's memory, and nothing is written there as long as they are. Miri checks
/// that: `cargo +nightly miri test -p latchless-capi answers_may`.
#[test]
fn answers_may_take_the_place_of_keys() {
    let (index, mut cursor) = (new_bytes(LATCHLESS_VALUE_WORD), ptr::null_mut());
    let (mut bytes, mut len, mut at) = (7u64, 0, ptr::null());
    let place = &raw mut bytes;
    let none = ptr::null_mut;
    // SAFETY: a handle of this thread's, and places for others; a key of eight bytes, where eight bytes
    // can be written.
    unsafe {
        let insert = |word: u64| {
            let (value, to) = ((&raw const word).cast(), place.cast());
            latchless_bytes_insert(index, place.cast(), 8, value, 8, to, 8, ptr::null_mut())
        };
        assert_eq!(insert(5), LATCHLESS_OK);
        assert_eq!(insert(6), LATCHLESS_PRESENT);
        assert_eq!(*place, 5);
        *place = 7;
        assert_eq!(
            latchless_bytes_get(index, place.cast(), 8, place.cast(), 8, ptr::null_mut()),
            LATCHLESS_OK
        );
        assert_eq!(*place, 6);
        let key = b"ab".as_ptr().cast();
        let status = latchless_bytes_insert(index, key, 2, place.cast(), 8, none(), 0, ptr::null_mut());
        assert_eq!(status, LATCHLESS_OK);
        let near = LATCHLESS_CEILING as u32;
        let (to, to_len) = (place.cast(), &raw mut len);
        let status =
            latchless_bytes_near(index, near, place.cast(), 1, to, 8, to_len, none(), 0, ptr::null_mut());
        assert_eq!((status, *place, len), (LATCHLESS_OK, 7, 8));
        // A cursor's key is at the place to seek to, and changes during the movement.
        assert_eq!(latchless_bytes_cursor_new(index, &raw mut cursor), LATCHLESS_OK);
        let mut seek = |movement, key, key_len| {
            let (near, near_len) = (&raw mut at, &raw mut len);
            let (value, value_len) = (ptr::null_mut(), ptr::null_mut());
            let status =
                latchless_bytes_cursor_move(cursor, movement, key, key_len, near, near_len, value, value_len);
            (status, near.read(), near_len.read())
        };
        let (status, found, _) = seek(0, key, 2);
        assert_eq!(status, LATCHLESS_OK);
        let (status, _, found_len) = seek(1, found, 1);
        assert_eq!((status, found_len), (LATCHLESS_OK, 8));
        assert_eq!(latchless_bytes_cursor_free(cursor), LATCHLESS_OK);
        assert_eq!(latchless_bytes_free(index), LATCHLESS_OK);
    }
}

/// The same where the value is as long as the key, a part of it, or only its length is stored there; and in
/// a batch, whose values overwrite the keys.
#[test]
fn values_may_take_the_place_of_keys() {
    let index = new_bytes(LATCHLESS_VALUE_BYTES);
    let (mut bytes, mut len) = ([*b"keykeykey", *b"---------"], 0usize);
    let place = (&raw mut bytes).cast::<u8>();
    let none = ptr::null_mut;
    // SAFETY: a handle of this thread's; keys of up to nine bytes, where eighteen can be written.
    unsafe {
        let insert = |key: &[u8], value: &[u8]| {
            let (key, key_len) = (key.as_ptr().cast(), key.len());
            let (value, value_len) = (value.as_ptr().cast(), value.len());
            latchless_bytes_insert(index, key, key_len, value, value_len, none(), 0, none().cast())
        };
        assert_eq!(insert(b"keykeykey", b"value"), LATCHLESS_OK);
        assert_eq!(insert(b"luekeykey", b"other"), LATCHLESS_OK);
        let at = place.add(2).cast();
        assert_eq!(latchless_bytes_get(index, place.cast(), 9, at, 9, &raw mut len), LATCHLESS_OK);
        assert_eq!((len, &bytes[0]), (5, b"kevalueey"));
        place.cast::<[u8; 9]>().write(*b"luekeykey");
        let at = place.cast();
        assert_eq!(latchless_bytes_get(index, place.cast(), 9, at, 5, &raw mut len), LATCHLESS_OK);
        assert_eq!((len, &bytes[0]), (5, b"otherykey"));
        // The length goes where the key is, and nothing else.
        let mut word = u64::from_ne_bytes(*b"12345678");
        assert_eq!(insert(b"12345678", &[7; 300]), LATCHLESS_OK);
        let its = (&raw mut word).cast::<u8>();
        assert_eq!(latchless_bytes_get(index, its.cast(), 8, none(), 0, its.cast()), LATCHLESS_OK);
        assert_eq!(word, 300);
        place.cast::<[[u8; 9]; 2]>().write([*b"keykeykey", *b"luekeykey"]);
        let (keys, lens, mut offsets) =
            ([place.cast_const().cast::<c_void>(), place.add(9).cast()], [9usize, 9], [-1; 3]);
        let (data, ends) = (keys.as_ptr().cast(), lens.as_ptr().cast());
        let column = latchless_column { data, ends, layout: LATCHLESS_APART as u32 };
        let (keys, values, to) = (&raw const column, place.cast(), offsets.as_mut_ptr());
        let status =
            latchless_bytes_get_columns(index, keys, 2, values, 18, to, none().cast(), none().cast());
        assert_eq!(
            (status, offsets, &bytes[0], &bytes[1][..1]),
            (LATCHLESS_OK, [0, 5, 10], b"valueothe", &b"r"[..])
        );
        let new = &raw mut len;
        let status = latchless_bytes_insert_columns(index, keys, keys, 2, new, none().cast());
        assert_eq!((status, len), (LATCHLESS_OK, 2));
        assert_eq!(latchless_bytes_free(index), LATCHLESS_OK);
    }
}

type Opened = (latchless_status, String);

/// A file of rows, opened as an index of numbers, and as one of byte strings.
fn opened(save: impl FnOnce(&Path)) -> [Opened; 2] {
    fn of(kind: latchless_value_kind, path: *const c_char) -> (Opened, *mut latchless_bytes) {
        let mut index = ptr::null_mut();
        // SAFETY: a path, options, and a place for a handle.
        let status = unsafe { latchless_bytes_open(path, &with_values(kind), &raw mut index) };
        assert_eq!(index.is_null(), status != LATCHLESS_OK);
        ((status, if index.is_null() { last_error() } else { String::new() }), index)
    }
    let path = env::temp_dir().join(format!("latchless-capi-{}.arrow", std::process::id()));
    save(&path);
    let named = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: handles of this thread's, and places for answers.
    let answers = unsafe {
        let (words, its) = of(LATCHLESS_VALUE_WORD, named.as_ptr());
        assert_eq!(latchless_bytes_free(its), LATCHLESS_OK);
        let (strings, its) = of(LATCHLESS_VALUE_BYTES, named.as_ptr());
        let (mut room, mut len) = ([0_u8; 9], 0);
        if !its.is_null() {
            let to = room.as_mut_ptr().cast();
            let got = latchless_bytes_get(its, c"a".as_ptr().cast(), 1, to, room.len(), &raw mut len);
            assert_eq!((got, &room[..len]), (LATCHLESS_OK, &b"bc"[..]));
        }
        assert_eq!(latchless_bytes_free(its), LATCHLESS_OK);
        [words, strings]
    };
    fs::remove_file(path).unwrap();
    answers
}

/// Files that other languages write.
#[test]
#[cfg_attr(miri, ignore = "writes files")]
fn files_are_opened_if_their_values_are_of_the_handles_type() {
    fn saved<V: SavedValue>(value: V) -> impl FnOnce(&Path)
    where
        String: KeyFor<V>,
        Arc<Index<String, V>>: Holder<Key = String, Value = V>,
    {
        let index = Arc::new(Index::<String, V>::try_from_iter([("a".to_owned(), value)]).unwrap());
        move |path| assert_eq!(strings::save(index, path).unwrap(), 1)
    }
    fn is_refused((status, message): &Opened, about: &str) -> bool {
        *status == LATCHLESS_BAD_FILE && message.contains(&format!("the file has the value type {about},"))
    }
    for column in [DataType::UInt64, DataType::Int64, DataType::Float64] {
        let rows =
            |path: &Path| assert_eq!(Layout::new(column).save_rows::<Vec<u8>>(path, [("a", 1)]).unwrap(), 1);
        let [words, strings] = opened(rows);
        assert_eq!(words.0, LATCHLESS_OK);
        assert!(is_refused(&strings, &column.to_string()), "{strings:?}");
    }
    for [words, strings] in [opened(saved("bc".to_owned())), opened(saved(b"bc".to_vec()))] {
        assert_eq!(strings.0, LATCHLESS_OK);
        assert!(is_refused(&words, "text") || is_refused(&words, "bytes"), "{words:?}");
    }
    let others = [
        (opened(saved([7_u8; 8])), "[u8; 8]"),
        (opened(saved((1_u32, 2_i32))), "(u32, i32)"),
        (opened(saved([1_u64])), "[u64; 1]"),
        (opened(saved(7_u32)), "uint32"),
        (opened(saved(Account(7))), "account"),
    ];
    for (found, name) in others {
        assert!(found.iter().all(|found| is_refused(found, name)), "{found:?}");
    }
    let long = [b'v'; LATCHLESS_VALUE_MAX + 1];
    let rows = |path: &Path| {
        let layout = Layout::new(DataType::Binary);
        assert_eq!(layout.save_byte_rows::<Vec<u8>>(path, [("a", long)]).unwrap(), 1);
    };
    assert_eq!(opened(rows)[1].0, LATCHLESS_VALUE_TOO_LONG);
}

/// A number with a type name of its own.
#[derive(Debug, Clone, Copy)]
struct Account(u64);

impl WideValue<1> for Account {
    fn to_words(self) -> [u64; 1] {
        [self.0]
    }

    fn from_words([word]: [u64; 1]) -> Self {
        Self(word)
    }
}

impl BytesValue for Account {
    type Form = Words<1>;
}

impl SavedValue for Account {
    const COLUMN: DataType = DataType::UInt64;

    fn type_name() -> Cow<'static, str> {
        "account".into()
    }

    fn with_cell<R>(value: Self, see: impl FnOnce(&[u8]) -> R) -> R {
        see(&value.0.to_le_bytes())
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        cell.try_into().ok().map(u64::from_le_bytes).map(Self)
    }
}

#[test]
fn long_messages_are_cut_between_characters() {
    message::set(format_args!("{}\0{}", "a".repeat(9), "é".repeat(400)));
    let text = last_error();
    assert!(text.starts_with("aaaaaaaaa?é") && text.ends_with('é'), "{text}");
    assert_eq!(text.len(), 510, "511 would cut the last é in two");
    message::set(format_args!("short"));
    assert_eq!(last_error(), "short");
    assert_eq!(std::thread::spawn(last_error).join().unwrap(), "", "each thread has its own");
}

#[test]
fn every_status_is_known_by_its_number() {
    for number in -120..20 {
        assert!(latchless_status::of(number).is_none_or(|status| status as i32 == number));
    }
    let numbers =
        [0, 1, 2, 3, 4, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -99];
    assert!(numbers.iter().all(|&number| latchless_status::of(number).is_some()));
}

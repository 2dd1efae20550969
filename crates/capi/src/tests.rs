//! Behaviour that C can't observe, or can't cause: the rest is tested from C and C++ (`.ci/run c`).

use crate::border::guard;
use crate::exports::bytes::cursors::{
    latchless_bytes_cursor_free, latchless_bytes_cursor_new, latchless_bytes_cursor_seek,
    latchless_bytes_cursor_seek_for_prev,
};
use crate::exports::bytes::entries::{latchless_bytes_get, latchless_bytes_insert};
use crate::exports::bytes::life::{
    LATCHLESS_KEY_MAX, latchless_bytes_free, latchless_bytes_new, latchless_bytes_open,
};
use crate::exports::bytes::order::latchless_bytes_ceiling;
use crate::exports::bytes::{latchless_bytes, latchless_bytes_cursor};
use crate::exports::f64::life::{latchless_f64_free, latchless_f64_new};
use crate::exports::f64::{latchless_f64, latchless_f64_cursor};
use crate::exports::i64::life::{latchless_i64_free, latchless_i64_new};
use crate::exports::i64::{latchless_i64, latchless_i64_cursor};
use crate::exports::kv::batches::{latchless_kv_get_columns, latchless_kv_insert_columns};
use crate::exports::kv::entries::{latchless_kv_get, latchless_kv_insert};
use crate::exports::kv::life::{LATCHLESS_VALUE_MAX, latchless_kv_free, latchless_kv_new, latchless_kv_open};
use crate::exports::kv::{latchless_kv, latchless_kv_cursor};
use crate::exports::u64::entries::latchless_u64_contains_key;
use crate::exports::u64::life::{latchless_u64_free, latchless_u64_new};
use crate::exports::u64::{latchless_u64, latchless_u64_cursor};
use crate::handle::{Call, Handle, NAMES, with_index};
use crate::key::{Key, KeyType};
use crate::message;
use crate::status::latchless_status::{self, *};
use core::ffi::{CStr, c_char};
use core::ptr;
use engine::bytes::{BytesIndex, Words};
use engine::snapshot::strings::{self, Layout};
use engine::snapshot::{DataType, SavedValue};
use engine::{BytesValue, WideValue};
use std::borrow::Cow;
use std::ffi::CString;
use std::path::Path;
use std::{env, fs};

fn last_error() -> String {
    // SAFETY: a text of this thread's that ends with a zero, and no call fails meanwhile.
    unsafe { CStr::from_ptr(message::get()) }.to_str().unwrap().to_owned()
}

/// The prefixes of functions' names, after `latchless_`.
const KEYS: [&str; 5] = ["u64", "i64", "f64", "bytes", "kv"];

fn new() -> *mut latchless_u64 {
    let mut index = ptr::null_mut();
    // SAFETY: a place for a handle.
    assert_eq!(unsafe { latchless_u64_new(ptr::null(), &raw mut index) }, LATCHLESS_OK);
    index
}

fn free(index: *mut latchless_u64) -> latchless_status {
    // SAFETY: a handle of this thread's.
    unsafe { latchless_u64_free(index) }
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn the_other_keys_have_the_same_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exports");
    let mut files = 0;
    for file in fs::read_dir(folder.join("u64")).unwrap() {
        let file = file.unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        for key in ["i64", "f64"] {
            let (copy, wanted) = (folder.join(key).join(file.file_name()), text.replace("u64", key));
            if env::var_os("BLESS").is_some() {
                fs::write(&copy, &wanted).unwrap();
            }
            let found = fs::read_to_string(&copy).unwrap_or_default();
            assert!(found == wanted, "{} isn't as that of u64: BLESS=1 rewrites it", copy.display());
            files += 1;
        }
    }
    assert_eq!(files, 2 * 6);
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
    /// Rust has no methods for these: it has other ways to files, handles and packed columns.
    const OWN: [&str; 9] = [
        "open",
        "save",
        "free",
        "cursor_new",
        "cursor_free",
        "bulk_load_packed",
        "get_packed",
        "insert_packed",
        "remove_packed",
    ];
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let engine =
        ["index", "bytes"].map(|room| files(&own.join("../latchless/src").join(room)).concat()).concat();
    let mut found = 0;
    for text in files(&own.join("src/exports")) {
        for name in text.split("extern \"C\" fn latchless_").skip(1) {
            let name = name.split('(').next().unwrap();
            let Some((_, name)) = name.split_once('_').filter(|(keys, _)| KEYS.contains(keys)) else {
                continue;
            };
            let method = name.trim_start_matches("cursor_").trim_end_matches("_columns");
            let is_method = engine.contains(&format!("pub fn {method}("))
                || engine.contains(&format!("pub fn {method}<"));
            assert!(OWN.contains(&name) || is_method, "Rust calls {name} otherwise");
            found += 1;
        }
    }
    assert!(found > 200, "{found} functions");
}

#[test]
fn words_keep_the_order_of_keys() {
    fn check<K: Key + Copy>(ascending: &[K]) {
        let cells: Vec<u64> = ascending.iter().map(|key| key.cell()).collect();
        let words: Vec<u64> = cells.iter().map(|&cell| K::TYPE.encode(cell).unwrap()).collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
        assert!(words.iter().zip(&cells).all(|(&word, &cell)| K::TYPE.decode(word) == cell));
    }
    check(&[0, 1, u64::MAX / 2, u64::MAX]);
    check(&[i64::MIN, -1, 0, 1, i64::MAX]);
    let (tiny, huge) = (f64::from_bits(1), f64::MAX);
    check(&[f64::NEG_INFINITY, -huge, -1.5, -tiny, 0.0, tiny, 1.5, huge, f64::INFINITY]);
    let encode = |key: f64| KeyType::F64.encode(key.cell());
    assert_eq!(encode(-0.0), encode(0.0));
    assert_eq!(KeyType::F64.decode(encode(-0.0).unwrap()), 0, "it comes back as 0.0");
    assert_eq!((encode(f64::NAN), encode(-f64::NAN)), (None, None));
}

#[test]
fn each_kind_of_handle_has_a_name_of_its_own() {
    let kinds = [
        (latchless_u64::NAME, latchless_u64::KIND),
        (latchless_u64_cursor::NAME, latchless_u64_cursor::KIND),
        (latchless_i64::NAME, latchless_i64::KIND),
        (latchless_i64_cursor::NAME, latchless_i64_cursor::KIND),
        (latchless_f64::NAME, latchless_f64::KIND),
        (latchless_f64_cursor::NAME, latchless_f64_cursor::KIND),
        (latchless_bytes::NAME, latchless_bytes::KIND),
        (latchless_bytes_cursor::NAME, latchless_bytes_cursor::KIND),
        (latchless_kv::NAME, latchless_kv::KIND),
        (latchless_kv_cursor::NAME, latchless_kv_cursor::KIND),
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
    let status = unsafe { latchless_u64_contains_key(index, 1) };
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
    assert!(last_error().ends_with("the handle of latchless_u64 was freed before"), "{}", last_error());
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
    let (mut signed, mut float): (*mut latchless_i64, *mut latchless_f64) =
        (ptr::null_mut(), ptr::null_mut());
    // SAFETY: places for handles.
    unsafe {
        assert_eq!(latchless_i64_new(ptr::null(), &raw mut signed), LATCHLESS_OK);
        assert_eq!(latchless_f64_new(ptr::null(), &raw mut float), LATCHLESS_OK);
    }
    assert_eq!(free(signed.cast()), LATCHLESS_BAD_HANDLE);
    let message = "latchless_u64_free: the handle is one of latchless_i64, but must be one of latchless_u64";
    assert_eq!(last_error(), message);
    // SAFETY: handles of this thread's.
    unsafe {
        assert_eq!(latchless_i64_free(float.cast()), LATCHLESS_BAD_HANDLE);
        assert_eq!(latchless_i64_free(signed), LATCHLESS_OK);
        assert_eq!(latchless_f64_free(float), LATCHLESS_OK);
    }
}

#[test]
fn the_longest_key_is_as_long_as_the_header_says() {
    let mut index = ptr::null_mut();
    let key = vec![b'a'; LATCHLESS_KEY_MAX + 1];
    // SAFETY: a place for a handle, then that handle; keys that are there.
    unsafe {
        assert_eq!(latchless_bytes_new(ptr::null(), &raw mut index), LATCHLESS_OK);
        let insert = |len| latchless_bytes_insert(index, key.as_ptr().cast(), len, 1, ptr::null_mut());
        assert_eq!(
            (insert(LATCHLESS_KEY_MAX), insert(LATCHLESS_KEY_MAX + 1)),
            (LATCHLESS_OK, LATCHLESS_KEY_TOO_LONG)
        );
        assert_eq!(latchless_bytes_free(index), LATCHLESS_OK);
    }
}

/// Keys are read in the caller's memory, and nothing is written there as long as they are. Miri checks
/// that: `cargo +nightly miri test -p latchless-capi answers_may`.
#[test]
fn answers_may_take_the_place_of_keys() {
    let (mut index, mut cursor) = (ptr::null_mut(), ptr::null_mut());
    let (mut bytes, mut len, mut at) = (7u64, 0, ptr::null());
    let place = &raw mut bytes;
    // SAFETY: places for handles, then these handles; a key of eight bytes, where eight bytes can be
    // written.
    unsafe {
        assert_eq!(latchless_bytes_new(ptr::null(), &raw mut index), LATCHLESS_OK);
        assert_eq!(latchless_bytes_insert(index, place.cast(), 8, 5, place), LATCHLESS_OK);
        assert_eq!(latchless_bytes_insert(index, place.cast(), 8, 6, place), LATCHLESS_PRESENT);
        assert_eq!(*place, 5);
        *place = 7;
        assert_eq!(latchless_bytes_get(index, place.cast(), 8, place), LATCHLESS_OK);
        assert_eq!(*place, 6);
        let key = b"ab".as_ptr().cast();
        assert_eq!(latchless_bytes_insert(index, key, 2, 9, ptr::null_mut()), LATCHLESS_OK);
        let status =
            latchless_bytes_ceiling(index, place.cast(), 1, place.cast(), 8, &raw mut len, ptr::null_mut());
        assert_eq!((status, *place, len), (LATCHLESS_OK, 7, 8));
        // A cursor's key is where it is asked to go to, and changes on the way.
        assert_eq!(latchless_bytes_cursor_new(index, &raw mut cursor), LATCHLESS_OK);
        let none = ptr::null_mut();
        assert_eq!(
            latchless_bytes_cursor_seek(cursor, key, 2, &raw mut at, &raw mut len, none),
            LATCHLESS_OK
        );
        let status = latchless_bytes_cursor_seek_for_prev(cursor, at, 1, &raw mut at, &raw mut len, none);
        assert_eq!((status, len), (LATCHLESS_OK, 8));
        assert_eq!(latchless_bytes_cursor_free(cursor), LATCHLESS_OK);
        assert_eq!(latchless_bytes_free(index), LATCHLESS_OK);
    }
}

/// The same where the value is as long as the key, a part of it, or only its length is stored there; and in
/// a batch, whose values overwrite the keys.
#[test]
fn values_may_take_the_place_of_keys() {
    let mut index = ptr::null_mut();
    let (mut bytes, mut len) = ([*b"keykeykey", *b"---------"], 0usize);
    let place = (&raw mut bytes).cast::<u8>();
    let none = ptr::null_mut;
    // SAFETY: a place for a handle, then that handle; keys of up to nine bytes, where eighteen can be
    // written.
    unsafe {
        assert_eq!(latchless_kv_new(ptr::null(), &raw mut index), LATCHLESS_OK);
        let insert = |key: &[u8], value: &[u8]| {
            let (key, key_len) = (key.as_ptr().cast(), key.len());
            latchless_kv_insert(
                index,
                key,
                key_len,
                value.as_ptr().cast(),
                value.len(),
                none(),
                0,
                none().cast(),
            )
        };
        assert_eq!(insert(b"keykeykey", b"value"), LATCHLESS_OK);
        assert_eq!(insert(b"luekeykey", b"other"), LATCHLESS_OK);
        let at = place.add(2).cast();
        assert_eq!(latchless_kv_get(index, place.cast(), 9, at, 9, &raw mut len), LATCHLESS_OK);
        assert_eq!((len, &bytes[0]), (5, b"kevalueey"));
        place.cast::<[u8; 9]>().write(*b"luekeykey");
        assert_eq!(latchless_kv_get(index, place.cast(), 9, place.cast(), 5, &raw mut len), LATCHLESS_OK);
        assert_eq!((len, &bytes[0]), (5, b"otherykey"));
        // The length goes where the key is, and nothing else.
        let mut word = u64::from_ne_bytes(*b"12345678");
        assert_eq!(insert(b"12345678", &[7; 300]), LATCHLESS_OK);
        let its = (&raw mut word).cast::<u8>();
        assert_eq!(latchless_kv_get(index, its.cast(), 8, none(), 0, its.cast()), LATCHLESS_OK);
        assert_eq!(word, 300);
        place.cast::<[[u8; 9]; 2]>().write([*b"keykeykey", *b"luekeykey"]);
        let (keys, lens, mut offsets) = ([place.cast_const().cast(), place.add(9).cast()], [9, 9], [-1; 3]);
        let (values, count) = (place.cast(), 2);
        let (keys, lens) = (keys.as_ptr(), lens.as_ptr());
        let to = offsets.as_mut_ptr();
        let status =
            latchless_kv_get_columns(index, keys, lens, count, values, 18, to, none().cast(), none().cast());
        assert_eq!(
            (status, offsets, &bytes[0], &bytes[1][..1]),
            (LATCHLESS_OK, [0, 5, 10], b"valueothe", &b"r"[..])
        );
        let new = &raw mut len;
        let status = latchless_kv_insert_columns(index, keys, lens, keys, lens, count, new, none().cast());
        assert_eq!((status, len), (LATCHLESS_OK, 2));
        assert_eq!(latchless_kv_free(index), LATCHLESS_OK);
    }
}

type Opened = (latchless_status, String);

/// A file of rows, opened as an index of numbers, and as one of byte strings.
fn opened(save: impl FnOnce(&Path)) -> [Opened; 2] {
    fn of<H>(open: impl Fn(*const c_char, *mut *mut H) -> latchless_status, path: &CStr) -> (Opened, *mut H) {
        let mut index = ptr::null_mut();
        let status = open(path.as_ptr(), &raw mut index);
        assert_eq!(index.is_null(), status != LATCHLESS_OK);
        ((status, if index.is_null() { last_error() } else { String::new() }), index)
    }
    let path = env::temp_dir().join(format!("latchless-capi-{}.arrow", std::process::id()));
    save(&path);
    let named = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a path, and places for handles, which are this thread's.
    let answers = unsafe {
        let (words, its) = of(|path, to| latchless_bytes_open(path, ptr::null(), to), &named);
        assert_eq!(latchless_bytes_free(its), LATCHLESS_OK);
        let (strings, its) = of(|path, to| latchless_kv_open(path, ptr::null(), to), &named);
        let (mut room, mut len) = ([0_u8; 9], 0);
        if !its.is_null() {
            let to = room.as_mut_ptr().cast();
            let got = latchless_kv_get(its, c"a".as_ptr().cast(), 1, to, room.len(), &raw mut len);
            assert_eq!((got, &room[..len]), (LATCHLESS_OK, &b"bc"[..]));
        }
        assert_eq!(latchless_kv_free(its), LATCHLESS_OK);
        [words, strings]
    };
    fs::remove_file(path).unwrap();
    answers
}

/// Files that other languages write.
#[test]
#[cfg_attr(miri, ignore = "writes files")]
fn files_are_opened_if_their_values_are_of_the_handles_type() {
    fn saved<V: SavedValue>(value: V) -> impl FnOnce(&Path) {
        let index = BytesIndex::<String, V>::try_from_iter([("a".to_owned(), value)]).unwrap();
        move |path| assert_eq!(strings::save(&index, path).unwrap(), 1)
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

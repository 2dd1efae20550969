//! Entries whose keys begin alike.

use core::fmt::Debug;
use latchless::{Index, IndexValue, KeyFor};
use std::sync::Arc;

/// Compares the entries with a prefix with those of all entries whose keys `begin` so.
macro_rules! agrees {
    ($index:expr, $($prefix:expr, $begin:expr;)*) => {{
        let index = $index;
        $(
            let expected: Vec<_> = index.iter().filter(|entry| ($begin)(&entry.0)).collect();
            assert!(index.prefix($prefix).eq(expected.iter().cloned()), "{:?}", $prefix);
            assert!(index.prefix($prefix).rev().eq(expected.into_iter().rev()), "{:?}", $prefix);
        )*
    }};
}

fn of<K: KeyFor<V> + Debug, V: IndexValue>(keys: impl IntoIterator<Item = K>, value: V) -> Index<K, V> {
    keys.into_iter().map(|key| (key, value.clone())).collect()
}

#[test]
fn strings_begin_with_their_first_bytes() {
    let texts = ["", "a", "a\0", "ab", "abc", "ac", "b", "é", "éa"].map(String::from);
    agrees!(of(texts.clone(), 7u64),
        "", |_: &String| true;
        "a", |key: &String| key.starts_with('a');
        "ab", |key: &String| key.starts_with("ab");
        "é", |key: &String| key.starts_with('é');
        "x", |_: &String| false;
    );
    agrees!(of(texts, Arc::new(7)), "a", |key: &String| key.starts_with('a'););
    let shared = ["a", "ab", "b"].map(Arc::<str>::from);
    agrees!(of(shared, 7u64), "a", |key: &Arc<str>| key.starts_with('a'););
    let bytes = [&[][..], b"\xfe\xff", b"\xff", b"\xff\0", b"\xff\xff", b"\xff\xff\xff"].map(Vec::from);
    agrees!(of(bytes, "text".to_owned()),
        b"\xff", |key: &Vec<u8>| key.starts_with(b"\xff");
        b"\xff\xff", |key: &Vec<u8>| key.starts_with(b"\xff\xff");
        b"\xfe", |key: &Vec<u8>| key.starts_with(b"\xfe");
    );
}

#[test]
fn tuples_begin_with_their_first_part() {
    let pairs =
        || [-9i32, -1, 0, 1, 9].into_iter().flat_map(|one| [i32::MIN, 0, i32::MAX].map(|two| (one, two)));
    agrees!(of(pairs(), 7u64), -1, |key: &(i32, i32)| key.0 == -1; 9, |key: &(i32, i32)| key.0 == 9;);
    agrees!(of(pairs(), Arc::new(7)), 0, |key: &(i32, i32)| key.0 == 0; 5, |_: &(i32, i32)| false;);
    agrees!(of(pairs(), "text".to_owned()), 1, |key: &(i32, i32)| key.0 == 1;);
    let small =
        || (0..4u8).flat_map(|one| [('a', false), ('a', true), (char::MAX, true)].map(|(c, b)| (one, c, b)));
    agrees!(of(small(), 7u8), 0, |key: &(u8, char, bool)| key.0 == 0; 3, |key: &(u8, char, bool)| key.0 == 3;);
    let wide = (0..4u64).flat_map(|one| ["", "a", "\u{ff}"].map(|two| (one << 40, two.to_owned())));
    agrees!(of(wide, 7u64), 2u64 << 40, |key: &(u64, String)| key.0 == 2 << 40;);
}

/// A first part isn't a prefix of its own: it is whole.
#[test]
fn a_first_part_of_any_length_is_whole() {
    let named = ["", "a", "a\0", "a\0b", "ab", "b"]
        .into_iter()
        .flat_map(|name| [0u64, 7, u64::MAX].map(|at| (name.to_owned(), at, 7i8)));
    for name in ["", "a", "a\0", "ab", "x"] {
        let begins = |key: &(String, u64, i8)| key.0 == name;
        agrees!(of(named.clone(), 0.5f64), name, begins;);
        agrees!(of(named.clone(), Arc::new(7)), name, begins;);
    }
}

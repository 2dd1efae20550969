//! `#[derive(Key)]` and `#[derive(Value)]`: derived keys have the order of `#[derive(Ord)]`, in the index and
//! in their bytes, and all values come back. `derive_messages/` has what is refused.

use latchless::{
    BytesKey, InBox, InBytes, InWord, Index, IndexKey, IndexSet, IndexValue, Key, KeyFor, Value,
};
use latchless_core::testing::{Rng, bytes_are_lawful, bytes_of, ordered_and_itself};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

/// Two `u32` in a word, the second in descending order.
#[derive(Key, Debug, Clone, Copy, PartialEq, Eq)]
struct Order {
    account: u32,
    #[key(desc)]
    number: i32,
}

impl Ord for Order {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.account, Reverse(self.number)).cmp(&(other.account, Reverse(other.number)))
    }
}

impl PartialOrd for Order {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A narrow one, which is a part of others.
#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Small(bool, i8, char);

/// As wide as a word.
#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id(i64);

#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Fatal = -7,
    Info = 0,
    Debug,
    Warning = 8,
}

#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
enum Far {
    Near = 3,
    Far = 1 << 63,
}

/// The macro can't compute what a constant is.
#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Computed {
    Low = -1 << 20,
    High = 1 << 3,
    Higher,
}

/// Fields of other derived keys fit a word, but the macro sees their names only.
#[derive(Key, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[key(word)]
struct Nested {
    small: Small,
    kind: Kind,
}

#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    A,
    B,
    C = 200,
}

/// Numbers that don't fit a word: bytes, but passed by value.
#[derive(Key, Value, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide {
    low: i64,
    high: u64,
    more: [u8; 12],
}

/// Strings that may be prefixes of one another, in the middle.
#[derive(Key, Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    site: Id,
    path: String,
    level: Level,
    parts: Option<Vec<u8>>,
}

/// More fields than a tuple has, and parameters.
#[derive(Key, Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Many<T, const N: usize>(Arc<str>, u8, T, i16, bool, Reverse<String>, [u8; N], T);

#[derive(Key, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[key(bytes)]
struct AsBytes(u16);

fn form<K: IndexKey>() -> &'static str {
    std::any::type_name::<K::Form>()
}

/// Checks the bytes of two keys, and a set of them.
fn in_order<K: KeyFor<()> + BytesKey + Ord + Clone + Debug>(make: impl Fn(&mut Rng) -> K) {
    let (set, mut model) = (IndexSet::<K>::new().unwrap(), BTreeSet::new());
    let mut rng = Rng(5);
    for _ in 0..400 {
        let (one, other) = (make(&mut rng), make(&mut rng));
        bytes_are_lawful(&one, &other, one.cmp(&other));
        bytes_are_lawful(&(one.clone(), 7u8), &(other.clone(), 3u8), (&one, 7).cmp(&(&other, 3)));
        assert_eq!(set.insert(one.probe()), Ok(model.insert(one.clone())));
        assert_eq!(set.contains(other.probe()), model.contains(&other));
        assert_eq!(set.higher(other.probe()).as_ref(), model.range(&other..).find(|key| **key != other));
    }
    assert!(set.iter().eq(model));
}

fn text(rng: &mut Rng) -> String {
    ["", "\0", "a", "a\0", "ab", "b"][rng.below(6) as usize].to_owned()
}

fn small(rng: &mut Rng) -> Small {
    Small(rng.below(2) == 0, rng.next() as i8, ['\0', 'x', char::MAX][rng.below(3) as usize])
}

fn level(rng: &mut Rng) -> Level {
    [Level::Fatal, Level::Info, Level::Debug, Level::Warning][rng.below(4) as usize]
}

#[test]
fn keys_that_fit_a_word_have_the_order_of_their_fields() {
    let order = |rng: &mut Rng| Order { account: rng.below(3) as u32, number: rng.below(3) as i32 - 1 };
    let id = |rng: &mut Rng| Id(rng.next() as i64 >> rng.below(64));
    let kind = |rng: &mut Rng| [Kind::A, Kind::B, Kind::C][rng.below(3) as usize];
    let nested = |rng: &mut Rng| Nested { small: small(rng), kind: kind(rng) };
    let far = |rng: &mut Rng| [Far::Near, Far::Far][rng.below(2) as usize];
    in_order(order);
    in_order(small);
    in_order(id);
    in_order(level);
    in_order(kind);
    in_order(far);
    in_order(nested);
    in_order(|rng| [Computed::Low, Computed::High, Computed::Higher][rng.below(3) as usize]);
    in_order(|rng| (level(rng), small(rng)));
    in_order(|rng| Reverse(nested(rng)));
    let rng = &mut Rng(9);
    for _ in 0..400 {
        ordered_and_itself(order(rng), order(rng));
        ordered_and_itself(small(rng), small(rng));
        ordered_and_itself(id(rng), id(rng));
        ordered_and_itself(level(rng), level(rng));
        ordered_and_itself(far(rng), far(rng));
        ordered_and_itself(nested(rng), nested(rng));
    }
    assert_eq!((<Level as Key>::WIDTH_BITS, <Kind as Key>::WIDTH_BITS, Nested::WIDTH_BITS), (8, 8, 38));
    assert_eq!([form::<Order>(), form::<Id>(), form::<Far>(), form::<Nested>()], [form::<u64>(); 4]);
    assert_eq!(
        [form::<Small>(), form::<Level>(), form::<(Level, Small)>()],
        [form::<u32>(), form::<u32>(), form::<u64>()]
    );
}

#[test]
fn keys_of_bytes_have_the_order_and_the_bytes_of_a_tuple() {
    in_order(|rng| Wide {
        low: rng.below(3) as i64 - 1,
        high: rng.next() >> rng.below(64),
        more: [rng.next() as u8; 12],
    });
    let page = |rng: &mut Rng| Page {
        site: Id(rng.below(2) as i64 - 1),
        path: text(rng),
        level: level(rng),
        parts: (rng.below(2) == 0).then(|| text(rng).into()),
    };
    in_order(page);
    in_order(|rng| AsBytes(rng.next() as u16));
    let many = |rng: &mut Rng| {
        let (a, b) = (text(rng), text(rng));
        let (c, d) = (rng.below(2) as i16 - 1, rng.below(2) == 0);
        Many::<String, 2>(
            a.into(),
            rng.below(2) as u8,
            b,
            c,
            d,
            Reverse(text(rng)),
            [rng.below(2) as u8; 2],
            text(rng),
        )
    };
    in_order(many);
    assert!([form::<Wide>(), form::<Page>(), form::<AsBytes>()] == [std::any::type_name::<InBytes>(); 3]);
    assert_ne!(form::<AsBytes>(), std::any::type_name::<InWord<u32>>());

    let key = Page { site: Id(-7), path: "a\0".into(), level: Level::Debug, parts: None };
    let parts = (-7i64, "a\0".to_owned(), 1i8, None::<Vec<u8>>);
    assert_eq!(bytes_of(&key), bytes_of(&parts));
    assert_eq!(Page::type_name(), "(i64, text, Level, optional bytes)");
    let key = many(&mut Rng(3));
    let Many(a, b, c, d, e, f, g, h) = key.clone();
    assert_eq!(bytes_of(&key), bytes_of(&(a, (b, (c, (d, (e, (f, (g, h)))))))), "those of a flat tuple");
    assert!(!Level::is_key(&[0]) && Level::is_key(&bytes_of(&Level::Info)) && !Level::is_key(&[0x80, 0]));
    let index = Index::<Wide, u8>::new().unwrap();
    let key = Wide { low: -1, high: 2, more: [3; 12] };
    index.insert(key, 7).unwrap();
    assert_eq!((index.get(key), index.range(key..).count()), (Some(7), 1));
}

#[derive(Value, Debug, Clone, Copy, PartialEq)]
struct Place {
    file: u16,
    page: u32,
    is_dirty: bool,
}

/// Words that are shared by narrow fields, and words of their own.
#[derive(Value, Debug, Clone, Copy, PartialEq)]
struct Extent {
    file: u16,
    is_dirty: bool,
    start: u64,
    digest: [u8; 20],
    kind: u8,
    owner: u128,
    last: f32,
}

#[derive(Value, Debug, Clone, Copy, PartialEq)]
#[value(words)]
struct OfOthers(Level, Place);

#[derive(Value, Debug, Clone, PartialEq)]
enum Event<T> {
    Started { at: u64, of: Vec<T> },
    Ended(String),
    Nothing,
}

#[derive(Value, Debug, Clone, Copy, PartialEq)]
struct Unit;

#[derive(Value, Debug, Clone, PartialEq)]
#[value(boxed)]
struct Boxed(u64);

/// Checks that values come back from an index of words and one of strings, with a number that makes them.
fn come_back<V: IndexValue + PartialEq + Debug>(make: impl Fn(&mut Rng) -> V)
where
    u64: KeyFor<V>,
    String: KeyFor<V>,
{
    let mut rng = Rng(11);
    let values: Vec<V> = (0..100).map(|_| make(&mut rng)).collect();
    let numbers: Index<u64, V> = (0..).zip(values.iter().cloned()).collect();
    let names: Index<String, V> = (0..).map(|n: u32| n.to_string()).zip(values.iter().cloned()).collect();
    for (at, value) in values.iter().enumerate() {
        assert_eq!(
            (numbers.get(at as u64).as_ref(), names.get(&at.to_string()).as_ref()),
            (Some(value), Some(value))
        );
    }
}

#[test]
fn values_of_every_form_come_back() {
    let place = |rng: &mut Rng| Place {
        file: rng.next() as u16,
        page: rng.next() as u32,
        is_dirty: rng.below(2) == 0,
    };
    come_back(place);
    come_back(small);
    come_back(level);
    come_back(|rng| [Computed::Low, Computed::High, Computed::Higher][rng.below(3) as usize]);
    come_back(|rng| Id(rng.next() as i64));
    come_back(|rng| Extent {
        file: rng.next() as u16,
        is_dirty: rng.below(2) == 0,
        start: rng.next(),
        digest: [rng.next() as u8; 20],
        kind: rng.next() as u8,
        owner: u128::from(rng.next()) << 40,
        last: rng.below(9) as f32 - 4.5,
    });
    come_back(|rng| OfOthers(level(rng), place(rng)));
    come_back(|rng| Boxed(rng.next()));
    come_back(|_| Unit);
    come_back(|rng| match rng.below(3) {
        0 => Event::Started { at: rng.next(), of: vec![rng.next()] },
        1 => Event::Ended(text(rng)),
        _ => Event::Nothing,
    });
    fn value_form<V: IndexValue>() -> &'static str {
        std::any::type_name::<V::Form>()
    }
    assert_eq!([value_form::<Place>(), value_form::<Unit>(), value_form::<Far>()], [value_form::<u64>(); 3]);
    assert_eq!(
        (value_form::<Extent>(), value_form::<OfOthers>()),
        (value_form::<[u64; 8]>(), value_form::<[u64; 2]>())
    );
    assert_eq!([value_form::<Event<u8>>(), value_form::<Boxed>()], [std::any::type_name::<InBox>(); 2]);
}

#[test]
fn the_compiler_points_at_what_is_refused() {
    // The messages are those of the pinned compiler: the steps with a sanitizer have another one.
    if cfg!(miri) || std::env::var("RUSTUP_TOOLCHAIN").is_ok_and(|toolchain| toolchain.starts_with("nightly"))
    {
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/derive_messages/*.rs");
}

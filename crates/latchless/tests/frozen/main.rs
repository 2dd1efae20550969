//! `freeze`: the same answers from packed nodes, shared by clones, until the last one thaws.

mod reads;

use latchless::bytes::{BytesCursor, MultiIndex};
use latchless::index::{Budget, Cursor, Entries, Options, Slot};
use latchless::versions::{Retention, VersionedIndex};
use latchless::{
    Error, FillFactor, Frozen, Index, IndexSet, IndexValue, KeyFor, NotFrozen, Reader, VersionedKey,
};
use std::fmt::Debug;
use std::sync::Arc;
use std::thread;

const MANY: u64 = if cfg!(miri) { 200 } else { 20_000 };

fn within(budget: &Budget) -> Options {
    Options { huge_pages: false, budget: Some(budget.clone()), ..Options::default() }
}

/// A string of some bytes, or of several hundred, which isn't stored in a node.
fn text(number: u64) -> String {
    format!("{number:020}{}", "x".repeat(if number.is_multiple_of(77) { 900 } else { 3 }))
}

/// Returns entries in the order of their keys.
fn entries<K, V>(key: fn(u64) -> K, value: fn(u64) -> V) -> Vec<(K, V)> {
    (0..MANY).map(|number| (key(number), value(number))).collect()
}

/// Returns an index of these entries, inserted in another order.
fn grown<K: KeyFor<V>, V: IndexValue>(
    key: fn(u64) -> K,
    value: fn(u64) -> V,
    options: Options,
) -> Index<K, V> {
    let index = Index::with_options(options).unwrap();
    let mixed = (0..MANY).map(|at| at * 61_801 % MANY);
    index.try_extend(mixed.map(|number| (key(number), value(number)))).unwrap();
    index
}

fn answers<K, V>(frozen: &Reader<Index<K, V>>, key: fn(u64) -> K, value: fn(u64) -> V)
where
    K: KeyFor<V> + Debug + PartialEq,
    V: IndexValue + Debug + PartialEq,
{
    frozen.check_invariants().unwrap();
    assert_eq!(frozen.len() as u64, MANY);
    assert!(frozen.iter().eq(entries(key, value)));
    assert!(frozen.iter().rev().eq(entries(key, value).into_iter().rev()));
    let keys: Vec<K> = (0..MANY).step_by(37).map(key).collect();
    let probes: Vec<_> = keys.iter().map(K::probe).collect();
    let asked = (0..MANY).step_by(37).map(|number| Some(value(number)));
    assert!(frozen.get_all(&probes).into_iter().eq(asked));
    assert_eq!(frozen.rank(key(MANY / 2).probe()) as u64, MANY / 2);
    assert_eq!(frozen.higher(key(5).probe()), Some((key(6), value(6))));
}

fn freezes<K, V>(key: fn(u64) -> K, value: fn(u64) -> V)
where
    K: KeyFor<V> + Debug + PartialEq + Send + Sync,
    V: IndexValue + Debug + PartialEq,
{
    let budget = Budget::new(usize::MAX >> 1);
    let index = grown(key, value, within(&budget));
    let mut loaded = Index::<K, V>::with_options(within(&budget)).unwrap();
    loaded.bulk_load(&entries(key, value), FillFactor::FULL).unwrap();
    let leaves = loaded.stats().leaves;
    drop(loaded);
    let frozen = index.freeze().unwrap();
    assert_eq!(frozen.stats().leaves, leaves, "as if it were loaded");
    let clone = frozen.clone();
    assert_eq!(budget.taken_bytes(), frozen.memory_bytes(), "a clone takes nothing");
    thread::scope(|threads| {
        threads.spawn(|| answers(&clone, key, value));
        answers(&frozen, key, value);
    });
    let frozen = frozen.thaw().unwrap_err();
    drop(clone);
    let cursor = Cursor::of(frozen.clone());
    let range = frozen.range_owned(..);
    let frozen = frozen.thaw().unwrap_err();
    assert_eq!(range.count() as u64, MANY);
    drop(cursor);
    let index = frozen.thaw().expect("the last clone");
    index.try_extend([(key(MANY), value(MANY))]).unwrap();
    index.check_invariants().unwrap();
    assert_eq!(index.len() as u64, MANY + 1);
    drop(index);
    assert_eq!(budget.taken_bytes(), 0);
}

/// Memory is refused: the index comes back as it was, and freezes without it.
fn gives_back_what_it_could_not_pack<K, V>(key: fn(u64) -> K, value: fn(u64) -> V)
where
    K: KeyFor<V> + Debug + PartialEq,
    V: IndexValue + Debug + PartialEq,
{
    let budget = Budget::new(usize::MAX >> 1);
    let index = grown(key, value, within(&budget));
    answers(Reader::of(&index), key, value); // Lookups make tables.
    let held = index.memory_bytes();
    let full = budget.reserve(budget.limit_bytes() - held - 1000).unwrap();
    let Err(NotFrozen { error, index }) = index.freeze() else { panic!("there is no room for both") };
    assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
    assert_eq!(index.memory_bytes(), held);
    let frozen = Frozen::from(index);
    answers(&frozen, key, value);
    drop(full);
    let index = frozen.thaw().unwrap();
    answers(&index.freeze().unwrap(), key, value);
}

/// Tests of each kind of keys and values.
macro_rules! kinds {
    ($($name:ident: $key:expr, $value:expr;)*) => {$(
        #[test]
        fn $name() {
            freezes($key, $value);
            gives_back_what_it_could_not_pack($key, $value);
        }
    )*};
}
kinds! {
    words: |number| number << 40, |number| !number;
    words_of_32_bits: |number| number as u32, |number| number as u32;
    strings: text, |number| number;
    words_to_strings: |number| number, text;
    tuples_to_several_words: |number| ((number / 7) as u16, text(number)), |number| [number; 4];
    words_to_arcs: |number| number, |number| Arc::new([number; 6]);
    strings_to_slots: text, |number| Slot([number; 6]);
}

/// The last clone is dropped by another thread while others read.
#[test]
fn clones_may_be_dropped_anywhere() {
    let arcs: Vec<Arc<String>> = (0..MANY).map(|number| Arc::new(text(number))).collect();
    let index: Index<u64, Arc<String>> = (0..).zip(arcs.iter().cloned()).collect();
    let frozen = index.freeze().unwrap();
    let readers: Vec<_> = (0..3).map(|_| frozen.clone()).collect();
    drop(frozen);
    thread::scope(|threads| {
        for frozen in readers {
            threads.spawn(move || assert_eq!(frozen.get(7).as_deref(), Some(&text(7))));
        }
    });
    assert!(arcs.iter().all(|arc| Arc::strong_count(arc) == 1));
}

/// Iterators, scans and cursors of every kind take a frozen index, or a reader, as they take an index.
#[test]
fn a_frozen_index_is_walked_by_what_owns_it() {
    let frozen = grown(|number| number, |number| !number, Options::default()).freeze().unwrap();
    let entries = Entries::of(frozen.clone(), 3..MANY - 3);
    let lent = Entries::of(&*frozen, 3..MANY - 3);
    assert!(thread::spawn(move || entries.rev().count()).join().unwrap() == lent.count());
    let mut cursor = Cursor::of(&*frozen);
    assert_eq!((cursor.seek(9), cursor.prev(), cursor.value_now()), (Some((9, !9)), Some((8, !8)), Some(!8)));
    assert_eq!((&frozen).into_iter().next(), (&*frozen).into_iter().next());

    let frozen = grown(text, |number| number, Options::default()).freeze().unwrap();
    let mut cursor = BytesCursor::of(frozen.clone());
    let last = thread::spawn(move || cursor.seek_last().map(|(_, value)| value)).join().unwrap();
    assert_eq!(last, Some(MANY - 1));
    assert_eq!(BytesCursor::of(&*frozen).seek_first().map(|(_, value)| value), Some(0));
    let mut range = frozen.range_owned(&*text(10)..);
    assert_eq!((range.next(), range.next_back()), (Some((text(10), 10)), Some((text(MANY - 1), MANY - 1))));
}

#[test]
fn sets_rows_and_newest_versions_freeze_too() {
    let set: IndexSet<String> = (0..MANY).map(text).collect();
    let other: IndexSet<String> = (MANY - 3..2 * MANY).map(text).collect();
    let set = set.freeze().unwrap();
    assert!(set.contains(&text(5)) && set.iter().eq((0..MANY).map(text)));
    assert_eq!(set.as_index().rank(&text(9)), 9);
    let other = Reader::of(&other);
    assert!(set.intersection(other).eq((MANY - 3..MANY).map(text)) && !set.is_subset(other));

    let rows = MultiIndex::<String>::try_from_iter((0..MANY).map(|row| (text(row % 50), row))).unwrap();
    let rows = rows.freeze().unwrap();
    assert_eq!((rows.distinct_keys(), rows.len() as u64), (50, MANY));
    assert!(rows.clone().rows(&text(7)).eq((7..MANY).step_by(50)));

    let entries = (0..MANY).map(|number| (VersionedKey(text(number % 100), number), !number));
    let table: Index<VersionedKey<String>, u64> = entries.collect();
    let table = table.freeze().unwrap();
    assert_eq!(table.newest(&text(7), 150), Some((107, !107)));
}

#[test]
fn a_frozen_table_of_versions_is_read_at_every_number() {
    let index = VersionedIndex::<String, u64>::with_options(Options::default(), Retention::All).unwrap();
    for number in 0..MANY / 10 {
        index.insert(&text(number % 10), number).unwrap();
    }
    let frozen = index.freeze().unwrap();
    let newest = frozen.newest();
    for number in 10..newest {
        // Commit `number` wrote the value before it.
        let then = frozen.snapshot_at(number).unwrap();
        assert_eq!(then.get(&text((number - 1) % 10)), Some(number - 1));
    }
    assert_eq!(frozen.snapshot_at(newest + 1).unwrap_err().newest, newest);
    let owned = frozen.snapshot_owned();
    let walker = thread::spawn(move || owned.into_range(..).map(|(_, value)| value).max());
    assert_eq!(walker.join().unwrap(), frozen.snapshot().values().max());
    let index = frozen.thaw().expect("no snapshot is left");
    index.insert("more", 7).unwrap();
    assert_eq!((index.newest(), index.len()), (newest + 1, 11));
}

#[test]
fn an_empty_index_and_a_refusal_convert() {
    let frozen = Index::<u64, String>::new().unwrap().freeze().unwrap();
    assert!(frozen.is_empty() && frozen.first().is_none() && format!("{frozen:?}") == "{}");
    let refused = NotFrozen { error: Error::InvertedRange, index: frozen };
    assert_eq!(format!("{refused}"), format!("an index wasn't frozen: {}", Error::InvertedRange));
    assert_eq!(Error::from(refused), Error::InvertedRange);
}

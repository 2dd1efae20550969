//! Changes that depend on a key's value are logged as their effects, and a closed index is closed.

use latchless::bytes::Lent;
use latchless::{BytesValue, Index, KeyFor, Reader};
use latchless_log::{Durable, DurableIndex, Error, Options, StoredAsUsual, SyncMode, Usual};
use std::fmt::Debug;
use std::path::Path;

fn open<I: Usual>(folder: &Path) -> Durable<I, I::Columns> {
    let options = Options { sync: SyncMode::Never, ..Options::default() };
    Durable::open(folder, options).expect("a folder that can be opened").0
}

fn entries<I: Usual, E>(durable: &Durable<I, I::Columns>) -> Vec<E>
where
    for<'a> &'a Reader<I>: IntoIterator<Item = E>,
{
    durable.index().into_iter().collect()
}

/// Keys and values of a kind of index, in the order of the numbers that they are made of.
struct Subject<K: KeyFor<V>, V: BytesValue> {
    key: fn(u64) -> K::Probe<'static>,
    value: fn(u64) -> V,
    lent: fn(u64) -> Lent<'static, V>,
    entry: fn(u64, u64) -> (K, V),
}

fn text(number: u64) -> String {
    format!("{number:05}{}", "k".repeat(number as usize % 7 * 9))
}

fn same(number: u64) -> u64 {
    number
}

const NUMBERS: Subject<u64, u64> =
    Subject { key: same, value: same, lent: same, entry: |key, value| (key, value) };

const KEYS: Subject<String, u64> =
    Subject { key: |key| text(key).leak(), value: same, lent: same, entry: |key, value| (text(key), value) };

const TEXTS: Subject<String, String> = Subject {
    key: |key| text(key).leak(),
    value: text,
    lent: |value| text(value).leak(),
    entry: |key, value| (text(key), text(value)),
};

#[test]
fn what_they_did_is_back() {
    they_are_back(NUMBERS);
    they_are_back(KEYS);
    they_are_back(TEXTS);
}

fn they_are_back<K, V>(Subject { key, value, lent, entry }: Subject<K, V>)
where
    K: KeyFor<V, Engine: StoredAsUsual<K, V>> + PartialEq + Debug,
    V: BytesValue + PartialEq + Debug,
{
    let folder = tempfile::tempdir().expect("a folder");
    let durable = open::<Index<K, V>>(folder.path());
    (1..=6).for_each(|at| assert_eq!(durable.insert(key(at), lent(at * 10)).expect("a put"), None));
    let logged = durable.log_bytes();
    assert_eq!(durable.get_or_insert(key(1), value(99)).expect("it is there"), value(10));
    assert_eq!(durable.replace(key(9), lent(99)).expect("it isn't there"), None);
    assert_eq!(durable.replace(key(2), lent(20)).expect("the same value"), Some(value(20)));
    assert!(!durable.compare_exchange(key(2), lent(21), lent(99)).expect("another value"));
    assert!(!durable.compare_exchange(key(9), lent(0), lent(99)).expect("it isn't there"));
    assert!(durable.compare_exchange(key(2), lent(20), lent(20)).expect("the same value"));
    assert!(!durable.compare_remove(key(2), lent(21)).expect("another value"));
    assert!(!durable.compare_remove(key(9), lent(21)).expect("it isn't there"));
    assert_eq!(durable.compute(key(2), |was| was).expect("the same value"), Some(value(20)));
    assert_eq!(durable.compute(key(9), |was| was).expect("it isn't there"), None);
    assert_eq!(durable.log_bytes(), logged, "what changes nothing isn't logged");
    assert_eq!(durable.get_or_insert(key(7), value(70)).expect("it is new"), value(70));
    assert_eq!(durable.replace(key(2), lent(22)).expect("it is there"), Some(value(20)));
    assert!(durable.compare_exchange(key(3), lent(30), lent(33)).expect("the expected value"));
    assert!(durable.compare_remove(key(4), lent(40)).expect("the expected value"));
    assert_eq!(durable.pop_first().expect("an entry"), Some(entry(1, 10)));
    assert_eq!(durable.pop_last().expect("an entry"), Some(entry(7, 70)));
    let next = |was: Option<V>| was.filter(|was| *was == value(50)).map(|_| value(51));
    assert_eq!(durable.compute(key(5), next).expect("a new value"), Some(value(50)));
    assert_eq!(durable.compute(key(8), |was| was.or(Some(value(80)))).expect("a new key"), None);
    assert_eq!(durable.compute(key(6), |_| None).expect("a removal"), Some(value(60)));
    let expected = [(2, 22), (3, 33), (5, 51), (8, 80)].map(|(key, value)| entry(key, value));
    assert_eq!(entries(&durable), expected);
    drop(durable);
    let durable = open::<Index<K, V>>(folder.path());
    assert_eq!(entries(&durable), expected);
    assert_eq!(durable.get(key(5)), Some(value(51)));
    for (at, was) in [(2, 22), (3, 33), (5, 51), (8, 80)] {
        assert_eq!(durable.remove(key(at)).expect("a removal"), Some(value(was)));
    }
    assert_eq!((durable.pop_first().expect("none"), durable.pop_last().expect("none")), (None, None));
}

/// One after the other: each thread's additions count once, and each entry is popped once.
#[test]
fn they_are_atomic_and_in_the_log_s_order() {
    they_are_atomic(NUMBERS, |(key, _)| *key == 0);
    they_are_atomic(KEYS, |(key, _)| *key == text(0));
}

fn they_are_atomic<K>(Subject { key, lent, .. }: Subject<K, u64>, is_counter: fn(&(K, u64)) -> bool)
where
    K: KeyFor<u64, Engine: StoredAsUsual<K, u64>> + PartialEq + Debug,
{
    const THREADS: u64 = 4;
    const STEPS: u64 = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let durable = open::<Index<K, u64>>(folder.path());
    durable.insert(key(0), lent(0)).expect("a counter");
    let work = |thread: u64| {
        let mut popped = 0;
        for step in 0..STEPS {
            // Half of the threads count in one way, half in the other.
            let count = |was: Option<u64>| was.map(|was| was + 1);
            let mut counted = thread % 2 == 1 && durable.compute(key(0), count).expect("a change").is_some();
            while !counted {
                let before = durable.get(key(0)).expect("the counter");
                counted = durable.compare_exchange(key(0), lent(before), lent(before + 1)).expect("a change");
            }
            durable.get_or_insert(key(1 + step * THREADS + thread), 1).expect("a new key");
            if step % 3 == 0 {
                popped +=
                    u64::from(durable.pop_last().expect("a change").is_some_and(|entry| !is_counter(&entry)));
            }
        }
        popped
    };
    let popped: u64 = std::thread::scope(|threads| {
        let working: Vec<_> = (0..THREADS).map(|thread| threads.spawn(move || work(thread))).collect();
        working.into_iter().map(|thread| thread.join().expect("a thread")).sum()
    });
    assert_eq!(durable.get(key(0)), Some(THREADS * STEPS));
    assert_eq!(durable.len() as u64, 1 + THREADS * STEPS - popped);
    let expected = entries(&durable);
    drop(durable);
    assert_eq!(entries(&open::<Index<K, u64>>(folder.path())), expected);
}

#[test]
fn a_closed_index_can_be_read_and_opened_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    for sync in [SyncMode::Never, SyncMode::Each, SyncMode::Every(std::time::Duration::from_millis(1))] {
        let options = Options { sync, ..Options::default() };
        let (durable, _) = DurableIndex::<u64, u64>::open(folder.path(), options).expect("it opens");
        durable.insert(1, 10).expect("a put");
        durable.close().expect("a synced log");
        durable.close().expect("nothing more to do");
        for refused in [
            durable.insert(2, 20).map(|_| ()),
            durable.remove(1).map(|_| ()),
            durable.replace(1, 11).map(|_| ()),
            durable.pop_last().map(|_| ()),
            durable.remove_range(..).map(|_| ()),
            durable.snapshot().map(|_| ()),
        ] {
            let refused = refused.expect_err("it is closed");
            assert!(matches!(&refused, Error::Ended { folder: its } if its == folder.path()), "{refused}");
        }
        assert_eq!(entries(&durable), [(1, 10)]);
        let other = open::<Index<u64, u64>>(folder.path());
        other.insert(1, 10).expect("a put");
        assert_eq!(entries(&other), [(1, 10)]);
    }
}

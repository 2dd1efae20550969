//! Closures that change their own key, and keys that other threads keep changing: indexes of byte strings
//! distinguish the two.

use latchless::bytes::ByteStrings;
use latchless::{BytesValue, Error};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::mpsc::sync_channel;

/// Counts a call, and fails a test that would never end.
fn asked(times: &Cell<u32>) {
    times.set(times.get() + 1);
    assert!(times.get() < 100_000, "this goes on for ever");
}

/// The tries after which an operation gives up.
const TRIES: u32 = 128;

/// Every way in which a closure's own thread may change the key "seven" of an index.
fn tells_its_own_changes<V: Lend + Clone + PartialEq + Debug>(value: impl Fn(u32) -> V) {
    type Way<'w, V> = (&'w str, &'w dyn Fn(&ByteStrings<String, V>, u32));
    let put = |index: &ByteStrings<String, V>, time| _ = index.insert("seven", value(time).lend()).unwrap();
    let ways: [Way<'_, V>; 6] = [
        ("insert", &put),
        ("insert_many", &|index, time| {
            index.insert_many(&[("seven", value(time))], &mut [None]).unwrap();
        }),
        ("remove", &|index, time| {
            index.remove("seven");
            put(index, time);
        }),
        ("remove_range", &|index, time| {
            index.remove_range("s".."t").unwrap();
            put(index, time);
        }),
        ("pop_first", &|index, time| {
            assert_eq!(index.pop_first().unwrap().0, "seven");
            put(index, time);
        }),
        ("compute", &|index, time| {
            index.compute("seven", |_| Some(value(time))).unwrap();
        }),
    ];
    for (name, change) in ways {
        let index = ByteStrings::<String, V>::new().unwrap();
        let (times, last) = (Cell::new(0), value(u32::MAX));
        put(&index, 0);
        let change = || {
            asked(&times);
            change(&index, times.get());
        };
        let refused = [
            index.upsert("seven", |_| {
                change();
                last.clone()
            }),
            index.update("seven", |_| {
                change();
                last.clone()
            }),
            index.compute("seven", |_| {
                change();
                None
            }),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{name}: {refused:?}");
        }
        assert_eq!(times.get(), 3 * TRIES, "{name}");
        index.check_invariants().unwrap();
        // It leaves no trace: the next closure is called once.
        index.upsert("seven", |_| last.clone()).unwrap();
        assert_eq!(index.get("seven"), Some(last), "{name}");
    }
}

/// A value in the form that operations take.
trait Lend: BytesValue {
    fn lend(&self) -> latchless::bytes::Lent<'_, Self>;
}

impl Lend for u64 {
    fn lend(&self) -> u64 {
        *self
    }
}

impl Lend for (u64, u64) {
    fn lend(&self) -> (u64, u64) {
        *self
    }
}

impl Lend for Vec<u8> {
    fn lend(&self) -> &[u8] {
        self
    }
}

#[test]
fn a_closure_that_changes_its_own_key_is_told_after_few_tries() {
    tells_its_own_changes::<u64>(u64::from);
    tells_its_own_changes::<(u64, u64)>(|time| (time.into(), 1));
    tells_its_own_changes::<Vec<u8>>(|time| time.to_be_bytes().to_vec());
    // Stored outside of leaves.
    tells_its_own_changes::<Vec<u8>>(|time| time.to_be_bytes().repeat(100));
}

/// Makes another thread run `change` each time that `ask` is called, with the number of the call.
fn beside_a_writer<R>(change: impl Fn() + Send, work: impl FnOnce(&dyn Fn()) -> R) -> R {
    let ((ask, asks), (answer, answers)) = (sync_channel(0), sync_channel(0));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for () in asks {
                change();
                answer.send(()).unwrap();
            }
        });
        let done = work(&|| {
            ask.send(()).unwrap();
            answers.recv().unwrap();
        });
        drop(ask);
        done
    })
}

#[test]
fn other_threads_may_change_a_key_as_often_as_they_like() {
    let (index, other) =
        (ByteStrings::<String, u64>::new().unwrap(), ByteStrings::<String, u64>::new().unwrap());
    index.insert("seven", 0).unwrap();
    // More tries than a plain count would allow that ignores which thread made the changes.
    let (rounds, mut times) = (if cfg!(miri) { 200 } else { 66_000 }, 0);
    let writer = || _ = index.update("seven", |value| value + 1).unwrap();
    let before = beside_a_writer(writer, |change| {
        index.upsert("seven", |value| {
            times += 1;
            // Its own thread changes another key, the same key of another index, and this one a few times.
            index.insert("eight", times).unwrap();
            other.insert("seven", times).unwrap();
            if times % 2000 == 0 && times < rounds {
                index.insert("seven", 0).unwrap();
            }
            if times < rounds {
                change();
            }
            value.unwrap() + 1
        })
    });
    assert_eq!((before.unwrap().map(|value| value + 1), times), (index.get("seven"), rounds));
}

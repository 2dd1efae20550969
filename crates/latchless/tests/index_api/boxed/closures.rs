//! Closures that change the key of their own operation, or whose key other threads change.

use super::kinds::{Kind, empty, key, over_every_kind};
use latchless::Error;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;

over_every_kind!(
    a_closure_that_changes_its_own_key_is_refused_after_few_tries,
    other_threads_may_change_the_key_of_a_closure_any_number_of_times,
    an_operation_that_changes_nothing_creates_no_value,
);

/// How often a closure runs that changes its own key each time.
const TRIES: u32 = 128;

fn a_closure_that_changes_its_own_key_is_refused_after_few_tries<K: Kind>() {
    let index = empty::<K, u32>();
    let pin = index.pin();
    let key = &K::key(7);
    index.insert(K::arg(key), 0, &pin).unwrap();
    let times = Cell::new(0);
    let change = || {
        times.set(times.get() + 1);
        assert!(times.get() <= 5 * TRIES, "it goes on");
        index.insert(K::arg(key), times.get(), &pin).unwrap();
        0
    };
    let refused = [
        index.update(K::arg(key), |_| change(), &pin),
        index.upsert(K::arg(key), |_| change(), &pin),
        index.compute(K::arg(key), |_| Some(change()), &pin),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{refused:?}");
    }
    let removals: [&dyn Fn(); 2] = [&|| _ = index.remove_if(K::arg(key), |_| change() == 0, &pin), &|| {
        _ = index.retain(|_, _| change() != 0)
    }];
    for removal in removals {
        let payload = catch_unwind(AssertUnwindSafe(removal)).unwrap_err();
        let message = payload.downcast_ref::<String>().expect("a message");
        assert!(message.contains("the closure itself changed its key"), "{message}");
    }
    assert_eq!((index.len(), times.get()), (1, 5 * TRIES));
    index.check_invariants().unwrap();
}

/// Makes another thread run `change` each time that `ask` is called.
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

fn other_threads_may_change_the_key_of_a_closure_any_number_of_times<K: Kind>() {
    let index = empty::<K, u64>();
    let key = &K::key(7);
    index.insert(K::arg(key), 0, &index.pin()).unwrap();
    let (rounds, mut times) = (300, 0);
    let writer = || _ = index.update(K::arg(key), |value| value + 1, &index.pin()).unwrap();
    let pin = index.pin();
    beside_a_writer(writer, |change| {
        let mut disturbed = |last: u64| {
            times += 1;
            index.insert(key!(K, 8), times, &pin).unwrap();
            if times < last {
                change();
            }
        };
        let update = |value: &u64| {
            disturbed(rounds);
            value + 1
        };
        assert!(index.update(K::arg(key), update, &pin).unwrap().is_some());
        let condition = |_: &u64| {
            disturbed(2 * rounds);
            true
        };
        assert!(index.remove_if(K::arg(key), condition, &pin).is_some());
        index.insert(K::arg(key), 0, &pin).unwrap();
        let keep = |key: super::kinds::Shown<'_, K>, _: &u64| {
            if K::shown(key) != 7 {
                return true;
            }
            disturbed(3 * rounds);
            false
        };
        assert_eq!(index.retain(keep), 1);
    });
    assert_eq!((index.get(K::arg(key), &pin), times), (None, 3 * rounds));
    assert_eq!(index.len(), 1);
}

fn an_operation_that_changes_nothing_creates_no_value<K: Kind>() {
    let index = empty::<K, String>();
    let pin = index.pin();
    let (seven, eight) = (&K::key(7), &K::key(8));
    assert_eq!(index.get_or_insert(K::arg(seven), "seven".to_owned(), &pin).unwrap(), "seven");
    assert_eq!(index.get_or_insert_with(K::arg(seven), || unreachable!(), &pin).unwrap(), "seven");
    assert_eq!(index.update(K::arg(eight), |_| unreachable!(), &pin), Ok(None));
    assert_eq!(index.compute(K::arg(eight), |old| old.cloned(), &pin), Ok(None));
    assert_eq!(index.remove_if(K::arg(eight), |_| unreachable!(), &pin), None);
    assert_eq!(index.remove_if(K::arg(seven), |_| false, &pin), None);
    assert_eq!(index.replace(K::arg(eight), "VIII".to_owned(), &pin), Ok(None));
    assert_eq!((index.len(), index.get_cloned(K::arg(seven))), (1, Some("seven".to_owned())));
}

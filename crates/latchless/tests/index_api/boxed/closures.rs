//! Closures that change the key of their own operation, or whose key other threads change.

use super::{Kind, empty, over_every_kind};
use latchless::Error;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

over_every_kind!(
    a_closure_that_changes_its_own_key_is_refused_after_few_tries,
    other_threads_may_change_the_key_of_a_closure_any_number_of_times,
    an_operation_that_changes_nothing_creates_no_value,
);

/// How often a closure runs that changes its own key each time.
const TRIES: u64 = 128;

fn a_closure_that_changes_its_own_key_is_refused_after_few_tries<K: Kind>() {
    let index = empty::<K, Arc<u64>>();
    let key = &K::key(7);
    index.insert(key.probe(), Arc::new(0)).unwrap();
    let times = Cell::new(0);
    let change = || {
        times.set(times.get() + 1);
        assert!(times.get() <= 5 * TRIES, "it goes on");
        index.insert(key.probe(), Arc::new(times.get())).unwrap();
        Arc::new(0)
    };
    let refused = [
        index.update(key.probe(), |_| change()),
        index.upsert(key.probe(), |_| change()),
        index.compute(key.probe(), |_| Some(change())),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(Error::ClosureChangesItsKey { .. })), "{refused:?}");
    }
    let removals: [&dyn Fn(); 2] = [&|| _ = index.remove_if(key.probe(), |_| *change() == 0), &|| {
        _ = index.retain(|_, _| *change() != 0)
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
    let index = empty::<K, Arc<u64>>();
    let key = &K::key(7);
    index.insert(key.probe(), Arc::new(0)).unwrap();
    let (rounds, mut times) = (300, 0);
    let writer = || _ = index.update(key.probe(), |value| Arc::new(**value + 1)).unwrap();
    beside_a_writer(writer, |change| {
        let mut disturbed = |last: u64| {
            times += 1;
            index.insert(K::key(8).probe(), Arc::new(times)).unwrap();
            if times < last {
                change();
            }
        };
        let update = |value: &Arc<u64>| {
            disturbed(rounds);
            Arc::new(**value + 1)
        };
        assert!(index.update(key.probe(), update).unwrap().is_some());
        let condition = |_: &Arc<u64>| {
            disturbed(2 * rounds);
            true
        };
        assert!(index.remove_if(key.probe(), condition).is_some());
        index.insert(key.probe(), Arc::new(0)).unwrap();
        let keep = |key: K, _: &Arc<u64>| {
            if key.number() != 7 {
                return true;
            }
            disturbed(3 * rounds);
            false
        };
        assert_eq!(index.retain(keep), 1);
    });
    assert_eq!((index.get(key.probe()), times), (None, 3 * rounds));
    assert_eq!(index.len(), 1);
}

fn an_operation_that_changes_nothing_creates_no_value<K: Kind>() {
    let index = empty::<K, Arc<String>>();
    let (seven, eight) = (&K::key(7), &K::key(8));
    assert_eq!(index.get_or_insert(seven.probe(), Arc::new("seven".to_owned())).unwrap().as_str(), "seven");
    assert_eq!(index.get_or_insert_with(seven.probe(), || unreachable!()).unwrap().as_str(), "seven");
    assert_eq!(index.update(eight.probe(), |_| unreachable!()), Ok(None));
    assert_eq!(index.compute(eight.probe(), |old| old.cloned()), Ok(None));
    assert_eq!(index.remove_if(eight.probe(), |_| unreachable!()), None);
    assert_eq!(index.remove_if(seven.probe(), |_| false), None);
    assert_eq!(index.replace(eight.probe(), Arc::new("VIII".to_owned())), Ok(None));
    assert_eq!((index.len(), index.get(seven.probe())), (1, Some(Arc::new("seven".to_owned()))));
}

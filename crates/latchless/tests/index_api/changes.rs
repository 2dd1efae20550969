//! Changes that depend on the present entry, for every engine: against `BTreeMap`, and by many threads at
//! once. `types.rs` has the pairs of types.

use crate::common::{Rng, scaled};
use core::fmt::Debug;
use latchless::index::{Comparable, Replacement};
use latchless::{Index, IndexValue, KeyFor, TryInsertError};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// An entry before a change.
struct Entry<'a, K: KeyFor<V>, V: IndexValue> {
    index: &'a Index<K, V>,
    key: K::Probe<'a>,
    before: &'a Option<V>,
    /// The value that the change stores.
    new: V,
}

impl<K, V> Entry<'_, K, V>
where
    K: KeyFor<V>,
    V: Comparable + PartialEq + Debug,
{
    /// Changes the entry by a value. Returns the value that the key then has.
    fn by_value(self, chosen: u64, expected: &V, given: impl for<'v> Fn(&'v V) -> V::Given<'v>) -> Option<V> {
        let Self { index, key, before, new } = self;
        let is_met = before.as_ref() == Some(expected);
        let exchanged = if is_met { Ok(expected.clone()) } else { Err(before.clone()) };
        match chosen {
            0 => {
                let replaced = V::Form::into_result(index.replace(key, given(&new)));
                assert_eq!(replaced.as_ref(), Ok(before));
                before.clone().and(Some(new))
            }
            1 => {
                let outcome = index.compare_exchange(key, expected.lend(), given(&new));
                assert_eq!(V::Form::into_result(outcome), Ok(exchanged));
                if is_met { Some(new) } else { before.clone() }
            }
            2 => {
                assert_eq!(index.compare_remove(key, expected.lend()), exchanged);
                before.clone().filter(|_| !is_met)
            }
            3 => {
                let there = before.clone().unwrap_or(new);
                assert_eq!(index.get_or_insert(key, given(&there)).as_ref(), Ok(&there));
                Some(there)
            }
            _ => match (index.try_insert(key, new.clone()), before) {
                (Err(TryInsertError::Present { present, value }), Some(before)) => {
                    assert_eq!((&present, value), (before, new));
                    Some(present)
                }
                (inserted, before) => {
                    assert_eq!((inserted, before), (Ok(()), &None));
                    Some(new)
                }
            },
        }
    }

    /// Changes the entry by a closure, which sees the present value. Returns the value that the key then has.
    fn by_closure(self, chosen: u64, goes: bool) -> Option<V> {
        let Self { index, key, before, new } = self;
        let is_before = |seen: V::Lent<'_>| before.as_ref().is_some_and(|before| before.is(seen));
        let sees = |seen: Option<V::Lent<'_>>| {
            assert_eq!(seen.is_some_and(is_before), before.is_some());
        };
        match chosen {
            0 => {
                let change = |seen: V::Lent<'_>| {
                    sees(Some(seen));
                    new.clone()
                };
                assert_eq!(V::Form::into_result(index.update(key, change)).as_ref(), Ok(before));
                before.clone().and(Some(new))
            }
            1 => {
                let outcome = index.upsert(key, |seen| {
                    sees(seen);
                    new.clone()
                });
                assert_eq!(outcome.as_ref(), Ok(before));
                Some(new)
            }
            2 => {
                let after = Some(new).filter(|_| !goes);
                let outcome = index.compute(key, |seen| {
                    sees(seen);
                    after.clone()
                });
                assert_eq!(outcome.as_ref(), Ok(before));
                after
            }
            3 => {
                let removed = index.remove_if(key, |seen| is_before(seen) && goes);
                assert_eq!(removed, before.clone().filter(|_| goes));
                before.clone().filter(|_| !goes)
            }
            _ => {
                let mut calls = 0;
                let there = before.clone().unwrap_or(new);
                let outcome = index.get_or_insert_with(key, || {
                    calls += 1;
                    there.clone()
                });
                assert_eq!((outcome.as_ref(), calls), (Ok(&there), u32::from(before.is_none())));
                Some(there)
            }
        }
    }
}

/// Makes conditional changes to an index and to a map, and compares all answers.
pub fn agree<K, V, P, G>(key: &impl Fn(u64) -> K, value: &impl Fn(u64) -> V, probe: &P, given: &G)
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: Comparable + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
    G: for<'v> Fn(&'v V) -> V::Given<'v>,
{
    let (index, mut map) = (Index::<K, V>::new().unwrap(), BTreeMap::new());
    let mut rng = Rng(23);
    for step in 0..scaled(3_000) as u64 {
        let own = key(rng.next() % 60);
        let before: Option<V> = map.get(&own).cloned();
        let entry = Entry { index: &index, key: probe(&own), before: &before, new: value(step) };
        let chosen = rng.next() % 5;
        let after = if rng.next().is_multiple_of(2) {
            entry.by_closure(chosen, step.is_multiple_of(2))
        } else {
            // In one of two cases the expected value is the present one.
            let present = before.clone().filter(|_| rng.next().is_multiple_of(2));
            entry.by_value(chosen, &present.unwrap_or(value(step + 1)), given)
        };
        match after {
            Some(after) => _ = map.insert(own.clone(), after),
            None => _ = map.remove(&own),
        }
        assert_eq!(index.get(probe(&own)), map.get(&own).cloned());
        if step % 512 == 511 {
            retained(&index, &mut map);
        }
    }
    index.check_invariants().unwrap();
}

/// Keeps two of three entries, in the order of their keys.
fn retained<K, V>(index: &Index<K, V>, map: &mut BTreeMap<K, V>)
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: Comparable + PartialEq + Debug,
{
    let (len, mut seen, mut stays) = (map.len(), 0, 0u32..);
    let entries: Vec<(K, V)> = map.clone().into_iter().collect();
    map.retain(|_, _| !stays.next().unwrap().is_multiple_of(3));
    let removed = index.retain(|key, value| {
        assert!(entries[seen].0 == key && entries[seen].1.is(value));
        seen += 1;
        !(seen - 1).is_multiple_of(3)
    });
    assert_eq!((seen, removed), (len, len - map.len()));
    assert!(index.iter().eq(map.clone()));
}

/// Threads that make the same changes at once.
const THREADS: usize = 4;

/// Changes the same keys with several threads: each change takes effect once.
pub fn are_atomic<K, V, P>(key: &(impl Fn(u64) -> K + Sync), value: &(impl Fn(u64) -> V + Sync), probe: &P)
where
    K: KeyFor<V> + Ord + Sync,
    V: Comparable + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q> + Sync,
    Index<K, V>: Sync,
{
    let index = Index::<K, V>::new().unwrap();
    let keys = 0..100;
    let distinct = keys.clone().map(key).collect::<BTreeSet<K>>().len();
    let changes = |change: &(dyn Fn(&K) -> bool + Sync)| -> usize {
        let changes = || keys.clone().filter(|&number| change(&key(number))).count();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(changes)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        })
    };
    assert_eq!(changes(&|key| index.try_insert(probe(key), value(1)).is_ok()), distinct);
    assert_eq!(changes(&|key| index.compare_remove(probe(key), value(1).lend()).is_ok()), distinct);
    assert_eq!(changes(&|key| index.upsert(probe(key), |_| value(1)).unwrap().is_none()), distinct);
    assert_eq!(changes(&|key| index.remove_if(probe(key), |_| true).is_some()), distinct);
    assert_eq!(changes(&|key| index.compute(probe(key), |_| Some(value(1))).unwrap().is_none()), distinct);
    let each_removes = || index.retain(|_, _| false);
    let removed: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(each_removes)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((removed, index.len()), (distinct, 0));
}

/// Changes one key with several threads, each time to the value that follows the present one: no change is
/// lost.
pub fn follow_each_other<K, V, P, G>(key: &impl Fn(u64) -> K, value: &impl Fn(u64) -> V, probe: &P, given: &G)
where
    K: KeyFor<V> + Sync,
    V: Comparable + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q> + Sync,
    G: for<'v> Fn(&'v V) -> V::Given<'v> + Sync,
    Index<K, V>: Sync,
{
    let index = Index::<K, V>::new().unwrap();
    let steps = 10 * THREADS as u64;
    if value(0) == value(1) {
        return;
    }
    let values: Vec<V> = (0..=steps).map(value).collect();
    let next = |seen: V::Lent<'_>| {
        // Between the read and the change.
        thread::yield_now();
        let at = values.iter().position(|value| value.is(seen)).unwrap();
        values[at + 1].clone()
    };
    let own = key(7);
    index.insert(probe(&own), given(&values[0])).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (index, next, own) = (&index, &next, &own);
            scope.spawn(move || {
                for step in 0..10 {
                    match (thread + step) % 3 {
                        0 => _ = V::Form::into_result(index.update(probe(own), next)).unwrap(),
                        1 => _ = index.upsert(probe(own), |seen| next(seen.unwrap())).unwrap(),
                        _ => loop {
                            let now = index.get(probe(own)).unwrap();
                            let later = next(now.lend());
                            let outcome = index.compare_exchange(probe(own), now.lend(), given(&later));
                            if V::Form::into_result(outcome).unwrap().is_ok() {
                                break;
                            }
                        },
                    }
                }
            });
        }
    });
    assert_eq!(index.get(probe(&own)).as_ref(), values.last());
}

/// Changes a key while a closure on it runs: the closure is called again with the new value.
pub fn run_again<K, V, P, G>(key: &impl Fn(u64) -> K, value: &impl Fn(u64) -> V, probe: &P, given: &G)
where
    K: KeyFor<V>,
    V: Comparable + PartialEq + Debug,
    P: for<'q> Fn(&'q K) -> K::Probe<'q>,
    G: for<'v> Fn(&'v V) -> V::Given<'v>,
{
    let (index, own) = (Index::<K, V>::new().unwrap(), key(7));
    let [one, two, three] = [1, 2, 3].map(value);
    if one == two {
        return;
    }
    let at = || probe(&own);
    let put = |value: &V| _ = index.insert(at(), given(value)).unwrap();

    let mut calls = 0;
    put(&one);
    let outcome = index.update(at(), |seen| {
        calls += 1;
        if calls == 1 {
            put(&two)
        } else {
            assert!(two.is(seen))
        }
        three.clone()
    });
    assert_eq!((V::Form::into_result(outcome), calls), (Ok(Some(two.clone())), 2));
    assert_eq!(index.remove(at()), Some(three.clone()));

    calls = 0;
    let outcome = index.upsert(at(), |seen| {
        calls += 1;
        if calls == 1 {
            put(&one)
        } else {
            assert!(one.is(seen.unwrap()))
        }
        three.clone()
    });
    assert_eq!((outcome, calls), (Ok(Some(one.clone())), 2));

    for goes in [true, false] {
        calls = 0;
        put(&one);
        let removed = index.retain(|_, seen| {
            calls += 1;
            if calls == 1 {
                put(&two)
            } else {
                assert!(two.is(seen))
            }
            calls > 1 && !goes
        });
        assert_eq!((removed, calls, index.len()), (usize::from(goes), 2, usize::from(!goes)));
    }

    assert_eq!(index.remove(at()), Some(two.clone()));
    let there = index.get_or_insert_with(at(), || {
        put(&one);
        two.clone()
    });
    assert_eq!((there, index.get(at())), (Ok(one.clone()), Some(one)));
}

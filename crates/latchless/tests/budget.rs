//! Budgets: indexes of every kind share one limit, and a function is called before it is reached.

use latchless::bytes::MultiIndex;
use latchless::index::{Budget, Options, Slot};
use latchless::{Error, FillFactor, Index, IndexSet, KeyFor};
use latchless_core::testing::{Rng, sample};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// The common interface of all kinds of index: a number determines key and value.
trait Holder: Send + Sync {
    fn put(&self, key: u64) -> Result<(), Error>;
    fn cut(&self, key: u64);
    fn has(&self, key: u64) -> bool;
    fn held(&self) -> usize;
}

/// Implements it for a type, by the key and the value of a number, and adds it to the kinds.
macro_rules! holders {
    ($($index:ty: $own:ident, $key:ident => $put:expr, $cut:expr, $has:expr;)*) => {
        $(impl Holder for $index {
            fn put(&self, $key: u64) -> Result<(), Error> {
                let $own = self;
                $put.map(|_| ())
            }
            fn cut(&self, $key: u64) {
                let $own = self;
                let _ = $cut;
            }
            fn has(&self, $key: u64) -> bool {
                let $own = self;
                $has
            }
            fn held(&self) -> usize {
                self.memory_bytes()
            }
        })*

        /// Makes an index of each kind.
        const KINDS: &[fn(Options) -> Result<Arc<dyn Holder>, Error>] =
            &[$(|options| Ok(Arc::new(<$index>::with_options(options)?)),)*];
    };
}
holders! {
    Index<u64, u64>: own, key =>
        own.insert(key, key), own.remove(key), own.contains_key(key);
    Index<String, u64>: own, key =>
        own.insert(&text(key), key), own.remove(&text(key)), own.contains_key(&text(key));
    Index<u64, Vec<u8>>: own, key =>
        own.insert(key, text(key).as_bytes()), own.remove(key), own.contains_key(key);
    Index<u64, Arc<[u64; 9]>>: own, key =>
        own.insert(key, Arc::new([key; 9])), own.remove(key), own.contains_key(key);
    Index<u64, Slot<[u64; 9]>>: own, key =>
        own.insert(key, [key; 9]), own.remove(key), own.contains_key(key);
    IndexSet<(u64, String)>: own, key =>
        own.insert((key, "set")), own.remove((key, "set")), own.contains((key, "set"));
    MultiIndex<String>: own, key =>
        own.insert("row", key), own.remove("row", key), own.contains("row", key);
}

/// A string of some bytes or of several hundred, some of them stored outside of nodes.
fn text(key: u64) -> String {
    format!("{key:020}{}", "x".repeat(if key.is_multiple_of(7) { 900 } else { 3 }))
}

fn sharing(budget: &Budget) -> Options {
    Options { budget: Some(budget.clone()), huge_pages: false, ..Options::default() }
}

/// Loads an index of sorted entries.
fn made<K: KeyFor<u64> + Clone>(budget: &Budget, entries: &[(K, u64)]) -> Result<Index<K, u64>, Error> {
    let mut index = Index::with_options(sharing(budget))?;
    index.bulk_load(entries, FillFactor::default())?;
    Ok(index)
}

#[test]
fn indexes_of_every_kind_fill_one_budget_and_give_all_of_it_back() {
    let budget = Budget::new(if cfg!(miri) { 200 << 10 } else { 3 << 20 });
    let mut indexes: Vec<_> = KINDS.iter().map(|make| make(sharing(&budget)).unwrap()).collect();
    let held = |indexes: &[Arc<dyn Holder>]| indexes.iter().map(|index| index.held()).sum::<usize>();
    let (mut random, mut refused) = (Rng(17), 0);
    while refused < 40 {
        let index = &indexes[random.below(indexes.len() as u64) as usize];
        let key = random.below(1 << 30);
        match index.put(key) {
            Ok(()) => {}
            Err(Error::MemoryLimit { limit_bytes, .. }) => {
                assert_eq!(limit_bytes, budget.limit_bytes());
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
        assert!(budget.taken_bytes() <= budget.limit_bytes());
    }
    assert_eq!(held(&indexes), budget.taken_bytes());
    assert!(budget.taken_bytes() > budget.limit_bytes() / 10 * 9, "the limit is used up");
    // What one of them gives back, another one takes.
    while let Some(gone) = indexes.pop() {
        drop(gone);
        assert_eq!(held(&indexes), budget.taken_bytes());
        if let Some(other) = indexes.first() {
            let room = budget.limit_bytes() - budget.taken_bytes();
            let put = (0..1 << 20).take_while(|key| other.put((1 << 40) + key).is_ok()).count();
            assert!(put > room / 400 && put < 1 << 20, "{put} entries found {room} bytes");
        }
    }
    assert_eq!(budget.taken_bytes(), 0);
}

#[test]
fn an_index_has_a_limit_of_its_own_in_the_budget() {
    let budget = Budget::new(1 << 20);
    for make in KINDS {
        let index = make(Options { limit_bytes: Some(100 << 10), ..sharing(&budget) }).unwrap();
        let refused = (0..).find_map(|key| index.put(key * 3).err());
        assert!(matches!(refused, Some(Error::MemoryLimit { limit_bytes: 102_400, .. })), "{refused:?}");
        assert_eq!(index.held(), budget.taken_bytes());
        drop(index);
        assert_eq!(budget.taken_bytes(), 0);
    }
}

/// The function of the high-water mark runs in the thread that inserts. It would wait for ever if that held
/// the latch of a node, or a mutex of the index's memory.
#[test]
fn the_function_of_the_high_water_mark_may_use_the_index_that_grows() {
    for (kind, make) in KINDS.iter().enumerate() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let grown: Arc<OnceLock<Weak<dyn Holder>>> = Arc::default();
        let index = Arc::clone(&grown);
        let (limit, mark) = (4 << 20, 150 << 10);
        let budget = Budget::with_high_water(limit, mark, move |taken| {
            assert!(taken >= mark, "{taken}");
            CALLS.fetch_add(1, Ordering::Relaxed);
            let index = index.get().and_then(Weak::upgrade).expect("it is there");
            for key in 0..500 {
                assert!(index.has(key * 5), "{key} was inserted");
                index.cut(key * 5);
                index.put((1 << 31) + key).unwrap();
            }
        });
        let index = make(sharing(&budget)).unwrap();
        grown.set(Arc::downgrade(&index)).unwrap_or_else(|_| unreachable!("it is set once"));
        // Near to each other first, so that each leaf that the call changes is one that inserts change.
        let keys = (0..500).map(|key| key * 5).chain((0..).map(|key| key * 5 + 1)).take(12_000);
        keys.for_each(|key| index.put(key).unwrap());
        assert_eq!(CALLS.swap(0, Ordering::Relaxed), 1, "kind {kind}");
        assert!((0..500).all(|key| !index.has(key * 5) && index.has((1 << 31) + key)));
        assert!(budget.taken_bytes() > mark);
    }
}

#[test]
fn an_insert_that_would_be_refused_finds_the_room_that_the_function_makes() {
    for make in KINDS {
        let old: Arc<Mutex<Option<Index<u64, u64>>>> = Arc::default();
        let given_up = Arc::clone(&old);
        // The mark is the limit: no more than a request that is refused gets there.
        let budget =
            Budget::with_high_water(1 << 20, 1 << 20, move |_| drop(given_up.lock().unwrap().take()));
        let spare = Index::with_options(sharing(&budget)).unwrap();
        spare
            .try_extend((0..).map(|key| (key, key)).take_while(|_| spare.memory_bytes() < 500 << 10))
            .unwrap();
        *old.lock().unwrap() = Some(spare);
        let index = make(sharing(&budget)).unwrap();
        let mut keys = 0..;
        while old.lock().unwrap().is_some() {
            index.put(keys.next().unwrap()).expect("the other index makes room");
        }
        assert!(budget.taken_bytes() > 500 << 10 && index.held() == budget.taken_bytes());
        let refused = keys.find_map(|key| index.put(key).err());
        assert!(matches!(refused, Some(Error::MemoryLimit { .. })), "{refused:?}");
    }
}

#[test]
fn a_load_that_would_be_refused_finds_the_room_that_the_function_makes() {
    let spare: Arc<Mutex<Option<Index<u64, u64>>>> = Arc::default();
    let given_up = Arc::clone(&spare);
    let budget = Budget::with_high_water(1 << 20, 1 << 20, move |_| drop(given_up.lock().unwrap().take()));
    let numbers: Vec<_> = (0..40_000u64).map(|key| (key, key)).collect();
    let texts: Vec<_> = (0..30_000u64).map(|key| (format!("{key:012}"), key)).collect();
    let fill = || *spare.lock().unwrap() = Some(made(&budget, &numbers[..20_000]).unwrap());
    fill();
    assert_eq!(made(&budget, &numbers).unwrap().len(), 40_000);
    fill();
    assert_eq!(made(&budget, &texts).unwrap().len(), 30_000);
    assert!(spare.lock().unwrap().is_none());
}

#[test]
fn loads_and_long_strings_call_as_well() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let budget =
        Budget::with_high_water(1 << 30, 100 << 10, move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
    let numbers: Vec<_> = (0..20_000u64).map(|key| (key, key)).collect();
    drop(made(&budget, &numbers).unwrap());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let texts: Vec<_> = (0..20_000u64).map(|key| (format!("{key:09}"), key)).collect();
    drop(made(&budget, &texts).unwrap());
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    // Of this index, only the string outside of its nodes grows.
    let index = Index::<u64, Vec<u8>>::with_options(sharing(&budget)).unwrap();
    (1..50).for_each(|len| _ = index.insert(7, &vec![7; 1000 * len]).unwrap());
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[test]
fn a_panic_of_the_function_leaves_the_index_as_it_was() {
    for make in KINDS {
        let budget = Budget::with_high_water(1 << 20, 100 << 10, |_| panic!("a bug of the program"));
        let index = make(sharing(&budget)).unwrap();
        let mut keys = 0..;
        let panicked = loop {
            let key = keys.next().unwrap();
            let put = || index.put(key).unwrap();
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(put)).is_err() {
                break key;
            }
        };
        assert!((0..panicked).all(|key| index.has(key)) && !index.has(panicked));
        index.put(panicked).unwrap();
        assert!(index.has(panicked));
        drop(index);
        assert_eq!(budget.taken_bytes(), 0);
    }
}

#[test]
fn threads_share_a_budget_that_is_never_exceeded() {
    let budget = Budget::new(2 << 20);
    std::thread::scope(|scope| {
        for (thread, make) in KINDS.iter().enumerate() {
            let budget = &budget;
            scope.spawn(move || {
                for round in 0..3u64 {
                    let index = make(sharing(budget)).unwrap();
                    let mut random = Rng(100 * thread as u64 + round);
                    let inserts =
                        (0..10_000 / sample(500)).map_while(|_| index.put(random.below(1 << 30)).ok());
                    inserts.for_each(|()| assert!(budget.taken_bytes() <= budget.limit_bytes()));
                }
            });
        }
    });
    assert_eq!(budget.taken_bytes(), 0);
}

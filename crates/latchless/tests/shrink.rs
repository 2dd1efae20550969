//! `shrink`: the memory of removed entries goes back to the system, and nothing else changes.

use latchless::bytes::MultiIndex;
use latchless::index::{Budget, Options, Slot};
use latchless::versions::{Retention, VersionedIndex};
use latchless::{Error, FillFactor, Index, IndexSet, IndexValue, Kernel, KeyFor, VersionedKey};
use latchless_core::base::index::Direction;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::Arc;

const MANY: u64 = if cfg!(miri) { 300 } else { 30_000 };

fn plain() -> Options {
    Options { huge_pages: false, ..Options::default() }
}

fn sharing(budget: &Budget) -> Options {
    Options { budget: Some(budget.clone()), ..plain() }
}

/// A string of some bytes, or of several hundred, which isn't stored in a node.
fn text(number: u64) -> String {
    format!("{number:020}{}", "x".repeat(if number.is_multiple_of(77) { 900 } else { 3 }))
}

/// Entries by their numbers, in whose order the keys are.
struct Kind<K, V> {
    key: fn(u64) -> K,
    value: fn(u64) -> V,
    /// Whether values are outside of the tree, where one that stays keeps a page of them.
    is_outside: bool,
}

impl<K, V> Kind<K, V>
where
    K: KeyFor<V> + Debug + PartialEq,
    V: IndexValue + Debug + PartialEq,
{
    fn entries(&self, numbers: impl Iterator<Item = u64>) -> Vec<(K, V)> {
        numbers.map(|number| ((self.key)(number), (self.value)(number))).collect()
    }

    /// Returns an index of `many` entries that were inserted in random order, and of which nine tenths were
    /// removed again, and the numbers of those that are left.
    fn wave(&self, many: u64, options: Options) -> (Index<K, V>, Vec<u64>) {
        let index = Index::with_options(options).unwrap();
        let is_left = |number: u64| {
            if self.is_outside { number < many / 10 } else { number.is_multiple_of(10) }
        };
        // Values are placed in the order in which they are inserted.
        let first = (0..many).filter(|&number| self.is_outside && is_left(number));
        index.try_extend(self.entries(first)).unwrap();
        let mixed =
            (0..many).map(|at| at * 61_801 % many).filter(|&number| !self.is_outside || !is_left(number));
        index.try_extend(self.entries(mixed)).unwrap();
        for number in (0..many).filter(|&number| !is_left(number)) {
            assert!(index.remove((self.key)(number).probe()).is_some());
        }
        (index, (0..many).filter(|&number| is_left(number)).collect())
    }

    fn has(&self, index: &Index<K, V>, numbers: &[u64]) {
        index.check_invariants().unwrap();
        assert_eq!(index.len(), numbers.len());
        assert!(index.iter().eq(self.entries(numbers.iter().copied())));
        assert!(index.iter().rev().eq(self.entries(numbers.iter().rev().copied())));
        for &number in numbers.iter().step_by(7) {
            assert_eq!(index.get((self.key)(number).probe()), Some((self.value)(number)));
        }
    }

    fn returns_memory(&self, fill: FillFactor) {
        let (mut index, left) = self.wave(MANY, plain());
        let before = (index.memory_bytes(), index.live_bytes(), index.mapped_bytes(), index.stats());
        index.shrink(fill).unwrap();
        let after = (index.memory_bytes(), index.live_bytes(), index.mapped_bytes(), index.stats());
        self.has(&index, &left);
        let mut loaded = Index::<K, V>::with_options(plain()).unwrap();
        loaded.bulk_load(&self.entries(left.iter().copied()), fill).unwrap();
        if !cfg!(miri) {
            assert!(after.0 < before.0 * 2 / 5 && after.2 < before.2 * 2 / 5, "{after:?} of {before:?}");
            // Removals may have left fuller leaves.
            assert!(after.1 <= before.1 * 5 / 4, "{after:?} of {before:?}");
            let (fresh, slack) = (loaded.memory_bytes(), if self.is_outside { 600 << 10 } else { 40 << 10 });
            assert!(after.0 <= fresh + fresh / 10 + slack, "{after:?}, {fresh} if it is loaded");
        }
        assert_eq!((after.3.splits, after.3.leaves), (before.3.splits, loaded.stats().leaves));
        assert!(after.3.splits > 0, "the count is since the index was made");
        self.goes_on(index, left);
    }

    /// Everything that an index does follows its new nodes.
    fn goes_on(&self, mut index: Index<K, V>, mut left: Vec<u64>) {
        let key = |number: u64| (self.key)(number);
        for (at, &number) in left.iter().enumerate().step_by(97) {
            assert_eq!(index.rank(key(number).probe()), at);
            assert_eq!(index.nth(at), Some((key(number), (self.value)(number))));
            let above = left.get(at + 1).map(|&next| (key(next), (self.value)(next)));
            assert_eq!(index.higher(key(number).probe()), above);
        }
        let half = left[left.len() / 2];
        assert_eq!(index.count(key(half).probe()..), left.len() - left.len() / 2);
        {
            let mut cursor = index.cursor();
            assert!(cursor.seek(key(half).probe()).is_some());
            let mut seen = 1;
            while cursor.next().is_some() {
                seen += 1;
            }
            assert_eq!(seen, left.len() - left.len() / 2);
        }
        // Inserts before, between and after the entries, and removals of most.
        let more: Vec<u64> =
            (0..MANY / 5).map(|at| at * 7).filter(|new| left.binary_search(new).is_err()).collect();
        index.try_extend(self.entries(more.iter().copied())).unwrap();
        left.extend(more);
        left.sort_unstable();
        self.has(&index, &left);
        let low = left.len() / 8;
        assert_eq!(index.remove_range(key(left[low]).probe()..).unwrap(), left.len() - low);
        left.truncate(low);
        self.has(&index, &left);
        index.shrink(FillFactor::FULL).unwrap();
        self.has(&index, &left);
        let mut loaded = Index::<K, V>::with_options(plain()).unwrap();
        loaded.bulk_load(&self.entries(left.iter().copied()), FillFactor::FULL).unwrap();
        assert_eq!(index.stats().leaves, loaded.stats().leaves);
        index.clear();
        index.shrink(FillFactor::default()).unwrap();
        self.has(&index, &[]);
        index.try_extend(self.entries(0..100)).unwrap();
        self.has(&index, &(0..100).collect::<Vec<_>>());
    }

    /// Memory is refused at every stage of a shrink, and what the shrink took until then is given back.
    fn refused_changes_nothing(&self) {
        let budget = Budget::new(usize::MAX >> 1);
        let (mut index, left) = self.wave(MANY / 4, sharing(&budget));
        let other = Index::<u64, u64>::with_options(sharing(&budget)).unwrap();
        other.try_extend((0..100).map(|key| (key, key))).unwrap();
        index.flush();
        // Lookups make tables.
        self.has(&index, &left);
        let taken = budget.taken_bytes();
        assert_eq!(taken, index.memory_bytes() + other.memory_bytes());
        let mut fits = 0;
        let mut loaded = Index::<K, V>::with_options(plain()).unwrap();
        loaded.bulk_load(&self.entries(left.iter().copied()), FillFactor::default()).unwrap();
        let needed = loaded.live_bytes();
        for room in [0, 1000, needed / 4, needed / 2] {
            let reserved = budget.reserve(budget.limit_bytes() - taken - room).unwrap();
            let refused = index.shrink(FillFactor::default());
            if self.is_outside && refused.is_ok() {
                fits += 1;
                break;
            }
            assert!(matches!(refused, Err(Error::MemoryLimit { .. })), "{room}: {refused:?}");
            drop(reserved);
            assert_eq!((budget.taken_bytes(), index.memory_bytes() + other.memory_bytes()), (taken, taken));
            self.has(&index, &left);
        }
        assert!(fits == 0 || self.is_outside);
        for _ in 0..5 {
            index.shrink(FillFactor::default()).unwrap();
            assert_eq!(budget.taken_bytes(), index.memory_bytes() + other.memory_bytes());
            self.has(&index, &left);
        }
        let once = index.memory_bytes();
        (0..5).for_each(|_| index.shrink(FillFactor::default()).unwrap());
        assert!(index.memory_bytes() <= once, "old tables and nodes don't add up");
        drop(index);
        assert_eq!(budget.taken_bytes(), other.memory_bytes());
        drop(other);
        assert_eq!(budget.taken_bytes(), 0);
    }

    /// Few entries, or none.
    fn tiny(&self) {
        for len in [0, 1, 2, 30] {
            let mut index = Index::<K, V>::with_options(plain()).unwrap();
            index.try_extend(self.entries(0..len)).unwrap();
            let before = index.memory_bytes();
            index.shrink(FillFactor::FULL).unwrap();
            assert!(index.memory_bytes() <= before);
            self.has(&index, &(0..len).collect::<Vec<_>>());
            index.try_extend(self.entries(0..40)).unwrap();
            self.has(&index, &(0..40).collect::<Vec<_>>());
        }
    }

    fn all(&self) {
        self.tiny();
        self.returns_memory(FillFactor::default());
        self.refused_changes_nothing();
    }
}

/// Tests of each kind of keys and values.
macro_rules! kinds {
    ($($name:ident: $key:expr, $value:expr, $is_outside:expr;)*) => {$(
        #[test]
        fn $name() {
            Kind { key: $key, value: $value, is_outside: $is_outside }.all();
        }
    )*};
}
kinds! {
    words: |number| number << 40, |number| !number, false;
    words_of_32_bits: |number| number as u32, |number| number as u32, false;
    strings: text, |number| number, false;
    strings_without_values: text, |_| (), false;
    words_to_strings: |number| number, text, false;
    strings_to_several_words: |number| (number, "of one length".to_owned()), |number| [number; 4], false;
    tuples_to_byte_strings: |number| ((number / 7) as u16, text(number)), |number| text(number).into_bytes(), false;
    words_to_arcs: |number| number, |number| Arc::new([number; 6]), true;
    strings_to_slots: text, |number| Slot([number; 6]), true;
}

/// Tables that shorten lookups count as memory, and are those of a tree.
#[test]
#[cfg_attr(miri, ignore = "long")]
fn tables_of_old_nodes_are_given_back() {
    fn repeatedly<K: KeyFor<u64> + Debug + PartialEq>(key: fn(u64) -> K) {
        const MANY: u64 = 60_000;
        let budget = Budget::new(usize::MAX >> 1);
        let mut index = Index::<K, u64>::with_options(sharing(&budget)).unwrap();
        let entries: Vec<_> = (0..MANY).map(|number| (key(number), number)).collect();
        index.bulk_load(&entries, FillFactor::UPDATED).unwrap();
        let mut after = Vec::new();
        for _ in 0..3 {
            let nodes = index.live_bytes();
            for number in (0..MANY).map(|at| at * 61_801 % MANY) {
                assert_eq!(index.get(key(number).probe()), Some(number));
                assert!(number % 50 > 0 || index.rank(key(number).probe()) == number as usize);
            }
            assert!(index.live_bytes() >= nodes);
            index.shrink(FillFactor::default()).unwrap();
            index.check_invariants().unwrap();
            after.push(index.memory_bytes());
            assert_eq!(budget.taken_bytes(), index.memory_bytes());
        }
        assert!(after.iter().all(|&bytes| bytes <= after[0]), "{after:?}");
        // All that is held is in use, but for the room of numbers in tables.
        assert!(after[0] <= index.live_bytes() + (64 << 10), "{after:?}, {} in use", index.live_bytes());
    }
    repeatedly(text);
    repeatedly(|number| number);
    repeatedly(|number| number as u32);
}

#[test]
fn values_stay_where_they_are() {
    let mut slots: Index<u64, Slot<String>> = (0..1000).map(|key| (key, Slot(text(key)))).collect();
    let arcs: Vec<Arc<String>> = (0..1000).map(|key| Arc::new(text(key))).collect();
    let mut shared: Index<String, Arc<String>> =
        arcs.iter().map(|arc| (arc.to_string(), arc.clone())).collect();
    let places = |index: &Index<u64, Slot<String>>| {
        let mut places = Vec::new();
        let _ = index.scan_lent(.., Direction::Forward, |key, value| {
            places.push((key, value.as_ptr(), std::ptr::from_ref(value).addr()));
            ControlFlow::Continue(())
        });
        places
    };
    let before = places(&slots);
    slots.shrink(FillFactor::FULL).unwrap();
    shared.shrink(FillFactor::FULL).unwrap();
    assert_eq!((before.len(), places(&slots)), (1000, before));
    assert!(arcs.iter().all(|arc| Arc::strong_count(arc) == 2), "none is cloned or dropped");
    assert!(shared.iter().zip(&arcs).all(|((_, own), arc)| Arc::ptr_eq(&own, arc)));
}

#[test]
fn a_limit_of_its_own_holds_during_and_after() {
    let options = || Options { limit_bytes: Some(if cfg!(miri) { 20 << 10 } else { 1 << 20 }), ..plain() };
    let limit = options().limit_bytes.unwrap();
    let mut index = Index::<u64, u64>::with_options(options()).unwrap();
    let refused = (0..).find_map(|key| index.insert(key, key).err());
    assert!(matches!(refused, Some(Error::MemoryLimit { .. })));
    let (len, held) = (index.len() as u64, index.memory_bytes());
    assert!(
        matches!(index.shrink(FillFactor::FULL), Err(Error::MemoryLimit { limit_bytes, .. }) if limit_bytes == limit)
    );
    assert_eq!((index.len() as u64, index.memory_bytes()), (len, held));
    // Sequential inserts leave full leaves, so what is left takes a tenth.
    let kept = len / 10;
    index.remove_range(kept..).unwrap();
    // There is no room yet for other nodes.
    let mut names = Index::<String, String>::with_options(options()).unwrap();
    names.try_extend((0..200).map(|number| (text(number), text(number)))).unwrap();
    if !cfg!(miri) {
        assert!(matches!(index.shrink(FillFactor::FULL), Err(Error::MemoryLimit { .. })));
        names.shrink(FillFactor::FULL).unwrap();
    }
    assert!(names.iter().eq((0..200).map(|number| (text(number), text(number)))));
    let refused = (1000..).find_map(|number| names.insert(&text(number), &text(number)).err());
    assert!(matches!(refused, Some(Error::MemoryLimit { limit_bytes, .. }) if limit_bytes == limit));
    assert!(names.memory_bytes() <= limit && index.memory_bytes() <= limit);
}

#[test]
fn the_references_and_the_kernel_stay_those_of_the_options() {
    let options = || Options { node_references: 200, kernel: Some(Kernel::Scalar), ..plain() };
    let mut words = Index::<u64, u64>::with_options(options()).unwrap();
    let mut strings = Index::<String, u64>::with_options(options()).unwrap();
    for _ in 0..2 {
        words.shrink(FillFactor::FULL).unwrap();
        strings.shrink(FillFactor::FULL).unwrap();
        let refused = (0..).find_map(|key| words.insert(key, key).err());
        assert_eq!(refused, Some(Error::ReferencesExhausted { limit: 200 }));
        let refused = (0..).find_map(|key| strings.insert(&text(key), key).err());
        assert_eq!(refused, Some(Error::ReferencesExhausted { limit: 200 }));
        words.remove_range(50..).unwrap();
        strings.remove_range(&*text(50)..).unwrap();
    }
    assert_eq!((words.len(), strings.len()), (50, 50));
}

#[test]
fn sets_and_rows_return_memory_too() {
    let mut set: IndexSet<String> = (0..MANY).map(text).collect();
    let full = set.memory_bytes();
    (0..MANY).filter(|number| number % 10 > 0).for_each(|number| assert!(set.remove(&text(number))));
    set.shrink(FillFactor::default()).unwrap();
    assert!(set.iter().eq((0..MANY).step_by(10).map(text)));
    assert!(cfg!(miri) || set.memory_bytes() < full * 2 / 5);
    let mut rows = MultiIndex::<String>::try_from_iter((0..MANY).map(|row| (text(row % 50), row))).unwrap();
    let full = rows.memory_bytes();
    (0..MANY).filter(|row| row % 10 > 0).for_each(|row| assert!(rows.remove(&text(row % 50), row)));
    rows.shrink(FillFactor::default()).unwrap();
    rows.check_invariants().unwrap();
    assert!(cfg!(miri) || rows.memory_bytes() < full * 2 / 5);
    for key in (0..50).step_by(10) {
        assert!(rows.rows(&text(key)).eq((key..MANY).step_by(50)));
    }
    assert!(rows.insert(&text(3), 3).unwrap());
    assert_eq!((rows.len() as u64, rows.distinct_keys()), (MANY / 10 + 1, 6));
}

#[test]
fn versions_stay_readable() {
    let mut index = VersionedIndex::<String, u64>::with_options(plain(), Retention::All).unwrap();
    for number in 0..MANY / 20 {
        index.insert(&text(number % 100), number).unwrap();
    }
    let newest = index.newest();
    index.shrink(FillFactor::default()).unwrap();
    index.check_invariants().unwrap();
    assert_eq!((index.newest(), index.len()), (newest, 100));
    for number in (100..newest).step_by(13) {
        // Commit `number` wrote the value before it.
        let then = index.snapshot_at(number).unwrap();
        assert_eq!(then.get(&text((number - 1) % 100)), Some(number - 1));
        assert_eq!(then.get(&text(number % 100)), Some(number - 100));
    }
    index.insert(&text(7), 1).unwrap();
    assert_eq!((index.newest(), index.get(&text(7))), (newest + 1, Some(1)));
}

/// The hashes in leaves are those of keys without their versions.
#[test]
fn newest_versions_are_found_in_new_nodes() {
    let entries = (0..MANY).map(|number| (VersionedKey(text(number % 1000), number), !number));
    let mut index: Index<VersionedKey<String>, u64> = entries.collect();
    (0..MANY).filter(|number| number / 1000 % 2 > 0).for_each(|number| {
        assert_eq!(index.remove(VersionedKey(&text(number % 1000), number)), Some(!number));
    });
    index.shrink(FillFactor::default()).unwrap();
    for number in (0..MANY).step_by(11) {
        let found = number - number / 1000 % 2 * 1000;
        assert_eq!(index.newest(&text(number % 1000), number), Some((found, !found)));
        assert_eq!(index.get(VersionedKey(&text(found % 1000), found)), Some(!found));
    }
}

#[test]
fn one_thread_alone_shrinks_it_too() {
    let mut index: Index<u64, u64> = (0..MANY).map(|key| (key, key)).collect();
    let mut alone = index.exclusive();
    let full = alone.memory_bytes();
    alone.remove_range(100..).unwrap();
    alone.shrink(FillFactor::FULL).unwrap();
    assert!(alone.memory_bytes() < full / 2);
    assert!(alone.iter().eq((0..100).map(|key| (key, key))));
    alone.insert(1000, 1).unwrap();
    assert_eq!(alone.last(), Some((1000, 1)));
}

//! Only stored bits are decoded: keys and values that reject all other bits, through every operation.

use core::fmt::Debug;
use core::ops::ControlFlow;
use latchless::index::Slot;
use latchless::index::{Cursor, Entries, ExclusiveIndex, Group, Options};
use latchless::{Direction, FillFactor, InWord, Index, IndexKey, Key, Reply, Request, Value};
use latchless_core::base::index::OrderedIndex;
use std::num::NonZero;
use std::sync::Arc;

/// A type of which one value is stored per rank.
trait Ranked: Debug + Copy + PartialEq + Default {
    /// Returns the one that is stored.
    fn of(rank: u64) -> Self;
    /// Returns one between those of this rank and the next, which is never stored.
    fn after(rank: u64) -> Self;
}

/// Numbers that can be decoded only if their encoding leaves `$rest` when it is divided by a thousand.
/// Neither end of the domain does, nor does a neighbour of one that does.
macro_rules! ranked {
    ($($name:ident: $trait:ident, $bits:ty, $rest:literal;)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct $name($bits);

        impl Ranked for $name {
            fn of(rank: u64) -> Self {
                Self((1000 * rank + $rest) as $bits)
            }

            fn after(rank: u64) -> Self {
                Self((1000 * rank + $rest + 500) as $bits)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::of(0)
            }
        }

        impl $trait for $name {
            type Bits = $bits;

            fn encode(self) -> $bits {
                self.0
            }

            fn decode(bits: $bits) -> Self {
                assert_eq!(bits % 1000, $rest, "nobody stored {bits}");
                Self(bits)
            }
        }
    )*};
}
/// What an index must know of its keys beside that.
macro_rules! in_words {
    ($($name:ident: $bits:ty;)*) => {$(
        impl IndexKey for $name {
            type Form = InWord<$bits>;
            type Probe<'q> = Self;

            fn probe(&self) -> Self {
                *self
            }

            fn own(probe: Self) -> Self {
                probe
            }
        }
    )*};
}
in_words! {
    Key32: u32;
    Key64: u64;
}

ranked! {
    Key32: Key, u32, 333;
    Key64: Key, u64, 333;
    Value32: Value, u32, 777;
    Value64: Value, u64, 777;
}

/// Returns an index of the ranks below `len`.
fn index<K: Key + Ranked, V: Value + Ranked>(len: u64) -> Index<K, V> {
    let entries: Vec<(K, V)> = (0..len).map(|rank| (K::of(rank), V::of(rank))).collect();
    let mut index = Index::with_options(Options::default()).unwrap();
    index.bulk_load(&entries, FillFactor::FULL).unwrap();
    index
}

// Macros, because the index and its exclusive form have the same methods, but no common trait that names
// them.

/// One key, present or not.
macro_rules! point {
    ($index:ident, $len:ident) => {{
        let (middle, end) = ($len / 2, $len);
        assert_eq!($index.get(K::after(middle)), None);
        assert_eq!($index.insert(K::of(end), V::of(1)), Ok(None));
        assert_eq!($index.insert(K::of(end), V::of(2)), Ok(Some(V::of(1))));
        assert!($index.contains_key(K::of(end)) && $index.try_insert(K::of(end), V::after(1)).is_err());
        assert_eq!($index.replace(K::of(end), V::of(3)), Some(V::of(2)));
        assert_eq!($index.compare_exchange(K::of(end), V::after(1), V::of(4)), Err(Some(V::of(3))));
        assert_eq!($index.compare_exchange(K::of(end), V::of(3), V::of(4)), Ok(V::of(3)));
        assert_eq!($index.compare_exchange(K::after(end), V::of(3), V::of(4)), Err(None));
        assert_eq!($index.compare_remove(K::of(end), V::after(1)), Err(Some(V::of(4))));
        assert_eq!($index.compare_remove(K::of(end), V::of(4)), Ok(V::of(4)));
        assert_eq!($index.update(K::after(end), |value| value), None);
        assert_eq!($index.upsert(K::of(end), |_| V::of(5)), Ok(None));
        assert_eq!($index.update(K::of(end), |_| V::of(6)), Some(V::of(5)));
        assert_eq!($index.compute(K::of(end), |_| Some(V::of(7))), Ok(Some(V::of(6))));
        assert_eq!($index.remove_if(K::of(end), |value| value == V::after(1)), None);
        assert_eq!($index.get_or_insert(K::of(end), V::after(1)), Ok(V::of(7)));
        assert_eq!($index.get_or_insert_with(K::of(end), || V::after(1)), Ok(V::of(7)));
        assert_eq!($index.remove(K::of(end)), Some(V::of(7)));
        assert_eq!($index.remove(K::after(end)), None);
        let nearest = [$index.floor(K::after(middle)), $index.lower(K::of(middle)), $index.last()];
        assert!(nearest.into_iter().flatten().count() > 1 || $len < 2);
        let nearest = [$index.ceiling(K::after(end)), $index.higher(K::after(end)), $index.first()];
        assert_eq!(nearest.into_iter().flatten().count(), $len.min(1) as usize);
        if let Some((key, value)) = $index.pop_first() {
            $index.insert(key, value).unwrap();
        }
        if let Some((key, value)) = $index.pop_last() {
            $index.insert(key, value).unwrap();
        }
        assert_eq!($index.len() as u64, $len);
    }};
}

/// Ranges with and without entries; iterators, scans and cursors at every place, and their debug output.
macro_rules! range {
    ($index:ident, $len:ident) => {{
        let (low, high) = (K::after($len / 3), K::after($len / 2));
        let inside = ($len / 2 - $len / 3) as usize;
        assert_eq!($index.count(low..high), inside);
        assert_eq!($index.fold(low..high, 0, |count, _, _| count + 1), inside);
        $index.for_each(low..low, |_, _| panic!("nothing lies in it"));
        for range in [(low..high), (low..low)] {
            let mut seen = 0;
            let count = |keys: &[K], values: &[V]| {
                assert!(keys.len() == values.len() && !keys.is_empty());
                seen += keys.len();
                ControlFlow::Continue(())
            };
            assert!($index.scan_chunks(range.clone(), count).is_continue());
            assert_eq!(seen, $index.count(range));
        }
        let mut seen = 0;
        let ranges = [low..high, low..low, K::of(0)..K::after($len)];
        let count = |_: usize, keys: &[K], values: &[V]| {
            assert_eq!(keys.len(), values.len());
            seen += keys.len();
            ControlFlow::Continue(())
        };
        $index.range_many(&ranges, count);
        assert_eq!(seen as u64, inside as u64 + $len);
        let mut entries = $index.range(low..high);
        for _ in 0..=inside / 2 {
            assert!(format!("{entries:?} {:?}", $index.iter()).contains("Entries"));
            assert_eq!(entries.next().is_some(), entries.next_back().is_some() || inside % 2 == 1);
        }
        assert!(format!("{entries:?} {:?}", $index).contains("None"), "nothing is left");
        let mut cursor = $index.cursor();
        for _ in 0..$len + 2 {
            assert!(format!("{cursor:?}").contains("Cursor"));
            cursor.next();
            assert_eq!(cursor.value_now(), cursor.current().map(|entry| entry.1));
        }
        assert_eq!((cursor.seek(K::after($len)), cursor.seek_for_prev(K::of(0)).is_some()), (None, $len > 0));
        assert_eq!((cursor.seek_first().is_some(), cursor.seek_last().is_some()), ($len > 0, $len > 0));
        for direction in [Direction::Forward, Direction::Reverse] {
            // Filled with values that were never stored.
            let (mut keys, mut values) = ([K::after(0); 7], [V::after(0); 7]);
            let found = $index.page(low..high, direction, &mut keys, &mut values).unwrap();
            assert_eq!(found, inside.min(7));
            let mut scan = $index.scanner(low..high, direction);
            assert!(format!("{scan:?}").contains("Scan"));
            assert_eq!(scan.fill(&mut keys, &mut values), Ok(found));
            assert_eq!(scan.fill_values(&mut values), Ok((inside - found).min(7)));
        }
    }};
}

/// Batches, and bulk removals.
macro_rules! batch {
    ($index:ident, $len:ident) => {{
        let keys = [K::after(0), K::of($len), K::after($len), K::of($len)];
        let entries: Vec<(K, V)> = [$len, $len + 1, $len].map(|rank| (K::of(rank), V::of(rank))).to_vec();
        let mut replaced = [None; 3];
        $index.insert_many(&entries, &mut replaced).unwrap();
        assert_eq!(replaced, [None, None, Some(V::of($len))]);
        assert_eq!($index.get_all(&keys)[..2], [None, Some(V::of($len))]);
        let mut answers = [Some(V::after(0)); 4];
        $index.get_many(&keys, &mut answers).unwrap();
        $index.remove_many(&keys, &mut answers).unwrap();
        assert_eq!(answers, [None, Some(V::of($len)), None, None]);
        let mut replies = Vec::new();
        let requests = [
            Request::Get(K::after(0)),
            Request::Remove(K::of($len + 1)),
            Request::Insert(K::of($len), V::of(1)),
            Request::Scan { from: K::after(0), limit: usize::MAX },
            Request::Scan { from: K::after($len), limit: 3 },
            Request::Remove(K::of($len)),
        ];
        $index.execute(&requests, &mut replies);
        assert_eq!(replies[4], Reply::Scanned(Vec::new()));
        assert_eq!($index.remove_range(K::after(0)..K::of(3)), Ok($len.min(3).saturating_sub(1) as usize));
        assert_eq!($index.retain(|key, _| key != K::of(3)), usize::from($len > 3));
        $index.clear();
        assert_eq!($index.remove_range(K::after(0)..K::of(3)), Ok(0));
        assert_eq!($index.retain(|_, _| false), 0);
    }};
}

fn every_operation<K: Key + Ranked, V: Value + Ranked>() {
    for len in [0, 1, 2, 1001] {
        let shared = &index::<K, V>(len);
        point!(shared, len);
        range!(shared, len);
        assert!(shared.keys().eq((0..len).map(K::of)) && shared.values().eq((0..len).map(V::of)));
        let group = Group::Of(NonZero::new(4).unwrap());
        let mut answers = [None; 9];
        shared.get_many_with(group, &[K::after(0); 9], &mut answers).unwrap();
        shared.insert_many_with(group, &[(K::of(len), V::of(0)); 9], &mut answers).unwrap();
        shared.remove_many_with(group, &[K::of(len); 9], &mut answers).unwrap();
        batch!(shared, len);

        let mut alone = index::<K, V>(len);
        let mut alone = alone.exclusive();
        point!(alone, len);
        range!(alone, len);
        batch!(alone, len);
        other_ways::<K, V>(len);
    }
}

/// The remaining interface: other holders, the standard library's traits, the trait of all indexes.
fn other_ways<K: Key + Ranked, V: Value + Ranked>(len: u64) {
    let held = Arc::new(index::<K, V>(len));
    let mut entries = Entries::of(Arc::clone(&held), K::after(0)..);
    let printed = format!("{entries:?} {:?} {:?}", Cursor::of(Arc::clone(&held)), held);
    assert!(printed.contains("Entries"));
    assert_eq!(entries.by_ref().count() as u64, len.saturating_sub(1));
    let mut made = Index::from_iter(held.iter());
    made.extend([(K::of(len), V::of(len))]);
    assert_eq!((&made).into_iter().count(), made.into_iter().count());

    let mut boxed: [Box<dyn OrderedIndex<K, V>>; 2] =
        [Box::new(ExclusiveIndex::from(index(len))), Box::new(index::<K, V>(len))];
    for index in &mut boxed {
        let all = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        assert_eq!(index.for_each_chunk(all, usize::MAX, &mut |_, _| ()).unwrap() as u64, len);
        assert_eq!(index.sum(all, usize::MAX).unwrap().entries as u64, len);
        let mut scanner = index.scanner(all, Direction::Reverse).unwrap();
        let (mut keys, mut values) = ([K::after(0); 3], [V::after(0); 3]);
        assert_eq!(scanner.fill(&mut keys, &mut values).unwrap() as u64, len.min(3));
    }
}

#[test]
fn wide_keys_and_values() {
    every_operation::<Key64, Value64>();
}

#[test]
fn narrow_keys_and_values() {
    every_operation::<Key32, Value32>();
}

#[test]
fn narrow_keys_and_wide_values() {
    every_operation::<Key32, Value64>();
}

#[test]
fn keys_of_boxed_values() {
    for len in [0, 1, 300] {
        let mut index = Index::<Key64, Slot<String>>::new().unwrap();
        for rank in 0..len {
            index.insert(Key64::of(rank), rank.to_string()).unwrap();
        }
        let (before, end) = (Key64::after(0), Key64::after(len));
        assert!(index.get(before).is_none() && !index.contains_key(end));
        assert!(index.ceiling(end).is_none() && index.floor(before).is_some() == (len > 0));
        assert_eq!(index.count(before..end), len.saturating_sub(1) as usize);
        let mut entries = index.range(before..end);
        while entries.next().is_some() | entries.next_back().is_some() {
            assert!(format!("{entries:?} {:?}", index.iter()).contains("Entries"));
        }
        index.update(Key64::of(0), |old| Slot(old.clone())).unwrap();
        index.insert_many(&[(Key64::of(len), Slot::default())], &mut [None]).unwrap();
        index.remove_many(&[end, Key64::of(len)], &mut [None, None]).unwrap();
        let mut cursor = index.cursor();
        while cursor.next().is_some() {}
        assert!(cursor.seek(end).is_none());
        assert!(index.remove(end).is_none() && index.pop_first().is_some() == (len > 0));
        index.check_invariants().unwrap();
        assert_eq!(index.remove_range(before..Key64::of(3)), Ok(len.min(3).saturating_sub(1) as usize));
        index.retain(|key, _| key != Key64::of(5));
        assert_eq!(index.iter().count(), len.saturating_sub(4) as usize);
        index.reset();
        index.bulk_load(&[(Key64::of(0), Slot::default())], FillFactor::FULL).unwrap();
        assert!(format!("{:?}", index.into_iter()).contains("Entries"));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn on_many_threads() {
    use rayon::prelude::*;
    let index = index::<Key64, Value64>(20_000);
    let (low, high) = (Key64::after(10), Key64::after(9_000));
    assert_eq!(index.par_range(low..high).count(), 8_990);
    assert_eq!(index.into_par_iter().count(), 20_000);
    assert_eq!(index.par_fold(low..low, || 0, |n, _, _| n + 1, |a, b| a + b), 0);
    assert!(format!("{:?}", index.par_range(low..low)).contains("ParallelRange"));
    let keys: Vec<Key64> = (0..20_000).map(Key64::after).collect();
    let mut answers = vec![None; keys.len()];
    index.par_get_many(&keys, &mut answers).unwrap();
    index.par_remove_many(&keys, &mut answers).unwrap();
    let entries: Vec<_> = (10_000..40_000).map(|rank| (Key64::of(rank), Value64::of(rank))).collect();
    index.par_insert_many(&entries, &mut vec![None; entries.len()]).unwrap();
    assert_eq!(index.len(), 40_000);
}

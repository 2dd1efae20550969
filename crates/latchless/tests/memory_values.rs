//! What an index says that it takes: what the system has committed, and what its values own.

use latchless::index::Options;
use latchless::{FillFactor, InBox, Index, IndexValue, KeyFor};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type of a program, which says what it owns.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    cells: Vec<u64>,
}

impl IndexValue for Row {
    type Form = InBox;
    type Given<'v> = Self;
    type Lent<'v> = &'v Self;
    fn given(row: Self) -> Self {
        row
    }
    fn lend(&self) -> &Self {
        self
    }
    fn bytes_of(row: &Self) -> usize {
        size_of::<Self>() + 8 * row.cells.len()
    }
}

/// Checks the values' bytes against a model's, over inserts, replacements and removals.
fn follows<K, V>(key: impl Fn(u64) -> K, value: impl Fn(u64) -> V, bytes: impl Fn(u64) -> usize)
where
    K: KeyFor<V> + Clone,
    V: IndexValue,
{
    let plain = Options { huge_pages: false, ..Options::default() };
    let index = Index::<K, V>::with_options(plain).unwrap();
    let (mut model, mut random) = (BTreeMap::new(), Rng(3));
    for step in 0..if cfg!(miri) { 100 } else { 4000 } {
        let (number, seed) = (random.below(500), random.below(300));
        if random.below(4) == 0 {
            index.remove(key(number).probe());
            model.remove(&number);
        } else {
            index.try_extend([(key(number), value(seed))]).unwrap();
            model.insert(number, seed);
        }
        if step % 97 == 0 {
            let expected: usize = model.values().map(|&seed| bytes(seed)).sum();
            assert_eq!(index.value_bytes(), expected);
            assert!(index.live_bytes() <= index.memory_bytes());
            assert!(index.memory_bytes() <= index.mapped_bytes());
        }
    }
}

/// An empty index has one leaf, of a kilobyte, in a piece of its own. Later pieces are longer.
#[test]
fn memory_ahead_of_the_last_node_is_mapped_and_not_held() {
    let index = Index::<u64, u64>::new().unwrap();
    assert_eq!(index.memory_bytes(), 1024);
    assert!((1024..2048).contains(&index.mapped_bytes()), "{}", index.mapped_bytes());
    (0..1000).for_each(|key| _ = index.insert(key, key).unwrap());
    assert!(index.memory_bytes() + 4096 < index.mapped_bytes(), "{}", index.mapped_bytes());
}

#[test]
fn the_bytes_of_values_of_every_form_are_exact() {
    let text = |seed: u64| "v".repeat(seed as usize);
    follows(|key| key, |seed| seed, |_| 8);
    follows(|key| key as u32, |seed| seed as u16, |_| 2);
    follows(|key| key, |seed| [seed; 3], |_| 24);
    follows(|key| key, text, |seed| seed as usize);
    follows(|key| key.to_string(), |seed| text(seed).into_bytes(), |seed| seed as usize);
    follows(|key| key, |seed| Arc::new([seed; 5]), |_| 8 + 16 + 40);
    follows(|key| key.to_string(), |seed| Arc::<str>::from(text(seed)), |seed| 16 + 16 + seed as usize);
    follows(|key| key, |seed| Row { cells: vec![1; seed as usize] }, |seed| 24 + 8 * seed as usize);
}

/// What is committed is what the system may have to find memory for.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "there are no pages")]
fn resident_memory_grows_by_no_more_than_what_is_mapped() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let before = resident();
    let plain = Options { huge_pages: false, ..Options::default() };
    let index = Index::<u64, u64>::with_options(plain).unwrap();
    let mut random = Rng(5);
    (0..700_000).for_each(|_| _ = index.insert(random.next(), 0).unwrap());
    let (grown, held, mapped) = (resident() - before, index.memory_bytes(), index.mapped_bytes());
    // Others of the process's tests have some megabytes.
    assert!(held < mapped + 1 && mapped < held + (66 << 20), "{held} {mapped}");
    assert!(grown > held / 10 * 9 && grown < mapped + (6 << 20), "{grown} {held} {mapped}");
    // Of seven hundred thousand entries, ten thousand: at least half of the memory goes back.
    let (mut index, full) = (index, resident());
    let last = index.nth(10_000).unwrap().0;
    index.remove_range(last..).unwrap();
    index.shrink(FillFactor::default()).unwrap();
    assert!(resident() + held / 2 < full, "{} of {full}", resident());
}

//! Under a memory limit: acknowledged entries open again under the same limit, despite refused ones. Random
//! histories of every kind of index, at limits of a few nodes, against a model.

use latchless_log::{DurableBytesIndex, DurableIndex, DurableMultiIndex, Error, Options, Result, SyncMode};
use std::collections::BTreeMap;
use std::path::Path;

/// Keys and values as numbers, which each kind of index makes its own of.
type Model = BTreeMap<u64, u64>;

/// A kind of durable index.
trait Kind: Sized {
    fn open(folder: &Path, options: Options) -> Result<Self>;
    /// Inserts entries by one operation.
    fn put(&self, entries: &[(u64, u64)]) -> Result<()>;
    /// Removes keys, by one operation.
    fn remove(&self, keys: &[u64]) -> Result<()>;
    /// Removes a range, or the keys next to one.
    fn remove_range(&self, model: &mut Model, from: u64, to: u64) -> Result<()>;
    fn snapshot(&self) -> Result<u64>;
    fn is(&self, model: &Model) -> bool;
    fn check(&self);
}

fn remove_from(model: &mut Model, from: u64, to: u64) {
    model.retain(|key, _| !(from..to).contains(key));
}

struct Numbers(DurableIndex<u64, u64>);

impl Kind for Numbers {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self(DurableIndex::open(folder, options)?.0))
    }

    fn put(&self, entries: &[(u64, u64)]) -> Result<()> {
        match *entries {
            [(key, value)] => self.0.insert(key, value).map(drop),
            _ => self.0.insert_many(entries).map(drop),
        }
    }

    fn remove(&self, keys: &[u64]) -> Result<()> {
        self.0.remove_many(keys).map(drop)
    }

    fn remove_range(&self, model: &mut Model, from: u64, to: u64) -> Result<()> {
        remove_from(model, from, to);
        self.0.remove_range(from..to).map(drop)
    }

    fn snapshot(&self) -> Result<u64> {
        self.0.snapshot()
    }

    fn is(&self, model: &Model) -> bool {
        self.0.index().iter().eq(model.iter().map(|(&key, &value)| (key, value)))
    }

    fn check(&self) {
        self.0.index().check_invariants().unwrap();
    }
}

/// Keys of many lengths, in the order of the numbers.
fn text(key: u64) -> String {
    format!("{key:020}{}", "/".repeat((key % 40) as usize))
}

/// Values of many lengths; the longest are outside of the nodes.
fn long(value: u64) -> String {
    format!("{value:>width$}", width = if value.is_multiple_of(11) { 700 } else { 1 + (value % 30) as usize })
}

struct Texts(DurableBytesIndex<String, String>);

impl Kind for Texts {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self(DurableBytesIndex::open(folder, options)?.0))
    }

    fn put(&self, entries: &[(u64, u64)]) -> Result<()> {
        match *entries {
            [(key, value)] => self.0.insert(&text(key), &long(value)).map(drop),
            _ => {
                let keys: Vec<_> = entries.iter().map(|&(key, _)| text(key)).collect();
                let values = entries.iter().map(|&(_, value)| long(value));
                let entries: Vec<_> = keys.iter().map(String::as_str).zip(values).collect();
                self.0.insert_many(&entries).map(drop)
            }
        }
    }

    fn remove(&self, keys: &[u64]) -> Result<()> {
        let keys: Vec<_> = keys.iter().copied().map(text).collect();
        self.0.remove_many(&keys.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
    }

    fn remove_range(&self, model: &mut Model, from: u64, to: u64) -> Result<()> {
        remove_from(model, from, to);
        self.0.remove_range(&*text(from)..&*text(to)).map(drop)
    }

    fn snapshot(&self) -> Result<u64> {
        self.0.snapshot()
    }

    fn is(&self, model: &Model) -> bool {
        self.0.index().iter().eq(model.iter().map(|(&key, &value)| (text(key), long(value))))
    }

    fn check(&self) {
        self.0.index().check_invariants().unwrap();
    }
}

/// Pairs: the key is the upper part of the number, the row the lower one; there are no values.
struct Pairs(DurableMultiIndex<String>);

fn pair(key: u64) -> (String, u64) {
    (format!("{:016}", key >> 6), key & 63)
}

impl Kind for Pairs {
    fn open(folder: &Path, options: Options) -> Result<Self> {
        Ok(Self(DurableMultiIndex::open(folder, options)?.0))
    }

    fn put(&self, entries: &[(u64, u64)]) -> Result<()> {
        match *entries {
            [(key, _)] => self.0.insert(&pair(key).0, pair(key).1).map(drop),
            _ => {
                let pairs: Vec<_> = entries.iter().map(|&(key, _)| pair(key)).collect();
                self.0.insert_many(&pairs).map(drop)
            }
        }
    }

    fn remove(&self, keys: &[u64]) -> Result<()> {
        keys.iter().try_for_each(|&key| self.0.remove(&pair(key).0, pair(key).1).map(drop))
    }

    fn remove_range(&self, model: &mut Model, from: u64, _: u64) -> Result<()> {
        remove_from(model, from >> 6 << 6, ((from >> 6) + 1) << 6);
        self.0.remove_all(&pair(from).0).map(drop)
    }

    fn snapshot(&self) -> Result<u64> {
        self.0.snapshot()
    }

    fn is(&self, model: &Model) -> bool {
        self.0.index().iter().eq(model.keys().map(|&key| pair(key)))
    }

    fn check(&self) {
        self.0.index().check_invariants().unwrap();
    }
}

/// Numbers that are the same in each run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

fn options(limit: usize) -> Options {
    let index = latchless::index::Options {
        limit_bytes: Some(limit),
        huge_pages: false,
        ..latchless::index::Options::default()
    };
    Options { sync: SyncMode::Never, index, ..Options::default() }
}

/// Inserts the entries that weren't refused into the model, and returns how many were.
fn put<T: Kind>(index: &T, model: &mut Model, entries: &[(u64, u64)]) -> usize {
    let refused = match index.put(entries) {
        Ok(()) => Vec::new(),
        Err(Error::Index { refused, .. }) if entries.len() == 1 => {
            assert_eq!(refused, [], "one entry is no batch");
            vec![0]
        }
        Err(Error::Index { refused, .. }) => refused,
        Err(error) => panic!("{error}"),
    };
    let done = entries.iter().enumerate().filter(|(at, _)| refused.binary_search(at).is_err());
    model.extend(done.map(|(_, &entry)| entry));
    refused.len()
}

/// One history: operations, and openings between. Returns how many entries were refused.
fn history<T: Kind>(limit: usize, seed: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (mut dice, mut model, mut refused) = (Dice(seed), Model::new(), 0);
    // So that keys that grow are among the histories as well as those that come in any order.
    let mut grows = 0;
    for _ in 0..4 {
        let index = T::open(folder.path(), options(limit)).unwrap_or_else(|error| {
            panic!("limit {limit}, seed {seed}: {} entries don't open: {error}", model.len())
        });
        assert!(index.is(&model), "limit {limit}, seed {seed}: it opens with other entries");
        index.check();
        for _ in 0..8 {
            match dice.below(12) {
                0 => {
                    let from = dice.below(1 << 20);
                    index.remove_range(&mut model, from, from + (1 << 17)).unwrap();
                }
                1 => {
                    let keys: Vec<_> = model.keys().copied().filter(|_| dice.below(4) == 0).collect();
                    index.remove(&keys).unwrap();
                    model.retain(|key, _| keys.binary_search(key).is_err());
                }
                2 if dice.below(3) == 0 => assert_eq!(index.snapshot().unwrap(), model.len() as u64),
                kind => {
                    let len = if kind == 3 { 1 } else { 1 + dice.below(250) };
                    let entry = |_| {
                        grows += 1;
                        let key = if seed.is_multiple_of(3) { 3 * grows } else { dice.below(1 << 20) };
                        (key, dice.below(1000))
                    };
                    let entries: Vec<_> = (0..len).map(entry).collect();
                    refused += put(&index, &mut model, &entries);
                }
            }
        }
        assert!(index.is(&model), "limit {limit}, seed {seed}: an operation lied");
    }
    refused
}

fn histories<T: Kind>() {
    for limit in [16, 24, 48].map(|kib| kib << 10) {
        let refused: usize = (0..4).map(|seed| history::<T>(limit, seed)).sum();
        assert!(refused > 0, "a limit of {limit} bytes was never met");
    }
}

#[test]
fn numbers_that_met_their_limit_open_again_under_it() {
    histories::<Numbers>();
}

#[test]
fn texts_that_met_their_limit_open_again_under_it() {
    histories::<Texts>();
}

#[test]
fn pairs_that_met_their_limit_open_again_under_it() {
    histories::<Pairs>();
}

#[test]
fn keys_that_grow_up_to_the_limit_open_again_under_it() {
    for limit in (16..40).map(|kib| kib << 10) {
        let folder = tempfile::tempdir().unwrap();
        let index = Numbers::open(folder.path(), options(limit)).unwrap();
        let mut model = Model::new();
        for key in 0.. {
            if put(&index, &mut model, &[(key, key)]) > 0 {
                break;
            }
        }
        drop(index);
        // From the log, and then from a snapshot.
        for snapshots in [false, true, false] {
            let index = Numbers::open(folder.path(), options(limit))
                .unwrap_or_else(|error| panic!("limit {limit}: {} entries don't open: {error}", model.len()));
            assert!(index.is(&model));
            if snapshots {
                index.snapshot().unwrap();
            }
        }
    }
}

#[test]
fn a_smaller_limit_than_the_entries_need_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = Numbers::open(folder.path(), options(1 << 20)).unwrap();
    let mut model = Model::new();
    put(&index, &mut model, &(0..20_000).map(|key| (key * 7, key)).collect::<Vec<_>>());
    drop(index);
    let refused = Numbers::open(folder.path(), options(64 << 10)).err().unwrap();
    assert!(matches!(refused, Error::Index { cause: latchless::Error::MemoryLimit { .. }, .. }), "{refused}");
    assert!(Numbers::open(folder.path(), options(1 << 20)).unwrap().is(&model));
}

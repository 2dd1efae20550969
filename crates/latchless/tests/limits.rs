//! Memory limits: an index never exceeds its limit, whatever it contains, and memory that one part of it
//! frees is available to another part.

use latchless::bytes::{ByteStrings, MultiIndex};
use latchless::index::{Budget, Options, Slot};
use latchless::{Error, Index};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locked by each test: one of them reads the memory of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn limited(limit_bytes: usize) -> Options {
    Options { limit_bytes: Some(limit_bytes), ..Options::default() }
}

/// The common interface of all kinds of index: keys are numbers, and a number determines the length of a
/// value.
trait Limited: Sync {
    fn make(limit: usize) -> Self;
    /// Inserts an entry and returns the old value.
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error>;
    fn cut(&self, key: u64) -> Option<u64>;
    fn look(&self, key: u64) -> Option<u64>;
    fn cut_all(&self);
    fn held(&self) -> usize;
    fn check(&self);
}

impl Limited for Index<u64, u64> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error> {
        self.insert(key, value)
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(key)
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.get(key)
    }
    fn cut_all(&self) {
        self.clear();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

/// Returns a key of twelve bytes, or of some hundred.
fn key_of(key: u64) -> Vec<u8> {
    let len = if key.is_multiple_of(5) { 300 + key as usize % 700 } else { 4 };
    [&key.to_be_bytes()[..], &[b'k'; 1000][..len]].concat()
}

/// Returns a string of some bytes, or of up to twenty thousand.
fn string_of(value: u64) -> Vec<u8> {
    let len = if value.is_multiple_of(3) { value as usize % 20_000 } else { value as usize % 40 };
    [&value.to_be_bytes()[..], &vec![b'v'; len]].concat()
}

fn number_in(string: &[u8]) -> u64 {
    let value = u64::from_be_bytes(*string.first_chunk().unwrap());
    assert_eq!(string, string_of(value));
    value
}

impl Limited for ByteStrings<Vec<u8>, Vec<u8>> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error> {
        Ok(self.insert(&key_of(key), &string_of(value))?.map(|before| number_in(&before)))
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(&key_of(key)).map(|before| number_in(&before))
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.get_with(&key_of(key), number_in)
    }
    fn cut_all(&self) {
        self.remove_range::<Vec<u8>>(..).unwrap();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

impl Limited for ByteStrings<u64, u64> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error> {
        self.insert(&key, value)
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(&key)
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.get(&key)
    }
    fn cut_all(&self) {
        self.remove_range::<u64>(..).unwrap();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

impl Limited for Index<u64, Slot<[u64; 9]>> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error> {
        Ok(self.insert(key, [value; 9])?.map(|before| before[8]))
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(key).map(|before| before[8])
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.get_with(key, |value| value[8])
    }
    fn cut_all(&self) {
        self.clear();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

impl Limited for Index<Vec<u8>, Slot<[u64; 9]>> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, value: u64) -> Result<Option<u64>, Error> {
        Ok(self.insert(&key_of(key), [value; 9])?.map(|before| before[8]))
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(&key_of(key)).map(|before| before[8])
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.get_with(&key_of(key), |value| value[8])
    }
    fn cut_all(&self) {
        self.clear();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

impl Limited for MultiIndex<Vec<u8>> {
    fn make(limit: usize) -> Self {
        Self::with_options(limited(limit)).unwrap()
    }
    fn put(&self, key: u64, _: u64) -> Result<Option<u64>, Error> {
        // Rows are the values: each key has one here.
        Ok(if self.insert(&key_of(key), key)? { None } else { Some(key) })
    }
    fn cut(&self, key: u64) -> Option<u64> {
        self.remove(&key_of(key), key).then_some(key)
    }
    fn look(&self, key: u64) -> Option<u64> {
        self.contains(&key_of(key), key).then_some(key)
    }
    fn cut_all(&self) {
        self.remove_range::<Vec<u8>>(..).unwrap();
    }
    fn held(&self) -> usize {
        self.memory_bytes()
    }
    fn check(&self) {
        self.check_invariants().unwrap();
    }
}

/// Runs a random history against a model: a refused operation changes nothing. `value_of` returns the value
/// for a key.
fn history<L: Limited>(limit: usize, steps: u64, value_of: fn(u64, u64) -> u64) {
    let (index, mut model, mut random, mut refusals) =
        (L::make(limit), BTreeMap::new(), Rng(limit as u64), 0);
    for step in 0..steps {
        let (key, value) = (random.next() % 2000, random.next() % 60_000);
        let value = value_of(key, value);
        // Grows, then shrinks.
        if random.next() % 8 < if step / 1000 % 2 == 0 { 6 } else { 2 } {
            match index.put(key, value) {
                Ok(before) => assert_eq!(before, model.insert(key, value)),
                Err(Error::MemoryLimit { limit_bytes, .. }) => {
                    assert_eq!(limit_bytes, limit);
                    refusals += 1;
                }
                Err(error) => panic!("{error}"),
            }
        } else {
            assert_eq!(index.cut(key), model.remove(&key));
        }
        assert!(index.held() <= limit, "{} of {limit} bytes", index.held());
        assert_eq!(index.look(key), model.get(&key).copied());
    }
    index.check();
    assert!((0..2000).all(|key| index.look(key) == model.get(&key).copied()));
    assert!(cfg!(miri) || limit > 8 << 10 || refusals > 0, "the limit of {limit} bytes was never met");
    index.cut_all();
    index.check();
}

fn histories<L: Limited>(most: usize, value_of: fn(u64, u64) -> u64) {
    let steps = if cfg!(miri) { 200 } else { 3000 };
    for limit in [8 << 10, 15_000, most] {
        history::<L>(limit, steps, value_of);
    }
}

#[test]
fn histories_at_tiny_limits_are_as_the_model_and_hold_no_more() {
    let _alone = alone();
    let any = |_, value| value;
    histories::<Index<u64, u64>>(25_000, any);
    histories::<ByteStrings<u64, u64>>(25_000, any);
    histories::<ByteStrings<Vec<u8>, Vec<u8>>>(300_000, any);
    histories::<Index<u64, Slot<[u64; 9]>>>(120_000, any);
    histories::<Index<Vec<u8>, Slot<[u64; 9]>>>(200_000, any);
    histories::<MultiIndex<Vec<u8>>>(200_000, |key, _| key);
}

/// Threads with disjoint keys, and one that reads the memory all the time.
fn together<L: Limited>(limit: usize, value_of: fn(u64, u64) -> u64) {
    let (index, ends) = (L::make(limit), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|own| {
                let index = &index;
                scope.spawn(move || {
                    let (mut model, mut random) = (BTreeMap::new(), Rng(own + 1));
                    for step in 0..if cfg!(miri) { 50 } else { 2000 } {
                        let key = random.next() % 700 * 3 + own;
                        let value = value_of(key, random.next() % 60_000);
                        if random.next() % 8 < if step / 500 % 2 == 0 { 6 } else { 2 } {
                            match index.put(key, value) {
                                Ok(before) => assert_eq!(before, model.insert(key, value)),
                                Err(error) => assert!(matches!(error, Error::MemoryLimit { .. }), "{error}"),
                            }
                        } else {
                            assert_eq!(index.cut(key), model.remove(&key));
                        }
                    }
                    assert!(model.iter().all(|(&key, &value)| index.look(key) == Some(value)));
                })
            })
            .collect();
        let watch = scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                let held = index.held();
                assert!(held <= limit, "{held} of {limit} bytes");
            }
        });
        let outcomes: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        ends.store(true, Ordering::Relaxed);
        watch.join().unwrap();
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
    index.check();
}

#[test]
fn threads_never_see_an_index_that_holds_more_than_its_limit() {
    let _alone = alone();
    let any = |_, value| value;
    together::<Index<u64, u64>>(25_000, any);
    together::<ByteStrings<Vec<u8>, Vec<u8>>>(300_000, any);
    together::<Index<u64, Slot<[u64; 9]>>>(100_000, any);
    together::<Index<Vec<u8>, Slot<[u64; 9]>>>(200_000, any);
    together::<MultiIndex<Vec<u8>>>(200_000, |key, _| key);
}

/// Inserts entries until one is refused, and returns their number.
fn fill(index: &ByteStrings<Vec<u8>, Vec<u8>>, value: &[u8], limit: usize) -> usize {
    let put = |number: &u32| index.insert(&number.to_be_bytes()[..], value).is_ok();
    let filled = (0..).take_while(|number| put(number) && index.memory_bytes() <= limit).count();
    assert!(index.memory_bytes() <= limit, "{} of {limit} bytes", index.memory_bytes());
    filled
}

/// Returns a number of the process's status, in bytes.
#[cfg(all(target_os = "linux", not(miri)))]
fn status_bytes(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

/// Memory that a full index frees of one kind is available for the other kind, both ways.
#[test]
fn short_entries_that_are_gone_make_room_for_long_ones_and_the_other_way_about() {
    let _alone = alone();
    let limit = if cfg!(miri) { 64 << 10 } else { 8 << 20 };
    let (short, long) = ([1; 30], vec![1; if cfg!(miri) { 3000 } else { 60_000 }]);
    let fresh = |value: &[u8]| {
        let index = ByteStrings::with_options(limited(limit)).unwrap();
        fill(&index, value, limit)
    };
    let (most_short, most_long) = (fresh(&short), fresh(&long));
    // Resets the high-water mark of the process's memory.
    #[cfg(all(target_os = "linux", not(miri)))]
    let before = {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        status_bytes("VmHWM:")
    };
    let index = ByteStrings::with_options(limited(limit)).unwrap();
    for round in 0..2 {
        let filled = fill(&index, &short, limit);
        assert!(
            filled >= most_short * 9 / 10,
            "round {round}: {filled} short ones, and {most_short} at first"
        );
        index.remove_range::<Vec<u8>>(..).unwrap();
        // A node that was in a tree provides seven blocks of eight.
        let filled = fill(&index, &long, limit);
        assert!(filled >= most_long * 8 / 10, "round {round}: {filled} long ones, and {most_long} at first");
        index.remove_range::<Vec<u8>>(..).unwrap();
        index.check_invariants().unwrap();
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let grown = status_bytes("VmHWM:").saturating_sub(before);
        // In addition to the limit: one huge page, and memory that isn't the index's.
        assert!(grown <= limit + (3 << 20), "the process grew by {grown} bytes");
    }
}

/// An index begins with one node. Each further piece of memory is as long as all before it.
#[test]
fn small_limits_are_kept_at_each_step_and_everything_goes_back() {
    let _alone = alone();
    for nodes in 0..=33 {
        let budget = Budget::new(nodes * 1024 + 512);
        let options = Options { budget: Some(budget.clone()), ..Options::default() };
        let Ok(index) = Index::<u64, u64>::with_options(options) else {
            assert_eq!((nodes, budget.taken_bytes()), (0, 0), "one node is enough");
            continue;
        };
        let (mut random, mut model) = (Rng(nodes as u64), BTreeMap::new());
        let refused = loop {
            let key = random.next();
            match index.insert(key, !key) {
                Ok(before) => assert_eq!(before, model.insert(key, !key)),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::MemoryLimit { .. }), "{nodes} nodes: {refused}");
        assert!(index.memory_bytes() <= nodes * 1024 && index.iter().eq(model));
        index.check_invariants().unwrap();
        drop(index);
        assert_eq!(budget.taken_bytes(), 0);
    }
}

/// The first pieces of memory come from the allocator, later ones are mappings.
#[test]
fn an_index_keeps_its_entries_while_it_grows_from_one_node_to_mappings() {
    let _alone = alone();
    let mut index = Index::<u64, u64>::new().unwrap();
    assert_eq!(index.memory_bytes(), 1024);
    for round in 0..2 {
        let mut filled = 0;
        for entries in (0..18).map(|bits| (1 << bits) + round) {
            (filled..entries).for_each(|key| assert_eq!(index.insert(key, key ^ 5), Ok(None)));
            filled = entries;
            let step = (entries as usize).div_ceil(500);
            assert!((0..entries).step_by(step).all(|key| index.get(key) == Some(key ^ 5)));
            assert_eq!((index.len() as u64, index.last()), (entries, Some((entries - 1, (entries - 1) ^ 5))));
        }
        assert!(index.memory_bytes() > 2 << 20 && index.mapped_bytes() >= index.memory_bytes());
        index.check_invariants().unwrap();
        index.reset();
        assert_eq!((index.len(), index.memory_bytes(), index.get(0)), (0, 1024, None));
    }
}

//! Values of any type, over each kind of key: each is dropped once, none while it is read.

mod batches;
mod closures;
mod drops;
mod expiry;
mod long_keys;
mod memory;
mod references;
mod threads;

use latchless::index::{ByReference, Options, Pinned};
use latchless::{Index, IndexKey, IndexValue, KeyFor};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of keys over which each test runs. Keys are made from numbers, and have the order of these.
trait Kind:
    IndexKey
    + Clone
    + Debug
    + Ord
    + Send
    + Sync
    + KeyFor<Arc<Counted>, Engine: ByReference<Self, Arc<Counted>>>
    + KeyFor<Arc<drops::Grenade>>
    + KeyFor<Arc<expiry::Lease>>
    + KeyFor<Arc<String>>
    + KeyFor<Arc<u64>>
{
    fn key(number: u64) -> Self;
    fn number(&self) -> u64;
}

impl Kind for u64 {
    fn key(number: u64) -> u64 {
        number
    }

    fn number(&self) -> u64 {
        *self
    }
}

/// Byte strings of uneven length: some of them are stored outside of their leaf.
impl Kind for Vec<u8> {
    fn key(number: u64) -> Self {
        let rest = if number.is_multiple_of(7) { 250 } else { number as usize % 5 };
        [&number.to_be_bytes(), b"rest ".repeat(rest / 5).as_slice(), &vec![b'.'; rest % 5]].concat()
    }

    fn number(&self) -> u64 {
        let number = u64::from_be_bytes(*self.first_chunk().expect("a key of a number"));
        assert_eq!(*self, Self::key(number), "the whole key");
        number
    }
}

fn empty<K: KeyFor<V>, V: IndexValue>() -> Index<K, V> {
    Index::new().expect("a first node")
}

fn limited<K: KeyFor<V>, V: IndexValue>(limit_bytes: usize) -> Index<K, V> {
    let options = Options { limit_bytes: Some(limit_bytes), huge_pages: false, ..Options::default() };
    Index::with_options(options).expect("a first node")
}

/// Runs each test over every kind of keys.
macro_rules! over_every_kind {
    ($($test:ident),* $(,)?) => {
        mod words {
            $(#[test] fn $test() { super::$test::<u64>(); })*
        }
        mod byte_strings {
            $(#[test] fn $test() { super::$test::<Vec<u8>>(); })*
        }
    };
}
use over_every_kind;

/// Counts creations and drops, and checks its own integrity.
#[derive(Debug, Default)]
struct Census {
    made: AtomicU64,
    dropped: AtomicU64,
}

impl Census {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    fn value(&'static self, key: u64, version: u64) -> Arc<Counted> {
        self.made.fetch_add(1, Ordering::Relaxed);
        Arc::new(Counted { census: self, key, version, check: Box::new(key ^ version) })
    }

    fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }

    /// Waits until this many are dropped, which `flush` causes: deferred drops run on any thread, also on
    /// those of other tests.
    fn wait_for_drops(&self, at_least: u64, flush: impl Fn()) {
        for _ in 0..20_000 {
            if self.counts().1 >= at_least {
                return;
            }
            flush();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("{} of {at_least} drops", self.counts().1);
    }

    fn all_dropped_once(&self) {
        self.all_dropped_once_by(|| Pinned::new().flush());
    }

    fn all_dropped_once_by(&self, flush: impl Fn()) {
        let (made, _) = self.counts();
        self.wait_for_drops(made, flush);
        assert_eq!(self.counts(), (made, made));
    }
}

#[derive(Debug)]
pub struct Counted {
    census: &'static Census,
    key: u64,
    version: u64,
    check: Box<u64>,
}

impl Counted {
    fn is_whole(&self) -> bool {
        *self.check == self.key ^ self.version
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(self.is_whole());
        *self.check = !0;
        self.census.dropped.fetch_add(1, Ordering::Relaxed);
    }
}
